#include "log/log.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/check.h"
#include "base/digits.h"

/* Long values are truncated, so that a line always fits: a hundred values fit, even with every
 * byte escaped. */
enum { LOG_VALUE_BYTES_MAX = 2048, LOG_LINE_BYTES_USUAL = 512, LOG_LINE_BYTES_MAX = 2 << 20 };

static const char *const level_names[LOG_LEVEL_COUNT] = {"DEBUG", "INFO", "WARN", "ERROR"};
static const char *const level_words[LOG_LEVEL_COUNT] = {"debug", "info", "warn", "error"};

static atomic_int min_level = LOG_INFO;
static atomic_int line_format = LOG_AUTO;
static pthread_mutex_t write_lock = PTHREAD_MUTEX_INITIALIZER; /* protects standard error, lost */
static uint64_t lost; /* lines dropped since the last written line */

static _Thread_local struct log_batch *batch; /* NULL: each line is written at once */

enum log_level log_level_of(struct str word)
{
    for (int i = 0; i < LOG_LEVEL_COUNT; i++) {
        if (str_eq_nocase(word, str_from_z(level_words[i]))) {
            return (enum log_level)i;
        }
    }
    return LOG_INFO;
}

void log_configure(enum log_level min, enum log_format format)
{
    atomic_store(&min_level, (int)min);
    atomic_store(&line_format, (int)format);
}

bool log_wants(enum log_level level)
{
    return (int)level >= atomic_load_explicit(&min_level, memory_order_relaxed);
}

/* LOG_AUTO is resolved at the first line. */
static bool format_is_json(void)
{
    int format = atomic_load_explicit(&line_format, memory_order_relaxed);
    if (format == LOG_AUTO) {
        format = isatty(STDERR_FILENO) == 0 ? LOG_JSON : LOG_TEXT;
        atomic_store(&line_format, format);
    }
    return format == LOG_JSON;
}

static void add_z(struct buf *line, const char *text)
{
    buf_add_str(line, str_from_z(text));
}

static void add_number(struct buf *line, uint64_t n)
{
    char *at = buf_reserve(line, DIGITS_MAX);
    if (at != NULL) {
        line->len += (size_t)(digits_put(at, n) - at);
    }
}

/* Add the time. Each thread keeps the text of the current second. */
static void add_time(struct buf *line)
{
    static _Thread_local struct {
        time_t second;
        char text[sizeof "2026-02-11T10:00:00"];
    } kept;
    struct timespec now;
    char millis[] = ".000Z";
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (now.tv_sec != kept.second) {
        struct tm utc;
        (void)gmtime_r(&now.tv_sec, &utc);
        (void)strftime(kept.text, sizeof kept.text, "%Y-%m-%dT%H:%M:%S", &utc);
        kept.second = now.tv_sec;
    }
    (void)digits_put_padded(millis + 1, (uint64_t)now.tv_nsec / 1000000, 3);
    buf_add(line, kept.text, sizeof kept.text - 1);
    buf_add(line, millis, sizeof millis - 1);
}

/* Does the byte need no escape? Control characters, quotes and backslashes have a bit in the
 * table. */
static bool is_plain(unsigned char c)
{
    static const uint32_t escaped[8] = {UINT32_MAX, 1U << '"' % 32, 1U << '\\' % 32,
                                        1U << 0x7f % 32};
    return (escaped[c / 32] >> c % 32 & 1) == 0;
}

static void add_escaped(struct buf *line, struct str s)
{
    buf_add_char(line, '"');
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (is_plain(c)) {
            buf_add_char(line, (char)c);
        } else if (c == '"' || c == '\\') {
            buf_add_char(line, '\\');
            buf_add_char(line, (char)c);
        } else {
            buf_printf(line, "\\u%04x", c);
        }
    }
    buf_add_char(line, '"');
}

/* Add a quoted text. Most texts need no escapes. */
static void add_quoted(struct buf *line, struct str s)
{
    char *at = buf_reserve(line, s.len + 2);
    size_t i = 0;
    if (at == NULL) {
        return;
    }
    *at++ = '"';
    for (; i < s.len && is_plain((unsigned char)s.ptr[i]); i++) {
        at[i] = s.ptr[i];
    }
    if (i < s.len) {
        add_escaped(line, s);
        return;
    }
    at[i] = '"';
    line->len += s.len + 2;
}

static bool needs_quotes(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (c <= ' ' || c == '"' || c == '=' || c == 0x7f) {
            return true;
        }
    }
    return s.len == 0;
}

static void add_value(struct buf *line, const struct log_value *v, bool json)
{
    struct str text;
    switch (v->kind) {
    case LOG_VALUE_STR:
        text = str_at_most(v->s, LOG_VALUE_BYTES_MAX);
        if (json || needs_quotes(text)) {
            add_quoted(line, text);
        } else {
            buf_add_str(line, text);
        }
        break;
    case LOG_VALUE_I64:
        if (v->i < 0) {
            buf_add_char(line, '-');
        }
        add_number(line, v->i < 0 ? 0 - (uint64_t)v->i : (uint64_t)v->i);
        break;
    case LOG_VALUE_U64:
        add_number(line, v->u);
        break;
    case LOG_VALUE_BOOL:
        add_z(line, v->b ? "true" : "false");
        break;
    default:
        UNREACHABLE("a log value has one of the four kinds");
    }
}

static void add_named(struct buf *line, const struct log_value *v, bool json)
{
    if (json) {
        buf_add(line, ",\"", 2);
        add_z(line, v->name);
        buf_add(line, "\":", 2);
    } else {
        buf_add_char(line, ' ');
        add_z(line, v->name);
        buf_add_char(line, '=');
    }
    add_value(line, v, json);
}

static void build_line(struct buf *line, enum log_level level, const char *event,
                       const struct log_value *values, size_t count)
{
    bool json = format_is_json();
    buf_add_str(line, json ? STR("{\"time\":\"") : STR("time="));
    add_time(line);
    buf_add_str(line, json ? STR("\",\"level\":\"") : STR(" level="));
    add_z(line, level_names[level]);
    buf_add_str(line, json ? STR("\"") : STR_EMPTY);
    add_named(line, &LOG_Z("msg", event), json);
    for (size_t i = 0; i < count; i++) {
        add_named(line, &values[i], json);
    }
    buf_add_str(line, json ? STR("}\n") : STR("\n"));
}

/* Can standard error accept data? A pipe with room accepts PIPE_BUF bytes without blocking: a
 * batch, or more than a usual line. */
static bool has_room(void)
{
    struct pollfd error = {.fd = STDERR_FILENO, .events = POLLOUT};
    return poll(&error, 1, 0) != 0;
}

static bool write_text(struct str text)
{
    if (!has_room()) {
        return false;
    }
    ssize_t n = write(STDERR_FILENO, text.ptr, text.len);
    (void)n; /* a failing log cannot be reported */
    return true;
}

static void write_lost(void)
{
    struct buf line;
    ATTR_UNINITIALIZED char room[LOG_LINE_BYTES_USUAL];
    buf_init_room(&line, LOG_LINE_BYTES_MAX, room, sizeof room);
    build_line(&line, LOG_WARN, "log lines lost", &LOG_U64("count", lost), 1);
    if (write_text(buf_str(&line))) {
        lost = 0;
    }
    buf_deinit(&line);
}

static void write_lines(struct str lines, uint64_t count)
{
    (void)pthread_mutex_lock(&write_lock);
    if (lost > 0 && has_room()) {
        write_lost();
    }
    lost += write_text(lines) ? 0 : count;
    (void)pthread_mutex_unlock(&write_lock);
}

void log_flush(void)
{
    if (batch != NULL && batch->lines > 0) {
        write_lines(str_from(batch->bytes, batch->len), batch->lines);
        batch->len = 0;
        batch->lines = 0;
    }
}

void log_collect(struct log_batch *into)
{
    log_flush();
    batch = into;
    if (into != NULL) {
        into->len = 0;
        into->lines = 0;
    }
}

static void add_to_batch(struct str line)
{
    if (line.len > sizeof batch->bytes - batch->len) {
        log_flush();
    }
    memcpy(batch->bytes + batch->len, line.ptr, line.len);
    batch->len += line.len;
    batch->lines++;
}

void log_event(enum log_level level, const char *event, const struct log_value *values,
               size_t count)
{
    CHECK(level < LOG_LEVEL_COUNT);
    if (!log_wants(level)) {
        return;
    }
    struct buf line;
    ATTR_UNINITIALIZED char room[LOG_LINE_BYTES_USUAL];
    buf_init_room(&line, LOG_LINE_BYTES_MAX, room, sizeof room);
    build_line(&line, level, event, values, count);
    if (batch != NULL && line.len <= sizeof batch->bytes) {
        add_to_batch(buf_str(&line));
        if (level >= LOG_WARN) {
            log_flush();
        }
    } else {
        log_flush();
        write_lines(buf_str(&line), 1);
    }
    buf_deinit(&line);
}
