/*
 * Tallies equal the sums of the reports, whatever happens to their jobs. The kit applies every
 * entry again on a second machine with restarts, which detects cells that depend on lost memory.
 */
#include "base/limits.h"
#include "lib/machine_kit.h"
#include "lib/rng.h"
#include "store/store_tally.h"

enum { REPORTS_MAX = 8192, CELLS_MAX = 20000, HOUR_MS = 3600 * 1000, PART_MS = 300 * 1000 };

/* A report. */
struct reported {
    struct wall at;
    struct str queue, team; /* an empty team: no tag */
    struct store_tokens tokens;
};

/* A stored cell. */
struct cell {
    enum store_tally_series series;
    uint32_t number;
    struct store_tally_name name; /* points into key */
    struct store_tally sums;
    char key[512];
};

struct all {
    struct kit *kit;
    struct reported *reports;
    size_t report_count;
    struct cell *cells;
    size_t cell_count;
};

static int setup(void **state)
{
    struct all *a = calloc(1, sizeof *a);
    assert_non_null(a);
    a->reports = calloc(REPORTS_MAX, sizeof *a->reports);
    a->cells = calloc(CELLS_MAX, sizeof *a->cells);
    (void)kit_setup((void **)&a->kit);
    *state = a;
    return 0;
}

static int teardown(void **state)
{
    struct all *a = *state;
    int code = kit_teardown((void **)&a->kit);
    free(a->reports);
    free(a->cells);
    free(a);
    return code;
}

static void read_cell(void *data, struct str key, struct str value)
{
    struct all *a = data;
    struct cell *c = &a->cells[a->cell_count];
    if (key.len == 1) {
        return; /* the record of the beginning of counting */
    }
    assert_true(a->cell_count < CELLS_MAX && key.len <= sizeof c->key);
    memcpy(c->key, key.ptr, key.len);
    assert_true(
        store_tally_decode_key(str_from(c->key, key.len), &c->series, &c->number, &c->name));
    assert_true(store_tally_decode(value, &c->sums));
    a->cell_count++;
}

static void read_cells(struct all *a)
{
    a->cell_count = 0;
    store_each(machine_store(a->kit->machine), STORE_KIND_TALLY, read_cell, a);
}

/* The sum of all cells of a series. */
static struct store_tally total_of(struct all *a, enum store_tally_series series)
{
    struct store_tally sum = {0};
    read_cells(a);
    for (size_t i = 0; i < a->cell_count; i++) {
        if (a->cells[i].series == series) {
            store_tally_add(&sum, &a->cells[i].sums);
        }
    }
    return sum;
}

static struct store_tally total_of_name(struct all *a, enum store_tally_series series,
                                        const char *queue, const char *first, const char *second)
{
    struct store_tally sum = {0};
    read_cells(a);
    for (size_t i = 0; i < a->cell_count; i++) {
        const struct cell *c = &a->cells[i];
        if (c->series == series && str_eq(c->name.queue, str_from_z(queue)) &&
            str_eq(c->name.first, str_from_z(first)) &&
            str_eq(c->name.second, str_from_z(second))) {
            store_tally_add(&sum, &c->sums);
        }
    }
    return sum;
}

/* --- jobs that report --- */

static struct id put(struct all *a, const char *queue, const char *team)
{
    struct job j = kit_template(queue, "{}");
    if (team[0] != '\0') {
        j.tags = kit_text(a->kit, "{\"x\":\"no\",\"x\":1,\"team\":\"%s\"}", team);
    }
    return kit_enqueue_job(a->kit, &j);
}

static void beat(struct all *a, struct id id, struct store_tokens tokens)
{
    struct command_heartbeat_item item = {.id = id, .usage = tokens};
    (void)kit_beat_item(a->kit, item);
}

/* Create and claim a job that reports once. */
static struct id report(struct all *a, const char *queue, const char *team,
                        struct store_tokens tokens)
{
    struct id id = put(a, queue, team);
    assert_true(id_eq(kit_claim(a->kit, queue), id));
    beat(a, id, tokens);
    return id;
}

static void delete_job(struct all *a, struct id id)
{
    assert_int_equal(kit_do(a->kit, COMMAND_JOB_DELETE, id)->affected, 1);
}

static void move(struct all *a, struct id id, const char *to)
{
    struct command c = kit_action(COMMAND_JOB_MOVE, &id);
    c.jobs.queue = str_from_z(to);
    assert_int_equal(kit_apply(a->kit, &c)->affected, 1);
}

/* --- a recount --- */

static bool is_in(const struct cell *c, const struct reported *r)
{
    if (store_tally_number(c->series, r->at) != c->number || !str_eq(c->name.queue, r->queue)) {
        return false;
    }
    if (c->series < STORE_TALLY_TAG_PARTS) {
        return str_eq(c->name.first, r->tokens.model) && str_eq(c->name.second, r->tokens.provider);
    }
    bool team = str_eq(c->name.first, STR("team"));
    return r->team.len > 0 && str_eq(c->name.second, team ? r->team : STR("1"));
}

static void expect_recounted(struct all *a)
{
    int64_t reports[STORE_TALLY_SERIES] = {0};
    int64_t tagged = 0;
    read_cells(a);
    for (size_t i = 0; i < a->cell_count; i++) {
        const struct cell *c = &a->cells[i];
        struct store_tally sum = {0};
        for (size_t n = 0; n < a->report_count; n++) {
            const struct store_tokens *t = &a->reports[n].tokens;
            if (is_in(c, &a->reports[n])) {
                store_tally_add(&sum, &(struct store_tally){t->input, t->output, t->cache_creation,
                                                            t->cache_read, t->cost_nusd, 1});
            }
        }
        assert_memory_equal(&c->sums, &sum, sizeof sum);
        assert_true(c->sums.reports > 0);
        reports[c->series] += c->sums.reports;
    }
    for (size_t n = 0; n < a->report_count; n++) {
        tagged += a->reports[n].team.len > 0 ? 2 : 0;
    }
    assert_int_equal(reports[STORE_TALLY_HOURS], a->report_count);
    assert_int_equal(reports[STORE_TALLY_PARTS], a->report_count);
    assert_int_equal(reports[STORE_TALLY_TAG_HOURS], tagged);
    assert_int_equal(reports[STORE_TALLY_TAG_PARTS], tagged);
}

static void work_at_random(struct all *a, struct rng *r)
{
    static const char *const queues[] = {"one", "two", "space::one", "space::two"};
    static const char *const teams[] = {"", "red", "blue"};
    static const char *const models[] = {"", "small", "large"};
    const char *queue = queues[rng_below(r, COUNT_OF(queues))];
    struct reported *n = &a->reports[a->report_count];
    struct id id = kit_claim(a->kit, queue);
    struct store_tokens tokens = {.input = (int64_t)rng_below(r, 1000),
                                  .output = (int64_t)rng_below(r, 1000),
                                  .cache_creation = (int64_t)rng_below(r, 3),
                                  .cache_read = (int64_t)rng_below(r, 3),
                                  .cost_nusd = 1 + (int64_t)rng_below(r, 1000000000),
                                  .model = str_from_z(models[rng_below(r, COUNT_OF(models))]),
                                  .provider = rng_below(r, 2) == 0 ? STR("p") : STR_EMPTY};
    kit_pass_ms(a->kit, (int64_t)rng_below(r, 200000));
    if (id_is_none(id)) {
        (void)put(a, queue, teams[rng_below(r, COUNT_OF(teams))]);
        return;
    }
    struct job j = kit_job(a->kit, id);
    struct str team = strstr(kit_text(a->kit, "%.*s", STR_ARG(j.tags)).ptr, "red") != NULL
                          ? STR("red")
                      : j.tags.len > 0 ? STR("blue")
                                       : STR_EMPTY;
    assert_true(a->report_count < REPORTS_MAX);
    *n = (struct reported){a->kit->now, str_from_z(queue), team, tokens};
    if (rng_below(r, 2) == 0) {
        beat(a, id, tokens);
        a->report_count += kit_usages(a->kit, id).count;
    } else {
        (void)kit_ack_item(a->kit, (struct command_ack_item){.id = id, .usage = tokens});
        a->report_count++;
    }
    switch (rng_below(r, 4)) {
    case 0:
        delete_job(a, id);
        break;
    case 1:
        move(a, id, queues[rng_below(r, COUNT_OF(queues))]);
        break;
    default:
        break;
    }
}

static void tallies__are_what_was_reported(void **state)
{
    struct all *a = *state;
    struct rng r = rng_from(7);
    for (unsigned i = 0; i < 700; i++) {
        work_at_random(a, &r);
        if (i % 100 == 99) {
            kit_reopen(a->kit);
        }
    }
    assert_true(a->report_count > 200);
    expect_recounted(a);
}

/* --- retention --- */

static void tallies__are_kept_for_their_time(void **state)
{
    struct all *a = *state;
    struct kit *k = a->kit;
    struct id id = put(a, "q", "red");
    (void)kit_claim(k, "q");
    unsigned hours = LIMIT_TALLY_HOURS + 100;
    for (unsigned i = 0; i < hours; i++) {
        kit_pass_ms(k, HOUR_MS);
        beat(a, id, (struct store_tokens){.input = 1});
    }
    read_cells(a);
    unsigned count[STORE_TALLY_SERIES] = {0};
    for (size_t i = 0; i < a->cell_count; i++) {
        const struct cell *c = &a->cells[i];
        int64_t age = store_tally_number(c->series, k->now) - c->number;
        assert_true(age <= store_tally_kept(c->series));
        count[c->series]++;
    }
    assert_int_equal(count[STORE_TALLY_HOURS], LIMIT_TALLY_HOURS + 1);
    assert_int_equal(count[STORE_TALLY_PARTS], LIMIT_TALLY_PARTS * LIMIT_TALLY_PART_S / 3600 + 1);
    assert_int_equal(count[STORE_TALLY_TAG_HOURS], 2 * (LIMIT_TALLY_HOURS + 1));
}

/* --- the limit --- */

static void report_names(struct all *a, const char *queue, unsigned count)
{
    struct id id = put(a, queue, "");
    (void)kit_claim(a->kit, queue);
    for (unsigned i = 0; i < count; i++) {
        struct str model = kit_text(a->kit, "model-%06u", i);
        beat(a, id, (struct store_tokens){.input = 1, .model = model});
    }
}

static void too_many__names_count_for_their_namespace(void **state)
{
    struct all *a = *state;
    unsigned many = 2500; /* more than half of the cells of an hour */
    report_names(a, "flood::q", many);
    read_cells(a);
    struct store_tally rest = total_of_name(a, STORE_TALLY_HOURS, "flood::", "", "");
    assert_true(rest.reports > 0 && rest.reports < many);
    assert_int_equal(rest.reports, total_of_name(a, STORE_TALLY_PARTS, "flood::", "", "").reports);
    assert_int_equal(total_of(a, STORE_TALLY_HOURS).reports, many);
    assert_int_equal(total_of(a, STORE_TALLY_PARTS).reports, many);
    /* A name with a cell is still counted separately. Another namespace has room. */
    report_names(a, "flood::q", 1);
    (void)report(a, "other::q", "", (struct store_tokens){.input = 5, .model = STR("m")});
    assert_int_equal(total_of_name(a, STORE_TALLY_HOURS, "flood::", "", "").reports, rest.reports);
    assert_int_equal(total_of_name(a, STORE_TALLY_HOURS, "other::q", "m", "").input, 5);
    /* The next hour has room again. */
    kit_pass_ms(a->kit, HOUR_MS);
    kit_reopen(a->kit);
    (void)report(a, "flood::r", "", (struct store_tokens){.input = 3, .model = STR("late")});
    assert_int_equal(total_of_name(a, STORE_TALLY_HOURS, "flood::r", "late", "").input, 3);
}

static void too_many__tags_are_left_out(void **state)
{
    struct all *a = *state;
    unsigned many = 1500;
    for (unsigned i = 0; i < many; i++) {
        struct job j = kit_template("q", "{}");
        j.tags = kit_text(a->kit, "{\"request\":\"r-%06u\",\"team\":\"red\"}", i);
        struct id id = kit_enqueue_job(a->kit, &j);
        (void)kit_claim(a->kit, "q");
        (void)kit_ack_item(a->kit, (struct command_ack_item){.id = id, .usage = {.input = 1}});
    }
    int64_t tagged = total_of(a, STORE_TALLY_TAG_HOURS).reports;
    assert_int_equal(total_of_name(a, STORE_TALLY_TAG_HOURS, "q", "team", "red").reports, many);
    assert_true(tagged > many && tagged < 2 * many);
    assert_int_equal(total_of(a, STORE_TALLY_TAG_PARTS).reports, tagged);
    assert_int_equal(total_of_name(a, STORE_TALLY_HOURS, "q", "", "").reports, many);
}

/* --- reports of earlier versions --- */

static void reports_of_before__count_when_their_job_goes(void **state)
{
    struct all *a = *state;
    struct kit *k = a->kit;
    const struct store_tokens ten = {.input = 10, .model = STR("m")};
    k->entry_version = COMMAND_ENTRY_STRICT;
    struct id gone = report(a, "q", "", ten);
    struct id early = report(a, "q", "red", ten);
    struct id later = report(a, "q", "", ten);
    struct id moved = report(a, "q", "", ten);
    delete_job(a, gone);
    read_cells(a);
    assert_int_equal(a->cell_count, 0);
    assert_false(store_tally_start_get(machine_store(k->machine)).known);

    kit_pass_ms(k, HOUR_MS);
    k->entry_version = COMMAND_ENTRY_EXACT;
    delete_job(a, early); /* counting begins here */
    assert_int_equal(total_of(a, STORE_TALLY_HOURS).input, 10);
    assert_int_equal(total_of_name(a, STORE_TALLY_TAG_HOURS, "q", "team", "red").input, 10);
    assert_int_equal(a->cells[0].number,
                     store_tally_number(a->cells[0].series, wall_add_ms(k->now, -HOUR_MS)));
    beat(a, later, (struct store_tokens){.input = 5, .model = STR("m")});
    assert_int_equal(total_of(a, STORE_TALLY_HOURS).input, 15);
    k->entry_version = COMMAND_ENTRY_STRICT; /* a new leader, unaware of versions */
    beat(a, later, (struct store_tokens){.input = 2, .model = STR("m")});
    kit_reopen(k);
    k->entry_version = COMMAND_ENTRY_EXACT;
    assert_int_equal(total_of(a, STORE_TALLY_HOURS).input, 17);
    delete_job(a, later);
    assert_int_equal(total_of(a, STORE_TALLY_HOURS).input, 27);
    move(a, moved, "r");
    delete_job(a, moved);
    assert_int_equal(total_of_name(a, STORE_TALLY_HOURS, "r", "m", "").input, 10);
    assert_int_equal(total_of(a, STORE_TALLY_HOURS).reports, 5);
}

/* --- restored from a backup --- */

static void restore_job(struct all *a, struct id id, struct wall at, int64_t input, bool summed)
{
    struct job j = kit_template("restored", "{}");
    j.id = id;
    j.state = JOB_COMPLETED;
    j.created_at = j.completed_at = at;
    j.usage_count = 1;
    struct command_restore_item items[2] = {
        {.kind = COMMAND_RESTORE_JOB, .id = id, .job = j},
        {.kind = COMMAND_RESTORE_USAGE,
         .summed = summed,
         .id = id,
         .usage = {.attempt = 1,
                   .phase = STORE_PHASE_ACK,
                   .created_at = at,
                   .tokens = {.input = input, .model = STR("m")}}}};
    (void)kit_apply(a->kit, &(struct command){.type = COMMAND_RESTORE,
                                              .restore = {.items = items, .count = 2}});
}

static void restore(struct all *a, struct id id, struct wall at, int64_t input)
{
    restore_job(a, id, at, input, false);
}

static void restore_summed(struct all *a, struct id id, struct wall at, int64_t input)
{
    restore_job(a, id, at, input, true);
}

static void restored__reports_count_unless_they_were_counted(void **state)
{
    struct all *a = *state;
    struct kit *k = a->kit;
    struct wall old = wall_add_ms(k->now, -2 * HOUR_MS);
    struct id first = id_make(old, 1, 1);
    restore(a, first, old, 10);
    restore(a, first, old, 10); /* it exists already */
    assert_int_equal(total_of_name(a, STORE_TALLY_HOURS, "restored", "m", "").input, 10);
    delete_job(a, first);
    assert_int_equal(total_of(a, STORE_TALLY_HOURS).input, 10);

    kit_pass_ms(k, HOUR_MS);
    struct id id = report(a, "restored", "", (struct store_tokens){.input = 7});
    struct wall at = k->now;
    delete_job(a, id);
    kit_pass_ms(k, HOUR_MS);
    restore(a, id, at, 7); /* it was counted in this log */
    assert_int_equal(total_of(a, STORE_TALLY_HOURS).input, 17);
    delete_job(a, id);
    assert_int_equal(total_of(a, STORE_TALLY_HOURS).input, 17);
}

static void restore_sum(struct all *a, enum store_tally_series series, struct wall at,
                        const char *queue, int64_t input)
{
    char room[256];
    struct buf key;
    const struct store_tally_name name = {str_from_z(queue), STR("m"), STR("p")};
    buf_init_room(&key, sizeof room, room, sizeof room);
    store_tally_key(series, (uint32_t)store_tally_number(series, at), &name, &key);
    struct command_restore_item item = {.kind = COMMAND_RESTORE_TALLY,
                                        .name = buf_str(&key),
                                        .tally = {.input = input, .reports = 1}};
    assert_int_equal(kit_apply(a->kit, &(struct command){.type = COMMAND_RESTORE,
                                                         .restore = {.items = &item, .count = 1}})
                         ->code,
                     ERR_OK);
}

static void restored__sums_are_there_once(void **state)
{
    struct all *a = *state;
    struct kit *k = a->kit;
    kit_pass_ms(k, 100 * 24 * (int64_t)HOUR_MS);
    struct wall old = wall_add_ms(k->now, -2 * HOUR_MS);
    restore_sum(a, STORE_TALLY_HOURS, old, "q", 10);
    restore_sum(a, STORE_TALLY_HOURS, old, "q", 10); /* again */
    restore_sum(a, STORE_TALLY_HOURS, old, "q", 9);  /* an older backup */
    assert_int_equal(total_of_name(a, STORE_TALLY_HOURS, "q", "m", "p").input, 10);
    assert_int_equal(total_of_name(a, STORE_TALLY_HOURS, "q", "m", "p").reports, 1);
    kit_reopen(k);
    restore_sum(a, STORE_TALLY_HOURS, old, "q", 12); /* a newer backup */
    restore_sum(a, STORE_TALLY_TAG_PARTS, old, "q", 3);
    assert_int_equal(total_of_name(a, STORE_TALLY_HOURS, "q", "m", "p").input, 12);
    assert_int_equal(total_of_name(a, STORE_TALLY_TAG_PARTS, "q", "m", "p").input, 3);
    /* Cells that are not kept any more, or that are in the future. */
    restore_sum(a, STORE_TALLY_HOURS, wall_add_ms(k->now, -93 * 24 * (int64_t)HOUR_MS), "q", 100);
    restore_sum(a, STORE_TALLY_PARTS, wall_add_ms(k->now, -28 * HOUR_MS), "q", 100);
    restore_sum(a, STORE_TALLY_HOURS, wall_add_ms(k->now, HOUR_MS), "q", 100);
    assert_int_equal(total_of(a, STORE_TALLY_HOURS).input, 12);
    assert_int_equal(total_of(a, STORE_TALLY_PARTS).input, 0);
}

/* A report that the restored sums contain is not added to them. A report from before counting is.
 */
static void restored__reports_that_sums_contain_are_not_added(void **state)
{
    struct all *a = *state;
    struct wall old = wall_add_ms(a->kit->now, -2 * HOUR_MS);
    restore_sum(a, STORE_TALLY_HOURS, old, "restored", 10);
    restore_summed(a, id_make(old, 1, 1), old, 4);
    assert_int_equal(total_of(a, STORE_TALLY_HOURS).input, 10);
    restore(a, id_make(old, 1, 2), old, 5);
    assert_int_equal(total_of(a, STORE_TALLY_HOURS).input, 15);
    delete_job(a, id_make(old, 1, 1));
    assert_int_equal(total_of(a, STORE_TALLY_HOURS).input, 15);
}

/* Restored sums of the current hour need room, like reports. */
static void restored__sums_are_limited(void **state)
{
    struct all *a = *state;
    report_names(a, "flood::q", 2500);
    int64_t before = total_of(a, STORE_TALLY_HOURS).input;
    restore_sum(a, STORE_TALLY_HOURS, a->kit->now, "flood::r", 10);
    assert_int_equal(total_of(a, STORE_TALLY_HOURS).input, before);
    restore_sum(a, STORE_TALLY_HOURS, a->kit->now, "other::r", 10);
    assert_int_equal(total_of(a, STORE_TALLY_HOURS).input, before + 10);
}

#define WITH_KIT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
TEST_GROUP(tallies, WITH_KIT(tallies__are_what_was_reported),
           WITH_KIT(tallies__are_kept_for_their_time),
           WITH_KIT(too_many__names_count_for_their_namespace),
           WITH_KIT(too_many__tags_are_left_out),
           WITH_KIT(reports_of_before__count_when_their_job_goes),
           WITH_KIT(restored__reports_count_unless_they_were_counted),
           WITH_KIT(restored__sums_are_there_once),
           WITH_KIT(restored__reports_that_sums_contain_are_not_added),
           WITH_KIT(restored__sums_are_limited));
