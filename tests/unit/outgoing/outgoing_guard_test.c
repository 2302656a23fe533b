#include "outgoing/outgoing_guard.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

#include "lib/expect.h"
#include "lib/test.h"

static struct outgoing_guard *guard(const char *deny, const char *allow)
{
    struct outgoing_guard *g = NULL;
    struct err err;
    if (outgoing_guard_new(str_from_z(deny), str_from_z(allow), &g, &err) != ERR_OK) {
        fail_msg("%s", err.msg);
    }
    return g;
}

static bool allows_for(const struct outgoing_guard *g, const char *text, bool guest)
{
    struct sockaddr_storage at = {0};
    struct sockaddr_in *v4 = (struct sockaddr_in *)&at;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&at;
    if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
        at.ss_family = AF_INET;
    } else {
        assert_int_equal(inet_pton(AF_INET6, text, &v6->sin6_addr), 1);
        at.ss_family = AF_INET6;
    }
    return outgoing_guard_allows(g, (const struct sockaddr *)&at, guest);
}

static bool allows(const struct outgoing_guard *g, const char *text)
{
    return allows_for(g, text, false);
}

static void guard__refuses_what_is_no_receiver(void **state)
{
    static const struct {
        const char *address;
        bool allowed;
    } rows[] = {
        {"127.0.0.1", true},
        {"10.1.2.3", true},
        {"172.16.0.1", true},
        {"192.168.1.1", true},
        {"93.184.216.34", true},
        {"::1", true},
        {"fd00::1", true},
        {"2606:4700::1", true},
        {"169.253.255.255", true},
        {"169.254.0.0", false},
        {"169.254.169.254", false},
        {"169.254.255.255", false},
        {"169.255.0.0", true},
        {"0.0.0.0", false},
        {"0.1.2.3", false},
        {"1.0.0.0", true},
        {"100.100.100.200", false},
        {"100.100.100.201", true},
        {"192.0.0.192", false},
        {"192.0.0.1", false},
        {"192.0.1.1", true},
        {"168.63.129.15", true},
        {"168.63.129.16", false},
        {"192.0.2.7", false},
        {"198.51.100.7", false},
        {"203.0.113.7", false},
        {"192.88.99.1", false},
        {"198.17.255.255", true},
        {"198.18.0.1", false},
        {"198.19.255.255", false},
        {"198.20.0.0", true},
        {"100.64.0.1", true}, /* shared address space, also of overlay networks */
        {"223.255.255.255", true},
        {"224.0.0.1", false},
        {"239.255.255.255", false},
        {"240.0.0.1", false},
        {"255.255.255.255", false},
        {"::", false},
        {"fe80::1", false},
        {"febf::1", false},
        {"fec0::1", true},
        {"ff02::1", false},
        {"fd00:ec2::254", false},
        {"fd00:ec2::255", true},
        {"fd20:ce::254", false},
        {"64:ff9b:1::1", false},
        {"64:ff9b:1:ffff::a9fe:a9fe", false},
        {"64:ff9b:2::1", true},
        {"100::1", false},
        {"100:0:0:1::1", false},
        {"100:0:0:2::1", true},
        {"2001::1", false}, /* Teredo */
        {"2001:0:a9fe:a9fe::1", false},
        {"2001:2::1", false},
        {"2001:20::1", false},
        {"2001:1ff:ffff::1", false},
        {"2001:200::1", true},
        {"2001:4860::8888", true},
        {"2001:db8::1", false},
        {"3fff::1", false},
        {"3fff:1000::1", true},
        {"5f00::1", false},
        /* IPv4 addresses inside IPv6 addresses */
        {"::ffff:169.254.169.254", false},
        {"::ffff:127.0.0.1", true},
        {"::169.254.169.254", false},
        {"64:ff9b::a9fe:a9fe", false},
        {"64:ff9b::0808:0808", true},
        {"2002:a9fe:a9fe::1", false},
        {"2002:0808:0808::1", true},
        {"::ffff:0.0.0.0", false},
        {"::ffff:168.63.129.16", false},
        {"64:ff9b::a83f:8110", false},
        {"::ffff:0:169.254.169.254", false},
        {"::ffff:0:8.8.8.8", true},
    };
    struct outgoing_guard *g = guard("", "");
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].address);
        assert_int_equal(allows(g, rows[i].address), rows[i].allowed);
    }
    outgoing_guard_free(g);
}

static void guard__obeys_its_lists(void **state)
{
    static const struct {
        const char *deny, *allow, *address;
        bool allowed;
    } rows[] = {
        {"127.0.0.0/8,::1", "", "127.0.0.1", false},
        {"127.0.0.0/8,::1", "", "::1", false},
        {"127.0.0.0/8", "", "::1", true},
        {"127.0.0.0/8", "", "::ffff:127.0.0.1", false},
        {"127.0.0.0/8", "", "64:ff9b::7f00:1", false},
        {"0.0.0.0/0 ::/0", "10.1.0.0/16", "10.1.2.3", true},
        {"0.0.0.0/0 ::/0", "10.1.0.0/16", "10.2.2.3", false},
        {"0.0.0.0/0 ::/0", "10.1.0.0/16", "2606::1", false},
        {"::/0", "", "10.1.2.3", true}, /* denies IPv6, but not IPv4 */
        {"::/0", "", "::ffff:10.1.2.3", false},
        {"0.0.0.0/0 ::/0", "10.1.0.0/16", "::ffff:10.1.2.3", true},
        {"", "169.254.7.0/24", "169.254.7.1", true},
        {"", "169.254.7.0/24", "169.254.8.1", false},
        {"", "169.254.169.254", "169.254.169.254", false}, /* metadata service: never allowed */
        {"", "0.0.0.0/0", "::ffff:169.254.169.254", false},
        {"", "::/0", "fd00:ec2::254", false},
        {"10.0.0.1/31", "", "10.0.0.0", false},
        {"10.0.0.1/31", "", "10.0.0.2", true},
        {"fd00::/9", "", "fd7f::1", false},
        {"fd00::/9", "", "fd80::1", true},
    };
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct outgoing_guard *g = guard(rows[i].deny, rows[i].allow);
        ROW(rows[i].address);
        assert_int_equal(allows(g, rows[i].address), rows[i].allowed);
        outgoing_guard_free(g);
    }
}

/* Private and loopback targets are refused for namespaces other than the default, unless a
 * list names the network. */
static void guard__lets_guests_into_no_private_network(void **state)
{
    static const struct {
        const char *allow, *address;
        bool allowed;
    } rows[] = {
        {"", "127.0.0.1", false},
        {"", "127.255.255.255", false},
        {"", "10.1.2.3", false},
        {"", "172.16.0.1", false},
        {"", "172.31.255.255", false},
        {"", "172.32.0.1", true},
        {"", "192.168.1.1", false},
        {"", "100.64.0.1", false},
        {"", "100.128.0.1", true},
        {"", "::1", false},
        {"", "fd00::1", false},
        {"", "::ffff:10.1.2.3", false},
        {"", "64:ff9b::a01:203", false},
        {"", "2002:a01:203::1", false},
        {"", "93.184.216.34", true},
        {"", "2606:4700::1", true},
        {"", "169.254.169.254", false},
        {"10.1.0.0/16", "10.1.2.3", true},
        {"10.1.0.0/16", "10.2.2.3", false},
        {"127.0.0.0/8", "127.0.0.1", true},
        {"0.0.0.0/0 ::/0", "169.254.169.254", false},
    };
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct outgoing_guard *g = guard("", rows[i].allow);
        ROW(rows[i].address);
        assert_int_equal(allows_for(g, rows[i].address, true), rows[i].allowed);
        outgoing_guard_free(g);
    }
}

struct socket_address {
    struct sockaddr_storage at;
};

static struct socket_address with_port(const char *text, unsigned port)
{
    struct socket_address a = {0};
    struct sockaddr_in *v4 = (struct sockaddr_in *)&a.at;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&a.at;
    if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons((uint16_t)port);
    } else {
        assert_int_equal(inet_pton(AF_INET6, text, &v6->sin6_addr), 1);
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons((uint16_t)port);
    }
    return a;
}

static void guard__refuses_the_server_itself(void **state)
{
    static const struct {
        const char *listener, *address;
        unsigned port;
        bool allowed;
    } rows[] = {
        {"127.0.0.1", "127.0.0.1", 8080, false},
        {"127.0.0.1", "127.0.0.1", 8081, true},
        {"127.0.0.1", "127.0.0.2", 8080, true},
        {"127.0.0.1", "::1", 8080, true},
        {"::1", "::1", 8080, false},
        {"127.0.0.1", "::ffff:127.0.0.1", 8080, false},
        {"127.0.0.1", "0.0.0.0", 8080, false},
        {"0.0.0.0", "127.0.0.1", 8080, false},
        {"0.0.0.0", "127.9.9.9", 8080, false},
        {"0.0.0.0", "127.0.0.1", 80, true},
        {"::", "127.0.0.1", 8080, false},
        {"::", "64:ff9b::7f00:1", 8080, false},
        {"::", "93.184.216.34", 8080, true},
        {"::ffff:127.0.0.1", "127.0.0.1", 8080, false},
    };
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        /* The listener is refused even if the lists allow its address. */
        struct outgoing_guard *g = guard("", "0.0.0.0/0 ::/0");
        struct socket_address listener = with_port(rows[i].listener, 8080);
        struct socket_address address = with_port(rows[i].address, rows[i].port);
        ROW(rows[i].address);
        assert_true(outgoing_guard_allows(g, (const struct sockaddr *)&address.at, false));
        outgoing_guard_add_own(g, (const struct sockaddr *)&listener.at);
        assert_int_equal(outgoing_guard_allows(g, (const struct sockaddr *)&address.at, false),
                         rows[i].allowed);
        assert_int_equal(outgoing_guard_is_own(g, (const struct sockaddr *)&address.at),
                         !rows[i].allowed);
        outgoing_guard_free(g);
    }
}

static void guard__knows_internet_addresses_only(void **state)
{
    struct outgoing_guard *g = guard("", "");
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    (void)state;
    assert_false(outgoing_guard_allows(g, (const struct sockaddr *)&local, false));
    outgoing_guard_free(g);
}

static void guard__names_what_is_no_network(void **state)
{
    static const char *const rows[] = {"x",      "10.0.0.0/33", "10.0.0/8",
                                       "::/129", "10.0.0.0/-1", "10.0.0.0/",
                                       "/8",     "::g",         "1.2.3.4/8/8"};
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct outgoing_guard *g;
        struct err err;
        char list[64];
        ROW(rows[i]);
        (void)snprintf(list, sizeof list, "10.0.0.0/8, %s", rows[i]);
        assert_int_equal(outgoing_guard_new(str_from_z(list), STR_EMPTY, &g, &err), ERR_VALIDATION);
        assert_non_null(strstr(err.msg, rows[i]));
        assert_int_equal(outgoing_guard_new(STR_EMPTY, str_from_z(list), &g, &err), ERR_VALIDATION);
    }
}

TEST_GROUP(outgoing_guard, cmocka_unit_test(guard__refuses_what_is_no_receiver),
           cmocka_unit_test(guard__obeys_its_lists),
           cmocka_unit_test(guard__lets_guests_into_no_private_network),
           cmocka_unit_test(guard__refuses_the_server_itself),
           cmocka_unit_test(guard__knows_internet_addresses_only),
           cmocka_unit_test(guard__names_what_is_no_network));
