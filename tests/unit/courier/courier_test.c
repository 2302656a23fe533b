#include "courier/courier.h"

#include <stdio.h>

#include "base/check.h"
#include "lib/test.h"

enum { CALLS = 40 };

/* A line with pending calls. */
struct customer {
    struct courier_line line;
    struct courier_call calls[CALLS];
    unsigned wanted; /* number of calls that it wants to make */
    unsigned made;
    unsigned first; /* first call that has not ended */
    uint64_t *now_ms;
};

static void go_on(struct customer *c)
{
    while (c->made < c->wanted && courier_begin(&c->line, &c->calls[c->made], *c->now_ms)) {
        c->made++;
    }
}

static void ready(struct courier_line *l)
{
    go_on(CONTAINER_OF(l, struct customer, line));
}

static void open_one(struct customer *c, struct courier *courier, const char *url, unsigned wanted,
                     uint64_t *now_ms)
{
    *c = (struct customer){.wanted = wanted, .now_ms = now_ms};
    courier_line_init(&c->line, courier, str_from_z(url), ready);
    go_on(c);
}

static void end_one(struct customer *c, enum courier_end how)
{
    assert_true(c->first < c->made);
    courier_end(&c->calls[c->first++], how);
    go_on(c);
}

static unsigned under_way(const struct customer *c)
{
    return c->made - c->first;
}

static void close_one(struct customer *c)
{
    c->wanted = 0;
    while (under_way(c) > 0) {
        courier_end(&c->calls[c->first++], COURIER_BROKEN);
    }
    courier_line_deinit(&c->line);
}

static struct courier *new_courier(void)
{
    struct courier_config config = courier_config_default();
    return courier_new(&config);
}

static void courier__tries_a_new_host_with_few_calls(void **state)
{
    struct courier *c = new_courier();
    struct customer a;
    uint64_t now_ms = 5000;
    (void)state;
    assert_int_equal(courier_due_ms(c), UINT64_MAX);
    open_one(&a, c, "http://a/", CALLS, &now_ms);
    assert_int_equal(under_way(&a), 2);
    assert_int_equal(courier_numbers(c).slow, 2);
    assert_int_equal(courier_numbers(c).lines_waiting, 1);
    assert_int_equal(courier_due_ms(c), 6000);
    now_ms = 6000; /* the two calls may never be answered: two more */
    courier_turn(c, now_ms);
    assert_int_equal(under_way(&a), 4);
    now_ms = 7000; /* and one more per second from now on */
    courier_turn(c, now_ms);
    assert_int_equal(under_way(&a), 5);
    now_ms = 7999;
    courier_turn(c, now_ms);
    assert_int_equal(under_way(&a), 5);
    now_ms = 8000;
    courier_turn(c, now_ms);
    assert_int_equal(under_way(&a), 6);
    end_one(&a, COURIER_ANSWERED);
    assert_int_equal(under_way(&a), 32); /* the limit for one host */
    assert_int_equal(courier_numbers(c).slow, 5);
    assert_int_equal(courier_numbers(c).calls, 32);
    close_one(&a);
    assert_int_equal(courier_numbers(c).calls, 0);
    assert_int_equal(courier_numbers(c).slow, 0);
    courier_free(c);
}

static void courier__gives_a_host_that_hangs_little(void **state)
{
    struct courier *c = new_courier();
    struct customer a;
    uint64_t now_ms = 0;
    (void)state;
    open_one(&a, c, "http://a/", CALLS, &now_ms);
    end_one(&a, COURIER_ANSWERED);
    end_one(&a, COURIER_HUNG); /* it began before that answer */
    assert_int_equal(courier_numbers(c).hosts_hung, 0);
    assert_int_equal(under_way(&a), 32);
    while (under_way(&a) > 2) {
        unsigned before = a.made;
        end_one(&a, COURIER_HUNG);
        assert_int_equal(a.made, before);
        assert_int_equal(courier_numbers(c).hosts_hung, 1);
    }
    a.wanted = a.made + 1;
    end_one(&a, COURIER_HUNG);
    assert_int_equal(under_way(&a), 2);
    end_one(&a, COURIER_BROKEN); /* a broken call is no information about the host */
    assert_int_equal(courier_numbers(c).hosts_hung, 1);
    end_one(&a, COURIER_ANSWERED);
    assert_int_equal(courier_numbers(c).hosts_hung, 0);
    close_one(&a);
    courier_free(c);
}

/* Calls to the same host hang, before and after one that is answered. */
static void courier__tries_on_while_calls_hang(void **state)
{
    struct courier *c = new_courier();
    struct customer a;
    uint64_t now_ms = 0;
    (void)state;
    open_one(&a, c, "http://a/", CALLS, &now_ms);
    for (unsigned i = 0; i < 3; i++) {
        end_one(&a, COURIER_HUNG);
    }
    assert_int_equal(under_way(&a), 2);
    for (unsigned i = 1; i <= CALLS; i++) { /* one more each second, up to the limit for one host */
        now_ms += 1000;
        courier_turn(c, now_ms);
        assert_int_equal(under_way(&a), 2 + i < 32 ? 2 + i : 32);
    }
    a.wanted = a.made;
    end_one(&a, COURIER_ANSWERED);
    while (under_way(&a) > 0) { /* they began before that answer */
        end_one(&a, COURIER_HUNG);
        assert_int_equal(courier_numbers(c).hosts_hung, 0);
    }
    close_one(&a);
    courier_free(c);
}

/* Half of the slow lane is reserved for the first calls to other hosts. */
static void courier__does_not_fill_the_slow_lane_with_more(void **state)
{
    enum { HOSTS = 8 };
    static struct customer hanging[HOSTS];
    struct courier *c = new_courier();
    uint64_t now_ms = 0;
    (void)state;
    for (unsigned i = 0; i < HOSTS; i++) {
        char url[32];
        (void)snprintf(url, sizeof url, "http://hangs%u/", i);
        open_one(&hanging[i], c, url, CALLS, &now_ms);
    }
    for (unsigned i = 0; i < CALLS; i++) {
        now_ms += 1000;
        courier_turn(c, now_ms);
    }
    assert_int_equal(courier_numbers(c).slow, 64);
    for (unsigned i = 0; i < HOSTS; i++) {
        hanging[i].wanted = 0;
    }
    for (unsigned i = 0; i < HOSTS; i++) {
        close_one(&hanging[i]);
    }
    courier_free(c);
}

/* Which URLs belong to the same host, by port and letter case. */
static void courier__knows_hosts_by_name_and_port(void **state)
{
    static const struct {
        const char *a, *b;
        bool same;
    } rows[] = {
        {"http://a/x", "http://A:80/y", true}, {"http://a/", "https://a/", false},
        {"http://a:443/", "https://a/", true}, {"http://a/", "http://b/", false},
        {"http://a:1/", "http://a:2/", false}, {"http://[::1]/", "http://[::1]:80/x", true},
        {"no address", "another", false},      {"no address", "no address", true},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct courier *c = new_courier();
        struct customer a;
        struct customer b;
        uint64_t now_ms = 0;
        ROW(rows[i].b);
        open_one(&a, c, rows[i].a, CALLS, &now_ms);
        open_one(&b, c, rows[i].b, CALLS, &now_ms);
        assert_int_equal(under_way(&b), rows[i].same ? 0 : 2);
        courier_line_move(&b.line, str_from_z("http://elsewhere/"));
        go_on(&b);
        assert_int_equal(under_way(&b), rows[i].same ? 2 : 4);
        close_one(&a);
        close_one(&b);
        courier_free(c);
    }
}

static void courier__lets_those_who_wait_take_turns(void **state)
{
    struct courier *c = new_courier();
    struct customer a;
    struct customer b;
    uint64_t now_ms = 0;
    (void)state;
    open_one(&a, c, "http://a/1", CALLS, &now_ms);
    open_one(&b, c, "http://a/2", CALLS, &now_ms);
    end_one(&a, COURIER_HUNG);
    end_one(&a, COURIER_HUNG);
    assert_int_equal(under_way(&a), 1); /* this line waited first */
    assert_int_equal(under_way(&b), 1);
    for (unsigned i = 0; i < 5; i++) {
        end_one(&a, COURIER_HUNG);
        end_one(&b, COURIER_HUNG);
    }
    assert_int_equal(a.made, 8);
    assert_int_equal(b.made, 6);
    close_one(&a);
    close_one(&b);
    courier_free(c);
}

/* With many hosts that hang, a host that answers has all the calls that it can use, and a new host
 * is tried as soon as a call to another host is given up. */
static void courier__keeps_places_for_hosts_that_answer(void **state)
{
    enum { HOSTS = 100 };
    static struct customer hanging[HOSTS];
    static struct customer good;
    static struct customer late;
    struct courier *c = new_courier();
    uint64_t now_ms = 0;
    (void)state;
    open_one(&good, c, "http://good/", 1, &now_ms);
    end_one(&good, COURIER_ANSWERED);
    for (unsigned i = 0; i < HOSTS; i++) {
        char url[32];
        (void)snprintf(url, sizeof url, "http://hangs%u/", i);
        open_one(&hanging[i], c, url, CALLS, &now_ms);
    }
    for (now_ms = 0; now_ms < 10000; now_ms += 500) {
        courier_turn(c, now_ms);
    }
    assert_int_equal(courier_numbers(c).slow, 128);
    good.wanted = CALLS;
    go_on(&good);
    assert_int_equal(under_way(&good), 32);
    open_one(&late, c, "http://late/", CALLS, &now_ms);
    assert_int_equal(under_way(&late), 0);
    for (unsigned i = 0; i < HOSTS; i++) { /* these calls are too old */
        while (hanging[i].first < hanging[i].made && under_way(&hanging[i]) > 0 &&
               hanging[i].calls[hanging[i].first].old) {
            end_one(&hanging[i], COURIER_HUNG);
        }
    }
    assert_true(under_way(&late) > 0);
    end_one(&late, COURIER_ANSWERED);
    assert_int_equal(under_way(&late), 32); /* it is a good host now */
    close_one(&good);
    close_one(&late);
    for (unsigned i = 0; i < HOSTS; i++) {
        hanging[i].wanted = 0;
    }
    for (unsigned i = 0; i < HOSTS; i++) {
        close_one(&hanging[i]);
    }
    courier_free(c);
}

/* The first answer arrives while another line to the same host waits behind hosts that hang. */
static void courier__a_host_that_answers_leaves_the_slow_lane(void **state)
{
    enum { HOSTS = 64 };
    static struct customer hanging[HOSTS];
    struct courier *c = new_courier();
    struct customer a;
    struct customer b;
    uint64_t now_ms = 0;
    (void)state;
    open_one(&a, c, "http://good/1", 1, &now_ms);
    for (unsigned i = 0; i < HOSTS; i++) {
        char url[32];
        (void)snprintf(url, sizeof url, "http://hangs%u/", i);
        open_one(&hanging[i], c, url, CALLS, &now_ms);
    }
    open_one(&b, c, "http://good/2", 3, &now_ms);
    assert_int_equal(under_way(&b), 0);
    end_one(&a, COURIER_ANSWERED);
    assert_int_equal(under_way(&b), 3);
    for (unsigned i = 0; i < HOSTS; i++) {
        hanging[i].wanted = 0;
    }
    for (unsigned i = 0; i < HOSTS; i++) {
        close_one(&hanging[i]);
    }
    close_one(&a);
    close_one(&b);
    courier_free(c);
}

TEST_GROUP(courier, cmocka_unit_test(courier__tries_a_new_host_with_few_calls),
           cmocka_unit_test(courier__gives_a_host_that_hangs_little),
           cmocka_unit_test(courier__tries_on_while_calls_hang),
           cmocka_unit_test(courier__does_not_fill_the_slow_lane_with_more),
           cmocka_unit_test(courier__knows_hosts_by_name_and_port),
           cmocka_unit_test(courier__lets_those_who_wait_take_turns),
           cmocka_unit_test(courier__keeps_places_for_hosts_that_answer),
           cmocka_unit_test(courier__a_host_that_answers_leaves_the_slow_lane));
