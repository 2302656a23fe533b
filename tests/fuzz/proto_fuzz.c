/*
 * Fuzz: messages of the RPC contract from any bytes. The first byte selects the message and the
 * codec. An accepted message can be encoded and decoded by both codecs without a change.
 */
#include <stdint.h>

#include "base/check.h"
#include "proto/proto_decode.h"
#include "proto/proto_encode.h"
#include "proto/proto_json_decode.h"
#include "proto/proto_json_encode.h"
#include "rpc/rpc_message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STRUCT_MAX = 256, ARENA_BYTES = 16 << 20, TEXT_BYTES = 64 << 20 };

static _Alignas(max_align_t) char message[STRUCT_MAX];

static void encode(const struct proto_message *type, struct buf *out)
{
    buf_init(out, TEXT_BYTES);
    proto_encode(type, message, out);
    CHECK(!out->overflow);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    size_t count = 0;
    while (rpc_message_all[count] != NULL) {
        count++;
    }
    const struct proto_message *type = rpc_message_all[(data[0] >> 1) % count];
    struct str text = str_from(data + 1, size - 1);
    struct arena *arena = arena_new(ARENA_BYTES);
    struct err err;
    CHECK(type->size <= STRUCT_MAX);
    enum err_code code = (data[0] & 1) == 0 ? proto_decode(type, text, arena, message, &err)
                                            : proto_json_decode(type, text, arena, message, &err);
    CHECK(code == ERR_OK || code == ERR_PARSE || code == ERR_TOO_LARGE);
    if (code == ERR_OK) {
        struct buf first, second, json;
        encode(type, &first);
        buf_init(&json, TEXT_BYTES);
        struct json_write w = json_write_to(&json);
        proto_json_encode(type, message, &w);
        json_write_finish(&w);
        CHECK(proto_json_decode(type, buf_str(&json), arena, message, &err) == ERR_OK);
        CHECK(proto_decode(type, buf_str(&first), arena, message, &err) == ERR_OK);
        encode(type, &second);
        CHECK(str_eq(buf_str(&first), buf_str(&second)));
        buf_deinit(&first);
        buf_deinit(&second);
        buf_deinit(&json);
    }
    arena_free(arena);
    return 0;
}
