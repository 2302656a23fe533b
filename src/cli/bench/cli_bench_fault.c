/*
 * Fault injection: breaks a container that runs a server, and repairs it, while a phase runs.
 *
 * A scenario is a row of docker commands. The names of the container and network come from the
 * command line and are passed to a shell, so their characters are restricted (is_name).
 */
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/check.h"
#include "cli/bench/cli_bench.h"
#include "os/os_child.h"
#include "os/os_clock.h"

enum { OUTPUT_BYTES = 4096 };

static const char filler[] = "/tmp/corvo-bench-fill";

/* {c}: the container; {n}: the network; {f}: the file that fills the disk. */
static const struct scenario {
    const char *name;
    const char *inject;
    const char *recover;
} scenarios[] = {
    {"leader-kill", "docker kill {c}", "docker start {c}"},
    {"worker-crash", "docker kill {c}", "docker start {c}"},
    {"partition", "docker network disconnect {n} {c}", "docker network connect {n} {c}"},
    {"disk-full", "docker exec {c} dd if=/dev/zero of={f} bs=1M count=512",
     "docker exec {c} rm -f {f}"},
    {"slow-node", "docker exec {c} tc qdisc add dev eth0 root netem delay 200ms",
     "docker exec {c} tc qdisc del dev eth0 root netem"},
};

static const struct scenario *scenario_of(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(scenarios); i++) {
        if (strcmp(scenarios[i].name, name) == 0) {
            return &scenarios[i];
        }
    }
    UNREACHABLE("the flag's words are the scenarios");
}

static bool is_name(struct str s)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '\0' || strchr(allowed, s.ptr[i]) == NULL) {
            return false;
        }
    }
    return s.len > 0 && s.ptr[0] != '-';
}

/* Run the command until it ends; *out is its output, in the arena. */
static int run_docker(struct cli *cli, const char *command, struct str *out)
{
    struct os_child child;
    struct err err;
    char text[OUTPUT_BYTES];
    size_t len = 0;
    if (os_child_start(command, STR_EMPTY, cli->environment, &child, &err) != ERR_OK) {
        return cli_fail(cli, "%s", err.msg);
    }
    for (bool running = true; running;) {
        struct pollfd fds[] = {{.fd = child.exit_fd, .events = POLLIN},
                               {.fd = cli->signal_fd, .events = POLLIN}};
        (void)poll(fds, COUNT_OF(fds), -1);
        if (fds[1].revents != 0) {
            os_child_signal(&child, SIGTERM);
            (void)os_child_end(&child);
            return cli_interrupted(cli);
        }
        running = fds[0].revents == 0;
    }
    ssize_t n;
    while (len < sizeof text && (n = read(child.stdout_fd, text + len, sizeof text - len)) > 0) {
        len += (size_t)n;
    }
    while (len < sizeof text && (n = read(child.stderr_fd, text + len, sizeof text - len)) > 0) {
        len += (size_t)n;
    }
    int code = os_child_end(&child);
    *out = cli_harmless(cli, str_trim(arena_str(cli->arena, str_from(text, len))));
    return code == 0 ? CLI_OK : cli_fail(cli, "%s: " STR_FMT, command, STR_ARG(*out));
}

static int act(struct cli *cli, const struct cli_bench_fault *f, const char *pattern)
{
    struct buf b;
    struct str ignored;
    buf_init(&b, OUTPUT_BYTES);
    for (const char *p = pattern; *p != '\0'; p++) {
        if (p[0] == '{') {
            buf_add_str(&b, p[1] == 'c'   ? f->container
                            : p[1] == 'n' ? f->network
                                          : str_from_z(filler));
            p += 2;
        } else {
            buf_add_char(&b, *p);
        }
    }
    const char *command = arena_strz(cli->arena, buf_str(&b));
    CHECK(command != NULL);
    buf_deinit(&b);
    cli_note(cli, "fault: %s\n", command);
    return run_docker(cli, command, &ignored);
}

/* Find the first network of the container. */
static int find_network(struct cli *cli, struct cli_bench_fault *f)
{
    struct str names = STR_EMPTY;
    const char *command = arena_strz(
        cli->arena,
        cli_format(cli,
                   "docker inspect -f '{{range $k, $v := .NetworkSettings.Networks}}{{$k}} {{end}}'"
                   " " STR_FMT,
                   STR_ARG(f->container)));
    CHECK(command != NULL);
    int code = run_docker(cli, command, &names);
    f->network = str_cut(&names, ' ');
    if (code == CLI_OK && !is_name(f->network)) {
        return cli_fail(cli, "the container is not in a network; set one with --docker-network");
    }
    return code;
}

int cli_bench_fault_from(struct cli *cli, struct cli_bench_fault *out)
{
    struct str name = cli_text(cli, "scenario");
    const struct cli_value *containers = cli_value(cli, "docker-container");
    *out = (struct cli_bench_fault){.warmup_ms = cli_int(cli, "fault-warmup"),
                                    .duration_ms = cli_int(cli, "fault-duration"),
                                    .network = cli_text(cli, "docker-network")};
    if (name.len == 0) {
        return CLI_OK;
    }
    if (!str_eq(cli_text(cli, "preset"), STR("failure"))) {
        return cli_fail(cli, "--scenario requires --preset failure");
    }
    if (containers->item_count == 0 || !is_name(containers->items[0])) {
        return cli_fail(cli, "--scenario requires --docker-container with the name of a container");
    }
    if (out->network.len > 0 && !is_name(out->network)) {
        return cli_fail(cli, "--docker-network must be the name of a network");
    }
    out->container = containers->items[0];
    out->scenario = arena_strz(cli->arena, name);
    CHECK(out->scenario != NULL);
    if (strcmp(out->scenario, "partition") == 0 && out->network.len == 0) {
        return find_network(cli, out);
    }
    return CLI_OK;
}

static int recover(struct cli *cli, struct cli_bench_fault *f, uint64_t done)
{
    int code = act(cli, f, scenario_of(f->scenario)->recover);
    f->recovered_ns = os_clock_mono().ns;
    f->recovered_at = os_clock_wall();
    f->done_before = done;
    return code;
}

int cli_bench_fault_turn(struct cli *cli, struct cli_bench_fault *f, int64_t since_ns,
                         const struct load_progress *progress)
{
    uint64_t done = progress->enqueued + progress->acked;
    int64_t since_ms = since_ns / NS_PER_MS;
    if (f->scenario == NULL || f->working_ns != 0) {
        return CLI_OK;
    }
    if (f->injected_ns == 0) {
        if (since_ms < f->warmup_ms) {
            return CLI_OK;
        }
        f->injected_ns = os_clock_mono().ns;
        f->injected_at = os_clock_wall();
        f->errors_before = progress->errors;
        return act(cli, f, scenario_of(f->scenario)->inject);
    }
    f->errors = progress->errors - f->errors_before;
    if (f->recovered_ns == 0) {
        return since_ms < f->warmup_ms + f->duration_ms ? CLI_OK : recover(cli, f, done);
    }
    f->working_ns = done > f->done_before ? os_clock_mono().ns : 0;
    return CLI_OK;
}

int cli_bench_fault_end(struct cli *cli, struct cli_bench_fault *f)
{
    if (f->scenario == NULL || f->injected_ns == 0 || f->recovered_ns != 0) {
        return CLI_OK;
    }
    return recover(cli, f, UINT64_MAX);
}

void cli_bench_fault_print(struct cli *cli, const struct cli_bench_fault *f)
{
    struct str json = cli_bench_fault_json(cli, f);
    if (f->scenario == NULL) {
        return;
    }
    if (f->injected_ns == 0) {
        cli_printf(cli, "\nfault\n  scenario: %s\n  the run ended before the fault\n", f->scenario);
        return;
    }
    cli_printf(cli, "\nfault\n  scenario: %s\n", f->scenario);
    cli_print_pattern(cli, cli->out,
                      "  injected at: {injected_at}\n  recovered at: {recovered_at}\n"
                      "  recovery ms: {recovery_ms}\n  errors: {errors_during_fault}\n",
                      json);
}
