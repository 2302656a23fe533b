/*
 * corvo bench: generates load on a running server, phase by phase.
 *
 * Requests that are not measured (health, status, clearing queues, usage) are sent like those of
 * other commands. load/ generates the load on its own threads. This thread waits for the end, a
 * signal or a scheduled fault.
 */
#include "cli/bench/cli_bench.h"

#include <poll.h>

#include "base/build.h"
#include "base/check.h"
#include "cli/cli_progress.h"
#include "core/timestamp.h"
#include "os/os_clock.h"
#include "os/os_file.h"
#include "os/os_process.h"

enum { TURN_MS = 100, STALL_MS = 15000, PHASES = 3 };

struct bench {
    struct cli *cli;
    struct cli_bench_plan plan;
    struct str server; /* JSON, for the report */
    struct cli_bench_fault fault;
    struct cli_bench_phase phases[PHASES]; /* indexed by enum load_phase; last repeat only */
    double *ops[PHASES], *p99[PHASES];     /* one value per repeat */
};

static const char *const phase_names[PHASES] = {"enqueue", "lifecycle", "combined"};

static const char *protocol_words(const struct load_plan *p)
{
    switch (p->protocol) {
    case LOAD_RPC:
        return "gRPC";
    case LOAD_STREAM:
        return "gRPC streams";
    case LOAD_BINARY:
        return "the binary protocol";
    case LOAD_HTTP:
    default:
        return p->http2 ? "HTTP/2 without TLS" : "HTTP/1.1";
    }
}

static void print_plan(struct bench *b)
{
    const struct load_plan *p = &b->plan.load;
    cli_printf(b->cli,
               "bench: %llu jobs with payloads of %zu bytes, queue %s%s, %s\n"
               "  %u producers, %u workers with %u streams each\n"
               "  batches: enqueue %u, fetch %u, ack %u\n  server: " STR_FMT "\n",
               (unsigned long long)p->jobs, p->payload_bytes, p->queue,
               p->worker_queues && p->workers > 1 ? " (one for each worker)" : "",
               protocol_words(p), p->producers, p->workers, p->streams, p->enqueue_batch,
               p->fetch_batch, p->ack_batch, STR_ARG(b->server));
    (void)fflush(b->cli->out); /* the benchmark takes a while */
}

/* The server, before and after */

static int look_at_server(struct bench *b)
{
    struct cli *cli = b->cli;
    struct cli_answer answer;
    struct str *nodes = NULL;
    int code = cli_ask(cli, "GET", CLI_URL(cli, "/healthz", STR_EMPTY), STR_EMPTY, &answer);
    if (code != CLI_OK) {
        return code;
    }
    if (answer.status != 200) {
        return cli_fail(cli, "server unhealthy: status %d", answer.status);
    }
    code = cli_ask(cli, "GET", CLI_URL(cli, "/cluster/status", STR_EMPTY), STR_EMPTY, &answer);
    if (code != CLI_OK) {
        return code;
    }
    struct str body = answer.status == 200 ? answer.body : STR("{}");
    size_t count = cli_elements(cli, cli_member(body, "nodes").text, &nodes);
    b->server = cli_harmless(
        cli, CLI_OBJECT(cli, CLI_SET_TEXT("mode", cli_member_text(cli, body, "mode")),
                        CLI_SET_INT("nodes", (int64_t)count),
                        CLI_SET_RAW("shards", cli_member(body, "shards").text),
                        CLI_SET_TEXT("raft_store", cli_member_text(cli, body, "raft_store")),
                        CLI_SET_RAW("durable", cli_member(body, "durable").text)));
    return CLI_OK;
}

static int clear_queues(struct bench *b)
{
    unsigned count =
        b->plan.load.worker_queues && b->plan.load.workers > 1 ? b->plan.load.workers : 1;
    for (unsigned i = 0; i < count; i++) {
        char name[LOAD_TEXT_BYTES];
        struct cli_answer answer;
        load_queue_name(&b->plan.load, i, name);
        int code = cli_ask(b->cli, "POST", CLI_URL(b->cli, "/queues/{0}/clear", str_from_z(name)),
                           STR_EMPTY, &answer);
        if (code != CLI_OK) {
            return code;
        }
        if (answer.status >= 400 && answer.status != 404) { /* the queue may not exist yet */
            return cli_refused(b->cli, answer.status, answer.body);
        }
    }
    return CLI_OK;
}

/* Measure the server and this process. If the server does not respond with its usage, it is
 * unknown. */
static void measure(struct bench *b, struct cli_bench_usage out[2])
{
    struct cli *cli = b->cli;
    struct outgoing_wait_call call =
        cli_call_to(cli, "GET", CLI_URL(cli, "/debug/runtime", STR_EMPTY), STR_EMPTY);
    struct os_process_usage own;
    out[0] = (struct cli_bench_usage){0};
    if (outgoing_wait_run(cli->http, &call, cli->signal_fd) && call.err.code == ERR_OK &&
        call.status == 200) {
        struct str body = buf_str(&call.answer);
        out[0] = (struct cli_bench_usage){.known = true,
                                          .cpu_ns = cli_member_int(body, "cpu_user_ns") +
                                                    cli_member_int(body, "cpu_sys_ns"),
                                          .heap_bytes = cli_member_int(body, "heap_inuse_bytes")};
    }
    outgoing_wait_clear(&call);
    os_process_usage(&own);
    out[1] = (struct cli_bench_usage){.known = true, .cpu_ns = own.cpu_user_ns + own.cpu_system_ns};
}

/* Phases */

/* Wait for the end of the run, a signal or a stall. Returns the exit code. */
static int watch(struct bench *b, enum load_phase phase, struct load_run *run, bool faulty,
                 bool *out_stalled)
{
    struct cli *cli = b->cli;
    struct cli_progress bar = cli_progress_begin(cli, "jobs");
    int64_t began_ns = os_clock_mono().ns;
    int64_t moved_ns = began_ns;
    int64_t patience_ns = (STALL_MS + (faulty ? b->fault.duration_ms : 0)) * NS_PER_MS;
    uint64_t last = UINT64_MAX;
    struct pollfd fds[] = {{.fd = load_fd(run), .events = POLLIN},
                           {.fd = cli->signal_fd, .events = POLLIN}};
    int code = CLI_OK;
    while (code == CLI_OK && fds[0].revents == 0 && !*out_stalled) {
        (void)poll(fds, COUNT_OF(fds), TURN_MS);
        struct load_progress p = load_progress_of(run);
        uint64_t done = p.enqueued + p.acked + p.dropped;
        int64_t now_ns = os_clock_mono().ns;
        moved_ns = done == last ? moved_ns : now_ns;
        last = done;
        *out_stalled = now_ns - moved_ns > patience_ns;
        if (cli->err_is_terminal) {
            uint64_t shown = phase == LOAD_ENQUEUE ? p.enqueued : p.acked + p.dropped;
            cli_progress_show(&bar, (int64_t)shown,
                              b->plan.load.duration_ns > 0 ? 0 : (int64_t)b->plan.load.jobs);
        }
        if (fds[1].revents != 0) {
            code = cli_interrupted(cli);
        } else if (faulty) {
            code = cli_bench_fault_turn(cli, &b->fault, now_ns - began_ns, &p);
        }
    }
    cli_progress_end(&bar);
    load_stop(run);
    return code;
}

static int run_phase(struct bench *b, enum load_phase phase, uint64_t expected, size_t repeat)
{
    struct cli_bench_usage before[2];
    struct cli_bench_usage after[2];
    struct load_result *r = ARENA_NEW(b->cli->arena, struct load_result);
    struct cli_bench_phase *out = &b->phases[phase];
    struct load_run *run = NULL;
    struct err err;
    bool stalled = false;
    bool faulty = b->fault.scenario != NULL && phase != LOAD_ENQUEUE && repeat == 0;
    CHECK(r != NULL);
    measure(b, before);
    if (load_start(&b->plan.load, phase, expected, &run, &err) != ERR_OK) {
        return cli_fail(b->cli, "%s", err.msg);
    }
    int code = watch(b, phase, run, faulty, &stalled);
    load_finish(run, r);
    if (faulty) {
        int mended = cli_bench_fault_end(b->cli, &b->fault);
        code = code == CLI_OK ? mended : code;
    }
    if (code == CLI_OK && r->refused) {
        code = cli_refused(b->cli, 0, str_from_z(r->reason));
    }
    if (code == CLI_OK) {
        measure(b, after);
        *out = (struct cli_bench_phase){.name = phase_names[phase], .stalled = stalled};
        cli_bench_fill(out, r, before, after);
        b->ops[phase][repeat] = out->ops_per_sec;
        b->p99[phase][repeat] = out->p99_us;
        if (!cli_is_json(b->cli)) {
            cli_bench_print(b->cli, out);
            (void)fflush(b->cli->out);
        }
        if (r->rate_limited > 0) {
            cli_note(b->cli, "The server limits the request rate: start it with "
                             "--rate-limit-enabled=false\n");
        }
        if (stalled) {
            code =
                cli_fail(b->cli, "no progress for %d seconds: %llu of %llu jobs%s%s",
                         STALL_MS / 1000, (unsigned long long)r->completed,
                         (unsigned long long)r->total, r->reason[0] != '\0' ? "; " : "", r->reason);
        }
    }
    load_windows_deinit(&r->windows);
    return code;
}

static int run_once(struct bench *b, size_t repeat)
{
    int code = clear_queues(b);
    if (code != CLI_OK) {
        return code;
    }
    if (b->plan.combined) {
        return run_phase(b, LOAD_COMBINED, 0, repeat);
    }
    code = run_phase(b, LOAD_ENQUEUE, 0, repeat);
    if (code != CLI_OK) {
        return code;
    }
    return run_phase(b, LOAD_PROCESS, b->phases[LOAD_ENQUEUE].completed, repeat);
}

static int run_repeats(struct bench *b)
{
    for (size_t phase = 0; phase < PHASES; phase++) {
        b->ops[phase] = ARENA_ARRAY(b->cli->arena, double, b->plan.repeats);
        b->p99[phase] = ARENA_ARRAY(b->cli->arena, double, b->plan.repeats);
        CHECK(b->ops[phase] != NULL && b->p99[phase] != NULL);
    }
    for (size_t i = 0; i < b->plan.repeats; i++) {
        if (i > 0 && !cli_sleep(b->cli, cli_int(b->cli, "repeat-pause"))) {
            return cli_interrupted(b->cli);
        }
        if (b->plan.repeats > 1 && !cli_is_json(b->cli)) {
            cli_printf(b->cli, "\nrepeat %zu of %zu\n", i + 1, b->plan.repeats);
        }
        int code = run_once(b, i);
        if (code != CLI_OK) {
            return code;
        }
    }
    return CLI_OK;
}

static void print_repeats(struct bench *b)
{
    for (size_t i = 0; i < PHASES && b->plan.repeats > 1; i++) {
        if (b->phases[i].name != NULL) {
            cli_printf(b->cli,
                       "\n%s, %zu repeats\n  ops/sec: median %.0f, p90 %.0f\n"
                       "  p99: median %.0f\u00b5s, p90 %.0f\u00b5s\n",
                       phase_names[i], b->plan.repeats,
                       cli_bench_quantile(b->ops[i], b->plan.repeats, 0.5),
                       cli_bench_quantile(b->ops[i], b->plan.repeats, 0.9),
                       cli_bench_quantile(b->p99[i], b->plan.repeats, 0.5),
                       cli_bench_quantile(b->p99[i], b->plan.repeats, 0.9));
        }
    }
}

/* The report */

/* The value of a flag as a JSON string; "" if the flag was not given. */
static struct str word_json(struct cli *cli, const char *flag)
{
    return cli_format(cli, "\"" STR_FMT "\"", STR_ARG(cli_text(cli, flag)));
}

static struct str report_json(struct bench *b, struct str comparison)
{
    struct cli *cli = b->cli;
    char time[TIMESTAMP_TEXT_MAX];
    struct wall now = {.ns = os_clock_wall().ns / NS_PER_S * NS_PER_S};
    return CLI_OBJECT(cli, CLI_SET_TEXT("timestamp", str_from(time, timestamp_format(now, time))),
                      CLI_SET_TEXT("commit", str_from_z(build_commit)),
                      CLI_SET_RAW("machine", cli_bench_machine(cli)),
                      CLI_SET_RAW("server", b->server),
                      CLI_SET_RAW("preset", word_json(cli, "preset")),
                      CLI_SET_RAW("scenario", word_json(cli, "scenario")),
                      CLI_SET_RAW("config", cli_bench_plan_json(cli, &b->plan)),
                      CLI_SET_RAW("enqueue", cli_bench_phase_json(cli, &b->phases[LOAD_ENQUEUE])),
                      CLI_SET_RAW("lifecycle", cli_bench_phase_json(cli, &b->phases[LOAD_PROCESS])),
                      CLI_SET_RAW("combined", cli_bench_phase_json(cli, &b->phases[LOAD_COMBINED])),
                      CLI_SET_RAW("fault", cli_bench_fault_json(cli, &b->fault)),
                      CLI_SET_RAW("comparison", comparison));
}

static int save(struct cli *cli, struct str report)
{
    struct str name = cli_text(cli, "save");
    struct buf text;
    if (name.len == 0) {
        return CLI_OK;
    }
    buf_init(&text, CLI_INPUT_BYTES);
    cli_json_indent(&text, report);
    buf_add_char(&text, '\n');
    int code = cli_write_file(cli, name, buf_str(&text));
    buf_deinit(&text);
    if (code == CLI_OK && !cli_is_json(cli)) {
        cli_printf(cli, "\nreport: " STR_FMT "\n", STR_ARG(name));
    }
    return code;
}

/* Select the baseline: from a report of several protocols, the part with the same protocol. */
static struct str baseline_of(struct bench *b, struct str baseline)
{
    struct str *reports = NULL;
    struct str protocol =
        cli_member_text(b->cli, cli_bench_plan_json(b->cli, &b->plan), "protocol");
    size_t count = cli_elements(b->cli, cli_member(baseline, "reports").text, &reports);
    for (size_t i = 0; i < count; i++) {
        struct str config = cli_member(reports[i], "config").text;
        if (str_eq(cli_member_text(b->cli, config, "protocol"), protocol)) {
            return reports[i];
        }
    }
    return count == 0 ? baseline : STR_EMPTY;
}

static struct str conclude(struct bench *b, struct str baseline)
{
    struct cli *cli = b->cli;
    struct cli_bench_pair pair = {.baseline = baseline, .current = report_json(b, STR_EMPTY)};
    struct str report = pair.current;
    if (baseline.len > 0 && cli_is_json(cli)) {
        report = report_json(b, cli_bench_rows_json(cli, &pair));
    }
    if (!cli_is_json(cli)) {
        print_repeats(b);
        cli_bench_fault_print(cli, &b->fault);
        if (baseline.len > 0) {
            cli_bench_compare(cli, &pair);
        }
    }
    return report;
}

/* Run the whole benchmark with one protocol, and build its report. */
static int run_protocol(struct cli *cli, struct str protocol, struct str baseline, struct str *out)
{
    struct bench *b = ARENA_NEW(cli->arena, struct bench);
    CHECK(b != NULL);
    *b = (struct bench){.cli = cli};
    int code = cli_bench_plan_read(cli, protocol, &b->plan);
    code = code == CLI_OK ? cli_bench_fault_from(cli, &b->fault) : code;
    code = code == CLI_OK ? look_at_server(b) : code;
    if (code == CLI_OK && !cli_is_json(cli)) {
        print_plan(b);
    }
    code = code == CLI_OK ? run_repeats(b) : code;
    if (code == CLI_OK) {
        *out = conclude(b, baseline_of(b, baseline));
    }
    return code;
}

/* Run both protocols one after the other; the report contains both. */
static int run_matrix(struct cli *cli, struct str baseline, struct str *out)
{
    struct str http = STR_EMPTY;
    struct str stream = STR_EMPTY;
    int code = run_protocol(cli, STR("http"), baseline, &http);
    if (code != CLI_OK) {
        return code;
    }
    if (!cli_is_json(cli)) {
        cli_printf(cli, "\n");
    }
    code = run_protocol(cli, STR("stream"), baseline, &stream);
    *out =
        cli_format(cli, "{\"reports\":[" STR_FMT "," STR_FMT "]}", STR_ARG(http), STR_ARG(stream));
    return code;
}

static int run_bench(struct cli *cli)
{
    struct str protocol = cli_text(cli, "protocol");
    struct str baseline = STR_EMPTY;
    struct str report = STR_EMPTY;
    int code = CLI_OK;
    if (cli_given(cli, "compare")) {
        code = cli_bench_report_read(cli, cli_text(cli, "compare"), &baseline);
    }
    if (code == CLI_OK && cli_given(cli, "save")) { /* check the file before the measurement */
        const char *path = NULL;
        bool special = false;
        code = cli_target(cli, cli_text(cli, "save"), &path, &special);
    }
    if (code == CLI_OK) {
        code = str_eq(protocol, STR("matrix")) ? run_matrix(cli, baseline, &report)
                                               : run_protocol(cli, protocol, baseline, &report);
    }
    if (code == CLI_OK && cli_is_json(cli)) {
        cli_print_json(cli, report);
    }
    return code == CLI_OK ? save(cli, report) : code;
}

/* clang-format off */
static const struct cli_flag bench_flags[] = {
    CLI_FLAG("protocol", CLI_TEXT, "NAME", "http", "client protocol: http; rpc: one gRPC call per request; stream: one gRPC stream per client, with acks and the next fetch in one frame; binary: the binary worker protocol; matrix: http, then stream", .words = "http rpc stream binary matrix"),
    CLI_FLAG("rpc-address", CLI_TEXT, "HOST:PORT", "localhost:7438", "address of the server's --rpc-bind, for --protocol binary"),
    CLI_FLAG("http2", CLI_BOOL, NULL, "false", "HTTP/2 without TLS instead of HTTP/1.1"),
    CLI_FLAG("jobs", CLI_INT, "N", "10000", "total number of jobs; with --duration, the maximum number of waiting jobs"),
    CLI_FLAG("concurrency", CLI_INT, "N", "10", "number of producers, and of streams per worker"),
    CLI_FLAG("workers", CLI_INT, "N", "1", "number of logical workers"),
    CLI_FLAG("worker-queues", CLI_BOOL, NULL, "false", "use a separate queue <queue>.w<i> for each worker"),
    CLI_FLAG("repeats", CLI_INT, "N", "1", "number of repetitions"),
    CLI_FLAG("repeat-pause", CLI_DURATION, "DURATION", "0s", "pause between repeats"),
    CLI_FLAG("queue", CLI_TEXT, "QUEUE", "bench.q", "queue to use; its waiting jobs are deleted first", .options = CLI_NOT_EMPTY),
    CLI_FLAG("enqueue-batch-size", CLI_INT, "N", "64", "jobs per enqueue request"),
    CLI_FLAG("fetch-batch-size", CLI_INT, "N", "64", "jobs per fetch request"),
    CLI_FLAG("ack-batch-size", CLI_INT, "N", "64", "jobs per ack request"),
    CLI_FLAG("separate-fetch", CLI_BOOL, NULL, "false", "with batch sizes of 1 over HTTP, fetch in a separate request instead of with the ack"),
    CLI_FLAG("payload-bytes", CLI_INT, "N", "64", "payload size of each job"),
    CLI_FLAG("rate", CLI_INT, "N", "0", "maximum number of jobs enqueued per second; 0: no limit"),
    CLI_FLAG("work-duration", CLI_DURATION, "DURATION", "0s", "simulated work per job"),
    CLI_FLAG("combined", CLI_BOOL, NULL, "false", "run producers and workers at the same time"),
    CLI_FLAG("duration", CLI_DURATION, "DURATION", "0s", "run producers and workers at the same time for this long"),
    CLI_FLAG("threads", CLI_INT, "N", "0", "load generator threads; 0 uses one per 64 requests in flight"),
    CLI_FLAG("preset", CLI_TEXT, "NAME", NULL, "preset values for flags you leave out", .words = "single-node cluster failure"),
    CLI_FLAG("scenario", CLI_TEXT, "NAME", NULL, "fault to inject; requires --preset failure", .words = "leader-kill worker-crash partition disk-full slow-node"),
    CLI_FLAG("output-json", CLI_BOOL, NULL, "false", "same as --output json: print the report", .alias = "json"),
    CLI_FLAG("compare", CLI_BYTES, "FILE", NULL, "report to compare with"),
    CLI_FLAG("save", CLI_BYTES, "FILE", NULL, "write the report to this file"),
    CLI_FLAG("docker-container", CLI_LIST, "NAME", NULL, "container to break; if repeated, the first is used"),
    CLI_FLAG("docker-network", CLI_TEXT, "NAME", NULL, "network to disconnect it from; detected by default"),
    CLI_FLAG("fault-duration", CLI_DURATION, "DURATION", "10s", "how long the fault lasts"),
    CLI_FLAG("fault-warmup", CLI_DURATION, "DURATION", "3s", "time from the start until the fault"),
};

static const struct cli_flag compare_flags[] = {
    CLI_FLAG("output", CLI_TEXT, "FORMAT", "text", "output format", .words = "text json"),
    CLI_FLAG("output-json", CLI_BOOL, NULL, "false", "same as --output json", .alias = "json"),
};

static const struct cli_command commands[] = {
    {.name = "bench", .args = "", .summary = "Measure a running server under load",
     .about = "Enqueues jobs and then processes them, or does both at once, and reports jobs per second\n"
              "and latencies. The latency of a job is that of its request, measured from the first attempt;\n"
              "with --combined and --duration it covers the whole life of the job. Waiting jobs in the queue\n"
              "are deleted first. The server's request limit (--rate-limit-enabled) counts every job,\n"
              "so turn it off to measure.",
     .examples = "corvo bench --preset single-node\n"
                 "corvo bench --jobs 100000 --concurrency 50 --http2\n"
                 "corvo bench --protocol stream --fetch-batch-size 10\n"
                 "corvo bench --protocol binary --rpc-address localhost:7438\n"
                 "corvo bench --duration 30s --save now.json --compare before.json",
     CLI_FLAGS(bench_flags), .run = run_bench},
    {.name = "bench compare", .args = "<baseline> <current>", .summary = "Compare two saved reports",
     .about = "Prints every number that a phase has in both reports, the change, and the ratio to the\n"
              "baseline. Needs no server and runs nothing. The exit status is 0 even if the numbers got\n"
              "worse. - reads a report from standard input.",
     .examples = "corvo bench compare before.json after.json\n"
                 "corvo bench compare before.json after.json --json | jq '.comparison[] | select(.metric == \"p99_us\")'",
     CLI_FLAGS(compare_flags), .options = CLI_LOCAL, .run = cli_bench_compare_run},
};
/* clang-format on */

const struct cli_family cli_bench_family = {"Benchmark", commands, COUNT_OF(commands)};
