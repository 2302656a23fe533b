/*
 * Names that the machine assigns to jobs without a name (docs/formats/commands.md, named_put).
 * Names chosen by clients are tested in apply_push_test.c.
 */
#include <stdlib.h>

#include "base/id_uuid.h"
#include "lib/machine_kit.h"
#include "lib/rng.h"
#include "store/store_given.h"

#define TARGET    "{\"url\":\"http://a.example/x\",\"timeout_ms\":1000}"
#define NO_LIMIT  (1ULL << 40)
#define JOB_BYTES 200

static struct command_new new_job(struct kit *k, const char *queue, struct str name)
{
    struct command_new new = {.job = kit_template(queue, "{}")};
    new.job.push = STR(TARGET);
    new.job.name = name;
    new.job.definition = 1;
    new.job.counted_bytes = JOB_BYTES;
    new.job.scheduled_at = wall_add_ms(k->now, 3600000);
    return new;
}

static struct command put_of(struct command_new *new, uint64_t bytes_max, uint64_t count_max)
{
    return (struct command){
        .type = COMMAND_NAMED_PUT,
        .named_put = {.job = new, .bytes_max = bytes_max, .count_max = count_max}};
}

static const struct result *put(struct kit *k, const char *queue, struct str name,
                                uint64_t definition)
{
    struct command_new new = new_job(k, queue, name);
    new.job.definition = definition;
    struct command c = put_of(&new, NO_LIMIT, NO_LIMIT);
    return kit_apply(k, &c);
}

static struct id give(struct kit *k, const char *queue)
{
    const struct result *r = put(k, queue, STR_EMPTY, 1);
    assert_int_equal(r->code, ERR_OK);
    assert_int_equal(r->items[0].status, RESULT_SCHEDULED);
    return r->items[0].id;
}

/* The name of an id, in the kit's arena. */
static struct str name_of(struct kit *k, struct id id)
{
    char text[ID_UUID_LEN];
    assert_true(id_uuid_put(id, text));
    return arena_str(k->arena, str_from(text, sizeof text));
}

/* The id of the first job of the next entry, or after `skipped` more entries. */
static struct id next_id(const struct kit *k, unsigned skipped)
{
    return id_make(k->now, k->index + 1 + skipped, 0);
}

struct records {
    const char *queue;
    uint64_t count; /* records */
    uint64_t left;  /* jobs that they count */
};

static bool is_in(struct str rest, const char *queue)
{
    size_t len = strlen(queue);
    return rest.len > len && memcmp(rest.ptr, queue, len + 1) == 0;
}

static void add_given(void *data, struct str rest, struct str value)
{
    struct records *r = data;
    struct store_given g;
    assert_true(store_given_decode(value, &g));
    r->count += is_in(rest, r->queue) ? 1 : 0;
    r->left += is_in(rest, r->queue) ? g.left : 0;
}

static void add_name(void *data, struct str rest, struct str value)
{
    struct records *r = data;
    (void)value;
    r->count += is_in(rest, r->queue) ? 1 : 0;
}

/* Check the number of jobs with an assigned name, the number of records that count these jobs, and
 * the number of records of chosen names. */
static void expect_records(struct kit *k, const char *queue, uint64_t given, uint64_t entries,
                           uint64_t chosen)
{
    struct records g = {.queue = queue};
    struct records n = {.queue = queue};
    store_each(machine_store(k->machine), STORE_KIND_GIVEN, add_given, &g);
    store_each(machine_store(k->machine), STORE_KIND_NAME, add_name, &n);
    assert_int_equal(g.left, given);
    assert_int_equal(g.count, entries);
    assert_int_equal(n.count, chosen);
}

static void given__is_the_name_of_the_id(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id id = give(k, queue);
    struct str name = name_of(k, id);
    expect_str(kit_job(k, id).name, name);
    expect_records(k, queue, 1, 1, 0);
    kit_reopen(k);
    assert_int_equal(kit_queue_info(k, queue).named_count, 1);
    assert_int_equal(kit_queue_info(k, queue).named_bytes, JOB_BYTES);
    const struct result *again = put(k, queue, name, 1);
    assert_int_equal(again->items[0].status, RESULT_DUPLICATE);
    assert_true(id_eq(again->items[0].id, id));
    assert_int_equal(put(k, queue, name, 2)->code, ERR_CONFLICT);
    /* A name is unique within a queue. */
    const char *other = kit_name(k);
    assert_int_equal(put(k, other, name, 2)->items[0].status, RESULT_SCHEDULED);
    expect_records(k, other, 0, 0, 1);
    expect_records(k, queue, 1, 1, 0);
}

static void given__is_free_when_its_job_is_gone(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id id = give(k, queue);
    struct str name = name_of(k, id);
    (void)kit_do(k, COMMAND_JOB_CANCEL, id); /* a finished job keeps its name */
    assert_int_equal(put(k, queue, name, 1)->items[0].status, RESULT_DUPLICATE);
    assert_int_equal(kit_queue_info(k, queue).named_count, 0);
    (void)kit_do(k, COMMAND_JOB_DELETE, id);
    expect_records(k, queue, 0, 0, 0);
    struct id second = put(k, queue, name, 7)->items[0].id;
    assert_false(id_eq(second, id));
    expect_records(k, queue, 0, 0, 1);
    kit_reopen(k);
    assert_true(id_eq(put(k, queue, name, 7)->items[0].id, second));
    (void)kit_do(k, COMMAND_JOB_DELETE, second);
    expect_records(k, queue, 0, 0, 0);
}

static void given__goes_with_a_purge_and_with_its_queue(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id old = give(k, queue);
    (void)give(k, queue);
    (void)kit_do(k, COMMAND_JOB_CANCEL, old);
    kit_pass_ms(k, 5000);
    struct command purge = {.type = COMMAND_NAMED_PURGE, .named_purge = {.retention_ms = 1000}};
    (void)kit_apply(k, &purge);
    assert_false(kit_has(k, old));
    expect_records(k, queue, 1, 1, 0);
    assert_int_equal(kit_empty(k, COMMAND_QUEUE_DELETE, queue), 1);
    expect_records(k, queue, 0, 0, 0);
}

/* A client has already chosen the name of an id, so that id is skipped. */
static void given__is_never_one_that_a_client_chose(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id ahead = next_id(k, 1);
    struct str name = name_of(k, ahead);
    struct id chosen = put(k, queue, name, 3)->items[0].id;
    kit_reopen(k);
    assert_int_equal(id_cmp(ahead, next_id(k, 0)), 0);
    struct id id = give(k, queue);
    assert_int_equal(store_given_number(id), 1);
    assert_true(id_eq(put(k, queue, name, 3)->items[0].id, chosen));
    assert_true(id_eq(put(k, queue, name_of(k, id), 1)->items[0].id, id));
    /* The same within one entry. */
    ahead = id_make(k->now, k->index + 1, 1);
    struct command_new first = new_job(k, queue, name_of(k, ahead));
    struct command_new second = new_job(k, queue, STR_EMPTY);
    struct command both[] = {put_of(&first, NO_LIMIT, NO_LIMIT),
                             put_of(&second, NO_LIMIT, NO_LIMIT)};
    const struct result *r = kit_apply_all(k, both, COUNT_OF(both));
    assert_int_equal(store_given_number(r[0].items[0].id), 0);
    assert_int_equal(store_given_number(r[1].items[0].id), 2);
}

/* The job has a record like any chosen name, which is removed with the job. */
static void chosen__may_be_the_name_of_its_own_id(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id own = next_id(k, 0);
    struct str name = name_of(k, own);
    struct command_new chosen = new_job(k, queue, name);
    struct command_new plain = new_job(k, queue, STR_EMPTY);
    struct command both[] = {put_of(&chosen, NO_LIMIT, NO_LIMIT),
                             put_of(&plain, NO_LIMIT, NO_LIMIT)};
    const struct result *r = kit_apply_all(k, both, COUNT_OF(both));
    assert_true(id_eq(r[0].items[0].id, own));
    struct id other = r[1].items[0].id;
    expect_records(k, queue, 1, 1, 1);
    assert_true(id_eq(put(k, queue, name, 1)->items[0].id, own));
    (void)kit_do(k, COMMAND_JOB_DELETE, own);
    expect_records(k, queue, 1, 1, 0);
    assert_true(id_eq(put(k, queue, name_of(k, other), 1)->items[0].id, other));
    (void)kit_do(k, COMMAND_JOB_DELETE, other);
    expect_records(k, queue, 0, 0, 0);
}

/* The UUID of a job with another name, or in another queue, is free. */
static void chosen__may_be_the_uuid_of_another_job(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id plain = kit_enqueue(k, queue, "{}");
    struct id elsewhere = give(k, kit_name(k));
    assert_int_equal(put(k, queue, name_of(k, plain), 1)->items[0].status, RESULT_SCHEDULED);
    assert_int_equal(put(k, queue, name_of(k, elsewhere), 1)->items[0].status, RESULT_SCHEDULED);
    expect_records(k, queue, 0, 0, 2);
}

static void capacity__holds_for_given_names(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct command_new new = new_job(k, queue, STR_EMPTY);
    struct command c = put_of(&new, 2 * JOB_BYTES, 2);
    assert_int_equal(kit_apply(k, &c)->items[0].status, RESULT_SCHEDULED);
    c.named_put.bytes_max--;
    const struct result *r = kit_apply(k, &c);
    assert_int_equal(r->items[0].status, RESULT_NO_BYTES);
    assert_int_equal(r->items[0].order, JOB_BYTES);
    c.named_put.bytes_max++;
    assert_int_equal(kit_apply(k, &c)->items[0].status, RESULT_SCHEDULED);
    c.named_put.bytes_max = NO_LIMIT;
    r = kit_apply(k, &c);
    assert_int_equal(r->items[0].status, RESULT_NO_PLACE);
    assert_int_equal(r->items[0].order, 2);
    expect_records(k, queue, 2, 2, 0);
}

/* A node that lost the connection to the leader repeats the command, and gets the existing job. */
static void operation__makes_one_job(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct command_new new = new_job(k, queue, STR_EMPTY);
    struct command c = put_of(&new, NO_LIMIT, NO_LIMIT);
    struct id name = {.b = {7, 1}};
    struct id id = kit_apply_named(k, &c, name, k->index)->items[0].id;
    kit_reopen(k);
    const struct result *again = kit_apply_named(k, &c, name, 0);
    assert_int_equal(again->items[0].status, RESULT_SCHEDULED);
    assert_true(id_eq(again->items[0].id, id));
    expect_records(k, queue, 1, 1, 0);
}

/* A backup contains the names, but not whether they were assigned or chosen. */
static void restored__keeps_a_name_that_was_given(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct id ids[] = {give(k, queue), give(k, queue)};
    struct command_restore_item items[COUNT_OF(ids)];
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        items[i] = (struct command_restore_item){
            .kind = COMMAND_RESTORE_JOB, .id = ids[i], .job = kit_job(k, ids[i])};
    }
    struct command c = {.type = COMMAND_RESTORE, .restore = {.items = items, .count = 2}};
    (void)kit_do(k, COMMAND_JOB_DELETE, ids[0]);
    struct str name = name_of(k, ids[1]);
    (void)kit_do(k, COMMAND_JOB_DELETE, ids[1]);
    struct id taken = put(k, queue, name, 1)->items[0].id;
    const struct result *r = kit_apply(k, &c);
    assert_int_equal(r->affected, 1);
    assert_int_equal(r->missing, 1); /* another job has its name */
    kit_reopen(k);
    assert_true(id_eq(put(k, queue, name_of(k, ids[0]), 1)->items[0].id, ids[0]));
    assert_true(id_eq(put(k, queue, name, 1)->items[0].id, taken));
    assert_int_equal(kit_queue_info(k, queue).named_count, 2);
    (void)kit_do(k, COMMAND_JOB_DELETE, ids[0]);
    (void)kit_do(k, COMMAND_JOB_DELETE, taken);
    expect_records(k, queue, 0, 0, 0);
}

static void old_version__names_itself(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct command_new new = new_job(k, queue, STR("old"));
    struct command c = put_of(&new, NO_LIMIT, NO_LIMIT);
    c.version = 1;
    k->entry_version = COMMAND_ENTRY_AGED;
    struct id id = kit_apply(k, &c)->items[0].id;
    k->entry_version = COMMAND_ENTRY_VERSION;
    expect_str(kit_job(k, id).name, STR("old"));
    expect_records(k, queue, 0, 0, 1);
}

/* Random operations compared with a simple list, with entries of all sizes. */

enum { JOBS_MAX = 3000 };

struct known {
    struct id id;
    uint64_t entry; /* log index of the entry that created it */
    bool counts;    /* it is unfinished */
};

struct work {
    const char *queue;
    struct rng rng;
    struct known jobs[JOBS_MAX];
    size_t count;
};

static void make_entry(struct kit *k, struct work *w, size_t size)
{
    struct command_new *new = calloc(size, sizeof *new);
    struct command *c = calloc(size, sizeof *c);
    assert_non_null(new);
    assert_non_null(c);
    size = size > JOBS_MAX - w->count ? JOBS_MAX - w->count : size;
    for (size_t i = 0; i < size; i++) {
        new[i] = new_job(k, w->queue, STR_EMPTY);
        c[i] = put_of(&new[i], NO_LIMIT, NO_LIMIT);
        if (rng_below(&w->rng, 4) == 0) { /* another command uses an id in between */
            new[i].job = kit_template("between", "{}");
            c[i] = kit_enqueue_command(&new[i], 1);
        }
    }
    const struct result *r = kit_apply_all(k, c, (uint32_t)size);
    for (size_t i = 0; i < size; i++) {
        if (c[i].type == COMMAND_NAMED_PUT) {
            w->jobs[w->count++] =
                (struct known){.id = r[i].items[0].id, .entry = k->index, .counts = true};
        }
    }
    free(new);
    free(c);
}

static void remove_some(struct kit *k, struct work *w, size_t size)
{
    struct id ids[64];
    size_t n = 0;
    for (; n < size && n < COUNT_OF(ids) && w->count > 0; n++) {
        size_t i = rng_below(&w->rng, w->count);
        ids[n] = w->jobs[i].id;
        w->jobs[i] = w->jobs[--w->count];
    }
    struct command c = {
        .type = COMMAND_JOBS,
        .jobs = {.action = COMMAND_JOB_DELETE, .lenient = true, .ids = ids, .count = n}};
    if (n > 0) {
        assert_int_equal(kit_apply(k, &c)->affected, n);
    }
}

static int by_entry(const void *a, const void *b)
{
    uint64_t x = ((const struct known *)a)->entry;
    uint64_t y = ((const struct known *)b)->entry;
    return (x > y) - (x < y);
}

static void expect_known(struct kit *k, struct work *w)
{
    uint64_t entries = 0;
    uint64_t counted = 0;
    if (w->count > 0) {
        qsort(w->jobs, w->count, sizeof w->jobs[0], by_entry);
    }
    for (size_t i = 0; i < w->count; i++) {
        entries += i == 0 || w->jobs[i].entry != w->jobs[i - 1].entry ? 1 : 0;
        counted += w->jobs[i].counts ? 1 : 0;
    }
    expect_records(k, w->queue, w->count, entries, 0);
    struct machine_queue q = kit_queue_info(k, w->queue);
    assert_int_equal(q.named_count, counted);
    assert_int_equal(q.named_bytes, counted * JOB_BYTES);
}

static void work_on(struct kit *k, struct work *w, size_t size)
{
    struct known *any = w->count == 0 ? NULL : &w->jobs[rng_below(&w->rng, w->count)];
    switch (rng_below(&w->rng, 5)) {
    case 0:
        make_entry(k, w, 1 + rng_below(&w->rng, size));
        break;
    case 1:
        remove_some(k, w, 1 + rng_below(&w->rng, size));
        break;
    case 2:
        if (any != NULL && any->counts) {
            (void)kit_do(k, COMMAND_JOB_CANCEL, any->id);
            any->counts = false;
        }
        break;
    case 3:
        if (any != NULL) {
            const struct result *r = put(k, w->queue, name_of(k, any->id), 1);
            assert_int_equal(r->items[0].status, RESULT_DUPLICATE);
            assert_true(id_eq(r->items[0].id, any->id));
        }
        break;
    default:
        kit_pass_ms(k, (int64_t)rng_below(&w->rng, 3));
        break;
    }
}

static void given__are_known_after_random_work_and_restarts(void **state)
{
    static const struct {
        size_t size; /* maximum number of jobs per entry */
        unsigned rounds;
    } rows[] = {{1, 300}, {3, 300}, {40, 150}, {1000, 20}};
    static struct work w;
    struct kit *k = *state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        w.queue = kit_name(k);
        w.rng = rng_from(i + 1);
        w.count = 0;
        (void)kit_do(k, COMMAND_JOB_DELETE, give(k, w.queue)); /* create the queue */
        for (unsigned round = 0; round < rows[i].rounds; round++) {
            work_on(k, &w, rows[i].size);
            if (round % 64 == 63) {
                kit_reopen(k);
            }
            expect_known(k, &w);
        }
    }
}

TEST_GROUP_FIXTURE(apply_named, kit_setup, kit_teardown,
                   cmocka_unit_test(given__is_the_name_of_the_id),
                   cmocka_unit_test(given__is_free_when_its_job_is_gone),
                   cmocka_unit_test(given__goes_with_a_purge_and_with_its_queue),
                   cmocka_unit_test(given__is_never_one_that_a_client_chose),
                   cmocka_unit_test(chosen__may_be_the_name_of_its_own_id),
                   cmocka_unit_test(chosen__may_be_the_uuid_of_another_job),
                   cmocka_unit_test(capacity__holds_for_given_names),
                   cmocka_unit_test(operation__makes_one_job),
                   cmocka_unit_test(restored__keeps_a_name_that_was_given),
                   cmocka_unit_test(old_version__names_itself),
                   cmocka_unit_test(given__are_known_after_random_work_and_restarts));
