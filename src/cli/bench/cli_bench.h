/*
 * Cli_bench: the results of a benchmark: printed, written to a report, and compared with an earlier
 * report.
 *
 * cli_bench_plan.c reads the flags, cli_bench.c runs the phases (with load/), cli_bench_report.c
 * writes the report, cli_bench_compare.c compares two reports, cli_bench_fault.c injects a fault
 * while the benchmark runs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/clock.h"
#include "base/str.h"
#include "cli/cli_int.h"
#include "load/load.h"

/* Processor time and memory so far, of the server or of this process. */
struct cli_bench_usage {
    bool known;
    int64_t cpu_ns;
    int64_t heap_bytes;
};

/* The numbers of one phase. Members of type double are 0 if unknown. */
struct cli_bench_phase {
    const char *name; /* member of the report; NULL: the phase did not run */
    uint64_t completed, total, overloaded, dropped, errors;
    bool stalled;
    int64_t took_ns;
    double ops_per_sec, ops_stddev, ops_cv_pct; /* ops_stddev and ops_cv_pct: over whole seconds */
    double avg_us, p50_us, p90_us, p99_us, p999_us, min_us, max_us, stddev_us, cv_pct;
    double server_cv_pct;
    double server_cpu_pct, server_rss_mb;
    double server_cpu_ms_per_1000, server_heap_kb_per_1000; /* per 1000 jobs */
    double generator_cpu_pct, generator_cpu_ms_per_1000;
};

enum { CLI_BENCH_TEXT_BYTES = 48 };

enum cli_bench_unit {
    CLI_BENCH_PLAIN,
    CLI_BENCH_US,
    CLI_BENCH_MS,
    CLI_BENCH_PERCENT,
    CLI_BENCH_KB,
    CLI_BENCH_MB
};

/* Describes one number of a phase. */
struct cli_bench_number {
    const char *key;   /* name in the report */
    const char *label; /* label in the printed text */
    size_t offset;     /* in struct cli_bench_phase */
    enum cli_bench_unit unit;
    bool optional; /* omitted if 0 */
    bool brief;    /* included in the comparison at the end of a run */
};

/* The settings of a benchmark. Memory that load points to belongs to the run's arena. */
struct cli_bench_plan {
    struct load_plan load;
    bool combined;
    size_t repeats;
};

struct cli_bench_fault {
    const char *scenario; /* NULL: none */
    struct str container, network;
    int64_t warmup_ms, duration_ms;
    int64_t injected_ns, recovered_ns, working_ns; /* monotonic times; 0: not yet */
    struct wall injected_at, recovered_at;
    uint64_t errors_before, errors;
    uint64_t done_before;
};

/* cli_bench_plan.c */
/* Read the plan from the flags; protocol is one of the words of --protocol. */
ATTR_NODISCARD int cli_bench_plan_read(struct cli *cli, struct str protocol,
                                       struct cli_bench_plan *plan);
struct str cli_bench_plan_json(struct cli *cli, const struct cli_bench_plan *plan); /* "config" */

/* cli_bench_report.c */

/* The numbers of a phase, in order; NULL after the last. */
const struct cli_bench_number *cli_bench_number_at(size_t index);

/* Format the value with its unit. */
void cli_bench_put(char out[CLI_BENCH_TEXT_BYTES], double v, enum cli_bench_unit unit);

/* Fill in the numbers of a run. before and after contain the usage of the server, then of this
 * process. */
void cli_bench_fill(struct cli_bench_phase *p, const struct load_result *r,
                    const struct cli_bench_usage before[2], const struct cli_bench_usage after[2]);

void cli_bench_print(struct cli *cli, const struct cli_bench_phase *p);

/* Format the member of the report as JSON. */
struct str cli_bench_phase_json(struct cli *cli, const struct cli_bench_phase *p);
struct str cli_bench_fault_json(struct cli *cli, const struct cli_bench_fault *f);
struct str cli_bench_machine(struct cli *cli);

/* Sort the values and return the quantile at share (0 to 1); 0 if there are no values. */
double cli_bench_quantile(double *values, size_t count, double share);

/* cli_bench_compare.c */

/* Two reports to compare. */
struct cli_bench_pair {
    struct str baseline, current;
    bool whole; /* all numbers, and ratios; otherwise the brief ones */
};

/* Read a report and check it: an object with phases, whose numbers have the right type. Errors name
 * the file and the byte offset. */
ATTR_NODISCARD int cli_bench_report_read(struct cli *cli, struct str path, struct str *out);

/* Return one row for each number that a phase has in both reports, as JSON objects: phase, metric,
 * baseline, current, change ("+50.0%"; "-" if the baseline is 0) and ratio. If shown is true, the
 * values are table cells with units and labels, otherwise numbers with the keys of the report. */
size_t cli_bench_rows(struct cli *cli, const struct cli_bench_pair *pair, bool shown,
                      struct str **out);

/* Return the rows as a JSON array. */
struct str cli_bench_rows_json(struct cli *cli, const struct cli_bench_pair *pair);

/* Print the origin of both reports, warnings about different settings, and the table. */
void cli_bench_compare(struct cli *cli, const struct cli_bench_pair *pair);

/* corvo bench compare */
int cli_bench_compare_run(struct cli *cli);

/* cli_bench_fault.c */

/* Read the scenario from the flags. CLI_OK also if there is none. */
ATTR_NODISCARD int cli_bench_fault_from(struct cli *cli, struct cli_bench_fault *out);

/* Inject or end the fault if it is due; since_ns is the time since the start of the phase. */
ATTR_NODISCARD int cli_bench_fault_turn(struct cli *cli, struct cli_bench_fault *f,
                                        int64_t since_ns, const struct load_progress *progress);

/* The phase has ended: end a fault that is still active. */
ATTR_NODISCARD int cli_bench_fault_end(struct cli *cli, struct cli_bench_fault *f);
void cli_bench_fault_print(struct cli *cli, const struct cli_bench_fault *f);
