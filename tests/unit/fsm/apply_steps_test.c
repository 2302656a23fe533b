/*
 * Commands on many large jobs are applied in steps. An entry reads and writes about
 * LIMIT_STEP_BYTES, and the rest continues in the next entry. Entries of old logs do everything at
 * once.
 */
#include <stdlib.h>

#include "base/limits.h"
#include "lib/machine_kit.h"
#include "store/store_docs.h"
#include "store/store_job.h"
#include "store/store_record.h"

enum {
    PAYLOAD_BYTES = 255 * 1024,
    /* Reading them takes more than two steps. Their bodies are not written again. */
    JOBS = 5 * (LIMIT_STEP_BYTES / PAYLOAD_BYTES) / 2,
    FAN_OUT = 2 * LIMIT_TICK_JOBS + LIMIT_TICK_JOBS / 2,
};

static const char *payload(void)
{
    static char text[PAYLOAD_BYTES + 1];
    if (text[0] == '\0') {
        memset(text, 'x', PAYLOAD_BYTES);
        memcpy(text, "{\"x\":\"", 6);
        memcpy(text + PAYLOAD_BYTES - 2, "\"}", 2);
    }
    return text;
}

struct jobs {
    const char *queue;
    struct id ids[JOBS];
};

/* Read a job without its texts. The kit would keep the texts, which are too large for that. */
static struct job look(struct kit *k, struct id id)
{
    struct buf doc;
    struct job j;
    struct err err;
    buf_init(&doc, 1 << 20);
    assert_true(store_docs_read(machine_store(k->machine), id, &doc));
    assert_int_equal(store_job_decode(id, buf_str(&doc), &j, &err), ERR_OK);
    buf_deinit(&doc);
    return j;
}

/* Create large jobs from the template, in a new queue. */
static struct jobs *make_jobs(struct kit *k, struct job t)
{
    struct jobs *j = arena_alloc(k->arena, sizeof *j, _Alignof(struct jobs));
    assert_non_null(j);
    j->queue = kit_name(k);
    t.queue = str_from_z(j->queue);
    for (unsigned i = 0; i < JOBS; i++) {
        j->ids[i] = kit_enqueue_job(k, &t);
    }
    return j;
}

static struct jobs *pending_jobs(struct kit *k)
{
    return make_jobs(k, kit_template("", payload()));
}

static struct command claim_of(struct str *queue, uint32_t count)
{
    return (struct command){.type = COMMAND_CLAIM,
                            .claim = {.queues = queue,
                                      .queue_count = 1,
                                      .worker_id = STR("worker"),
                                      .hostname = STR("host"),
                                      .lease_ms = JOB_LEASE_MS,
                                      .count = count}};
}

static struct jobs *active_jobs(struct kit *k)
{
    struct jobs *j = pending_jobs(k);
    struct str name = str_from_z(j->queue);
    struct command c = claim_of(&name, LIMIT_CLAIM_COUNT);
    uint32_t claimed = 0;
    while (claimed < JOBS) {
        const struct result *r = kit_apply(k, &c);
        assert_int_not_equal(r->count, 0);
        for (uint32_t i = 0; i < r->count; i++) {
            assert_true(id_eq(r->items[i].id, j->ids[claimed + i])); /* in line order, each once */
        }
        claimed += r->count;
    }
    return j;
}

static void claim__gives_as_many_as_fit(void **state)
{
    struct kit *k = *state;
    struct jobs *j = pending_jobs(k);
    struct str name = str_from_z(j->queue);
    struct command claims[12];
    for (unsigned i = 0; i < COUNT_OF(claims); i++) {
        claims[i] = claim_of(&name, LIMIT_CLAIM_COUNT);
    }
    const struct result *r = kit_apply_all(k, claims, COUNT_OF(claims));
    assert_in_range(r[0].count, LIMIT_STEP_BYTES / PAYLOAD_BYTES / 2 - 2, JOBS - 1);
    assert_false(r[0].more);
    for (unsigned i = 1; i < COUNT_OF(claims); i++) {
        assert_true(r[i].postponed);
        assert_int_equal(r[i].count, 0);
    }
    uint32_t claimed = r[0].count;
    kit_expect_count(k, j->queue, JOB_ACTIVE, claimed);
    kit_reopen(k);
    while (claimed < JOBS) {
        r = kit_apply(k, &claims[0]);
        assert_false(r->postponed);
        assert_int_not_equal(r->count, 0);
        claimed += r->count;
    }
    kit_expect_count(k, j->queue, JOB_ACTIVE, JOBS);
}

static void claim__that_met_only_expired_jobs_goes_on(void **state)
{
    struct kit *k = *state;
    struct command_new new = {.job = kit_template("", payload()), .expire_after_ms = 10};
    const char *queue = kit_name(k);
    struct str name = str_from_z(queue);
    new.job.queue = name;
    for (unsigned i = 0; i < JOBS; i++) {
        struct command c = kit_enqueue_command(&new, 1);
        assert_int_equal(kit_apply(k, &c)->code, ERR_OK);
    }
    struct id last = kit_enqueue(k, queue, "{}");
    kit_pass_ms(k, 1000);
    struct command c = claim_of(&name, 1);
    const struct result *r = kit_apply(k, &c);
    unsigned entries = 1;
    assert_true(r->more);
    while (r->more) {
        assert_int_equal(r->count, 0);
        r = kit_apply(k, &c);
        entries++;
    }
    assert_int_equal(r->count, 1);
    assert_true(id_eq(r->items[0].id, last));
    assert_in_range(entries, 2, 10);
    kit_expect_count(k, queue, JOB_DEAD, JOBS);
}

static void heartbeat__goes_on_where_it_stopped(void **state)
{
    struct kit *k = *state;
    struct jobs *j = active_jobs(k);
    static struct command_heartbeat_item items[JOBS];
    for (unsigned i = 0; i < JOBS; i++) {
        items[i] = (struct command_heartbeat_item){.id = j->ids[i]};
    }
    kit_pass_ms(k, 5000);
    uint32_t done = 0;
    unsigned entries = 0;
    while (done < JOBS) {
        const struct result *r = kit_apply(
            k, &(struct command){.type = COMMAND_HEARTBEAT,
                                 .heartbeat = {.items = items + done, .count = JOBS - done}});
        assert_int_equal(r->more, done + r->count < JOBS);
        assert_int_equal(r->more ? r->done : r->count, r->count);
        for (uint32_t i = 0; i < r->count; i++) {
            assert_true(id_eq(r->items[i].id, j->ids[done + i]));
            assert_int_equal(r->items[i].status, RESULT_OK);
        }
        done += r->count;
        entries++;
    }
    assert_in_range(entries, 3, 10);
    for (unsigned i = 0; i < JOBS; i++) {
        assert_int_equal(look(k, j->ids[i]).lease_expires_at.ns,
                         wall_add_ms(k->now, JOB_LEASE_MS).ns);
    }
}

/* Apply an action to all jobs in as many entries as needed, like the engine. Returns the number of
 * entries. */
static unsigned act(struct kit *k, struct command c)
{
    uint32_t affected = 0;
    unsigned entries = 0;
    for (bool more = true; more; entries++) {
        const struct result *r = kit_apply(k, &c);
        assert_int_equal(r->code, ERR_OK);
        affected += r->affected;
        more = r->more;
        c.jobs.ids += r->done;
        c.jobs.count -= r->done;
    }
    assert_int_equal(affected, JOBS);
    return entries;
}

static void action__goes_on_where_it_stopped(void **state)
{
    struct kit *k = *state;
    struct jobs *j = pending_jobs(k);
    const char *to = kit_name(k);
    struct command move = {.type = COMMAND_JOBS,
                           .jobs = {.action = COMMAND_JOB_MOVE,
                                    .lenient = true,
                                    .queue = str_from_z(to),
                                    .ids = j->ids,
                                    .count = JOBS}};
    assert_in_range(act(k, move), 3, 10);
    kit_expect_count(k, to, JOB_PENDING, JOBS);
    kit_expect_count(k, j->queue, JOB_PENDING, 0);
    struct command delete = {
        .type = COMMAND_JOBS,
        .jobs = {.action = COMMAND_JOB_DELETE, .lenient = true, .ids = j->ids, .count = JOBS}};
    assert_in_range(act(k, delete), 2, 10); /* reading them takes steps, too */
    kit_expect_count(k, to, JOB_PENDING, 0);
}

static void acks__go_on_where_they_stopped(void **state)
{
    struct kit *k = *state;
    struct jobs *j = active_jobs(k);
    static struct command_ack_item items[JOBS];
    for (unsigned i = 0; i < JOBS; i++) {
        items[i] = (struct command_ack_item){.id = j->ids[i]};
    }
    struct command c = {.type = COMMAND_ACK,
                        .ack = {.lenient = true, .items = items, .count = JOBS}};
    uint32_t acked = 0;
    unsigned entries = 0;
    for (bool more = true; more; entries++) {
        const struct result *r = kit_apply(k, &c);
        acked += r->affected;
        more = r->more;
        c.ack.items += r->done;
        c.ack.count -= r->done;
    }
    assert_int_equal(acked, JOBS);
    assert_in_range(entries, 3, 10);
    kit_expect_count(k, j->queue, JOB_COMPLETED, JOBS);
}

/* The next jobs are claimed after all items, in an entry that has room for them. */
static void acks__claim_the_next_jobs_last(void **state)
{
    struct kit *k = *state;
    struct jobs *j = active_jobs(k);
    struct jobs *others = pending_jobs(k);
    struct str name = str_from_z(others->queue);
    struct command_claim next = claim_of(&name, LIMIT_CLAIM_COUNT).claim;
    static struct command_ack_item items[JOBS];
    for (unsigned i = 0; i < JOBS; i++) {
        items[i] = (struct command_ack_item){.id = j->ids[i]};
    }
    struct command c = {.type = COMMAND_ACK,
                        .ack = {.lenient = true, .items = items, .count = JOBS, .next = &next}};
    uint32_t acked = 0;
    uint32_t claimed = 0;
    for (bool more = true; more;) {
        const struct result *r = kit_apply(k, &c);
        acked += r->affected;
        claimed += r->count;
        more = r->more;
        assert_true(!more || r->count == 0);
        c.ack.items += r->done;
        c.ack.count -= r->done;
    }
    assert_int_equal(acked, JOBS);
    assert_in_range(claimed, 1, JOBS);
    kit_expect_count(k, j->queue, JOB_COMPLETED, JOBS);
    kit_expect_count(k, others->queue, JOB_ACTIVE, claimed);
}

/* The last step may have no items left. */
static void acks__of_nothing_any_more_claim(void **state)
{
    struct kit *k = *state;
    const char *queue = kit_name(k);
    struct str name = str_from_z(queue);
    struct id id = kit_enqueue(k, queue, "{}");
    struct command_claim next = claim_of(&name, 1).claim;
    struct command c = {.type = COMMAND_ACK, .ack = {.next = &next}};
    const struct result *r = kit_apply(k, &c);
    assert_int_equal(r->code, ERR_OK);
    assert_int_equal(r->affected, 0);
    assert_int_equal(r->count, 1);
    assert_true(id_eq(r->items[0].id, id));
}

/* Logs from before entries had a limit contain such a move. It is applied at once. */
static void old_entry__does_all_of_it(void **state)
{
    struct kit *k = *state;
    struct jobs *j = pending_jobs(k);
    const char *to = kit_name(k);
    k->entry_version = 1;
    const struct result *r = kit_apply(k, &(struct command){.type = COMMAND_JOBS,
                                                            .jobs = {.action = COMMAND_JOB_MOVE,
                                                                     .lenient = true,
                                                                     .queue = str_from_z(to),
                                                                     .ids = j->ids,
                                                                     .count = JOBS}});
    assert_false(r->more);
    assert_int_equal(r->affected, JOBS);
    struct str name = str_from_z(to);
    struct command c = claim_of(&name, LIMIT_CLAIM_COUNT);
    assert_int_equal(kit_apply(k, &c)->count, JOBS);
    k->entry_version = COMMAND_ENTRY_VERSION;
}

/* An entry of an old version that exceeds what could be stored: it stops where the old version did,
 * and the machine continues. It needs 3 GiB of memory, so it runs only on request. */
static void old_entry__of_more_than_a_gigabyte_is_applied(void **state)
{
    struct kit *k = *state;
    enum { MANY = 4320 };
    static struct id ids[MANY];
    if (getenv("CORVO_LARGE_JOBS") == NULL) {
        skip();
    }
    const char *from = kit_name(k);
    const char *to = kit_name(k);
    for (unsigned i = 0; i < MANY; i++) {
        ids[i] = kit_enqueue(k, from, payload());
    }
    k->entry_version = 1;
    struct command move = {.type = COMMAND_JOBS,
                           .jobs = {.action = COMMAND_JOB_MOVE,
                                    .lenient = true,
                                    .queue = str_from_z(to),
                                    .ids = ids,
                                    .count = MANY}};
    uint32_t moved = kit_apply(k, &move)->affected;
    assert_in_range(moved, (1 << 30) / (PAYLOAD_BYTES + 1024), MANY - 1);
    kit_reopen(k);
    kit_expect_count(k, to, JOB_PENDING, moved);
    struct str name = str_from_z(to);
    struct command claims[12];
    for (unsigned i = 0; i < COUNT_OF(claims); i++) {
        claims[i] = claim_of(&name, LIMIT_CLAIM_COUNT);
    }
    (void)kit_apply_all(k, claims, COUNT_OF(claims));
    k->entry_version = COMMAND_ENTRY_VERSION;
    kit_reopen(k);
    uint64_t active = kit_queue_info(k, to).count[JOB_ACTIVE];
    assert_in_range(active, (1 << 30) / (PAYLOAD_BYTES + 1024), moved);
    kit_expect_count(k, to, JOB_PENDING, moved - active);
    assert_int_equal(kit_empty(k, COMMAND_QUEUE_DELETE, from), MANY - moved);
    assert_int_equal(kit_empty(k, COMMAND_QUEUE_DELETE, to), moved);
    kit_forget(k);
}

/* Dependents */

static bool is_due(const struct kit *k)
{
    return machine_next_tick(k->machine).ns <= k->now.ns;
}

static struct id parent_of(struct kit *k, struct job *t)
{
    struct id *id = arena_alloc(k->arena, sizeof *id, _Alignof(struct id));
    assert_non_null(id);
    *id = kit_active(k, kit_name(k));
    t->waits_for = str_from(id->b, ID_BYTES);
    return *id;
}

static unsigned count_waiting(struct kit *k, const struct id *ids, unsigned count)
{
    unsigned waiting = 0;
    for (unsigned i = 0; i < count; i++) {
        waiting += look(k, ids[i]).waits_for.len > 0 ? 1 : 0;
    }
    return waiting;
}

static void dependents__that_are_large_are_let_go_by_ticks(void **state)
{
    struct kit *k = *state;
    struct job t = kit_template("", payload());
    struct id parent = parent_of(k, &t);
    struct jobs *j = make_jobs(k, t);
    assert_int_equal(kit_ack(k, parent)->affected, 1);
    unsigned waiting = count_waiting(k, j->ids, JOBS);
    assert_in_range(waiting, 1, JOBS - 10);
    assert_true(is_due(k));
    /* The parent may be removed by then. Its completion still counts. */
    (void)kit_do(k, COMMAND_JOB_DELETE, parent);
    kit_reopen(k);
    assert_true(is_due(k));
    assert_int_equal(count_waiting(k, j->ids, JOBS), waiting);
    unsigned ticks = 0;
    while (is_due(k)) {
        (void)kit_apply(k, &(struct command){.type = COMMAND_TICK});
        ticks++;
    }
    assert_in_range(ticks, 2, 10);
    assert_int_equal(count_waiting(k, j->ids, JOBS), 0);
    for (unsigned i = 1; i < JOBS; i++) {
        assert_true(look(k, j->ids[i]).order > look(k, j->ids[i - 1]).order);
    }
}

static void dependents__that_are_many_are_let_go_by_ticks(void **state)
{
    struct kit *k = *state;
    static struct id ids[FAN_OUT];
    struct job t = kit_template(kit_name(k), "{}");
    struct id parent = parent_of(k, &t);
    for (unsigned i = 0; i < FAN_OUT; i++) {
        ids[i] = kit_enqueue_job(k, &t);
    }
    (void)kit_ack(k, parent);
    assert_int_equal(count_waiting(k, ids, FAN_OUT), FAN_OUT - LIMIT_TICK_JOBS);
    const struct result *r = kit_apply(k, &(struct command){.type = COMMAND_TICK});
    assert_int_equal(r->affected, LIMIT_TICK_JOBS);
    assert_true(r->more);
    kit_tick(k, 0);
    assert_int_equal(count_waiting(k, ids, FAN_OUT), 0);
    assert_false(is_due(k));
}

/* If the parent runs again, the jobs that were not updated yet wait for it again. */
static void dependents__of_a_parent_that_runs_again_wait_again(void **state)
{
    struct kit *k = *state;
    static struct id ids[LIMIT_TICK_JOBS + 10];
    struct job t = kit_template(kit_name(k), "{}");
    struct id parent = parent_of(k, &t);
    for (unsigned i = 0; i < COUNT_OF(ids); i++) {
        ids[i] = kit_enqueue_job(k, &t);
    }
    (void)kit_ack(k, parent);
    assert_int_equal(count_waiting(k, ids, COUNT_OF(ids)), 10);
    /* One of these jobs is revived meanwhile, and sees that the parent has completed. */
    (void)kit_do(k, COMMAND_JOB_CANCEL, ids[LIMIT_TICK_JOBS]);
    (void)kit_do(k, COMMAND_JOB_RETRY, ids[LIMIT_TICK_JOBS]);
    assert_int_equal(count_waiting(k, ids, COUNT_OF(ids)), 9);
    (void)kit_do(k, COMMAND_JOB_RETRY, parent);
    assert_false(is_due(k));
    kit_tick(k, 0);
    assert_int_equal(count_waiting(k, ids, COUNT_OF(ids)), 9);
    struct job again = kit_job(k, parent);
    assert_true(id_eq(kit_claim(k, kit_text(k, STR_FMT, STR_ARG(again.queue)).ptr), parent));
    (void)kit_ack(k, parent);
    assert_int_equal(count_waiting(k, ids, COUNT_OF(ids)), 0);
}

/* Children that are cancelled and retried many times leave nothing behind. */
static void dependents__that_come_back_are_let_go_once(void **state)
{
    struct kit *k = *state;
    struct job t = kit_template(kit_name(k), "{}");
    struct id parent = parent_of(k, &t);
    struct id child = kit_enqueue_job(k, &t);
    for (unsigned i = 0; i < 100; i++) {
        (void)kit_do(k, COMMAND_JOB_CANCEL, child);
        (void)kit_do(k, COMMAND_JOB_RETRY, child);
    }
    (void)kit_ack(k, parent);
    assert_false(is_due(k));
    assert_int_equal(kit_job(k, child).waits_for.len, 0);
    assert_true(id_eq(kit_claim(k, kit_text(k, STR_FMT, STR_ARG(t.queue)).ptr), child));
    assert_true(id_is_none(kit_claim(k, kit_text(k, STR_FMT, STR_ARG(t.queue)).ptr)));
}

/* Time, and the removal of jobs */

static void tick__goes_on_where_it_stopped(void **state)
{
    struct kit *k = *state;
    struct job t = kit_template("", payload());
    t.scheduled_at = wall_add_ms(k->now, 10);
    struct jobs *j = make_jobs(k, t);
    kit_pass_ms(k, 10);
    unsigned entries = 0;
    while (is_due(k)) {
        const struct result *r = kit_apply(k, &(struct command){.type = COMMAND_TICK});
        assert_int_equal(r->more, is_due(k));
        entries++;
    }
    assert_in_range(entries, 3, 10);
    kit_expect_count(k, j->queue, JOB_PENDING, JOBS);
}

static void clear_and_purge__go_on_where_they_stopped(void **state)
{
    struct kit *k = *state;
    struct jobs *over = active_jobs(k);
    for (unsigned i = 0; i < JOBS; i++) {
        (void)kit_ack(k, over->ids[i]);
    }
    struct jobs *j = pending_jobs(k);
    struct command_queue clear = {.action = COMMAND_QUEUE_CLEAR, .name = str_from_z(j->queue)};
    unsigned entries = 0;
    for (bool more = true; more; entries++) {
        const struct result *r = kit_queue_with(k, &clear);
        clear.cursor = r->cursor;
        clear.until = r->until;
        clear.in_done = r->in_done;
        more = r->more;
    }
    assert_in_range(entries, 2, 10);
    kit_expect_count(k, j->queue, JOB_PENDING, 0);

    kit_pass_ms(k, 1000);
    entries = 0;
    for (bool more = true; more; entries++) {
        more = kit_apply(k, &(struct command){.type = COMMAND_PURGE, .purge = {.retention_ms = 10}})
                   ->more;
    }
    assert_in_range(entries, 3, 20);
    kit_expect_count(k, over->queue, JOB_COMPLETED, 0);
    for (unsigned i = 0; i < JOBS; i++) {
        assert_false(kit_has(k, over->ids[i]));
    }
}

/* A purge that finds nothing to remove is also done in steps. It reads only heads, but whole
 * documents include their bodies. */
static void purge__of_what_stays_is_bounded(void **state)
{
    struct kit *k = *state;
    k->entry_version = COMMAND_ENTRY_WHOLE;
    struct jobs *over = active_jobs(k);
    kit_pass_ms(k, 1000);
    for (unsigned i = 0; i < JOBS; i++) {
        (void)kit_ack(k, over->ids[i]);
    }
    struct command c = {.type = COMMAND_PURGE, .purge = {.retention_ms = 10}};
    const struct result *r = kit_apply(k, &c);
    assert_int_equal(r->affected, 0);
    assert_true(r->more);
    while (r->more) {
        r = kit_apply(k, &c);
    }
    kit_expect_count(k, over->queue, JOB_COMPLETED, JOBS);
    k->entry_version = COMMAND_ENTRY_VERSION;
}

/* Bulk operations */

static struct store_bulk bulk(struct kit *k, struct id id, struct buf *value)
{
    char key[STORE_BULK_KEY_BYTES];
    struct store_bulk rec;
    store_record_bulk_key(id, 0, key);
    buf_clear(value);
    assert_true(
        store_get(machine_store(k->machine), STORE_KIND_BULK, str_from(key, sizeof key), value));
    assert_true(store_record_decode_bulk(buf_str(value), &rec));
    return rec;
}

/* Apply the steps like the leader does. Returns their number. */
static unsigned run_bulk(struct kit *k, struct id id, struct id *all, bool by_list)
{
    struct buf value;
    struct buf list;
    unsigned steps = 0;
    buf_init(&value, 1 << 20);
    buf_init(&list, 1 << 20);
    for (struct store_bulk rec = bulk(k, id, &value); !store_bulk_is_over(&rec);
         rec = bulk(k, id, &value)) {
        struct command c = {.type = COMMAND_BULK_STEP,
                            .bulk_step = {.id = id, .step = rec.steps, .last = true}};
        if (by_list) {
            char key[STORE_BULK_KEY_BYTES];
            store_record_bulk_key(id, store_bulk_next_list(&rec), key);
            buf_clear(&list);
            assert_true(store_get(machine_store(k->machine), STORE_KIND_BULK,
                                  str_from(key, sizeof key), &list));
            c.bulk_step.ids = (struct id *)(void *)list.ptr;
            c.bulk_step.count = list.len / ID_BYTES;
        } else {
            unsigned from = 0;
            while (id_cmp(all[from], rec.cursor) <= 0) {
                from++;
            }
            c.bulk_step.ids = all + from;
            c.bulk_step.count = JOBS - from;
            c.bulk_step.cursor = all[JOBS - 1];
        }
        const struct result *r = kit_apply(k, &c);
        assert_int_equal(r->code, ERR_OK);
        assert_int_equal(kit_apply(k, &c)->code, ERR_CONFLICT); /* a step is not applied twice */
        steps++;
    }
    struct store_bulk rec = bulk(k, id, &value);
    assert_int_equal(rec.status, STORE_BULK_COMPLETED);
    assert_int_equal(rec.affected, JOBS);
    assert_int_equal(rec.processed, JOBS);
    buf_deinit(&value);
    buf_deinit(&list);
    return steps;
}

static void bulk__takes_as_many_steps_as_it_needs(void **state)
{
    struct kit *k = *state;
    struct jobs *j = pending_jobs(k);
    struct command put = {
        .type = COMMAND_BULK_PUT,
        .bulk_put = {.action = COMMAND_JOB_HOLD, .total = JOBS, .ids = j->ids, .count = JOBS}};
    struct id by_list = kit_apply(k, &put)->id;
    assert_in_range(run_bulk(k, by_list, j->ids, true), 3, 10);
    kit_expect_count(k, j->queue, JOB_HELD, JOBS);
    put.bulk_put = (struct command_bulk_put){
        .action = COMMAND_JOB_APPROVE, .total = JOBS, .filter = STR("{}")};
    struct id by_filter = kit_apply(k, &put)->id;
    assert_in_range(run_bulk(k, by_filter, j->ids, false), 3, 10);
    kit_expect_count(k, j->queue, JOB_PENDING, JOBS);
}

/* The record that a batch writes at the end of the entry counts when the batch is changed. */
static void batches__count_before_they_are_written(void **state)
{
    struct kit *k = *state;
    static struct command opens[JOBS];
    for (unsigned i = 0; i < JOBS; i++) {
        opens[i] = (struct command){.type = COMMAND_BATCH_OPEN,
                                    .batch_open = {.callback_queue = STR("done"),
                                                   .callback_payload = str_from_z(payload())}};
    }
    const struct result *r = kit_apply_all(k, opens, JOBS);
    assert_false(r[0].postponed);
    assert_true(r[JOBS - 1].postponed);
}

TEST_GROUP_FIXTURE(apply_steps, kit_setup, kit_teardown,
                   cmocka_unit_test(claim__gives_as_many_as_fit),
                   cmocka_unit_test(claim__that_met_only_expired_jobs_goes_on),
                   cmocka_unit_test(heartbeat__goes_on_where_it_stopped),
                   cmocka_unit_test(action__goes_on_where_it_stopped),
                   cmocka_unit_test(acks__go_on_where_they_stopped),
                   cmocka_unit_test(acks__claim_the_next_jobs_last),
                   cmocka_unit_test(acks__of_nothing_any_more_claim),
                   cmocka_unit_test(old_entry__does_all_of_it),
                   cmocka_unit_test(old_entry__of_more_than_a_gigabyte_is_applied),
                   cmocka_unit_test(dependents__that_are_large_are_let_go_by_ticks),
                   cmocka_unit_test(dependents__that_are_many_are_let_go_by_ticks),
                   cmocka_unit_test(dependents__of_a_parent_that_runs_again_wait_again),
                   cmocka_unit_test(dependents__that_come_back_are_let_go_once),
                   cmocka_unit_test(tick__goes_on_where_it_stopped),
                   cmocka_unit_test(clear_and_purge__go_on_where_they_stopped),
                   cmocka_unit_test(purge__of_what_stays_is_bounded),
                   cmocka_unit_test(bulk__takes_as_many_steps_as_it_needs),
                   cmocka_unit_test(batches__count_before_they_are_written));
