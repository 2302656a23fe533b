#include "fsm/state/throughput.h"

#include "lib/machine_kit.h"

static struct wall at_minute(int64_t number)
{
    return (struct wall){.ns = number * 60 * NS_PER_S + 1};
}

static void counts__go_into_the_minute_of_their_entry(void **state)
{
    (void)state;
    struct throughput t = {0};
    throughput_begin(&t, at_minute(100), false);
    throughput_add(&t, THROUGHPUT_ENQUEUED);
    throughput_add(&t, THROUGHPUT_ENQUEUED);
    throughput_begin(&t, at_minute(100), false);
    throughput_add(&t, THROUGHPUT_ENQUEUED);
    throughput_begin(&t, at_minute(101), false);
    throughput_add(&t, THROUGHPUT_PURGED);
    assert_int_equal(throughput_minute(&t, 100).count[THROUGHPUT_ENQUEUED], 3);
    assert_int_equal(throughput_minute(&t, 100).count[THROUGHPUT_PURGED], 0);
    assert_int_equal(throughput_minute(&t, 101).count[THROUGHPUT_PURGED], 1);
    assert_int_equal(throughput_minute(&t, 102).count[THROUGHPUT_PURGED], 0);
    assert_int_equal(throughput_minute(&t, 102).number, 102);
    assert_int_equal(t.of[THROUGHPUT_ENQUEUED].total, 3);
    assert_int_equal(t.of[THROUGHPUT_ENQUEUED].entries, 2);
    assert_int_equal(t.of[THROUGHPUT_ENQUEUED].last.ns, at_minute(100).ns);
    assert_int_equal(t.of[THROUGHPUT_COMPLETED].last.ns, 0);
}

static void totals__leave_out_what_is_applied_again(void **state)
{
    (void)state;
    struct throughput t = {0};
    throughput_begin(&t, at_minute(100), true);
    throughput_add(&t, THROUGHPUT_ENQUEUED);
    assert_int_equal(throughput_minute(&t, 100).count[THROUGHPUT_ENQUEUED], 1);
    assert_int_equal(t.of[THROUGHPUT_ENQUEUED].last.ns, at_minute(100).ns);
    assert_int_equal(t.of[THROUGHPUT_ENQUEUED].total, 0);
    assert_int_equal(t.of[THROUGHPUT_ENQUEUED].entries, 0);
    throughput_begin(&t, at_minute(100), false);
    throughput_add(&t, THROUGHPUT_ENQUEUED);
    assert_int_equal(throughput_minute(&t, 100).count[THROUGHPUT_ENQUEUED], 2);
    assert_int_equal(t.of[THROUGHPUT_ENQUEUED].total, 1);
    assert_int_equal(t.of[THROUGHPUT_ENQUEUED].entries, 1);
}

static void minutes__older_than_an_hour_are_forgotten(void **state)
{
    (void)state;
    struct throughput t = {0};
    for (int64_t minute = 0; minute < 3 * THROUGHPUT_MINUTES; minute++) {
        throughput_begin(&t, at_minute(minute), false);
        throughput_add(&t, THROUGHPUT_FAILED);
        int64_t oldest = minute - THROUGHPUT_MINUTES + 1;
        for (int64_t m = oldest < 0 ? 0 : oldest; m <= minute; m++) {
            assert_int_equal(throughput_minute(&t, m).count[THROUGHPUT_FAILED], 1);
        }
        if (oldest > 0) {
            assert_int_equal(throughput_minute(&t, oldest - 1).count[THROUGHPUT_FAILED], 0);
        }
    }
    assert_int_equal(t.of[THROUGHPUT_FAILED].total, 3 * THROUGHPUT_MINUTES);
}

static void machine__counts_what_it_applies(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    const struct throughput *t = machine_throughput(k->machine);
    k->events_off = true; /* counting does not need the event log */
    struct id id = kit_enqueue(k, queue, "{}");
    (void)kit_claim(k, queue);
    (void)kit_fail(k, id, "x");
    kit_tick(k, JOB_RETRY_BASE_MS);
    (void)kit_claim(k, queue);
    kit_tick(k, JOB_LEASE_MS + 1);
    (void)kit_claim(k, queue);
    (void)kit_ack(k, id);
    struct command_new new = {.job = kit_template(queue, "{}"), .expire_after_ms = 1};
    struct command c = kit_enqueue_command(&new, 1);
    (void)kit_apply(k, &c);
    kit_tick(k, 1000);
    struct command purge = {.type = COMMAND_PURGE, .purge = {.retention_ms = 1}};
    kit_pass_ms(k, 1000);
    (void)kit_apply(k, &purge);
    k->events_off = false;
    static const uint64_t want[THROUGHPUT_KIND_COUNT] = {
        [THROUGHPUT_ENQUEUED] = 2, [THROUGHPUT_COMPLETED] = 1, [THROUGHPUT_FAILED] = 1,
        [THROUGHPUT_PROMOTED] = 1, [THROUGHPUT_RECLAIMED] = 1, [THROUGHPUT_EXPIRED] = 1,
        [THROUGHPUT_PURGED] = 2,
    };
    for (unsigned kind = 0; kind < THROUGHPUT_KIND_COUNT; kind++) {
        assert_int_equal(t->of[kind].total, want[kind]);
    }
}

static void machine__knows_which_entries_are_repeated(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    const struct throughput *t = machine_throughput(k->machine);
    uint64_t before = t->of[THROUGHPUT_ENQUEUED].total;
    machine_repeats_until(k->machine, machine_applied_index(k->machine) + 2);
    for (unsigned i = 0; i < 3; i++) {
        (void)kit_enqueue(k, queue, "{}");
    }
    assert_int_equal(t->of[THROUGHPUT_ENQUEUED].total, before + 1);
    machine_repeats_until(k->machine, 0);
}

TEST_GROUP_FIXTURE(throughput, kit_setup, kit_teardown,
                   cmocka_unit_test(counts__go_into_the_minute_of_their_entry),
                   cmocka_unit_test(totals__leave_out_what_is_applied_again),
                   cmocka_unit_test(minutes__older_than_an_hour_are_forgotten),
                   cmocka_unit_test(machine__counts_what_it_applies),
                   cmocka_unit_test(machine__knows_which_entries_are_repeated));
