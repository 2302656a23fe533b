#include "outgoing/outgoing.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <curl/curl.h>

#include "base/check.h"
#include "outgoing/outgoing_sockets.h"

enum { DAY_S = 24 * 3600 };
enum {
    KEPT_CONNECTIONS = 64,
    KEPT_MS = 90 * 1000,
    CONNECT_TIMEOUT_MS = 10000,
    HEADER_BYTES_MAX = 4096
};

struct outgoing {
    uv_loop_t *loop;
    struct outgoing_config config;
    CURLM *multi;
    struct outgoing_sockets *sockets;
    uv_timer_t timer;                                /* libcurl's timeout */
    uv_timer_t broken_timer;                         /* reports the broken requests */
    struct outgoing_request *broken;                 /* requests that could not start */
    uv_timer_t body_timer;                           /* ends bodies that take too long */
    struct outgoing_request *body_first, *body_last; /* ordered by deadline */
    size_t active;
    unsigned open_handles;
};

static void must(CURLMcode code)
{
    CHECK(code == CURLM_OK);
}

/* End of a request */

static void leave_bodies(struct outgoing_request *r)
{
    struct outgoing *o = r->client;
    if (r->body_until_ms != 0) {
        *(r->body_before != NULL ? &r->body_before->body_after : &o->body_first) = r->body_after;
        *(r->body_after != NULL ? &r->body_after->body_before : &o->body_last) = r->body_before;
        r->body_before = r->body_after = NULL;
        r->body_until_ms = 0;
    }
}

static void let_go(struct outgoing_request *r)
{
    struct outgoing *o = r->client;
    CHECK(o->active > 0);
    o->active--;
    leave_bodies(r);
    if (r->easy != NULL) {
        curl_easy_cleanup(r->easy);
        r->easy = NULL;
    }
    curl_slist_free_all(r->header_list);
    r->header_list = NULL;
}

static bool is_of_connection(CURLcode code)
{
    switch ((int)code) {
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_PARTIAL_FILE:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_WEIRD_SERVER_REPLY:
        return true;
    default:
        return false;
    }
}

static void say_why(struct outgoing_request *r, CURLcode code)
{
    const char *text = r->error_text[0] != '\0' ? r->error_text : curl_easy_strerror(code);
    if (r->refused) {
        (void)err_set(&r->err, ERR_FORBIDDEN, "address %s is not allowed%s", r->refused_address,
                      r->own          ? ": it is this server itself"
                      : r->guest_only ? " for this namespace; use --outgoing-allow to allow it"
                                      : "");
    } else if (r->answer.overflow) {
        (void)err_set(&r->err, ERR_TOO_LARGE, "the response is larger than %zu bytes",
                      r->answer_limit);
    } else if (r->again) {
        (void)err_set(&r->err, ERR_IO, "the connection was closed without a response");
        r->no_peer = true;
    } else {
        (void)err_set(&r->err, ERR_IO, "%s", text);
        r->err.sys = (int)code;
        r->timed_out = code == CURLE_OPERATION_TIMEDOUT;
        r->no_name = code == CURLE_COULDNT_RESOLVE_HOST;
        r->no_peer = is_of_connection(code);
    }
}

/* The connection of a request that has ended, if libcurl keeps it. With HTTP/2, a target may send
 * something at any time. */
static void keep_connection(struct outgoing_request *r)
{
    curl_socket_t fd = CURL_SOCKET_BAD;
    long version = 0;
    (void)curl_easy_getinfo(r->easy, CURLINFO_ACTIVESOCKET, &fd);
    (void)curl_easy_getinfo(r->easy, CURLINFO_HTTP_VERSION, &version);
    if (fd != CURL_SOCKET_BAD) {
        bool silent = version == CURL_HTTP_VERSION_1_0 || version == CURL_HTTP_VERSION_1_1;
        outgoing_sockets_keep(r->client->sockets, fd, silent);
    }
}

static void finish(struct outgoing_request *r, CURLcode code)
{
    long status = 0;
    (void)curl_easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE, &status);
    r->status = r->answered ? (int)status : 0;
    curl_off_t redirects_us = 0;
    curl_off_t head_us = 0;
    curl_off_t retry_s = 0;
    (void)curl_easy_getinfo(r->easy, CURLINFO_REDIRECT_TIME_T, &redirects_us);
    (void)curl_easy_getinfo(r->easy, CURLINFO_STARTTRANSFER_TIME_T, &head_us);
    (void)curl_easy_getinfo(r->easy, CURLINFO_RETRY_AFTER, &retry_s);
    r->answer_ms = (uint32_t)((redirects_us + head_us) / 1000);
    r->retry_after_s = retry_s <= 0 || !r->says_when ? 0
                       : retry_s > DAY_S             ? DAY_S
                                                     : (uint32_t)retry_s;
    if (code != CURLE_OK) {
        say_why(r, code);
    } else if (!r->answered) { /* for libcurl, a head that is cut off is a head */
        (void)err_set(&r->err, ERR_IO, "the connection was closed within the head of the response");
        r->no_peer = true;
    }
    keep_connection(r);
    must(curl_multi_remove_handle(r->client->multi, r->easy));
    let_go(r);
    r->done(r); /* may free r */
}

/* Bodies: the time limit is the same for all, so the list is ordered by deadline. */

static void body_timer_cb(uv_timer_t *timer);

static void arm_bodies(struct outgoing *o)
{
    uint64_t now_ms = uv_now(o->loop);
    if (o->body_first == NULL) {
        (void)uv_timer_stop(&o->body_timer);
    } else {
        uint64_t until_ms = o->body_first->body_until_ms;
        CHECK(uv_timer_start(&o->body_timer, body_timer_cb,
                             until_ms > now_ms ? until_ms - now_ms : 0, 0) == 0);
    }
}

static void body_timer_cb(uv_timer_t *timer)
{
    struct outgoing *o = timer->data;
    while (o->body_first != NULL && o->body_first->body_until_ms <= uv_now(o->loop)) {
        finish(o->body_first, CURLE_OPERATION_TIMEDOUT);
    }
    arm_bodies(o);
}

static void join_bodies(struct outgoing_request *r)
{
    struct outgoing *o = r->client;
    if (o->config.body_ms == 0 || r->body_until_ms != 0) {
        return;
    }
    r->body_until_ms = uv_now(o->loop) + o->config.body_ms;
    r->body_before = o->body_last;
    *(o->body_last != NULL ? &o->body_last->body_after : &o->body_first) = r;
    o->body_last = r;
    if (o->body_first == r) {
        arm_bodies(o);
    }
}

static void finish_all(struct outgoing *o)
{
    CURLMsg *m;
    int left;
    while ((m = curl_multi_info_read(o->multi, &left)) != NULL) {
        struct outgoing_request *r = NULL;
        if (m->msg == CURLMSG_DONE) {
            CURLcode code = m->data.result; /* m is freed with its handle */
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

static void happened(void *data, int fd, int events, bool failed)
{
    int what = failed ? CURL_CSELECT_ERR : 0;
    what |= (events & UV_READABLE) != 0 ? CURL_CSELECT_IN : 0;
    what |= (events & UV_WRITABLE) != 0 ? CURL_CSELECT_OUT : 0;
    act(data, fd, what);
}

static void timer_cb(uv_timer_t *timer)
{
    act(timer->data, CURL_SOCKET_TIMEOUT, 0);
}

static int socket_cb(CURL *easy, curl_socket_t fd, int what, void *data, void *unused)
{
    struct outgoing *o = data;
    (void)easy;
    (void)unused;
    bool none = what == CURL_POLL_REMOVE;
    int events = !none && (what & CURL_POLL_IN) != 0 ? UV_READABLE : 0;
    events |= !none && (what & CURL_POLL_OUT) != 0 ? UV_WRITABLE : 0;
    outgoing_sockets_watch(o->sockets, fd, events);
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
    size_t len = size * count;
    size_t room = r->answer_limit - r->answer.len;
    buf_add(&r->answer, bytes, len < room ? len : room); /* keep all bytes that fit */
    if (len > room) {
        buf_add(&r->answer, bytes + room, len - room);
    }
    return r->answer.overflow ? 0 : len;
}

/* The head of a response is complete. Unless it is interim, or of a redirect that is followed, the
 * request is answered, and the time limit of the body begins. */
static void end_head(struct outgoing_request *r)
{
    long status = 0;
    (void)curl_easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE, &status);
    bool redirect = r->redirects_max > 0 && r->leads_on && status >= 300 && status < 400;
    if (status >= 200 && !redirect) {
        r->answered = true;
        join_bodies(r);
    }
}

/* A line of a head: the status, a header, or the empty line at the end. Also one of the trailers
 * behind a body, which are ignored. */
static size_t head_cb(char *bytes, size_t size, size_t count, void *data)
{
    struct outgoing_request *r = data;
    struct str value = str_trim(str_from(bytes, size * count));
    if (r->answered) {
        return size * count;
    }
    if (value.len == 0) {
        end_head(r);
    } else if (str_starts_with(value, STR("HTTP/"))) {
        r->leads_on = r->says_when = false;
    } else {
        struct str name = str_cut(&value, ':');
        r->leads_on |= str_eq_nocase(name, STR("Location")) && str_trim(value).len > 0;
        r->says_when |= str_eq_nocase(name, STR("Retry-After"));
    }
    return size * count;
}

/* May the request connect to this address? If not, the reason is recorded in the request. */
static bool may_go(struct outgoing_request *r, const struct sockaddr *address, socklen_t len)
{
    const struct outgoing_guard *guard = r->client->config.guard;
    if (guard == NULL || outgoing_guard_allows(guard, address, r->guest)) {
        return true;
    }
    r->refused = true;
    r->own = outgoing_guard_is_own(guard, address);
    r->guest_only = r->guest && outgoing_guard_allows(guard, address, false);
    if (getnameinfo(address, len, r->refused_address, sizeof r->refused_address, NULL, 0,
                    NI_NUMERICHOST) != 0) {
        (void)snprintf(r->refused_address, sizeof r->refused_address, "of an unknown kind");
    }
    return false;
}

static curl_socket_t open_socket_cb(void *data, curlsocktype purpose, struct curl_sockaddr *address)
{
    (void)purpose;
    if (!may_go(data, &address->addr, address->addrlen)) {
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* Not called for a connection that was never established, which is not kept either. */
static int close_socket_cb(void *data, curl_socket_t fd)
{
    struct outgoing *o = data;
    outgoing_sockets_forget(o->sockets, fd);
    return close(fd);
}

/* libcurl repeats a request, up to five times, if a reused connection breaks off without a
 * response. The server may have received the first one all the same. */
static bool is_repeated(struct outgoing_request *r)
{
    long redirects = 0;
    (void)curl_easy_getinfo(r->easy, CURLINFO_REDIRECT_COUNT, &redirects);
    r->again = r->once && r->sent > redirects;
    r->sent++;
    return r->again;
}

/* May the request use this existing connection? It may have been opened by a request to which fewer
 * restrictions apply. */
static bool may_go_to(struct outgoing_request *r, const char *peer, int peer_port)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)peer_port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)peer_port)};
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    return inet_pton(AF_INET, peer, &v4.sin_addr) == 1
               ? may_go(r, (const struct sockaddr *)&v4, sizeof v4)
           : inet_pton(AF_INET6, peer, &v6.sin6_addr) == 1
               ? may_go(r, (const struct sockaddr *)&v6, sizeof v6)
               : may_go(r, &none, sizeof none);
}

/* Called before anything is sent. */
static int before_request_cb(void *data, char *peer, char *local, int peer_port, int local_port)
{
    struct outgoing_request *r = data;
    (void)local;
    (void)local_port;
    bool refused = is_repeated(r) || (r->guest && !may_go_to(r, peer, peer_port));
    return refused ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

/* Add "Name: value", without characters that could start another line. libcurl takes "Name:" as an
 * order to leave the header out, and sends "Name;" as a header without a value. */
static bool add_header(struct outgoing_request *r, const struct outgoing_header *h)
{
    char line[HEADER_BYTES_MAX];
    int n = str_trim(h->value).len == 0
                ? snprintf(line, sizeof line, "%s;", h->name)
                : snprintf(line, sizeof line, "%s: " STR_FMT, h->name, STR_ARG(h->value));
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
    for (size_t i = 0; i < r->more_count; i++) {
        if (!add_header(r, &r->more_headers[i])) {
            return false;
        }
    }
    /* Without this, libcurl would wait for "100 Continue" before a larger body. */
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
    /* A method that is set by name stays the same after redirects. */
    if (strcmp(r->method, "HEAD") == 0) {
        SET(CURLOPT_NOBODY, 1L); /* otherwise libcurl waits for the announced body */
    } else if (strcmp(r->method, "POST") != 0) {
        SET(CURLOPT_CUSTOMREQUEST, r->method);
    }
    SET(CURLOPT_HTTPHEADER, r->header_list);
    SET(CURLOPT_HTTP_VERSION,
        (long)(r->client->config.http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
    SET(CURLOPT_USERAGENT, r->client->config.user_agent);
    SET(CURLOPT_FOLLOWLOCATION, r->redirects_max > 0 ? 1L : 0L);
    SET(CURLOPT_MAXREDIRS, (long)r->redirects_max);
    SET(CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_PROXY, "");
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_QUICK_EXIT, 1L); /* a hanging lookup does not delay the shutdown */
    SET(CURLOPT_TIMEOUT_MS, (long)r->timeout_ms);
    SET(CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    SET(CURLOPT_TCP_NODELAY, 1L);
    SET(CURLOPT_ERRORBUFFER, r->error_text);
    SET(CURLOPT_PRIVATE, r);
    SET(CURLOPT_WRITEFUNCTION, answer_cb);
    SET(CURLOPT_WRITEDATA, r);
    SET(CURLOPT_HEADERFUNCTION, head_cb);
    SET(CURLOPT_HEADERDATA, r);
    SET(CURLOPT_OPENSOCKETFUNCTION, open_socket_cb);
    SET(CURLOPT_OPENSOCKETDATA, r);
    SET(CURLOPT_CLOSESOCKETFUNCTION, close_socket_cb);
    SET(CURLOPT_CLOSESOCKETDATA, r->client); /* the connection outlives the request */
    SET(CURLOPT_PREREQFUNCTION, before_request_cb);
    SET(CURLOPT_PREREQDATA, r);
    if (r->body.len > 0) {
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body.len);
        SET(CURLOPT_POSTFIELDS, r->body.ptr);
    } else if (strcmp(r->method, "POST") == 0) {
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)0);
        SET(CURLOPT_POSTFIELDS, "");
    }
    return ok;
}

/* Requests that could not start */

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
    r->refused = r->own = r->guest_only = r->again = r->timed_out = r->no_name = r->no_peer = false;
    r->answered = r->leads_on = r->says_when = false;
    r->sent = 0;
    r->answer_ms = r->retry_after_s = 0;
    r->body_before = r->body_after = NULL;
    r->body_until_ms = 0;
    r->error_text[0] = '\0';
    buf_init(&r->answer, r->answer_limit);
    o->active++;
    r->easy = curl_easy_init();
    CHECK(r->easy != NULL);
    if (!add_headers(r) || !set_up(r)) {
        fail_later(r, "the request could not be created");
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
    CHECK(uv_timer_init(loop, &o->body_timer) == 0);
    o->timer.data = o->broken_timer.data = o->body_timer.data = o;
    o->open_handles = 3;
    o->sockets =
        outgoing_sockets_open(loop, config->kept_ms > 0 ? config->kept_ms : KEPT_MS, happened, o);
    CHECK(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK); /* reference-counted; thread-safe */
    o->multi = curl_multi_init();
    CHECK(o->multi != NULL);
    must(curl_multi_setopt(o->multi, CURLMOPT_SOCKETFUNCTION, socket_cb));
    must(curl_multi_setopt(o->multi, CURLMOPT_SOCKETDATA, o));
    must(curl_multi_setopt(o->multi, CURLMOPT_TIMERFUNCTION, want_timer_cb));
    must(curl_multi_setopt(o->multi, CURLMOPT_TIMERDATA, o));
    must(
        curl_multi_setopt(o->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, (long)config->connections_max));
    must(curl_multi_setopt(o->multi, CURLMOPT_MAXCONNECTS,
                           (long)(config->kept_max > 0 ? config->kept_max : KEPT_CONNECTIONS)));
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
    must(curl_multi_cleanup(o->multi)); /* closes the kept connections */
    curl_global_cleanup();
    outgoing_sockets_close(o->sockets);
    uv_close((uv_handle_t *)&o->timer, closed_cb);
    uv_close((uv_handle_t *)&o->broken_timer, closed_cb);
    uv_close((uv_handle_t *)&o->body_timer, closed_cb);
}
