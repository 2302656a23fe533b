#include "event/event_json.h"

#include <inttypes.h>

#include "base/limits.h"
#include "core/queue_name.h"
#include "core/timestamp.h"
#include "json/json_compact.h"

/* A line of data must fit readers with a limit of LIMIT_EVENT_DATA_BYTES. The longest texts are
 * progress, which is written unchanged, and reasons, which may grow sixfold as JSON; queue, ids
 * and numbers are much shorter. */
enum { ESCAPED_BYTES_MAX = 6, OTHER_BYTES_MAX = 8 * 1024 };
_Static_assert(LIMIT_PROGRESS_BYTES + OTHER_BYTES_MAX < LIMIT_EVENT_DATA_BYTES, "progress fits");
_Static_assert(ESCAPED_BYTES_MAX *LIMIT_REASON_BYTES + OTHER_BYTES_MAX < LIMIT_EVENT_DATA_BYTES,
               "reasons fit");

static void add_text(struct json_write *w, const char *key, struct str text)
{
    json_write_key(w, str_from_z(key));
    json_write_str(w, text);
}

static void add_u64(struct json_write *w, const char *key, uint64_t v)
{
    json_write_key(w, str_from_z(key));
    json_write_u64(w, v);
}

static void add_time(struct json_write *w, const char *key, struct wall at)
{
    char text[TIMESTAMP_TEXT_MAX];
    add_text(w, key, str_from(text, timestamp_format(at, text)));
}

static void add_type(struct json_write *w, const struct store_event *e,
                     enum event_json_dialect dialect)
{
    char word[64] = "job.";
    struct str type = str_from_z(store_event_word(e->type));
    bool of_job = memchr(type.ptr, '.', type.len) == NULL;
    if (dialect == EVENT_JSON_MESSAGE && of_job) {
        memcpy(word + 4, type.ptr, type.len);
        type = str_from(word, type.len + 4);
    }
    add_text(w, "type", type);
}

/* Progress is JSON of the client, which may span several lines; a frame must not. */
static void add_progress(struct json_write *w, struct str json)
{
    struct buf line;
    buf_init(&line, json.len);
    json_compact_add(&line, json);
    json_write_raw(w, buf_str(&line));
    buf_deinit(&line);
}

static void add_failure(struct json_write *w, const struct store_event *e)
{
    json_write_object(w);
    add_u64(w, "attempt", e->attempt);
    add_text(w, "error", e->text);
    add_u64(w, "attempts_remaining", e->remaining);
    if (e->next_attempt_at.ns != 0) {
        add_time(w, "next_attempt_at", e->next_attempt_at);
    }
    json_write_end(w);
}

static void add_data(struct json_write *w, const struct store_event *e, struct str ns)
{
    switch ((int)e->type) {
    case STORE_EVENT_STARTED:
        json_write_object(w);
        add_text(w, "worker_id", e->text);
        add_u64(w, "attempt", e->attempt);
        json_write_end(w);
        return;
    case STORE_EVENT_FAILED:
        add_failure(w, e);
        return;
    case STORE_EVENT_HELD:
    case STORE_EVENT_BUDGET_EXCEEDED:
        json_write_object(w);
        add_text(w, "reason", e->text);
        json_write_end(w);
        return;
    case STORE_EVENT_MOVED:
        json_write_object(w);
        add_text(w, "from", queue_name_visible(ns, e->text));
        add_text(w, "to", queue_name_visible(ns, e->text2));
        json_write_end(w);
        return;
    case STORE_EVENT_PROGRESS:
    default:
        add_progress(w, e->text);
        return;
    }
}

static bool has_data(const struct store_event *e)
{
    switch ((int)e->type) {
    case STORE_EVENT_STARTED:
    case STORE_EVENT_FAILED:
    case STORE_EVENT_MOVED:
        return true;
    case STORE_EVENT_HELD:
    case STORE_EVENT_BUDGET_EXCEEDED:
    case STORE_EVENT_PROGRESS:
        return e->text.len > 0;
    default:
        return false;
    }
}

void event_json_write(struct json_write *w, const struct store_event *e, struct str ns,
                      enum event_json_dialect dialect)
{
    char job[ID_TEXT_MAX];
    json_write_object(w);
    add_u64(w, "seq", e->seq);
    add_type(w, e, dialect);
    if (!id_is_none(e->job)) {
        add_text(w, "job_id", str_from(job, id_format(e->job, ID_JOB, job)));
    }
    if (e->queue.len > 0) {
        add_text(w, "queue", queue_name_visible(ns, e->queue));
    }
    add_u64(w, "at_ns", (uint64_t)e->at.ns);
    if (has_data(e)) {
        json_write_key(w, STR("data"));
        add_data(w, e, ns);
    }
    add_u64(w, "id", e->seq);
    add_time(w, "created_at", e->at);
    json_write_end(w);
}

void event_json_data(struct buf *out, const struct store_event *e, struct str ns)
{
    if (has_data(e)) {
        struct json_write w = json_write_to(out);
        add_data(&w, e, ns);
        json_write_finish(&w);
    }
}

void event_json_frame(struct buf *out, const struct store_event *e, struct str ns,
                      enum event_json_dialect dialect)
{
    buf_printf(out, "id: %" PRIu64 "\n", e->seq);
    if (dialect == EVENT_JSON_NAMED) {
        buf_printf(out, "event: %s\n", store_event_word(e->type));
    }
    buf_add_str(out, STR("data: "));
    struct json_write w = json_write_to(out);
    event_json_write(&w, e, ns, dialect);
    json_write_finish(&w);
    buf_add_str(out, STR("\n\n"));
}
