#include "cli/cli_progress.h"

#include "core/timestamp.h"

enum { BAR_WIDTH = 30, BAR_BYTES_MAX = 256 };

struct cli_progress cli_progress_begin(struct cli *cli, const char *unit)
{
    return (struct cli_progress){.cli = cli, .unit = unit, .shown = -1};
}

static int64_t percent(int64_t done, int64_t total)
{
    if (total <= 0) {
        return 0;
    }
    double share = 100.0 * (double)done / (double)total;
    return share > 100 ? 100 : (int64_t)share;
}

void cli_progress_bar(struct buf *out, int64_t done, int64_t total, size_t width)
{
    size_t full = (size_t)percent(done, total) * width / 100;
    buf_add_char(out, '[');
    for (size_t i = 0; i < width; i++) {
        buf_add_char(out, i < full ? '#' : '-');
    }
    buf_printf(out, "] %3lld%%", (long long)percent(done, total));
}

void cli_progress_show(struct cli_progress *p, int64_t done, int64_t total)
{
    struct cli *cli = p->cli;
    struct buf bar;
    if (done == p->shown) {
        return;
    }
    p->shown = done;
    if (!cli->err_is_terminal) {
        cli_note(cli, "Processed %lld of %lld %s (%lld%%)\n", (long long)done, (long long)total,
                 p->unit, (long long)percent(done, total));
        return;
    }
    buf_init(&bar, BAR_BYTES_MAX);
    cli_progress_bar(&bar, done, total, BAR_WIDTH);
    cli_note(cli, "\r" STR_FMT " %lld/%lld %s\033[K", STR_ARG(buf_str(&bar)), (long long)done,
             (long long)total, p->unit);
    buf_deinit(&bar);
    p->open = true;
}

void cli_progress_end(struct cli_progress *p)
{
    if (p->open) {
        cli_note(p->cli, "\r\033[K");
        p->open = false;
    }
}

int64_t cli_progress_ms_between(struct str from, struct str to)
{
    struct wall begin;
    struct wall end;
    struct err err;
    if (timestamp_parse(from, &begin, &err) != ERR_OK ||
        timestamp_parse(to, &end, &err) != ERR_OK) {
        return 0;
    }
    return (end.ns - begin.ns) / NS_PER_MS;
}
