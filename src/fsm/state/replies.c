/*
 * Replies: the responses to enqueues, replays, new batches and manual runs of schedules that
 * carried an idempotency key, kept for a day.
 *
 * A client that did not receive the response repeats the request with the same key and gets the
 * first response; nothing is created twice. The reply is stored by the entry that creates the
 * objects it names, so neither exists without the other.
 *
 * Stored replies are limited in bytes. Beyond the limit, the oldest are deleted before their day is
 * over. A request whose response was lost is repeated within seconds, and at a thousand keys per
 * second there is room for more than an hour. Refusing new keys would stop a busy producer for the
 * rest of the day.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "base/pack.h"
#include "fsm/apply/apply_int.h"

/* Version 2 has a hash of the request. A reply without a hash is always written in version 1,
 * because every node must write the same bytes. */
enum {
    REPLY_WITHOUT_HASH = 1,
    REPLY_WITH_HASH = PARTS_REPLY_VERSION,
    REPLY_KEPT_MS = 24 * 3600 * 1000
};

/* The cost of a reply beside its key and record, in memory and in the store. It decides which
 * replies are deleted, so it is the same on every node, whatever the size of the structs there. */
enum { REPLY_EXTRA_BYTES = 128 };

static struct reply *find(const struct machine *m, struct str key)
{
    struct map_node *n = map_find(&m->replies, key);
    return n == NULL ? NULL : CONTAINER_OF(n, struct reply, node);
}

static uint64_t cost_of(struct str key, size_t record_bytes)
{
    return key.len + record_bytes + REPLY_EXTRA_BYTES;
}

static struct reply *reply_new(struct machine *m, struct str key, struct str record)
{
    struct reply *p = calloc(1, sizeof *p + key.len + record.len);
    CHECK(p != NULL);
    CHECK(record.ptr != NULL);
    memcpy(p->bytes, key.ptr, key.len);
    memcpy(p->bytes + key.len, record.ptr, record.len);
    p->node.key = str_from(p->bytes, key.len);
    p->record = str_from(p->bytes + key.len, record.len);
    p->expiry = heap_node_out();
    map_add(&m->replies, &p->node);
    m->reply_bytes += cost_of(p->node.key, record.len);
    return p;
}

static void reply_free(struct machine *m, struct reply *p)
{
    m->reply_bytes -= cost_of(p->node.key, p->record.len);
    heap_remove(&m->reply_expiry, &p->expiry);
    map_remove(&m->replies, &p->node);
    CHECK(m->replies.count == m->reply_expiry.count);
    free(p);
}

/* Version, expiry time, hash, id of the result, and the id and status of each job. */
static void encode(const struct result *r, struct wall expires_at, uint64_t body_hash,
                   struct buf *out)
{
    pack_u8(out, body_hash == 0 ? REPLY_WITHOUT_HASH : REPLY_WITH_HASH);
    pack_i64(out, expires_at.ns);
    if (body_hash != 0) {
        pack_u64(out, body_hash);
    }
    buf_add(out, r->id.b, ID_BYTES);
    pack_varint(out, r->count);
    for (uint32_t i = 0; i < r->count; i++) {
        buf_add(out, r->items[i].id.b, ID_BYTES);
        pack_u8(out, (uint8_t)r->items[i].status);
    }
}

/* Read the start of a record: the expiry time and the hash of the request. u is left after it. */
static struct wall begin(struct unpack *u, uint64_t *out_hash)
{
    uint8_t version = unpack_u8(u);
    struct wall expires_at = {.ns = unpack_i64(u)};
    *out_hash = version == REPLY_WITH_HASH ? unpack_u64(u) : 0;
    if (version < REPLY_WITHOUT_HASH || version > REPLY_WITH_HASH || u->bad) {
        check_fatal("the record of a stored reply cannot be read");
    }
    return expires_at;
}

bool replies__find(struct machine *m, struct str key, uint64_t body_hash, struct result *r)
{
    struct reply *p = key.len == 0 ? NULL : find(m, key);
    uint64_t kept_hash;
    if (p == NULL || heap_key(&m->reply_expiry, &p->expiry) <= m->now.ns) {
        return false;
    }
    struct unpack u = unpack_from(p->record);
    (void)begin(&u, &kept_hash);
    if (kept_hash != 0 && body_hash != 0 && kept_hash != body_hash) {
        entry__refuse(m, r, ERR_KEY_REUSED, "%s", err_text(ERR_KEY_REUSED));
        return true;
    }
    r->id = id_unpack(&u);
    r->count = (uint32_t)unpack_varint(&u);
    r->items = ENTRY_ARRAY(m, struct result_item, r->count);
    for (uint32_t i = 0; i < r->count; i++) {
        r->items[i] = (struct result_item){.id = id_unpack(&u)};
        r->items[i].status = (enum result_status)unpack_u8(&u);
    }
    CHECK(unpack_done(&u));
    return true;
}

static void drop(struct machine *m, struct reply *p)
{
    store_delete(&m->store, STORE_KIND_REPLY, p->node.key);
    reply_free(m, p);
}

/* Delete the oldest replies until there is room. */
static void make_room(struct machine *m, uint64_t cost)
{
    struct heap_node *first;
    while (m->entry_version >= COMMAND_ENTRY_STRICT && m->reply_bytes + cost > LIMIT_REPLY_BYTES &&
           (first = heap_first(&m->reply_expiry)) != NULL) {
        drop(m, CONTAINER_OF(first, struct reply, expiry));
    }
}

void replies__keep(struct machine *m, struct str key, uint64_t body_hash, const struct result *r)
{
    struct reply *old = key.len == 0 ? NULL : find(m, key);
    struct wall expires_at = wall_add_ms(m->now, REPLY_KEPT_MS);
    struct buf record;
    if (key.len == 0) {
        return;
    }
    if (old != NULL) {
        reply_free(m, old);
    }
    buf_init(&record, SIZE_MAX);
    encode(r, expires_at, body_hash, &record);
    CHECK(!record.overflow);
    make_room(m, cost_of(key, record.len));
    struct reply *p = reply_new(m, key, buf_str(&record));
    heap_set(&m->reply_expiry, &p->expiry, expires_at.ns);
    CHECK(m->replies.count == m->reply_expiry.count);
    store_put(&m->store, STORE_KIND_REPLY, key, buf_str(&record));
    buf_deinit(&record);
}

void replies__expire(struct machine *m, unsigned limit)
{
    struct heap_node *first;
    for (; limit > 0 && (first = heap_first_until(&m->reply_expiry, m->now.ns)) != NULL; limit--) {
        drop(m, CONTAINER_OF(first, struct reply, expiry));
    }
}

static bool expires_before(const struct heap_node *a, const struct heap_node *b)
{
    return str_cmp(CONTAINER_OF(a, const struct reply, expiry)->node.key,
                   CONTAINER_OF(b, const struct reply, expiry)->node.key) < 0;
}

static void load_reply(void *data, struct str rest, struct str value)
{
    struct machine *m = data;
    struct unpack u = unpack_from(value);
    uint64_t hash;
    struct wall expires_at = begin(&u, &hash);
    heap_set(&m->reply_expiry, &reply_new(m, rest, value)->expiry, expires_at.ns);
}

void replies__load(struct machine *m)
{
    heap_init(&m->reply_expiry, expires_before);
    store_each(&m->store, STORE_KIND_REPLY, load_reply, m);
}

void replies__close(struct machine *m)
{
    while (heap_first(&m->reply_expiry) != NULL) {
        reply_free(m, CONTAINER_OF(heap_first(&m->reply_expiry), struct reply, expiry));
    }
    heap_deinit(&m->reply_expiry);
    map_deinit(&m->replies);
}
