/*
 * Lists of networks: which addresses, as text, are in one of them.
 */
#include "os/os_networks.h"

#include "lib/test.h"

static void address__is_in_a_network(void **state)
{
    static const struct {
        const char *list, *address;
        bool in;
    } rows[] = {
        {"", "127.0.0.1", false},
        {"127.0.0.1", "127.0.0.1", true},
        {"127.0.0.1", "127.0.0.2", false},
        {"10.0.0.0/8, 192.168.1.0/25", "10.255.0.1", true},
        {"10.0.0.0/8, 192.168.1.0/25", "192.168.1.127", true},
        {"10.0.0.0/8, 192.168.1.0/25", "192.168.1.128", false},
        {"0.0.0.0/0", "8.8.8.8", true},
        {"0.0.0.0/0", "::1", false},
        {"::/0", "8.8.8.8", false},
        {"fd00::/8", "fd12::1", true},
        {"fd00::/8", "fe80::1", false},
        {"127.0.0.0/8", "::ffff:127.0.0.1", true}, /* IPv4 on a dual-stack socket */
        {"10.0.0.0/8", "proxy", false},
        {"10.0.0.0/8", "", false},
        {"10.0.0.0/8", "10.0.0.1.2", false},
        {"10.0.0.0/8", "10.0.0.1 and much more than an address could ever be, of any kind", false},
    };
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct os_networks list = {.count = 0};
        struct err err;
        ROW(rows[i].address);
        assert_int_equal(os_networks_parse(str_from_z(rows[i].list), &list, &err), ERR_OK);
        assert_int_equal(os_networks_has_text(&list, str_from_z(rows[i].address)), rows[i].in);
    }
}

static void list__names_what_is_no_network(void **state)
{
    static const char *const rows[] = {"proxy",  "10.0.0.0/33", "10.0.0/8",
                                       "::/129", "10.0.0.0/-1", "10.0.0.0/x"};
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct os_networks list = {.count = 0};
        struct err err;
        ROW(rows[i]);
        assert_int_equal(os_networks_parse(str_from_z(rows[i]), &list, &err), ERR_VALIDATION);
        assert_non_null(strstr(err.msg, rows[i]));
    }
}

TEST_GROUP(os_networks, cmocka_unit_test(address__is_in_a_network),
           cmocka_unit_test(list__names_what_is_no_network));
