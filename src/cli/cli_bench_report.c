/*
 * What a benchmark found: text for people, a report for later, and two reports side by side.
 */
#include <math.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/check.h"
#include "cli/cli_bench.h"
#include "core/timestamp.h"

enum unit { PLAIN, MICROSECONDS, PERCENT, MEGABYTES, KILOBYTES, MILLISECONDS };

/* The numbers of a phase, in the order of the report and of the text. */
static const struct number {
    const char *key;
    const char *label;
    size_t offset;
    enum unit unit;
    bool optional; /* left out when 0 */
} numbers[] = {
#define NUMBER(member, label, unit, optional)                                                      \
    {                                                                                              \
#member, label, offsetof(struct cli_bench_phase, member), unit, optional                   \
    }
    NUMBER(ops_per_sec, "ops/sec", PLAIN, false),
    NUMBER(ops_stddev, "ops/sec stddev", PLAIN, true),
    NUMBER(ops_cv_pct, "ops/sec cv", PERCENT, true),
    NUMBER(avg_us, "avg", MICROSECONDS, false),
    NUMBER(p50_us, "p50", MICROSECONDS, false),
    NUMBER(p90_us, "p90", MICROSECONDS, false),
    NUMBER(p99_us, "p99", MICROSECONDS, false),
    NUMBER(p999_us, "p99.9", MICROSECONDS, false),
    NUMBER(min_us, "min", MICROSECONDS, false),
    NUMBER(max_us, "max", MICROSECONDS, false),
    NUMBER(stddev_us, "stddev", MICROSECONDS, false),
    NUMBER(cv_pct, "cv", PERCENT, false),
    NUMBER(server_cv_pct, "srv cv", PERCENT, true),
    NUMBER(server_cpu_pct, "srv cpu", PERCENT, true),
    NUMBER(server_rss_mb, "srv rss", MEGABYTES, true),
    NUMBER(server_cpu_ms_per_1000, "srv cpu/1000 jobs", MILLISECONDS, true),
    NUMBER(server_heap_kb_per_1000, "srv heap/1000 jobs", KILOBYTES, true),
    NUMBER(generator_cpu_pct, "bench cpu", PERCENT, true),
    NUMBER(generator_cpu_ms_per_1000, "bench cpu/1000 jobs", MILLISECONDS, true),
#undef NUMBER
};

enum { TEXT_BYTES = 48, PAIRS_MAX = COUNT_OF(numbers) + 8 };

static double value_of(const struct cli_bench_phase *p, const struct number *n)
{
    return *(const double *)(const void *)((const char *)p + n->offset);
}

static double per_1000(double value, uint64_t jobs)
{
    return jobs == 0 ? 0 : value * 1000 / (double)jobs;
}

static double percent_of(int64_t cpu_ns, int64_t took_ns)
{
    return took_ns <= 0 ? 0 : 100 * (double)cpu_ns / (double)took_ns;
}

static double at_us(const struct load_histogram *h, double share)
{
    return (double)load_histogram_at(h, share) / 1e3;
}

void cli_bench_fill(struct cli_bench_phase *p, const struct load_result *r,
                    const struct cli_bench_usage before[2], const struct cli_bench_usage after[2])
{
    const struct load_histogram *h = &r->latency;
    struct load_spread spread = load_windows_spread(&r->windows, r->took_ns);
    p->completed = r->completed;
    p->total = r->total;
    p->overloaded = r->overloaded;
    p->dropped = r->dropped;
    p->errors = r->errors;
    p->took_ns = r->took_ns;
    p->ops_per_sec = r->took_ns <= 0 ? 0 : (double)r->completed * 1e9 / (double)r->took_ns;
    p->ops_stddev = spread.stddev;
    p->ops_cv_pct = spread.cv_pct;
    p->avg_us = h->mean / 1e3;
    p->p50_us = at_us(h, 0.5);
    p->p90_us = at_us(h, 0.9);
    p->p99_us = at_us(h, 0.99);
    p->p999_us = at_us(h, 0.999);
    p->min_us = (double)h->min / 1e3;
    p->max_us = (double)h->max / 1e3;
    p->stddev_us = load_histogram_stddev(h) / 1e3;
    p->cv_pct = load_histogram_cv_pct(h);
    p->server_cv_pct = load_histogram_cv_pct(&r->server);
    int64_t cpu_ns = after[0].cpu_ns - before[0].cpu_ns;
    if (before[0].known && after[0].known && cpu_ns >= 0) { /* less: it was started again */
        p->server_cpu_pct = percent_of(cpu_ns, r->took_ns);
        p->server_cpu_ms_per_1000 = per_1000((double)cpu_ns / 1e6, r->completed);
        p->server_rss_mb = (double)after[0].heap_bytes / (1 << 20);
        p->server_heap_kb_per_1000 =
            per_1000((double)(after[0].heap_bytes - before[0].heap_bytes) / 1024, r->completed);
    }
    cpu_ns = after[1].cpu_ns - before[1].cpu_ns;
    p->generator_cpu_pct = percent_of(cpu_ns, r->took_ns);
    p->generator_cpu_ms_per_1000 = per_1000((double)cpu_ns / 1e6, r->completed);
}

/* Text */

static void put_value(char out[TEXT_BYTES], double v, enum unit unit)
{
    switch (unit) {
    case MICROSECONDS:
        if (v >= 1e6) {
            (void)snprintf(out, TEXT_BYTES, "%.2fs", v / 1e6);
        } else if (v >= 1e3) {
            (void)snprintf(out, TEXT_BYTES, "%.2fms", v / 1e3);
        } else {
            (void)snprintf(out, TEXT_BYTES, "%.0f\u00b5s", v);
        }
        return;
    case PERCENT:
        (void)snprintf(out, TEXT_BYTES, "%.1f%%", v);
        return;
    case MEGABYTES:
        (void)snprintf(out, TEXT_BYTES, "%.1f MB", v);
        return;
    case KILOBYTES:
        (void)snprintf(out, TEXT_BYTES, "%.1f kB", v);
        return;
    case MILLISECONDS:
        (void)snprintf(out, TEXT_BYTES, "%.2fms", v);
        return;
    case PLAIN:
    default:
        (void)snprintf(out, TEXT_BYTES, "%.0f", v);
        return;
    }
}

static bool is_shown(const struct number *n, double v)
{
    return !n->optional || fabs(v) > 0;
}

void cli_bench_print(struct cli *cli, const struct cli_bench_phase *p)
{
    char took[TEXT_BYTES];
    put_value(took, (double)p->took_ns / 1e3, MICROSECONDS);
    cli_printf(cli, "\n%s\n  completed: %llu/%llu in %s\n", p->name,
               (unsigned long long)p->completed, (unsigned long long)p->total, took);
    if (p->stalled) {
        cli_printf(cli, "  stalled: there was no progress any more\n");
    }
    const struct {
        const char *label;
        uint64_t count;
    } counts[] = {{"overloaded", p->overloaded}, {"dropped", p->dropped}, {"errors", p->errors}};
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        if (counts[i].count > 0) {
            cli_printf(cli, "  %s: %llu\n", counts[i].label, (unsigned long long)counts[i].count);
        }
    }
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        char text[TEXT_BYTES];
        double v = value_of(p, &numbers[i]);
        if (is_shown(&numbers[i], v)) {
            put_value(text, v, numbers[i].unit);
            cli_printf(cli, "  %s: %s\n", numbers[i].label, text);
        }
    }
}

/* The report */

struct str cli_bench_phase_json(struct cli *cli, const struct cli_bench_phase *p)
{
    struct cli_pair pairs[PAIRS_MAX];
    size_t count = 0;
    if (p->name == NULL) {
        return STR_EMPTY;
    }
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        double v = value_of(p, &numbers[i]);
        if (is_shown(&numbers[i], v)) {
            pairs[count++] = (struct cli_pair)CLI_SET_REAL(numbers[i].key, round(v * 1000) / 1000);
        }
    }
    pairs[count++] = (struct cli_pair)CLI_SET_INT("completed", (int64_t)p->completed);
    pairs[count++] = (struct cli_pair)CLI_SET_INT("total", (int64_t)p->total);
    pairs[count++] = (struct cli_pair)CLI_SET_INT("overloaded", (int64_t)p->overloaded);
    pairs[count++] = (struct cli_pair)CLI_SET_INT("dropped", (int64_t)p->dropped);
    pairs[count++] = (struct cli_pair)CLI_SET_INT("errors", (int64_t)p->errors);
    pairs[count++] = (struct cli_pair)CLI_SET_BOOL("stalled", p->stalled);
    return cli_object(cli, pairs, count);
}

static struct str time_text(struct cli *cli, struct wall at)
{
    char text[TIMESTAMP_TEXT_MAX];
    return at.ns == 0 ? STR_EMPTY
                      : arena_str(cli->arena, str_from(text, timestamp_format(at, text)));
}

struct str cli_bench_fault_json(struct cli *cli, const struct cli_bench_fault *f)
{
    struct str at = time_text(cli, f->injected_at);
    struct str back = time_text(cli, f->recovered_at);
    if (f->scenario == NULL) {
        return STR_EMPTY;
    }
    if (f->working_ns == 0) {
        return CLI_OBJECT(cli, CLI_SET_TEXT("injected_at", at), CLI_SET_TEXT("recovered_at", back),
                          CLI_SET_INT("errors_during_fault", (int64_t)f->errors));
    }
    return CLI_OBJECT(cli, CLI_SET_TEXT("injected_at", at), CLI_SET_TEXT("recovered_at", back),
                      CLI_SET_INT("recovery_ms", (f->working_ns - f->recovered_ns) / NS_PER_MS),
                      CLI_SET_INT("errors_during_fault", (int64_t)f->errors));
}

struct str cli_bench_machine(struct cli *cli)
{
    struct utsname name;
    double pages = (double)sysconf(_SC_PHYS_PAGES);
    double memory_gb = pages * (double)sysconf(_SC_PAGESIZE) / (1 << 30);
    CHECK(uname(&name) == 0);
    return CLI_OBJECT(cli, CLI_SET_TEXT("os", cli_format(cli, "%s %s", name.sysname, name.release)),
                      CLI_SET_TEXT("arch", cli_format(cli, "%s", name.machine)),
                      CLI_SET_INT("cpus", sysconf(_SC_NPROCESSORS_ONLN)),
                      CLI_SET_REAL("memory_gb", round(memory_gb * 10) / 10),
                      CLI_SET_TEXT("hostname", cli_format(cli, "%s", name.nodename)));
}

/* Comparison */

static struct str change(struct cli *cli, double from, double to)
{
    return from > 0 ? cli_format(cli, "%+.1f%%", 100 * (to - from) / from) : STR("-");
}

size_t cli_bench_rows(struct cli *cli, struct str baseline, struct str current, struct str **out)
{
    static const char *const phases[] = {"enqueue", "lifecycle", "combined"};
    static const struct {
        const char *key, *label;
        enum unit unit;
    } metrics[] = {{"ops_per_sec", "ops/sec", PLAIN}, {"p99_us", "p99", MICROSECONDS}};
    struct str *rows = ARENA_ARRAY(cli->arena, struct str, COUNT_OF(phases) * COUNT_OF(metrics));
    size_t count = 0;
    CHECK(rows != NULL);
    for (size_t i = 0; i < COUNT_OF(phases) * COUNT_OF(metrics); i++) {
        const char *phase = phases[i / COUNT_OF(metrics)];
        size_t m = i % COUNT_OF(metrics);
        struct str a = cli_member(baseline, phase).text;
        struct str b = cli_member(current, phase).text;
        if (a.len == 0 || b.len == 0) {
            continue;
        }
        char texts[2][TEXT_BYTES];
        double from = cli_member_real(a, metrics[m].key);
        double to = cli_member_real(b, metrics[m].key);
        put_value(texts[0], from, metrics[m].unit);
        put_value(texts[1], to, metrics[m].unit);
        rows[count++] = CLI_OBJECT(cli, CLI_SET_TEXT("phase", str_from_z(phase)),
                                   CLI_SET_TEXT("metric", str_from_z(metrics[m].label)),
                                   CLI_SET_TEXT("baseline", str_from_z(texts[0])),
                                   CLI_SET_TEXT("current", str_from_z(texts[1])),
                                   CLI_SET_TEXT("change", change(cli, from, to)));
    }
    *out = rows;
    return count;
}

static void print_environment(struct cli *cli, const char *label, struct str report)
{
    static const char *const members[] = {"timestamp", "commit", "machine", "server", "config"};
    cli_printf(cli, "%s:\n", label);
    for (size_t i = 0; i < COUNT_OF(members); i++) {
        struct str text = cli_harmless(cli, cli_member_text(cli, report, members[i]));
        cli_printf(cli, "  %s: " STR_FMT "\n", members[i], STR_ARG(text));
    }
}

void cli_bench_compare(struct cli *cli, struct str baseline, struct str current)
{
    static const struct cli_column columns[] = {
        {"PHASE", "phase", CLI_SHOW_TEXT},       {"METRIC", "metric", CLI_SHOW_TEXT},
        {"BASELINE", "baseline", CLI_SHOW_TEXT}, {"CURRENT", "current", CLI_SHOW_TEXT},
        {"CHANGE", "change", CLI_SHOW_TEXT},
    };
    struct str *rows = NULL;
    size_t count = cli_bench_rows(cli, baseline, current, &rows);
    cli_printf(cli, "\n");
    print_environment(cli, "Baseline", baseline);
    print_environment(cli, "Current", current);
    if (!str_eq(cli_member_text(cli, baseline, "server"),
                cli_member_text(cli, current, "server"))) {
        cli_note(cli, "Warning: the servers are set up differently\n");
    }
    cli_printf(cli, "\n");
    cli_call_table(cli, columns, COUNT_OF(columns), rows, count);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

double cli_bench_quantile(double *values, size_t count, double share)
{
    if (count == 0) {
        return 0;
    }
    qsort(values, count, sizeof *values, by_value);
    size_t rank = (size_t)ceil(share * (double)count);
    return values[rank == 0 ? 0 : rank - 1];
}
