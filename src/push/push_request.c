/*
 * Builds the request of a call (method, headers and body) from the job and its target (scheduler.md
 * 6).
 */
#include <inttypes.h>

#include "base/check.h"
#include "core/queue_name.h"
#include "core/timestamp.h"
#include "json/json_scan.h"
#include "push/push_int.h"

enum { REDIRECTS_MAX = 10, TEMPLATE_GROWTH = 16 };

static void add(struct push_call *c, const char *name, struct str value)
{
    struct outgoing_request *r = &c->request;
    CHECK(r->more_count < PUSH_HEADERS_MAX);
    c->headers[r->more_count++] = (struct outgoing_header){.name = name, .value = value};
}

static struct str keep(struct push_call *c, struct buf *b)
{
    struct str text = arena_str(c->arena, buf_str(b));
    buf_deinit(b);
    return text;
}

/* The job id that the receiver sees. */
static struct str shown_id(struct push_call *c)
{
    if (c->job.name.len > 0) {
        return c->job.name;
    }
    char text[ID_TEXT_MAX];
    return arena_str(c->arena, str_from(text, id_format(c->job.id, ID_JOB, text)));
}

static bool has_header(const struct push_call *c, struct str name)
{
    for (size_t i = 0; i < c->request.more_count; i++) {
        if (str_eq_nocase(str_from_z(c->headers[i].name), name)) {
            return true;
        }
    }
    return false;
}

/* Users must not set headers that determine where a request ends or what happens to the connection.
 * All calls to a host share its connections, and with a wrong length the receiver would read the
 * next request as the rest of this one. */
static bool is_framing(struct str name)
{
    static const char *const names[] = {"Content-Length", "Transfer-Encoding", "Connection",
                                        "Keep-Alive",     "Proxy-Connection",  "TE",
                                        "Trailer",        "Upgrade",           "HTTP2-Settings"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (str_eq_nocase(name, str_from_z(names[i]))) {
            return true;
        }
    }
    return false;
}

static void add_own_headers(struct push_call *c)
{
    struct json_scan s = json_scan_from(c->target.headers);
    struct json_value key;
    struct json_value value;
    struct err err;
    if (c->target.headers.len == 0 || !json_scan_enter_object(&s)) {
        return;
    }
    while (json_scan_next_key(&s, &key) && json_scan_value(&s, &value)) {
        struct str name = str_from(key.text.ptr + 1, key.text.len - 2);
        struct str text;
        if (!is_framing(name) && json_value_text(value, c->arena, &text, &err) == ERR_OK) {
            add(c, arena_strz(c->arena, name), text);
        }
    }
}

static struct str basic(struct push_call *c)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
    struct buf plain;
    struct buf out;
    buf_init(&plain, SIZE_MAX);
    buf_init(&out, SIZE_MAX);
    buf_printf(&plain, STR_FMT ":" STR_FMT, STR_ARG(c->target.user), STR_ARG(c->target.secret));
    buf_add_str(&out, STR("Basic "));
    for (size_t i = 0; i < plain.len; i += 3) {
        size_t left = plain.len - i;
        uint32_t bits = (uint32_t)(uint8_t)plain.ptr[i] << 16;
        bits |= left > 1 ? (uint32_t)(uint8_t)plain.ptr[i + 1] << 8 : 0;
        bits |= left > 2 ? (uint32_t)(uint8_t)plain.ptr[i + 2] : 0;
        buf_add_char(&out, digits[bits >> 18 & 63]);
        buf_add_char(&out, digits[bits >> 12 & 63]);
        buf_add_char(&out, digits[left > 1 ? bits >> 6 & 63 : 64]);
        buf_add_char(&out, digits[left > 2 ? bits & 63 : 64]);
    }
    buf_deinit(&plain);
    return keep(c, &out);
}

/* Is the job in a namespace other than the default one? */
static bool is_guest(const struct push_call *c)
{
    return queue_name_namespace(c->job.queue).len > 0;
}

/* The server's own token is sent only for named jobs of the default namespace. */
static struct str token_of_server(const struct push_call *c)
{
    bool theirs = c->target.auth == PUSH_TARGET_OPEN && c->job.name.len > 0;
    return theirs && !is_guest(c) ? c->sender->config.bearer : STR_EMPTY;
}

static void add_auth(struct push_call *c)
{
    struct str token = c->target.auth == PUSH_TARGET_BEARER ? c->target.secret : token_of_server(c);
    if (c->target.auth == PUSH_TARGET_BASIC) {
        add(c, "Authorization", basic(c));
    } else if (token.len > 0) {
        struct buf b;
        buf_init(&b, SIZE_MAX);
        buf_printf(&b, "Bearer " STR_FMT, STR_ARG(token));
        add(c, "Authorization", keep(c, &b));
    }
}

static void add_headers(struct push_call *c)
{
    struct str id = shown_id(c);
    struct buf b;
    add_own_headers(c);
    if (!has_header(c, STR("Content-Type"))) {
        add(c, "Content-Type", STR("application/json"));
    }
    if (!has_header(c, STR("Authorization"))) {
        add_auth(c);
    }
    add(c, "X-Correlation-ID", id);
    buf_init(&b, SIZE_MAX);
    buf_printf(&b, STR_FMT ":%lld", STR_ARG(id), (long long)(c->job.due_at.ns / NS_PER_S));
    add(c, "Idempotency-Key", keep(c, &b));
    buf_init(&b, 16);
    buf_printf(&b, "%" PRIu32, c->job.attempt);
    add(c, c->job.name.len > 0 ? "X-Scheduled-DB-Attempt" : "X-Corvo-Attempt", keep(c, &b));
}

/* The body of a named job, as the contract defines it. */
static void write_named_body(struct push_call *c, struct buf *out)
{
    struct json_write w = json_write_to(out);
    json_write_object(&w);
    json_write_key(&w, STR("job_id"));
    json_write_str(&w, c->job.name);
    json_write_key(&w, STR("type"));
    json_write_str(&w, c->job.cron.len > 0 ? STR("recurrente") : STR("unico"));
    json_write_key(&w, STR("timestamp"));
    json_write_i64(&w, c->started_at.ns / NS_PER_S);
    json_write_key(&w, STR("data"));
    json_write_raw(&w, c->job.payload);
    json_write_end(&w);
    json_write_finish(&w);
}

static void write_placeholder(struct push_call *c, struct str name, struct buf *out)
{
    char time[TIMESTAMP_TEXT_MAX];
    if (str_eq(name, STR("payload"))) {
        buf_add_str(out, c->job.payload);
    } else if (str_eq(name, STR("job_id"))) {
        buf_add_str(out, shown_id(c));
    } else if (str_eq(name, STR("queue"))) {
        buf_add_str(out, c->job.queue);
    } else if (str_eq(name, STR("attempt"))) {
        buf_printf(out, "%" PRIu32, c->job.attempt);
    } else if (str_eq(name, STR("due_at"))) {
        buf_add_str(out, str_from(time, timestamp_format(c->job.due_at, time)));
    } else { /* unknown placeholders are left unchanged */
        buf_printf(out, "{{" STR_FMT "}}", STR_ARG(name));
    }
}

/* The template with {{payload}}, {{job_id}}, {{queue}}, {{attempt}} and {{due_at}} filled in. */
static void write_template(struct push_call *c, struct buf *out)
{
    struct str rest = c->target.body;
    while (rest.len > 0) {
        const char *open = memmem(rest.ptr, rest.len, "{{", 2);
        size_t before = open == NULL ? rest.len : (size_t)(open - rest.ptr);
        buf_add(out, rest.ptr, before);
        rest = str_from_offset(rest, before);
        const char *close = rest.len == 0 ? NULL : memmem(rest.ptr, rest.len, "}}", 2);
        if (close == NULL) {
            buf_add_str(out, rest);
            return;
        }
        size_t len = (size_t)(close - rest.ptr);
        write_placeholder(c, str_from(rest.ptr + 2, len - 2), out);
        rest = str_from_offset(rest, len + 2);
    }
}

static struct str body_of(struct push_call *c)
{
    struct buf b;
    if (c->job.name.len == 0 && c->target.body.len == 0) {
        return c->job.payload;
    }
    /* A template may contain the payload several times. */
    buf_init(&b, TEMPLATE_GROWTH * c->bytes + LIMIT_PUSH_BYTES);
    if (c->job.name.len > 0) {
        write_named_body(c, &b);
    } else {
        write_template(c, &b);
    }
    return keep(c, &b);
}

void push_request__make(struct push_call *c)
{
    c->headers = ARENA_ARRAY(c->arena, struct outgoing_header, PUSH_HEADERS_MAX);
    CHECK(c->headers != NULL);
    c->request = (struct outgoing_request){
        .method = arena_strz(c->arena, c->target.method),
        .url = arena_strz(c->arena, c->target.url),
        .more_headers = c->headers,
        .timeout_ms = (uint32_t)c->target.timeout_ms,
        .answer_limit = LIMIT_PUSH_ANSWER_BYTES,
        .redirects_max = REDIRECTS_MAX,
        .guest = is_guest(c),
    };
    bool has_body = !str_eq(c->target.method, STR("GET")) && !str_eq(c->target.method, STR("HEAD"));
    c->request.body = has_body ? body_of(c) : STR_EMPTY;
    add_headers(c);
}
