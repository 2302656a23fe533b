/*
 * Access records and the audit log: the machine stores the records (store_access.h) and reports
 * their changes. Their meaning is decided where requests arrive.
 *
 * The records are not kept in memory here. What an entry has written is in a table until it is
 * committed, because reads of the store do not see it.
 */
#include "base/check.h"
#include "base/limits.h"
#include "base/pack.h"
#include "fsm/apply/apply_int.h"
#include "store/store_access.h"

struct access_change {
    struct map_node node; /* by key: kind and name */
    struct access_change *next;
    struct str value; /* empty: deleted */
};

static struct access_change *find_change(const struct machine *m, struct str key)
{
    struct map_node *n = m->access.count == 0 ? NULL : map_find(&m->access, key);
    return n == NULL ? NULL : CONTAINER_OF(n, struct access_change, node);
}

static struct str key_of(struct machine *m, const struct command_access_item *it)
{
    char *key = entry__alloc(m, 1 + it->name.len);
    key[0] = it->kind;
    if (it->name.len > 0) {
        memcpy(key + 1, it->name.ptr, it->name.len);
    }
    return str_from(key, 1 + it->name.len);
}

/* Read the current record, including changes of this entry. False if there is none. */
static bool read_record(struct machine *m, struct str key, struct store_access_frame *out)
{
    const struct access_change *change = find_change(m, key);
    struct str value = STR_EMPTY;
    if (change != NULL) {
        value = change->value;
    } else {
        struct buf bytes;
        buf_init(&bytes, SIZE_MAX);
        if (store_get(&m->store, STORE_KIND_ACCESS, key, &bytes)) {
            m->extra_bytes += bytes.len;
            value = entry__keep(m, &bytes);
        } else {
            buf_deinit(&bytes);
        }
    }
    if (value.len == 0) {
        return false;
    }
    if (!store_access_decode_frame(value, out)) {
        check_fatal("an access record cannot be read");
    }
    return true;
}

static void note_change(struct machine *m, struct str key, struct str value)
{
    struct access_change *change = find_change(m, key);
    if (change == NULL) {
        change = ENTRY_ARRAY(m, struct access_change, 1);
        *change = (struct access_change){.node = {.key = key}};
        map_add(&m->access, &change->node);
        if (m->access_first == NULL) {
            m->access_last = &m->access_first;
        }
        *m->access_last = change;
        m->access_last = &change->next;
    }
    change->value = value;
}

/* Would there be too many budgets? One that is put twice by the command counts twice. */
static bool has_too_many(struct machine *m, const struct command_access *a, struct result *r)
{
    size_t count = m->budgets.count;
    bool more = false;
    for (size_t i = 0; i < a->count; i++) {
        const struct command_access_item *it = &a->items[i];
        bool is_new =
            it->kind == STORE_ACCESS_BUDGET && !it->deletes && !apply_budget__is_there(m, it->name);
        count += is_new ? 1 : 0;
        more = more || is_new;
    }
    if (more && count > LIMIT_BUDGETS) {
        entry__refuse(m, r, ERR_BUDGET, "the server already has %zu budgets, the maximum",
                      m->budgets.count);
        return true;
    }
    return false;
}

static bool may_change(struct machine *m, const struct command_access_item *it, struct result *r)
{
    struct store_access_frame was;
    bool there = it->rule != COMMAND_ACCESS_ANY && read_record(m, key_of(m, it), &was);
    if (it->rule == COMMAND_ACCESS_NEW && there) {
        entry__refuse(m, r, ERR_CONFLICT, "it already exists");
        return false;
    }
    if (it->rule >= COMMAND_ACCESS_THERE && !there) {
        entry__refuse(m, r, ERR_NOT_FOUND, "there is none");
        return false;
    }
    if (it->rule == COMMAND_ACCESS_SAME && command_access_seen(was.body) != it->seen) {
        entry__refuse(m, r, ERR_CONFLICT, "it was changed in the meantime");
        return false;
    }
    return true;
}

/* Budgets and quotas are used while entries are applied, so they are also kept in memory. */
static void follow(struct machine *m, const struct command_access_item *it, struct str body)
{
    if (it->kind == STORE_ACCESS_BUDGET) {
        apply_budget__changed(m, it->name, body);
    } else if (it->kind == STORE_ACCESS_NAMESPACE) {
        spaces__changed(m, it->name, body);
    }
}

static void put(struct machine *m, const struct command_access_item *it, struct str key,
                const struct store_access_frame *frame)
{
    struct buf value;
    buf_init(&value, SIZE_MAX);
    store_access_encode_frame(frame, &value);
    store_put(&m->store, STORE_KIND_ACCESS, key, buf_str(&value));
    note_change(m, key, entry__keep(m, &value));
    follow(m, it, frame->body);
}

static void change(struct machine *m, const struct command_access_item *it)
{
    struct str key = key_of(m, it);
    struct store_access_frame frame = {0};
    bool there = read_record(m, key, &frame);
    if (it->deletes) {
        if (there) {
            store_delete(&m->store, STORE_KIND_ACCESS, key);
            note_change(m, key, STR_EMPTY);
            follow(m, it, STR_EMPTY);
        }
        return;
    }
    if (there) {
        frame.updated_at = m->now;
    } else {
        frame.created_at = m->now;
    }
    frame.body = it->kind == STORE_ACCESS_BUDGET ? apply_budget__with_id(m, it->body) : it->body;
    put(m, it, key, &frame);
}

bool apply_access__restore_budget(struct machine *m, struct str name,
                                  const struct store_access_frame *budget)
{
    const struct command_access_item it = {.kind = STORE_ACCESS_BUDGET, .name = name};
    struct str key = key_of(m, &it);
    struct store_access_frame was;
    struct store_access_frame frame = *budget;
    if (frame.created_at.ns == 0) {
        frame.created_at = m->now;
    }
    if (read_record(m, key, &was)) {
        return true;
    }
    if (m->budgets.count >= LIMIT_BUDGETS) {
        return false;
    }
    put(m, &it, key, &frame);
    return true;
}

void apply_access(struct machine *m, const struct command *c, struct result *r)
{
    if (has_too_many(m, &c->access, r)) {
        return;
    }
    for (size_t i = 0; i < c->access.count; i++) {
        if (!may_change(m, &c->access.items[i], r)) {
            return;
        }
    }
    for (size_t i = 0; i < c->access.count; i++) {
        change(m, &c->access.items[i]);
    }
    r->affected = (uint32_t)c->access.count;
}

void apply_access__tell(struct machine *m)
{
    for (struct access_change *c = m->access_first; c != NULL; c = c->next) {
        if (m->hooks.access != NULL) {
            m->hooks.access(m->hooks.data, c->node.key, c->value);
        }
        map_remove(&m->access, &c->node);
    }
    m->access_first = NULL;
}

/* The audit log. Its entries have numbers without gaps, so two numbers describe which are
 * stored. */

static struct str audit_key(uint64_t number, char room[sizeof number])
{
    uint64_t be = htobe64(number);
    memcpy(room, &be, sizeof be);
    return str_from(room, sizeof be);
}

static bool is_too_old(struct machine *m, uint64_t number, int64_t retention_ms)
{
    char room[sizeof number];
    struct store_audit e;
    struct buf bytes;
    bool old = false;
    if (retention_ms == 0) {
        return false;
    }
    buf_init(&bytes, SIZE_MAX);
    if (store_get(&m->store, STORE_KIND_AUDIT, audit_key(number, room), &bytes) &&
        store_access_decode_audit(buf_str(&bytes), &e)) {
        old = e.at.ns < wall_add_ms(m->now, -retention_ms).ns;
    }
    buf_deinit(&bytes);
    return old;
}

/* Remove old entries, at most two for each new one and one more, so that a command stays short. The
 * newest entry is always kept, because the next number is derived from it. */
static void trim_audit(struct machine *m, const struct command_audit *a)
{
    char room[sizeof(uint64_t)];
    for (size_t i = 0; i < 2 * a->count + 1 && m->audit_next - m->audit_first > 1; i++) {
        if (m->audit_next - m->audit_first <= LIMIT_AUDIT_KEPT &&
            !is_too_old(m, m->audit_first, a->retention_ms)) {
            return;
        }
        store_delete(&m->store, STORE_KIND_AUDIT, audit_key(m->audit_first++, room));
    }
}

void apply_access_audit(struct machine *m, const struct command *c, struct result *r)
{
    char room[sizeof(uint64_t)];
    for (size_t i = 0; i < c->audit.count; i++) {
        struct store_audit e = c->audit.items[i];
        e.at = m->now;
        buf_clear(&m->store.scratch);
        store_access_encode_audit(&e, &m->store.scratch);
        store_put(&m->store, STORE_KIND_AUDIT, audit_key(m->audit_next++, room),
                  buf_str(&m->store.scratch));
    }
    trim_audit(m, &c->audit);
    r->affected = (uint32_t)c->audit.count;
}

static void load_record(void *data, struct str rest, struct str value)
{
    const struct machine_hooks *hooks = data;
    if (rest.len > 0) {
        hooks->access(hooks->data, rest, value);
    }
}

static uint64_t audit_number(struct str key)
{
    struct unpack u = unpack_from(key);
    (void)unpack_u8(&u);
    return unpack_u64_be(&u);
}

static void load_audit(struct machine *m)
{
    char past[1 + sizeof(uint64_t)];
    const char kind = STORE_KIND_AUDIT;
    struct kv_iter *it = kv_iter_new(m->store.kv, NULL, STORE_META, STR_EMPTY);
    m->audit_first = m->audit_next = 1;
    memset(past, 0xff, sizeof past);
    past[0] = kind;
    kv_iter_seek_back(it, str_from(past, sizeof past));
    if (kv_iter_valid(it) && kv_iter_key(it).len == sizeof past && kv_iter_key(it).ptr[0] == kind) {
        m->audit_next = audit_number(kv_iter_key(it)) + 1;
        kv_iter_seek(it, str_from(&kind, 1));
        m->audit_first = audit_number(kv_iter_key(it));
    }
    store_end_walk(it);
}

void apply_access__load(struct machine *m, const struct machine_hooks *hooks)
{
    struct machine_hooks told = *hooks;
    map_init(&m->access);
    load_audit(m);
    if (told.access != NULL) {
        told.access(told.data, STR_EMPTY, STR_EMPTY);
        store_each(&m->store, STORE_KIND_ACCESS, load_record, &told);
        told.access(told.data, STR_EMPTY, STR_EMPTY);
    }
}

void apply_access__close(struct machine *m)
{
    map_deinit(&m->access);
}
