#include "rpc/rpc_protocol.h"

#include "base/clock.h"

/* clang-format off */
#define TEXT(literal) {.ptr = (literal), .len = sizeof(literal) - 1}
static const struct rpc_format formats[] = { /* sorted, for Accept-Post */
    {TEXT("application/connect+json"),                  RPC_CONNECT,  RPC_JSON,  false},
    {TEXT("application/connect+json; charset=utf-8"),   RPC_CONNECT,  RPC_JSON,  false},
    {TEXT("application/connect+proto"),                 RPC_CONNECT,  RPC_PROTO, false},
    {TEXT("application/grpc"),                          RPC_GRPC,     RPC_PROTO, false},
    {TEXT("application/grpc+json"),                     RPC_GRPC,     RPC_JSON,  false},
    {TEXT("application/grpc+json; charset=utf-8"),      RPC_GRPC,     RPC_JSON,  false},
    {TEXT("application/grpc+proto"),                    RPC_GRPC,     RPC_PROTO, false},
    {TEXT("application/grpc-web"),                      RPC_GRPC_WEB, RPC_PROTO, false},
    {TEXT("application/grpc-web+json"),                 RPC_GRPC_WEB, RPC_JSON,  false},
    {TEXT("application/grpc-web+json; charset=utf-8"),  RPC_GRPC_WEB, RPC_JSON,  false},
    {TEXT("application/grpc-web+proto"),                RPC_GRPC_WEB, RPC_PROTO, false},
    {TEXT("application/json"),                          RPC_CONNECT,  RPC_JSON,  true},
    {TEXT("application/json; charset=utf-8"),           RPC_CONNECT,  RPC_JSON,  true},
    {TEXT("application/proto"),                         RPC_CONNECT,  RPC_PROTO, true},
};
#undef TEXT
/* clang-format on */

/* The only parameter allowed is charset=utf-8, with JSON. */
static bool read_parameters(const struct rpc_format *format, struct str rest, bool *out_charset)
{
    *out_charset = false;
    while (rest.len > 0) {
        struct str value = str_trim(str_cut(&rest, ';'));
        if (value.len == 0) {
            continue;
        }
        struct str name = str_trim(str_cut(&value, '='));
        value = str_trim(value);
        if (value.len >= 2 && value.ptr[0] == '"' && value.ptr[value.len - 1] == '"') {
            value = str_from(value.ptr + 1, value.len - 2);
        }
        if (format->codec != RPC_JSON || !str_eq_nocase(name, STR("charset")) ||
            !str_eq_nocase(value, STR("utf-8"))) {
            return false;
        }
        *out_charset = true;
    }
    return true;
}

const struct rpc_format *rpc_protocol_format(struct str content_type)
{
    for (const struct rpc_format *f = formats; f < formats + COUNT_OF(formats); f++) {
        if (str_eq(content_type, f->type)) {
            return f; /* the usual case */
        }
    }
    struct str rest = content_type;
    struct str type = str_trim(str_cut(&rest, ';'));
    for (const struct rpc_format *f = formats; f < formats + COUNT_OF(formats); f++) {
        bool charset;
        if (str_eq_nocase(type, f->type)) {
            return !read_parameters(f, rest, &charset) ? NULL : charset ? f + 1 : f;
        }
    }
    return NULL;
}

void rpc_protocol_accepted(bool bare, bool enveloped, struct buf *out)
{
    size_t begin = out->len;
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        bool connect_stream = formats[i].protocol == RPC_CONNECT && !formats[i].bare;
        if (formats[i].bare ? !bare : connect_stream && !enveloped) {
            continue;
        }
        buf_add_str(out, out->len > begin ? STR(", ") : STR(""));
        buf_add_str(out, formats[i].type);
    }
}

/* Digits only: at least one, at most `most`. */
static bool digits(struct str text, size_t most, int64_t *out)
{
    return text.len > 0 && text.len <= most && text.ptr[0] != '-' && str_to_i64(text, out);
}

enum err_code rpc_protocol_connect_timeout(struct str text, int64_t *out_ms, struct err *err)
{
    enum { DIGITS = 10 };
    if (!digits(text, DIGITS, out_ms)) {
        return err_set(err, ERR_VALIDATION,
                       "Connect-Timeout-Ms: expected at most 10 digits, got '" STR_FMT "'",
                       STR_ARG(str_at_most(text, 32)));
    }
    return ERR_OK;
}

enum err_code rpc_protocol_grpc_timeout(struct str text, int64_t *out_ms, struct err *err)
{
    enum { DIGITS = 8 };
    static const struct {
        char unit;
        int64_t ns;
    } units[] = {{'H', 3600 * NS_PER_S}, {'M', 60 * NS_PER_S}, {'S', NS_PER_S},
                 {'m', NS_PER_MS},       {'u', NS_PER_US},     {'n', 1}};
    int64_t count;
    for (size_t i = 0; i < COUNT_OF(units) && text.len > 0; i++) {
        if (text.ptr[text.len - 1] == units[i].unit &&
            digits(str_from(text.ptr, text.len - 1), DIGITS, &count)) {
            /* eight digits of hours in nanoseconds would overflow an int64 */
            *out_ms = units[i].ns >= NS_PER_MS ? count * (units[i].ns / NS_PER_MS)
                                               : (count * units[i].ns + NS_PER_MS - 1) / NS_PER_MS;
            return ERR_OK;
        }
    }
    return err_set(err, ERR_VALIDATION,
                   "grpc-timeout: expected up to 8 digits and one of HMSmun, got '" STR_FMT "'",
                   STR_ARG(str_at_most(text, 32)));
}

void rpc_protocol_grpc_message(struct str message, struct buf *out)
{
    static const char hex[] = "0123456789ABCDEF";
    struct buf text;
    buf_init(&text, SIZE_MAX);
    buf_add_utf8(&text, message);
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c >= 0x20 && c <= 0x7e && c != '%') {
            buf_add_char(out, (char)c);
        } else {
            char escaped[] = {'%', hex[c >> 4], hex[c & 15]};
            buf_add(out, escaped, sizeof escaped);
        }
    }
    buf_deinit(&text);
}
