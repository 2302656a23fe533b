#include "store/store_docs.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/limits.h"
#include "base/map.h"
#include "store/store_body.h"
#include "store/store_job.h"

enum { DOCS_FIRST_SLOTS = 1024 };

/* The body of a large job. All documents of the job that were cached since the body was written or
 * read share it. */
struct body {
    uint32_t refs;
    uint32_t len;
    char bytes[];
};

struct doc {
    struct doc *next;          /* in the same slot */
    struct doc *newer, *older; /* in order of insertion */
    struct doc *touched_next;
    struct id id;
    struct body *body; /* NULL: there is none, or it was not read */
    uint32_t len;      /* of the value stored under the id: a complete document or a head */
    uint32_t body_len; /* of the head's body; 0: a complete document */
    bool touched;      /* in the list of touched documents */
    bool retired; /* not in the table any more, but its bytes stay valid until the entry ends */
    bool removed; /* marks the job as removed, for the rest of the entry */
    bool used;    /* read since it became the newest: gets a second chance */
    bool kept;    /* stays after the entry; the others are in entry_arena */
    char bytes[];
};

/* The state of a job with a large document that was read without caching it, for the rest of the
 * entry. Many jobs may depend on the same job, and each would read its document again. */
struct glanced {
    struct map_node node;
    struct id id;
    size_t len;
    enum job_state state;
};

enum { GLANCED_LARGE = 4096 };

struct store_docs {
    struct store *store;
    struct doc **slots;
    size_t slot_count; /* a power of two */
    size_t count;
    size_t used_bytes;
    size_t limit_bytes;
    struct doc *newest, *oldest;
    uint64_t read_bytes;
    struct doc *touched;       /* documents that must be checked when the entry ends */
    struct arena *entry_arena; /* documents that are dropped when the entry ends */
    struct map glanced;        /* by id; also in entry_arena */
    struct buf scratch;
};

struct store_docs *store_docs_new(struct store *s, size_t limit_bytes)
{
    struct store_docs *d = calloc(1, sizeof *d);
    CHECK(d != NULL);
    d->store = s;
    d->limit_bytes = limit_bytes;
    d->slot_count = DOCS_FIRST_SLOTS;
    d->slots = calloc(d->slot_count, sizeof(struct doc *));
    CHECK(d->slots != NULL);
    d->entry_arena = arena_new(SIZE_MAX);
    map_init(&d->glanced);
    buf_init(&d->scratch, SIZE_MAX);
    return d;
}

void store_docs_free(struct store_docs *d)
{
    if (d == NULL) {
        return;
    }
    d->limit_bytes = 0;
    store_docs_committed(d);
    CHECK(d->count == 0);
    CHECK(d->used_bytes == 0);
    free(d->slots);
    map_deinit(&d->glanced);
    arena_free(d->entry_arena);
    buf_deinit(&d->scratch);
    free(d);
}

static struct doc **slot_of(const struct store_docs *d, struct id id)
{
    return &d->slots[id_hash(id) & (d->slot_count - 1)];
}

static struct doc *find(const struct store_docs *d, struct id id)
{
    struct doc *doc = *slot_of(d, id);
    while (doc != NULL && !id_eq(doc->id, id)) {
        doc = doc->next;
    }
    return doc;
}

static void grow(struct store_docs *d)
{
    free(d->slots);
    d->slot_count *= 2;
    d->slots = calloc(d->slot_count, sizeof(struct doc *));
    CHECK(d->slots != NULL);
    /* From the oldest to the newest, so that a job that was removed and created again is found
     * before the mark of its removal. */
    for (struct doc *doc = d->oldest; doc != NULL; doc = doc->newer) {
        struct doc **slot = slot_of(d, doc->id);
        doc->next = *slot;
        *slot = doc;
    }
}

static struct str stored_bytes(const struct doc *doc)
{
    return str_from(doc->bytes, doc->len);
}

static struct str body_bytes(const struct doc *doc)
{
    return doc->body == NULL ? STR_EMPTY : str_from(doc->body->bytes, doc->body->len);
}

static size_t doc_bytes(const struct doc *doc)
{
    return sizeof *doc + doc->len + body_bytes(doc).len;
}

static struct body *body_new(size_t room)
{
    struct body *body = malloc(sizeof *body + room);
    CHECK(body != NULL);
    *body = (struct body){.refs = 1};
    return body;
}

static struct body *body_of_job(const struct job *j)
{
    struct buf bytes;
    size_t room = store_job_body_room(j);
    struct body *body = body_new(room);
    buf_init_room(&bytes, room, body->bytes, room);
    store_job_encode_body(j, j->version, &bytes);
    CHECK(!bytes.overflow);
    CHECK(bytes.len <= UINT32_MAX);
    body->len = (uint32_t)bytes.len;
    return body;
}

static struct body *body_of_bytes(struct str bytes)
{
    struct body *body = body_new(bytes.len);
    CHECK(bytes.len <= UINT32_MAX);
    memcpy(body->bytes, bytes.ptr, bytes.len);
    body->len = (uint32_t)bytes.len;
    return body;
}

static void body_release(struct body *body)
{
    if (body != NULL && --body->refs == 0) {
        free(body);
    }
}

static void link_newest(struct store_docs *d, struct doc *doc)
{
    doc->newer = NULL;
    doc->older = d->newest;
    if (d->newest != NULL) {
        d->newest->newer = doc;
    } else {
        d->oldest = doc;
    }
    d->newest = doc;
    CHECK(d->oldest != NULL);
}

static void unlink_age(struct store_docs *d, struct doc *doc)
{
    *(doc->newer != NULL ? &doc->newer->older : &d->newest) = doc->older;
    *(doc->older != NULL ? &doc->older->newer : &d->oldest) = doc->newer;
    CHECK((d->newest == NULL) == (d->oldest == NULL));
}

/* Remove the document from the table without freeing it. */
static void take_out(struct store_docs *d, struct doc *doc)
{
    struct doc **at = slot_of(d, doc->id);
    while (*at != doc) {
        CHECK(*at != NULL);
        at = &(*at)->next;
    }
    *at = doc->next;
    CHECK(d->count > 0);
    CHECK(d->used_bytes >= doc_bytes(doc));
    unlink_age(d, doc);
    d->count--;
    d->used_bytes -= doc_bytes(doc);
}

/* Insert a document, which takes ownership of body. A document that is not kept must be touched, so
 * that it is dropped when the entry ends. */
static struct doc *put_in(struct store_docs *d, struct id id, struct str bytes, struct body *body,
                          bool kept)
{
    struct store_job_body known = {0};
    size_t size = sizeof(struct doc) + bytes.len;
    DCHECK(find(d, id) == NULL || find(d, id)->removed);
    struct doc *doc = kept ? malloc(size) : arena_alloc(d->entry_arena, size, _Alignof(struct doc));
    CHECK(doc != NULL);
    CHECK(bytes.len <= UINT32_MAX);
    *doc = (struct doc){.id = id, .body = body, .len = (uint32_t)bytes.len, .kept = kept};
    if (store_job_find_body(bytes, &known)) {
        doc->body_len = known.bytes;
    }
    if (bytes.len > 0) {
        memcpy(doc->bytes, bytes.ptr, bytes.len);
    }
    if (d->count >= d->slot_count) {
        grow(d);
    }
    struct doc **slot = slot_of(d, id);
    doc->next = *slot;
    *slot = doc;
    link_newest(d, doc);
    d->count++;
    d->used_bytes += doc_bytes(doc);
    return doc;
}

static void touch(struct store_docs *d, struct doc *doc)
{
    if (!doc->touched) {
        doc->touched = true;
        doc->touched_next = d->touched;
        d->touched = doc;
    }
}

/* Replace a cached document. Its bytes stay valid until the entry is committed. */
static void retire(struct store_docs *d, struct doc *old)
{
    if (old != NULL) {
        take_out(d, old);
        old->retired = true;
        touch(d, old);
    }
}

static struct doc *put_changed(struct store_docs *d, struct id id, struct str bytes,
                               struct body *body, bool kept)
{
    struct doc *doc = put_in(d, id, bytes, body, kept);
    touch(d, doc);
    return doc;
}

static struct str key_of(const struct id *id)
{
    return str_from(id->b, ID_BYTES);
}

ATTR_NORETURN static void stop_at(struct id id, const struct err *err)
{
    char text[ID_TEXT_MAX];
    size_t len = id_format(id, ID_JOB, text);
    check_fatal("the document of %.*s cannot be read: %s", (int)len, text, err->msg);
}

/* Read the stored value into the scratch buffer. False if there is none. */
static bool read_stored(struct store_docs *d, enum store_family family, struct id id)
{
    struct err err;
    bool found = false;
    buf_clear(&d->scratch);
    if (kv_get(d->store->kv, NULL, family, key_of(&id), &d->scratch, &found, &err) != ERR_OK) {
        check_fatal("the store cannot be read: %s", err.msg);
    }
    return found;
}

/* Insert a document that was read from the store. */
static struct doc *put_read(struct store_docs *d, struct id id, struct str bytes, bool live)
{
    struct doc *doc = put_in(d, id, bytes, NULL, live);
    if (!doc->kept) {
        touch(d, doc); /* not worth keeping: dropped when the entry ends */
    }
    return doc;
}

/* Find the document of a job in memory, or read it from the store. NULL if there is none. For a job
 * that was removed in this entry, returns the mark of the removal. */
static struct doc *find_or_read(struct store_docs *d, enum store_family family, struct id id)
{
    struct doc *doc = find(d, id);
    if (doc == NULL && read_stored(d, family, id)) {
        doc = put_read(d, id, buf_str(&d->scratch), family == STORE_LIVE);
    }
    return doc;
}

void store_docs_take_done(struct store_docs *d, struct id id, struct str stored)
{
    if (find(d, id) == NULL) {
        (void)put_read(d, id, stored, false);
    }
}

/* Read the body of a head that was read from the store. A head that this entry wrote has its
 * body. */
static void need_body(struct store_docs *d, struct doc *doc)
{
    struct store_job_body known;
    if (doc->body != NULL || !store_job_find_body(stored_bytes(doc), &known)) {
        return;
    }
    buf_clear(&d->scratch);
    if (!store_body_read(d->store->kv, NULL, doc->id, &known, &d->scratch)) {
        store_body_missing(doc->id);
    }
    doc->body = body_of_bytes(buf_str(&d->scratch));
    d->used_bytes += doc->body->len;
}

static void decode_or_stop(const struct doc *doc, struct job *out)
{
    struct err err;
    enum err_code code = doc->body == NULL ? store_job_decode(doc->id, stored_bytes(doc), out, &err)
                                           : store_job_decode_parts(doc->id, stored_bytes(doc),
                                                                    body_bytes(doc), out, &err);
    if (code != ERR_OK) {
        stop_at(doc->id, &err);
    }
}

bool store_docs_glance(struct store_docs *d, enum store_family family, struct id id,
                       struct job *out)
{
    const struct doc *doc = find(d, id);
    struct err err;
    size_t payload_bytes;
    if (doc == NULL ? !read_stored(d, family, id) : doc->removed) {
        return false;
    }
    struct str bytes = doc == NULL ? buf_str(&d->scratch) : stored_bytes(doc);
    d->read_bytes += bytes.len;
    if (store_job_decode_stored(id, bytes, out, &payload_bytes, &err) != ERR_OK) {
        stop_at(id, &err);
    }
    return true;
}

static void remember(struct store_docs *d, struct id id, size_t len, enum job_state state)
{
    struct glanced *g = ARENA_NEW(d->entry_arena, struct glanced);
    CHECK(g != NULL);
    g->id = id;
    g->len = len;
    g->state = state;
    g->node.key = str_from(g->id.b, ID_BYTES);
    map_add(&d->glanced, &g->node);
}

bool store_docs_state(struct store_docs *d, enum store_family family, struct id id,
                      enum job_state *out)
{
    struct job j;
    bool stored = find(d, id) == NULL; /* otherwise this entry may have changed it */
    struct map_node *node = stored ? map_find(&d->glanced, str_from(id.b, ID_BYTES)) : NULL;
    if (node != NULL) {
        const struct glanced *g = CONTAINER_OF(node, struct glanced, node);
        d->read_bytes += g->len; /* counts like a read: another node may have it in the cache */
        *out = g->state;
        return true;
    }
    if (!store_docs_glance(d, family, id, &j)) {
        return false;
    }
    if (stored && d->scratch.len >= GLANCED_LARGE) {
        remember(d, id, d->scratch.len, j.state);
    }
    *out = j.state;
    return true;
}

bool store_docs_get(struct store_docs *d, enum store_family family, struct id id, struct job *out)
{
    struct doc *doc = find_or_read(d, family, id);
    if (doc == NULL || doc->removed) {
        return false;
    }
    if (doc->body_len > 0) {
        need_body(d, doc);
    }
    doc->used = true;
    d->read_bytes += doc->len + doc->body_len;
    decode_or_stop(doc, out);
    return true;
}

struct fetch {
    struct store_docs *docs;
    struct id ids[STORE_DOCS_FETCH_MAX];
};

static void take_fetched(void *data, size_t i, struct str bytes)
{
    struct fetch *f = data;
    if (find(f->docs, f->ids[i]) == NULL) { /* ids may contain an id twice */
        (void)put_in(f->docs, f->ids[i], bytes, NULL, true);
    }
}

void store_docs_fetch(struct store_docs *d, const struct id *ids, size_t count)
{
    struct fetch f = {.docs = d};
    struct kv_visitor visitor = {.value = take_fetched, .data = &f};
    struct str keys[STORE_DOCS_FETCH_MAX];
    size_t missing = 0;
    struct err err;
    for (size_t i = 0; i < count && missing < STORE_DOCS_FETCH_MAX; i++) {
        /* Changes of this entry are in memory; the store has nothing newer. */
        if (find(d, ids[i]) == NULL) {
            f.ids[missing] = ids[i];
            keys[missing] = key_of(&f.ids[missing]);
            missing++;
        }
    }
    if (kv_get_near(d->store->kv, STORE_LIVE, keys, missing, &visitor, &err) != ERR_OK) {
        check_fatal("the store cannot be read: %s", err.msg);
    }
}

/* --- bodies --- */

static void put_body(struct store_docs *d, struct id id, struct str bytes, bool is_new)
{
    struct store_body_key key = store_body_key_of(id);
    struct str k = store_body_key_str(&key);
    (is_new ? kv_put_new : kv_put)(d->store->batch, STORE_ROWS, k, bytes);
}

static void delete_body(struct store_docs *d, struct id id)
{
    struct store_body_key key = store_body_key_of(id);
    kv_delete(d->store->batch, STORE_ROWS, store_body_key_str(&key));
}

/* Compare the texts. Usually both are views of the same bytes. */
static bool is_same(struct str a, struct str b)
{
    return a.len == b.len && (a.ptr == b.ptr || str_eq(a, b));
}

/* Is the stored body still correct for j? */
static bool keeps_body(struct store_docs *d, const struct job *j, struct doc *old)
{
    struct job was;
    need_body(d, old);
    decode_or_stop(old, &was);
    return is_same(j->payload, was.payload) && is_same(j->tags, was.tags) &&
           is_same(j->chain_config, was.chain_config);
}

/* Return the body of j, and write it if it is not stored; NULL if the document is stored whole.
 * *out is the head's information about the body. Whether a document is stored whole depends on the
 * stored document and on the entry. */
static struct body *settle_body(struct store_docs *d, const struct job *j, struct doc *old,
                                struct store_job_body *out)
{
    bool had = old != NULL && !old->removed && old->body_len > 0;
    if (!store_job_is_large(j) || !(had || d->store->bodies)) {
        if (had) {
            delete_body(d, j->id);
        }
        return NULL;
    }
    if (had && keeps_body(d, j, old)) {
        bool known = store_job_find_body(stored_bytes(old), out);
        CHECK(known);
        old->body->refs++;
        return old->body;
    }
    struct body *body = body_of_job(j);
    put_body(d, j->id, str_from(body->bytes, body->len), !had);
    *out = (struct store_job_body){
        .version = j->version, .bytes = body->len, .payload_bytes = (uint32_t)j->payload.len};
    return body;
}

void store_docs_put(struct store_docs *d, const struct job *j, enum store_family was_in)
{
    enum store_family family = job_state_is_terminal(j->state) ? STORE_DONE : STORE_LIVE;
    bool is_new = was_in == STORE_FAMILY_COUNT; /* nothing to look up */
    struct store_job_body known;
    struct doc *old = is_new ? NULL : find_or_read(d, was_in, j->id);
    struct body *body = settle_body(d, j, old, &known);
    buf_clear(&d->scratch);
    if (body != NULL) {
        store_job_encode_head(j, &known, &d->scratch);
    } else {
        store_job_encode(j, &d->scratch);
    }
    CHECK(!d->scratch.overflow);
    retire(d, old);
    if (was_in == family) {
        kv_put(d->store->batch, family, key_of(&j->id), buf_str(&d->scratch));
    } else {
        if (!is_new) {
            kv_delete(d->store->batch, was_in, key_of(&j->id));
        }
        kv_put_new(d->store->batch, family, key_of(&j->id), buf_str(&d->scratch));
    }
    /* If the cache is full, new documents are not kept: their jobs are last in line. */
    size_t with_it =
        d->used_bytes + sizeof(struct doc) + d->scratch.len + (body != NULL ? body->len : 0);
    bool in_excess = is_new && with_it > d->limit_bytes;
    (void)put_changed(d, j->id, buf_str(&d->scratch), body, family == STORE_LIVE && !in_excess);
}

void store_docs_remove(struct store_docs *d, enum store_family family, struct id id)
{
    struct doc *old = find_or_read(d, family, id);
    kv_delete(d->store->batch, family, key_of(&id));
    if (old != NULL && !old->removed && old->body_len > 0) {
        delete_body(d, id);
    }
    retire(d, old);
    put_changed(d, id, STR_EMPTY, NULL, false)->removed = true;
}

bool store_docs_has(const struct store_docs *d, struct id id)
{
    const struct doc *doc = find(d, id);
    return doc != NULL && !doc->removed;
}

struct str store_docs_head(const struct store_docs *d, struct id id)
{
    const struct doc *doc = find(d, id);
    return doc == NULL || doc->removed ? STR_EMPTY : stored_bytes(doc);
}

struct str store_docs_body(struct store_docs *d, struct id id)
{
    struct doc *doc = find(d, id);
    if (doc == NULL || doc->removed) {
        return STR_EMPTY;
    }
    need_body(d, doc);
    return body_bytes(doc);
}

uint64_t store_docs_read_bytes(const struct store_docs *d)
{
    return d->read_bytes;
}

static void doc_free(struct doc *doc)
{
    body_release(doc->body);
    if (doc->kept) {
        free(doc);
    }
}

static void drop(struct store_docs *d, struct doc *doc)
{
    take_out(d, doc);
    doc_free(doc);
}

void store_docs_committed(struct store_docs *d)
{
    while (d->touched != NULL) {
        struct doc *doc = d->touched;
        d->touched = doc->touched_next;
        doc->touched = false;
        if (doc->retired) {
            doc_free(doc);
        } else if (!doc->kept) {
            drop(d, doc);
        }
    }
    if (d->glanced.count > 0) {
        map_deinit(&d->glanced);
        map_init(&d->glanced);
    }
    arena_reset(d->entry_arena);
    d->read_bytes = 0;
    while (d->used_bytes > d->limit_bytes && d->oldest != NULL) {
        struct doc *doc = d->oldest;
        if (doc->used) {
            doc->used = false;
            unlink_age(d, doc);
            link_newest(d, doc);
        } else {
            drop(d, doc);
        }
    }
}

/* Documents that are read together: the keys not yet found, and their positions in the caller's
 * list. */
struct some {
    const struct kv_visitor *visitor;
    struct str keys[STORE_DOCS_FETCH_MAX];
    size_t places[STORE_DOCS_FETCH_MAX];
    bool found[STORE_DOCS_FETCH_MAX];
    size_t count;
};

/* Pass on a complete document. Heads are skipped. */
static void visit_whole(void *data, size_t i, struct str bytes)
{
    struct some *some = data;
    struct store_job_body body;
    if (!store_job_find_body(bytes, &body)) {
        some->found[i] = true;
        some->visitor->value(some->visitor->data, some->places[i], bytes);
    }
}

static void keep_missing(struct some *some)
{
    size_t kept = 0;
    for (size_t i = 0; i < some->count; i++) {
        if (!some->found[i]) {
            some->keys[kept] = some->keys[i];
            some->places[kept++] = some->places[i];
        }
        some->found[i] = false;
    }
    some->count = kept;
}

void store_docs_read_some(struct store *s, const struct id *ids, size_t count,
                          const struct kv_visitor *visitor)
{
    static const unsigned families[] = {STORE_DONE, STORE_LIVE};
    struct some some = {.visitor = visitor, .count = count};
    CHECK(count <= STORE_DOCS_FETCH_MAX);
    for (size_t i = 0; i < count; i++) {
        some.keys[i] = key_of(&ids[i]);
        some.places[i] = i;
    }
    struct kv *kv = store_hold(s);
    for (size_t f = 0; f < COUNT_OF(families) && some.count > 0; f++) {
        struct kv_visitor whole = {.value = visit_whole, .data = &some};
        kv_get_some(kv, families[f], some.keys, some.count, &whole);
        keep_missing(&some);
    }
    kv_close(kv);
}

/* Read the head first, then the body, so that the body is never older than the head. If the body
 * does not belong to the head, an entry was applied in between; the head has changed and is read
 * again. */
bool store_docs_read(struct store *s, struct id id, struct buf *out)
{
    struct err err;
    bool found = false;
    bool complete = false;
    size_t at = out->len;
    struct store_job_body tried = {0};
    unsigned families = 1U << STORE_LIVE | 1U << STORE_DONE; /* a job moves between them */
    struct kv *kv = store_hold(s);
    for (unsigned tries = 0; !complete; tries++) {
        struct store_job_body body;
        out->len = at;
        if (kv_get_any(kv, families, key_of(&id), out, &found, &err) != ERR_OK) {
            check_fatal("the store cannot be read: %s", err.msg);
        }
        complete = !found || !store_job_find_body(str_from(out->ptr + at, out->len - at), &body);
        if (!complete) {
            if (tries > 0 && body.version == tried.version) {
                store_body_missing(id);
            }
            complete = store_body_read(kv, NULL, id, &body, out);
            tried = body;
        }
    }
    kv_close(kv);
    return found;
}
