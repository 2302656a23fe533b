/*
 * Bulk operations in the background.
 *
 * The machine stores what is to be done and how much is done. The leader submits the ids, one chunk
 * at a time. A step changes the jobs and records the progress in one entry, and steps are accepted
 * only in sequence. So after a crash, nothing is done twice and nothing is left out.
 *
 * Ids are written once, as lists of one chunk each after the record; each list is deleted with its
 * step. A filter matches the jobs that existed when the operation was created: those with smaller
 * ids that were not moved or brought back into line since. An operation that ends jobs leaves those
 * with which a request was answered since.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "base/unpack.h"
#include "fsm/apply/apply_int.h"

static struct bulk *find(const struct machine *m, struct id id)
{
    for (uint32_t i = m->bulk_count; i > 0; i--) {
        if (id_eq(m->bulks[i - 1]->id, id)) {
            return m->bulks[i - 1];
        }
    }
    return NULL;
}

static char *own_texts(struct store_bulk *rec)
{
    struct str *texts[] = {&rec->ns,     &rec->scope, &rec->queue,    &rec->reason,
                           &rec->filter, &rec->error, &rec->fit.queue};
    return entry__own_texts(texts, COUNT_OF(texts));
}

static void set_record(struct bulk *b, const struct store_bulk *rec)
{
    char *old = b->texts;
    b->rec = *rec;
    b->texts = own_texts(&b->rec);
    free(old);
}

/* Is it in progress, and may it end jobs that were found by a filter? */
static bool is_ending(const struct store_bulk *rec)
{
    return !store_bulk_is_over(rec) && !store_bulk_is_queue(rec) && rec->lists == 0 &&
           command_job_action_ends((enum command_job_action)rec->action);
}

static void find_newest_ending(struct machine *m)
{
    uint32_t i = m->bulk_count;
    while (i > 0 && !is_ending(&m->bulks[i - 1]->rec)) {
        i--;
    }
    m->newest_ending = i > 0 ? m->bulks[i - 1]->id : ID_NONE;
}

static struct bulk *bulk_new(struct machine *m, struct id id, const struct store_bulk *rec)
{
    struct bulk *b = calloc(1, sizeof *b);
    CHECK(b != NULL);
    b->id = id;
    set_record(b, rec);
    m->bulks = realloc(m->bulks, (m->bulk_count + 1) * sizeof(struct bulk *));
    CHECK(m->bulks != NULL);
    CHECK(m->bulk_count == 0 || id_cmp(m->bulks[m->bulk_count - 1]->id, id) < 0);
    m->bulks[m->bulk_count++] = b;
    if (is_ending(rec)) {
        m->newest_ending = id;
    }
    return b;
}

static void bulk_free(struct bulk *b)
{
    free(b->texts);
    free(b);
}

static void write_part(struct machine *m, struct id id, uint32_t part, struct str value)
{
    char key[STORE_BULK_KEY_BYTES];
    store_record_bulk_key(id, part, key);
    store_put(&m->store, STORE_KIND_BULK, str_from(key, sizeof key), value);
}

static void remove_part(struct machine *m, struct id id, uint32_t part)
{
    char key[STORE_BULK_KEY_BYTES];
    store_record_bulk_key(id, part, key);
    store_delete(&m->store, STORE_KIND_BULK, str_from(key, sizeof key));
}

static void write_record(struct machine *m, const struct bulk *b)
{
    struct buf record;
    buf_init(&record, SIZE_MAX);
    store_record_encode_bulk(&b->rec, &record);
    write_part(m, b->id, 0, buf_str(&record));
    buf_deinit(&record);
}

/* Delete the lists of steps that will not be applied. */
static void remove_lists(struct machine *m, const struct bulk *b)
{
    for (uint32_t part = store_bulk_next_list(&b->rec); part <= b->rec.lists; part++) {
        remove_part(m, b->id, part);
    }
}

static void finish(struct machine *m, struct bulk *b, enum store_bulk_status status)
{
    CHECK(!store_bulk_is_over(&b->rec));
    remove_lists(m, b);
    b->rec.status = status;
    b->rec.finished_at = m->now;
    CHECK(store_bulk_is_over(&b->rec));
    if (id_eq(b->id, m->newest_ending)) {
        find_newest_ending(m);
    }
    /* The number found replaces the estimate. */
    if (status == STORE_BULK_COMPLETED) {
        b->rec.total = b->rec.processed;
    }
}

static bool is_old(const struct machine *m, const struct bulk *b)
{
    return store_bulk_is_over(&b->rec) &&
           wall_add_ms(b->rec.finished_at, LIMIT_BULK_KEPT_MS).ns < m->now.ns;
}

/* Since version 11, a finished operation makes room if all places are taken, so that a client that
 * creates many of them does not block others for an hour. */
static bool oldest_gives_way(const struct machine *m)
{
    return m->entry_version >= COMMAND_ENTRY_STRICT;
}

/* Is there room for another operation, once old ones are deleted? If all places are taken, some
 * operations have ended and can be deleted. */
_Static_assert(LIMIT_BULK_OPEN < LIMIT_BULK_KEPT, "one that is over can make room");
static bool has_room(const struct machine *m)
{
    uint32_t open = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < m->bulk_count; i++) {
        open += store_bulk_is_over(&m->bulks[i]->rec) ? 0 : 1;
        kept += is_old(m, m->bulks[i]) ? 0 : 1;
    }
    return open < LIMIT_BULK_OPEN && (kept < LIMIT_BULK_KEPT || oldest_gives_way(m));
}

/* The operation that ended first; of several that ended at the same time, the oldest. NULL if none
 * has ended. */
static const struct bulk *longest_over(const struct machine *m)
{
    const struct bulk *found = NULL;
    for (uint32_t i = 0; i < m->bulk_count; i++) {
        const struct bulk *b = m->bulks[i];
        if (store_bulk_is_over(&b->rec) &&
            (found == NULL || b->rec.finished_at.ns < found->rec.finished_at.ns)) {
            found = b;
        }
    }
    return found;
}

/* Delete the operations that ended long ago and, if there are too many, the one that ended
 * first. */
static void make_room(struct machine *m)
{
    bool full = m->bulk_count >= LIMIT_BULK_KEPT && oldest_gives_way(m);
    const struct bulk *gives_way = full ? longest_over(m) : NULL;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < m->bulk_count; i++) {
        struct bulk *b = m->bulks[i];
        CHECK(b != NULL);
        if (is_old(m, b) || b == gives_way) {
            remove_part(m, b->id, 0);
            bulk_free(b);
        } else {
            m->bulks[kept++] = b;
        }
    }
    m->bulk_count = kept;
}

static void write_lists(struct machine *m, struct id id, const struct command_bulk_put *c)
{
    uint32_t part = 1;
    for (size_t from = 0; from < c->count; from += LIMIT_BULK_CHUNK) {
        size_t count = c->count - from < LIMIT_BULK_CHUNK ? c->count - from : LIMIT_BULK_CHUNK;
        write_part(m, id, part++, str_from(c->ids + from, count * sizeof(struct id)));
    }
}

void apply_bulk_put(struct machine *m, const struct command *command, struct result *r)
{
    const struct command_bulk_put *c = &command->bulk_put;
    if (!has_room(m)) {
        entry__refuse(m, r, ERR_BULK, "too many bulk operations are in progress or stored");
        return;
    }
    make_room(m);
    struct store_bulk rec = {
        .status = STORE_BULK_QUEUED,
        .action = (uint8_t)c->action,
        .reset_attempts = c->reset_attempts,
        .priority = c->priority,
        .lists = (uint32_t)((c->count + LIMIT_BULK_CHUNK - 1) / LIMIT_BULK_CHUNK),
        .total = c->total,
        .processed = c->errors,
        .errors = c->errors,
        .created_at = m->now,
        .updated_at = m->now,
        .ns = c->ns,
        .scope = c->scope,
        .queue = c->queue,
        .reason = c->reason,
        .filter = c->filter,
        .fit = c->fit,
    };
    struct bulk *b = bulk_new(m, ids__new(m), &rec);
    m->bulk_puts++;
    write_lists(m, b->id, c);
    if (c->filter.len == 0 && c->count == 0) {
        finish(m, b, STORE_BULK_COMPLETED);
    }
    write_record(m, b);
    r->id = b->id;
}

/* Find the operation of a command. Refuses if it does not exist or has ended. */
static struct bulk *need(struct machine *m, struct id id, struct result *r)
{
    struct bulk *b = find(m, id);
    if (b == NULL) {
        entry__refuse(m, r, ERR_NOT_FOUND, "bulk operation not found");
    } else if (store_bulk_is_over(&b->rec)) {
        entry__refuse(m, r, ERR_CONFLICT, "bulk operation " STR_FMT " has already ended",
                      STR_ARG(entry__id_text(m, id, ID_BULK)));
        b = NULL;
    }
    return b;
}

/* Estimate the number of jobs that a clear or delete of the queue will remove. Its steps find the
 * jobs. */

static uint64_t jobs_meant(const struct queue *q, enum command_queue_action action)
{
    uint64_t count = q->live_count[JOB_PENDING] + q->live_count[JOB_SCHEDULED];
    if (action == COMMAND_QUEUE_CLEAR) {
        return count;
    }
    count = q->rec.completed + q->rec.dead + q->rec.cancelled;
    for (unsigned s = 0; s < JOB_STATE_COUNT; s++) {
        count += q->live_count[s];
    }
    return count;
}

void apply_bulk_queue(struct machine *m, const struct command *command, struct result *r)
{
    const struct command_bulk_queue *c = &command->bulk_queue;
    bool deleting = c->action == COMMAND_QUEUE_DELETE;
    if (!has_room(m)) {
        entry__refuse(m, r, ERR_BULK, "too many bulk operations are in progress or stored");
        return;
    }
    make_room(m);
    struct queue *q = deleting ? queues__find(m, c->name) : queue_records__need(m, c->name);
    bool known = q != NULL && !q->gone;
    struct store_bulk rec = {
        .status = STORE_BULK_QUEUED,
        .action = deleting ? STORE_BULK_DELETE_QUEUE : STORE_BULK_CLEAR_QUEUE,
        .total = known ? jobs_meant(q, c->action) : 0,
        .cursor = c->cursor,
        .until = c->until,
        .in_done = c->in_done,
        .created_at = m->now,
        .updated_at = m->now,
        .ns = c->ns,
        .queue = c->name,
    };
    struct id id = ids__new(m);
    if (id_is_none(rec.until)) {
        rec.until = id;
        if (known && deleting) {
            apply_queue__begin_delete(m, q);
        }
        if (known) {
            queues__note_removal(m, q, id);
        }
    }
    struct bulk *b = bulk_new(m, id, &rec);
    m->bulk_puts++;
    if (!known) {
        finish(m, b, STORE_BULK_COMPLETED);
    }
    write_record(m, b);
    r->id = b->id;
    r->affected = (uint32_t)(rec.total < UINT32_MAX ? rec.total : UINT32_MAX);
}

static void step_queue(struct machine *m, struct bulk *b, struct result *r)
{
    struct result step = {0};
    struct command_queue c = {.action = b->rec.action == STORE_BULK_DELETE_QUEUE
                                            ? COMMAND_QUEUE_DELETE
                                            : COMMAND_QUEUE_CLEAR,
                              .name = b->rec.queue,
                              .cursor = b->rec.cursor,
                              .until = b->rec.until,
                              .in_done = b->rec.in_done,
                              .small_step = true};
    apply_queue__remove(m, &c, &step);
    b->rec.status = STORE_BULK_RUNNING;
    b->rec.steps++;
    b->rec.processed += step.affected;
    b->rec.affected += step.affected;
    b->rec.updated_at = m->now;
    if (b->rec.total < b->rec.processed) {
        b->rec.total = b->rec.processed;
    }
    b->rec.cursor = step.cursor;
    b->rec.in_done = step.in_done;
    if (!step.more) {
        finish(m, b, STORE_BULK_COMPLETED);
    }
    write_record(m, b);
    r->id = b->id;
    r->affected = step.affected;
    r->more = step.more;
}

void apply_bulk_step(struct machine *m, const struct command *command, struct result *r)
{
    const struct command_bulk_step *c = &command->bulk_step;
    struct bulk *b = need(m, c->id, r);
    if (b == NULL) {
        return;
    }
    if (c->step != b->rec.steps) {
        entry__refuse(m, r, ERR_CONFLICT, "bulk operation " STR_FMT " is at step %u, not %u",
                      STR_ARG(entry__id_text(m, c->id, ID_BULK)), b->rec.steps, c->step);
        return;
    }
    if (store_bulk_is_queue(&b->rec)) {
        step_queue(m, b, r);
        return;
    }
    struct command_jobs jobs = {.action = (enum command_job_action)b->rec.action,
                                .lenient = true,
                                .reset_attempts = b->rec.reset_attempts,
                                .priority = b->rec.priority,
                                .queue = b->rec.queue,
                                .reason = b->rec.reason,
                                .fit = b->rec.fit,
                                .until = b->rec.lists == 0 ? b->id : ID_NONE,
                                .ids = c->ids,
                                .count = c->count};
    apply_jobs__each(m, &jobs, b->rec.ns, r);
    /* If the entry had no room for all of them, the next step continues with the rest. */
    size_t count = r->more ? r->done : c->count;
    b->rec.status = STORE_BULK_RUNNING;
    b->rec.processed += count;
    b->rec.affected += r->affected;
    b->rec.errors += r->missing;
    b->rec.updated_at = m->now;
    if (b->rec.total < b->rec.processed) {
        b->rec.total = b->rec.processed;
    }
    if (b->rec.lists == 0) {
        b->rec.cursor = r->more ? c->ids[count - 1] : c->cursor;
    } else if (r->more) {
        write_part(m, b->id, store_bulk_next_list(&b->rec),
                   str_from(c->ids + count, (c->count - count) * sizeof(struct id)));
        b->rec.parts++;
    } else {
        remove_part(m, b->id, store_bulk_next_list(&b->rec));
    }
    b->rec.steps++;
    if (!r->more && (b->rec.lists > 0 ? store_bulk_next_list(&b->rec) > b->rec.lists : c->last)) {
        finish(m, b, STORE_BULK_COMPLETED);
    }
    write_record(m, b);
    r->id = b->id;
    r->more = !store_bulk_is_over(&b->rec);
}

void apply_bulk_end(struct machine *m, const struct command *command, struct result *r)
{
    const struct command_bulk_end *c = &command->bulk_end;
    struct bulk *b = need(m, c->id, r);
    if (b == NULL) {
        return;
    }
    struct store_bulk rec = b->rec;
    rec.error = c->error;
    rec.updated_at = m->now;
    set_record(b, &rec);
    finish(m, b, c->cancelled ? STORE_BULK_CANCELLED : STORE_BULK_FAILED);
    write_record(m, b);
    r->id = b->id;
}

static void load_part(void *data, struct str rest, struct str value)
{
    struct machine *m = data;
    struct store_bulk rec;
    struct unpack u = unpack_from(rest);
    struct str id_bytes = unpack_bytes(&u, ID_BYTES);
    uint32_t part = unpack_u32_be(&u);
    if (!unpack_done(&u) || (part == 0 && !store_record_decode_bulk(value, &rec))) {
        check_fatal("the record of a bulk operation cannot be read");
    }
    if (part == 0) {
        (void)bulk_new(m, id_from_bytes(id_bytes.ptr), &rec);
    }
}

void apply_bulk__load(struct machine *m)
{
    store_each(&m->store, STORE_KIND_BULK, load_part, m);
}

void apply_bulk__close(struct machine *m)
{
    for (uint32_t i = 0; i < m->bulk_count; i++) {
        bulk_free(m->bulks[i]);
    }
    free(m->bulks);
}
