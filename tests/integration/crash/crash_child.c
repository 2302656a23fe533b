/*
 * Crash_child: an engine and its clients, to be killed by a test.
 *
 *   crash_child DIR [--seed N] [--threads N] [--snapshot-bytes N] [--soon] [--careless] [--dump]
 *
 * First it prints the state that it has found (crash_dump.h). Then each client works on a separate
 * queue, one operation at a time, and prints on standard output:
 *
 *   > <client> <number> <verb> <arguments>     before it submits the operation
 *   < <client> <number> <results>              when it has the result, before the next operation
 *
 * Each line is one write(2), so that it is complete and in the pipe no matter when the process
 * dies. From these lines the driver knows what must exist, and for each client the only operation
 * that may or may not have been executed. --dump exits in an orderly way after printing the state.
 * Without --soon nothing becomes due within an hour, so the clock changes nothing. --careless does
 * not flush the log.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <uv.h>

#include "base/check.h"
#include "engine/engine.h"
#include "integration/crash/crash_dump.h"
#include "lib/rng.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "store/store_job.h"

enum {
    THREADS_MAX = 16,
    HELD_MAX = 32,  /* claimed jobs that a client holds */
    MADE_MAX = 128, /* jobs that a client remembers */
    KEYS = 5,       /* unique keys of a queue */
    BATCH_MAX = 6,  /* jobs of one enqueue */
    FAR_MS = 3600000,
    SOON_MS = 30,
    THROTTLED = 1, /* the client whose queue has a throttle */
    THROTTLE_RATE = 5,
    THROTTLE_MS = 100,
};

struct held {
    struct id id;
    uint64_t token;
};

struct client {
    struct engine *engine;
    uv_thread_t thread;
    unsigned number;
    bool soon;
    struct rng rng;
    uint64_t op_count;
    uint64_t serial; /* of its next job */
    uint64_t run;    /* differs in every process */
    char queue[16];
    char callback_queue[16];
    struct held held[HELD_MAX];
    size_t held_count;
    struct id made[MADE_MAX];
    size_t made_count;
    struct engine_op op;
    uv_sem_t done;
    struct arena *arena;
    struct buf line;
};

/* Lines */

static void line_begin(struct client *c, char mark)
{
    buf_clear(&c->line);
    buf_printf(&c->line, "%c %u %" PRIu64, mark, c->number, c->op_count);
}

static void line_id(struct client *c, struct id id)
{
    buf_add_char(&c->line, ' ');
    crash_dump_id(&c->line, ID_JOB, id);
}

static void write_all(struct str bytes)
{
    while (bytes.len > 0) {
        ssize_t n = write(STDOUT_FILENO, bytes.ptr, bytes.len);
        if (n <= 0) {
            _exit(1); /* the reader has closed the pipe */
        }
        bytes = str_from_offset(bytes, (size_t)n);
    }
}

static void line_end(struct client *c)
{
    buf_add_char(&c->line, '\n');
    CHECK(!c->line.overflow);
    write_all(buf_str(&c->line));
}

/* Operations */

static void op_done(struct engine_op *op)
{
    uv_sem_post(op->data);
}

/* Print the line of the operation, execute it, and begin the line of its result. */
static struct result perform(struct client *c, const struct command *command, int64_t park_ms)
{
    struct result r;
    struct err err;
    line_end(c);
    c->op.park_ms = park_ms;
    if (engine_op_prepare(c->engine, &c->op, command, &err) != ERR_OK) {
        check_fatal("%s", err.msg);
    }
    engine_submit(c->engine, &c->op);
    uv_sem_wait(&c->done);
    if (c->op.err.code != ERR_OK) {
        check_fatal("an operation ended with: %s", c->op.err.msg);
    }
    arena_reset(c->arena);
    bool decoded = result_decode(buf_str(&c->op.result), c->arena, &r);
    CHECK(decoded);
    line_begin(c, '<');
    buf_printf(&c->line, " %s", err_wire(r.code));
    return r;
}

static void begin(struct client *c, const char *verb)
{
    c->op_count++;
    line_begin(c, '>');
    buf_printf(&c->line, " %s", verb);
}

static void remember_made(struct client *c, struct id id)
{
    size_t at = c->made_count < MADE_MAX ? c->made_count++ : rng_below(&c->rng, MADE_MAX);
    c->made[at] = id;
}

/* A random job. Its payload is unique. */
static struct command_new some_job(struct client *c, char *payload, size_t size)
{
    static const char *const keys[KEYS] = {"k0", "k1", "k2", "k3", "k4"};
    struct command_new new = {.job = {.queue = str_from_z(c->queue),
                                      .priority = JOB_PRIORITY_NORMAL,
                                      .backoff = JOB_BACKOFF_FIXED,
                                      .max_retries = (uint32_t)rng_below(&c->rng, 3),
                                      .retry_base_ms = c->soon ? SOON_MS : FAR_MS}};
    char when = 'n';
    if (rng_below(&c->rng, 6) == 0) {
        when = c->soon ? 's' : 'f';
        new.job.scheduled_at = wall_add_ms(os_clock_wall(), c->soon ? SOON_MS : FAR_MS);
    }
    if (rng_below(&c->rng, 4) == 0) {
        new.job.unique_key = str_from_z(keys[rng_below(&c->rng, KEYS)]);
    }
    int n =
        snprintf(payload, size, "\"%u.%" PRIu64 ".%" PRIu64 "\"", c->number, c->run, c->serial++);
    CHECK(n > 0 && (size_t)n < size);
    new.job.payload = str_from_z(payload);
    new.job.tags = crash_dump_tags(new.job.payload);
    buf_printf(&c->line, " %s:%c:%u:", payload, when, new.job.max_retries);
    buf_add_str(&c->line, new.job.unique_key.len > 0 ? new.job.unique_key : STR("-"));
    return new;
}

static void do_enqueue(struct client *c, bool as_batch)
{
    static const char *const words[] = {
        [RESULT_PENDING] = "pending",
        [RESULT_SCHEDULED] = "scheduled",
        [RESULT_DUPLICATE] = "duplicate",
        [RESULT_OK] = "?",
        [RESULT_CANCEL] = "?",
        [RESULT_UNKNOWN] = "?",
    };
    struct command_new jobs[BATCH_MAX];
    char payloads[BATCH_MAX][64];
    size_t count = as_batch || rng_below(&c->rng, 3) == 0 ? 1 + rng_below(&c->rng, BATCH_MAX) : 1;
    begin(c, as_batch ? "batch" : "enqueue");
    for (size_t i = 0; i < count; i++) {
        jobs[i] = some_job(c, payloads[i], sizeof payloads[i]);
    }
    struct command command = {.type = COMMAND_ENQUEUE, .enqueue = {.jobs = jobs, .count = count}};
    if (as_batch) {
        command.enqueue.has_batch = true;
        command.enqueue.callback_queue = str_from_z(c->callback_queue);
    }
    struct result r = perform(c, &command, 0);
    if (as_batch) {
        buf_add_char(&c->line, ' ');
        crash_dump_id(&c->line, ID_BATCH, r.id);
    }
    for (uint32_t i = 0; i < r.count; i++) {
        line_id(c, r.items[i].id);
        buf_printf(&c->line, ":%s", words[r.items[i].status]);
        remember_made(c, r.items[i].id);
    }
    line_end(c);
}

static void do_claim(struct client *c)
{
    struct str queue = str_from_z(c->queue);
    uint32_t count = (uint32_t)(1 + rng_below(&c->rng, 4));
    bool leaves = c->soon && rng_below(&c->rng, 4) == 0; /* the leases are left to expire */
    begin(c, "claim");
    buf_printf(&c->line, " %u %s", count, leaves ? "leaves" : "keeps");
    struct command command = {.type = COMMAND_CLAIM,
                              .claim = {.queues = &queue,
                                        .queue_count = 1,
                                        .worker_id = queue,
                                        .lease_ms = leaves ? SOON_MS : FAR_MS,
                                        .count = count}};
    struct result r = perform(c, &command, rng_below(&c->rng, 4) == 0 ? 5 : 0);
    for (uint32_t i = 0; i < r.count; i++) {
        struct job j;
        struct err err;
        enum err_code code = store_job_decode(r.items[i].id, r.items[i].doc, &j, &err);
        CHECK(code == ERR_OK);
        line_id(c, j.id);
        buf_printf(&c->line, ":%" PRIu64 ":%u:%" PRId64 ":%" PRId64, j.lease_token, j.attempt,
                   j.lease_expires_at.ns, j.started_at.ns);
        if (!leaves) {
            c->held[c->held_count++] = (struct held){.id = j.id, .token = j.lease_token};
        }
    }
    line_end(c);
}

static struct held take_held(struct client *c)
{
    size_t at = rng_below(&c->rng, c->held_count);
    struct held h = c->held[at];
    c->held[at] = c->held[--c->held_count];
    return h;
}

static void do_ack(struct client *c)
{
    struct held h = take_held(c);
    struct command_ack_item item = {.id = h.id, .lease_token = h.token};
    begin(c, "ack");
    line_id(c, h.id);
    (void)perform(c, &(struct command){.type = COMMAND_ACK, .ack = {.items = &item, .count = 1}},
                  0);
    line_end(c);
}

static void do_fail(struct client *c)
{
    struct held h = take_held(c);
    begin(c, "fail");
    line_id(c, h.id);
    struct result r =
        perform(c,
                &(struct command){
                    .type = COMMAND_FAIL,
                    .fail = {.id = h.id, .lease_token = h.token, .error = STR("made to fail")}},
                0);
    if (r.code == ERR_OK) {
        buf_printf(&c->line, " %s %" PRId64, job_state_name(r.state), r.at.ns);
    }
    line_end(c);
}

static void do_heartbeat(struct client *c)
{
    const struct held *h = &c->held[rng_below(&c->rng, c->held_count)];
    char progress[32];
    int n = snprintf(progress, sizeof progress, "%" PRIu64, c->op_count);
    CHECK(n > 0);
    struct command_heartbeat_item item = {
        .id = h->id, .lease_token = h->token, .progress = str_from(progress, (size_t)n)};
    begin(c, "heartbeat");
    line_id(c, h->id);
    buf_printf(&c->line, " %s", progress);
    struct result r = perform(
        c, &(struct command){.type = COMMAND_HEARTBEAT, .heartbeat = {.items = &item, .count = 1}},
        0);
    buf_printf(&c->line, " %s", r.items[0].status == RESULT_OK ? "renewed" : "stop");
    line_end(c);
}

static void do_job(struct client *c, const char *verb, enum command_job_action action)
{
    struct id id = c->made[rng_below(&c->rng, c->made_count)];
    begin(c, verb);
    line_id(c, id);
    struct command command = {.type = COMMAND_JOBS,
                              .jobs = {.action = action, .ids = &id, .count = 1}};
    (void)perform(c, &command, 0);
    line_end(c);
}

static void step(struct client *c)
{
    uint64_t roll = rng_below(&c->rng, 20);
    bool crowded = c->held_count > HELD_MAX - BATCH_MAX;
    if (c->held_count > 0 && (roll < 7 || crowded)) {
        do_ack(c);
    } else if (c->held_count > 0 && roll < 9) {
        do_fail(c);
    } else if (c->held_count > 0 && roll < 10 && c->soon) { /* a heartbeat makes the lease short */
        do_heartbeat(c);
    } else if (c->made_count > 0 && roll < 11) {
        do_job(c, "cancel", COMMAND_JOB_CANCEL);
    } else if (c->made_count > 0 && roll < 13) {
        do_job(c, "delete", COMMAND_JOB_DELETE);
    } else if (roll < 16) {
        do_claim(c);
    } else {
        do_enqueue(c, roll == 16);
    }
}

/* Setting the same throttle again keeps the claims that are already counted. */
static void set_throttle(struct client *c)
{
    struct command command = {.type = COMMAND_QUEUE,
                              .queue = {.action = COMMAND_QUEUE_THROTTLE,
                                        .name = str_from_z(c->queue),
                                        .rate = THROTTLE_RATE,
                                        .window_ms = THROTTLE_MS}};
    begin(c, "throttle");
    buf_printf(&c->line, " %d %d", THROTTLE_RATE, THROTTLE_MS);
    (void)perform(c, &command, 0);
    line_end(c);
}

static void client_main(void *data)
{
    struct client *c = data;
    if (c->number == THROTTLED) {
        set_throttle(c);
    }
    for (;;) {
        step(c);
    }
}

static void client_start(struct client *c)
{
    int n = snprintf(c->queue, sizeof c->queue, "q%u", c->number);
    CHECK(n > 0);
    n = snprintf(c->callback_queue, sizeof c->callback_queue, "cb%u", c->number);
    CHECK(n > 0);
    buf_init(&c->line, 4096); /* PIPE_BUF: lines of several clients are not mixed */
    c->arena = arena_new(1 << 20);
    CHECK(uv_sem_init(&c->done, 0) == 0);
    engine_op_init(&c->op);
    c->op.done = op_done;
    c->op.data = &c->done;
    CHECK(uv_thread_create(&c->thread, client_main, c) == 0);
}

/* Dump of the initial state */

struct dump_call {
    struct engine_call call;
    struct buf out;
    uv_sem_t done;
};

static void run_dump(struct engine_call *call, struct machine *m)
{
    crash_dump(m, &CONTAINER_OF(call, struct dump_call, call)->out);
}

static void dump_done(struct engine_call *call)
{
    uv_sem_post(&CONTAINER_OF(call, struct dump_call, call)->done);
}

static void print_state(struct engine *e)
{
    struct dump_call d = {.call = {.run = run_dump, .done = dump_done}};
    buf_init(&d.out, 1 << 30);
    CHECK(uv_sem_init(&d.done, 0) == 0);
    bool runs = engine_run(e, &d.call);
    CHECK(runs);
    uv_sem_wait(&d.done);
    write_all(buf_str(&d.out));
    uv_sem_destroy(&d.done);
    buf_deinit(&d.out);
}

struct options {
    const char *dir;
    int64_t seed;
    int64_t threads;
    int64_t snapshot_bytes;
    bool soon;
    bool careless;
    bool dump;
};

static bool parse_options(int argc, char **argv, struct options *o)
{
    for (int i = 1; i < argc; i++) {
        struct str arg = str_from_z(argv[i]);
        int64_t *number = str_eq(arg, STR("--seed"))             ? &o->seed
                          : str_eq(arg, STR("--threads"))        ? &o->threads
                          : str_eq(arg, STR("--snapshot-bytes")) ? &o->snapshot_bytes
                                                                 : NULL;
        if (number != NULL) {
            if (++i == argc || !str_to_i64(str_from_z(argv[i]), number)) {
                return false;
            }
        } else if (str_eq(arg, STR("--soon"))) {
            o->soon = true;
        } else if (str_eq(arg, STR("--careless"))) {
            o->careless = true;
        } else if (str_eq(arg, STR("--dump"))) {
            o->dump = true;
        } else {
            o->dir = argv[i];
        }
    }
    return o->dir != NULL && o->threads >= 1 && o->threads <= THREADS_MAX;
}

int main(int argc, char **argv)
{
    static struct client clients[THREADS_MAX];
    struct options o = {.seed = 1, .threads = 6, .snapshot_bytes = 1LL << 40};
    struct engine_config config = engine_config_default();
    struct engine *engine = NULL;
    struct err err;
    if (!parse_options(argc, argv, &o)) {
        (void)fprintf(stderr, "usage: see the head of crash_child.c\n");
        return 2;
    }
    log_configure(LOG_INFO, LOG_TEXT);
    config.data_dir = o.dir;
    config.retention_ms = 0;
    config.node.durable = !o.careless;
    config.node.segment_bytes = 64 << 10;
    config.node.snapshot_log_bytes = (uint64_t)o.snapshot_bytes;
    config.free_bytes_min = 0;
    if (engine_open(&config, &engine, &err) != ERR_OK) {
        (void)fprintf(stderr, "crash_child: %s\n", err.msg);
        return 1;
    }
    print_state(engine);
    if (o.dump) {
        engine_close(engine);
        return 0;
    }
    for (unsigned i = 0; i < (unsigned)o.threads; i++) {
        clients[i] = (struct client){.engine = engine,
                                     .number = i,
                                     .soon = o.soon,
                                     .run = (uint64_t)o.seed,
                                     .rng = rng_from((uint64_t)o.seed * THREADS_MAX + i)};
        client_start(&clients[i]);
    }
    CHECK(uv_thread_join(&clients[0].thread) == 0);
    return 0;
}
