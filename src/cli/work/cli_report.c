#include "cli/work/cli_report.h"

#include "base/limits.h"
#include "json/json_scan.h"
#include "log/log.h"

enum {
    LINE_BYTES = 4 << 20
}; /* larger than what is kept, so that the warning can name the part that is too large */

void cli_report_init(struct cli_report *r)
{
    *r = (struct cli_report){0};
    buf_init(&r->line, LINE_BYTES);
    buf_init(&r->progress.text, LIMIT_PROGRESS_BYTES);
    buf_init(&r->checkpoint.text, LIMIT_RESULT_BYTES);
}

void cli_report_deinit(struct cli_report *r)
{
    buf_deinit(&r->line);
    buf_deinit(&r->progress.text);
    buf_deinit(&r->checkpoint.text);
}

static void clear_part(struct cli_report_part *p)
{
    buf_clear(&p->text);
    p->sent = p->told = false;
}

void cli_report_clear(struct cli_report *r)
{
    buf_clear(&r->line);
    clear_part(&r->progress);
    clear_part(&r->checkpoint);
}

/* Reading what the program writes */

static void keep(struct cli_report_part *p, const char *name, struct str job_id, struct str line)
{
    struct json_value value;
    struct err err;
    if (!json_scan_member(line, str_from_z(name), &value) || value.type == JSON_TYPE_NULL) {
        return; /* the server also ignores null */
    }
    if (json_scan_check_value(value.text, &err) != ERR_OK) {
        log_warn("report dropped", LOG_STR("job_id", job_id), LOG_Z("field", name),
                 LOG_Z("error", err.msg));
    } else if (value.text.len <= p->text.limit_bytes) {
        buf_clear(&p->text);
        buf_add_str(&p->text, value.text);
        p->sent = false;
    } else if (!p->told) { /* warn once per job: some programs report many times a second */
        log_warn("report dropped: too large", LOG_STR("job_id", job_id), LOG_Z("field", name),
                 LOG_U64("bytes", value.text.len), LOG_U64("limit_bytes", p->text.limit_bytes));
        p->told = true;
    }
}

/* Ignore lines that are not JSON. */
static void take_line(struct cli_report *r, struct str job_id)
{
    struct str line = buf_str(&r->line);
    struct err err = {0};
    if (r->line.overflow) {
        log_warn("report ignored: line too long", LOG_STR("job_id", job_id),
                 LOG_U64("limit_bytes", LINE_BYTES));
    } else if (line.len > 0 && json_scan_check(line, &err) != ERR_OK) {
        log_warn("report ignored", LOG_STR("job_id", job_id), LOG_Z("error", err.msg));
    } else if (line.len > 0) {
        keep(&r->progress, "progress", job_id, line);
        keep(&r->checkpoint, "checkpoint", job_id, line);
    }
    buf_clear(&r->line);
}

void cli_report_hear(struct cli_report *r, struct str job_id, struct str piece)
{
    for (size_t i = 0; i < piece.len; i++) {
        if (piece.ptr[i] == '\n') {
            take_line(r, job_id);
        } else {
            buf_add_char(&r->line, piece.ptr[i]);
        }
    }
}

/* Sending */

bool cli_report_any(const struct cli_report *r)
{
    return r->progress.text.len > 0 || r->checkpoint.text.len > 0;
}

static void write_part(struct cli_report_part *p, const char *name, struct json_write *w)
{
    p->sent = p->text.len > 0;
    if (p->sent) {
        json_write_key(w, str_from_z(name));
        json_write_raw(w, buf_str(&p->text));
    }
}

void cli_report_write(struct cli_report *r, struct json_write *w)
{
    write_part(&r->progress, "progress", w);
    write_part(&r->checkpoint, "checkpoint", w);
}

static void end_part(struct cli_report_part *p, const char *name, struct str job_id,
                     enum cli_report_fate fate)
{
    if (p->sent && fate == CLI_REPORT_REFUSED) {
        log_warn("report dropped: refused by the server", LOG_STR("job_id", job_id),
                 LOG_Z("field", name), LOG_U64("bytes", p->text.len));
    }
    if (p->sent && fate != CLI_REPORT_UNSENT) {
        buf_clear(&p->text);
    }
    p->sent = false;
}

void cli_report_over(struct cli_report *r, struct str job_id, enum cli_report_fate fate)
{
    end_part(&r->progress, "progress", job_id, fate);
    end_part(&r->checkpoint, "checkpoint", job_id, fate);
}
