#include "server/settings.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/build.h"
#include "base/check.h"
#include "base/clock.h"
#include "core/duration.h"
#include "log/log.h"
#include "os/os_file.h"
#include "server/settings_address.h"
#include "server/settings_check.h"
#include "server/settings_fallback.h"
#include "server/settings_set_int.h"

enum { CONFIG_BYTES_MAX = 1 << 20, NAME_BYTES_MAX = 64 };

/* The sources of settings, in ascending order of precedence */

static enum err_code unknown(struct str name, const char *where, struct err *err)
{
    return err_set(err, ERR_VALIDATION, "%s: unknown setting '" STR_FMT "'", where, STR_ARG(name));
}

/* A comment starts with a # at the beginning of the line or after a blank; a # in a password or URL
 * does not start one. */
static struct str without_comment(struct str line)
{
    for (size_t i = 0; i < line.len; i++) {
        if (line.ptr[i] == '#' && (i == 0 || line.ptr[i - 1] == ' ' || line.ptr[i - 1] == '\t')) {
            return str_from(line.ptr, i);
        }
    }
    return line;
}

static enum err_code read_line(struct str line, struct settings *out, struct err *err)
{
    line = str_trim(without_comment(line));
    if (line.len == 0) {
        return ERR_OK;
    }
    const char *equals = memchr(line.ptr, '=', line.len);
    if (equals == NULL) {
        return err_set(err, ERR_VALIDATION, "config: '" STR_FMT "' is not of the form name = value",
                       STR_ARG(line));
    }
    struct str name = str_trim(str_from(line.ptr, (size_t)(equals - line.ptr)));
    struct str value = str_trim(str_from_offset(line, (size_t)(equals - line.ptr) + 1));
    const struct settings_table_row *s = settings_set__find(name);
    if (s == NULL) {
        return unknown(name, "config", err);
    }
    if (s->offset == offsetof(struct settings, config)) {
        return err_set(err, ERR_VALIDATION,
                       "setting config: a configuration file cannot name another one");
    }
    return settings_set__row(s, value, out, err);
}

static enum err_code read_file(struct str path, struct arena *arena, struct settings *out,
                               struct err *err)
{
    struct str mark = STR("\xef\xbb\xbf"); /* a byte order mark, which some editors write */
    struct buf bytes;
    const char *path_z = arena_strz(arena, path);
    CHECK(path_z != NULL);
    buf_init(&bytes, CONFIG_BYTES_MAX);
    enum err_code code = os_file_read(path_z, &bytes, err);
    struct str text = arena_str(arena, buf_str(&bytes));
    buf_deinit(&bytes);
    if (code != ERR_OK) {
        return err_wrap(err, "setting config");
    }
    text = str_starts_with(text, mark) ? str_from_offset(text, mark.len) : text;
    while (text.len > 0 && code == ERR_OK) {
        const char *end = memchr(text.ptr, '\n', text.len);
        size_t len = end == NULL ? text.len : (size_t)(end - text.ptr);
        code = read_line(str_from(text.ptr, len), out, err);
        text = str_from_offset(text, end == NULL ? len : len + 1);
    }
    return code;
}

/* CORVO_DATA_DIR is the variable of data-dir. */
static struct str environment_name(const struct settings_table_row *s,
                                   char room[static NAME_BYTES_MAX])
{
    static const char prefix[] = "CORVO_";
    struct str name = str_from_z(s->name);
    size_t len = 0;
    CHECK(name.len + sizeof prefix < NAME_BYTES_MAX);
    for (; prefix[len] != '\0'; len++) {
        room[len] = prefix[len];
    }
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (c >= 'a' && c <= 'z') {
            c = (char)(c - 'a' + 'A');
        } else if (c == '-') {
            c = '_';
        }
        room[len++] = c;
    }
    return str_from(room, len);
}

static enum err_code read_environment(char **environment, struct settings *out, struct err *err)
{
    for (size_t i = 0; i < settings_table__count; i++) {
        char room[NAME_BYTES_MAX];
        struct str name = environment_name(&settings_table__rows[i], room);
        for (char **e = environment; *e != NULL; e++) {
            struct str pair = str_from_z(*e);
            if (str_starts_with(pair, name) && pair.len > name.len && pair.ptr[name.len] == '=' &&
                settings_set__row(&settings_table__rows[i], str_from_offset(pair, name.len + 1),
                                  out, err) != ERR_OK) {
                return err->code;
            }
        }
    }
    return ERR_OK;
}

static enum err_code read_arguments(int argc, char **argv, struct settings *out, struct err *err)
{
    for (int i = 0; i < argc; i++) {
        struct str arg = str_from_z(argv[i]);
        if (str_eq(arg, STR("--help")) || str_eq(arg, STR("-h"))) {
            out->help = true;
            continue;
        }
        if (str_eq(arg, STR("--sample-config"))) {
            out->sample = true;
            continue;
        }
        if (!str_starts_with(arg, STR("--"))) {
            return err_set(err, ERR_VALIDATION, "unexpected argument '%s'", argv[i]);
        }
        arg = str_from_offset(arg, 2);
        const char *equals = memchr(arg.ptr, '=', arg.len);
        struct str name = equals == NULL ? arg : str_from(arg.ptr, (size_t)(equals - arg.ptr));
        const struct settings_table_row *s = settings_set__find(name);
        struct str value;
        if (s == NULL) {
            return unknown(name, "command line", err);
        }
        if (equals != NULL) {
            value = str_from_offset(arg, name.len + 1);
        } else if (s->kind == KIND_BOOL) {
            value = STR("true");
        } else if (i + 1 < argc) {
            value = str_from_z(argv[++i]);
        } else {
            return err_set(err, ERR_VALIDATION, "setting %s requires a value", s->name);
        }
        if (settings_set__row(s, value, out, err) != ERR_OK) {
            return err->code;
        }
    }
    return ERR_OK;
}

/* Values of 0 or less select these (config-and-metrics.md 3 and 4). Not all of them are the
 * defaults. */
static void fall_back_idle(struct settings_idle *idle, const struct settings_idle *usual)
{
    enum { EXTEND_AT = 32, FETCHES = 32 };
    idle->batch_extend_at = idle->batch_extend_at > 0 ? idle->batch_extend_at : EXTEND_AT;
    idle->fetch_inflight = idle->fetch_inflight > 0 ? idle->fetch_inflight : FETCHES;
    if (idle->batch_window_ns == 0) {
        idle->batch_window_ns = 2 * NS_PER_MS;
    }
    if (idle->batch_min_wait_ns == 0) {
        idle->batch_min_wait_ns = usual->batch_min_wait_ns;
    }
    if (idle->batch_min_wait_ns > idle->batch_window_ns) {
        idle->batch_min_wait_ns = idle->batch_window_ns;
    }
    if (idle->snapshot_threshold <= 0) {
        idle->snapshot_threshold = usual->snapshot_threshold;
    }
    if (idle->snapshot_interval_ms == 0) {
        idle->snapshot_interval_ms = usual->snapshot_interval_ms;
    }
}

/* Numbers that are too small select the default, as in other servers of this API; existing command
 * lines use that. The log shows the values that are in force. */
static void fall_back(struct settings *out)
{
    double *const reals[] = {&out->rate_limit_read_rps, &out->rate_limit_read_burst,
                             &out->rate_limit_write_rps, &out->rate_limit_write_burst};
    const struct settings *d = &settings_table__defaults;
    const double usual[] = {d->rate_limit_read_rps, d->rate_limit_read_burst,
                            d->rate_limit_write_rps, d->rate_limit_write_burst};
    for (size_t i = 0; i < COUNT_OF(reals); i++) {
        *reals[i] = *reals[i] > 0 ? *reals[i] : usual[i];
    }
    const struct {
        int64_t *value;
        int64_t min, max, usual;
    } numbers[] = {
        {&out->raft_max_pending, 1, INT64_MAX, d->raft_max_pending},
        {&out->stream_strike_limit, 1, INT64_MAX, d->stream_strike_limit},
        {&out->stream_max_inflight, 1, INT64_MAX, d->stream_max_inflight},
        {&out->stream_max_fps, 0, INT64_MAX, d->stream_max_fps},
        {&out->queue_memory_percent, 1, 100, d->queue_memory_percent},
        {&out->max_request_body_size, 0, INT64_MAX, 0},
    };
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        bool fits = *numbers[i].value >= numbers[i].min && *numbers[i].value <= numbers[i].max;
        *numbers[i].value = fits ? *numbers[i].value : numbers[i].usual;
    }
    if (out->queue_job_limit <= 0) {
        log_warn("queue-job-limit ignored", LOG_I64("value", out->queue_job_limit));
        out->queue_job_limit = d->queue_job_limit;
    }
    fall_back_idle(&out->idle, &d->idle);
}

/* Derive the address for peers if none is given. */
static void advertise(struct settings *out, struct arena *arena)
{
    struct str host =
        out->advertise_host.len > 0 ? out->advertise_host : settings_address_host(out->raft_bind);
    struct str port = settings_address_port(out->raft_bind);
    if (out->raft_advertise.len > 0 || port.len == 0) {
        return;
    }
    char *text = arena_alloc(arena, host.len + 1 + port.len, 1);
    CHECK(text != NULL);
    memcpy(text, host.ptr, host.len);
    text[host.len] = ':';
    memcpy(text + host.len + 1, port.ptr, port.len);
    out->raft_advertise = str_from(text, host.len + 1 + port.len);
}

bool settings_is_clustered(const struct settings *s)
{
    return s->raft_bind_given || s->cluster_secret.len > 0 || s->peer_tls_cert.len > 0 ||
           s->bootstrap_expect > 0 || settings_joins(s);
}

enum err_code settings_read(int argc, char **argv, char **environment, struct arena *arena,
                            struct settings *out, struct err *err)
{
    struct settings named = settings_table__defaults;
    *out = settings_table__defaults;
    /* The environment or the command line may name the file, so they are read before it for its
     * name, and once more after it to take precedence. */
    if (read_environment(environment, &named, err) != ERR_OK ||
        read_arguments(argc, argv, &named, err) != ERR_OK) {
        return err->code;
    }
    settings_fallback_read(environment, arena, out);
    if (named.config.len > 0 && read_file(named.config, arena, out, err) != ERR_OK) {
        return err->code;
    }
    settings_fallback_merge(environment, arena, out);
    if (read_environment(environment, out, err) != ERR_OK) {
        return err->code;
    }
    settings_fallback_merge(environment, arena, out);
    if (read_arguments(argc, argv, out, err) != ERR_OK) {
        return err->code;
    }
    settings_fallback_merge(environment, arena, out);
    fall_back(out);
    if (settings_check_texts(out, err) != ERR_OK) {
        return err->code;
    }
    advertise(out, arena);
    return settings_check_together(out, err);
}

bool settings_row(size_t index, const char **out_name, const char **out_shown,
                  const char **out_help)
{
    if (index >= settings_table__count) {
        return false;
    }
    *out_name = settings_table__rows[index].name;
    *out_shown = settings_table__rows[index].shown;
    *out_help = settings_table__rows[index].help;
    return true;
}

/* Some settings are accepted for compatibility only, or are parts of other settings. */
static bool has_effect(const struct settings_table_row *s)
{
    size_t parts = offsetof(struct settings, parts);
    return !settings_set__is_idle(s) &&
           (s->offset < parts || s->offset >= parts + sizeof(struct settings_parts));
}

static struct log_value value_of(const struct settings_table_row *s, const struct settings *from,
                                 char room[static NAME_BYTES_MAX])
{
    const void *at = (const char *)from + s->offset;
    static const size_t secrets[] = {
        offsetof(struct settings, admin_password), offsetof(struct settings, cluster_secret),
        offsetof(struct settings, auth_token), offsetof(struct settings, webhook_bearer_token),
        offsetof(struct settings, gossip_secret)};
    for (size_t i = 0; i < COUNT_OF(secrets); i++) {
        if (s->offset == secrets[i]) {
            return LOG_BOOL(s->name, ((const struct str *)at)->len > 0);
        }
    }
    switch (s->kind) {
    case KIND_TEXT:
        return LOG_STR(s->name, *(const struct str *)at);
    case KIND_BOOL:
        return LOG_BOOL(s->name, *(const bool *)at);
    case KIND_REAL:
        (void)snprintf(room, NAME_BYTES_MAX, "%g", *(const double *)at);
        return LOG_Z(s->name, room);
    case KIND_DURATION:
        (void)snprintf(room, NAME_BYTES_MAX, "%lldms", (long long)*(const int64_t *)at);
        return LOG_Z(s->name, room);
    case KIND_NANOSECONDS:
        (void)snprintf(room, NAME_BYTES_MAX, "%lldns", (long long)*(const int64_t *)at);
        return LOG_Z(s->name, room);
    case KIND_NUMBER:
    default:
        return LOG_I64(s->name, *(const int64_t *)at);
    }
}

/* Names of settings have hyphens; names of log values must not. */
static const char *log_name(const struct settings_table_row *s, char room[static NAME_BYTES_MAX])
{
    (void)snprintf(room, NAME_BYTES_MAX, "%s", s->name);
    for (char *c; (c = strchr(room, '-')) != NULL;) {
        *c = '_';
    }
    return room;
}

void settings_log(const struct settings *s)
{
    struct log_value values[3 + SETTINGS_ROWS_MAX] = {
        LOG_Z("version", build_release), LOG_Z("commit", build_commit), LOG_Z("date", build_date)};
    static char names[SETTINGS_ROWS_MAX][NAME_BYTES_MAX]; /* large for a stack */
    char rooms[SETTINGS_ROWS_MAX][NAME_BYTES_MAX];
    size_t count = 3;
    for (size_t i = 0; i < settings_table__count; i++) {
        if (has_effect(&settings_table__rows[i])) {
            values[count] = value_of(&settings_table__rows[i], s, rooms[i]);
            values[count].name = log_name(&settings_table__rows[i], names[i]);
            count++;
        }
    }
    log_event(LOG_INFO, "starting corvo server", values, count);
    for (size_t i = 0; i < settings_table__count; i++) {
        if (s->idle_given[i]) {
            log_warn("setting without effect", LOG_Z("setting", settings_table__rows[i].name),
                     LOG_Z("meaning", settings_table__rows[i].help));
        }
    }
}

void settings_help(struct buf *out)
{
    buf_printf(
        out, "corvo server: run the job server\n\n"
             "usage: corvo server [--name value]...\n\n"
             "You can also set each of these as CORVO_NAME in the environment, or as\n"
             "\"name = value\" in the file given with --config. The command line takes precedence\n"
             "over the environment, and the environment over the file.\n\n");
    for (size_t i = 0; i < settings_table__count; i++) {
        const struct settings_table_row *s = &settings_table__rows[i];
        buf_printf(out, "  --%-24s %s", s->name, s->help);
        if (s->shown[0] != '\0') {
            buf_printf(out, " (%s)", s->shown);
        }
        buf_add_char(out, '\n');
    }
    buf_printf(out, "\n  --%-24s %s\n", "sample-config",
               "print a configuration file with every setting and its default, and exit");
}

void settings_sample(struct buf *out)
{
    buf_printf(out,
               "# Settings of corvo server. Lines that start with \"# name =\" show the default;\n"
               "# remove the \"# \" to change it. CORVO_NAME in the environment and --name on the\n"
               "# command line take precedence over this file.\n");
    for (size_t i = 0; i < settings_table__count; i++) {
        const struct settings_table_row *s = &settings_table__rows[i];
        if (has_effect(s) && s->offset != offsetof(struct settings, config)) {
            buf_printf(out, "\n# %s\n# %s =%s%s\n", s->help, s->name,
                       s->shown[0] != '\0' ? " " : "", s->shown);
        }
    }
}
