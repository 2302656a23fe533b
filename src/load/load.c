#include "load/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/check.h"
#include "load/load_int.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "os/os_process.h"

enum { THREAD_CLIENTS = 64 };

/* Threads */

static void *thread_main(void *data)
{
    struct load_thread *t = data;
    load_loop__thread(t);
    if (atomic_fetch_sub(&t->run->threads_left, 1) == 1) {
        load_run__raise(t->run->over_fd);
    }
    return NULL;
}

/* May the two clients share a connection? Over the binary protocol, jobs are pushed to a connection
 * for one worker, so two workers cannot share it. */
static bool may_share(const struct load_thread *t, const struct load_client *a,
                      const struct load_client *b)
{
    return t->wire != &load_binary_wire ||
           (a->is_producer == b->is_producer && (a->is_producer || a->worker == b->worker));
}

static struct load_conn *conn_for(struct load_thread *t, const struct load_client *client,
                                  size_t each)
{
    for (size_t i = 0; i < t->conn_count && each > 1; i++) {
        struct load_conn *c = &t->conns[i];
        if (c->client_count < each && may_share(t, c->clients[0], client)) {
            return c;
        }
    }
    struct load_conn *c = &t->conns[t->conn_count++];
    *c = (struct load_conn){.fd = -1, .thread = t};
    buf_init(&c->in, LOAD_ANSWER_BYTES);
    buf_init(&c->out, SIZE_MAX / 2);
    buf_init(&c->pushed, LOAD_ANSWER_BYTES);
    buf_init(&c->acks, SIZE_MAX / 2);
    c->clients = calloc(each, sizeof(struct load_client *));
    CHECK(c->clients != NULL);
    return c;
}

/* Distribute the clients evenly over the connections. */
static void make_conns(struct load_thread *t)
{
    size_t most = t->wire == &load_http1_wire ? 1 : LOAD_CONN_CLIENTS;
    size_t count = (t->client_count + most - 1) / most;
    size_t each = (t->client_count + count - 1) / count;
    t->conns = calloc(t->client_count, sizeof *t->conns);
    CHECK(t->conns != NULL);
    for (size_t i = 0; i < t->client_count; i++) {
        struct load_conn *c = conn_for(t, &t->clients[i], each);
        c->clients[c->client_count++] = &t->clients[i];
        t->clients[i].conn = c;
    }
}

static void make_thread(struct load_run *run, unsigned number, size_t producers, size_t clients)
{
    struct load_thread *t = &run->threads[number];
    t->run = run;
    bool binary = run->plan->protocol == LOAD_BINARY;
    bool http2 = !binary && (run->plan->http2 || run->plan->protocol != LOAD_HTTP);
    t->wire = binary ? &load_binary_wire : http2 ? &load_http2_wire : &load_http1_wire;
    t->client_count = (clients - number + run->thread_count - 1) / run->thread_count;
    t->clients_left = t->client_count;
    t->clients = calloc(t->client_count, sizeof *t->clients);
    CHECK(t->clients != NULL);
    for (size_t i = 0; i < t->client_count; i++) {
        size_t client = number + i * run->thread_count;
        bool is_producer = client < producers;
        size_t worker = is_producer ? client : (client - producers) % run->plan->workers;
        load_client__init(&t->clients[i], t, is_producer, (unsigned)worker);
    }
    make_conns(t);
}

static void free_thread(struct load_thread *t)
{
    for (size_t i = 0; i < t->conn_count; i++) {
        buf_deinit(&t->conns[i].in);
        buf_deinit(&t->conns[i].out);
        buf_deinit(&t->conns[i].pushed);
        buf_deinit(&t->conns[i].acks);
        free(t->conns[i].clients);
    }
    for (size_t i = 0; i < t->client_count; i++) {
        load_client__deinit(&t->clients[i]);
    }
    load_windows_deinit(&t->windows);
    free(t->conns);
    free(t->clients);
}

static unsigned thread_count(const struct load_plan *plan, size_t clients)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    size_t most = cpus < 1 ? 1 : (size_t)cpus;
    size_t count = (clients + THREAD_CLIENTS - 1) / THREAD_CLIENTS;
    count = plan->threads > 0 ? plan->threads : count < most ? count : most;
    return (unsigned)(count > clients ? clients : count);
}

/* Start and finish */

enum err_code load_start(const struct load_plan *plan, enum load_phase phase, uint64_t expected,
                         struct load_run **out, struct err *err)
{
    size_t producers = phase == LOAD_PROCESS ? 0 : plan->producers;
    size_t streams = phase == LOAD_ENQUEUE ? 0 : (size_t)plan->workers * plan->streams;
    if (producers + streams == 0 || producers + streams > LOAD_CLIENTS_MAX) {
        return err_set(err, ERR_VALIDATION, "expected 1 to %d concurrent requests, got %zu",
                       LOAD_CLIENTS_MAX, producers + streams);
    }
    CHECK(plan->fetch_batch >= 1 && plan->fetch_batch <= LOAD_BATCH_MAX);
    CHECK(plan->ack_batch >= 1 && plan->ack_batch <= LOAD_BATCH_MAX && plan->enqueue_batch >= 1);
    struct load_run *run = calloc(1, sizeof *run);
    CHECK(run != NULL);
    run->plan = plan;
    run->phase = phase;
    run->enqueued = expected;
    run->producers_left = (unsigned)producers;
    run->stop_fd = eventfd(0, EFD_CLOEXEC);
    run->over_fd = eventfd(0, EFD_CLOEXEC);
    CHECK(run->stop_fd >= 0 && run->over_fd >= 0);
    (void)os_process_raise_files(); /* if the limit is too low, a later system call reports it */
    load_client__texts_init(run);
    run->thread_count = thread_count(plan, producers + streams);
    run->threads_left = run->thread_count;
    CHECK(run->thread_count > 0);
    run->threads = calloc(run->thread_count, sizeof *run->threads);
    CHECK(run->threads != NULL);
    for (unsigned i = 0; i < run->thread_count; i++) {
        make_thread(run, i, producers, producers + streams);
    }
    load_run__check_over(run); /* the run may be complete already */
    run->start_ns = os_clock_mono().ns;
    for (unsigned i = 0; i < run->thread_count; i++) {
        CHECK(pthread_create(&run->threads[i].id, NULL, thread_main, &run->threads[i]) == 0);
    }
    *out = run;
    return ERR_OK;
}

int load_fd(const struct load_run *run)
{
    return run->over_fd;
}

struct load_progress load_progress_of(struct load_run *run)
{
    return (struct load_progress){.enqueued = atomic_load(&run->enqueued),
                                  .acked = atomic_load(&run->acked),
                                  .dropped = atomic_load(&run->dropped),
                                  .errors = atomic_load(&run->errors)};
}

void load_finish(struct load_run *run, struct load_result *result)
{
    memset(result, 0, sizeof *result);
    for (unsigned i = 0; i < run->thread_count; i++) {
        CHECK(pthread_join(run->threads[i].id, NULL) == 0);
    }
    result->took_ns = os_clock_mono().ns - run->start_ns;
    for (unsigned i = 0; i < run->thread_count; i++) {
        struct load_thread *t = &run->threads[i];
        result->overloaded += t->overloaded;
        result->rate_limited += t->rate_limited;
        load_histogram_merge(&result->latency, &t->latency);
        load_histogram_merge(&result->server, &t->server);
        load_windows_merge(&result->windows, &t->windows);
        if (!result->refused && t->reason[0] != '\0') {
            memcpy(result->reason, t->reason, sizeof result->reason);
        }
        result->refused = result->refused || t->refused;
        free_thread(t);
    }
    result->enqueued = run->enqueued;
    result->dropped = run->dropped;
    result->errors = run->errors;
    result->completed = run->phase == LOAD_ENQUEUE ? run->enqueued : run->acked;
    result->total =
        run->phase == LOAD_PROCESS || run->plan->duration_ns > 0 ? run->enqueued : run->plan->jobs;
    load_client__texts_deinit(run);
    (void)close(run->stop_fd);
    (void)close(run->over_fd);
    free(run->threads);
    free(run);
}
