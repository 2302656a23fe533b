#include <stdio.h>

#include <uv.h>

#include "base/limits.h"
#include "lib/expect.h"
#include "lib/test.h"
#include "log/log.h"
#include "rest/rest_int.h"

static struct mono at_ms(int64_t ms)
{
    return (struct mono){.ns = ms * NS_PER_MS};
}

static struct rest_limiter *limiter(double rps, double burst)
{
    struct rest_limiter_config config = rest_limiter_config_default();
    config.read_rps = config.write_rps = rps;
    config.read_burst = config.write_burst = burst;
    return rest_limiter__new(&config);
}

static bool reads(struct rest_limiter *l, struct str key, uint64_t cost, int64_t ms)
{
    return rest_limiter__take_at(l, key, true, 0, cost, at_ms(ms));
}

static void limiter__begins_full_and_refills_continuously(void **state)
{
    struct rest_limiter *l = limiter(10, 2);
    (void)state;
    assert_true(reads(l, STR("a"), 1, 0));
    assert_true(reads(l, STR("a"), 1, 0));
    assert_false(reads(l, STR("a"), 1, 0));
    assert_false(reads(l, STR("a"), 1, 99));
    assert_true(reads(l, STR("a"), 1, 100));
    assert_false(reads(l, STR("a"), 1, 150));
    assert_true(reads(l, STR("a"), 1, 201));
    /* A long pause fills the bucket up to the burst, but no further. */
    assert_true(reads(l, STR("a"), 2, 60000));
    assert_false(reads(l, STR("a"), 1, 60000));
    rest_limiter__free(l);
}

static void limiter__keeps_clients_and_reads_and_writes_apart(void **state)
{
    struct rest_limiter *l = limiter(1, 1);
    (void)state;
    assert_true(rest_limiter__take_at(l, STR("a"), true, 0, 1, at_ms(0)));
    assert_true(rest_limiter__take_at(l, STR("a"), false, 0, 1, at_ms(0)));
    assert_true(rest_limiter__take_at(l, STR("b"), true, 0, 1, at_ms(0)));
    assert_false(rest_limiter__take_at(l, STR("a"), true, 0, 1, at_ms(0)));
    assert_false(rest_limiter__take_at(l, STR("a"), false, 0, 1, at_ms(0)));
    assert_false(rest_limiter__take_at(l, STR("b"), true, 0, 1, at_ms(0)));
    rest_limiter__free(l);
}

static void limiter__takes_nothing_when_it_refuses(void **state)
{
    struct rest_limiter *l = limiter(1, 10);
    (void)state;
    assert_true(reads(l, STR("a"), 4, 0));
    assert_false(reads(l, STR("a"), 7, 0));
    assert_true(reads(l, STR("a"), 6, 0));
    rest_limiter__free(l);
}

static void limiter__takes_the_rest_of_a_price_or_gives_back_what_was_paid(void **state)
{
    struct rest_limiter *l = limiter(1, 10);
    (void)state;
    assert_true(reads(l, STR("a"), 1, 0));
    assert_true(rest_limiter__take_at(l, STR("a"), true, 1, 6, at_ms(0)));
    assert_true(reads(l, STR("a"), 1, 0));
    assert_false(rest_limiter__take_at(l, STR("a"), true, 1, 5, at_ms(0)));
    assert_true(reads(l, STR("a"), 4, 0));
    assert_false(reads(l, STR("a"), 1, 0));
    /* A refund does not fill the bucket above its burst. */
    assert_true(reads(l, STR("b"), 1, 0));
    assert_true(rest_limiter__take_at(l, STR("b"), true, 1, 10000, at_ms(60000)));
    assert_false(reads(l, STR("b"), 1, 60000));
    rest_limiter__free(l);
}

static void limiter__lets_a_batch_through_that_is_larger_than_the_bucket(void **state)
{
    struct rest_limiter *l = limiter(1, 10);
    (void)state;
    assert_true(reads(l, STR("a"), 10000, 0));
    assert_false(reads(l, STR("a"), 1, 0));
    assert_false(reads(l, STR("a"), 10000, 9000));
    assert_true(reads(l, STR("a"), 10000, 10000));
    rest_limiter__free(l);
}

static void limiter__takes_fractions(void **state)
{
    struct rest_limiter *l = limiter(0.0001, 1);
    (void)state;
    assert_true(reads(l, STR("a"), 1, 0));
    assert_false(reads(l, STR("a"), 1, 60000));
    rest_limiter__free(l);

    l = limiter(0.5, 1.5);
    assert_true(reads(l, STR("a"), 1, 0));
    assert_false(reads(l, STR("a"), 1, 999));
    assert_true(reads(l, STR("a"), 1, 1000));
    rest_limiter__free(l);
}

static void limiter__falls_back_to_defaults(void **state)
{
    struct rest_limiter *l = limiter(0, -1);
    (void)state;
    assert_true(reads(l, STR("a"), 4000, 0));
    assert_false(reads(l, STR("a"), 1, 0));
    assert_true(reads(l, STR("a"), 2000, 1000));
    rest_limiter__free(l);
}

static void limiter__bears_a_clock_that_is_a_little_behind(void **state)
{
    struct rest_limiter *l = limiter(1000, 1);
    (void)state;
    assert_true(reads(l, STR("a"), 1, 10));
    assert_false(reads(l, STR("a"), 1, 5));
    assert_true(reads(l, STR("a"), 1, 11));
    rest_limiter__free(l);
}

static void limiter__forgets_who_is_idle_for_ten_minutes(void **state)
{
    struct rest_limiter *l = limiter(0.0001, 1);
    (void)state;
    assert_true(reads(l, STR("a"), 1, 0));
    assert_true(reads(l, STR("b"), 1, 300000));
    assert_true(reads(l, STR("c"), 1, 599999));
    assert_int_equal(rest_limiter__clients(l), 3);
    assert_false(reads(l, STR("c"), 1, 600000));
    assert_int_equal(rest_limiter__clients(l), 2);
    assert_true(reads(l, STR("a"), 1, 600000)); /* new, so full */
    rest_limiter__free(l);
}

static void limiter__remembers_a_bounded_number_of_clients(void **state)
{
    struct rest_limiter *l = limiter(0.0001, 1);
    char key[32];
    (void)state;
    assert_true(reads(l, STR("first"), 1, 0));
    assert_true(reads(l, STR("second"), 1, 0));
    assert_false(reads(l, STR("first"), 1, 0)); /* used again, so it is not the oldest */
    for (int i = 0; i < LIMIT_RATE_CLIENTS - 1; i++) {
        int n = snprintf(key, sizeof key, "client %d", i);
        assert_true(reads(l, str_from(key, (size_t)n), 1, 1));
    }
    assert_int_equal(rest_limiter__clients(l), LIMIT_RATE_CLIENTS);
    assert_false(reads(l, STR("first"), 1, 1));
    assert_true(reads(l, STR("second"), 1, 1)); /* it was dropped, so its bucket is full again */
    assert_int_equal(rest_limiter__clients(l), LIMIT_RATE_CLIENTS);
    rest_limiter__free(l);
}

/* With sha256sum's first 16 digits for "secret". */
static void limiter__knows_a_client_by_its_credential_or_address(void **state)
{
    static const struct {
        const char *name, *address, *known;
        bool shows_nothing;
        const char *key, *key_loopback; /* the second with loopback callers counted */
    } rows[] = {
        {"nothing but an address", "10.1.2.3", "", true, "ip:10.1.2.3", "ip:10.1.2.3"},
        {"a credential that is right", "10.1.2.3", "secret", false, "api:2bb80d537b1da3e3",
         "api:2bb80d537b1da3e3"},
        {"one that is not", "10.1.2.3", "", false, "ip:10.1.2.3", "ip:10.1.2.3"},
        {"this machine", "127.0.0.1", "", true, "", "ip:127.0.0.1"},
        {"this machine, otherwise", "127.1.2.3", "", true, "", "ip:127.1.2.3"},
        {"this machine with IPv6", "::1", "", true, "", "ip:::1"},
        {"this machine, mapped", "::ffff:127.0.0.1", "", true, "", "ip:::ffff:127.0.0.1"},
        {"a proxy or a wrong one on this machine", "127.0.0.1", "", false, "ip:127.0.0.1",
         "ip:127.0.0.1"},
        {"the right one on this machine", "127.0.0.1", "secret", false, "api:2bb80d537b1da3e3",
         "api:2bb80d537b1da3e3"},
    };
    struct rest_limiter_config config = rest_limiter_config_default();
    struct rest_limiter *l = rest_limiter__new(&config);
    config.loopback = true;
    struct rest_limiter *all = rest_limiter__new(&config);
    char room[REST_LIMITER_KEY_MAX];
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct rest_limiter_caller who = {.address = str_from_z(rows[i].address),
                                          .known = str_from_z(rows[i].known),
                                          .shows_nothing = rows[i].shows_nothing};
        ROW(rows[i].name);
        expect_str(rest_limiter__key(l, &who, room), str_from_z(rows[i].key));
        expect_str(rest_limiter__key(all, &who, room), str_from_z(rows[i].key_loopback));
    }
    rest_limiter__free(l);
    rest_limiter__free(all);
}

static void forwarded__is_the_first_address(void **state)
{
    static const struct {
        const char *header, *address;
    } rows[] = {
        {"203.0.113.9", "203.0.113.9"},
        {" 203.0.113.9 , 10.0.0.1", "203.0.113.9"},
        {"2001:db8::1, 10.0.0.1", "2001:db8::1"},
        {"", ""},
        {",203.0.113.9", ""},
        {"unknown, 203.0.113.9", ""},
        {"203.0.113.9:1234", ""},
        {"203.0.113.256", ""},
        {"0000:0000:0000:0000:0000:0000:0000:0000:0000:0000", ""},
    };
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].header);
        expect_str(rest_limiter__first_forwarded(str_from_z(rows[i].header)),
                   str_from_z(rows[i].address));
    }
}

static void credential__is_found_wherever_it_is_shown(void **state)
{
    static const struct {
        const char *name, *header, *value, *credential;
    } rows[] = {
        {"none", "accept", "x", ""},
        {"a key", "X-API-Key", "secret", "secret"},
        {"a key with blanks around it", "x-api-key", " secret ", "secret"},
        {"a bearer token", "Authorization", "Bearer secret", "secret"},
        {"the scheme in any case", "authorization", "bEARER secret", "secret"},
        {"a cookie", "Cookie", "a=b; corvo_api_key=secret", "secret"},
        {"a cookie that is encoded", "cookie", "corvo_api_key=%73ecret;x=y", "secret"},
        {"another scheme", "Authorization", "Basic Zm9v", ""},
        {"an empty key counts as none", "X-API-Key", " ", ""},
    };
    struct arena *arena = arena_new(1 << 20);
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct http_header header = {str_from_z(rows[i].header), str_from_z(rows[i].value)};
        struct http_request req = {.headers = &header, .header_count = 1, .arena = arena};
        http_known_note(&req.known, http_known_of(header.name), 0);
        ROW(rows[i].name);
        expect_str(rest_credential__of(&req).text, str_from_z(rows[i].credential));
    }
    arena_free(arena);
}

/* Wrong credentials that may be tried at once. After that, one more per second. */
enum { GUESSES = 20 };

static void limiter__slows_down_guesses_by_address(void **state)
{
    struct rest_limiter *l = limiter(1000, 1000);
    const struct str from = STR("10.1.2.3");
    struct rest_limiter_caller right = {.address = from, .known = STR("right")};
    (void)state;
    log_configure(LOG_ERROR, LOG_TEXT);
    assert_true(rest_limiter__take(l, &right, true, 0, 1));
    for (unsigned i = 0; i < GUESSES; i++) {
        assert_true(rest_limiter__may_try_at(l, from, STR("a guess"), at_ms(1000)));
        rest_limiter__was_wrong_at(l, from, at_ms(1000));
    }
    assert_false(rest_limiter__may_try_at(l, from, STR("a guess"), at_ms(1000)));
    assert_false(rest_limiter__may_try_at(l, from, STR("a guess"), at_ms(1999)));
    /* Other addresses are not affected, nor is a credential that was right from this address
     * before. */
    assert_true(rest_limiter__may_try_at(l, STR("10.1.2.4"), STR("a guess"), at_ms(1000)));
    assert_true(rest_limiter__may_try_at(l, from, STR("right"), at_ms(1000)));
    assert_true(rest_limiter__may_try_at(l, from, STR("a guess"), at_ms(2000)));
    rest_limiter__was_wrong_at(l, from, at_ms(2000));
    assert_false(rest_limiter__may_try_at(l, from, STR("a guess"), at_ms(2000)));
    rest_limiter__free(l);
}

/* A machine guesses from all addresses of its IPv6 network. */
static void limiter__slows_down_guesses_by_network(void **state)
{
    struct rest_limiter *l = limiter(1000, 1000);
    unsigned looked_at = 0;
    (void)state;
    log_configure(LOG_ERROR, LOG_TEXT);
    for (unsigned i = 0; i < 100000; i++) {
        char room[64];
        struct str from =
            str_from(room, (size_t)snprintf(room, sizeof room, "2001:db8:1:2:%x:%x:0:1", i % 65536,
                                            i / 65536));
        if (rest_limiter__may_try_at(l, from, STR("a guess"), at_ms(1000))) {
            looked_at++;
            rest_limiter__was_wrong_at(l, from, at_ms(1000));
        }
    }
    assert_int_equal(looked_at, GUESSES);
    assert_int_equal(rest_limiter__clients(l), 1);
    assert_true(rest_limiter__may_try_at(l, STR("2001:db8:1:3::1"), STR("a guess"), at_ms(1000)));
    assert_true(rest_limiter__may_try_at(l, STR_EMPTY, STR("a guess"), at_ms(1000)));
    rest_limiter__was_right(l, STR("2001:db8:1:2::7"), STR("right"));
    assert_true(rest_limiter__may_try_at(l, STR("2001:db8:1:2::7"), STR("right"), at_ms(1000)));
    rest_limiter__free(l);
}

/* Each guess has another address, but the number of remembered addresses is bounded. */
static void limiter__remembers_a_bounded_number_of_guessers(void **state)
{
    struct rest_limiter *l = limiter(1000, 1000);
    (void)state;
    log_configure(LOG_ERROR, LOG_TEXT);
    for (unsigned i = 0; i < LIMIT_RATE_CLIENTS + 1000; i++) {
        char room[64];
        struct str from = str_from(room, (size_t)snprintf(room, sizeof room, "10.%u.%u.%u", i >> 16,
                                                          i >> 8 & 255, i & 255));
        rest_limiter__was_wrong_at(l, from, at_ms(1000));
    }
    assert_int_equal(rest_limiter__clients(l), LIMIT_RATE_CLIENTS);
    rest_limiter__free(l);
}

static void limiter__lets_everybody_through_when_it_is_off(void **state)
{
    struct rest_limiter_config config = rest_limiter_config_default();
    struct rest_limiter_caller who = {.address = STR("10.1.2.3")};
    (void)state;
    config.read_burst = 1;
    config.read_rps = 0.0001;
    config.enabled = false;
    struct rest_limiter *l = rest_limiter__new(&config);
    for (unsigned i = 0; i < 10; i++) {
        assert_true(rest_limiter__take(l, &who, true, 0, 1));
    }
    assert_int_equal(rest_limiter__clients(l), 0);
    rest_limiter__free(l);
}

struct taker {
    struct rest_limiter *limiter;
    unsigned taken;
};

static void take_many(void *data)
{
    struct taker *t = data;
    for (unsigned i = 0; i < 1000; i++) {
        t->taken += reads(t->limiter, STR("a"), 1, 0) ? 1U : 0U;
    }
}

static void limiter__gives_each_token_to_one_thread(void **state)
{
    struct rest_limiter *l = limiter(1, 1500);
    struct taker takers[4];
    uv_thread_t threads[4];
    unsigned taken = 0;
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(takers); i++) {
        takers[i] = (struct taker){.limiter = l};
        assert_int_equal(uv_thread_create(&threads[i], take_many, &takers[i]), 0);
    }
    for (unsigned i = 0; i < COUNT_OF(takers); i++) {
        assert_int_equal(uv_thread_join(&threads[i]), 0);
        taken += takers[i].taken;
    }
    assert_int_equal(taken, 1500);
    rest_limiter__free(l);
}

TEST_GROUP(rest_limiter, cmocka_unit_test(limiter__begins_full_and_refills_continuously),
           cmocka_unit_test(limiter__keeps_clients_and_reads_and_writes_apart),
           cmocka_unit_test(limiter__takes_nothing_when_it_refuses),
           cmocka_unit_test(limiter__takes_the_rest_of_a_price_or_gives_back_what_was_paid),
           cmocka_unit_test(limiter__lets_a_batch_through_that_is_larger_than_the_bucket),
           cmocka_unit_test(limiter__takes_fractions),
           cmocka_unit_test(limiter__falls_back_to_defaults),
           cmocka_unit_test(limiter__bears_a_clock_that_is_a_little_behind),
           cmocka_unit_test(limiter__forgets_who_is_idle_for_ten_minutes),
           cmocka_unit_test(limiter__remembers_a_bounded_number_of_clients),
           cmocka_unit_test(limiter__knows_a_client_by_its_credential_or_address),
           cmocka_unit_test(forwarded__is_the_first_address),
           cmocka_unit_test(credential__is_found_wherever_it_is_shown),
           cmocka_unit_test(limiter__slows_down_guesses_by_address),
           cmocka_unit_test(limiter__slows_down_guesses_by_network),
           cmocka_unit_test(limiter__remembers_a_bounded_number_of_guessers),
           cmocka_unit_test(limiter__lets_everybody_through_when_it_is_off),
           cmocka_unit_test(limiter__gives_each_token_to_one_thread));
