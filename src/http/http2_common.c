/*
 * Prepares the headers of every answer for nghttp2, once. See http2_int.h.
 */
#include <stdlib.h>

#include "base/check.h"
#include "http/http2_int.h"
#include "http/http_field.h"

struct http2_common http2_common__make(const struct http_header *headers, size_t count)
{
    struct http2_common c = {.count = 0};
    size_t size = 1;
    CHECK(count <= HTTP_COMMON_HEADERS_MAX);
    for (size_t i = 0; i < count; i++) {
        size += headers[i].name.len + headers[i].value.len;
    }
    char *at = c.memory = malloc(size);
    CHECK(at != NULL);
    for (size_t i = 0; i < count; i++) {
        struct str name = headers[i].name, value = headers[i].value;
        CHECK(name.len > 0);
        CHECK(http_field_token_len(name) == name.len);
        if (http_field_is_connections(name)) {
            continue;
        }
        nghttp2_nv *row = &c.row[c.count++];
        *row = (nghttp2_nv){.namelen = name.len,
                            .valuelen = value.len,
                            .flags = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
        row->name = (uint8_t *)at;
        for (size_t k = 0; k < name.len; k++) {
            *at++ =
                (char)(name.ptr[k] >= 'A' && name.ptr[k] <= 'Z' ? name.ptr[k] | 0x20 : name.ptr[k]);
        }
        row->value = (uint8_t *)at;
        http_field_copy_value(at, value);
        at += value.len;
    }
    return c;
}
