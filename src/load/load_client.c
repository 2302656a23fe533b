/*
 * The behavior of producers and worker streams, independent of the protocol.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/digits.h"
#include "load/load_int.h"

enum {
    PAUSE_MS_MAX = 64,
    ERROR_PAUSE_MS = 2,
    POLL_MS = 1,      /* for a client that may not begin yet */
    START_SHARE = 10, /* workers begin when this fraction of the jobs is enqueued */
    LEASE_S_MIN = 10,
    FETCH_WAIT_S = 1, /* maximum time that the server holds an empty fetch */
};

static const char zeros[] = "0000000000000000";
_Static_assert(sizeof zeros - 1 == LOAD_TIME_DIGITS, "as many zeros as digits");

/* Request bodies */

void load_queue_name(const struct load_plan *plan, unsigned worker, char out[LOAD_TEXT_BYTES])
{
    if (plan->worker_queues && plan->workers > 1) {
        (void)snprintf(out, LOAD_TEXT_BYTES, "%s.w%u", plan->queue, worker);
    } else {
        (void)snprintf(out, LOAD_TEXT_BYTES, "%s", plan->queue);
    }
}

/* Make a payload, with zeros in place of the time. */
static size_t make_payload(const struct load_plan *plan, struct buf *b)
{
    static const char tail[] = "\"}";
    size_t begin = b->len;
    buf_printf(b, "{\"t\":\"");
    size_t time_at = b->len;
    buf_printf(b, "%s\",\"fill\":\"", zeros);
    while (b->len - begin + sizeof tail - 1 < plan->payload_bytes) {
        buf_add_char(b, 'x');
    }
    buf_printf(b, "%s", tail);
    CHECK(!b->overflow);
    return time_at;
}

static void make_job(const struct load_plan *plan, const char *queue, struct load_text *text)
{
    struct buf b;
    buf_init(&b, SIZE_MAX / 2);
    buf_printf(&b, "{\"queue\":\"%s\",\"payload\":", queue);
    text->time_at = make_payload(plan, &b);
    buf_printf(&b, "}");
    CHECK(!b.overflow);
    text->job_len = b.len;
    text->job = buf_take(&b);
}

/* If a connection breaks, the jobs of its unanswered fetch must return to the queue before the
 * run counts as stalled. But the lease must be long enough for the work on all jobs of a fetch. */
static int64_t lease_s(const struct load_plan *plan)
{
    int64_t s = LEASE_S_MIN + 2 * plan->work_ns * plan->fetch_batch / NS_PER_S;
    return s > LIMIT_LEASE_S_MAX ? LIMIT_LEASE_S_MAX : s;
}

static void put_wanted(struct buf *b, const struct load_plan *plan, const char *queue,
                       unsigned worker)
{
    buf_printf(b,
               "{\"queues\":[\"%s\"],\"worker_id\":\"bench-w%u\",\"hostname\":\"bench\","
               "\"lease_duration\":%lld",
               queue, worker, (long long)lease_s(plan));
}

static void make_fetch(const struct load_plan *plan, const char *queue, unsigned worker,
                       struct load_text *text)
{
    struct buf b;
    buf_init(&b, SIZE_MAX / 2);
    put_wanted(&b, plan, queue, worker);
    buf_printf(&b, ",\"timeout\":%d", FETCH_WAIT_S);
    if (plan->fetch_batch > 1) {
        buf_printf(&b, ",\"count\":%u", plan->fetch_batch);
    }
    buf_add_char(&b, '}');
    CHECK(!b.overflow);
    text->fetch_len = b.len;
    text->fetch = buf_take(&b);
}

static void make_ack_text(const struct load_plan *plan, const char *queue, unsigned worker,
                          struct load_text *text)
{
    struct buf b;
    if (plan->separate_fetch || plan->fetch_batch > 1 || plan->ack_batch > 1) {
        return;
    }
    buf_init(&b, SIZE_MAX / 2);
    buf_printf(&b, "{\"next\":");
    put_wanted(&b, plan, queue, worker);
    buf_printf(&b, "}}");
    CHECK(!b.overflow);
    text->ack_len = b.len;
    text->ack = buf_take(&b);
}

void load_client__texts_init(struct load_run *run)
{
    const struct load_plan *plan = run->plan;
    run->texts = calloc(plan->workers, sizeof *run->texts);
    CHECK(run->texts != NULL);
    for (unsigned i = 0; i < plan->workers; i++) {
        char queue[LOAD_TEXT_BYTES];
        load_queue_name(plan, i, queue);
        if (plan->protocol == LOAD_HTTP) {
            make_job(plan, queue, &run->texts[i]);
            make_fetch(plan, queue, i, &run->texts[i]);
            make_ack_text(plan, queue, i, &run->texts[i]);
            continue;
        }
        struct buf payload;
        buf_init(&payload, SIZE_MAX / 2);
        size_t time_at = make_payload(plan, &payload);
        if (plan->protocol == LOAD_BINARY) {
            load_binary__make_texts(queue, buf_str(&payload), time_at, i, lease_s(plan),
                                    &run->texts[i]);
        } else {
            load_rpc__make_job(queue, buf_str(&payload), time_at, &run->texts[i]);
            load_rpc__make_fetch(plan, queue, i, lease_s(plan), &run->texts[i]);
        }
        buf_deinit(&payload);
    }
}

void load_client__texts_deinit(struct load_run *run)
{
    for (unsigned i = 0; i < run->plan->workers; i++) {
        free(run->texts[i].job);
        free(run->texts[i].fetch);
        free(run->texts[i].ack);
    }
    free(run->texts);
}

void load_client__init(struct load_client *client, struct load_thread *t, bool is_producer,
                       unsigned worker)
{
    *client = (struct load_client){.thread = t, .is_producer = is_producer, .worker = worker};
    buf_init(&client->body, SIZE_MAX / 2);
    buf_init(&client->answer, LOAD_ANSWER_BYTES);
    if (!is_producer) {
        client->held = calloc(t->run->plan->fetch_batch, sizeof *client->held);
        CHECK(client->held != NULL);
    }
}

void load_client__deinit(struct load_client *client)
{
    buf_deinit(&client->body);
    buf_deinit(&client->answer);
    free(client->held);
}

/* Next step of a client */

static void wait_until(struct load_client *client, int64_t wake_ns)
{
    client->state = CLIENT_WAITING;
    client->wake_ns = wake_ns;
    client->thread->waiting++;
}

static void send_request(struct load_client *client)
{
    client->state = CLIENT_SENT;
    client->status = 0;
    client->server_ns = -1;
    client->body_sent = 0;
    buf_clear(&client->answer);
    client->thread->wire->request(client->conn, client);
}

static void set_path(struct load_client *client, struct str path)
{
    CHECK(path.len < sizeof client->path);
    memcpy(client->path, path.ptr, path.len);
    client->path[path.len] = '\0';
}

#define API_PATH(path)   STR("/api/v1" path)
#define RPC_PATH(method) STR("/corvo.v1.WorkerService/" method)

static enum load_protocol protocol_of(const struct load_client *client)
{
    return client->thread->run->plan->protocol;
}

/* Set the number of jobs that the producer enqueues next, 0 if none are left, and the earliest
 * time. */
static void take_jobs(struct load_client *client)
{
    struct load_run *run = client->thread->run;
    const struct load_plan *plan = run->plan;
    uint64_t from = atomic_fetch_add(&run->taken, plan->enqueue_batch);
    uint64_t end = plan->duration_ns > 0 ? UINT64_MAX : plan->jobs;
    uint64_t left = from < end ? end - from : 0;
    client->jobs = left < plan->enqueue_batch ? left : plan->enqueue_batch;
    client->due_ns =
        run->start_ns + (plan->rate == 0 ? 0 : (int64_t)(from * NS_PER_S / plan->rate));
}

static void add_job(struct buf *b, const struct load_text *text, const char *time)
{
    char *room = buf_reserve(b, text->job_len);
    CHECK(room != NULL);
    memcpy(room, text->job, text->job_len);
    memcpy(room + text->time_at, time, LOAD_TIME_DIGITS);
    b->len += text->job_len;
}

static void make_enqueue(struct load_client *client, int64_t now_ns)
{
    const struct load_run *run = client->thread->run;
    const struct load_text *text = &run->texts[client->worker % run->plan->workers];
    char hex[DIGITS_MAX];
    char time[LOAD_TIME_DIGITS];
    size_t len = (size_t)(digits_put_hex(hex, (uint64_t)now_ns) - hex);
    CHECK(len <= LOAD_TIME_DIGITS);
    memcpy(time, zeros, LOAD_TIME_DIGITS);
    memcpy(time + LOAD_TIME_DIGITS - len, hex, len);
    if (run->plan->protocol == LOAD_BINARY) {
        load_binary__put_enqueues(client, text, str_from(time, LOAD_TIME_DIGITS));
        return;
    }
    if (run->plan->protocol != LOAD_HTTP) {
        set_path(client, run->plan->protocol == LOAD_RPC ? RPC_PATH("Enqueue")
                                                         : RPC_PATH("StreamLifecycle"));
        load_rpc__put_enqueues(client, text, str_from(time, LOAD_TIME_DIGITS));
        return;
    }
    buf_clear(&client->body);
    if (run->plan->enqueue_batch == 1) {
        set_path(client, API_PATH("/enqueue"));
        add_job(&client->body, text, time);
        return;
    }
    set_path(client, API_PATH("/enqueue/batch"));
    buf_add_str(&client->body, STR("{\"jobs\":["));
    for (uint64_t i = 0; i < client->jobs; i++) {
        buf_add_str(&client->body, i == 0 ? STR_EMPTY : STR(","));
        add_job(&client->body, text, time);
    }
    buf_add_str(&client->body, STR("]}"));
}

static void step_producer(struct load_client *client, int64_t now_ns)
{
    struct load_run *run = client->thread->run;
    const struct load_plan *plan = run->plan;
    const int64_t end_ns = plan->duration_ns > 0 ? run->start_ns + plan->duration_ns : INT64_MAX;
    /* Load in this order: jobs that are settled were enqueued before. */
    uint64_t settled = atomic_load(&run->acked) + atomic_load(&run->dropped);
    if (plan->duration_ns > 0 && now_ns < end_ns &&
        atomic_load(&run->enqueued) - settled >= plan->jobs) {
        wait_until(client, now_ns + POLL_MS * NS_PER_MS);
        return;
    }
    if (client->jobs == 0) {
        take_jobs(client);
    }
    if (client->jobs > 0 && now_ns < client->due_ns && now_ns < end_ns) {
        wait_until(client, client->due_ns < end_ns ? client->due_ns : end_ns);
        return;
    }
    if (client->jobs == 0 || now_ns >= end_ns) {
        client->state = CLIENT_DONE;
        client->thread->clients_left--;
        (void)atomic_fetch_sub(&run->producers_left, 1);
        load_run__check_over(run);
        return;
    }
    client->began_ns = now_ns;
    make_enqueue(client, now_ns);
    /* Choose the queue of the next worker. */
    client->worker++;
    send_request(client);
}

static void make_ack(struct load_client *client)
{
    unsigned batch = client->thread->run->plan->ack_batch;
    size_t left = client->held_count - client->next;
    const struct load_job *jobs = &client->held[client->next];
    client->in_ack = left < batch ? left : batch;
    client->confirmed = 0;
    client->misses = 0;
    if (protocol_of(client) == LOAD_RPC) {
        set_path(client, batch == 1 ? RPC_PATH("Ack") : RPC_PATH("AckBatch"));
        load_rpc__put_acks(client);
        return;
    }
    buf_clear(&client->body);
    if (batch == 1) {
        (void)snprintf(client->path, sizeof client->path, "/api/v1/ack/%.*s", (int)jobs->id_len,
                       jobs->id);
        const struct load_text *text = &client->thread->run->texts[client->worker];
        buf_add_str(&client->body,
                    text->ack == NULL ? STR("{}") : str_from(text->ack, text->ack_len));
        return;
    }
    set_path(client, API_PATH("/ack/batch"));
    buf_add_str(&client->body, STR("{\"acks\":["));
    for (size_t i = 0; i < client->in_ack; i++) {
        buf_add_str(&client->body, i == 0 ? STR("{\"job_id\":\"") : STR(",{\"job_id\":\""));
        buf_add(&client->body, jobs[i].id, jobs[i].id_len);
        buf_add_str(&client->body, STR("\"}"));
    }
    buf_add_str(&client->body, STR("]}"));
}

static bool is_streaming(const struct load_client *client)
{
    return protocol_of(client) == LOAD_STREAM || protocol_of(client) == LOAD_BINARY;
}

/* The frame that fetches the next jobs also acknowledges those that the client holds. */
static void step_streaming_worker(struct load_client *client, int64_t now_ns)
{
    client->in_ack = client->held_count - client->next;
    client->confirmed = client->misses = 0;
    client->sent_ns = now_ns;
    if (protocol_of(client) == LOAD_BINARY) {
        load_binary__put_acks(client);
    } else {
        set_path(client, RPC_PATH("StreamLifecycle"));
        load_rpc__put_frame(client, &client->thread->run->texts[client->worker]);
    }
    send_request(client);
}

static void step_worker(struct load_client *client, int64_t now_ns)
{
    struct load_run *run = client->thread->run;
    if (is_streaming(client) && client->held_count > 0) {
        step_streaming_worker(client, now_ns);
        return;
    }
    if (client->next < client->held_count) {
        make_ack(client);
        client->sent_ns = now_ns;
        send_request(client);
        return;
    }
    if (run->phase == LOAD_COMBINED && run->plan->duration_ns == 0 &&
        atomic_load(&run->enqueued) * START_SHARE < run->plan->jobs) {
        wait_until(client, now_ns + POLL_MS * NS_PER_MS);
        return;
    }
    if (is_streaming(client)) {
        step_streaming_worker(client, now_ns);
        return;
    }
    const struct load_text *text = &run->texts[client->worker];
    bool many = run->plan->fetch_batch > 1;
    if (protocol_of(client) == LOAD_RPC) {
        set_path(client, many ? RPC_PATH("FetchBatch") : RPC_PATH("Fetch"));
        load_rpc__put_fetch(client, text);
    } else {
        set_path(client, many ? API_PATH("/fetch/batch") : API_PATH("/fetch"));
        buf_clear(&client->body);
        buf_add(&client->body, text->fetch, text->fetch_len);
    }
    client->held_count = 0;
    client->next = 0;
    client->began_ns = now_ns;
    send_request(client);
}

void load_client__step(struct load_client *client, int64_t now_ns)
{
    CHECK(client->state == CLIENT_READY);
    if (client->again) {
        client->again = false;
        send_request(client);
    } else if (client->is_producer) {
        step_producer(client, now_ns);
    } else {
        step_worker(client, now_ns);
    }
}

/* Handling responses */

/* Can s be used in a path without escaping? */
static bool is_id(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
              c == '_' || c == '-')) {
            return false;
        }
    }
    return s.len > 0 && s.len <= LOAD_ID_BYTES;
}

/* Read the ids and times of the jobs in a response, only by the names of the fields. False if an id
 * is invalid. */
static bool take_held(struct load_client *client)
{
    unsigned most = client->thread->run->plan->fetch_batch;
    const char *at = client->answer.ptr;
    const char *end = at + client->answer.len;
    while (client->held_count < most &&
           (at = load_json__behind_key(at, end, STR("\"job_id\""))) != NULL) {
        const char *quote = end - at < 2 ? NULL : memchr(at + 1, '"', (size_t)(end - at) - 1);
        if (quote == NULL || *at != '"' || !is_id(str_from(at + 1, (size_t)(quote - at) - 1))) {
            return false;
        }
        struct load_job *job = &client->held[client->held_count++];
        job->id_len = (size_t)(quote - at) - 1;
        memcpy(job->id, at + 1, job->id_len);
        job->enqueued_ns = load_json__enqueued_at(quote, end, client->began_ns);
        at = quote;
    }
    return true;
}

static bool take_answer(struct load_client *client)
{
    switch (protocol_of(client)) {
    case LOAD_HTTP:
        return take_held(client);
    case LOAD_BINARY:
        return load_binary__take_jobs(client);
    case LOAD_RPC:
    case LOAD_STREAM:
    default:
        return load_rpc__take_jobs(client);
    }
}

static void fetched(struct load_client *client, int64_t now_ns)
{
    struct load_run *run = client->thread->run;
    if (client->answer.len > 0 && !take_answer(client)) {
        load_run__refuse(client->thread,
                         STR("the response to a fetch has no job ids that bench can read"));
        return;
    }
    if (run->plan->work_ns > 0 && client->held_count > 0) {
        wait_until(client, now_ns + run->plan->work_ns * (int64_t)client->held_count);
    }
}

/* Handle the response to acks: count the confirmed ones, and drop the others. */
static void settle(struct load_client *client, int64_t now_ns)
{
    struct load_thread *t = client->thread;
    struct load_run *run = t->run;
    for (size_t i = 0; i < client->confirmed; i++) {
        const struct load_job *job = &client->held[client->next + i];
        int64_t from = run->phase == LOAD_COMBINED ? job->enqueued_ns : client->began_ns;
        load_histogram_add(&t->latency, now_ns - from, 1);
    }
    load_windows_add(&t->windows, now_ns - run->start_ns, client->confirmed);
    (void)atomic_fetch_add(&run->dropped, client->in_ack - client->confirmed);
    (void)atomic_fetch_add(&run->acked, client->confirmed);
    client->next += client->in_ack;
    load_run__check_over(run);
}

static void acked(struct load_client *client, int64_t now_ns)
{
    size_t count = 0;
    if (client->thread->run->plan->ack_batch == 1) {
        count = client->status == 200 ? 1 : 0;
    } else if (protocol_of(client) == LOAD_RPC) {
        count = load_rpc__acked(client);
    } else if (client->answer.len > 0) {
        const char *end = client->answer.ptr + client->answer.len;
        const char *at = load_json__behind_key(client->answer.ptr, end, STR("\"acked\""));
        while (at != NULL && at < end && *at >= '0' && *at <= '9' && count <= LOAD_BATCH_MAX) {
            count = count * 10 + (size_t)(*at++ - '0');
        }
    }
    client->confirmed += count;
    client->confirmed = client->confirmed > client->in_ack ? client->in_ack : client->confirmed;
    if (client->confirmed < client->in_ack && ++client->misses < LOAD_MISSES_MAX) {
        client->again = true;
        return;
    }
    settle(client, now_ns);
    if (client->thread->run->texts[client->worker].ack != NULL && client->status == 200) {
        client->held_count = client->next = 0;
        client->began_ns = client->sent_ns;
        fetched(client, now_ns); /* if the server did not fetch with the ack, a fetch follows */
    }
}

/* Handle the response to a frame: settle the acks, keep the fetched jobs. */
static void exchanged(struct load_client *client, int64_t now_ns)
{
    if (client->in_ack > 0) {
        client->confirmed =
            protocol_of(client) == LOAD_BINARY ? client->acked : load_rpc__acked(client);
        client->confirmed = client->confirmed > client->in_ack ? client->in_ack : client->confirmed;
        settle(client, now_ns);
    }
    client->held_count = client->next = client->in_ack = 0;
    client->began_ns = client->sent_ns;
    fetched(client, now_ns);
}

/* Convert an error in a frame to a status. A frame refused because of overload is sent again
 * unchanged. */
static void look_at_frame(struct load_client *client)
{
    struct str error = client->status == 200 ? load_rpc__frame_error(client) : STR_EMPTY;
    if (error.len > 0) {
        client->status = str_starts_with(error, STR("OVERLOADED")) ? 429 : 400;
    }
}

static void enqueued(struct load_client *client, int64_t now_ns)
{
    struct load_thread *t = client->thread;
    if (t->run->phase == LOAD_ENQUEUE) {
        load_histogram_add(&t->latency, now_ns - client->began_ns, client->jobs);
        load_windows_add(&t->windows, now_ns - t->run->start_ns, client->jobs);
    }
    if (client->server_ns >= 0) {
        load_histogram_add(&t->server, client->server_ns, client->jobs);
    }
    (void)atomic_fetch_add(&t->run->enqueued, client->jobs);
    client->jobs = 0;
}

static void pause_client(struct load_client *client, int64_t now_ns)
{
    client->pause_ms = client->pause_ms == 0 ? 1 : client->pause_ms * 2;
    client->pause_ms = client->pause_ms > PAUSE_MS_MAX ? PAUSE_MS_MAX : client->pause_ms;
    client->again = true;
    wait_until(client, now_ns + client->pause_ms * NS_PER_MS);
}

/* True if the response is an error. The next step is then scheduled. */
static bool refused(struct load_client *client, int64_t now_ns)
{
    struct load_thread *t = client->thread;
    bool is_ack = !client->is_producer && client->next < client->held_count;
    if (client->status == 429 || client->status == 503) {
        t->overloaded++;
        t->rate_limited +=
            memmem(client->answer.ptr, client->answer.len, "RATE_LIMITED", 12) != NULL ? 1 : 0;
        pause_client(client, now_ns);
        return true;
    }
    if (client->status == 0 || client->status >= 500) {
        char text[64];
        (void)snprintf(text, sizeof text, "the server returned status %d", client->status);
        load_run__remark(t, client->status == 0 ? "a connection was lost" : text);
        client->again = true;
        wait_until(client, now_ns + ERROR_PAUSE_MS * NS_PER_MS);
        return true;
    }
    /* A single ack of a job that is not active is a miss, not an error of the run. */
    if (client->status >= 300 && !(is_ack && (client->status == 400 || client->status == 404))) {
        load_run__refuse(t, buf_str(&client->answer));
        return true;
    }
    return false;
}

void load_client__unreachable(struct load_client *client, int64_t now_ns, const char *reason)
{
    load_run__remark(client->thread, reason);
    wait_until(client, now_ns + ERROR_PAUSE_MS * NS_PER_MS);
}

void load_client__answered(struct load_client *client, int64_t now_ns)
{
    client->state = CLIENT_READY;
    if (client->answer.overflow) {
        load_run__refuse(client->thread, STR("a response is too long"));
        return;
    }
    if (protocol_of(client) == LOAD_STREAM) {
        look_at_frame(client);
    }
    if (refused(client, now_ns)) {
        return;
    }
    client->pause_ms = 0;
    if (client->is_producer) {
        enqueued(client, now_ns);
    } else if (is_streaming(client)) {
        exchanged(client, now_ns);
    } else if (client->next < client->held_count) {
        acked(client, now_ns);
    } else {
        fetched(client, now_ns);
    }
}
