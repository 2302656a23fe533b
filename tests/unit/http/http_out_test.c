#include "http/http_out.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "lib/rng.h"
#include "lib/test.h"

static void http_out__gives_back_what_was_put_in(void **state)
{
    (void)state;
    /* Add pieces of all kinds and sizes, send some of them in between, and compare with a plain
     * buf. */
    static char forever[100000];
    struct rng rng = rng_from(7);
    struct http_block_cache cache = {0};
    struct http_out out;
    struct http_out other;
    struct buf want;
    struct buf got;
    http_out_init(&out, &cache);
    http_out_init(&other, &cache);
    buf_init(&want, SIZE_MAX);
    buf_init(&got, SIZE_MAX);
    for (size_t i = 0; i < sizeof forever; i++) {
        forever[i] = (char)rng_next(&rng);
    }
    for (unsigned i = 0; i < 2000; i++) {
        size_t len = rng_below(&rng, 20) == 0 ? rng_below(&rng, 30000) : rng_below(&rng, 200);
        struct str bytes = str_from(forever + rng_below(&rng, 1000), len);
        switch (rng_below(&rng, 5)) {
        case 0:
            http_out_add_static(&out, bytes);
            break;
        case 1:
            http_out_add_piece(&out, bytes);
            break;
        case 2:
            http_out_add(&other, bytes);
            http_out_move(&out, &other);
            break;
        default:
            http_out_add(&out, bytes);
            break;
        }
        buf_add_str(&want, bytes);
        uv_buf_t pieces[4];
        unsigned count = http_out_pieces(&out, pieces, 4);
        if (count > 0 && rng_below(&rng, 3) == 0) {
            size_t sent = 0;
            size_t up_to = rng_below(&rng, count + 1);
            for (size_t p = 0; p < up_to; p++) {
                size_t n = p + 1 < up_to ? pieces[p].len : rng_below(&rng, pieces[p].len + 1);
                buf_add(&got, pieces[p].base, n);
                sent += n;
            }
            http_out_sent(&out, sent);
        }
        assert_int_equal(out.bytes, want.len - got.len);
    }
    while (out.bytes > 0) {
        struct str first = http_out_first(&out);
        buf_add_str(&got, first);
        http_out_sent(&out, first.len);
    }
    assert_true(str_eq(buf_str(&want), buf_str(&got)));
    buf_deinit(&want);
    buf_deinit(&got);
    http_out_cache_clear(&cache);
}

/* Small pieces for a slow reader use at most four times the memory of their bytes. */
static void http_out_add_piece__does_not_waste_blocks(void **state)
{
    (void)state;
    static const char bytes[200];
    struct http_block_cache cache = {0};
    struct http_out out;
    size_t held = 0;
    http_out_init(&out, &cache);
    while (out.bytes < 1 << 20) {
        http_out_add_piece(&out, str_from(bytes, sizeof bytes));
    }
    for (const struct http_block *b = out.first; b != NULL; b = b->next) {
        held += b->cap;
    }
    assert_in_range(held, 1 << 20, 4 << 20);
    http_out_clear(&out);
    http_out_cache_clear(&cache);
}

static void http_out_add_piece__keeps_pieces_apart(void **state)
{
    (void)state;
    struct http_block_cache cache = {0};
    struct http_out out;
    http_out_init(&out, &cache);
    http_out_add_piece(&out, STR("one"));
    http_out_add_piece(&out, STR("two"));
    assert_true(str_eq(http_out_first(&out), STR("one")));
    http_out_sent(&out, 2);
    assert_true(str_eq(http_out_first(&out), STR("e")));
    http_out_sent(&out, 1);
    assert_true(str_eq(http_out_first(&out), STR("two")));
    http_out_clear(&out);
    assert_int_equal(out.bytes, 0);
    http_out_cache_clear(&cache);
}

TEST_GROUP(http_out, cmocka_unit_test(http_out__gives_back_what_was_put_in),
           cmocka_unit_test(http_out_add_piece__keeps_pieces_apart),
           cmocka_unit_test(http_out_add_piece__does_not_waste_blocks));
