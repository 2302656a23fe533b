#include "webhook/webhook_body.h"

#include "lib/expect.h"
#include "lib/test.h"

/* Vectors of RFC 4231, and the signature of an empty body from OpenSSL's command line. */
static void sign__agrees_with_known_vectors(void **state)
{
    static const struct {
        const char *name;
        struct str secret, body;
        const char *signature;
    } rows[] = {
        {"RFC 4231, test case 2",
         {"Jefe", 4},
         {"what do ya want for nothing?", 28},
         "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
        {"RFC 4231, test case 1",
         {"\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b", 20},
         {"Hi There", 8},
         "sha256=b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
        {"nothing",
         {"k", 1},
         {"", 0},
         "sha256=8bb990c40a7d61cb97597a942125025be50ac8beb74436e3735b98893a7f6620"},
    };
    char out[WEBHOOK_BODY_SIGNATURE_MAX];
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].name);
        webhook_body_sign(rows[i].secret, rows[i].body, out);
        assert_string_equal(out, rows[i].signature);
    }
}

static void body__is_as_the_contract_shows_it(void **state)
{
    struct buf out;
    (void)state;
    buf_init(&out, 4096);
    webhook_body_write(&out, STR("{\"seq\":42}"), (struct wall){.ns = 1771581606200000000},
                       STR("wh_\"1"));
    expect_str(buf_str(&out), STR("{\"event\":{\"seq\":42},\"sent_at\":\"2026-02-20T10:00:06.2Z\","
                                  "\"webhook_id\":\"wh_\\\"1\"}"));
    buf_deinit(&out);
}

TEST_GROUP(webhook_body, cmocka_unit_test(sign__agrees_with_known_vectors),
           cmocka_unit_test(body__is_as_the_contract_shows_it));
