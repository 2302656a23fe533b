#include "lib/machine_kit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "fsm/machine_known.h"
#include "store/store_docs.h"
#include "store/store_job.h"
#include "store/store_rows.h"

enum { KIT_ARENA_BYTES = 256 << 20, KIT_ENTRY_BYTES = 64 << 20, KIT_REOPENINGS = 5 };

static void ready_hook(void *data, struct str queue)
{
    struct kit *k = data;
    buf_add_str(&k->ready, queue);
    buf_add_char(&k->ready, ' ');
}

static void changed_hook(void *data, struct id job)
{
    struct kit *k = data;
    if (k->changed_count < COUNT_OF(k->changed)) {
        k->changed[k->changed_count++] = job;
    }
}

static void open_machine(struct kit *k)
{
    struct err err;
    struct machine_hooks hooks = {
        .data = k, .ready = ready_hook, .changed = changed_hook, .slot_ns = NS_PER_S};
    if (machine_open(tmpdir_path(&k->dir, "state").z, &hooks, &k->machine, &err) != ERR_OK) {
        fail_msg("%s", err.msg);
    }
}

int kit_setup(void **state)
{
    struct kit *k = calloc(1, sizeof *k);
    assert_non_null(k);
    k->dir = tmpdir_new_in_memory();
    k->arena = arena_new(KIT_ARENA_BYTES);
    k->now.ns = 1700000000 * NS_PER_S;
    k->entry_version = COMMAND_ENTRY_VERSION;
    buf_init(&k->ready, 1 << 20);
    buf_init(&k->gathered, KIT_ENTRY_BYTES);
    open_machine(k);
    *state = k;
    return 0;
}

/* Apply the log again, with restarts at other positions than the first time. */
static void expect_same_again(struct kit *k)
{
    struct err err;
    struct machine *twin = NULL;
    const struct machine_hooks none = {0};
    struct os_file_path path = tmpdir_path(&k->dir, "twin");
    size_t step = k->log_count / KIT_REOPENINGS + 1;
    for (size_t i = 0; i < k->log_count; i++) {
        if (i % step == 0) {
            machine_close(twin);
            assert_int_equal(machine_open(path.z, &none, &twin, &err), ERR_OK);
        }
        machine_apply(twin, k->log[i].index, str_from(k->log[i].bytes, k->log[i].len));
        if (machine_state_hash(twin) != k->log[i].hash) {
            fail_msg("a restarted machine came to another state at entry %zu of %zu", i + 1,
                     k->log_count);
        }
    }
    if (twin != NULL) {
        assert_int_equal(machine_digest(twin), machine_digest(k->machine));
        machine_close(twin);
    }
}

/* Check that a member of the same version can read everything that was written. */
static void expect_known(const struct kit *k)
{
    struct err err = {0};
    struct os_file_path path = tmpdir_path(&k->dir, "state");
    for (size_t i = 0; i < k->log_count; i++) {
        struct arena *arena = arena_new(SIZE_MAX);
        if (machine_known_entry(str_from(k->log[i].bytes, k->log[i].len), arena, &err) != ERR_OK) {
            fail_msg("entry %zu cannot be read: %s", i + 1, err.msg);
        }
        arena_free(arena);
    }
    if (k->log_count > 0 && machine_known_state(path.z, &err) != ERR_OK) {
        fail_msg("the state cannot be read: %s", err.msg);
    }
}

void kit_forget(struct kit *k)
{
    for (size_t i = 0; i < k->log_count; i++) {
        free(k->log[i].bytes);
    }
    k->log_count = 0;
}

int kit_teardown(void **state)
{
    struct kit *k = *state;
    expect_same_again(k);
    machine_close(k->machine);
    expect_known(k);
    kit_forget(k);
    free(k->log);
    buf_deinit(&k->ready);
    buf_deinit(&k->gathered);
    arena_free(k->arena);
    tmpdir_remove(&k->dir);
    free(k);
    return 0;
}

struct str kit_text(struct kit *k, const char *fmt, ...)
{
    char text[4096];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    assert_in_range(n, 0, sizeof text - 1);
    return str_from(arena_strz(k->arena, str_from(text, (size_t)n)), (size_t)n);
}

struct str kit_id_text(struct kit *k, struct id id, struct str prefix)
{
    char text[ID_TEXT_MAX];
    size_t len = id_format(id, prefix, text);
    return kit_text(k, "%.*s", (int)len, text);
}

const char *kit_name(struct kit *k)
{
    return kit_text(k, "queue.%u", ++k->names).ptr;
}

void kit_pass_ms(struct kit *k, int64_t ms)
{
    assert_true(ms >= 0);
    k->now = wall_add_ms(k->now, ms);
}

void kit_reopen(struct kit *k)
{
    uint64_t digest = machine_digest(k->machine);
    machine_close(k->machine);
    open_machine(k);
    assert_int_equal(machine_digest(k->machine), digest);
    assert_int_equal(machine_applied_index(k->machine), k->index);
}

/* Entries */

static void write_down(struct kit *k, struct buf *entry)
{
    if (k->log_count == k->log_cap) {
        k->log_cap = k->log_cap == 0 ? 256 : k->log_cap * 2;
        k->log = realloc(k->log, k->log_cap * sizeof *k->log);
        assert_non_null(k->log);
    }
    size_t len = entry->len;
    k->log[k->log_count++] = (struct kit_entry){.bytes = buf_take(entry),
                                                .len = len,
                                                .index = k->index,
                                                .hash = machine_state_hash(k->machine)};
}

static const struct result *apply_entry(struct kit *k, struct buf *entry, uint32_t count)
{
    uint32_t result_count = 0;
    buf_clear(&k->ready);
    k->changed_count = 0;
    machine_apply(k->machine, ++k->index, buf_str(entry));
    write_down(k, entry);
    const struct result *results = machine_results(k->machine, &result_count);
    assert_int_equal(result_count, count);
    return results;
}

const struct result *kit_apply_named(struct kit *k, const struct command *c, struct id name,
                                     uint64_t since)
{
    struct buf entry;
    struct buf bytes;
    buf_init(&entry, KIT_ENTRY_BYTES);
    buf_init(&bytes, KIT_ENTRY_BYTES);
    command_entry_begin(&entry, COMMAND_ENTRY_NAMED, k->now, !k->events_off);
    command_encode(c, &bytes);
    command_entry_add_named(&entry, buf_str(&bytes), name, since);
    command_entry_end(&entry, 1);
    buf_deinit(&bytes);
    return apply_entry(k, &entry, 1);
}

const struct result *kit_apply_all(struct kit *k, const struct command *commands, uint32_t count)
{
    struct buf entry;
    struct buf bytes;
    buf_init(&entry, KIT_ENTRY_BYTES);
    buf_init(&bytes, KIT_ENTRY_BYTES);
    command_entry_begin(&entry, k->entry_version, k->now, !k->events_off);
    for (uint32_t i = 0; i < count; i++) {
        buf_clear(&bytes);
        command_encode(&commands[i], &bytes);
        command_entry_add(&entry, buf_str(&bytes));
    }
    command_entry_end(&entry, count);
    buf_deinit(&bytes);
    return apply_entry(k, &entry, count);
}

const struct result *kit_apply(struct kit *k, const struct command *c)
{
    return kit_apply_all(k, c, 1);
}

void kit_gather(struct kit *k, const struct command *c)
{
    struct buf bytes;
    buf_init(&bytes, KIT_ENTRY_BYTES);
    command_encode(c, &bytes);
    command_entry_add(&k->gathered, buf_str(&bytes));
    buf_deinit(&bytes);
    k->gathered_count++;
}

const struct result *kit_apply_gathered(struct kit *k)
{
    struct buf entry;
    uint32_t count = k->gathered_count;
    assert_true(count > 0);
    buf_init(&entry, KIT_ENTRY_BYTES);
    command_entry_begin(&entry, k->entry_version, k->now, !k->events_off);
    buf_add_str(&entry, buf_str(&k->gathered));
    command_entry_end(&entry, count);
    buf_clear(&k->gathered);
    k->gathered_count = 0;
    return apply_entry(k, &entry, count);
}

/* The same, for commands that must succeed. */
static const struct result *apply_well(struct kit *k, const struct command *c)
{
    const struct result *r = kit_apply(k, c);
    if (r->code != ERR_OK) {
        fail_msg("%s was refused: " STR_FMT, command_word(c->type), STR_ARG(r->message));
    }
    return r;
}

/* Return the text with {id} replaced by the id. */
static struct str fill_in(struct kit *k, const char *text, struct id id)
{
    const char *at = strstr(text, "{id}");
    if (at == NULL) {
        return str_from_z(text);
    }
    return kit_text(k, "%.*s" STR_FMT "%s", (int)(at - text), text,
                    STR_ARG(kit_id_text(k, id, ID_JOB)), at + 4);
}

void kit_refuses(struct kit *k, const struct command *c, enum err_code code, const char *message,
                 struct id id)
{
    uint64_t digest = kit_digest(k);
    const struct result *r = kit_apply(k, c);
    assert_int_equal(r->code, code);
    expect_str(r->message, fill_in(k, message, id));
    assert_int_equal(kit_digest(k), digest);
    assert_int_equal(k->changed_count, 0);
}

/* Commands */

struct job kit_template(const char *queue, const char *payload)
{
    return (struct job){.queue = str_from_z(queue),
                        .payload = str_from_z(payload),
                        .priority = JOB_PRIORITY_NORMAL,
                        .backoff = JOB_BACKOFF_EXPONENTIAL,
                        .max_retries = JOB_MAX_RETRIES,
                        .retry_base_ms = JOB_RETRY_BASE_MS,
                        .retry_max_ms = JOB_RETRY_MAX_MS};
}

struct command kit_enqueue_command(struct command_new *jobs, size_t count)
{
    return (struct command){.type = COMMAND_ENQUEUE, .enqueue = {.jobs = jobs, .count = count}};
}

struct id kit_enqueue_job(struct kit *k, const struct job *j)
{
    struct command_new new = {.job = *j};
    struct command c = kit_enqueue_command(&new, 1);
    return apply_well(k, &c)->items[0].id;
}

struct id kit_enqueue(struct kit *k, const char *queue, const char *payload)
{
    struct job j = kit_template(queue, payload);
    return kit_enqueue_job(k, &j);
}

struct id kit_job_in(struct kit *k, enum job_state state)
{
    const char *queue = kit_name(k);
    struct job j = kit_template(queue, "{}");
    j.scheduled_at = state == JOB_SCHEDULED ? wall_add_ms(k->now, 3600000) : j.scheduled_at;
    j.max_retries = state == JOB_DEAD ? 1 : j.max_retries;
    struct id id = kit_enqueue_job(k, &j);
    if (state == JOB_ACTIVE || state == JOB_RETRYING || state == JOB_COMPLETED ||
        state == JOB_DEAD) {
        assert_true(id_eq(kit_claim(k, queue), id));
    }
    if (state == JOB_RETRYING || state == JOB_DEAD) {
        (void)kit_fail(k, id, "broken");
    } else if (state == JOB_COMPLETED) {
        (void)kit_ack(k, id);
    } else if (state == JOB_HELD) {
        (void)kit_do(k, COMMAND_JOB_HOLD, id);
    } else if (state == JOB_CANCELLED) {
        (void)kit_do(k, COMMAND_JOB_CANCEL, id);
    }
    kit_expect_state(k, id, state);
    return id;
}

const struct result *kit_claim_with(struct kit *k, const struct command_claim *c)
{
    return apply_well(k, &(struct command){.type = COMMAND_CLAIM, .claim = *c});
}

struct id kit_claim(struct kit *k, const char *queue)
{
    struct str name = str_from_z(queue);
    const struct result *r = kit_claim_with(k, &(struct command_claim){.queues = &name,
                                                                       .queue_count = 1,
                                                                       .worker_id = STR("worker"),
                                                                       .hostname = STR("host"),
                                                                       .lease_ms = JOB_LEASE_MS,
                                                                       .count = 1});
    return r->count == 0 ? ID_NONE : r->items[0].id;
}

struct id kit_active(struct kit *k, const char *queue)
{
    struct id id = kit_enqueue(k, queue, "{}");
    assert_true(id_eq(kit_claim(k, queue), id));
    return id;
}

const struct result *kit_ack_item(struct kit *k, struct command_ack_item item)
{
    return apply_well(k,
                      &(struct command){.type = COMMAND_ACK, .ack = {.items = &item, .count = 1}});
}

const struct result *kit_ack(struct kit *k, struct id id)
{
    return kit_ack_item(k, (struct command_ack_item){.id = id});
}

const struct result *kit_fail(struct kit *k, struct id id, const char *error)
{
    return apply_well(
        k, &(struct command){.type = COMMAND_FAIL, .fail = {.id = id, .error = str_from_z(error)}});
}

const struct result *kit_beat_item(struct kit *k, struct command_heartbeat_item item)
{
    return apply_well(
        k, &(struct command){.type = COMMAND_HEARTBEAT, .heartbeat = {.items = &item, .count = 1}});
}

enum result_status kit_beat(struct kit *k, struct id id)
{
    return kit_beat_item(k, (struct command_heartbeat_item){.id = id})->items[0].status;
}

struct command kit_action(enum command_job_action action, struct id *id)
{
    return (struct command){.type = COMMAND_JOBS,
                            .jobs = {.action = action, .ids = id, .count = 1}};
}

const struct result *kit_do(struct kit *k, enum command_job_action action, struct id id)
{
    struct command c = kit_action(action, &id);
    return apply_well(k, &c);
}

const struct result *kit_queue_with(struct kit *k, const struct command_queue *c)
{
    return apply_well(k, &(struct command){.type = COMMAND_QUEUE, .queue = *c});
}

const struct result *kit_queue(struct kit *k, enum command_queue_action action, const char *name)
{
    return kit_queue_with(k, &(struct command_queue){.action = action, .name = str_from_z(name)});
}

uint32_t kit_empty(struct kit *k, enum command_queue_action action, const char *name)
{
    struct command_queue c = {.action = action, .name = str_from_z(name)};
    uint32_t removed = 0;
    bool more = true;
    while (more) {
        const struct result *r = kit_queue_with(k, &c);
        removed += r->affected;
        more = r->more;
        c.cursor = r->cursor;
        c.until = r->until;
        c.in_done = r->in_done;
    }
    return removed;
}

void kit_tick(struct kit *k, int64_t after_ms)
{
    kit_pass_ms(k, after_ms);
    while (apply_well(k, &(struct command){.type = COMMAND_TICK})->more) {
    }
}

/* Reading */

bool kit_has(struct kit *k, struct id id)
{
    struct buf doc;
    buf_init(&doc, KIT_ENTRY_BYTES);
    bool found = store_docs_read(machine_store(k->machine), id, &doc);
    buf_deinit(&doc);
    return found;
}

struct job kit_job(struct kit *k, struct id id)
{
    struct buf doc;
    struct err err;
    struct job j;
    buf_init(&doc, KIT_ENTRY_BYTES);
    assert_true(store_docs_read(machine_store(k->machine), id, &doc));
    struct str kept = arena_str(k->arena, buf_str(&doc));
    buf_deinit(&doc);
    assert_int_equal(store_job_decode(id, kept, &j, &err), ERR_OK);
    return j;
}

struct machine_queue kit_queue_info(struct kit *k, const char *name)
{
    struct machine_queue q;
    assert_true(machine_queue_find(k->machine, str_from_z(name), &q));
    return q;
}

static void note_usage(void *data, const struct store_usage *u)
{
    struct kit_usages *seen = data;
    seen->count++;
    seen->last = *u;
    seen->last.tokens.model = seen->last.tokens.provider = STR_EMPTY;
}

struct kit_usages kit_usages(struct kit *k, struct id id)
{
    struct kit_usages seen = {0};
    store_rows_each_usage(machine_store(k->machine), id, note_usage, &seen);
    return seen;
}

void kit_expect_state(struct kit *k, struct id id, enum job_state state)
{
    assert_string_equal(job_state_name(kit_job(k, id).state), job_state_name(state));
}

void kit_expect_count(struct kit *k, const char *queue, enum job_state state, uint64_t count)
{
    assert_int_equal(kit_queue_info(k, queue).count[state], count);
}

/* A search for the events of one job, or of one queue without a job. */
struct listen {
    struct kit *kit;
    struct id job;
    struct str queue;
    struct buf words;
    struct store_event last;
};

static bool listen_to(void *data, const struct store_event *e)
{
    struct listen *l = data;
    if (id_eq(e->job, l->job) && (l->queue.len == 0 || str_eq(e->queue, l->queue))) {
        if (l->words.len > 0) {
            buf_add_char(&l->words, ' ');
        }
        buf_add_str(&l->words, str_from_z(store_event_word(e->type)));
        l->last = *e;
        l->last.queue = arena_str(l->kit->arena, e->queue);
        l->last.text = arena_str(l->kit->arena, e->text);
        l->last.text2 = arena_str(l->kit->arena, e->text2);
    }
    return true;
}

static void expect_words(struct listen *l, const char *words)
{
    buf_init(&l->words, 1 << 20);
    store_event_read(machine_store(l->kit->machine), 0, listen_to, l);
    expect_str(buf_str(&l->words), str_from_z(words));
    buf_deinit(&l->words);
}

void kit_expect_events(struct kit *k, struct id id, const char *words)
{
    expect_words(&(struct listen){.kit = k, .job = id}, words);
}

void kit_expect_queue_events(struct kit *k, const char *queue, const char *words)
{
    expect_words(&(struct listen){.kit = k, .queue = str_from_z(queue)}, words);
}

struct store_event kit_last_event(struct kit *k, struct id id)
{
    struct listen l = {.kit = k, .job = id};
    buf_init(&l.words, 1 << 20);
    store_event_read(machine_store(k->machine), 0, listen_to, &l);
    buf_deinit(&l.words);
    return l.last;
}

static void note_error(void *data, const struct store_error *e)
{
    struct buf *out = data;
    if (out->len > 0) {
        buf_add_char(out, '|');
    }
    buf_add_str(out, e->error);
}

void kit_expect_errors(struct kit *k, struct id id, const char *errors)
{
    struct buf got;
    buf_init(&got, 1 << 20);
    store_rows_each_error(machine_store(k->machine), id, note_error, &got);
    expect_str(buf_str(&got), str_from_z(errors));
    buf_deinit(&got);
}

uint64_t kit_digest(struct kit *k)
{
    struct store *s = machine_store(k->machine);
    uint64_t digest = 0;
    for (unsigned family = 0; family < STORE_FAMILY_COUNT; family++) {
        struct kv_iter *it = kv_iter_new(s->kv, NULL, family, STR_EMPTY);
        for (; kv_iter_valid(it); kv_iter_next(it)) {
            struct str key = kv_iter_key(it);
            struct str value = kv_iter_value(it);
            if (family != STORE_META || key.ptr[0] != STORE_KIND_MACHINE) {
                digest = hash_bytes(digest + family, key.ptr, key.len);
                digest = hash_bytes(digest, value.ptr, value.len);
            }
        }
        store_end_walk(it);
    }
    return digest;
}
