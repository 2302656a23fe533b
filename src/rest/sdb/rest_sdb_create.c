/*
 * Creation of a job of the Scheduled-DB API: from the request to the command (scheduler.md 2.3).
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/hash.h"
#include "base/limits.h"
#include "core/queue_name.h"
#include "fsm/command/push_target.h"
#include "log/log.h"
#include "rest/sdb/rest_sdb_int.h"

bool rest_sdb_create__queue(struct rest_call *c, struct str *out)
{
    ATTR_UNINITIALIZED struct err err;
    if (rest_names__internal(c, "queue", QUEUE_NAME_SCHEDULER, out, &err)) {
        return true;
    }
    rest_call__fail_err(c, &err);
    return false;
}

/* Hash of the request, which is equal if a client repeats it. It is stored, so this function must
 * never change. */
static uint64_t definition_of(const struct rest_sdb_new *n)
{
    const struct str texts[] = {n->type, n->cron, n->url, n->token, n->payload};
    const int64_t numbers[] = {n->has_at ? n->at_s : INT64_MIN, n->has_until ? n->until_s : 0};
    uint64_t hash = 1;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        hash = hash_bytes(hash + texts[i].len, texts[i].ptr, texts[i].len);
    }
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        hash = hash_bytes(hash, &numbers[i], sizeof numbers[i]);
    }
    return hash == 0 ? 1 : hash;
}

static struct str target_of(struct rest_call *c, const struct rest_sdb_new *n)
{
    struct push_target t = {.url = n->url,
                            .method = STR("POST"),
                            .auth = n->token.len > 0 ? PUSH_TARGET_BEARER : PUSH_TARGET_OPEN,
                            .secret = n->token,
                            .timeout_ms = c->rest->config.sdb.execution_timeout_ms,
                            .success_below = PUSH_TARGET_SUCCESS_BELOW};
    struct buf b;
    rest_call__room(c, &b, LIMIT_PUSH_BYTES);
    push_target_write(&t, &b);
    return rest_call__keep(c, &b);
}

/* Tags are strings. */
static void add_seconds_tag(struct json_write *w, const char *key, int64_t seconds)
{
    char text[24];
    int len = snprintf(text, sizeof text, "%" PRId64, seconds);
    rest_document__text(w, key, str_from(text, (size_t)len));
}

/* Convert to nanoseconds, limited to the range of struct wall. */
static int64_t to_ns(int64_t seconds)
{
    return seconds > REST_SDB_SECONDS_MAX    ? REST_SDB_LATEST
           : seconds < -REST_SDB_SECONDS_MAX ? -REST_SDB_LATEST
                                             : seconds * NS_PER_S;
}

/* Does the request have values that struct job cannot hold? */
static bool is_special(const struct rest_sdb_new *n)
{
    return (!n->recurring && n->cron.len > 0) || (n->has_at && n->at_s > REST_SDB_SECONDS_MAX) ||
           (n->has_until && n->until_s > REST_SDB_SECONDS_MAX);
}

static struct str tags_of(struct rest_call *c, const struct rest_sdb_new *n)
{
    struct buf b;
    if (!is_special(n)) {
        return n->recurring ? STR("{\"sched_type\":\"recurrente\"}")
                            : STR("{\"sched_type\":\"unico\"}");
    }
    buf_init(&b, LIMIT_PUSH_BYTES);
    struct json_write w = json_write_to(&b);
    json_write_object(&w);
    rest_document__text(&w, "sched_type", n->type);
    if (!n->recurring) {
        rest_document__text(&w, "cron_expression", n->cron);
    }
    if (n->has_at && n->at_s > REST_SDB_SECONDS_MAX) {
        add_seconds_tag(&w, "timestamp", n->at_s);
    }
    if (n->has_until && n->until_s > REST_SDB_SECONDS_MAX) {
        add_seconds_tag(&w, "last_date", n->until_s);
    }
    json_write_end(&w);
    json_write_finish(&w);
    return rest_call__keep(c, &b);
}

void rest_sdb_create__full(struct rest_call *c, bool bytes, uint64_t current)
{
    const struct rest_sdb_config *sdb = &c->rest->config.sdb;
    (void)atomic_fetch_add(&c->rest->sdb.refused[bytes ? 0 : 1], 1);
    log_warn("capacity exhausted", LOG_Z("type", bytes ? "memory" : "job_count"),
             LOG_U64("current", current),
             LOG_U64("limit", bytes ? sdb->memory_limit : sdb->job_limit));
}

void rest_sdb_create__full_text(const struct rest_call *c, bool bytes, uint64_t current,
                                uint64_t size, char out[static REST_SDB_TEXT_BYTES])
{
    const struct rest_sdb_config *sdb = &c->rest->config.sdb;
    if (bytes) {
        (void)snprintf(out, REST_SDB_TEXT_BYTES,
                       "insufficient memory: current=%" PRIu64 " bytes, limit=%" PRIu64
                       " bytes, requested=%" PRIu64 " bytes",
                       current, sdb->memory_limit, size);
    } else {
        (void)snprintf(out, REST_SDB_TEXT_BYTES,
                       "maximum jobs reached: current=%" PRIu64 ", limit=%" PRIu64, current,
                       sdb->job_limit);
    }
}

/* The state machine assigns a name, unless a member of the cluster cannot read such commands. */
static struct str name_of_new(struct rest_call *c, struct rest_sdb_creation *made)
{
    if (engine_cluster_reads(c->rest->config.engine) >= COMMAND_ENTRY_PUT_NAMED) {
        return STR_EMPTY;
    }
    rest_sdb_id__new(made->name);
    return str_from(made->name, sizeof made->name);
}

void rest_sdb_create__command(struct rest_call *c, struct str queue, struct wall now,
                              struct rest_sdb_creation *made, struct command *out)
{
    const struct rest_sdb_config *sdb = &c->rest->config.sdb;
    struct rest_sdb_new *n = &made->asked;
    struct job *j = &made->room.job;
    j->definition = definition_of(n);
    made->size = rest_sdb_read__size(n);
    j->name = n->id.len > 0 ? n->id : name_of_new(c, made);
    j->counted_bytes = (uint32_t)made->size;
    j->payload = n->payload.len > 0 ? n->payload : STR("null");
    j->push = target_of(c, n);
    /* the payload and the parts of the target were checked when they were read */
    made->room.payload_is_json = made->room.push_is_target = true;
    j->tags = tags_of(c, n);
    j->cron = n->recurring ? n->cron : STR_EMPTY;
    j->cron_until.ns = !n->has_until ? 0 : n->until_s == 0 ? 1 : to_ns(n->until_s); /* 0: none */
    j->scheduled_at.ns = n->has_at ? to_ns(n->at_s) : now.ns;
    j->scheduled_at.ns = j->scheduled_at.ns > 0 ? j->scheduled_at.ns : 1;
    j->priority = JOB_PRIORITY_NORMAL;
    j->backoff = sdb->backoff;
    j->max_retries = (uint32_t)sdb->max_attempts;
    j->retry_base_ms = sdb->retry_base_ms;
    j->retry_max_ms = sdb->retry_max_ms;
    j->queue = queue;
    command_init(out, COMMAND_NAMED_PUT);
    out->named_put = (struct command_named_put){
        .job = &made->room, .bytes_max = sdb->memory_limit, .count_max = sdb->job_limit};
}
