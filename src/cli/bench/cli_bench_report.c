/*
 * The results of a benchmark: as text and as a report.
 */
#include <math.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/check.h"
#include "cli/bench/cli_bench.h"
#include "core/timestamp.h"

/* In the order of the report and the text. */
static const struct cli_bench_number numbers[] = {
#define NUMBER(member, text, of, ...)                                                              \
    {                                                                                              \
        .key = #member, .label = (text), .offset = offsetof(struct cli_bench_phase, member),       \
        .unit = (of), ##__VA_ARGS__                                                                \
    }
    NUMBER(ops_per_sec, "ops/sec", CLI_BENCH_PLAIN, .brief = true),
    NUMBER(ops_stddev, "ops/sec stddev", CLI_BENCH_PLAIN, .optional = true),
    NUMBER(ops_cv_pct, "ops/sec cv", CLI_BENCH_PERCENT, .optional = true),
    NUMBER(avg_us, "avg", CLI_BENCH_US),
    NUMBER(p50_us, "p50", CLI_BENCH_US),
    NUMBER(p90_us, "p90", CLI_BENCH_US),
    NUMBER(p99_us, "p99", CLI_BENCH_US, .brief = true),
    NUMBER(p999_us, "p99.9", CLI_BENCH_US),
    NUMBER(min_us, "min", CLI_BENCH_US),
    NUMBER(max_us, "max", CLI_BENCH_US),
    NUMBER(stddev_us, "stddev", CLI_BENCH_US),
    NUMBER(cv_pct, "cv", CLI_BENCH_PERCENT),
    NUMBER(server_cv_pct, "srv cv", CLI_BENCH_PERCENT, .optional = true),
    NUMBER(server_cpu_pct, "srv cpu", CLI_BENCH_PERCENT, .optional = true),
    NUMBER(server_rss_mb, "srv rss", CLI_BENCH_MB, .optional = true),
    NUMBER(server_cpu_ms_per_1000, "srv cpu/1000 jobs", CLI_BENCH_MS, .optional = true),
    NUMBER(server_heap_kb_per_1000, "srv heap/1000 jobs", CLI_BENCH_KB, .optional = true),
    NUMBER(generator_cpu_pct, "bench cpu", CLI_BENCH_PERCENT, .optional = true),
    NUMBER(generator_cpu_ms_per_1000, "bench cpu/1000 jobs", CLI_BENCH_MS, .optional = true),
#undef NUMBER
};

enum { PAIRS_MAX = COUNT_OF(numbers) + 8 };

const struct cli_bench_number *cli_bench_number_at(size_t index)
{
    return index < COUNT_OF(numbers) ? &numbers[index] : NULL;
}

static double value_of(const struct cli_bench_phase *p, const struct cli_bench_number *n)
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
    if (before[0].known && after[0].known && cpu_ns >= 0) { /* negative after a restart */
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

void cli_bench_put(char out[CLI_BENCH_TEXT_BYTES], double v, enum cli_bench_unit unit)
{
    switch (unit) {
    case CLI_BENCH_US:
        if (v >= 1e6) {
            (void)snprintf(out, CLI_BENCH_TEXT_BYTES, "%.2fs", v / 1e6);
        } else if (v >= 1e3) {
            (void)snprintf(out, CLI_BENCH_TEXT_BYTES, "%.2fms", v / 1e3);
        } else {
            (void)snprintf(out, CLI_BENCH_TEXT_BYTES, "%.0f\u00b5s", v);
        }
        return;
    case CLI_BENCH_PERCENT:
        (void)snprintf(out, CLI_BENCH_TEXT_BYTES, "%.1f%%", v);
        return;
    case CLI_BENCH_MB:
        (void)snprintf(out, CLI_BENCH_TEXT_BYTES, "%.1f MB", v);
        return;
    case CLI_BENCH_KB:
        (void)snprintf(out, CLI_BENCH_TEXT_BYTES, "%.1f kB", v);
        return;
    case CLI_BENCH_MS:
        (void)snprintf(out, CLI_BENCH_TEXT_BYTES, "%.2fms", v);
        return;
    case CLI_BENCH_PLAIN:
    default:
        (void)snprintf(out, CLI_BENCH_TEXT_BYTES, "%.0f", v);
        return;
    }
}

static bool is_shown(const struct cli_bench_number *n, double v)
{
    return !n->optional || fabs(v) > 0;
}

void cli_bench_print(struct cli *cli, const struct cli_bench_phase *p)
{
    char took[CLI_BENCH_TEXT_BYTES];
    cli_bench_put(took, (double)p->took_ns / 1e3, CLI_BENCH_US);
    cli_printf(cli, "\n%s\n  completed: %llu/%llu in %s\n", p->name,
               (unsigned long long)p->completed, (unsigned long long)p->total, took);
    if (p->stalled) {
        cli_printf(cli, "  stalled: no more progress\n");
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
        char text[CLI_BENCH_TEXT_BYTES];
        double v = value_of(p, &numbers[i]);
        if (is_shown(&numbers[i], v)) {
            cli_bench_put(text, v, numbers[i].unit);
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
