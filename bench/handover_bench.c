/*
 * Handover bench: how long a job takes to reach a worker that waits for it, compared with the
 * response to a durable enqueue for which nobody waits.
 *
 * One thread, blocking sockets, one request at a time. The two kinds of rounds alternate, so both
 * meet the same disk and the same machine:
 *
 *   alone      enqueue, and wait for the response
 *   hand-over  once a fetch waits: enqueue, and wait until the worker has the job
 *
 * It also counts the flushes of the log during each round. Start a durable server with
 * --rate-limit-enabled=false and without other clients.
 *
 *   handover_bench PORT [ROUNDS]     ROUNDS: 2000 by default
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/str.h"
#include "os/os_clock.h"

enum { ROUNDS = 2000, ANSWER_BYTES_MAX = 1 << 20 };

struct peer {
    int fd;
    struct buf in; /* the last answer */
};

static const char job[] =
    "{\"queue\":\"%s\",\"payload\":{\"to\":\"user@example.com\",\"n\":12345}}";

static void fail(const char *doing)
{
    perror(doing);
    exit(1);
}

static struct peer connect_to(uint16_t port)
{
    struct peer p = {.fd = socket(AF_INET, SOCK_STREAM, 0)};
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int on = 1;
    if (p.fd < 0 || connect(p.fd, (struct sockaddr *)&to, sizeof to) != 0 ||
        setsockopt(p.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) {
        fail("connect");
    }
    buf_init(&p.in, ANSWER_BYTES_MAX);
    return p;
}

static void peer_close(struct peer *p)
{
    (void)close(p->fd);
    buf_deinit(&p->in);
}

static void send_request(const struct peer *p, const char *method, const char *path,
                         const char *body)
{
    struct buf out;
    buf_init(&out, ANSWER_BYTES_MAX);
    buf_printf(&out,
               "%s %s HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n"
               "Content-Length: %zu\r\n\r\n%s",
               method, path, strlen(body), body);
    if (write(p->fd, out.ptr, out.len) != (ssize_t)out.len) {
        fail("write");
    }
    buf_deinit(&out);
}

/* Is the answer complete? *body is then the part after its head. */
static bool is_whole(const struct buf *in, struct str *body)
{
    static const char name[] = "Content-Length: ";
    const char *gap = memmem(in->ptr, in->len, "\r\n\r\n", 4);
    const char *length = memmem(in->ptr, in->len, name, sizeof name - 1);
    if (gap == NULL || length == NULL) {
        return false;
    }
    *body = str_from_offset(buf_str(in), (size_t)(gap - in->ptr) + 4);
    return body->len >= strtoul(length + sizeof name - 1, NULL, 10);
}

/* Wait for the answer. Returns its body, which is valid until the next answer. */
static struct str answer(struct peer *p)
{
    struct str body = STR_EMPTY;
    buf_clear(&p->in);
    while (!is_whole(&p->in, &body)) {
        char *room = buf_reserve(&p->in, 64 << 10);
        CHECK(room != NULL);
        ssize_t n = read(p->fd, room, 64 << 10);
        if (n <= 0) {
            fail("read");
        }
        p->in.len += (size_t)n;
    }
    if (p->in.ptr[9] != '2') {
        (void)fprintf(stderr, "handover_bench: refused: " STR_FMT "\n", STR_ARG(buf_str(&p->in)));
        exit(1);
    }
    return body;
}

static uint64_t number(struct str body, const char *name)
{
    const char *at = memmem(body.ptr, body.len, name, strlen(name));
    CHECK(at != NULL); /* the status has these members */
    return strtoull(at + strlen(name), NULL, 10);
}

/* Flushes so far. If a fetch is expected, waits until the server has parked it. */
static uint64_t flushes(struct peer *observer, bool parked)
{
    for (;;) {
        send_request(observer, "GET", "/api/v1/cluster/status", "");
        struct str body = answer(observer);
        if (!parked || number(body, "\"fetches_waiting\":") > 0) {
            return number(body, "\"log_flushes_total\":");
        }
    }
}

struct round {
    int64_t took_ns;
    uint64_t flushes;
};

static struct round one_round(struct peer *producer, struct peer *worker, struct peer *observer,
                              bool handover)
{
    char body[256];
    char path[128];
    if (handover) {
        send_request(worker, "POST", "/api/v1/fetch",
                     "{\"queues\":[\"handover\"],\"worker_id\":\"bench\",\"timeout\":60}");
    }
    uint64_t before = flushes(observer, handover);
    (void)snprintf(body, sizeof body, job, handover ? "handover" : "alone");
    int64_t began_ns = os_clock_mono().ns;
    send_request(producer, "POST", "/api/v1/enqueue", body);
    struct str taken = answer(handover ? worker : producer);
    struct round r = {.took_ns = os_clock_mono().ns - began_ns};
    if (handover) {
        static const char id[] = "\"job_id\":\"";
        const char *at = memmem(taken.ptr, taken.len, id, sizeof id - 1);
        CHECK(at != NULL);
        (void)snprintf(path, sizeof path, "/api/v1/ack/%.30s", at + sizeof id - 1);
        (void)answer(producer);
    }
    r.flushes = flushes(observer, false) - before;
    if (handover) {
        send_request(worker, "POST", path, "{}");
        (void)answer(worker);
    }
    return r;
}

static int by_time(const void *a, const void *b)
{
    const struct round *x = a;
    const struct round *y = b;
    return (x->took_ns > y->took_ns) - (x->took_ns < y->took_ns);
}

static double report(const char *name, struct round *rounds, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += rounds[i].flushes;
    }
    qsort(rounds, count, sizeof *rounds, by_time);
    double p50_us = (double)rounds[count / 2].took_ns / 1e3;
    (void)printf("%-10s p50 %7.1f us   p90 %7.1f us   p99 %7.1f us   %.3f flushes\n", name, p50_us,
                 (double)rounds[count * 9 / 10].took_ns / 1e3,
                 (double)rounds[count * 99 / 100].took_ns / 1e3, (double)sum / (double)count);
    return p50_us;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        (void)fprintf(stderr, "usage: handover_bench PORT [ROUNDS]\n");
        return 2;
    }
    uint16_t port = (uint16_t)strtoul(argv[1], NULL, 10);
    size_t count = argc > 2 ? strtoul(argv[2], NULL, 10) : ROUNDS;
    struct peer producer = connect_to(port);
    struct peer worker = connect_to(port);
    struct peer observer = connect_to(port);
    struct round *kinds[2];
    for (unsigned kind = 0; kind < 2; kind++) {
        kinds[kind] = calloc(count, sizeof **kinds);
        CHECK(count > 0 && kinds[kind] != NULL);
    }
    for (size_t i = 0; i < count; i++) {
        for (unsigned kind = 0; kind < 2; kind++) {
            kinds[kind][i] = one_round(&producer, &worker, &observer, kind == 1);
        }
    }
    double alone_us = report("alone", kinds[0], count);
    double handover_us = report("hand-over", kinds[1], count);
    (void)printf("hand-over / alone %.2f (wanted at most 1.3)\n", handover_us / alone_us);
    free(kinds[0]);
    free(kinds[1]);
    peer_close(&producer);
    peer_close(&worker);
    peer_close(&observer);
    return 0;
}
