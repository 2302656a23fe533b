#include "base/url.h"

#include "lib/expect.h"
#include "lib/test.h"

static void url__finds_the_host(void **state)
{
    static const struct {
        const char *text, *host;
        unsigned port;
        bool tls, v6;
        const char *user;
    } rows[] = {
        {"http://a", "a", 80, false, false, NULL},
        {"https://a.example/x?y#z", "a.example", 443, true, false, NULL},
        {"http://a:8080/", "a", 8080, false, false, NULL},
        {"http://a:/", "a", 80, false, false, NULL},
        {"http://a?x", "a", 80, false, false, NULL},
        {"http://a#x", "a", 80, false, false, NULL},
        {"http://127.0.0.1:65535/", "127.0.0.1", 65535, false, false, NULL},
        {"http://2130706433/", "2130706433", 80, false, false, NULL},
        {"http://[::1]:1/", "::1", 1, false, true, NULL},
        {"https://[fd00::1]", "fd00::1", 443, true, true, NULL},
        {"http://user:pass@b:81/", "b", 81, false, false, "user:pass"},
        {"http://x@y@b/", "b", 80, false, false, "x@y"},
        {"http://@b", "b", 80, false, false, NULL},
        {"http://b?x=a@c", "b", 80, false, false, NULL},
        {"http://m\xc3\xbcnchen.example/", "m\xc3\xbcnchen.example", 80, false, false, NULL},
        {"http://a/b:99999/@c", "a", 80, false, false, NULL},
        {"http://my_host-1/", "my_host-1", 80, false, false, NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct url url;
        const char *why = NULL;
        ROW(rows[i].text);
        assert_true(url_parse(str_from_z(rows[i].text), &url, &why));
        expect_str(url.host, str_from_z(rows[i].host));
        assert_int_equal(url.port, rows[i].port);
        assert_int_equal(url.tls, rows[i].tls);
        assert_int_equal(url.v6, rows[i].v6);
        expect_str(url.user, str_from_z(rows[i].user));
    }
}

static void url__refuses_what_names_no_host(void **state)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"", "must start"},
        {"a", "must start"},
        {"ftp://a/", "must start"},
        {"http:/a", "must start"},
        {"http:// a/", "blanks"},
        {"http://a/\n", "control"},
        {"http://", "host"},
        {"https:///x", "host"},
        {"http://:80/", "host"},
        {"http://?x", "host"},
        {"http://#x", "host"},
        {"http://@/", "host"},
        {"http://user@:80/", "host"},
        {"http://./", "host"},
        {"http://[::1/", "host"},
        {"http://[]/", "host"},
        {"http://[::g]/", "host"},
        {"http://[1.2.3.4]/", "host"},
        {"http://[fe80::1%25eth0]/", "host"},
        {"http://[0000000000000000000000000000000000000000000000000000000000000000000]/", "host"},
        {"http://::1/", "host"},
        {"http://a:0/", "port"},
        {"http://a:65536/", "port"},
        {"http://a:-1/", "port"},
        {"http://a:+1/", "port"},
        {"http://a:80x/", "port"},
        {"http://a:80:80/", "port"},
        {"http://[::1]x/", "port"},
        {"http://a\\b/", "port"},
        {"http://a:99999999999999999999/", "port"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct url url;
        const char *why = NULL;
        ROW(rows[i].text);
        assert_false(url_parse(str_from_z(rows[i].text), &url, &why));
        assert_non_null(strstr(why, rows[i].why));
    }
}

static void url__finds_the_user_before_an_invalid_host(void **state)
{
    static const char *const rows[] = {"http://me:secret@", "https://me:secret@a:0/",
                                       "http://me:secret@[::g]/x@y"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct url url;
        const char *why = NULL;
        ROW(rows[i]);
        assert_false(url_parse(str_from_z(rows[i]), &url, &why));
        expect_str(url.user, STR("me:secret"));
    }
}

static void url__parses_what_the_header_host_has(void **state)
{
    static const struct {
        const char *text, *host;
        unsigned port;
        bool ok, v6;
    } rows[] = {
        {"a.example", "a.example", 80, true, false},
        {"a:8080", "a", 8080, true, false},
        {"[::1]:9", "::1", 9, true, true},
        {"", NULL, 0, false, false},
        {"a b", NULL, 0, false, false},
        {"u@a", NULL, 0, false, false},
        {"a/b", NULL, 0, false, false},
        {"a:8080]", NULL, 0, false, false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct url url;
        ROW(rows[i].text);
        assert_int_equal(url_parse_host(str_from_z(rows[i].text), &url), rows[i].ok);
        if (rows[i].ok) {
            expect_str(url.host, str_from_z(rows[i].host));
            assert_int_equal(url.port, rows[i].port);
            assert_int_equal(url.v6, rows[i].v6);
        }
    }
}

TEST_GROUP(url, cmocka_unit_test(url__finds_the_host),
           cmocka_unit_test(url__refuses_what_names_no_host),
           cmocka_unit_test(url__finds_the_user_before_an_invalid_host),
           cmocka_unit_test(url__parses_what_the_header_host_has));
