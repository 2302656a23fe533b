/*
 * Batches: groups of jobs. When all jobs of a batch have ended, one job in its callback queue
 * reports it.
 *
 * A batch counts its members as they end. When it is sealed and no member is left, it is finished:
 * the callback job is created in the same entry (batch_end.c), and the batch leaves memory. Its
 * record can be read until it is purged.
 *
 * A sealed batch ends with its jobs. An open one stays until it is sealed, so open batches have a
 * limit. Callbacks are kept in memory, so they have a limit in bytes.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "core/queue_name.h"
#include "fsm/apply/apply_int.h"

static const struct shares_limit open_limit = {
    .max = LIMIT_BATCHES_OPEN, .what = "open batches", .advice = "seal some of them first"};

static const struct shares_limit bytes_limit = {
    .max = LIMIT_BATCH_BYTES,
    .what = "bytes of callbacks of batches that have not ended",
    .advice = "try again when some batches have ended"};

/* The namespace of a batch: that of its callback queue or, without one, of its owner. */
static struct str namespace_of(const struct store_batch *rec)
{
    return rec->callback_queue.len > 0 ? queue_name_namespace(rec->callback_queue) : rec->owner.ns;
}

static uint64_t bytes_of(const struct store_batch *rec)
{
    return rec->callback_queue.len + rec->callback_payload.len + rec->owner.ns.len +
           rec->owner.scope.len;
}

bool batches__have_room(struct machine *m, const struct store_batch *rec, struct result *r)
{
    struct str ns = namespace_of(rec);
    return m->entry_version < COMMAND_ENTRY_STRICT ||
           ((rec->sealed || shares__have_room(m, &m->open_batch_shares, ns, 1, &open_limit, r)) &&
            shares__have_room(m, &m->batch_shares, ns, bytes_of(rec), &bytes_limit, r));
}

struct batch *batches__find(const struct machine *m, struct id id)
{
    struct map_node *n = map_find(&m->batches, str_from(id.b, ID_BYTES));
    return n == NULL ? NULL : CONTAINER_OF(n, struct batch, node);
}

static struct batch *batch_new(struct machine *m, struct id id, const struct store_batch *rec)
{
    struct batch *b = calloc(1, sizeof *b);
    struct str *texts[] = {&b->rec.callback_queue, &b->rec.callback_payload, &b->rec.owner.ns,
                           &b->rec.owner.scope};
    CHECK(b != NULL);
    b->id = id;
    b->rec = *rec;
    b->texts = entry__own_texts(texts, COUNT_OF(texts));
    b->node.key = str_from(b->id.b, ID_BYTES);
    map_add(&m->batches, &b->node);
    shares__take(&m->batch_shares, namespace_of(&b->rec), bytes_of(&b->rec));
    shares__take(&m->open_batch_shares, namespace_of(&b->rec), b->rec.sealed ? 0 : 1);
    return b;
}

void batches__drop(struct machine *m, struct batch *b)
{
    CHECK(!b->dirty);
    CHECK(b->seals == NULL);
    shares__give_back(&m->batch_shares, namespace_of(&b->rec), bytes_of(&b->rec));
    shares__give_back(&m->open_batch_shares, namespace_of(&b->rec), b->rec.sealed ? 0 : 1);
    map_remove(&m->batches, &b->node);
    free(b->texts);
    free(b);
}

static void touch(struct machine *m, struct batch *b)
{
    CHECK(b->rec.finished_at.ns == 0); /* a finished batch is not in memory */
    if (!b->dirty) {
        /* The end of the entry writes the record and perhaps the callback job. */
        m->extra_bytes += 2 * b->rec.callback_payload.len;
        b->dirty = true;
        b->dirty_next = m->dirty_batches;
        m->dirty_batches = b;
    }
}

struct batch *batches__open(struct machine *m, struct id id, const struct store_batch *rec)
{
    struct batch *b = batch_new(m, id, rec);
    b->rec.created_at = m->now;
    touch(m, b);
    return b;
}

void batches__join(struct machine *m, struct batch *b)
{
    b->rec.total++;
    b->rec.pending++;
    touch(m, b);
}

void batches__seal(struct machine *m, struct batch *b, struct result *r)
{
    shares__give_back(&m->open_batch_shares, namespace_of(&b->rec), b->rec.sealed ? 0 : 1);
    b->rec.sealed = true;
    struct batch_seal *seal = ENTRY_ARRAY(m, struct batch_seal, 1);
    *seal = (struct batch_seal){.result = r, .next = b->seals};
    b->seals = seal;
    touch(m, b);
}

void batches__count(struct machine *m, struct job *j, bool succeeded)
{
    struct batch *b =
        j->batch_counted || id_is_none(j->batch_id) ? NULL : batches__find(m, j->batch_id);
    if (b == NULL) {
        return;
    }
    j->batch_counted = true;
    if (b->rec.pending > 0) { /* a restored batch may count fewer members than it has */
        b->rec.pending--;
    }
    *(succeeded ? &b->rec.succeeded : &b->rec.failed) += 1;
    touch(m, b);
}

bool batches__callback_job(struct machine *m, struct id id, struct id *out_job)
{
    struct store_batch rec;
    struct buf value;
    buf_init(&value, SIZE_MAX);
    bool known = store_get(&m->store, STORE_KIND_BATCH, str_from(id.b, ID_BYTES), &value);
    if (known && !store_record_decode_batch(buf_str(&value), &rec)) {
        check_fatal("the record of a batch cannot be read");
    }
    *out_job = known ? rec.callback_job : ID_NONE;
    buf_deinit(&value);
    return known;
}

bool batches__is_known(struct machine *m, struct id id)
{
    struct buf unused;
    buf_init(&unused, SIZE_MAX);
    bool known = batches__find(m, id) != NULL ||
                 store_get(&m->store, STORE_KIND_BATCH, str_from(id.b, ID_BYTES), &unused);
    buf_deinit(&unused);
    return known;
}

void batches__restore(struct machine *m, struct id id, const struct store_batch *rec)
{
    if (batches__is_known(m, id)) {
        return;
    }
    buf_clear(&m->store.scratch);
    store_record_encode_batch(rec, &m->store.scratch);
    store_put(&m->store, STORE_KIND_BATCH, str_from(id.b, ID_BYTES), buf_str(&m->store.scratch));
    if (rec->finished_at.ns == 0) {
        (void)batch_new(m, id, rec);
    }
}

static void load_batch(void *data, struct str rest, struct str value)
{
    struct machine *m = data;
    struct store_batch rec;
    if (rest.len != ID_BYTES || !store_record_decode_batch(value, &rec)) {
        check_fatal("the record of a batch cannot be read");
    }
    if (rec.finished_at.ns == 0) {
        (void)batch_new(m, id_from_bytes(rest.ptr), &rec);
    }
}

void batches__load(struct machine *m)
{
    store_each(&m->store, STORE_KIND_BATCH, load_batch, m);
}

static void free_each(struct map_node *n, void *data)
{
    batches__drop(data, CONTAINER_OF(n, struct batch, node));
}

void batches__close(struct machine *m)
{
    map_each(&m->batches, free_each, m);
    map_deinit(&m->batches);
    shares__close(&m->batch_shares);
    shares__close(&m->open_batch_shares);
}
