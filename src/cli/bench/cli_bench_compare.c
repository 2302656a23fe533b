/*
 * Compares two reports, at the end of a benchmark or from two files.
 */
#include <math.h>

#include "base/check.h"
#include "cli/bench/cli_bench.h"
#include "json/json_scan.h"

static const char *const phases[] = {"enqueue", "lifecycle", "combined"};

static bool has(struct str object, const char *key)
{
    return cli_member(object, key).type != JSON_TYPE_COUNT;
}

/* Reading */

/* Report that the content at this offset does not match the format. */
static int unfit(struct cli *cli, struct str path, size_t at, const char *what)
{
    return cli_fail(cli, STR_FMT ": not a report of corvo bench: %s at byte %zu", STR_ARG(path),
                    what, at);
}

static int check_phase(struct cli *cli, struct str path, struct str text, struct str report,
                       const char *phase)
{
    const struct cli_bench_number *n;
    struct json_value p = cli_member(report, phase);
    char what[CLI_BENCH_TEXT_BYTES * 2];
    if (p.type == JSON_TYPE_COUNT) {
        return CLI_OK;
    }
    if (p.type != JSON_TYPE_OBJECT) {
        (void)snprintf(what, sizeof what, "%s is not an object", phase);
        return unfit(cli, path, (size_t)(p.text.ptr - text.ptr), what);
    }
    for (size_t i = 0; (n = cli_bench_number_at(i)) != NULL; i++) {
        struct json_value v = cli_member(p.text, n->key);
        double ignored;
        if (v.type != JSON_TYPE_COUNT &&
            (v.type != JSON_TYPE_NUMBER || !json_value_f64(v, &ignored))) {
            (void)snprintf(what, sizeof what, "%s.%s is not a number", phase, n->key);
            return unfit(cli, path, (size_t)(v.text.ptr - text.ptr), what);
        }
    }
    if (!has(p.text, "ops_per_sec")) {
        (void)snprintf(what, sizeof what, "%s has no ops_per_sec", phase);
        return unfit(cli, path, (size_t)(p.text.ptr - text.ptr), what);
    }
    return CLI_OK;
}

/* Check one report, which is the whole file or a part of it. */
static int check_phases(struct cli *cli, struct str path, struct str text, struct str report)
{
    size_t at = (size_t)(report.ptr - text.ptr);
    size_t count = 0;
    if (report.ptr[0] != '{') {
        return unfit(cli, path, at, "the content is not an object");
    }
    for (size_t i = 0; i < COUNT_OF(phases); i++) {
        int code = check_phase(cli, path, text, report, phases[i]);
        if (code != CLI_OK) {
            return code;
        }
        count += has(report, phases[i]) ? 1 : 0;
    }
    return count > 0 ? CLI_OK
                     : unfit(cli, path, at, "enqueue, lifecycle and combined are all missing");
}

static int check_report(struct cli *cli, struct str path, struct str text)
{
    struct json_value whole;
    struct err err;
    if (json_scan_check(text, &err) != ERR_OK ||
        json_scan_first(text, &whole, &err) != ERR_OK) { /* cannot fail if the check succeeds */
        return cli_fail(cli, STR_FMT ": %s", STR_ARG(path), err.msg);
    }
    struct json_value reports = cli_member(text, "reports");
    if (whole.type != JSON_TYPE_OBJECT || reports.type != JSON_TYPE_ARRAY) {
        return check_phases(cli, path, text, whole.text);
    }
    struct json_scan scan = json_scan_from(reports.text);
    struct json_value report;
    int code = json_scan_enter_array(&scan) ? CLI_OK : CLI_FAILED;
    while (code == CLI_OK && json_scan_next_element(&scan) && json_scan_value(&scan, &report)) {
        code = check_phases(cli, path, text, report.text);
    }
    return code;
}

int cli_bench_report_read(struct cli *cli, struct str path, struct str *out)
{
    int code = cli_read_file(cli, path, out);
    return code == CLI_OK ? check_report(cli, path, *out) : code;
}

/* Rows */

/* The ratio to the baseline; NAN if the baseline is 0. */
static double ratio_of(const double value[2])
{
    double ratio = value[0] > 0 ? value[1] / value[0] : (double)NAN;
    return isfinite(ratio) ? round(ratio * 1e4) / 1e4 : (double)NAN;
}

static struct str change(struct cli *cli, const double value[2])
{
    return isnan(ratio_of(value))
               ? STR("-")
               : cli_format(cli, "%+.1f%%", 100 * (value[1] - value[0]) / value[0]);
}

static struct str row_of(struct cli *cli, const char *phase, const struct cli_bench_number *n,
                         const double value[2], bool shown)
{
    double ratio = ratio_of(value);
    if (!shown) {
        return CLI_OBJECT(cli, CLI_SET_TEXT("phase", str_from_z(phase)),
                          CLI_SET_TEXT("metric", str_from_z(n->key)),
                          CLI_SET_REAL("baseline", value[0]), CLI_SET_REAL("current", value[1]),
                          CLI_SET_TEXT("change", change(cli, value)), CLI_SET_REAL("ratio", ratio));
    }
    char texts[2][CLI_BENCH_TEXT_BYTES];
    cli_bench_put(texts[0], value[0], n->unit);
    cli_bench_put(texts[1], value[1], n->unit);
    return CLI_OBJECT(
        cli, CLI_SET_TEXT("phase", str_from_z(phase)), CLI_SET_TEXT("metric", str_from_z(n->label)),
        CLI_SET_TEXT("baseline", str_from_z(texts[0])),
        CLI_SET_TEXT("current", str_from_z(texts[1])), CLI_SET_TEXT("change", change(cli, value)),
        CLI_SET_TEXT("ratio", isnan(ratio) ? STR("-") : cli_format(cli, "%.2f", ratio)));
}

size_t cli_bench_rows(struct cli *cli, const struct cli_bench_pair *pair, bool shown,
                      struct str **out)
{
    const struct cli_bench_number *n;
    size_t room = 0;
    size_t count = 0;
    while (cli_bench_number_at(room) != NULL) {
        room++;
    }
    *out = ARENA_ARRAY(cli->arena, struct str, COUNT_OF(phases) * room);
    CHECK(*out != NULL);
    for (size_t i = 0; i < COUNT_OF(phases); i++) {
        struct str a = cli_member(pair->baseline, phases[i]).text;
        struct str b = cli_member(pair->current, phases[i]).text;
        for (size_t k = 0; (n = cli_bench_number_at(k)) != NULL; k++) {
            if ((pair->whole || n->brief) && has(a, n->key) && has(b, n->key)) {
                double value[2] = {cli_member_real(a, n->key), cli_member_real(b, n->key)};
                (*out)[count++] = row_of(cli, phases[i], n, value, shown);
            }
        }
    }
    return count;
}

struct str cli_bench_rows_json(struct cli *cli, const struct cli_bench_pair *pair)
{
    struct str *rows = NULL;
    size_t count = cli_bench_rows(cli, pair, false, &rows);
    struct buf b;
    buf_init(&b, CLI_LINE_BYTES);
    buf_add_char(&b, '[');
    for (size_t i = 0; i < count; i++) {
        buf_add_str(&b, i > 0 ? STR(",") : STR_EMPTY);
        buf_add_str(&b, rows[i]);
    }
    buf_add_char(&b, ']');
    struct str json = arena_str(cli->arena, buf_str(&b));
    buf_deinit(&b);
    return json;
}

/* Text */

/* Members that describe the origin of a report. */
static const char *const origins[] = {"timestamp", "commit", "machine", "server", "config"};

/* Return a member in one line, regardless of the file's layout. */
static struct str origin(struct cli *cli, struct str report, const char *member)
{
    struct json_value value = cli_member(report, member);
    struct str text =
        value.type == JSON_TYPE_OBJECT ? cli_json_compact(cli, value.text) : cli_decode(cli, value);
    return text.len > 0 ? cli_harmless(cli, text) : STR("-");
}

static void print_origin(struct cli *cli, const char *label, struct str report)
{
    cli_printf(cli, "%s:\n", label);
    for (size_t i = 0; i < COUNT_OF(origins); i++) {
        struct str text = origin(cli, report, origins[i]);
        cli_printf(cli, "  %s: " STR_FMT "\n", origins[i], STR_ARG(text));
    }
}

static void warn_if_different(struct cli *cli, const struct cli_bench_pair *pair,
                              const char *member, const char *what)
{
    if (!str_eq(origin(cli, pair->baseline, member), origin(cli, pair->current, member))) {
        cli_note(cli, "Warning: %s\n", what);
    }
}

void cli_bench_compare(struct cli *cli, const struct cli_bench_pair *pair)
{
    static const struct cli_column columns[] = {
        {"PHASE", "phase", CLI_SHOW_TEXT},       {"METRIC", "metric", CLI_SHOW_TEXT},
        {"BASELINE", "baseline", CLI_SHOW_TEXT}, {"CURRENT", "current", CLI_SHOW_TEXT},
        {"CHANGE", "change", CLI_SHOW_TEXT},     {"RATIO", "ratio", CLI_SHOW_TEXT},
    };
    struct str *rows = NULL;
    size_t count = cli_bench_rows(cli, pair, true, &rows);
    cli_printf(cli, pair->whole ? "" : "\n"); /* a blank line after the results */
    print_origin(cli, "Baseline", pair->baseline);
    print_origin(cli, "Current", pair->current);
    warn_if_different(cli, pair, "server", "the servers have different settings");
    warn_if_different(cli, pair, "config", "the benchmarks have different settings");
    if (count == 0) {
        cli_note(cli, "Warning: the reports have no phase in common\n");
    }
    cli_printf(cli, "\n");
    cli_call_table(cli, columns, COUNT_OF(columns) - (pair->whole ? 0 : 1), rows, count);
}

/* corvo bench compare */

static struct str origin_json(struct cli *cli, struct str path, struct str report)
{
    struct cli_pair pairs[COUNT_OF(origins) + 1] = {CLI_SET_TEXT("file", path)};
    for (size_t i = 0; i < COUNT_OF(origins); i++) {
        pairs[i + 1] =
            (struct cli_pair)CLI_SET_RAW(origins[i], cli_member(report, origins[i]).text);
    }
    return cli_object(cli, pairs, COUNT_OF(pairs));
}

int cli_bench_compare_run(struct cli *cli)
{
    struct cli_bench_pair pair = {.whole = true};
    struct str *rows = NULL;
    int code = cli_bench_report_read(cli, cli->args[0], &pair.baseline);
    code = code == CLI_OK ? cli_bench_report_read(cli, cli->args[1], &pair.current) : code;
    if (code != CLI_OK) {
        return code;
    }
    if (cli_bench_rows(cli, &pair, true, &rows) == 0) {
        return cli_fail(cli, STR_FMT " and " STR_FMT " have no phase in common",
                        STR_ARG(cli->args[0]), STR_ARG(cli->args[1]));
    }
    if (cli_is_json(cli)) {
        cli_print_json(
            cli,
            CLI_OBJECT(cli, CLI_SET_RAW("baseline", origin_json(cli, cli->args[0], pair.baseline)),
                       CLI_SET_RAW("current", origin_json(cli, cli->args[1], pair.current)),
                       CLI_SET_RAW("comparison", cli_bench_rows_json(cli, &pair))));
    } else {
        cli_bench_compare(cli, &pair);
    }
    return CLI_OK;
}
