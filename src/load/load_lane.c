/*
 * What a producer and a stream of a worker do, whatever the protocol.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/digits.h"
#include "load/load_int.h"

enum {
    TIME_DIGITS = 16, /* nanoseconds in hexadecimal, in the payload */
    PAUSE_MS_MAX = 64,
    ERROR_PAUSE_MS = 2,
    POLL_MS = 1,      /* of a lane that may not begin yet */
    START_SHARE = 10, /* workers begin when one in so many jobs is there */
    LEASE_S_MIN = 10,
    FETCH_WAIT_S = 1, /* how long the server may hold a fetch when there is nothing */
};

static const char zeros[] = "0000000000000000";
_Static_assert(sizeof zeros - 1 == TIME_DIGITS, "as many zeros as digits");

/* Texts */

void load_queue_name(const struct load_plan *plan, unsigned worker, char out[LOAD_TEXT_BYTES])
{
    if (plan->worker_queues && plan->workers > 1) {
        (void)snprintf(out, LOAD_TEXT_BYTES, "%s.w%u", plan->queue, worker);
    } else {
        (void)snprintf(out, LOAD_TEXT_BYTES, "%s", plan->queue);
    }
}

static void make_job(const struct load_plan *plan, const char *queue, struct load_text *text)
{
    static const char tail[] = "\"}";
    struct buf b;
    buf_init(&b, SIZE_MAX / 2);
    buf_printf(&b, "{\"queue\":\"%s\",\"payload\":", queue);
    size_t payload_at = b.len;
    buf_printf(&b, "{\"t\":\"");
    text->time_at = b.len;
    buf_printf(&b, "%s\",\"fill\":\"", zeros);
    while (b.len - payload_at + sizeof tail - 1 < plan->payload_bytes) {
        buf_add_char(&b, 'x');
    }
    buf_printf(&b, "%s}", tail);
    CHECK(!b.overflow);
    text->job_len = b.len;
    text->job = buf_take(&b);
}

/* Jobs whose fetch was answered to nobody, because a connection broke, come back soon: before the
 * run would count as stalled. Long enough for the work on all the jobs of a fetch. */
static int64_t lease_s(const struct load_plan *plan)
{
    int64_t s = LEASE_S_MIN + 2 * plan->work_ns * plan->fetch_batch / NS_PER_S;
    return s > LIMIT_LEASE_S_MAX ? LIMIT_LEASE_S_MAX : s;
}

static void make_fetch(const struct load_plan *plan, const char *queue, unsigned worker,
                       struct load_text *text)
{
    struct buf b;
    buf_init(&b, SIZE_MAX / 2);
    buf_printf(&b,
               "{\"queues\":[\"%s\"],\"worker_id\":\"bench-w%u\",\"hostname\":\"bench\","
               "\"timeout\":%d,\"lease_duration\":%lld",
               queue, worker, FETCH_WAIT_S, (long long)lease_s(plan));
    if (plan->fetch_batch > 1) {
        buf_printf(&b, ",\"count\":%u", plan->fetch_batch);
    }
    buf_add_char(&b, '}');
    CHECK(!b.overflow);
    text->fetch_len = b.len;
    text->fetch = buf_take(&b);
}

void load_lane__texts_init(struct load_run *run)
{
    const struct load_plan *plan = run->plan;
    run->texts = calloc(plan->workers, sizeof *run->texts);
    CHECK(run->texts != NULL);
    for (unsigned i = 0; i < plan->workers; i++) {
        char queue[LOAD_TEXT_BYTES];
        load_queue_name(plan, i, queue);
        make_job(plan, queue, &run->texts[i]);
        make_fetch(plan, queue, i, &run->texts[i]);
    }
}

void load_lane__texts_deinit(struct load_run *run)
{
    for (unsigned i = 0; i < run->plan->workers; i++) {
        free(run->texts[i].job);
        free(run->texts[i].fetch);
    }
    free(run->texts);
}

void load_lane__init(struct load_lane *lane, struct load_thread *t, bool is_producer,
                     unsigned worker)
{
    *lane = (struct load_lane){.thread = t, .is_producer = is_producer, .worker = worker};
    buf_init(&lane->body, SIZE_MAX / 2);
    buf_init(&lane->answer, LOAD_ANSWER_BYTES);
    if (!is_producer) {
        lane->held = calloc(t->run->plan->fetch_batch, sizeof *lane->held);
        CHECK(lane->held != NULL);
    }
}

void load_lane__deinit(struct load_lane *lane)
{
    buf_deinit(&lane->body);
    buf_deinit(&lane->answer);
    free(lane->held);
}

/* What a lane does next */

static void wait_until(struct load_lane *lane, int64_t wake_ns)
{
    lane->state = LANE_WAITING;
    lane->wake_ns = wake_ns;
    lane->thread->waiting++;
}

static void send_request(struct load_lane *lane)
{
    lane->state = LANE_SENT;
    lane->status = 0;
    lane->server_ns = -1;
    lane->body_sent = 0;
    buf_clear(&lane->answer);
    lane->thread->wire->request(lane->conn, lane);
}

static void set_path(struct load_lane *lane, const char *path)
{
    (void)snprintf(lane->path, sizeof lane->path, "/api/v1%s", path);
}

/* How many jobs the producer puts in now; 0: there are no more. */
static uint64_t take_jobs(struct load_run *run, int64_t now_ns)
{
    const struct load_plan *plan = run->plan;
    if (plan->duration_ns > 0) {
        return now_ns - run->start_ns < plan->duration_ns ? plan->enqueue_batch : 0;
    }
    uint64_t from = atomic_fetch_add(&run->taken, plan->enqueue_batch);
    uint64_t left = from < plan->jobs ? plan->jobs - from : 0;
    return left < plan->enqueue_batch ? left : plan->enqueue_batch;
}

static void add_job(struct buf *b, const struct load_text *text, const char *time)
{
    char *room = buf_reserve(b, text->job_len);
    CHECK(room != NULL);
    memcpy(room, text->job, text->job_len);
    memcpy(room + text->time_at, time, TIME_DIGITS);
    b->len += text->job_len;
}

static void make_enqueue(struct load_lane *lane, int64_t now_ns)
{
    const struct load_run *run = lane->thread->run;
    const struct load_text *text = &run->texts[lane->worker % run->plan->workers];
    char hex[DIGITS_MAX];
    char time[TIME_DIGITS];
    size_t len = (size_t)(digits_put_hex(hex, (uint64_t)now_ns) - hex);
    CHECK(len <= TIME_DIGITS);
    memcpy(time, zeros, TIME_DIGITS);
    memcpy(time + TIME_DIGITS - len, hex, len);
    buf_clear(&lane->body);
    if (run->plan->enqueue_batch == 1) {
        set_path(lane, "/enqueue");
        add_job(&lane->body, text, time);
        return;
    }
    set_path(lane, "/enqueue/batch");
    buf_add_str(&lane->body, STR("{\"jobs\":["));
    for (uint64_t i = 0; i < lane->jobs; i++) {
        buf_add_str(&lane->body, i == 0 ? STR_EMPTY : STR(","));
        add_job(&lane->body, text, time);
    }
    buf_add_str(&lane->body, STR("]}"));
}

static void step_producer(struct load_lane *lane, int64_t now_ns)
{
    struct load_run *run = lane->thread->run;
    const struct load_plan *plan = run->plan;
    /* In this order: what is settled was enqueued before. */
    uint64_t settled = atomic_load(&run->acked) + atomic_load(&run->dropped);
    if (plan->duration_ns > 0 && now_ns - run->start_ns < plan->duration_ns &&
        atomic_load(&run->enqueued) - settled >= plan->jobs) {
        wait_until(lane, now_ns + POLL_MS * NS_PER_MS);
        return;
    }
    lane->jobs = take_jobs(run, now_ns);
    if (lane->jobs == 0) {
        lane->state = LANE_DONE;
        lane->thread->lanes_left--;
        (void)atomic_fetch_sub(&run->producers_left, 1);
        load__check_over(run);
        return;
    }
    lane->began_ns = now_ns;
    make_enqueue(lane, now_ns);
    /* The next one is for the next worker's queue. */
    lane->worker++;
    send_request(lane);
}

static void make_ack(struct load_lane *lane)
{
    unsigned batch = lane->thread->run->plan->ack_batch;
    size_t left = lane->held_count - lane->next;
    const struct load_job *jobs = &lane->held[lane->next];
    lane->in_ack = left < batch ? left : batch;
    lane->confirmed = 0;
    lane->misses = 0;
    buf_clear(&lane->body);
    if (batch == 1) {
        (void)snprintf(lane->path, sizeof lane->path, "/api/v1/ack/%.*s", (int)jobs->id_len,
                       jobs->id);
        buf_add_str(&lane->body, STR("{}"));
        return;
    }
    set_path(lane, "/ack/batch");
    buf_add_str(&lane->body, STR("{\"acks\":["));
    for (size_t i = 0; i < lane->in_ack; i++) {
        buf_add_str(&lane->body, i == 0 ? STR("{\"job_id\":\"") : STR(",{\"job_id\":\""));
        buf_add(&lane->body, jobs[i].id, jobs[i].id_len);
        buf_add_str(&lane->body, STR("\"}"));
    }
    buf_add_str(&lane->body, STR("]}"));
}

static void step_worker(struct load_lane *lane, int64_t now_ns)
{
    struct load_run *run = lane->thread->run;
    if (lane->next < lane->held_count) {
        make_ack(lane);
        send_request(lane);
        return;
    }
    if (run->phase == LOAD_COMBINED && run->plan->duration_ns == 0 &&
        atomic_load(&run->enqueued) * START_SHARE < run->plan->jobs) {
        wait_until(lane, now_ns + POLL_MS * NS_PER_MS);
        return;
    }
    const struct load_text *text = &run->texts[lane->worker];
    set_path(lane, run->plan->fetch_batch > 1 ? "/fetch/batch" : "/fetch");
    buf_clear(&lane->body);
    buf_add(&lane->body, text->fetch, text->fetch_len);
    lane->held_count = 0;
    lane->next = 0;
    lane->began_ns = now_ns;
    send_request(lane);
}

void load_lane__step(struct load_lane *lane, int64_t now_ns)
{
    CHECK(lane->state == LANE_READY);
    if (lane->again) {
        lane->again = false;
        send_request(lane);
    } else if (lane->is_producer) {
        step_producer(lane, now_ns);
    } else {
        step_worker(lane, now_ns);
    }
}

/* What an answer means */

/* Behind the next `"key":` of the text, blanks left out; NULL when there is none. */
static const char *behind_key(const char *at, const char *end, struct str key)
{
    at = at == end ? NULL : memmem(at, (size_t)(end - at), key.ptr, key.len);
    if (at == NULL) {
        return NULL;
    }
    for (at += key.len; at < end && (*at == ':' || *at == ' '); at++) {
    }
    return at;
}

/* The time in a payload that is ours; otherwise as given. */
static int64_t enqueued_at(const char *at, const char *end, int64_t otherwise)
{
    uint64_t v = 0;
    at = behind_key(at, end, STR("\"t\""));
    if (at == NULL || end - at < TIME_DIGITS + 1) {
        return otherwise;
    }
    for (int i = 1; i <= TIME_DIGITS; i++) {
        char c = at[i];
        v = v << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return (int64_t)v;
}

/* What may stand in a path as it is. */
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

/* The jobs of an answer: their ids and times, found by their names and nothing else. False when an
 * id is none. */
static bool take_held(struct load_lane *lane)
{
    unsigned most = lane->thread->run->plan->fetch_batch;
    const char *at = lane->answer.ptr;
    const char *end = at + lane->answer.len;
    while (lane->held_count < most && (at = behind_key(at, end, STR("\"job_id\""))) != NULL) {
        const char *quote = end - at < 2 ? NULL : memchr(at + 1, '"', (size_t)(end - at) - 1);
        if (quote == NULL || *at != '"' || !is_id(str_from(at + 1, (size_t)(quote - at) - 1))) {
            return false;
        }
        struct load_job *job = &lane->held[lane->held_count++];
        job->id_len = (size_t)(quote - at) - 1;
        memcpy(job->id, at + 1, job->id_len);
        job->enqueued_ns = enqueued_at(quote, end, lane->began_ns);
        at = quote;
    }
    return true;
}

static void fetched(struct load_lane *lane, int64_t now_ns)
{
    struct load_run *run = lane->thread->run;
    if (lane->answer.len > 0 && !take_held(lane)) {
        load__refuse(lane->thread, STR("an answer to a fetch has no ids that bench understands"));
        return;
    }
    if (run->plan->work_ns > 0 && lane->held_count > 0) {
        wait_until(lane, now_ns + run->plan->work_ns * (int64_t)lane->held_count);
    }
}

/* The ack is settled: some are done, the others are no longer counted on. */
static void settle(struct load_lane *lane, int64_t now_ns)
{
    struct load_thread *t = lane->thread;
    struct load_run *run = t->run;
    for (size_t i = 0; i < lane->confirmed; i++) {
        const struct load_job *job = &lane->held[lane->next + i];
        int64_t from = run->phase == LOAD_COMBINED ? job->enqueued_ns : lane->began_ns;
        load_histogram_add(&t->latency, now_ns - from, 1);
    }
    load_windows_add(&t->windows, now_ns - run->start_ns, lane->confirmed);
    (void)atomic_fetch_add(&run->dropped, lane->in_ack - lane->confirmed);
    (void)atomic_fetch_add(&run->acked, lane->confirmed);
    lane->next += lane->in_ack;
    load__check_over(run);
}

static void acked(struct load_lane *lane, int64_t now_ns)
{
    size_t count = 0;
    if (lane->thread->run->plan->ack_batch == 1) {
        count = lane->status == 200 ? 1 : 0;
    } else if (lane->answer.len > 0) {
        const char *end = lane->answer.ptr + lane->answer.len;
        const char *at = behind_key(lane->answer.ptr, end, STR("\"acked\""));
        while (at != NULL && at < end && *at >= '0' && *at <= '9' && count <= LOAD_BATCH_MAX) {
            count = count * 10 + (size_t)(*at++ - '0');
        }
    }
    lane->confirmed += count;
    lane->confirmed = lane->confirmed > lane->in_ack ? lane->in_ack : lane->confirmed;
    if (lane->confirmed < lane->in_ack && ++lane->misses < LOAD_MISSES_MAX) {
        lane->again = true;
        return;
    }
    settle(lane, now_ns);
}

static void enqueued(struct load_lane *lane, int64_t now_ns)
{
    struct load_thread *t = lane->thread;
    if (t->run->phase == LOAD_ENQUEUE) {
        load_histogram_add(&t->latency, now_ns - lane->began_ns, lane->jobs);
        load_windows_add(&t->windows, now_ns - t->run->start_ns, lane->jobs);
    }
    if (lane->server_ns >= 0) {
        load_histogram_add(&t->server, lane->server_ns, lane->jobs);
    }
    (void)atomic_fetch_add(&t->run->enqueued, lane->jobs);
}

static void pause_lane(struct load_lane *lane, int64_t now_ns)
{
    lane->pause_ms = lane->pause_ms == 0 ? 1 : lane->pause_ms * 2;
    lane->pause_ms = lane->pause_ms > PAUSE_MS_MAX ? PAUSE_MS_MAX : lane->pause_ms;
    lane->again = true;
    wait_until(lane, now_ns + lane->pause_ms * NS_PER_MS);
}

/* True when the answer was no success, and what follows is arranged. */
static bool refused(struct load_lane *lane, int64_t now_ns)
{
    struct load_thread *t = lane->thread;
    bool is_ack = !lane->is_producer && lane->next < lane->held_count;
    if (lane->status == 429 || lane->status == 503) {
        t->overloaded++;
        t->rate_limited +=
            memmem(lane->answer.ptr, lane->answer.len, "RATE_LIMITED", 12) != NULL ? 1 : 0;
        pause_lane(lane, now_ns);
        return true;
    }
    if (lane->status == 0 || lane->status >= 500) {
        char text[64];
        (void)snprintf(text, sizeof text, "the server answered with status %d", lane->status);
        load__remark(t, lane->status == 0 ? "a connection was lost" : text);
        lane->again = true;
        wait_until(lane, now_ns + ERROR_PAUSE_MS * NS_PER_MS);
        return true;
    }
    /* A single ack of a job that is not active is a miss, not a mistake of the run. */
    if (lane->status >= 300 && !(is_ack && (lane->status == 400 || lane->status == 404))) {
        load__refuse(t, buf_str(&lane->answer));
        return true;
    }
    return false;
}

void load_lane__unreachable(struct load_lane *lane, int64_t now_ns, const char *reason)
{
    load__remark(lane->thread, reason);
    wait_until(lane, now_ns + ERROR_PAUSE_MS * NS_PER_MS);
}

void load_lane__answered(struct load_lane *lane, int64_t now_ns)
{
    lane->state = LANE_READY;
    if (lane->answer.overflow) {
        load__refuse(lane->thread, STR("an answer is too long"));
        return;
    }
    if (refused(lane, now_ns)) {
        return;
    }
    lane->pause_ms = 0;
    if (lane->is_producer) {
        enqueued(lane, now_ns);
    } else if (lane->next < lane->held_count) {
        acked(lane, now_ns);
    } else {
        fetched(lane, now_ns);
    }
}
