#include "rpc/rpc_envelope.h"

#include "lib/expect.h"
#include "lib/rng.h"

enum { LIMIT = 1000 };

/* Read a body in pieces of at most `step` bytes. Writes the flags and text of each message, and
 * then a word for the result. */
static void read_all(struct str body, size_t step, unsigned allowed, struct buf *out)
{
    struct rpc_envelope_reader r;
    enum rpc_envelope_result result = RPC_ENVELOPE_MORE;
    rpc_envelope_reader_init(&r, LIMIT, allowed);
    size_t at = 0;
    while (at < body.len && result <= RPC_ENVELOPE_MESSAGE) {
        /* a copy, so that a sanitizer detects reads past the piece */
        size_t len = step < body.len - at ? step : body.len - at;
        char *piece = malloc(len);
        assert_non_null(piece);
        memcpy(piece, body.ptr + at, len);
        size_t taken;
        unsigned flags;
        struct str message;
        result = rpc_envelope_take(&r, str_from(piece, len), &taken, &flags, &message);
        assert_true(taken <= len && (taken > 0 || result > RPC_ENVELOPE_MESSAGE));
        if (result == RPC_ENVELOPE_MESSAGE) {
            buf_printf(out, "%u:" STR_FMT "|", flags, STR_ARG(message));
        }
        at += taken;
        free(piece);
    }
    buf_printf(out, "%s",
               result == RPC_ENVELOPE_BAD_FLAGS   ? "flags"
               : result == RPC_ENVELOPE_TOO_LARGE ? "large"
               : rpc_envelope_is_partial(&r)      ? "partial"
                                                  : "end");
    rpc_envelope_reader_deinit(&r);
}

#define BODY(text)                                                                                 \
    {                                                                                              \
        (text), sizeof(text) - 1                                                                   \
    }
static const struct {
    struct str body;
    unsigned allowed;
    const char *want;
} rows[] = {
    {BODY(""), 1, "end"},
    {BODY("\0\0\0\0\0"), 1, "0:|end"},
    {BODY("\0\0\0\0\2hi"), 1, "0:hi|end"},
    {BODY("\1\0\0\0\2hi\0\0\0\0\0\0\0\0\0\1x"), 1, "1:hi|0:|0:x|end"},
    {BODY("\2\0\0\0\2{}"), 3, "2:{}|end"},
    {BODY("\2\0\0\0\2{}"), 1, "flags"},
    {BODY("\0\0\0\0\1a\200\0\0\0\0"), 1, "0:a|flags"},
    {BODY("\0"), 1, "partial"},
    {BODY("\0\0\0\0\2h"), 1, "partial"},
    {BODY("\0\0\0\3\350"), 1, "partial"}, /* 1000 bytes are announced */
    {BODY("\0\0\0\3\351"), 1, "large"},
    {BODY("\0\377\377\377\377"), 1, "large"},
};

static void test_bodies_in_pieces(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        for (size_t step = 1; step <= rows[i].body.len + 1; step++) {
            struct buf out;
            buf_init(&out, 4096);
            read_all(rows[i].body, step, rows[i].allowed, &out);
            expect_str(buf_str(&out), str_from_z(rows[i].want));
            buf_deinit(&out);
        }
    }
}

static void test_what_is_written_is_read(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct rng rng = rng_from(seed);
        struct buf body, want, got;
        buf_init(&body, 1 << 20);
        buf_init(&want, 1 << 20);
        buf_init(&got, 1 << 20);
        for (size_t n = rng_below(&rng, 20); n > 0; n--) {
            char text[LIMIT];
            size_t len = rng_below(&rng, rng_below(&rng, 2) == 0 ? 8 : LIMIT + 1);
            memset(text, 'a' + (int)rng_below(&rng, 26), sizeof text);
            size_t begin = rpc_envelope_begin(&body, 0);
            buf_add(&body, text, len);
            rpc_envelope_finish(&body, begin);
            buf_printf(&want, "0:%.*s|", (int)len, text);
        }
        buf_printf(&want, "end");
        read_all(buf_str(&body), 1 + rng_below(&rng, 600), 1, &got);
        expect_str(buf_str(&got), buf_str(&want));
        buf_deinit(&body);
        buf_deinit(&want);
        buf_deinit(&got);
    }
}

TEST_GROUP(rpc_envelope, cmocka_unit_test(test_bodies_in_pieces),
           cmocka_unit_test(test_what_is_written_is_read));
