#include "http_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/check.h"
#include "http/http_loop.h"
#include "lib/test.h"

enum { ECHO_LIMIT = 1 << 20, FLOOD_PIECE = 16 * 1024, WAIT_S = 20 };

/* A request that waits for the test. Its loop owns it; the list is guarded by the fixture's
 * lock. */
struct parked {
    struct http_fixture *fixture;
    struct http_request *req;
    struct parked *next;
    char name[64];
    size_t unconsumed;
    bool consumes; /* every piece as it arrives */
    bool begun;    /* the answer is a stream */
    uint64_t left; /* /flow: bytes to write */
};

static char static_bytes[FIXTURE_STATIC_BYTES];

/* ---- events ---- */

static void note(struct http_fixture *f, enum fixture_event event, uint64_t n)
{
    uv_mutex_lock(&f->lock);
    f->count[event] += n;
    uv_cond_broadcast(&f->changed);
    uv_mutex_unlock(&f->lock);
}

void http_fixture_wait(struct http_fixture *f, enum fixture_event event, uint64_t count)
{
    uv_mutex_lock(&f->lock);
    while (f->count[event] < count) {
        if (uv_cond_timedwait(&f->changed, &f->lock, WAIT_S * 1000000000ULL) != 0) {
            uint64_t seen = f->count[event];
            uv_mutex_unlock(&f->lock);
            fail_msg("event %d happened %llu times, waited for %llu", (int)event,
                     (unsigned long long)seen, (unsigned long long)count);
        }
    }
    uv_mutex_unlock(&f->lock);
}

uint64_t http_fixture_count(struct http_fixture *f, enum fixture_event event)
{
    uv_mutex_lock(&f->lock);
    uint64_t count = f->count[event];
    uv_mutex_unlock(&f->lock);
    return count;
}

/* ---- answering ---- */

static void answer(struct http_request *req, int status, struct str body)
{
    struct http_response r = {.status = status, .content_type = STR("text/plain"), .body = body};
    http_request_answer(req, &r);
}

static void begin(struct http_request *req)
{
    struct http_response r = {.status = 200, .content_type = STR("text/event-stream")};
    http_request_begin(req, &r);
}

static int64_t number_param(struct http_request *req, struct str name, int64_t otherwise)
{
    struct str text;
    int64_t value;
    return http_request_param(req, name, &text) && str_to_i64(text, &value) ? value : otherwise;
}

/* ---- parked requests ---- */

static void unpark(struct parked *p)
{
    struct http_fixture *f = p->fixture;
    uv_mutex_lock(&f->lock);
    struct parked **at = &f->parked;
    while (*at != p) {
        at = &(*at)->next;
    }
    *at = p->next;
    uv_mutex_unlock(&f->lock);
    free(p);
}

static void parked_gone(struct http_request *req)
{
    struct parked *p = req->data;
    struct http_fixture *f = p->fixture;
    unpark(p);
    http_request_drop(req);
    note(f, FIXTURE_GONE, 1);
}

/* Keep the request, like a handler whose work is still in progress elsewhere. */
static void kept_gone(struct http_request *req)
{
    struct parked *p = req->data;
    note(p->fixture, FIXTURE_GONE, 1);
}

static void parked_shut(struct http_request *req)
{
    struct parked *p = req->data;
    note(p->fixture, FIXTURE_SHUT, 1);
}

static void parked_stopping(struct http_request *req)
{
    struct parked *p = req->data;
    struct http_fixture *f = p->fixture;
    if (f->answer_when_stopping) {
        unpark(p);
        answer(req, 200, STR("early"));
    }
    note(f, FIXTURE_STOPPING, 1);
}

static void parked_body(struct http_request *req, struct str bytes)
{
    struct parked *p = req->data;
    if (p->consumes) {
        http_request_consume(req, bytes.len);
    } else {
        p->unconsumed += bytes.len;
    }
    note(p->fixture, FIXTURE_BODY, bytes.len);
}

static void parked_body_end(struct http_request *req)
{
    struct parked *p = req->data;
    note(p->fixture, FIXTURE_ENDED, 1);
}

static void flow(struct parked *p);

static void parked_writable(struct http_request *req)
{
    struct parked *p = req->data;
    note(p->fixture, FIXTURE_WRITABLE, 1);
    if (p->left > 0) {
        flow(p);
    }
}

static const struct http_handlers parked_handlers = {
    .gone = parked_gone,
    .stopping = parked_stopping,
    .body = parked_body,
    .body_end = parked_body_end,
    .writable = parked_writable,
};

static struct parked *park(struct http_fixture *f, struct http_request *req, struct str name)
{
    struct parked *p = calloc(1, sizeof *p);
    CHECK(p != NULL);
    CHECK(name.len < sizeof p->name);
    p->fixture = f;
    p->req = req;
    memcpy(p->name, name.ptr, name.len);
    req->on = &parked_handlers;
    req->data = p;
    uv_mutex_lock(&f->lock);
    p->next = f->parked;
    f->parked = p;
    f->count[FIXTURE_PARKED]++;
    uv_cond_broadcast(&f->changed);
    uv_mutex_unlock(&f->lock);
    return p;
}

static void flow(struct parked *p)
{
    static const char piece[FLOOD_PIECE] = "flow";
    while (p->left > 0) {
        size_t n = p->left < sizeof piece ? (size_t)p->left : sizeof piece;
        enum http_write w = http_request_write(p->req, str_from(piece, n));
        if (w != HTTP_WRITE_OK) {
            note(p->fixture, FIXTURE_FULL, w == HTTP_WRITE_FULL);
            return;
        }
        p->left -= n;
    }
    struct http_request *req = p->req;
    unpark(p);
    http_request_end(req, NULL, 0);
}

/* ---- actions ---- */

struct action_msg {
    struct msg msg;
    struct http_fixture *fixture;
    enum fixture_action action;
    char name[64];
    char text[256];
};

static struct parked *find_parked(struct http_fixture *f, const char *name)
{
    uv_mutex_lock(&f->lock);
    struct parked *p = f->parked;
    while (p != NULL && strcmp(p->name, name) != 0) {
        p = p->next;
    }
    uv_mutex_unlock(&f->lock);
    return p;
}

static void collected(struct http_request *req, enum http_body_result result)
{
    static const int status[] = {
        [HTTP_BODY_COMPLETE] = 200,
        [HTTP_BODY_TOO_LARGE] = 413,
        [HTTP_BODY_NO_ROOM] = 503,
    };
    answer(req, status[result], result == HTTP_BODY_COMPLETE ? req->body : STR("refused"));
}

static void late_collected(struct http_request *req, enum http_body_result result)
{
    unpark(req->data);
    collected(req, result);
}

static void perform(struct parked *p, enum fixture_action action, struct str text)
{
    struct http_request *req = p->req;
    struct http_response r = {.status = 200, .close = true};
    size_t n = p->unconsumed;
    if (p->begun && (action == FIXTURE_ANSWER || action == FIXTURE_CLOSE)) {
        action = FIXTURE_END;
    }
    switch (action) {
    case FIXTURE_ANSWER:
        unpark(p);
        answer(req, 200, text);
        return;
    case FIXTURE_CLOSE:
        unpark(p);
        r.body = text;
        http_request_answer(req, &r);
        return;
    case FIXTURE_COLLECT:
        http_request_collect(req, ECHO_LIMIT, late_collected);
        return;
    case FIXTURE_WRITE:
        CHECK(http_request_write(req, text) == HTTP_WRITE_OK);
        return;
    case FIXTURE_END:
        unpark(p);
        http_request_end(req, NULL, 0);
        return;
    case FIXTURE_DROP:
        unpark(p);
        http_request_drop(req);
        return;
    case FIXTURE_CONSUME:
        p->consumes = true;
        p->unconsumed = 0;
        http_request_consume(req, n);
        return;
    default:
        UNREACHABLE("an action has a case");
    }
}

static void action_deliver(struct msg *m)
{
    struct action_msg *a = CONTAINER_OF(m, struct action_msg, msg);
    struct parked *p = find_parked(a->fixture, a->name);
    if (p != NULL) {
        /* The data of a request stays valid even if its connection is closed. */
        CHECK(str_eq(p->req->peer, STR("127.0.0.1")));
        CHECK(str_starts_with(p->req->target, p->req->path_raw));
        perform(p, a->action, str_from_z(a->text));
    }
    free(a);
}

static bool post_action(struct http_fixture *f, const char *name, enum fixture_action action,
                        const char *text)
{
    struct action_msg *a = calloc(1, sizeof *a);
    CHECK(a != NULL);
    a->msg.deliver = action_deliver;
    a->fixture = f;
    a->action = action;
    CHECK((size_t)snprintf(a->name, sizeof a->name, "%s", name) < sizeof a->name);
    CHECK((size_t)snprintf(a->text, sizeof a->text, "%s", text) < sizeof a->text);
    uv_mutex_lock(&f->lock);
    struct parked *p = f->parked;
    while (p != NULL && strcmp(p->name, name) != 0) {
        p = p->next;
    }
    struct http_loop *loop = p == NULL ? NULL : p->req->loop;
    uv_mutex_unlock(&f->lock);
    if (loop == NULL || !mailbox_post(http_loop_mailbox(loop), &a->msg)) {
        free(a);
        return false;
    }
    return true;
}

void http_fixture_do(struct http_fixture *f, const char *name, enum fixture_action action,
                     const char *text)
{
    CHECK(post_action(f, name, action, text));
}

void http_fixture_try(struct http_fixture *f, const char *name, enum fixture_action action,
                      const char *text)
{
    (void)post_action(f, name, action, text);
}

/* ---- the handlers ---- */

static const struct http_handlers plain_handlers = {.gone = http_request_drop};

static void handle_hello(struct http_fixture *f, struct http_request *req, struct str name)
{
    (void)f;
    (void)name;
    answer(req, 200, STR("hello"));
}

static void handle_info(struct http_fixture *f, struct http_request *req, struct str name)
{
    static const char *const protocols[] = {"1.0", "1.1", "2"};
    struct str q = STR("-");
    struct str test = STR("-");
    struct str cookie = STR("-");
    struct buf text;
    (void)f;
    (void)name;
    buf_init(&text, 100000);
    (void)!http_request_param(req, STR("q"), &q);
    (void)!http_request_header(req, STR("X-TEST"), &test);
    (void)!http_request_header(req, STR("cookie"), &cookie);
    buf_printf(&text,
               "method=%d " STR_FMT "%s path=" STR_FMT " raw=" STR_FMT " q=" STR_FMT
               " http=%s test=" STR_FMT " cookie=" STR_FMT " peer=" STR_FMT "%s length=%lld",
               (int)req->method, STR_ARG(req->method_name), req->head ? " head" : "",
               STR_ARG(req->path), STR_ARG(req->path_raw), STR_ARG(q), protocols[req->protocol],
               STR_ARG(test), STR_ARG(cookie), STR_ARG(req->peer), req->tls ? " tls" : "",
               (long long)req->content_length);
    answer(req, 200, buf_str(&text));
    buf_deinit(&text);
}

static void handle_echo(struct http_fixture *f, struct http_request *req, struct str name)
{
    (void)f;
    (void)name;
    req->on = &plain_handlers;
    http_request_collect(req, (size_t)number_param(req, STR("limit"), ECHO_LIMIT), collected);
}

static void collected_once(struct http_request *req, enum http_body_result result)
{
    (void)result;
    http_request_collect(req, ECHO_LIMIT, collected);
}

/* Two handlers collect the body, the second with a higher limit. */
static void handle_again(struct http_fixture *f, struct http_request *req, struct str name)
{
    (void)f;
    (void)name;
    req->on = &plain_handlers;
    http_request_collect(req, (size_t)number_param(req, STR("limit"), ECHO_LIMIT), collected_once);
}

static void handle_park(struct http_fixture *f, struct http_request *req, struct str name)
{
    (void)park(f, req, name);
}

static void handle_keep(struct http_fixture *f, struct http_request *req, struct str name)
{
    static const struct http_handlers handlers = {.gone = kept_gone};
    (void)park(f, req, name);
    req->on = &handlers;
}

static void handle_stay(struct http_fixture *f, struct http_request *req, struct str name)
{
    static const struct http_handlers handlers = {.gone = parked_gone, .shut = parked_shut};
    (void)park(f, req, name);
    req->on = &handlers;
}

static void handle_push(struct http_fixture *f, struct http_request *req, struct str name)
{
    begin(req);
    park(f, req, name)->begun = true;
}

static void handle_hold(struct http_fixture *f, struct http_request *req, struct str name)
{
    (void)park(f, req, name);
    http_request_stream(req);
}

static void bidi_body(struct http_request *req, struct str bytes)
{
    CHECK(http_request_write(req, bytes) == HTTP_WRITE_OK);
    http_request_consume(req, bytes.len);
}

static void bidi_end(struct http_request *req)
{
    http_request_end(req, NULL, 0);
}

static void handle_bidi(struct http_fixture *f, struct http_request *req, struct str name)
{
    static const struct http_handlers handlers = {
        .gone = http_request_drop, .body = bidi_body, .body_end = bidi_end};
    (void)f;
    (void)name;
    req->on = &handlers;
    begin(req);
    http_request_stream(req);
}

static void handle_stream(struct http_fixture *f, struct http_request *req, struct str name)
{
    static const struct http_header trailers[] = {{{"x-sum", 5}, {"done", 4}}};
    int64_t n = number_param(req, STR("n"), 1);
    (void)f;
    (void)name;
    begin(req);
    for (int64_t i = 0; i < n; i++) {
        CHECK(http_request_write(req, STR("data: x\n\n")) == HTTP_WRITE_OK);
    }
    http_request_end(req, trailers, COUNT_OF(trailers));
}

static void handle_flood(struct http_fixture *f, struct http_request *req, struct str name)
{
    static const char piece[FLOOD_PIECE] = "flood";
    (void)name;
    begin(req);
    while (http_request_write(req, str_from(piece, sizeof piece)) == HTTP_WRITE_OK) {
    }
    http_request_drop(req);
    note(f, FIXTURE_FULL, 1);
}

static void handle_flow(struct http_fixture *f, struct http_request *req, struct str name)
{
    struct parked *p = park(f, req, name);
    p->left = (uint64_t)number_param(req, STR("n"), 1);
    p->begun = true;
    begin(req);
    flow(p);
}

static void handle_static(struct http_fixture *f, struct http_request *req, struct str name)
{
    struct http_response r = {
        .status = 200, .body = str_from(static_bytes, sizeof static_bytes), .body_static = true};
    (void)f;
    (void)name;
    http_request_answer(req, &r);
}

/* Send a whole answer with trailers, and with the name as the value of a header. */
static void handle_whole(struct http_fixture *f, struct http_request *req, struct str name)
{
    static const struct http_header trailers[] = {{{"x-sum", 5}, {"done", 4}}};
    struct http_header header = {STR("X-Request-Id"), name};
    struct http_response r = {.status = 200,
                              .headers = &header,
                              .header_count = 1,
                              .body = name,
                              .trailers = trailers,
                              .trailer_count = COUNT_OF(trailers)};
    (void)f;
    http_request_answer(req, &r);
}

static void handle_status(struct http_fixture *f, struct http_request *req, struct str name)
{
    (void)f;
    (void)name;
    answer(req, (int)number_param(req, STR("code"), 200), STR("x"));
}

static void handle_close(struct http_fixture *f, struct http_request *req, struct str name)
{
    struct http_response r = {.status = 505, .close = true};
    (void)f;
    (void)name;
    http_request_answer(req, &r);
}

static void handle_drop(struct http_fixture *f, struct http_request *req, struct str name)
{
    (void)f;
    (void)name;
    http_request_drop(req);
}

static void handle_splice(struct http_fixture *f, struct http_request *req, struct str name)
{
    static const struct http_header headers[] = {
        {{"x-echo", 6}, {"a\r\nset-cookie: b", 16}},
        {{"connection", 10}, {"keep-alive", 10}},
    };
    struct http_response r = {.status = 200, .headers = headers, .header_count = COUNT_OF(headers)};
    (void)f;
    (void)name;
    http_request_answer(req, &r);
}

/* clang-format off */
static const struct {
    struct str prefix;
    void (*handle)(struct http_fixture *f, struct http_request *req, struct str name);
} routes[] = {
    {{"/hello", 6},  handle_hello},
    {{"/info", 5},   handle_info},
    {{"/again", 6},  handle_again},
    {{"/echo", 5},   handle_echo},
    {{"/park/", 6},  handle_park},
    {{"/late/", 6},  handle_park},
    {{"/keep/", 6},  handle_keep},
    {{"/stay/", 6},  handle_stay},
    {{"/push/", 6},  handle_push},
    {{"/hold/", 6},  handle_hold},
    {{"/bidi", 5},   handle_bidi},
    {{"/stream", 7}, handle_stream},
    {{"/flood", 6},  handle_flood},
    {{"/flow", 5},   handle_flow},
    {{"/static", 7}, handle_static},
    {{"/whole/", 7}, handle_whole},
    {{"/status", 7}, handle_status},
    {{"/close", 6},  handle_close},
    {{"/drop", 5},   handle_drop},
    {{"/splice", 7}, handle_splice},
};
/* clang-format on */

static void on_request(void *data, struct http_request *req)
{
    struct http_fixture *f = data;
    note(f, FIXTURE_STARTED, 1);
    for (size_t i = 0; i < COUNT_OF(routes); i++) {
        if (str_starts_with(req->path, routes[i].prefix)) {
            routes[i].handle(f, req, str_from_offset(req->path, routes[i].prefix.len));
            return;
        }
    }
    answer(req, 404, STR("not found"));
}

static void on_closed(void *data)
{
    note(data, FIXTURE_CLOSED, 1);
}

/* ---- the server ---- */

void http_fixture_open_config(struct http_fixture *f, const struct http_server_config *config)
{
    struct http_server_config copy = *config;
    struct err err = {0};
    *f = (struct http_fixture){0};
    assert_int_equal(uv_mutex_init(&f->lock), 0);
    assert_int_equal(uv_cond_init(&f->changed), 0);
    copy.data = f;
    copy.on_request = on_request;
    copy.on_closed = on_closed;
    if (http_server_open(&copy, &f->server, &err) != ERR_OK) {
        fail_msg("%s", err.msg);
    }
    f->port = http_server_port(f->server, 0);
    assert_int_not_equal(f->port, 0);
}

void http_fixture_open(struct http_fixture *f, const struct http_limits *limits, unsigned threads)
{
    static const struct http_listen listen_on = {.address = "127.0.0.1:0"};
    static const struct http_header every_answer = {{"X-Every", 7}, {"answer", 6}};
    struct http_server_config config = {
        .listen = &listen_on,
        .listen_count = 1,
        .common = {{.headers = &every_answer, .count = 1}},
        .threads = threads,
        .limits = limits == NULL ? HTTP_LIMITS_DEFAULT : *limits,
    };
    http_fixture_open_config(f, &config);
}

void http_fixture_stop(struct http_fixture *f, uint32_t timeout_ms)
{
    http_server_stop(f->server, timeout_ms);
}

void http_fixture_free(struct http_fixture *f)
{
    http_fixture_wait(f, FIXTURE_CLOSED, 1);
    http_server_free(f->server);
    assert_null(f->parked);
    uv_cond_destroy(&f->changed);
    uv_mutex_destroy(&f->lock);
}

void http_fixture_close(struct http_fixture *f, uint32_t timeout_ms)
{
    http_fixture_stop(f, timeout_ms);
    http_fixture_free(f);
}

struct http_stats http_fixture_stats(struct http_fixture *f)
{
    struct http_stats sum = {0};
    for (unsigned i = 0; i < http_server_threads(f->server); i++) {
        struct http_stats one;
        http_server_stats(f->server, i, &one);
#define ADD_STAT(name) sum.name += one.name;
        HTTP_STATS_LIST(ADD_STAT)
#undef ADD_STAT
    }
    return sum;
}
