#include "store/store_docs.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/limits.h"
#include "store/store_job.h"

enum { DOCS_FIRST_SLOTS = 1024 };

struct doc {
    struct doc *next;          /* in its slot */
    struct doc *newer, *older; /* in the order of arrival */
    struct doc *touched_next;
    struct id id;
    uint32_t len;
    bool touched; /* in that list */
    bool retired; /* out of the table, but its bytes may still be looked at in this entry */
    bool removed; /* a mark that the job is gone, for the rest of the entry */
    bool used;    /* read since it came to its place: gets a second chance */
    bool kept;    /* after the entry; the others are in the arena */
    char bytes[];
};

struct store_docs {
    struct store *store;
    struct doc **slots;
    size_t slot_count; /* a power of two */
    size_t count;
    size_t used_bytes;
    size_t limit_bytes;
    struct doc *newest, *oldest;
    uint64_t read_bytes;
    struct doc *touched; /* read or changed in this entry and to be looked at when it ends */
    struct arena *brief; /* documents that leave with the entry */
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
    d->brief = arena_new(SIZE_MAX);
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
    arena_free(d->brief);
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
    for (struct doc *doc = d->newest; doc != NULL; doc = doc->older) {
        struct doc **slot = slot_of(d, doc->id);
        doc->next = *slot;
        *slot = doc;
    }
}

static size_t doc_bytes(const struct doc *doc)
{
    return sizeof *doc + doc->len;
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

/* Out of the table; the memory stays. */
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

/* One that is not kept must be touched, so that it leaves when the entry ends. */
static struct doc *put_in(struct store_docs *d, struct id id, struct str bytes, bool kept)
{
    size_t size = sizeof(struct doc) + bytes.len;
    DCHECK(find(d, id) == NULL || find(d, id)->removed);
    struct doc *doc = kept ? malloc(size) : arena_alloc(d->brief, size, _Alignof(struct doc));
    CHECK(doc != NULL);
    CHECK(bytes.len <= UINT32_MAX);
    *doc = (struct doc){.id = id, .len = (uint32_t)bytes.len, .kept = kept};
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

/* What is cached for id is out of date. Its bytes live on until the entry is committed. */
static void retire(struct store_docs *d, struct id id)
{
    struct doc *old = find(d, id);
    if (old != NULL) {
        take_out(d, old);
        old->retired = true;
        touch(d, old);
    }
}

static struct doc *put_changed(struct store_docs *d, struct id id, struct str bytes, bool kept)
{
    struct doc *doc = put_in(d, id, bytes, kept);
    touch(d, doc);
    return doc;
}

static struct str key_of(const struct id *id)
{
    return str_from(id->b, ID_BYTES);
}

static void decode_or_stop(struct id id, struct str bytes, struct job *out)
{
    struct err err;
    if (store_job_decode(id, bytes, out, &err) != ERR_OK) {
        char text[ID_TEXT_MAX];
        size_t len = id_format(id, ID_JOB, text);
        check_fatal("the document of %.*s cannot be read: %s", (int)len, text, err.msg);
    }
}

/* Into the scratch; false when there is none. */
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

bool store_docs_glance(struct store_docs *d, enum store_family family, struct id id,
                       struct job *out)
{
    const struct doc *doc = find(d, id);
    if (doc == NULL ? !read_stored(d, family, id) : doc->removed) {
        return false;
    }
    struct str bytes = doc == NULL ? buf_str(&d->scratch) : str_from(doc->bytes, doc->len);
    d->read_bytes += bytes.len;
    decode_or_stop(id, bytes, out);
    return true;
}

bool store_docs_get(struct store_docs *d, enum store_family family, struct id id, struct job *out)
{
    struct doc *doc = find(d, id);
    if (doc == NULL) {
        if (!read_stored(d, family, id)) {
            return false;
        }
        doc = put_in(d, id, buf_str(&d->scratch), family == STORE_LIVE);
        if (!doc->kept) {
            touch(d, doc); /* not worth keeping: it leaves with the entry */
        }
    }
    if (doc->removed) {
        return false;
    }
    doc->used = true;
    d->read_bytes += doc->len;
    decode_or_stop(id, str_from(doc->bytes, doc->len), out);
    return true;
}

struct fetch {
    struct store_docs *docs;
    struct id ids[STORE_DOCS_FETCH_MAX];
};

static void take_fetched(void *data, size_t i, struct str bytes)
{
    struct fetch *f = data;
    if (find(f->docs, f->ids[i]) == NULL) { /* an id may be named twice */
        (void)put_in(f->docs, f->ids[i], bytes, true);
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
        /* What this entry has changed is in memory, so the store has nothing newer to say. */
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

void store_docs_put(struct store_docs *d, const struct job *j, enum store_family was_in)
{
    enum store_family family = job_state_is_terminal(j->state) ? STORE_DONE : STORE_LIVE;
    buf_clear(&d->scratch);
    store_job_encode(j, &d->scratch);
    CHECK(!d->scratch.overflow);
    if (was_in != STORE_FAMILY_COUNT) { /* a new job has nothing to look for */
        retire(d, j->id);
    }
    if (was_in == family) {
        kv_put(d->store->batch, family, key_of(&j->id), buf_str(&d->scratch));
    } else {
        if (was_in != STORE_FAMILY_COUNT) {
            kv_delete(d->store->batch, was_in, key_of(&j->id));
        }
        kv_put_new(d->store->batch, family, key_of(&j->id), buf_str(&d->scratch));
    }
    /* When there is no room, those who came last wait longest. */
    size_t with_it = d->used_bytes + sizeof(struct doc) + d->scratch.len;
    bool in_excess = was_in == STORE_FAMILY_COUNT && with_it > d->limit_bytes;
    (void)put_changed(d, j->id, buf_str(&d->scratch), family == STORE_LIVE && !in_excess);
}

void store_docs_remove(struct store_docs *d, enum store_family family, struct id id)
{
    kv_delete(d->store->batch, family, key_of(&id));
    retire(d, id);
    put_changed(d, id, STR_EMPTY, false)->removed = true;
}

struct str store_docs_bytes(struct store_docs *d, struct id id)
{
    struct doc *doc = find(d, id);
    return doc == NULL || doc->removed ? STR_EMPTY : str_from(doc->bytes, doc->len);
}

uint64_t store_docs_read_bytes(const struct store_docs *d)
{
    return d->read_bytes;
}

static void doc_free(struct doc *doc)
{
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
    arena_reset(d->brief);
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

bool store_docs_read(struct store *s, struct id id, struct buf *out)
{
    struct err err;
    bool found = false;
    unsigned families = 1U << STORE_LIVE | 1U << STORE_DONE; /* between which a job moves */
    struct kv *kv = store_hold(s);
    if (kv_get_any(kv, families, key_of(&id), out, &found, &err) != ERR_OK) {
        check_fatal("the store cannot be read: %s", err.msg);
    }
    kv_close(kv);
    return found;
}
