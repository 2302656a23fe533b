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
static pthread_mutex_t write_lock = PTHREAD_MUTEX_INITIALIZER; /* guards standard error, lost */
static uint64_t lost; /* lines dropped since the last one that was written */

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

static bool format_is_json(void)
{
    int format = atomic_load(&line_format);
    return format == LOG_AUTO ? isatty(STDERR_FILENO) == 0 : format == LOG_JSON;
}

static void add_z(struct buf *line, const char *text)
{
    buf_add_str(line, str_from_z(text));
}

static void add_number(struct buf *line, uint64_t n)
{
    char digits[20];
    buf_add(line, digits, (size_t)(digits_put(digits, n) - digits));
}

/* A part of a time and the character before it. */
static void add_part(struct buf *line, char before, int n, unsigned width)
{
    char text[8] = {before};
    buf_add(line, text, (size_t)(digits_put_padded(text + 1, (uint64_t)n, width) - text));
}

static void add_time(struct buf *line)
{
    struct timespec now;
    struct tm utc;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)gmtime_r(&now.tv_sec, &utc);
    add_number(line, (uint64_t)utc.tm_year + 1900);
    add_part(line, '-', utc.tm_mon + 1, 2);
    add_part(line, '-', utc.tm_mday, 2);
    add_part(line, 'T', utc.tm_hour, 2);
    add_part(line, ':', utc.tm_min, 2);
    add_part(line, ':', utc.tm_sec, 2);
    add_part(line, '.', (int)(now.tv_nsec / 1000000), 3);
    buf_add_char(line, 'Z');
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c != 0x7f && c != '"' && c != '\\';
}

static void add_quoted(struct buf *line, struct str s)
{
    size_t from = 0; /* what is plain from here on is not added yet */
    buf_add_char(line, '"');
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (is_plain(c)) {
            continue;
        }
        buf_add(line, s.ptr + from, i - from);
        from = i + 1;
        if (c == '"' || c == '\\') {
            buf_add_char(line, '\\');
            buf_add_char(line, (char)c);
        } else {
            buf_printf(line, "\\u%04x", c);
        }
    }
    buf_add(line, s.len == from ? "" : s.ptr + from, s.len - from);
    buf_add_char(line, '"');
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

/* Names of settings have hyphens; names of log values must not. */
static void add_named(struct buf *line, const struct log_value *v, bool json)
{
    add_z(line, json ? ",\"" : " ");
    for (const char *c = v->name; *c != '\0'; c++) {
        buf_add_char(line, (char)(*c == '-' ? '_' : *c));
    }
    add_z(line, json ? "\":" : "=");
    add_value(line, v, json);
}

static void build_line(struct buf *line, enum log_level level, const char *event,
                       const struct log_value *values, size_t count)
{
    bool json = format_is_json();
    add_z(line, json ? "{\"time\":\"" : "time=");
    add_time(line);
    add_z(line, json ? "\",\"level\":\"" : " level=");
    add_z(line, level_names[level]);
    add_z(line, json ? "\"" : "");
    add_named(line, &LOG_Z("msg", event), json);
    for (size_t i = 0; i < count; i++) {
        add_named(line, &values[i], json);
    }
    add_z(line, json ? "}\n" : "\n");
}

/* A pipe that has room takes PIPE_BUF bytes, which is more than a usual line, without blocking. */
static bool has_room(void)
{
    struct pollfd error = {.fd = STDERR_FILENO, .events = POLLOUT};
    return poll(&error, 1, 0) != 0;
}

static bool write_line(struct str line)
{
    if (!has_room()) {
        return false;
    }
    ssize_t n = write(STDERR_FILENO, line.ptr, line.len);
    (void)n; /* a failing log cannot be reported */
    return true;
}

static void write_lost(void)
{
    struct buf line;
    buf_init(&line, LOG_LINE_BYTES_MAX);
    build_line(&line, LOG_WARN, "log lines lost", &LOG_U64("count", lost), 1);
    if (write_line(buf_str(&line))) {
        lost = 0;
    }
    buf_deinit(&line);
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
    (void)pthread_mutex_lock(&write_lock);
    if (lost > 0) {
        write_lost();
    }
    lost += write_line(buf_str(&line)) ? 0 : 1;
    (void)pthread_mutex_unlock(&write_lock);
    buf_deinit(&line);
}
