/*
 * Operations: the stored results of the named commands of the last minutes.
 *
 * A node that loses the leader while a command is in progress sends it to the next leader again,
 * under the same name. If an entry already contained it, it is not applied again, and its stored
 * result is returned. The result is therefore part of the state and is stored by the entry that
 * applied the command. Stored results are limited in number, bytes and age; the oldest are deleted
 * first. An unknown command that is older than a deleted result is refused, because its outcome can
 * no longer be known.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "base/pack.h"
#include "fsm/apply/apply_int.h"
#include "store/store_job.h"

enum {
    KEY_BYTES = 8,
    RECORD_HEAD_BYTES_MAX = 1 + 8 + 5,
    ANSWER_ROOM = 256, /* most results are shorter */
    FIRST_BLOCKS = 64,
    PRESENT_KEPT_BYTES = 64 << 10, /* maximum memory kept for the next entry */
};

/* The bits of an item: its status and two flags. */
enum { ITEM_STATUS = 0x3f, ITEM_OVER_BUDGET = 0x40, ITEM_HAS_DOC = 0x80 };
_Static_assert((int)RESULT_STATUS_COUNT <= (int)ITEM_STATUS,
               "a status leaves room for the bits beside it");

/* The named commands of one entry. */
struct operation_block {
    uint64_t index;
    struct wall at;
    uint32_t count;
    uint64_t bytes; /* of their names and results */
    char *record;   /* as stored */
    size_t record_bytes;
};

/* Stored form */

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

/* A result that no longer contains the document is stored as if it did: the bytes are part of the
 * state, which must be the same on members of any version. */
static bool has_doc(const struct result_item *item)
{
    return item->doc.len > 0 || item->doc_left_out;
}

/* Documents are left out: they can be read from the store while the lease is the same. Why an ack's
 * next was refused is left out, too: a repeated ack reports that next found no jobs. */
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

/* Read the job's current document. If there is a token, only while that claim holds the job. */
static bool find_doc(struct machine *m, uint64_t token, struct result_item *item)
{
    struct job j;
    enum store_family family;
    if (!job_read__get(m, item->id, &j, &family) ||
        (token != 0 && (j.state != JOB_ACTIVE || j.lease_token != token))) {
        return false;
    }
    item->doc = job_read__doc(m, item->id);
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

/* The start of a record: the time, and how many names and results follow. */
static void begin_record(struct buf *out, struct wall at, uint32_t count)
{
    pack_u8(out, PARTS_OPERATION_VERSION);
    pack_i64(out, at.ns);
    pack_varint(out, count);
}

static bool take_record(struct unpack *u, struct wall *out_at, uint32_t *out_count)
{
    uint8_t version = unpack_u8(u);
    out_at->ns = unpack_i64(u);
    *out_count = (uint32_t)unpack_varint(u);
    return !u->bad && version == PARTS_OPERATION_VERSION;
}

/* Memory */

/* The names of one node differ in a counter in their middle. With the counter at the end, names
 * that are used together are near each other in the hash table (id_hash). */
static struct id place_of(struct id name)
{
    enum { COUNT_AT = 6, COUNT_END = 12 };
    struct id id;
    memcpy(id.b, name.b, COUNT_AT);
    memcpy(id.b + COUNT_AT, name.b + COUNT_END, ID_BYTES - COUNT_END);
    memcpy(id.b + ID_BYTES - (COUNT_END - COUNT_AT), name.b + COUNT_AT, COUNT_END - COUNT_AT);
    return id;
}

static struct operation_block *block_at(const struct operations *o, uint64_t number)
{
    CHECK(number >= o->first_block);
    CHECK(number < o->next_block);
    return &o->blocks[number & (o->block_cap - 1)];
}

static void blocks_grow(struct operations *o)
{
    uint32_t cap = o->block_cap == 0 ? FIRST_BLOCKS : o->block_cap * 2;
    struct operation_block *blocks = calloc(cap, sizeof *blocks);
    CHECK(blocks != NULL);
    for (uint64_t n = o->first_block; n < o->next_block; n++) {
        blocks[n & (cap - 1)] = *block_at(o, n);
    }
    free(o->blocks);
    o->blocks = blocks;
    o->block_cap = cap;
}

static void block_push(struct operations *o, const struct operation_block *b)
{
    CHECK(b->count > 0);
    CHECK(b->record != NULL);
    if (o->next_block - o->first_block == o->block_cap) {
        blocks_grow(o);
    }
    o->blocks[o->next_block++ & (o->block_cap - 1)] = *b;
}

/* Remove the oldest block and its names from memory. */
static void block_drop(struct operations *o)
{
    const struct operation_block *b = block_at(o, o->first_block);
    struct id name;
    for (uint32_t i = 0; i < b->count; i++) {
        CHECK(id_set_oldest(&o->names) == o->first_block);
        CHECK(id_set_take(&o->names, &name));
    }
    CHECK(o->bytes >= b->bytes);
    o->bytes -= b->bytes;
    free(b->record);
    o->first_block++;
}

static void name_add(struct operations *o, struct id name, struct str answer)
{
    CHECK(id_set_add(&o->names, place_of(name), o->next_block));
    o->bytes += ID_BYTES + answer.len;
}

/* The result of a name that is known to be in these bytes. */
static struct str find_answer(struct unpack u, struct id name)
{
    for (;;) {
        struct id other = id_unpack(&u);
        struct str answer = unpack_text(&u);
        CHECK(!u.bad);
        if (id_eq(other, name)) {
            return answer;
        }
    }
}

static struct str answer_of(const struct operations *o, struct id name, uint64_t block)
{
    if (block == o->next_block) {
        return find_answer(unpack_from(buf_str(&o->present)), name);
    }
    const struct operation_block *b = block_at(o, block);
    struct unpack u = unpack_from(str_from(b->record, b->record_bytes));
    struct wall at;
    uint32_t count;
    CHECK(take_record(&u, &at, &count));
    return find_answer(u, name);
}

/* Applying */

bool operations__find(struct machine *m, struct id name, uint64_t since, struct result *r)
{
    uint64_t block;
    if (id_is_none(name)) {
        return false;
    }
    if (id_set_find(&m->operations.names, place_of(name), &block)) {
        decode(m, answer_of(&m->operations, name, block), r);
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
    struct operations *o = &m->operations;
    bool happened = r->code == ERR_OK && !(type == COMMAND_CLAIM && r->count == 0);
    char room[ANSWER_ROOM];
    struct buf answer;
    if (id_is_none(name) || !happened) {
        return;
    }
    buf_init_room(&answer, SIZE_MAX, room, sizeof room);
    encode(r, &answer);
    CHECK(!answer.overflow);
    buf_add(&o->present, name.b, ID_BYTES);
    pack_text(&o->present, buf_str(&answer));
    o->present_count++;
    o->present_bytes += ID_BYTES + answer.len;
    name_add(o, name, buf_str(&answer));
    buf_deinit(&answer);
}

/* Is a limit exceeded, and is there a block of an earlier entry that can be deleted? */
static bool has_too_many(const struct machine *m)
{
    const struct operations *o = &m->operations;
    uint64_t earlier = o->next_block - o->first_block;
    if (earlier > 0 && block_at(o, o->next_block - 1)->index == m->index) {
        earlier--;
    }
    return earlier > 0 &&
           (id_set_count(&o->names) > LIMIT_OPERATIONS || o->bytes > LIMIT_OPERATION_BYTES ||
            wall_add_ms(block_at(o, o->first_block)->at, LIMIT_OPERATIONS_KEPT_MS).ns < m->now.ns);
}

static void forget(struct machine *m)
{
    struct operations *o = &m->operations;
    char room[KEY_BYTES];
    bool any = false;
    for (unsigned i = 0; i < LIMIT_OPERATION_STEPS && has_too_many(m); i++) {
        any = true;
        o->forgotten = block_at(o, o->first_block)->index;
        store_delete(&m->store, STORE_KIND_OPERATION, key_of(o->forgotten, room));
        block_drop(o);
    }
    if (any) {
        char value[KEY_BYTES];
        store_put(&m->store, STORE_KIND_OPERATION, key_of(0, room), key_of(o->forgotten, value));
    }
}

/* Write the results of this entry as its record. */
static void write_present(struct machine *m)
{
    struct operations *o = &m->operations;
    struct operation_block b = {
        .index = m->index, .at = m->now, .count = o->present_count, .bytes = o->present_bytes};
    char key[KEY_BYTES];
    struct buf record;
    buf_init(&record, SIZE_MAX);
    CHECK(buf_reserve(&record, RECORD_HEAD_BYTES_MAX + o->present.len) != NULL);
    begin_record(&record, b.at, b.count);
    buf_add_str(&record, buf_str(&o->present));
    CHECK(!o->present.overflow);
    CHECK(!record.overflow);
    store_put(&m->store, STORE_KIND_OPERATION, key_of(b.index, key), buf_str(&record));
    b.record_bytes = record.len;
    b.record = buf_take(&record);
    block_push(o, &b);
    if (o->present.cap > PRESENT_KEPT_BYTES) {
        buf_deinit(&o->present);
    }
    buf_clear(&o->present);
    o->present_count = 0;
    o->present_bytes = 0;
}

void operations__write(struct machine *m)
{
    if (m->operations.present_count > 0) {
        write_present(m);
    }
    forget(m);
}

/* Opening */

static void load_block(struct machine *m, uint64_t index, struct str value)
{
    struct operations *o = &m->operations;
    struct operation_block b = {.index = index};
    struct unpack u = unpack_from(value);
    uint64_t before = o->bytes;
    if (!take_record(&u, &b.at, &b.count)) {
        check_fatal("the record of named commands of entry %llu cannot be read",
                    (unsigned long long)index);
    }
    for (uint32_t i = 0; i < b.count; i++) {
        struct id name = id_unpack(&u);
        struct str answer = unpack_text(&u);
        CHECK(!u.bad);
        name_add(o, name, answer);
    }
    CHECK(unpack_done(&u));
    b.record = malloc(value.len);
    CHECK(b.record != NULL);
    memcpy(b.record, value.ptr, value.len);
    b.record_bytes = value.len;
    b.bytes = o->bytes - before;
    block_push(o, &b);
}

static uint64_t unpack_key(struct str bytes)
{
    struct unpack u = unpack_from(bytes);
    uint64_t index = 0;
    for (unsigned i = 0; i < KEY_BYTES; i++) {
        index = index << 8 | unpack_u8(&u);
    }
    CHECK(unpack_done(&u));
    return index;
}

static void load_record(void *data, struct str rest, struct str value)
{
    struct machine *m = data;
    uint64_t index = unpack_key(rest);
    if (index == 0) {
        m->operations.forgotten = unpack_key(value);
    } else {
        load_block(m, index, value);
    }
}

void operations__load(struct machine *m)
{
    buf_init(&m->operations.present, SIZE_MAX);
    store_each(&m->store, STORE_KIND_OPERATION, load_record, m);
}

void operations__close(struct machine *m)
{
    struct operations *o = &m->operations;
    while (o->first_block < o->next_block) {
        block_drop(o);
    }
    CHECK(id_set_count(&o->names) == 0);
    id_set_clear(&o->names);
    free(o->blocks);
    buf_deinit(&o->present);
}
