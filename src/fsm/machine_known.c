#include "fsm/machine_known.h"

#include "base/limits.h"
#include "base/unpack.h"
#include "fsm/apply/apply_int.h"
#include "fsm/command/command.h"
#include "fsm/command/command_entry.h"
#include "store/store_access.h"
#include "store/store_given.h"
#include "store/store_job.h"
#include "store/store_node.h"
#include "store/store_record.h"

/* --- an entry --- */

enum err_code machine_known_entry(struct str entry, struct arena *arena, struct err *err)
{
    struct command_entry e;
    struct str bytes;
    if (command_entry_decode(entry, &e, err) != ERR_OK) {
        return err->code;
    }
    while (command_entry_next(&e, &bytes)) {
        struct command c;
        if (command_decode(bytes, arena, &c, err) != ERR_OK) {
            return err->code;
        }
    }
    return ERR_OK;
}

/* --- a state --- */

/* Checks of a record, by kind. rest is its key without the kind. */

static bool has_version(struct str value, uint8_t newest)
{
    uint8_t version = value.len == 0 ? 0 : (uint8_t)value.ptr[0];
    return version >= 1 && version <= newest;
}

static bool is_number(struct str rest, struct str value)
{
    (void)rest;
    return value.len == sizeof(int64_t);
}

static bool is_job_id(struct str rest, struct str value)
{
    (void)rest;
    return value.len == ID_BYTES;
}

static bool is_queue(struct str rest, struct str value)
{
    struct store_queue rec;
    (void)rest;
    return store_record_decode_queue(value, &rec);
}

static bool is_lock(struct str rest, struct str value)
{
    struct store_lock rec;
    (void)rest;
    return store_record_decode_lock(value, &rec);
}

static bool is_batch(struct str rest, struct str value)
{
    struct store_batch rec;
    return rest.len == ID_BYTES && store_record_decode_batch(value, &rec);
}

static bool is_schedule(struct str rest, struct str value)
{
    struct store_schedule rec;
    return rest.len == ID_BYTES && store_record_decode_schedule(value, &rec);
}

static bool is_worker(struct str rest, struct str value)
{
    struct store_worker rec;
    (void)rest;
    return store_record_decode_worker(value, &rec);
}

static bool is_webhook(struct str rest, struct str value)
{
    struct store_webhook rec;
    (void)rest;
    return store_record_decode_webhook(value, &rec);
}

static bool is_policy(struct str rest, struct str value)
{
    struct store_policy rec;
    return rest.len == ID_BYTES && store_record_decode_policy(value, &rec);
}

/* Part 0 is the record, the others are lists of ids. */
static bool is_bulk(struct str rest, struct str value)
{
    struct store_bulk rec;
    struct unpack u = unpack_from(rest);
    (void)unpack_bytes(&u, ID_BYTES);
    uint32_t part = unpack_u32_be(&u);
    return unpack_done(&u) && (part != 0 || store_record_decode_bulk(value, &rec));
}

static bool is_node(struct str rest, struct str value)
{
    struct store_node rec;
    struct unpack u = unpack_from(rest);
    uint64_t id = unpack_u64_be(&u);
    return unpack_done(&u) && store_node_decode(id, value, &rec);
}

static bool is_access(struct str rest, struct str value)
{
    struct store_access_frame frame;
    (void)rest;
    return store_access_decode_frame(value, &frame);
}

static bool is_audit(struct str rest, struct str value)
{
    struct store_audit rec;
    (void)rest;
    return store_access_decode_audit(value, &rec);
}

static bool is_spend(struct str rest, struct str value)
{
    (void)rest;
    return has_version(value, PARTS_SPEND_VERSION);
}

static bool is_release(struct str rest, struct str value)
{
    return rest.len == ID_BYTES && value.len == 1 && has_version(value, PARTS_RELEASE_VERSION);
}

static bool is_waiter(struct str rest, struct str value)
{
    return rest.len == ID_BYTES && value.len == 1 && has_version(value, PARTS_WAITER_VERSION);
}

static bool is_reply(struct str rest, struct str value)
{
    (void)rest;
    return has_version(value, PARTS_REPLY_VERSION);
}

static bool is_given(struct str rest, struct str value)
{
    struct store_given rec;
    return rest.len > STORE_GIVEN_ENTRY_BYTES && store_given_decode(value, &rec);
}

/* The record at 0 is a number: the last entry whose results were deleted. */
static bool is_operation(struct str rest, struct str value)
{
    struct unpack u = unpack_from(rest);
    uint64_t index = unpack_u64_be(&u);
    return unpack_done(&u) &&
           (index == 0 ? value.len == sizeof index : has_version(value, PARTS_OPERATION_VERSION));
}

/* Cells and the sizes of the series are read one at a time when they are needed, and not checked
 * here. */
static bool is_any(struct str rest, struct str value)
{
    (void)rest;
    (void)value;
    return true;
}

static bool is_tally(struct str rest, struct str value)
{
    enum store_tally_series series;
    uint32_t number;
    struct store_tally_name name;
    struct store_tally sums;
    struct store_tally_start start;
    return store_tally_decode_start(rest, value, &start) ||
           (store_tally_decode_key(rest, &series, &number, &name) &&
            store_tally_decode(value, &sums));
}

static const struct {
    char kind;
    const char *what;
    bool (*fits)(struct str rest, struct str value);
} kinds[] = {
    {STORE_KIND_HISTORY, "of the history", is_any},
    {STORE_KIND_TALLY, "of sums of usage", is_tally},
    {STORE_KIND_BATCH, "of a batch", is_batch},
    {STORE_KIND_ACCESS, "of access control", is_access},
    {STORE_KIND_SPEND, "of spending", is_spend},
    {STORE_KIND_RELEASE, "of a completed dependency", is_release},
    {STORE_KIND_GIVEN, "of jobs with names that were given to them", is_given},
    {STORE_KIND_WEBHOOK, "of a webhook", is_webhook},
    {STORE_KIND_WAITER, "of a job that is over and has dependencies", is_waiter},
    {STORE_KIND_BULK, "of a bulk operation", is_bulk},
    {STORE_KIND_LOCK, "of a unique lock", is_lock},
    {STORE_KIND_NODE, "of a node", is_node},
    {STORE_KIND_NAME, "of a job's name", is_job_id},
    {STORE_KIND_OPERATION, "of named commands", is_operation},
    {STORE_KIND_POLICY, "of an approval policy", is_policy},
    {STORE_KIND_QUEUE, "of a queue", is_queue},
    {STORE_KIND_REPLY, "of a stored reply", is_reply},
    {STORE_KIND_SCHEDULE, "of a schedule", is_schedule},
    {STORE_KIND_THROTTLE, "of a throttle", is_number},
    {STORE_KIND_AUDIT, "of the audit log", is_audit},
    {STORE_KIND_PROMISE, "of a promised job", is_job_id},
    {STORE_KIND_WORKER, "of a worker", is_worker},
};

struct look {
    enum err_code code;
    struct err *err;
};

static bool look_at_record(void *data, struct str key, struct str value)
{
    struct look *l = data;
    char kind = '\0';
    if (key.len > 0) {
        kind = key.ptr[0];
    }
    if (kind == STORE_KIND_MACHINE) {
        struct store_meta meta;
        l->code = store_check_meta(value, &meta, l->err);
        return l->code == ERR_OK;
    }
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        if (kinds[i].kind != kind) {
            continue;
        }
        if (!kinds[i].fits(str_from_offset(key, 1), value)) {
            l->code = err_set(l->err, ERR_CORRUPT, "a record %s cannot be read by this version",
                              kinds[i].what);
        }
        return l->code == ERR_OK;
    }
    l->code = err_set(l->err, ERR_CORRUPT, "a record has the unknown kind %u",
                      (unsigned)(unsigned char)kind);
    return false;
}

static bool look_at_job(void *data, struct str key, struct str value)
{
    struct look *l = data;
    struct job j;
    if (key.len != ID_BYTES) {
        l->code = err_set(l->err, ERR_CORRUPT, "a live job has a key of %zu bytes", key.len);
    } else {
        l->code = store_job_decode_head(id_from_bytes(key.ptr), value, &j, l->err);
    }
    return l->code == ERR_OK;
}

enum err_code machine_known_state(const char *path, struct err *err)
{
    struct look l = {.err = err};
    enum err_code code = store_check_each(path, STORE_META, look_at_record, &l, err);
    if (code == ERR_OK && l.code == ERR_OK) {
        code = store_check_each(path, STORE_LIVE, look_at_job, &l, err);
    }
    return code == ERR_OK ? l.code : code;
}

struct look_for_index {
    struct look look;
    uint64_t *index;
};

/* The machine's record is the first. */
static bool look_at_machine(void *data, struct str key, struct str value)
{
    struct look_for_index *l = data;
    struct store_meta meta;
    if (key.len != 1 || key.ptr[0] != STORE_KIND_MACHINE) {
        l->look.code = err_set(l->look.err, ERR_CORRUPT, "the state has no record of its machine");
    } else {
        l->look.code = store_check_meta(value, &meta, l->look.err);
        *l->index = l->look.code == ERR_OK ? meta.applied_index : 0;
    }
    return false;
}

enum err_code machine_known_index(const char *path, uint64_t *out_index, struct err *err)
{
    struct look_for_index l = {.look = {.err = err}, .index = out_index};
    *out_index = 0;
    enum err_code code = store_check_each(path, STORE_META, look_at_machine, &l, err);
    return code == ERR_OK ? l.look.code : code;
}
