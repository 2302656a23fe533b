/*
 * Node bench: only Raft and its log, with a state machine that does nothing.
 *
 * A group of one node. Each entry has a number of operations of 300 bytes, and the node decides how
 * many entries are in progress. It prints operations per second, CPU per operation (of the loop's
 * thread, of the other threads, and in total) and flushes per second.
 *
 *   node_bench [--dir DIR] [--seconds S] [--fast]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "base/check.h"
#include "cluster/node.h"
#include "lib/meter.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "os/os_file.h"

enum { OP_BYTES = 300 };

struct bench {
    uv_loop_t loop;
    struct node *node;
    uint64_t applied;
    bool leads, closed;
    /* of the phase */
    size_t entry_bytes;
    int64_t end_ns;
    uint64_t done;
    unsigned busy;
};

/* The state machine */

static void fsm_apply(void *data, uint64_t index, struct str entry)
{
    struct bench *b = data;
    (void)entry;
    b->applied = index;
}

static uint64_t fsm_applied_index(void *data)
{
    const struct bench *b = data;
    return b->applied;
}

/* A snapshot is an empty folder. */
static enum err_code fsm_checkpoint(void *data, const char *dir, struct err *err)
{
    (void)data;
    return os_file_make_dirs(dir, err);
}

static enum err_code fsm_restore(void *data, const char *dir, struct err *err)
{
    (void)data;
    (void)dir;
    return err_set(err, ERR_INTERNAL, "a bench does not restore");
}

static void fsm_leads_changed(void *data, bool leads)
{
    struct bench *b = data;
    b->leads = leads;
    uv_stop(&b->loop);
}

/* Proposing */

static void propose(struct bench *b, struct node_propose *p);

static void propose_done(struct node_propose *p)
{
    struct bench *b = p->data;
    CHECK(p->err.code == ERR_OK);
    b->done++;
    b->busy--;
    if (os_clock_mono().ns < b->end_ns) {
        propose(b, p);
    } else if (b->busy == 0) {
        uv_stop(&b->loop);
    }
}

static void propose(struct bench *b, struct node_propose *p)
{
    *p = (struct node_propose){
        .bytes = malloc(b->entry_bytes), .len = b->entry_bytes, .done = propose_done, .data = b};
    CHECK(p->bytes != NULL);
    memset(p->bytes, 'x', b->entry_bytes);
    b->busy++;
    node_propose(b->node, p);
}

static void run_phase(struct bench *b, unsigned batch, int64_t seconds)
{
    struct node_propose slots[16];
    struct node_status before;
    struct node_status after;
    unsigned depth = node_depth(b->node);
    CHECK(depth <= COUNT_OF(slots));
    b->entry_bytes = ((size_t)batch * OP_BYTES + 7) / 8 * 8;
    b->done = 0;
    b->end_ns = os_clock_mono().ns + seconds * NS_PER_S;
    node_status(b->node, &before);
    struct meter start = meter_now();
    for (unsigned i = 0; i < depth; i++) {
        propose(b, &slots[i]);
    }
    (void)uv_run(&b->loop, UV_RUN_DEFAULT);
    struct meter m = meter_since(start);
    node_status(b->node, &after);
    double n = (double)b->done * batch;
    double s = (double)m.wall_ns / 1e9;
    printf("%5u %10.0f %9.2f %9.2f %9.2f %9.0f\n", batch, n / s, (double)m.thread_cpu_ns / n / 1e3,
           (double)(m.cpu_ns - m.thread_cpu_ns) / n / 1e3, (double)m.cpu_ns / n / 1e3,
           (double)(after.flush_count - before.flush_count) / s);
    (void)fflush(stdout);
}

static void node_closed(void *data)
{
    struct bench *b = data;
    b->closed = true;
}

static bool parse_options(int argc, char **argv, struct node_config *config, int64_t *seconds)
{
    for (int i = 1; i < argc; i++) {
        struct str arg = str_from_z(argv[i]);
        if (str_eq(arg, STR("--fast"))) {
            config->durable = false;
        } else if (i + 1 < argc && str_eq(arg, STR("--dir"))) {
            config->dir = argv[++i];
        } else if (i + 1 < argc && str_eq(arg, STR("--seconds"))) {
            if (!str_to_i64(str_from_z(argv[++i]), seconds)) {
                return false;
            }
        } else {
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    static const unsigned batches[] = {1, 32, 128, 512};
    struct bench b = {0};
    struct err err;
    int64_t seconds = 3;
    struct node_config config = node_config_default();
    const struct node_fsm fsm = {.data = &b,
                                 .apply = fsm_apply,
                                 .applied_index = fsm_applied_index,
                                 .checkpoint = fsm_checkpoint,
                                 .restore = fsm_restore,
                                 .leads_changed = fsm_leads_changed};
    config.dir = "bench-data";
    config.id = 1;
    config.address = "127.0.0.1:9000";
    if (!parse_options(argc, argv, &config, &seconds)) {
        (void)fprintf(stderr, "usage: node_bench [--dir DIR] [--seconds S] [--fast]\n");
        return 2;
    }
    log_configure(LOG_WARN, LOG_TEXT);
    os_file_discard(config.dir);
    CHECK(uv_loop_init(&b.loop) == 0);
    if (os_file_make_dirs(config.dir, &err) != ERR_OK ||
        node_open(&b.loop, &config, &fsm, &b.node, &err) != ERR_OK) {
        (void)fprintf(stderr, "node_bench: %s\n", err.msg);
        return 1;
    }
    while (!b.leads) {
        (void)uv_run(&b.loop, UV_RUN_DEFAULT);
    }
    printf("%5s %10s %9s %9s %9s %9s   CPU µs/op\n", "batch", "ops/s", "loop", "others", "total",
           "flush/s");
    for (size_t i = 0; i < COUNT_OF(batches); i++) {
        run_phase(&b, batches[i], seconds);
    }
    node_close(b.node, node_closed, &b);
    while (!b.closed) {
        (void)uv_run(&b.loop, UV_RUN_DEFAULT);
    }
    CHECK(uv_loop_close(&b.loop) == 0);
    os_file_discard(config.dir);
    return 0;
}
