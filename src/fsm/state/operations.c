/*
 * Operations: what named commands of the last minutes came to.
 *
 * A node that lost the leader while a command was under way asks the next one for it again, under
 * the same name. If an entry has carried it, it is not done a second time, and its answer is given
 * again; so it is kept with the state, in the entry that did it. What is kept is bounded in number,
 * bytes and time; the oldest goes first. A command that was sent before what was forgotten, and is
 * not known, cannot be decided and is refused.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "base/pack.h"
#include "fsm/apply/apply_int.h"
#include "store/store_job.h"

enum { KEY_BYTES = 8 };

/* Beside the status of an item. */
enum { ITEM_STATUS = 0x3f, ITEM_OVER_BUDGET = 0x40, ITEM_HAS_DOC = 0x80 };
_Static_assert((int)RESULT_STATUS_COUNT <= (int)ITEM_STATUS,
               "a status leaves room for the bits beside it");

/* One command. */
struct operation {
    struct map_node node; /* by its name */
    struct operation *next;
    struct str answer;
    char bytes[]; /* name, answer */
};

/* Those of one entry. */
struct operation_block {
    struct operation_block *next;
    uint64_t index;
    struct wall at;
    struct operation *first, **last;
    uint32_t count;
    uint64_t bytes;
};

/* Bytes on disk */

static struct str key_of(uint64_t index, char room[KEY_BYTES])
{
    for (unsigned i = 0; i < KEY_BYTES; i++) {
        room[i] = (char)(uint8_t)(index >> (56 - 8 * i));
    }
    return str_from(room, KEY_BYTES);
}

static uint64_t lease_token_of(const struct result_item *item)
{
    struct job j;
    struct err err;
    return item->doc.len > 0 && store_job_decode_head(item->id, item->doc, &j, &err) == ERR_OK
               ? j.lease_token
               : 0;
}

/* A result that carries no document any more is kept as when it did: the bytes are part of the
 * state, which members of any version agree on. */
static bool has_doc(const struct result_item *item)
{
    return item->doc.len > 0 || item->doc_left_out;
}

/* Documents are left out: they are in the store, as long as the lease is the same. So is why an
 * ack's next was refused: asked again, it found nothing. */
static void encode(const struct result *r, struct buf *out)
{
    result_pack_numbers(r, out);
    pack_varint(out, r->count);
    for (uint32_t i = 0; i < r->count; i++) {
        buf_add(out, r->items[i].id.b, ID_BYTES);
        uint64_t token = lease_token_of(&r->items[i]);
        unsigned bits = (r->items[i].budget_exceeded ? ITEM_OVER_BUDGET : 0U) |
                        (token == 0 && has_doc(&r->items[i]) ? ITEM_HAS_DOC : 0U);
        pack_u8(out, (uint8_t)((unsigned)r->items[i].status | bits));
        pack_varint(out, r->items[i].order);
        pack_varint(out, token);
    }
}

/* A job as it is now; a claimed one only while it is still the caller's. */
static bool find_doc(struct machine *m, uint64_t token, struct result_item *item)
{
    struct job j;
    enum store_family family;
    if (!jobs__get(m, item->id, &j, &family) ||
        (token != 0 && (j.state != JOB_ACTIVE || j.lease_token != token))) {
        return false;
    }
    item->doc = jobs__doc(m, item->id);
    return true;
}

static void decode(struct machine *m, struct str answer, struct result *r)
{
    struct unpack u = unpack_from(answer);
    CHECK(result_unpack_numbers(&u, r));
    uint32_t count = (uint32_t)unpack_varint(&u);
    CHECK(count <= unpack_left(&u));
    r->items = ENTRY_ARRAY(m, struct result_item, count);
    for (uint32_t i = 0; i < count; i++) {
        struct result_item item = {.id = id_unpack(&u)};
        uint8_t bits = unpack_u8(&u);
        item.status = (enum result_status)(bits & ITEM_STATUS);
        item.budget_exceeded = (bits & ITEM_OVER_BUDGET) != 0;
        item.order = unpack_varint(&u);
        uint64_t token = unpack_varint(&u);
        bool has_doc = token != 0 || (bits & ITEM_HAS_DOC) != 0;
        if (!has_doc || find_doc(m, token, &item) || token == 0) {
            r->items[r->count++] = item;
        }
    }
    CHECK(unpack_done(&u));
}

/* Memory */

static struct operation_block *block_new(struct machine *m, uint64_t index, struct wall at)
{
    struct operation_block *b = calloc(1, sizeof *b);
    CHECK(b != NULL);
    b->index = index;
    b->at = at;
    b->last = &b->first;
    *m->operations.last = b;
    m->operations.last = &b->next;
    return b;
}

static void block_add(struct machine *m, struct operation_block *b, struct id name,
                      struct str answer)
{
    struct operation *o = calloc(1, sizeof *o + ID_BYTES + answer.len);
    CHECK(o != NULL);
    CHECK(answer.ptr != NULL);
    memcpy(o->bytes, name.b, ID_BYTES);
    memcpy(o->bytes + ID_BYTES, answer.ptr, answer.len);
    o->node.key = str_from(o->bytes, ID_BYTES);
    o->answer = str_from(o->bytes + ID_BYTES, answer.len);
    map_add(&m->operations.names, &o->node);
    *b->last = o;
    b->last = &o->next;
    b->count++;
    b->bytes += ID_BYTES + answer.len;
    m->operations.count++;
    m->operations.bytes += ID_BYTES + answer.len;
}

static void block_free(struct machine *m)
{
    struct operation_block *b = m->operations.first;
    m->operations.first = b->next;
    if (b->next == NULL) {
        m->operations.last = &m->operations.first;
    }
    m->operations.count -= b->count;
    m->operations.bytes -= b->bytes;
    for (struct operation *o = b->first; o != NULL;) {
        struct operation *next = o->next;
        map_remove(&m->operations.names, &o->node);
        free(o);
        o = next;
    }
    free(b);
}

/* Applying */

bool operations__find(struct machine *m, struct id name, uint64_t since, struct result *r)
{
    if (id_is_none(name)) {
        return false;
    }
    const struct map_node *n = map_find(&m->operations.names, str_from(name.b, ID_BYTES));
    if (n != NULL) {
        decode(m, CONTAINER_OF(n, const struct operation, node)->answer, r);
        return true;
    }
    if (since < m->operations.forgotten) {
        entry__refuse(m, r, ERR_UNKNOWN_OUTCOME,
                      "the request is too old: its outcome is no longer known");
        return true;
    }
    return false;
}

void operations__keep(struct machine *m, struct id name, enum command_type type,
                      const struct result *r)
{
    bool happened = r->code == ERR_OK && !(type == COMMAND_CLAIM && r->count == 0);
    struct operation_block *b = m->operations.present;
    struct buf answer;
    if (id_is_none(name) || !happened) {
        return;
    }
    if (b == NULL) {
        b = m->operations.present = block_new(m, m->index, m->now);
    }
    buf_init(&answer, SIZE_MAX);
    encode(r, &answer);
    CHECK(!answer.overflow);
    block_add(m, b, name, buf_str(&answer));
    buf_deinit(&answer);
}

static bool has_too_many(const struct machine *m)
{
    const struct operation_block *b = m->operations.first;
    return b != NULL && b != m->operations.present &&
           (m->operations.count > LIMIT_OPERATIONS || m->operations.bytes > LIMIT_OPERATION_BYTES ||
            wall_add_ms(b->at, LIMIT_OPERATIONS_KEPT_MS).ns < m->now.ns);
}

static void forget(struct machine *m)
{
    char room[KEY_BYTES];
    bool any = false;
    for (unsigned i = 0; i < LIMIT_OPERATION_STEPS && has_too_many(m); i++) {
        any = true;
        m->operations.forgotten = m->operations.first->index;
        store_delete(&m->store, STORE_KIND_OPERATION, key_of(m->operations.first->index, room));
        block_free(m);
    }
    if (any) {
        char value[KEY_BYTES];
        store_put(&m->store, STORE_KIND_OPERATION, key_of(0, room),
                  key_of(m->operations.forgotten, value));
    }
}

void operations__write(struct machine *m)
{
    struct operation_block *b = m->operations.present;
    char room[KEY_BYTES];
    if (b != NULL) {
        struct buf record;
        buf_init(&record, SIZE_MAX);
        pack_u8(&record, PARTS_OPERATION_VERSION);
        pack_i64(&record, b->at.ns);
        pack_varint(&record, b->count);
        for (const struct operation *o = b->first; o != NULL; o = o->next) {
            buf_add_str(&record, o->node.key);
            pack_text(&record, o->answer);
        }
        CHECK(!record.overflow);
        store_put(&m->store, STORE_KIND_OPERATION, key_of(b->index, room), buf_str(&record));
        buf_deinit(&record);
    }
    forget(m);
    m->operations.present = NULL;
}

/* Opening */

static void load_block(void *data, struct str rest, struct str value)
{
    struct machine *m = data;
    struct unpack u = unpack_from(rest);
    uint64_t index = 0;
    for (unsigned i = 0; i < KEY_BYTES; i++) {
        index = index << 8 | unpack_u8(&u);
    }
    CHECK(unpack_done(&u));
    u = unpack_from(value);
    if (index == 0) {
        for (unsigned i = 0; i < KEY_BYTES; i++) {
            m->operations.forgotten = m->operations.forgotten << 8 | unpack_u8(&u);
        }
        CHECK(unpack_done(&u));
        return;
    }
    uint8_t version = unpack_u8(&u);
    struct wall at = {.ns = unpack_i64(&u)};
    uint64_t count = unpack_varint(&u);
    if (version != PARTS_OPERATION_VERSION) {
        check_fatal("the record of named commands of entry %llu cannot be read",
                    (unsigned long long)index);
    }
    struct operation_block *b = block_new(m, index, at);
    for (uint64_t i = 0; i < count; i++) {
        struct id name = id_unpack(&u);
        struct str answer = unpack_text(&u);
        CHECK(!u.bad);
        block_add(m, b, name, answer);
    }
    CHECK(unpack_done(&u));
}

void operations__load(struct machine *m)
{
    map_init(&m->operations.names);
    m->operations.last = &m->operations.first;
    store_each(&m->store, STORE_KIND_OPERATION, load_block, m);
}

void operations__close(struct machine *m)
{
    while (m->operations.first != NULL) {
        block_free(m);
    }
    map_deinit(&m->operations.names);
}
