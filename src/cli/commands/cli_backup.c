/*
 * Backups: download to a file, verify, restore.
 *
 * A backup may be large, so its pieces are written to disk as they arrive. The file gets its name
 * only after the backup is complete and flushed, so a file with that name is a complete backup. For
 * a restore, the file is mapped instead of read into memory.
 */
#include <fcntl.h>
#include <unistd.h>

#include "backup/backup_verify.h"
#include "base/check.h"
#include "cli/cli_int.h"
#include "json/json_scan.h"
#include "os/os_file.h"
#include "os/os_process.h"

/* Create */

struct saving {
    struct cli *cli;
    int fd; /* -1: standard output */
    uint64_t size;
    char last; /* last byte that is not blank; a brace in a complete backup */
    struct err err;
};

static bool on_piece(struct outgoing_wait_call *call, struct str piece)
{
    struct saving *s = call->data;
    struct iovec bytes = {.iov_base = (void *)(uintptr_t)piece.ptr, .iov_len = piece.len};
    struct str text = str_trim(piece);
    if (text.len > 0) {
        s->last = text.ptr[text.len - 1];
    }
    if (s->fd < 0) {
        bool good = fwrite(piece.ptr, 1, piece.len, s->cli->out) == piece.len;
        s->size += piece.len;
        return good;
    }
    if (os_file_write_at(s->fd, &bytes, 1, s->size, &s->err) != ERR_OK) {
        return false;
    }
    s->size += piece.len;
    return true;
}

/* Download the backup to s->fd or standard output. */
static int download(struct saving *s)
{
    struct cli *cli = s->cli;
    struct str namespace = cli_text(cli, "namespace");
    const char *url = cli_url_to(cli, "/admin/backup");
    if (namespace.len > 0) {
        url = cli_url_query(cli, url, "namespace", namespace);
    }
    if (cli_bool(cli, "include-secrets")) {
        url = cli_url_query(cli, url, "include_secrets", STR("true"));
    }
    struct outgoing_wait_call call = cli_call_to(cli, "GET", url, STR_EMPTY);
    int code = CLI_OK;
    call.on_piece = on_piece;
    call.data = s;
    if (!outgoing_wait_run(cli->http, &call, cli->signal_fd)) {
        code = cli_interrupted(cli);
    } else if (s->err.code != ERR_OK) {
        code = cli_fail(cli, "%s", s->err.msg);
    } else if (call.err.code != ERR_OK) {
        code = cli_unreachable(cli, &call.err);
    } else if (call.status >= 300) {
        code = cli_refused(cli, call.status, buf_str(&call.answer));
    } else if (s->last != '}') {
        code = cli_fail(cli, "the backup stopped after %llu bytes", (unsigned long long)s->size);
    }
    outgoing_wait_clear(&call);
    return code;
}

static int save(struct cli *cli, const char *path, uint64_t *out_size)
{
    struct saving s = {.cli = cli, .fd = -1};
    char part[OS_FILE_PATH_MAX];
    int n = snprintf(part, sizeof part, "%s.part", path);
    if (n < 0 || (size_t)n >= sizeof part) {
        return cli_fail(cli, "the file name is too long");
    }
    os_process_keep_private();
    if (os_file_open(part, O_WRONLY | O_CREAT | O_TRUNC, &s.fd, &s.err) != ERR_OK) {
        return cli_fail(cli, "%s", s.err.msg);
    }
    int code = download(&s);
    if (code == CLI_OK &&
        (os_file_flush(s.fd, &s.err) != ERR_OK || os_file_rename(part, path, &s.err) != ERR_OK)) {
        code = cli_fail(cli, "%s", s.err.msg);
    }
    os_file_close(s.fd);
    if (code != CLI_OK) {
        os_file_discard(part);
    }
    *out_size = s.size;
    return code;
}

static int create(struct cli *cli, struct str file)
{
    uint64_t size = 0;
    if (file.len == 0 || str_eq(file, STR("-"))) {
        struct saving s = {.cli = cli, .fd = -1};
        return download(&s);
    }
    const char *path = NULL;
    bool special = false;
    int code = cli_target(cli, file, &path, &special);
    if (code == CLI_OK && special) {
        code = cli_fail(cli, "'" STR_FMT "' is not a regular file; use - for standard output",
                        STR_ARG(file));
    }
    code = code == CLI_OK ? save(cli, path, &size) : code;
    if (code != CLI_OK) {
        return code;
    }
    if (cli_is_json(cli)) {
        cli_print_json(cli,
                       CLI_OBJECT(cli, CLI_SET_TEXT("status", STR("ok")),
                                  CLI_SET_TEXT("file", file), CLI_SET_INT("bytes", (int64_t)size)));
    } else {
        cli_printf(cli, "Backup written to " STR_FMT " (%llu bytes)\n", STR_ARG(file),
                   (unsigned long long)size);
    }
    return CLI_OK;
}

static int run_create(struct cli *cli)
{
    return create(cli, cli->args[0]);
}

static int run_admin_backup(struct cli *cli)
{
    return create(cli, cli_text(cli, "file"));
}

/* Verify and restore */

/* Map the file as text. Standard input is first copied to an unnamed file. */
static int read_backup(struct cli *cli, struct str name, struct str *out)
{
    const char *path = arena_strz(cli->arena, name);
    struct err err;
    int fd = -1;
    int code = CLI_OK;
    CHECK(path != NULL);
    if (str_eq(name, STR("-"))) {
        code = cli_spool_stdin(cli, &fd);
    } else if (os_file_open(path, O_RDONLY, &fd, &err) != ERR_OK) {
        code = cli_fail(cli, "%s", err.msg);
    }
    if (code == CLI_OK && os_file_map(fd, out, &err) != ERR_OK) {
        code = cli_fail(cli, "'%s': %s", path, err.msg);
    }
    os_file_close(fd);
    return code;
}

struct verified {
    int64_t format;
    size_t jobs, queues;
};

static bool has(struct str object, const char *name, enum json_type type)
{
    struct json_value value;
    return json_scan_member(object, str_from_z(name), &value) && value.type == type;
}

/* Check that every job has what a restore needs. The error names the first one that does not. */
static int verify_jobs(struct cli *cli, struct str jobs, bool full, size_t *out_count)
{
    struct json_scan s = json_scan_from(jobs);
    struct json_value job;
    struct json_value payload;
    *out_count = 0;
    if (json_scan_enter_array(&s)) {
        while (json_scan_next_element(&s) && json_scan_value(&s, &job)) {
            bool good = job.type == JSON_TYPE_OBJECT && has(job.text, "queue", JSON_TYPE_STRING) &&
                        has(job.text, "priority", JSON_TYPE_NUMBER) &&
                        json_scan_member(job.text, STR("payload"), &payload);
            bool whole = !full || (has(job.text, "id", JSON_TYPE_STRING) &&
                                   has(job.text, "state", JSON_TYPE_STRING) &&
                                   has(job.text, "created_at", JSON_TYPE_STRING));
            if (!good || !whole) {
                return cli_fail(cli, "jobs[%zu] is incomplete", *out_count);
            }
            (*out_count)++;
        }
    }
    return CLI_OK;
}

/* Verify the backup; with unchanged, its checksum must match, too. */
static int verify(struct cli *cli, struct str text, bool unchanged, struct verified *out)
{
    struct json_value jobs;
    struct json_value queues;
    struct backup_verify whole;
    struct str *rows = NULL;
    struct err err;
    if (json_scan_check(text, &err) != ERR_OK) {
        return cli_fail(cli, "the backup is damaged: %s", err.msg);
    }
    out->format = cli_member_int(text, "meta.format");
    if (out->format < 1 || out->format > 2) {
        return cli_fail(cli, "this is not a backup in a known format");
    }
    if (!has(text, "namespace", JSON_TYPE_STRING) || !json_scan_member(text, STR("jobs"), &jobs) ||
        jobs.type != JSON_TYPE_ARRAY) {
        return cli_fail(cli, "the backup has no namespace or no jobs");
    }
    if (backup_verify_text(text, &whole, &err) != ERR_OK) {
        return cli_fail(cli,
                        err.code == ERR_TOO_LARGE ? "the backup is too large to be restored: %s"
                                                  : "the backup is damaged: %s",
                        err.msg);
    }
    if (unchanged && whole.has_checksum && !whole.checksum_fits) {
        return cli_fail(cli, "the backup was damaged or edited: its checksum does not match");
    }
    out->queues =
        json_scan_member(text, STR("queues"), &queues) ? cli_elements(cli, queues.text, &rows) : 0;
    return verify_jobs(cli, jobs.text, out->format >= 2, &out->jobs);
}

static int run_verify(struct cli *cli)
{
    struct str text = STR_EMPTY;
    struct verified v = {0};
    int code = read_backup(cli, cli->args[0], &text);
    if (code == CLI_OK) {
        code = verify(cli, text, true, &v);
    }
    if (code == CLI_OK) {
        struct str namespace = cli_harmless(cli, cli_member_text(cli, text, "namespace"));
        struct str created = cli_harmless(cli, cli_member_text(cli, text, "created_at"));
        cli_printf(cli,
                   "Backup of namespace " STR_FMT " from " STR_FMT
                   ", format %lld: %zu jobs, %zu queues\n",
                   STR_ARG(namespace), STR_ARG(created), (long long)v.format, v.jobs, v.queues);
        int64_t rows = cli_member_int(text, "meta.rows_left_out");
        if (rows > 0) {
            cli_note(cli, "Warning: %lld rows of jobs that were too large are not in the backup\n",
                     (long long)rows);
        }
    }
    os_file_unmap(text);
    return code;
}

/* Report jobs that a restore skipped or could not create, and its warnings. The response has these
 * members only if there are some. */
static void note_others(struct cli *cli, struct str answer)
{
    int64_t skipped = cli_member_int(answer, "skipped_jobs");
    int64_t failed = cli_member_int(answer, "failed_jobs");
    if (skipped > 0) {
        cli_note(cli, "%lld jobs already existed\n", (long long)skipped);
    }
    if (failed > 0) {
        cli_note(cli, "%lld jobs could not be restored\n", (long long)failed);
    }
    struct json_scan warnings = json_scan_from(cli_member(answer, "warnings").text);
    struct json_value warning;
    if (json_scan_enter_array(&warnings)) {
        while (json_scan_next_element(&warnings) && json_scan_value(&warnings, &warning)) {
            struct str text = cli_harmless(cli, cli_decode(cli, warning));
            cli_note(cli, "Warning: " STR_FMT "\n", STR_ARG(text));
        }
    }
}

static int run_restore(struct cli *cli)
{
    struct str text = STR_EMPTY;
    struct verified v = {0};
    struct cli_answer answer;
    bool unchanged = cli_bool(cli, "verify");
    int code = read_backup(cli, cli->args[0], &text);
    struct err err;
    /* Backups of other servers may have fewer members; only valid JSON is required of them. */
    if (code == CLI_OK && json_scan_check(text, &err) != ERR_OK) {
        code = cli_fail(cli, "the backup is damaged: %s", err.msg);
    }
    if (code == CLI_OK && cli_member(text, "meta.format").type != JSON_TYPE_COUNT) {
        code = verify(cli, text, unchanged, &v);
    }
    if (code == CLI_OK) {
        const char *url = cli_url_query(cli, cli_url_to(cli, "/admin/restore"), "verify",
                                        unchanged ? STR("true") : STR("false"));
        if (cli_given(cli, "skip")) {
            struct str skip = cli_format(cli, "%lld", (long long)cli_int(cli, "skip"));
            url = cli_url_query(cli, url, "skip", skip);
        }
        code = cli_request(cli, "POST", url, text, &answer);
    }
    os_file_unmap(text);
    if (code != CLI_OK) {
        return code;
    }
    note_others(cli, answer.body);
    return cli_show(cli, answer.body, "Restored {restored_jobs} jobs into {namespace}");
}

/* Verify the backup before repair moves all data aside for it. */
static int check_backup(struct cli *cli, struct str name)
{
    struct str text = STR_EMPTY;
    struct verified v = {0};
    int code = read_backup(cli, name, &text);
    code = code == CLI_OK ? verify(cli, text, true, &v) : code;
    os_file_unmap(text);
    return code;
}

static int run_repair(struct cli *cli)
{
    const char *data_dir = arena_strz(cli->arena, cli_text(cli, "data-dir"));
    struct str backup = cli_text(cli, "backup");
    CHECK(data_dir != NULL);
    if (backup.len > 0 && check_backup(cli, backup) != CLI_OK) {
        return CLI_FAILED;
    }
    int code =
        cli->host->repair(data_dir, backup.len > 0, cli_bool(cli, "yes"), cli->out, cli->err);
    if (code == CLI_OK && backup.len > 0) {
        cli_printf(cli, "Next: start the server, then run: corvo backup restore " STR_FMT "\n",
                   STR_ARG(backup));
    }
    return code;
}

/* clang-format off */
static const struct cli_flag repair_flags[] = {
    CLI_FLAG("data-dir", CLI_BYTES, "DIR", "data", "data directory of the stopped server"),
    CLI_FLAG("backup", CLI_BYTES, "FILE", NULL, "prepare the directory for restoring this backup: move all data aside"),
    CLI_FLAG("yes", CLI_BOOL, NULL, "false", "carry out the repair; without it nothing is changed"),
};

static const struct cli_flag restore_flags[] = {
    CLI_FLAG("verify", CLI_BOOL, NULL, "true", "refuse a backup whose checksum does not match"),
    CLI_FLAG("skip", CLI_INT, "N", "0", "skip the first N jobs, to continue an interrupted restore"),
};

#define INCLUDE_SECRETS CLI_FLAG("include-secrets", CLI_BOOL, NULL, "false", "include the credentials of jobs, schedules and chain steps that the server delivers")

static const struct cli_flag create_flags[] = {INCLUDE_SECRETS};

static const struct cli_flag admin_backup_flags[] = {
    CLI_FLAG("file", CLI_BYTES, "FILE", NULL, "file to write; standard output by default", .letter = 'o'),
    INCLUDE_SECRETS,
};

static const struct cli_command commands[] = {
    {.name = "backup create", .args = "<file>", .summary = "Write a backup of a namespace to a file; - is standard output",
     .examples = "corvo backup create corvo-$(date +%F).json && corvo backup verify corvo-$(date +%F).json",
     CLI_FLAGS(create_flags), .options = CLI_FILES, .run = run_create},
    {.name = "backup restore", .args = "<file>", .summary = "Restore a backup; existing jobs are left unchanged",
     CLI_FLAGS(restore_flags), .options = CLI_FILES, .run = run_restore},
    {.name = "backup verify", .args = "<file>", .summary = "Check that a backup file is complete",
     .options = CLI_LOCAL, .run = run_verify},
    {.name = "repair", .args = "", .summary = "Find damaged files of a stopped server and repair them",
     .about = "Reads the state, the snapshots and the log, and reports what is damaged, how it can be\n"
              "repaired and what would be lost. Damaged files are moved to a directory\n"
              "damaged-TIME, never deleted. Exits 0 if nothing is damaged or the repair is done, 1 if\n"
              "a repair is possible or only a backup helps.",
     .examples = "corvo repair --data-dir /var/lib/corvo\ncorvo repair --data-dir /var/lib/corvo --yes",
     CLI_FLAGS(repair_flags), .options = CLI_LOCAL, .run = run_repair},
    {.name = "admin backup", .args = "", .summary = "Write a backup of a namespace",
     CLI_FLAGS(admin_backup_flags), .run = run_admin_backup},
    {.name = "admin restore", .args = "<file>", .summary = "Restore a backup",
     CLI_FLAGS(restore_flags), .options = CLI_FILES, .run = run_restore},
};
/* clang-format on */

const struct cli_family cli_backup_family = {"Backup", commands, COUNT_OF(commands)};
