#include "svc/svc_batch.h"

#include "engine/engine_cluster.h"
#include "svc/svc_names.h"

struct store_owner svc_batch_owner(const struct svc_caller *who, struct str callback_queue)
{
    if (callback_queue.len > 0 || engine_cluster_reads(who->engine) < COMMAND_ENTRY_STRICT_NAMED) {
        return (struct store_owner){0};
    }
    return (struct store_owner){.known = true, .ns = who->ns, .scope = who->scope};
}

/* Same rule as for webhooks, which have no queue either: a caller with a scope sees only batches
 * that were created with the same scope. A batch from before owners were recorded is visible to
 * every caller that knows its id. */
bool svc_batch_is_of(const struct svc_caller *who, const struct store_owner *owner)
{
    bool same = str_eq(who->ns, owner->ns);
    if (!owner->known) {
        return true;
    }
    return who->scope.len == 0 ? same || who->ns.len == 0
                               : same && str_eq(who->scope, owner->scope);
}

enum err_code svc_batch_open(const struct svc_caller *who, const struct svc_batch *batch,
                             struct command *out, struct err *err)
{
    *out = (struct command){.type = COMMAND_BATCH_OPEN};
    out->batch_open.callback_payload = batch->callback_payload;
    out->batch_open.owner = svc_batch_owner(who, batch->callback_queue);
    return svc_names_target(who, "callback_queue", batch->callback_queue,
                            &out->batch_open.callback_queue, err);
}

/* The callback queue determines who may see a batch; without one, its owner does. */
static bool is_visible(const struct svc_caller *who, const struct store_batch *b)
{
    return b->callback_queue.len > 0 ? svc_names_is_visible(who, b->callback_queue)
                                     : svc_batch_is_of(who, &b->owner);
}

static bool read_batch(const struct svc_caller *who, struct id id, struct buf *bytes,
                       struct store_batch *out)
{
    return store_get(engine_store(who->engine), STORE_KIND_BATCH, str_from(id.b, ID_BYTES),
                     bytes) &&
           store_record_decode_batch(buf_str(bytes), out);
}

enum err_code svc_batch_read(const struct svc_caller *who, struct str text, struct buf *bytes,
                             struct id *out_id, struct store_batch *out, struct err *err)
{
    if (!id_parse(text, ID_BATCH, out_id) || !read_batch(who, *out_id, bytes, out) ||
        !is_visible(who, out)) {
        return err_set(err, ERR_NOT_FOUND, "batch \"" STR_FMT "\" not found", STR_ARG(text));
    }
    out->callback_queue = svc_names_visible(who, out->callback_queue);
    return ERR_OK;
}

bool svc_batch_is_foreign(const struct svc_caller *who, struct id id)
{
    struct store_batch batch;
    struct buf bytes;
    buf_init(&bytes, SIZE_MAX);
    bool foreign = read_batch(who, id, &bytes, &batch) && !is_visible(who, &batch);
    buf_deinit(&bytes);
    return foreign;
}

enum err_code svc_batch_find(const struct svc_caller *who, struct str text, struct id *out,
                             struct err *err)
{
    struct store_batch batch;
    struct buf bytes;
    buf_init(&bytes, SIZE_MAX);
    enum err_code code = svc_batch_read(who, text, &bytes, out, &batch, err);
    buf_deinit(&bytes);
    return code;
}

enum err_code svc_batch_seal(const struct svc_caller *who, struct str text, struct command *out,
                             struct err *err)
{
    *out = (struct command){.type = COMMAND_BATCH_SEAL};
    return svc_batch_find(who, text, &out->batch_seal.id, err);
}
