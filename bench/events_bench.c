/*
 * Events bench: many readers of the event stream of a running server, while new events are added.
 *
 *   events_bench PORT READERS EVENTS_PER_SECOND SECONDS [STALLED]
 *
 * It uses one thread with epoll. One connection enqueues jobs in batches at a constant rate.
 * READERS connections read the stream. The first reader checks every frame: no number may be
 * missing or repeated, and the age of the event is measured. The bytes of the other readers are
 * discarded inside the kernel, which is cheap. At the end, all readers must have received the same
 * number of bytes. STALLED more connections never read. Start the server with
 * --rate-limit-enabled=false.
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
#include "base/str.h"
#include "lib/meter.h"
#include "os/os_clock.h"

enum {
    READ_BYTES = 1 << 20,
    BATCHES_PER_S = 50,
    LATENCIES_MAX = 1 << 20,
    PATIENCE_S = 60,
    WAIT_MS = 5,
};

struct bench {
    uint16_t port;
    unsigned readers;
    unsigned stalled;
    uint64_t rate;
    int64_t seconds;

    int poll;
    int *fds; /* readers, then stalled ones */
    uint64_t *bytes;
    int producer;
    uint64_t asked, produced; /* numbers of events */
    bool busy;                /* a batch is in progress */
    struct buf request, reply;

    /* the first reader */
    struct buf in;
    uint64_t first_seq, next_seq;
    int64_t *latencies_ns;
    size_t latency_count;
};

static int connect_to(uint16_t port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int one = 1;
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons(port),
                             .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    CHECK(fd >= 0);
    if (connect(fd, (struct sockaddr *)&at, sizeof at) != 0) {
        (void)fprintf(stderr, "events_bench: nobody listens on port %u\n", port);
        exit(1);
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

static void send_all(int fd, struct str bytes)
{
    while (bytes.len > 0) {
        ssize_t n = write(fd, bytes.ptr, bytes.len);
        CHECK(n > 0);
        bytes = str_from_offset(bytes, (size_t)n);
    }
}

static void fail(const char *what)
{
    (void)fprintf(stderr, "events_bench: %s\n", what);
    exit(1);
}

/* ---- readers ---- */

static void open_stream(struct bench *b, unsigned i)
{
    b->fds[i] = connect_to(b->port);
    send_all(b->fds[i], STR("GET /api/v1/events?tail=0 HTTP/1.1\r\nHost: bench\r\n\r\n"));
    /* Read the head byte by byte, so that every stream has begun and only frames are counted. */
    char last[4] = "";
    while (memcmp(last, "\r\n\r\n", 4) != 0) {
        memmove(last, last + 1, 3);
        CHECK(read(b->fds[i], last + 3, 1) == 1);
    }
    if (i < b->readers) {
        struct epoll_event e = {.events = EPOLLIN, .data.u32 = i};
        CHECK(epoll_ctl(b->poll, EPOLL_CTL_ADD, b->fds[i], &e) == 0);
    }
}

static uint64_t number_behind(const char *text, const char *mark)
{
    const char *at = strstr(text, mark);
    int64_t n = 0;
    CHECK(at != NULL);
    at += strlen(mark);
    CHECK(str_to_i64(str_from(at, strspn(at, "0123456789")), &n));
    return (uint64_t)n;
}

static void look_at(struct bench *b, const char *frame)
{
    uint64_t seq = number_behind(frame, "id: ");
    if (b->next_seq == 0) {
        b->first_seq = b->next_seq = seq;
    }
    if (seq != b->next_seq) {
        fail("an event is missing or came twice");
    }
    b->next_seq++;
    if (b->latency_count < LATENCIES_MAX) {
        b->latencies_ns[b->latency_count++] =
            os_clock_wall().ns - (int64_t)number_behind(frame, "\"at_ns\":");
    }
}

/* Frames end with an empty line. The text between them is sizes of chunks. */
static void look_at_frames(struct bench *b)
{
    char *from = b->in.ptr;
    char *end;
    buf_add_char(&b->in, '\0');
    while ((end = strstr(from, "\n\n")) != NULL) {
        *end = '\0';
        if (strstr(from, "data: ") != NULL) {
            look_at(b, from);
        }
        from = end + 2;
    }
    size_t left = b->in.len - 1 - (size_t)(from - b->in.ptr);
    memmove(b->in.ptr, from, left);
    b->in.len = left;
}

static void read_stream(struct bench *b, unsigned i)
{
    ssize_t n;
    if (i > 0) {
        n = recv(b->fds[i], NULL, READ_BYTES, MSG_TRUNC);
    } else {
        char *room = buf_reserve(&b->in, READ_BYTES);
        CHECK(room != NULL);
        n = read(b->fds[i], room, READ_BYTES);
        b->in.len += n > 0 ? (size_t)n : 0;
    }
    if (n <= 0) {
        fail("a stream that is read was cut");
    }
    b->bytes[i] += (uint64_t)n;
    if (i == 0) {
        look_at_frames(b);
    }
}

/* ---- the producer ---- */

static void make_request(struct bench *b)
{
    struct buf body;
    buf_init(&body, 64 << 20);
    buf_add_str(&body, STR("{\"jobs\":["));
    for (uint64_t i = 0; i < b->rate / BATCHES_PER_S; i++) {
        buf_add_str(&body, i == 0 ? STR_EMPTY : STR(","));
        buf_add_str(&body, STR("{\"queue\":\"bench\",\"payload\":{\"n\":12345}}"));
    }
    buf_add_str(&body, STR("]}"));
    buf_printf(&b->request,
               "POST /api/v1/enqueue/batch HTTP/1.1\r\nHost: bench\r\nContent-Length: %zu\r\n\r\n",
               body.len);
    buf_add_str(&b->request, buf_str(&body));
    buf_deinit(&body);
}

static void read_reply(struct bench *b)
{
    char *room = buf_reserve(&b->reply, READ_BYTES);
    CHECK(room != NULL);
    ssize_t n = read(b->producer, room, READ_BYTES);
    CHECK(n > 0);
    b->reply.len += (size_t)n;
    if (b->reply.ptr[b->reply.len - 1] != '\n') {
        return; /* a body ends with a newline and contains no other */
    }
    const char *body = memmem(b->reply.ptr, b->reply.len, "\r\n\r\n", 4);
    if (body == NULL || body + 4 == b->reply.ptr + b->reply.len) {
        return;
    }
    if (memcmp(b->reply.ptr, "HTTP/1.1 201", 12) != 0) {
        fail("an enqueue was refused");
    }
    buf_clear(&b->reply);
    b->produced += b->rate / BATCHES_PER_S;
    b->busy = false;
}

static void produce(struct bench *b, int64_t elapsed_ns)
{
    int64_t due = elapsed_ns * BATCHES_PER_S / NS_PER_S;
    if (!b->busy && elapsed_ns < b->seconds * NS_PER_S &&
        b->asked < (uint64_t)due * (b->rate / BATCHES_PER_S)) {
        b->busy = true;
        b->asked += b->rate / BATCHES_PER_S;
        send_all(b->producer, buf_str(&b->request));
    }
}

/* ---- the run ---- */

static bool is_over(const struct bench *b)
{
    if (b->busy || b->next_seq - b->first_seq < b->produced) {
        return false;
    }
    for (unsigned i = 1; i < b->readers; i++) {
        if (b->bytes[i] != b->bytes[0]) {
            return false;
        }
    }
    return true;
}

static void run(struct bench *b)
{
    int64_t start_ns = os_clock_mono().ns;
    for (;;) {
        struct epoll_event events[256];
        int n = epoll_wait(b->poll, events, COUNT_OF(events), WAIT_MS);
        CHECK(n >= 0 || errno == EINTR);
        for (int i = 0; i < n; i++) {
            if (events[i].data.u32 == UINT32_MAX) {
                read_reply(b);
            } else {
                read_stream(b, events[i].data.u32);
            }
        }
        int64_t elapsed_ns = os_clock_mono().ns - start_ns;
        produce(b, elapsed_ns);
        if (elapsed_ns > b->seconds * NS_PER_S && is_over(b)) {
            return;
        }
        if (elapsed_ns > (b->seconds + PATIENCE_S) * NS_PER_S) {
            fail("the readers did not get everything");
        }
    }
}

static int compare_ns(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void print(const struct bench *b, struct meter cost)
{
    double seconds = (double)cost.wall_ns / 1e9;
    double frames = (double)b->produced * b->readers;
    qsort(b->latencies_ns, b->latency_count, sizeof *b->latencies_ns, compare_ns);
    printf("%u readers, %u stalled: %.0f events/s, %.0f frames/s, %.0f MB/s in %.1f s\n",
           b->readers, b->stalled, (double)b->produced / seconds, frames / seconds,
           (double)b->bytes[0] * b->readers / seconds / 1e6, seconds);
    printf("latency of the first reader: median %.1f ms, 99%% %.1f ms, longest %.1f ms\n",
           (double)b->latencies_ns[b->latency_count / 2] / 1e6,
           (double)b->latencies_ns[b->latency_count * 99 / 100] / 1e6,
           (double)b->latencies_ns[b->latency_count - 1] / 1e6);
    printf("generator: %.2f s of CPU\n", (double)cost.cpu_ns / 1e9);
}

static bool parse(struct bench *b, int argc, char **argv)
{
    int64_t n[5] = {0};
    for (int i = 1; i < argc && i <= 5; i++) {
        if (!str_to_i64(str_from_z(argv[i]), &n[i - 1]) || n[i - 1] < 0) {
            return false;
        }
    }
    b->port = (uint16_t)n[0];
    b->readers = (unsigned)n[1];
    b->rate = (uint64_t)n[2];
    b->seconds = n[3];
    b->stalled = (unsigned)n[4];
    return (argc == 5 || argc == 6) && n[1] > 0 && n[2] >= BATCHES_PER_S && n[3] > 0;
}

int main(int argc, char **argv)
{
    struct bench b = {0};
    if (!parse(&b, argc, argv)) {
        (void)fprintf(stderr,
                      "usage: events_bench PORT READERS EVENTS_PER_SECOND SECONDS [STALLED]\n");
        return 2;
    }
    b.poll = epoll_create1(EPOLL_CLOEXEC);
    b.fds = calloc(b.readers + b.stalled, sizeof *b.fds);
    b.bytes = calloc(b.readers, sizeof *b.bytes);
    b.latencies_ns = calloc(LATENCIES_MAX, sizeof *b.latencies_ns);
    CHECK(b.poll >= 0 && b.fds != NULL && b.bytes != NULL && b.latencies_ns != NULL);
    buf_init(&b.in, 64 << 20);
    buf_init(&b.request, 64 << 20);
    buf_init(&b.reply, 64 << 20);
    make_request(&b);
    b.producer = connect_to(b.port);
    struct epoll_event e = {.events = EPOLLIN, .data.u32 = UINT32_MAX};
    CHECK(epoll_ctl(b.poll, EPOLL_CTL_ADD, b.producer, &e) == 0);
    for (unsigned i = 0; i < b.readers + b.stalled; i++) {
        open_stream(&b, i);
    }
    struct meter start = meter_now();
    run(&b);
    print(&b, meter_since(start));
    return 0;
}
