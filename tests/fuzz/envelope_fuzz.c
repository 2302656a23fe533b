/*
 * Fuzz: envelopes from any bytes. The messages do not depend on how the bytes are split. The first
 * byte is the size of the pieces, the second one the allowed flags.
 */
#include <stdint.h>

#include "base/check.h"
#include "rpc/rpc_envelope.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMIT = 512, TEXT_BYTES = 16 << 20 };

static enum rpc_envelope_result read_all(struct str body, size_t step, unsigned allowed,
                                         struct buf *out)
{
    struct rpc_envelope_reader r;
    enum rpc_envelope_result result = RPC_ENVELOPE_MORE;
    rpc_envelope_reader_init(&r, LIMIT, allowed);
    for (size_t at = 0; at < body.len && result <= RPC_ENVELOPE_MESSAGE;) {
        size_t taken, len = step < body.len - at ? step : body.len - at;
        unsigned flags = 0;
        struct str message = STR_EMPTY;
        result = rpc_envelope_take(&r, str_from(body.ptr + at, len), &taken, &flags, &message);
        CHECK(taken <= len);
        CHECK(message.len <= LIMIT);
        if (result == RPC_ENVELOPE_MESSAGE) {
            buf_printf(out, "%u %zu ", flags, message.len);
            buf_add_str(out, message);
        }
        at += taken;
    }
    result = rpc_envelope_is_partial(&r) ? RPC_ENVELOPE_MORE : result;
    rpc_envelope_reader_deinit(&r);
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    struct buf whole, pieces;
    struct str body = str_from(data + 2, size - 2);
    buf_init(&whole, TEXT_BYTES);
    buf_init(&pieces, TEXT_BYTES);
    enum rpc_envelope_result a = read_all(body, body.len, data[1], &whole);
    enum rpc_envelope_result b = read_all(body, 1U + data[0], data[1], &pieces);
    CHECK(a == b);
    CHECK(str_eq(buf_str(&whole), buf_str(&pieces)));
    buf_deinit(&whole);
    buf_deinit(&pieces);
    return 0;
}
