#include "cli/top/cli_top_read.h"

#include <stdlib.h>

#include "base/check.h"
#include "core/timestamp.h"
#include "json/json_scan.h"

#define COPY(cli, out, object, path)                                                               \
    cli_top_model_text((out), sizeof(out), cli_member_text((cli), (object), (path)))

static struct wall time_of(struct cli *cli, struct str object, const char *path)
{
    struct wall at = WALL_NONE;
    struct err err;
    struct str text = cli_member_text(cli, object, path);
    return timestamp_parse(text, &at, &err) == ERR_OK ? at : WALL_NONE;
}

static void read_queue(struct cli *cli, struct str json, struct cli_top_queue *q)
{
    static const char *const members[CLI_TOP_STATE_COUNT] = {
        [CLI_TOP_PENDING] = "pending",     [CLI_TOP_ACTIVE] = "active",
        [CLI_TOP_RETRYING] = "retrying",   [CLI_TOP_SCHEDULED] = "scheduled",
        [CLI_TOP_HELD] = "held",           [CLI_TOP_DEAD] = "dead",
        [CLI_TOP_COMPLETED] = "completed",
    };
    COPY(cli, q->name, json, "name");
    q->paused = cli_member_true(json, "paused");
    q->stored = cli_member_int(json, "enqueued");
    q->failed = cli_member_int(json, "failed");
    q->oldest = time_of(cli, json, "oldest_pending_at");
    for (int s = 0; s < CLI_TOP_STATE_COUNT; s++) {
        q->counts[s] = cli_member_int(json, members[s]);
    }
}

/* Read a list of queues, an array or a string that contains one, as "a, b". */
static void read_list(struct cli *cli, struct str json, char *out, size_t size)
{
    struct json_scan s = json_scan_from(cli_member_text(cli, json, "queues"));
    struct json_value item;
    struct buf b;
    buf_init(&b, CLI_LINE_BYTES);
    if (json_scan_peek(&s) == JSON_TYPE_ARRAY && json_scan_enter_array(&s)) {
        while (json_scan_next_element(&s) && json_scan_value(&s, &item)) {
            buf_add_str(&b, b.len > 0 ? STR(", ") : STR_EMPTY);
            buf_add_str(&b, cli_decode(cli, item));
        }
    }
    cli_top_model_text(out, size, buf_str(&b));
    buf_deinit(&b);
}

static void read_worker(struct cli *cli, struct str json, struct cli_top_worker *w)
{
    COPY(cli, w->id, json, "id");
    COPY(cli, w->host, json, "hostname");
    bool counted = cli_member(json, "active_jobs").type == JSON_TYPE_NUMBER;
    w->active = counted ? cli_member_int(json, "active_jobs") : -1;
    w->heartbeat = time_of(cli, json, "last_heartbeat");
    read_list(cli, json, w->queues, sizeof w->queues);
}

static void read_cluster(struct cli *cli, struct str json, struct cli_top_cluster *c)
{
    struct str *nodes = NULL;
    COPY(cli, c->mode, json, "mode");
    COPY(cli, c->status, json, "status");
    COPY(cli, c->state, json, "state");
    COPY(cli, c->node, json, "node_id");
    COPY(cli, c->leader, json, "leader_id");
    COPY(cli, c->wait_p50, json, "queue_time_hist.p50");
    COPY(cli, c->wait_p99, json, "queue_time_hist.p99");
    COPY(cli, c->apply_p50, json, "apply_time_hist.p50");
    COPY(cli, c->apply_p99, json, "apply_time_hist.p99");
    c->nodes = cli_elements(cli, cli_member(json, "nodes").text, &nodes);
    c->pending = cli_member_int(json, "apply_pending_now");
    c->pending_max = cli_member_int(json, "apply_max_pending");
    c->applied = cli_member_int(json, "applied_total");
    c->overload = cli_member_int(json, "overload_total");
    c->flushes = cli_member_int(json, "pipeline_stats.log_flushes_total");
    c->waiting = cli_member_int(json, "admission_stats.fetches_waiting");
}

static void read_minutes(struct cli *cli, struct str json, struct cli_top_sample *out)
{
    struct str *minutes = NULL;
    size_t count = cli_elements(cli, json, &minutes);
    size_t skip = count > CLI_TOP_MINUTES ? count - CLI_TOP_MINUTES : 0;
    out->minute_count = count - skip;
    for (size_t i = 0; i < out->minute_count; i++) {
        struct str minute = minutes[skip + i];
        out->minutes[i] = (struct cli_top_minute){
            .at = time_of(cli, minute, "minute"),
            .counts = {[CLI_TOP_ENQUEUED] = cli_member_int(minute, "enqueued"),
                       [CLI_TOP_DONE] = cli_member_int(minute, "completed"),
                       [CLI_TOP_FAILED] = cli_member_int(minute, "failed")}};
    }
}

void cli_top_read_sample(struct cli *cli, const struct str documents[CLI_TOP_DOC_COUNT],
                         struct cli_top_sample *out)
{
    struct str *rows = NULL;
    *out = (struct cli_top_sample){.queues = NULL};
    out->queue_count = cli_elements(cli, documents[CLI_TOP_DOC_QUEUES], &rows);
    out->queues = calloc(out->queue_count + 1, sizeof *out->queues);
    CHECK(out->queues != NULL);
    for (size_t i = 0; i < out->queue_count; i++) {
        read_queue(cli, rows[i], &out->queues[i]);
    }
    out->worker_count = cli_elements(cli, documents[CLI_TOP_DOC_WORKERS], &rows);
    out->workers = calloc(out->worker_count + 1, sizeof *out->workers);
    CHECK(out->workers != NULL);
    for (size_t i = 0; i < out->worker_count; i++) {
        read_worker(cli, rows[i], &out->workers[i]);
    }
    read_cluster(cli, documents[CLI_TOP_DOC_CLUSTER], &out->cluster);
    read_minutes(cli, documents[CLI_TOP_DOC_THROUGHPUT], out);
}

bool cli_top_read_event(struct cli *cli, struct str event, struct cli_top_failure *out)
{
    struct str type = cli_member_text(cli, event, "type");
    bool dead = str_eq(type, STR("dead"));
    if (!dead && !str_eq(type, STR("failed"))) {
        return false;
    }
    *out = (struct cli_top_failure){.seq = cli_member_int(event, "seq"),
                                    .at = {cli_member_int(event, "at_ns")},
                                    .attempt = cli_member_int(event, "data.attempt"),
                                    .dead = dead};
    COPY(cli, out->job, event, "job_id");
    COPY(cli, out->queue, event, "queue");
    COPY(cli, out->error, event, "data.error");
    return true;
}

void cli_top_read_dead(struct cli *cli, struct str job, struct cli_top_failure *out)
{
    *out = (struct cli_top_failure){.at = time_of(cli, job, "failed_at"),
                                    .attempt = cli_member_int(job, "attempt"),
                                    .dead = true};
    COPY(cli, out->job, job, "id");
    COPY(cli, out->queue, job, "queue");
    COPY(cli, out->error, job, "last_error");
}
