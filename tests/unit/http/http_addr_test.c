#include "http/http_addr.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "lib/test.h"

static void http_addr_parse__reads_host_and_port(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *host; /* NULL: refused */
        uint16_t port;
    } rows[] = {
        {":8080", "::", 8080},         {"127.0.0.1:0", "127.0.0.1", 0},
        {"[::1]:65535", "::1", 65535}, {"127.0.0.1:65536", NULL, 0},
        {"127.0.0.1:-1", NULL, 0},     {"127.0.0.1", NULL, 0},
        {"127.0.0.1:", NULL, 0},       {"127.0.0.1:http", NULL, 0},
        {"::1:80", NULL, 0},           {"", NULL, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct http_addr addr;
        struct err err = {0};
        char room[HTTP_ADDR_TEXT_MAX];
        enum err_code code = http_addr_parse(rows[i].text, &addr, &err);
        ROW(rows[i].text);
        if (rows[i].host == NULL) {
            assert_int_equal(code, ERR_VALIDATION);
            assert_true(err.msg[0] != '\0');
        } else {
            assert_int_equal(code, ERR_OK);
            assert_int_equal(http_addr_port(&addr), rows[i].port);
            assert_true(str_eq(http_addr_text(&addr, room), str_from_z(rows[i].host)));
        }
    }
}

static struct http_addr six(const char *text)
{
    struct http_addr addr = {.len = sizeof(struct sockaddr_in6)};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
    assert_int_equal(inet_pton(AF_INET6, text, &in6.sin6_addr), 1);
    memcpy(&addr.sockaddr, &in6, sizeof in6);
    return addr;
}

static bool same_key(const char *a, const char *b)
{
    struct http_addr addr_a = six(a);
    struct http_addr addr_b = six(b);
    uint8_t key_a[HTTP_ADDR_KEY_BYTES];
    uint8_t key_b[HTTP_ADDR_KEY_BYTES];
    http_addr_key(&addr_a, key_a);
    http_addr_key(&addr_b, key_b);
    return memcmp(key_a, key_b, sizeof key_a) == 0;
}

static void http_addr_key__counts_networks_of_ipv6_and_addresses_of_ipv4(void **state)
{
    (void)state;
    assert_true(same_key("2001:db8::1", "2001:db8::ffff"));
    assert_false(same_key("2001:db8:0:1::1", "2001:db8:0:2::1"));
    assert_false(same_key("::ffff:1.2.3.4", "::ffff:1.2.3.5"));
    assert_false(same_key("::ffff:1.2.3.4", "::1"));
}

static void http_addr_text__shows_mapped_ipv4_as_ipv4(void **state)
{
    (void)state;
    struct http_addr addr = six("::ffff:1.2.3.4");
    char room[HTTP_ADDR_TEXT_MAX];
    assert_true(str_eq(http_addr_text(&addr, room), STR("1.2.3.4")));
}

TEST_GROUP(http_addr, cmocka_unit_test(http_addr_parse__reads_host_and_port),
           cmocka_unit_test(http_addr_key__counts_networks_of_ipv6_and_addresses_of_ipv4),
           cmocka_unit_test(http_addr_text__shows_mapped_ipv4_as_ipv4));
