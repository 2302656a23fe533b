#include "integration/crash/crash_dump.h"

#include <inttypes.h>

#include "base/check.h"
#include "base/id.h"
#include "store/store_docs.h"
#include "store/store_job.h"
#include "store/store_record.h"

void crash_dump_id(struct buf *out, struct str prefix, struct id id)
{
    char text[ID_TEXT_MAX];
    if (id_is_none(id)) {
        buf_add_char(out, '-');
    } else {
        buf_add(out, text, id_format(id, prefix, text));
    }
}

static void add_field(struct buf *out, struct str s)
{
    buf_add_char(out, ' ');
    buf_add_str(out, s.len == 0 ? STR("-") : s);
}

static struct id id_of(struct str key)
{
    struct id id;
    CHECK(key.len == ID_BYTES);
    memcpy(id.b, key.ptr, ID_BYTES);
    return id;
}

/* A text that makes a document so long that it is stored in two parts (store_body.h). */
static const char long_tags[] = "{\"t\":\""
#define TEN(x) x x x x x x x x x x
    TEN(TEN("012345")) "\",\"u\":\"" TEN(TEN("6789ab")) "\"}";
#undef TEN

struct str crash_dump_tags(struct str payload)
{
    bool ours = payload.len >= 2 && payload.ptr[0] == '"';
    bool is_long = ours && (payload.ptr[payload.len - 2] - '0') % 3 == 0;
    return is_long ? str_from_z(long_tags) : STR_EMPTY;
}

static void dump_job(struct buf *out, struct id id, struct str doc)
{
    struct job j;
    struct err err;
    if (store_job_decode(id, doc, &j, &err) != ERR_OK) {
        check_fatal("%s", err.msg);
    }
    CHECK(str_eq(j.tags, crash_dump_tags(j.payload)));
    buf_add_str(out, STR("J "));
    crash_dump_id(out, ID_JOB, id);
    add_field(out, j.queue);
    buf_printf(out, " %s %u %" PRIu64, job_state_name(j.state), j.attempt, j.lease_token);
    add_field(out, j.unique_key);
    buf_add_char(out, ' ');
    crash_dump_id(out, ID_BATCH, j.batch_id);
    buf_printf(out, " %d %u", j.batch_counted ? 1 : 0, j.error_count);
    add_field(out, j.progress);
    buf_printf(out, " %" PRId64 " %" PRId64 " %" PRId64, j.lease_expires_at.ns, j.scheduled_at.ns,
               j.started_at.ns);
    add_field(out, j.payload);
    buf_add_char(out, '\n');
}

static void dump_jobs(struct store *s, enum store_family family, struct buf *out)
{
    struct kv_iter *it = kv_iter_new(s->kv, NULL, family, STR_EMPTY);
    for (; kv_iter_valid(it); kv_iter_next(it)) {
        struct id id = id_of(kv_iter_key(it));
        struct buf doc;
        buf_init(&doc, SIZE_MAX);
        bool found = store_docs_read(s, id, &doc); /* including a body that is stored separately */
        CHECK(found);
        dump_job(out, id, buf_str(&doc));
        buf_deinit(&doc);
    }
    store_end_walk(it);
}

static void dump_batch(void *data, struct str rest, struct str value)
{
    struct buf *out = data;
    struct store_batch rec;
    bool decoded = store_record_decode_batch(value, &rec);
    CHECK(decoded);
    buf_add_str(out, STR("B "));
    crash_dump_id(out, ID_BATCH, id_of(rest));
    buf_printf(out, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %d\n", rec.total, rec.pending,
               rec.succeeded, rec.failed, rec.finished_at.ns != 0 ? 1 : 0);
}

/* The key of a lock is the queue's name, NUL, and the unique key. */
static void dump_lock(void *data, struct str rest, struct str value)
{
    struct buf *out = data;
    struct store_lock rec;
    const char *nul = memchr(rest.ptr, '\0', rest.len);
    bool decoded = store_record_decode_lock(value, &rec);
    CHECK(decoded);
    CHECK(nul != NULL);
    size_t len = (size_t)(nul - rest.ptr);
    buf_add_char(out, 'L');
    add_field(out, str_from(rest.ptr, len));
    add_field(out, str_from_offset(rest, len + 1));
    buf_add_char(out, ' ');
    crash_dump_id(out, ID_JOB, rec.job);
    buf_add_char(out, '\n');
}

static void dump_queue(void *data, const struct machine_queue *q)
{
    struct buf *out = data;
    buf_add_char(out, 'Q');
    add_field(out, q->name);
    for (unsigned s = 0; s < JOB_STATE_COUNT; s++) {
        buf_printf(out, " %" PRIu64, q->count[s]);
    }
    buf_add_char(out, '\n');
}

void crash_dump(struct machine *m, struct buf *out)
{
    struct store *s = machine_store(m);
    buf_printf(out, "H %" PRIu64 " %016" PRIx64 " %016" PRIx64 " %" PRId64 "\n",
               machine_applied_index(m), machine_state_hash(m), machine_digest(m),
               machine_now(m).ns);
    dump_jobs(s, STORE_LIVE, out);
    dump_jobs(s, STORE_DONE, out);
    store_each(s, STORE_KIND_BATCH, dump_batch, out);
    store_each(s, STORE_KIND_LOCK, dump_lock, out);
    machine_each_queue(m, dump_queue, out);
    buf_add_str(out, STR("E\n"));
    CHECK(!out->overflow);
}
