/*
 * Engine bench: the whole engine without a network: submit, log, flush, state machine, result.
 *
 * A client thread with a loop keeps a number of operations in progress. With one entry in the log
 * at a time, that number is the size of an entry. Phases: enqueue, claim, ack, and a mix of the
 * three as lifecycles. It prints operations per second, CPU per operation (of the engine, and
 * separately of the client), flushes per second and memory.
 *
 * With --view it runs only lifecycles, with 512 operations in progress, on a new engine each time,
 * alternately without and with the view. It prints the maximum lag of the view, and the time that
 * the view needed to catch up after the load.
 *
 *   engine_bench [--dir DIR] [--seconds S] [--payload BYTES] [--fast] [--view [--rounds N]]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "base/check.h"
#include "base/limits.h"
#include "engine/engine.h"
#include "lib/meter.h"
#include "os/os_clock.h"
#include "os/os_file.h"
#include "view/view.h"

enum { SLOTS = 512 };

enum phase { PHASE_ENQUEUE, PHASE_CLAIM, PHASE_ACK, PHASE_LIFECYCLE, PHASE_COUNT };

static const char *const phase_names[PHASE_COUNT] = {"enqueue", "claim", "ack", "lifecycle"};

struct client;

/* An operation that is submitted repeatedly. */
struct slot {
    struct engine_op op;
    struct client *client;
    struct id job; /* in a lifecycle: its current job */
    enum phase step;
};

struct client {
    struct engine_config config;
    struct engine *engine;
    struct view *view;     /* NULL without a view */
    uint64_t view_lag_max; /* sampled when operations end */
    uv_loop_t loop;
    struct mailbox box;
    struct engine_outbox outbox;
    struct slot *slots;
    unsigned count;
    enum phase phase;
    int64_t end_ns;
    uint64_t done;
    uint64_t limit; /* maximum number of operations in this phase */
    uint64_t submitted;
    unsigned busy;
    struct id *jobs; /* ids of the previous phase, for ack */
    uint64_t job_count, job_cap, job_next;
    char *payload;
};

static void remember(struct client *c, struct id id)
{
    if (c->job_count == c->job_cap) {
        c->job_cap = c->job_cap == 0 ? 1 << 16 : c->job_cap * 2;
        c->jobs = realloc(c->jobs, c->job_cap * sizeof(struct id));
        CHECK(c->jobs != NULL);
    }
    c->jobs[c->job_count++] = id;
}

static void submit(struct slot *s)
{
    struct client *c = s->client;
    struct command command = {.type = COMMAND_ENQUEUE};
    struct command_new job = {0};
    struct command_ack_item ack = {0};
    struct str queue = STR("bench");
    struct err err;

    switch (s->step) {
    case PHASE_ENQUEUE:
        job.job = (struct job){.queue = queue,
                               .payload = str_from_z(c->payload),
                               .priority = JOB_PRIORITY_NORMAL,
                               .backoff = JOB_BACKOFF_EXPONENTIAL,
                               .max_retries = JOB_MAX_RETRIES,
                               .retry_base_ms = JOB_RETRY_BASE_MS,
                               .retry_max_ms = JOB_RETRY_MAX_MS};
        command.type = COMMAND_ENQUEUE;
        command.enqueue = (struct command_enqueue){.jobs = &job, .count = 1};
        break;
    case PHASE_CLAIM:
        command.type = COMMAND_CLAIM;
        command.claim = (struct command_claim){.queues = &queue,
                                               .queue_count = 1,
                                               .worker_id = STR("bench-worker"),
                                               .lease_ms = JOB_LEASE_MS,
                                               .count = 1};
        break;
    case PHASE_ACK:
    case PHASE_LIFECYCLE:
    case PHASE_COUNT:
    default:
        ack.id = c->phase == PHASE_ACK ? c->jobs[c->job_next++] : s->job;
        command.type = COMMAND_ACK;
        command.ack = (struct command_ack){.items = &ack, .count = 1};
        break;
    }
    enum err_code code = engine_op_prepare(c->engine, &s->op, &command, &err);
    CHECK(code == ERR_OK);
    c->submitted++;
    c->busy++;
    engine_submit(c->engine, &s->op);
}

/* Check the result and choose the next step of the slot. */
static void note_result(struct slot *s)
{
    struct client *c = s->client;
    struct arena *a = arena_new(LIMIT_OP_BYTES);
    struct result r;
    bool decoded = result_decode(buf_str(&s->op.result), a, &r);
    CHECK(decoded);
    CHECK(r.code == ERR_OK);
    if (s->step == PHASE_CLAIM) {
        CHECK(r.count == 1);
        s->job = r.items[0].id;
        if (c->phase == PHASE_CLAIM) {
            remember(c, s->job);
        }
    }
    if (c->phase == PHASE_LIFECYCLE) {
        s->step = s->step == PHASE_ENQUEUE ? PHASE_CLAIM
                  : s->step == PHASE_CLAIM ? PHASE_ACK
                                           : PHASE_ENQUEUE;
    }
    arena_free(a);
}

static void look_at_view(struct client *c)
{
    struct view_status status;
    view_status(c->view, &status);
    c->view_lag_max = status.lag > c->view_lag_max ? status.lag : c->view_lag_max;
}

static void end_of_turn(void *data)
{
    struct client *c = data;
    engine_outbox_flush(&c->outbox);
}

static void op_done(struct engine_op *op)
{
    struct slot *s = op->data;
    struct client *c = s->client;
    c->busy--;
    CHECK(op->err.code == ERR_OK);
    note_result(s);
    c->done++;
    if (c->view != NULL && c->done % 4096 == 0) {
        look_at_view(c);
    }
    bool over = os_clock_mono().ns >= c->end_ns || c->submitted >= c->limit;
    if (!over) {
        submit(s);
    } else if (c->busy == 0) {
        uv_stop(&c->loop);
    }
}

static struct meter run_ops(struct client *c, enum phase phase, unsigned batch, int64_t seconds)
{
    c->phase = phase;
    c->done = c->submitted = 0;
    c->count = batch;
    c->end_ns = os_clock_mono().ns + seconds * NS_PER_S;
    struct meter start = meter_now();
    for (unsigned i = 0; i < batch && c->submitted < c->limit; i++) {
        c->slots[i].step = phase == PHASE_LIFECYCLE ? PHASE_ENQUEUE : phase;
        submit(&c->slots[i]);
    }
    if (c->busy > 0) {
        engine_outbox_flush(&c->outbox);
        (void)uv_run(&c->loop, UV_RUN_DEFAULT);
    }
    return meter_since(start);
}

static void run_phase(struct client *c, enum phase phase, unsigned batch, int64_t seconds)
{
    struct engine_status before;
    struct engine_status after;
    engine_status(c->engine, &before);
    struct meter m = run_ops(c, phase, batch, seconds);
    engine_status(c->engine, &after);
    double n = (double)c->done;
    double s = (double)m.wall_ns / 1e9;
    printf("%-10s %5u %10.0f %9.2f %9.2f %9.0f %8.1f %8.0f\n", phase_names[phase], batch, n / s,
           (double)(m.cpu_ns - m.thread_cpu_ns) / n / 1e3, (double)m.thread_cpu_ns / n / 1e3,
           (double)(after.node.flush_count - before.node.flush_count) / s,
           n / (double)(after.entries - before.entries), (double)meter_peak_bytes() / 1e6);
    (void)fflush(stdout);
}

static void run_all(struct client *c, int64_t seconds)
{
    static const unsigned batches[] = {1, 32, 128, 512};
    printf("%-10s %5s %10s %9s %9s %9s %8s %8s\n", "phase", "batch", "ops/s", "µs/op", "client",
           "flush/s", "ops/ent", "peak MB");
    for (size_t b = 0; b < COUNT_OF(batches); b++) {
        c->limit = UINT64_MAX;
        run_phase(c, PHASE_ENQUEUE, batches[b], seconds);
        c->job_count = c->job_next = 0;
        c->limit = c->done;
        run_phase(c, PHASE_CLAIM, batches[b], seconds * 4);
        c->limit = c->job_count;
        run_phase(c, PHASE_ACK, batches[b], seconds * 4);
        c->limit = UINT64_MAX;
        run_phase(c, PHASE_LIFECYCLE, batches[b], seconds);
    }
}

static void open_engine(struct client *c)
{
    struct err err;
    os_file_discard(c->config.data_dir);
    if (engine_open(&c->config, &c->engine, &err) != ERR_OK) {
        check_fatal("engine_bench: %s", err.msg);
    }
    c->outbox.engine = c->engine;
    /* Put all operations in progress into one entry, if possible. */
    c->outbox.clients = 2 * ENGINE_OUTBOX_OPS_MAX;
}

static void close_engine(struct client *c)
{
    view_close(c->view);
    c->view = NULL;
    engine_close(c->engine);
    os_file_discard(c->config.data_dir);
}

static void open_view(struct client *c)
{
    struct view_config config = view_config_default();
    struct err err;
    config.engine = c->engine;
    config.dir = c->config.data_dir;
    c->view_lag_max = 0;
    if (view_open(&config, &c->view, &err) != ERR_OK) {
        check_fatal("engine_bench: %s", err.msg);
    }
}

/* Return the seconds until the rows and the full text index are complete. The status is polled,
 * because a query would make the view hurry. */
static double drain(struct client *c)
{
    struct mono start = os_clock_mono();
    struct view_status status;
    do {
        uv_sleep(10);
        view_status(c->view, &status);
    } while (status.lag > 0 || status.text_lag > 0);
    return (double)(os_clock_mono().ns - start.ns) / 1e9;
}

static double run_beside(struct client *c, bool with_view, int64_t seconds)
{
    open_engine(c);
    if (with_view) {
        open_view(c);
    }
    struct meter m = run_ops(c, PHASE_LIFECYCLE, SLOTS, seconds);
    double rate = (double)c->done / 3 / ((double)m.wall_ns / 1e9);
    printf("%-8s %12.0f %9.2f", with_view ? "with" : "without", rate,
           (double)(m.cpu_ns - m.thread_cpu_ns) / (double)c->done * 3 / 1e3);
    if (with_view) {
        printf(" %12" PRIu64 " %9.1f", c->view_lag_max, drain(c));
    }
    printf("\n");
    (void)fflush(stdout);
    close_engine(c);
    return rate;
}

static void run_view_rounds(struct client *c, int64_t seconds, int64_t rounds)
{
    double without = 0;
    double with = 0;
    printf("%-8s %12s %9s %12s %9s\n", "view", "lifecycles/s", "µs each", "behind", "drained s");
    for (int64_t i = 0; i < rounds; i++) {
        without += run_beside(c, false, seconds);
        with += run_beside(c, true, seconds);
    }
    printf("the view takes %.0f %% of the throughput\n", (1 - with / without) * 100);
}

static char *make_payload(size_t bytes)
{
    char *p = malloc(bytes + 3);
    CHECK(p != NULL);
    memset(p, 'x', bytes + 2);
    p[0] = '"';
    p[bytes + 1] = '"';
    p[bytes + 2] = '\0';
    return p;
}

struct options {
    int64_t seconds, payload, rounds;
    bool view;
};

static bool read_number(struct str arg, struct str name, const char *value, int64_t *out)
{
    return str_eq(arg, name) && value != NULL && str_to_i64(str_from_z(value), out);
}

static bool read_options(int argc, char **argv, struct client *c, struct options *o)
{
    for (int i = 1; i < argc; i++) {
        struct str arg = str_from_z(argv[i]);
        const char *value = argv[i + 1]; /* NULL after the last */
        if (str_eq(arg, STR("--fast"))) {
            c->config.node.durable = false;
        } else if (str_eq(arg, STR("--view"))) {
            o->view = true;
        } else if (str_eq(arg, STR("--dir")) && value != NULL) {
            c->config.data_dir = value;
            i++;
        } else if (read_number(arg, STR("--seconds"), value, &o->seconds) ||
                   read_number(arg, STR("--payload"), value, &o->payload) ||
                   read_number(arg, STR("--rounds"), value, &o->rounds)) {
            i++;
        } else {
            (void)fprintf(stderr, "engine_bench: do not know '%s'\n", argv[i]);
            return false;
        }
    }
    return true;
}

static void open_client(struct client *c, size_t payload)
{
    c->payload = make_payload(payload);
    CHECK(uv_loop_init(&c->loop) == 0);
    mailbox_open(&c->box, &c->loop);
    mailbox_on_turn(&c->box, end_of_turn, c);
    c->slots = calloc(SLOTS, sizeof *c->slots);
    CHECK(c->slots != NULL);
    for (unsigned i = 0; i < SLOTS; i++) {
        engine_op_init(&c->slots[i].op);
        c->slots[i].client = c;
        c->slots[i].op.done = op_done;
        c->slots[i].op.data = &c->slots[i];
        c->slots[i].op.reply_to = &c->box;
        c->slots[i].op.outbox = &c->outbox;
    }
}

static void close_client(struct client *c)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        engine_op_deinit(&c->slots[i].op);
    }
    mailbox_close(&c->box);
    (void)uv_run(&c->loop, UV_RUN_DEFAULT);
    mailbox_deinit(&c->box);
    CHECK(uv_loop_close(&c->loop) == 0);
    free(c->slots);
    free(c->jobs);
    free(c->payload);
}

int main(int argc, char **argv)
{
    struct client c = {.config = engine_config_default(), .limit = UINT64_MAX};
    struct options o = {.seconds = 3, .payload = 200, .rounds = 3};
    c.config.data_dir = "bench-data";
    if (!read_options(argc, argv, &c, &o)) {
        return 2;
    }
    open_client(&c, (size_t)o.payload);
    if (o.view) {
        run_view_rounds(&c, o.seconds, o.rounds);
    } else {
        open_engine(&c);
        run_all(&c, o.seconds);
        close_engine(&c);
    }
    close_client(&c);
    return 0;
}
