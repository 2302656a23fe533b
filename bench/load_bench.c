/*
 * Load bench: the same work on Corvo over HTTP/1.1 and on beanstalkd, from one generator.
 *
 * One thread with epoll serves a number of connections, each with one request at a time. Requests
 * are built once, and answers are parsed only to find their end, so that the generator costs
 * little. It prints requests per second, and the generator's own CPU per request. A request that is
 * refused with 429 is sent again after the time in the answer.
 *
 *   load_bench MODE PORT CONNECTIONS SECONDS [ROUNDS [REQUESTS]]
 *   modes: corvo-enqueue, corvo-batch (100 jobs a request), corvo-lifecycle (enqueue, fetch, ack),
 *          corvo-next (enqueue, ack of the previous job with the next fetch),
 *          beanstalk-put, beanstalk-drain (reserve, delete), beanstalk-lifecycle (all three)
 *
 * A lifecycle counts once for its three requests. If ROUNDS is not 0, the bench ends after this
 * many rounds, if that is sooner. Without REQUESTS, each connection sends the next request as soon
 * as it has an answer. With REQUESTS, all connections together send this many requests per second,
 * including refused ones, if answers arrive in time.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/heap.h"
#include "base/str.h"
#include "lib/meter.h"
#include "os/os_clock.h"

enum {
    READ_BYTES = 64 * 1024,
    REPLY_BYTES_MAX = 1 << 20,
    EVENTS = 256,
    BATCH = 100,
    STEPS_MAX = 3,
    CORVO_ID_LEN = 30,
};

struct mode;

enum outcome {
    MORE,    /* the answer is incomplete */
    DONE,    /* the answer is complete, and the values for the next step are stored */
    REFUSED, /* again_ns has the time at which to send the request again */
};

struct connection {
    int fd;
    unsigned step;
    struct buf out[STEPS_MAX]; /* the request of each step */
    struct buf in;             /* the answer so far */
    char id[64];               /* of the current job of a lifecycle */
    size_t id_len;
    int64_t again_ns;     /* after a refusal: do not send before this time */
    int64_t turn_ns;      /* with a rate: time of its next request */
    struct heap_node due; /* while it waits to send */
};

/* A kind of work: steps that each connection repeats. */
struct mode {
    const char *name;
    unsigned steps;
    uint64_t jobs_per_round;
    /* Make the request of the step. out is empty or has the last request of this step. */
    void (*request)(struct connection *c, unsigned step, struct buf *out);
    enum outcome (*answered)(struct connection *c, unsigned step);
};

static const char payload[] = "{\"to\":\"user@example.com\",\"template\":\"welcome\",\"n\":12345}";

/* Corvo */

static void http_post(struct buf *out, const char *path, struct str id, struct str body)
{
    buf_printf(out,
               "POST %s" STR_FMT " HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n"
               "Content-Length: %zu\r\n\r\n",
               path, STR_ARG(id), body.len);
    buf_add_str(out, body);
}

static void corvo_job(struct buf *b)
{
    buf_printf(b, "{\"queue\":\"bench\",\"payload\":%s}", payload);
}

static void corvo_enqueue(struct connection *c, unsigned step, struct buf *out)
{
    struct buf body;
    (void)c;
    (void)step;
    if (out->len > 0) {
        return;
    }
    buf_init(&body, 1024);
    corvo_job(&body);
    http_post(out, "/api/v1/enqueue", STR_EMPTY, buf_str(&body));
    buf_deinit(&body);
}

static void corvo_batch(struct connection *c, unsigned step, struct buf *out)
{
    struct buf body;
    (void)c;
    (void)step;
    if (out->len > 0) {
        return;
    }
    buf_init(&body, 1 << 20);
    buf_printf(&body, "{\"jobs\":[");
    for (int i = 0; i < BATCH; i++) {
        buf_printf(&body, i == 0 ? "" : ",");
        corvo_job(&body);
    }
    buf_printf(&body, "]}");
    http_post(out, "/api/v1/enqueue/batch", STR_EMPTY, buf_str(&body));
    buf_deinit(&body);
}

static void corvo_lifecycle(struct connection *c, unsigned step, struct buf *out)
{
    static const char ack[] = "/api/v1/ack/";
    if (step == 0) {
        corvo_enqueue(c, step, out);
    } else if (step == 1) {
        if (out->len == 0) {
            http_post(out, "/api/v1/fetch", STR_EMPTY,
                      STR("{\"queues\":[\"bench\"],\"worker_id\":\"bench\"}"));
        }
    } else if (out->len == 0) {
        http_post(out, ack, str_from(c->id, c->id_len), STR("{}"));
    } else {
        memcpy(out->ptr + sizeof "POST " - 1 + sizeof ack - 1, c->id, CORVO_ID_LEN);
    }
}

/* The same, with the ack of the previous job and the fetch in one request. */
static void corvo_next(struct connection *c, unsigned step, struct buf *out)
{
    static const char ack[] = "POST /api/v1/ack/";
    if (step == 0) {
        corvo_enqueue(c, step, out);
    } else if (c->id_len == 0) {
        corvo_lifecycle(c, step, out);
    } else if (str_starts_with(buf_str(out), str_from_z(ack))) {
        memcpy(out->ptr + sizeof ack - 1, c->id, CORVO_ID_LEN);
    } else {
        buf_clear(out);
        http_post(
            out, ack + sizeof "POST " - 1, str_from(c->id, c->id_len),
            STR("{\"next\":{\"queues\":[\"bench\"],\"worker_id\":\"bench\",\"timeout\":30}}"));
    }
}

/* The number after the name of a header, or -1 if the header is missing. */
static int64_t header_number(struct str head, const char *name)
{
    const char *at = memmem(head.ptr, head.len, name, strlen(name));
    int64_t value = 0;
    if (at == NULL) {
        return -1;
    }
    for (at += strlen(name); *at == ' '; at++) {
    }
    for (; *at >= '0' && *at <= '9'; at++) {
        value = value * 10 + (*at - '0');
    }
    return value;
}

static enum outcome corvo_answered(struct connection *c, unsigned step)
{
    enum { LENGTH_WITHIN = 160 }; /* it is near the beginning of the head */
    static const struct str gap = {.ptr = "\r\n\r\n", .len = 4};
    struct str in = buf_str(&c->in);
    struct str head = str_from(in.ptr, in.len < LENGTH_WITHIN ? in.len : LENGTH_WITHIN);
    int64_t length = header_number(head, "ontent-Length:");
    size_t tail = gap.len + (size_t)(length < 0 ? 0 : length);
    /* The answer is complete if an empty line is followed by the number of bytes in the header.
     * Nothing else is checked. */
    if (in.len < tail || memcmp(in.ptr + in.len - tail, gap.ptr, gap.len) != 0) {
        return MORE;
    }
    size_t head_len = in.len - tail + gap.len;
    if (str_starts_with(str_from_offset(in, 9), STR("429"))) {
        int64_t ms = header_number(str_from(in.ptr, head_len), "Retry-After: 0.");
        CHECK(ms >= 0); /* every refusal has this header */
        c->again_ns = os_clock_mono().ns + ms * NS_PER_MS;
        return REFUSED;
    }
    if (in.ptr[9] != '2') {
        (void)fprintf(stderr, "load_bench: refused: " STR_FMT "\n", STR_ARG(in));
        exit(1);
    }
    if (step == 1) {
        const char *id = memmem(in.ptr, in.len, "\"job_id\":\"", 10);
        if (id == NULL) {
            (void)fprintf(stderr, "load_bench: no job: " STR_FMT "\n", STR_ARG(in));
            exit(1);
        }
        c->id_len = CORVO_ID_LEN;
        memcpy(c->id, id + 10, c->id_len);
    }
    return DONE;
}

/* beanstalkd */

static void beanstalk_request(struct connection *c, unsigned step, struct buf *out)
{
    if (step == 2) {
        buf_clear(out);
        buf_printf(out, "delete %.*s\r\n", (int)c->id_len, c->id);
    } else if (out->len > 0) {
        return;
    } else if (step == 0) {
        buf_printf(out, "put 1024 0 60 %zu\r\n%s\r\n", sizeof payload - 1, payload);
    } else {
        buf_printf(out, "reserve\r\n");
    }
}

static enum outcome beanstalk_answered(struct connection *c, unsigned step)
{
    struct str in = buf_str(&c->in);
    const char *end = memmem(in.ptr, in.len, "\r\n", 2);
    if (end == NULL) {
        return MORE;
    }
    static const char *const expected[] = {"INSERTED", "RESERVED", "DELETED"};
    if (!str_starts_with(in, str_from_z(expected[step]))) {
        (void)fprintf(stderr, "load_bench: refused: " STR_FMT "\n", STR_ARG(in));
        exit(1);
    }
    if (step != 1) {
        return DONE;
    }
    size_t line = (size_t)(end - in.ptr) + 2;
    if (in.len < line + sizeof payload - 1 + 2) {
        return MORE;
    }
    const char *from = in.ptr + 9;
    c->id_len = 0;
    while (from[c->id_len] != ' ') {
        c->id[c->id_len] = from[c->id_len];
        c->id_len++;
    }
    return DONE;
}

static void beanstalk_drain(struct connection *c, unsigned step, struct buf *out)
{
    beanstalk_request(c, step + 1, out);
}

static enum outcome beanstalk_drained(struct connection *c, unsigned step)
{
    return beanstalk_answered(c, step + 1);
}

static const struct mode modes[] = {
    {"corvo-enqueue", 1, 1, corvo_enqueue, corvo_answered},
    {"corvo-batch", 1, BATCH, corvo_batch, corvo_answered},
    {"corvo-lifecycle", 3, 1, corvo_lifecycle, corvo_answered},
    {"corvo-next", 2, 1, corvo_next, corvo_answered},
    {"beanstalk-put", 1, 1, beanstalk_request, beanstalk_answered},
    {"beanstalk-drain", 2, 1, beanstalk_drain, beanstalk_drained},
    {"beanstalk-lifecycle", 3, 1, beanstalk_request, beanstalk_answered},
};

/* The generator */

static int connect_to(uint16_t port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    int one = 1;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0) {
        (void)fprintf(stderr, "load_bench: cannot connect to port %u\n", port);
        exit(1);
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

static void send_request(const struct mode *m, struct connection *c)
{
    struct buf *out = &c->out[c->step];
    size_t sent = 0;
    m->request(c, c->step, out);
    CHECK(!out->overflow);
    buf_clear(&c->in);
    /* A request fits into the buffer of the socket, because there is only one at a time. */
    while (sent < out->len) {
        ssize_t n = send(c->fd, out->ptr + sent, out->len - sent, MSG_NOSIGNAL);
        CHECK(n > 0);
        sent += (size_t)n;
    }
}

static enum outcome receive(const struct mode *m, struct connection *c)
{
    ssize_t n;
    /* The kernel reports new bytes once, so read until a read does not fill the buffer. */
    do {
        char *room = buf_reserve(&c->in, READ_BYTES);
        CHECK(room != NULL);
        n = recv(c->fd, room, READ_BYTES, MSG_DONTWAIT);
        c->in.len += n > 0 ? (size_t)n : 0;
    } while (n == READ_BYTES);
    if (n == 0 || (n < 0 && errno != EAGAIN)) {
        (void)fprintf(stderr, "load_bench: the server closed a connection\n");
        exit(1);
    }
    return m->answered(c, c->step);
}

struct load {
    const struct mode *mode;
    struct connection *list;
    unsigned count;
    int64_t end_ns;
    int64_t gap_ns;  /* between two requests of a connection; 0: none */
    unsigned busy;   /* connections that continue: all, until the rounds run out */
    struct heap due; /* connections of these that wait to send */
    uint64_t rounds;
    uint64_t begun; /* rounds, including those in progress */
    uint64_t rounds_max;
    uint64_t refused;
};

/* Send after the time of a refusal and, with a rate, when it is the connection's turn. */
static void send_later(struct load *l, struct connection *c)
{
    c->turn_ns += l->gap_ns;
    heap_set(&l->due, &c->due, c->again_ns > c->turn_ns ? c->again_ns : c->turn_ns);
}

/* Send the requests whose time has come. */
static void send_due(struct load *l, int64_t now_ns)
{
    struct heap_node *first;
    while ((first = heap_first_until(&l->due, now_ns)) != NULL) {
        heap_remove(&l->due, first);
        send_request(l->mode, CONTAINER_OF(first, struct connection, due));
    }
}

static bool is_before(const struct heap_node *a, const struct heap_node *b)
{
    return a < b;
}

static void step(struct load *l, struct connection *c)
{
    enum outcome outcome = receive(l->mode, c);
    if (outcome == REFUSED) {
        l->refused++;
        send_later(l, c);
        return;
    }
    if (outcome == MORE) {
        return;
    }
    c->step = (c->step + 1) % l->mode->steps;
    l->rounds += c->step == 0 ? 1 : 0;
    if (c->step == 0 && l->begun == l->rounds_max) {
        l->busy--;
        return;
    }
    l->begun += c->step == 0 ? 1 : 0;
    if (l->gap_ns > 0) {
        send_later(l, c);
    } else {
        send_request(l->mode, c);
    }
}

static void run(struct load *l)
{
    int poll = epoll_create1(0);
    CHECK(poll >= 0);
    int64_t start_ns = os_clock_mono().ns;
    for (unsigned i = 0; i < l->count; i++) {
        struct connection *c = &l->list[i];
        struct epoll_event e = {.events = EPOLLIN | EPOLLET, .data.u32 = i};
        CHECK(epoll_ctl(poll, EPOLL_CTL_ADD, c->fd, &e) == 0);
        c->turn_ns = start_ns - l->gap_ns + l->gap_ns * (int64_t)i / (int64_t)l->count;
        if (l->gap_ns > 0) {
            send_later(l, c);
        } else {
            send_request(l->mode, c);
        }
    }
    l->busy = l->count;
    l->begun = l->count;
    /* Requests in progress at the end do not count: waiting for them would add time with less and
     * less load. */
    for (int64_t now_ns = start_ns; l->busy > 0 && now_ns < l->end_ns;) {
        struct epoll_event events[EVENTS];
        int wait_ms = l->due.count > 0 ? 1 : (int)((l->end_ns - now_ns) / NS_PER_MS) + 1;
        int n = epoll_wait(poll, events, EVENTS, wait_ms);
        CHECK(n >= 0 || errno == EINTR);
        now_ns = os_clock_mono().ns;
        for (int i = 0; i < n; i++) {
            step(l, &l->list[events[i].data.u32]);
        }
        send_due(l, now_ns);
    }
    (void)close(poll);
}

int main(int argc, char **argv)
{
    const struct mode *m = NULL;
    int64_t port = 0;
    int64_t count = 0;
    int64_t seconds = 0;
    int64_t rounds = 0;
    int64_t rate = 0;
    for (size_t i = 0; argc >= 5 && argc <= 7 && i < COUNT_OF(modes); i++) {
        m = strcmp(argv[1], modes[i].name) == 0 ? &modes[i] : m;
    }
    if (m == NULL || !str_to_i64(str_from_z(argv[2]), &port) ||
        !str_to_i64(str_from_z(argv[3]), &count) || !str_to_i64(str_from_z(argv[4]), &seconds) ||
        (argc >= 6 && !str_to_i64(str_from_z(argv[5]), &rounds)) ||
        (argc == 7 && !str_to_i64(str_from_z(argv[6]), &rate)) || rate < 0 ||
        (rounds != 0 && rounds < count)) {
        (void)fprintf(stderr,
                      "usage: load_bench MODE PORT CONNECTIONS SECONDS [ROUNDS [REQUESTS]]\n");
        return 2;
    }
    struct connection *list = calloc((size_t)count, sizeof *list);
    CHECK(list != NULL);
    for (int64_t i = 0; i < count; i++) {
        list[i].fd = connect_to((uint16_t)port);
        for (unsigned step = 0; step < STEPS_MAX; step++) {
            buf_init(&list[i].out[step], REPLY_BYTES_MAX);
        }
        buf_init(&list[i].in, REPLY_BYTES_MAX);
        list[i].due = heap_node_out();
    }
    struct meter start = meter_now();
    struct load load = {.mode = m,
                        .list = list,
                        .count = (unsigned)count,
                        .rounds_max = rounds == 0 ? UINT64_MAX : (uint64_t)rounds,
                        .gap_ns = rate == 0 ? 0 : count * NS_PER_S / rate,
                        .end_ns = os_clock_mono().ns + seconds * NS_PER_S};
    heap_init(&load.due, is_before);
    run(&load);
    struct meter cost = meter_since(start);
    double jobs = (double)(load.rounds * m->jobs_per_round);
    double wall_s = (double)cost.wall_ns / 1e9;
    printf("%-20s %4lld connections %10.0f jobs/s   generator %.2f µs/job", m->name,
           (long long)count, jobs / wall_s, (double)cost.cpu_ns / jobs / 1e3);
    if (load.refused > 0) {
        printf("   refused %.0f requests/s", (double)load.refused / wall_s);
    }
    printf("\n");
    for (int64_t i = 0; i < count; i++) {
        (void)close(list[i].fd);
        for (unsigned step = 0; step < STEPS_MAX; step++) {
            buf_deinit(&list[i].out[step]);
        }
        buf_deinit(&list[i].in);
    }
    heap_deinit(&load.due);
    free(list);
    return 0;
}
