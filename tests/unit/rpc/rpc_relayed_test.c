#include "rpc/rpc_relayed.h"

#include "lib/expect.h"
#include "lib/test.h"
#include "rpc/rpc_protocol.h"

/* Two messages, the second one without content, and the end, cut into pieces of each size. */
static void test_ends_between_messages(void **state)
{
    static const char bytes[] = "\0\0\0\0\3abc\1\0\0\0\0\2\0\0\0\2{}";
    const size_t len = sizeof bytes - 1;
    const struct rpc_target stream = {.format =
                                          rpc_protocol_format(STR("application/connect+json"))};
    const struct rpc_target bare = {.format = rpc_protocol_format(STR("application/json"))};
    (void)state;
    for (size_t piece = 1; piece <= len; piece++) {
        struct rpc_relayed r = {0};
        assert_true(rpc_relayed_may_end(&r, &stream));
        for (size_t at = 0; at < len;) {
            size_t n = piece < len - at ? piece : len - at;
            rpc_relayed_pass(&r, str_from(bytes + at, n));
            at += n;
            assert_int_equal(rpc_relayed_may_end(&r, &stream), at == 8 || at == 13);
            assert_false(rpc_relayed_may_end(&r, &bare));
        }
    }
}

/* The flags of gRPC-Web's trailers. */
static void test_trailers_are_the_end(void **state)
{
    struct rpc_relayed r = {0};
    const struct rpc_target web = {.format = rpc_protocol_format(STR("application/grpc-web"))};
    (void)state;
    rpc_relayed_pass(&r, STR("\x80\0\0\0\0"));
    assert_false(rpc_relayed_may_end(&r, &web));
    assert_false(rpc_relayed_may_end(&(struct rpc_relayed){0}, &(struct rpc_target){0}));
}

TEST_GROUP(rpc_relayed, cmocka_unit_test(test_ends_between_messages),
           cmocka_unit_test(test_trailers_are_the_end));
