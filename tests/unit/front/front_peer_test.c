/*
 * Headers that a node adds to a request that it forwards.
 */
#include "front/front_peer.h"

#include "lib/test.h"

static const struct str target = {.ptr = "/api/v1/enqueue?x=1", .len = 19};

static struct http_request request_with(const struct http_header *header, struct arena *arena)
{
    struct http_request req = {.method_name = STR("POST"),
                               .target = target,
                               .headers = header,
                               .header_count = 1,
                               .arena = arena};
    http_known_note(&req.known, http_known_of(header->name), 0);
    return req;
}

static void word__is_believed_with_the_key_alone(void **state)
{
    struct arena *a = arena_new(1 << 16);
    struct front_peer_key key = front_peer_key_from(7, STR("a secret of the cluster"));
    struct front_peer_key other_secret = front_peer_key_from(7, STR("another secret, as long"));
    struct front_peer_key other_cluster = front_peer_key_from(8, STR("a secret of the cluster"));
    struct front_peer_key none = front_peer_key_from(0, STR("a secret of the cluster"));
    struct front_peer said = {
        .address = STR("10.1.2.3"), .operation = {.b = {1, 2, 3}}, .since = 99};
    struct front_peer heard;
    (void)state;
    struct http_header header = {FRONT_PEER_HEADER,
                                 front_peer_sign(&key, &said, STR("POST"), target, a)};
    struct http_request req = request_with(&header, a);
    assert_true(front_peer_read(&key, &req, &heard));
    assert_true(str_eq(heard.address, said.address));
    assert_true(id_eq(heard.operation, said.operation));
    assert_int_equal(heard.since, 99);
    assert_false(front_peer_read(&other_secret, &req, &heard));
    assert_false(front_peer_read(&other_cluster, &req, &heard));
    assert_false(front_peer_read(&none, &req, &heard));
    req.target = STR("/api/v1/enqueue?x=2");
    assert_false(front_peer_read(&key, &req, &heard));
    req.target = target;
    req.method_name = STR("PUT");
    assert_false(front_peer_read(&key, &req, &heard));
    req.method_name = STR("POST");
    for (size_t i = 0; i < header.value.len; i++) { /* every byte counts */
        char *bytes = arena_strz(a, header.value);
        bytes[i] = bytes[i] == '1' ? '2' : '1';
        struct http_header forged = {FRONT_PEER_HEADER, str_from(bytes, header.value.len)};
        req.headers = &forged;
        assert_false(front_peer_read(&key, &req, &heard));
    }
    arena_free(a);
}

static void nonsense__is_not_read(void **state)
{
    static const char *const rows[] = {
        "", " ", "1", "1 2 3 4 5", "1 a  0 ", "2 a 00000000000000000000000000000000 0 00", "    ",
    };
    struct arena *a = arena_new(1 << 16);
    struct front_peer_key key = front_peer_key_from(7, STR("secret"));
    struct front_peer heard;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct http_header header = {FRONT_PEER_HEADER, str_from_z(rows[i])};
        struct http_request req = request_with(&header, a);
        assert_false(front_peer_read(&key, &req, &heard));
        header.name = STR("x-corvo-operation");
        req = request_with(&header, a);
        assert_false(front_peer_read_retry(&key, &req, &heard));
    }
    arena_free(a);
}

/* A token that a client received for retries is not valid between nodes, and vice versa. */
static void retry__is_the_clients_alone(void **state)
{
    struct arena *a = arena_new(1 << 16);
    struct front_peer_key key = front_peer_key_from(7, STR("secret"));
    struct id operation = {.b = {9, 8, 7}};
    struct front_peer heard;
    struct http_header header = {.name = STR("x-corvo-operation")};
    struct http_request req = request_with(&header, a);
    (void)state;
    header.value = front_peer_retry(&key, operation, 5, &req, a);
    assert_null(memchr(header.value.ptr, ' ', header.value.len));
    assert_true(front_peer_read_retry(&key, &req, &heard));
    assert_true(id_eq(heard.operation, operation));
    assert_int_equal(heard.since, 5);
    char *spaced = arena_strz(a, header.value);
    for (size_t i = 0; i < header.value.len; i++) {
        spaced[i] = spaced[i] == '_' ? ' ' : spaced[i];
    }
    header = (struct http_header){FRONT_PEER_HEADER, str_from(spaced, header.value.len)};
    req = request_with(&header, a);
    assert_false(front_peer_read(&key, &req, &heard));
    arena_free(a);
}

TEST_GROUP(front_peer, cmocka_unit_test(word__is_believed_with_the_key_alone),
           cmocka_unit_test(nonsense__is_not_read), cmocka_unit_test(retry__is_the_clients_alone));
