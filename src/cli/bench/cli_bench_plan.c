/*
 * Reads the settings of a benchmark from the flags: sizes, queue, address.
 */
#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <poll.h>

#include "base/check.h"
#include "base/limits.h"
#include "cli/bench/cli_bench.h"
#include "os/os_file.h"

enum { REPEATS_MAX = 1000, RATE_MAX = 1000000000 };

static const struct preset {
    const char *name;
    int64_t jobs, concurrency, workers;
    bool worker_queues;
    int64_t work_ms;
} presets[] = {
    {"single-node", 10000, 10, 1, false, 0},
    {"cluster", 50000, 50, 5, true, 0},
    {"failure", 10000, 20, 3, false, 5},
};

static const struct preset *preset_of(const struct cli *cli)
{
    for (size_t i = 0; i < COUNT_OF(presets); i++) {
        if (str_eq(cli_text(cli, "preset"), str_from_z(presets[i].name))) {
            return &presets[i];
        }
    }
    return NULL;
}

/* The value of the flag if given, else of the preset, else the default. */
static int64_t chosen(const struct cli *cli, const char *name, const int64_t *from_preset)
{
    return from_preset == NULL || cli_given(cli, name) ? cli_int(cli, name) : *from_preset;
}

static unsigned batch_size(const struct cli *cli, const char *name, unsigned most)
{
    int64_t n = cli_int(cli, name);
    return n <= 0 ? 1 : n > most ? most : (unsigned)n;
}

static int check_range(struct cli *cli, const char *name, int64_t value, int64_t from, int64_t to)
{
    return value >= from && value <= to ? CLI_OK
                                        : cli_fail(cli, "--%s must be between %lld and %lld", name,
                                                   (long long)from, (long long)to);
}

static int read_sizes(struct cli *cli, struct cli_bench_plan *plan)
{
    struct load_plan *load = &plan->load;
    const struct preset *p = preset_of(cli);
    int64_t jobs = chosen(cli, "jobs", p == NULL ? NULL : &p->jobs);
    int64_t concurrency = chosen(cli, "concurrency", p == NULL ? NULL : &p->concurrency);
    int64_t workers = chosen(cli, "workers", p == NULL ? NULL : &p->workers);
    int64_t work_ms = chosen(cli, "work-duration", p == NULL ? NULL : &p->work_ms);
    const struct {
        const char *name;
        int64_t value, from, to;
    } rows[] = {
        {"jobs", jobs, 1, UINT32_MAX},
        {"concurrency", concurrency, 1, LOAD_CLIENTS_MAX / 2},
        {"workers", workers, 1, LOAD_CLIENTS_MAX / 2},
        {"threads", cli_int(cli, "threads"), 0, 256},
        {"repeats", cli_int(cli, "repeats"), 1, REPEATS_MAX},
        {"payload-bytes", cli_int(cli, "payload-bytes"), LOAD_PAYLOAD_MIN, LIMIT_PAYLOAD_BYTES},
        {"rate", cli_int(cli, "rate"), 0, RATE_MAX},
        {"work-duration", work_ms, 0, (int64_t)60 * 1000},
        {"duration", cli_int(cli, "duration"), 0, (int64_t)LOAD_WINDOWS_MAX * 1000},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int code = check_range(cli, rows[i].name, rows[i].value, rows[i].from, rows[i].to);
        if (code != CLI_OK) {
            return code;
        }
    }
    load->jobs = (uint64_t)jobs;
    load->producers = load->streams = (unsigned)concurrency;
    load->workers = (unsigned)workers;
    load->worker_queues = p != NULL && !cli_given(cli, "worker-queues")
                              ? p->worker_queues
                              : cli_bool(cli, "worker-queues");
    load->rate = (uint64_t)cli_int(cli, "rate");
    load->work_ns = work_ms * NS_PER_MS;
    load->threads = (unsigned)cli_int(cli, "threads");
    load->payload_bytes = (size_t)cli_int(cli, "payload-bytes");
    load->duration_ns = cli_int(cli, "duration") * NS_PER_MS;
    load->enqueue_batch = batch_size(cli, "enqueue-batch-size", LOAD_ENQUEUE_MAX);
    if (load->protocol == LOAD_RPC && !cli_given(cli, "enqueue-batch-size")) {
        load->enqueue_batch = 1; /* RPC has no batches */
    }
    load->fetch_batch = batch_size(cli, "fetch-batch-size", LOAD_BATCH_MAX);
    load->ack_batch = batch_size(cli, "ack-batch-size", LOAD_BATCH_MAX);
    load->separate_fetch = cli_bool(cli, "separate-fetch");
    if (load->payload_bytes * load->enqueue_batch > LOAD_BODY_BYTES) {
        return cli_fail(cli, "%u payloads of %zu bytes are too large for one request",
                        load->enqueue_batch, load->payload_bytes);
    }
    plan->combined = cli_bool(cli, "combined") || load->duration_ns > 0;
    plan->repeats = (size_t)cli_int(cli, "repeats");
    return CLI_OK;
}

static int read_queue(struct cli *cli, struct cli_bench_plan *plan)
{
    enum { SUFFIX_BYTES = 8 }; /* ".w16384" */
    struct str queue = cli_text(cli, "queue");
    if (queue.len == 0 || queue.len + SUFFIX_BYTES > LIMIT_QUEUE_NAME_BYTES) {
        return cli_fail(cli, "--queue must have 1 to %d bytes",
                        LIMIT_QUEUE_NAME_BYTES - SUFFIX_BYTES);
    }
    /* The name is copied into JSON without escaping. The server checks the rest. */
    if (str_has_control(queue) || memchr(queue.ptr, '"', queue.len) != NULL ||
        memchr(queue.ptr, '\\', queue.len) != NULL) {
        return cli_fail(cli, "--queue is not a valid queue name");
    }
    plan->load.queue = arena_strz(cli->arena, queue);
    CHECK(plan->load.queue != NULL);
    return CLI_OK;
}

/* Does the address accept a connection? A host name may also have addresses without a listener. A
 * signal ends the wait. */
static bool is_answering(struct cli *cli, const struct addrinfo *at, bool *out_interrupted)
{
    int64_t timeout_ms = cli_int(cli, "timeout");
    int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct pollfd fds[] = {{.fd = fd, .events = POLLOUT}, {.fd = cli->signal_fd, .events = POLLIN}};
    bool good = fd >= 0 && connect(fd, at->ai_addr, at->ai_addrlen) == 0;
    if (fd >= 0 && !good && errno == EINPROGRESS) {
        int problem = 0;
        socklen_t size = sizeof problem;
        (void)poll(fds, COUNT_OF(fds),
                   timeout_ms > 0 && timeout_ms < INT_MAX ? (int)timeout_ms : -1);
        good = fds[0].revents != 0 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem, &size) == 0 &&
               problem == 0;
    }
    *out_interrupted = fds[1].revents != 0;
    os_file_close(fd);
    return good;
}

/* Resolve the host and port of the server's URL, or of --rpc-address for the binary protocol. */
static int resolve(struct cli *cli, struct cli_bench_plan *plan)
{
    bool binary = plan->load.protocol == LOAD_BINARY;
    struct str url = cli_text(cli, binary ? "rpc-address" : "server");
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    if (str_starts_with(url, STR("https://"))) {
        return cli_fail(cli, "bench does not support TLS: use the server's plain port");
    }
    url = str_starts_with(url, STR("http://")) ? str_from_offset(url, 7) : url;
    const char *slash = url.len == 0 ? NULL : memchr(url.ptr, '/', url.len);
    url.len = slash == NULL ? url.len : (size_t)(slash - url.ptr);
    char *host = arena_strz(cli->arena, url);
    plan->load.authority = arena_strz(cli->arena, url);
    CHECK(host != NULL && plan->load.authority != NULL);
    char *colon = strrchr(host, ':');
    if (colon != NULL && strchr(colon, ']') != NULL) {
        colon = NULL; /* IPv6 address without a port */
    }
    const char *port = colon == NULL ? "80" : colon + 1;
    if (colon != NULL) {
        *colon = '\0';
    }
    if (host[0] == '[' && strchr(host, ']') != NULL) {
        *strchr(host, ']') = '\0';
        host++;
    }
    int rc = getaddrinfo(host, port, &hints, &list);
    if (rc != 0) {
        return cli_fail(cli, "request failed: %s: %s", host, gai_strerror(rc));
    }
    const struct addrinfo *at = list;
    bool interrupted = false;
    while (at != NULL && !is_answering(cli, at, &interrupted) && !interrupted) {
        at = at->ai_next;
    }
    if (at != NULL) {
        CHECK(at->ai_addrlen <= sizeof plan->load.address);
        memcpy(&plan->load.address, at->ai_addr, at->ai_addrlen);
        plan->load.address_len = at->ai_addrlen;
    }
    freeaddrinfo(list);
    if (interrupted) {
        return cli_interrupted(cli);
    }
    return at != NULL ? CLI_OK
                      : cli_fail(cli, "request failed: no response from %s", plan->load.authority);
}

static void add_header(struct cli *cli, struct cli_bench_plan *plan, const char *name,
                       struct str value)
{
    if (value.len > 0) {
        const char *z = arena_strz(cli->arena, value);
        CHECK(z != NULL && plan->load.header_count < LOAD_HEADERS_MAX);
        plan->load.headers[plan->load.header_count++] = (struct load_header){name, z};
    }
}

static const char *const protocol_names[] = {
    [LOAD_HTTP] = "http", [LOAD_RPC] = "rpc", [LOAD_STREAM] = "stream", [LOAD_BINARY] = "binary"};

static int read_protocol(struct cli *cli, struct str protocol, struct cli_bench_plan *plan)
{
    for (size_t i = 0; i < COUNT_OF(protocol_names); i++) {
        if (str_eq(protocol, str_from_z(protocol_names[i]))) {
            plan->load.protocol = (enum load_protocol)i;
            plan->load.http2 =
                i == LOAD_RPC || i == LOAD_STREAM || (i == LOAD_HTTP && cli_bool(cli, "http2"));
            return CLI_OK;
        }
    }
    return cli_fail(cli, "--protocol must be http, rpc, stream, binary or matrix");
}

static int check_protocol(struct cli *cli, const struct cli_bench_plan *plan)
{
    const struct load_plan *load = &plan->load;
    if (load->protocol == LOAD_RPC && load->enqueue_batch > 1) {
        return cli_fail(cli, "--protocol rpc enqueues one job at a time: use stream for batches");
    }
    if (load->protocol != LOAD_BINARY) {
        return CLI_OK;
    }
    if (load->payload_bytes > UINT16_MAX) {
        return cli_fail(cli, "--protocol binary supports payloads of at most %d bytes", UINT16_MAX);
    }
    if (cli_text(cli, "namespace").len > 0) {
        return cli_fail(cli, "--protocol binary uses the namespace of its key: leave out "
                             "--namespace");
    }
    if (cli_text(cli, "api-key").len > UINT8_MAX) {
        return cli_fail(cli, "--protocol binary supports keys of at most %d bytes", UINT8_MAX);
    }
    return CLI_OK;
}

int cli_bench_plan_read(struct cli *cli, struct str protocol, struct cli_bench_plan *plan)
{
    int code = read_protocol(cli, protocol, plan);
    code = code == CLI_OK ? read_sizes(cli, plan) : code;
    code = code == CLI_OK ? read_queue(cli, plan) : code;
    code = code == CLI_OK ? resolve(cli, plan) : code;
    code = code == CLI_OK ? check_protocol(cli, plan) : code;
    add_header(cli, plan, "content-type",
               plan->load.protocol == LOAD_HTTP ? STR("application/json")
                                                : STR("application/grpc"));
    add_header(cli, plan, "x-api-key", cli_text(cli, "api-key"));
    add_header(cli, plan, "x-corvo-namespace", cli_text(cli, "namespace"));
    return code;
}

struct str cli_bench_plan_json(struct cli *cli, const struct cli_bench_plan *plan)
{
    const struct load_plan *p = &plan->load;
    return CLI_OBJECT(
        cli, CLI_SET_INT("jobs", (int64_t)p->jobs), CLI_SET_INT("concurrency", p->producers),
        CLI_SET_INT("workers", p->workers), CLI_SET_BOOL("worker_queues", p->worker_queues),
        CLI_SET_TEXT("protocol", str_from_z(protocol_names[p->protocol])),
        CLI_SET_BOOL("http2", p->http2), CLI_SET_INT("enqueue_batch", p->enqueue_batch),
        CLI_SET_INT("fetch_batch", p->fetch_batch), CLI_SET_INT("ack_batch", p->ack_batch),
        CLI_SET_BOOL("separate_fetch", p->separate_fetch), CLI_SET_INT("rate", (int64_t)p->rate),
        CLI_SET_TEXT("work_duration",
                     cli_format(cli, "%lldms", (long long)(p->work_ns / NS_PER_MS))),
        CLI_SET_BOOL("combined", plan->combined),
        CLI_SET_TEXT("duration",
                     p->duration_ns == 0
                         ? STR_EMPTY
                         : cli_format(cli, "%lldms", (long long)(p->duration_ns / NS_PER_MS))),
        CLI_SET_INT("payload_bytes", (int64_t)p->payload_bytes));
}
