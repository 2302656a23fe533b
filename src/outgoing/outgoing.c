#include "outgoing/outgoing.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <curl/curl.h>

#include "base/check.h"

enum { KEPT_CONNECTIONS = 64, CONNECT_TIMEOUT_MS = 10000, HEADER_BYTES_MAX = 4096 };

struct outgoing {
    uv_loop_t *loop;
    struct outgoing_config config;
    CURLM *multi;
    uv_timer_t timer;                /* what libcurl wants to do later */
    uv_timer_t broken_timer;         /* requests that could not even begin */
    struct outgoing_request *broken; /* they are told from the loop like all others */
    size_t active;
    unsigned open_handles;
};

/* A socket that libcurl waits for. */
struct watched {
    uv_poll_t poll;
    struct outgoing *client;
    curl_socket_t fd;
};

static void must(CURLMcode code)
{
    CHECK(code == CURLM_OK);
}

/* The end of a request */

static void let_go(struct outgoing_request *r)
{
    struct outgoing *o = r->client;
    CHECK(o->active > 0);
    o->active--;
    if (r->easy != NULL) {
        curl_easy_cleanup(r->easy);
        r->easy = NULL;
    }
    curl_slist_free_all(r->header_list);
    r->header_list = NULL;
}

static void say_why(struct outgoing_request *r, CURLcode code)
{
    const char *text = r->error_text[0] != '\0' ? r->error_text : curl_easy_strerror(code);
    if (r->refused) {
        (void)err_set(&r->err, ERR_FORBIDDEN, "address %s is not allowed%s", r->refused_address,
                      r->own ? ": it is this server itself" : "");
    } else if (r->answer.overflow) {
        (void)err_set(&r->err, ERR_TOO_LARGE, "the answer is larger than %zu bytes",
                      r->answer_limit);
    } else {
        (void)err_set(&r->err, ERR_IO, "%s", text);
        r->err.sys = (int)code;
        r->timed_out = code == CURLE_OPERATION_TIMEDOUT;
    }
}

static void finish(struct outgoing_request *r, CURLcode code)
{
    long status = 0;
    (void)curl_easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE, &status);
    r->status = (int)status;
    if (code != CURLE_OK) {
        say_why(r, code);
    }
    must(curl_multi_remove_handle(r->client->multi, r->easy));
    let_go(r);
    r->done(r); /* r may be gone after this */
}

static void finish_all(struct outgoing *o)
{
    CURLMsg *m;
    int left;
    while ((m = curl_multi_info_read(o->multi, &left)) != NULL) {
        struct outgoing_request *r = NULL;
        if (m->msg == CURLMSG_DONE) {
            CURLcode code = m->data.result; /* m is gone with its handle */
            (void)curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&r);
            finish(r, code);
        }
    }
}

/* Between libcurl and the loop */

static void act(struct outgoing *o, curl_socket_t fd, int what)
{
    int running;
    must(curl_multi_socket_action(o->multi, fd, what, &running));
    finish_all(o);
}

static void poll_cb(uv_poll_t *poll, int status, int events)
{
    struct watched *w = poll->data;
    int what = status < 0 ? CURL_CSELECT_ERR : 0;
    what |= (events & UV_READABLE) != 0 ? CURL_CSELECT_IN : 0;
    what |= (events & UV_WRITABLE) != 0 ? CURL_CSELECT_OUT : 0;
    act(w->client, w->fd, what);
}

static void timer_cb(uv_timer_t *timer)
{
    act(timer->data, CURL_SOCKET_TIMEOUT, 0);
}

static void watched_closed_cb(uv_handle_t *handle)
{
    free(handle->data);
}

static struct watched *watch(struct outgoing *o, curl_socket_t fd)
{
    struct watched *w = calloc(1, sizeof *w);
    CHECK(w != NULL);
    w->client = o;
    w->fd = fd;
    CHECK(uv_poll_init_socket(o->loop, &w->poll, fd) == 0);
    w->poll.data = w;
    must(curl_multi_assign(o->multi, fd, w));
    return w;
}

static int socket_cb(CURL *easy, curl_socket_t fd, int what, void *data, void *watched)
{
    struct outgoing *o = data;
    struct watched *w = watched;
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (w != NULL) {
            must(curl_multi_assign(o->multi, fd, NULL));
            (void)uv_poll_stop(&w->poll);
            uv_close((uv_handle_t *)&w->poll, watched_closed_cb);
        }
        return 0;
    }
    if (w == NULL) {
        w = watch(o, fd);
    }
    int events = (what & CURL_POLL_IN) != 0 ? UV_READABLE : 0;
    events |= (what & CURL_POLL_OUT) != 0 ? UV_WRITABLE : 0;
    CHECK(uv_poll_start(&w->poll, events, poll_cb) == 0);
    return 0;
}

static int want_timer_cb(CURLM *multi, long timeout_ms, void *data)
{
    struct outgoing *o = data;
    (void)multi;
    if (timeout_ms < 0) {
        (void)uv_timer_stop(&o->timer);
    } else {
        CHECK(uv_timer_start(&o->timer, timer_cb, (uint64_t)timeout_ms, 0) == 0);
    }
    return 0;
}

/* Callbacks of one request */

static size_t answer_cb(char *bytes, size_t size, size_t count, void *data)
{
    struct outgoing_request *r = data;
    buf_add(&r->answer, bytes, size * count);
    return r->answer.overflow ? 0 : size * count;
}

static curl_socket_t open_socket_cb(void *data, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct outgoing_request *r = data;
    const struct outgoing_guard *guard = r->client->config.guard;
    (void)purpose;
    if (guard != NULL && !outgoing_guard_allows(guard, &address->addr)) {
        r->refused = true;
        r->own = outgoing_guard_is_own(guard, &address->addr);
        if (getnameinfo(&address->addr, address->addrlen, r->refused_address,
                        sizeof r->refused_address, NULL, 0, NI_NUMERICHOST) != 0) {
            (void)snprintf(r->refused_address, sizeof r->refused_address, "of an unknown kind");
        }
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* "Name: value", without anything that could begin a line of its own. */
static bool add_header(struct outgoing_request *r, const struct outgoing_header *h)
{
    char line[HEADER_BYTES_MAX];
    int n = snprintf(line, sizeof line, "%s: " STR_FMT, h->name, STR_ARG(h->value));
    if (n < 0 || (size_t)n >= sizeof line) {
        return false;
    }
    for (char *c = line; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ' || *c == 127) {
            *c = ' ';
        }
    }
    struct curl_slist *list = curl_slist_append(r->header_list, line);
    CHECK(list != NULL);
    r->header_list = list;
    return true;
}

static bool add_headers(struct outgoing_request *r)
{
    CHECK(r->header_count <= OUTGOING_HEADERS_MAX);
    for (size_t i = 0; i < r->header_count; i++) {
        if (!add_header(r, &r->headers[i])) {
            return false;
        }
    }
    /* libcurl would wait for "100 Continue" before a larger body. */
    struct curl_slist *list = curl_slist_append(r->header_list, "Expect:");
    CHECK(list != NULL);
    r->header_list = list;
    return true;
}

#define SET(option, value) ok = ok && curl_easy_setopt(r->easy, option, value) == CURLE_OK

static bool set_up(struct outgoing_request *r)
{
    bool ok = true;
    SET(CURLOPT_URL, r->url);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_CUSTOMREQUEST, r->method);
    SET(CURLOPT_HTTPHEADER, r->header_list);
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_USERAGENT, r->client->config.user_agent);
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_PROXY, "");
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_QUICK_EXIT, 1L); /* a lookup that hangs holds nobody up at the end */
    SET(CURLOPT_TIMEOUT_MS, (long)r->timeout_ms);
    SET(CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    SET(CURLOPT_TCP_NODELAY, 1L);
    SET(CURLOPT_ERRORBUFFER, r->error_text);
    SET(CURLOPT_PRIVATE, r);
    SET(CURLOPT_WRITEFUNCTION, answer_cb);
    SET(CURLOPT_WRITEDATA, r);
    SET(CURLOPT_OPENSOCKETFUNCTION, open_socket_cb);
    SET(CURLOPT_OPENSOCKETDATA, r);
    if (r->body.len > 0) {
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body.len);
        SET(CURLOPT_POSTFIELDS, r->body.ptr);
    } else if (strcmp(r->method, "POST") == 0) {
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)0);
        SET(CURLOPT_POSTFIELDS, "");
    }
    return ok;
}

/* Requests that could not begin */

static void broken_cb(uv_timer_t *timer)
{
    struct outgoing *o = timer->data;
    struct outgoing_request *r = TAKE(o->broken);
    while (r != NULL) {
        struct outgoing_request *next = r->next_broken;
        let_go(r);
        r->done(r);
        r = next;
    }
}

static void fail_later(struct outgoing_request *r, const char *why)
{
    struct outgoing *o = r->client;
    (void)err_set(&r->err, ERR_IO, "%s", why);
    r->next_broken = o->broken;
    o->broken = r;
    CHECK(uv_timer_start(&o->broken_timer, broken_cb, 0, 0) == 0);
}

void outgoing_start(struct outgoing *o, struct outgoing_request *r)
{
    CHECK(r->done != NULL);
    CHECK(r->timeout_ms > 0);
    r->client = o;
    r->err = (struct err){0};
    r->status = 0;
    r->refused = r->own = r->timed_out = false;
    r->error_text[0] = '\0';
    buf_init(&r->answer, r->answer_limit);
    o->active++;
    r->easy = curl_easy_init();
    CHECK(r->easy != NULL);
    if (!add_headers(r) || !set_up(r)) {
        fail_later(r, "the request cannot be made");
        return;
    }
    must(curl_multi_add_handle(o->multi, r->easy));
}

void outgoing_cancel(struct outgoing_request *r)
{
    struct outgoing *o = r->client;
    struct outgoing_request **at = &o->broken;
    while (*at != NULL && *at != r) {
        at = &(*at)->next_broken;
    }
    if (*at == r) {
        *at = r->next_broken;
    } else {
        must(curl_multi_remove_handle(o->multi, r->easy));
    }
    let_go(r);
}

void outgoing_request_deinit(struct outgoing_request *r)
{
    buf_deinit(&r->answer);
}

/* Opening and closing */

struct outgoing *outgoing_open(uv_loop_t *loop, const struct outgoing_config *config)
{
    struct outgoing *o = calloc(1, sizeof *o);
    CHECK(o != NULL);
    o->loop = loop;
    o->config = *config;
    CHECK(uv_timer_init(loop, &o->timer) == 0);
    CHECK(uv_timer_init(loop, &o->broken_timer) == 0);
    o->timer.data = o->broken_timer.data = o;
    o->open_handles = 2;
    CHECK(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK); /* counted; any thread */
    o->multi = curl_multi_init();
    CHECK(o->multi != NULL);
    must(curl_multi_setopt(o->multi, CURLMOPT_SOCKETFUNCTION, socket_cb));
    must(curl_multi_setopt(o->multi, CURLMOPT_SOCKETDATA, o));
    must(curl_multi_setopt(o->multi, CURLMOPT_TIMERFUNCTION, want_timer_cb));
    must(curl_multi_setopt(o->multi, CURLMOPT_TIMERDATA, o));
    must(
        curl_multi_setopt(o->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, (long)config->connections_max));
    must(curl_multi_setopt(o->multi, CURLMOPT_MAXCONNECTS, (long)KEPT_CONNECTIONS));
    return o;
}

static void closed_cb(uv_handle_t *handle)
{
    struct outgoing *o = handle->data;
    if (--o->open_handles == 0) {
        free(o);
    }
}

void outgoing_close(struct outgoing *o)
{
    CHECK(o->active == 0);
    must(curl_multi_cleanup(o->multi)); /* closes what is kept open, by socket_cb */
    curl_global_cleanup();
    uv_close((uv_handle_t *)&o->timer, closed_cb);
    uv_close((uv_handle_t *)&o->broken_timer, closed_cb);
}
