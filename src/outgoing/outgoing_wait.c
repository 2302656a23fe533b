#include "outgoing/outgoing_wait.h"

#include <stdlib.h>

#include <curl/curl.h>

#include "base/check.h"
#include "os/os_clock.h"

enum {
    FDS_MAX = 1024,
    CONNECT_TIMEOUT_MS = 10000,
    TURN_MS_MAX = 60000,
    UNSENT_BYTES = 256 << 20,
    KEEPALIVE_IDLE_S = 30,
    KEEPALIVE_INTERVAL_S = 15,
};

struct outgoing_wait {
    CURLM *multi;
    struct outgoing_wait_call *running;
    bool moved; /* an event occurred that a caller may wait for */
};

struct outgoing_wait *outgoing_wait_new(void)
{
    struct outgoing_wait *w = calloc(1, sizeof *w);
    CHECK(w != NULL);
    CHECK(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
    w->multi = curl_multi_init();
    CHECK(w->multi != NULL);
    /* One connection per concurrent request: if a stream breaks it, no other request is
     * affected. */
    CHECK(curl_multi_setopt(w->multi, CURLMOPT_PIPELINING, CURLPIPE_NOTHING) == CURLM_OK);
    return w;
}

void outgoing_wait_free(struct outgoing_wait *w)
{
    if (w == NULL) {
        return;
    }
    while (w->running != NULL) {
        outgoing_wait_cancel(w, w->running);
    }
    (void)curl_multi_cleanup(w->multi);
    curl_global_cleanup();
    free(w);
}

/* One request */

static size_t on_body(char *bytes, size_t size, size_t count, void *data)
{
    struct outgoing_wait_call *call = data;
    struct str piece = str_from(bytes, size * count);
    long status = 0;
    call->heard = os_clock_mono();
    (void)curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
    call->status = (int)status;
    call->set->moved = true;
    if (call->on_piece != NULL && status >= 200 && status < 300) {
        call->enough = !call->on_piece(call, piece);
        return call->enough ? 0 : piece.len;
    }
    buf_add_str(&call->answer, piece);
    return call->answer.overflow ? 0 : piece.len;
}

/* Keep the value if the line is the wanted header. */
static void keep_header(struct outgoing_wait_call *call, struct str line)
{
    struct str value = line;
    if (call->header == NULL || !str_eq_nocase(str_cut(&value, ':'), str_from_z(call->header))) {
        return;
    }
    value = str_trim(value);
    if (value.len < sizeof call->header_value) {
        memcpy(call->header_value, value.ptr, value.len);
        call->header_value[value.len] = '\0';
    }
}

static size_t on_header(char *bytes, size_t size, size_t count, void *data)
{
    struct outgoing_wait_call *call = data;
    struct str line = str_from(bytes, size * count);
    long status = 0;
    call->heard = os_clock_mono();
    keep_header(call, line);
    /* The empty line ends a head. Interim responses are skipped. */
    if (str_trim(line).len == 0) {
        (void)curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
        call->status = status >= 200 ? (int)status : 0;
        call->set->moved = true;
    }
    return line.len;
}

/* Send the next bytes of an open body; pause if there are none yet. */
static size_t on_read(char *out, size_t size, size_t count, void *data)
{
    struct outgoing_wait_call *call = data;
    size_t room = size * count;
    size_t left = call->unsent.len - call->sent;
    size_t n = left < room ? left : room;
    if (n == 0) {
        buf_clear(&call->unsent);
        call->sent = 0;
        return call->said_all ? 0 : CURL_READFUNC_PAUSE;
    }
    memcpy(out, call->unsent.ptr + call->sent, n);
    call->sent += n;
    return n;
}

static bool is_loopback(const char *url)
{
    static const char *const hosts[] = {"://localhost", "://127.", "://[::1]"};
    for (size_t i = 0; i < COUNT_OF(hosts); i++) {
        if (strstr(url, hosts[i]) != NULL) {
            return true;
        }
    }
    return false;
}

#define SET(option, value) CHECK(curl_easy_setopt(easy, (option), (value)) == CURLE_OK)

static void set_body(CURL *easy, const struct outgoing_wait_call *call)
{
    bool get = strcmp(call->method, "GET") == 0;
    bool always = strcmp(call->method, "POST") == 0 || strcmp(call->method, "PUT") == 0;
    if (call->body.len > 0 || always) {
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body.len);
        SET(CURLOPT_POSTFIELDS, call->body.len > 0 ? call->body.ptr : "");
    }
    if (!get) {
        SET(CURLOPT_CUSTOMREQUEST, call->method);
    }
}

static void set_stream(CURL *easy, struct outgoing_wait_call *call)
{
    bool tls = strncmp(call->url, "https:", 6) == 0;
    buf_add_str(&call->unsent, call->body);
    SET(CURLOPT_FRESH_CONNECT, 1L);
    SET(CURLOPT_FORBID_REUSE, 1L);
    SET(CURLOPT_POST, 1L);
    SET(CURLOPT_READFUNCTION, on_read);
    SET(CURLOPT_READDATA, (void *)call);
    SET(CURLOPT_HTTP_VERSION,
        (long)(tls ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE));
}

static void set_headers(CURL *easy, struct outgoing_wait_call *call)
{
    /* Do not wait for "100 Continue": our servers refuse by the length alone. */
    struct curl_slist *list = curl_slist_append(NULL, "Expect:");
    CHECK(list != NULL);
    for (size_t i = 0; call->headers != NULL && call->headers[i] != NULL; i++) {
        struct curl_slist *longer = curl_slist_append(list, call->headers[i]);
        CHECK(longer != NULL);
        list = longer;
    }
    call->lines = list;
    SET(CURLOPT_HTTPHEADER, list);
}

void outgoing_wait_start(struct outgoing_wait *w, struct outgoing_wait_call *call)
{
    CURL *easy = curl_easy_init();
    CHECK(easy != NULL);
    CHECK(call->easy == NULL);
    call->easy = easy;
    call->set = w;
    call->status = 0;
    call->header_value[0] = '\0';
    call->error_text[0] = '\0';
    call->done = false;
    call->enough = false;
    call->unreached = false;
    call->err = (struct err){.code = ERR_OK};
    buf_deinit(&call->answer);
    buf_init(&call->answer, call->limit_bytes);
    buf_init(&call->unsent, UNSENT_BYTES);
    call->sent = 0;
    call->said_all = false;
    call->heard = os_clock_mono();

    SET(CURLOPT_PRIVATE, (void *)call);
    SET(CURLOPT_ERRORBUFFER, call->error_text);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    SET(CURLOPT_TIMEOUT_MS, (long)call->timeout_ms);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, (void *)call);
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_HEADERDATA, (void *)call);
    SET(CURLOPT_URL, call->url);
    SET(CURLOPT_PATH_AS_IS, 1L); /* a queue may be called ".." */
    /* Detect a peer that vanished silently, however long a response may take. */
    SET(CURLOPT_TCP_KEEPALIVE, 1L);
    SET(CURLOPT_TCP_KEEPIDLE, (long)KEEPALIVE_IDLE_S);
    SET(CURLOPT_TCP_KEEPINTVL, (long)KEEPALIVE_INTERVAL_S);
    if (is_loopback(call->url)) {
        SET(CURLOPT_PROXY, "");
    }
    if (call->ca_file != NULL) {
        SET(CURLOPT_CAINFO, call->ca_file);
    }
    set_headers(easy, call);
    if (call->streams) {
        set_stream(easy, call);
    } else {
        set_body(easy, call);
    }
    CHECK(curl_multi_add_handle(w->multi, easy) == CURLM_OK);
    call->next = w->running;
    w->running = call;
}

#undef SET

static void end(struct outgoing_wait *w, struct outgoing_wait_call *call)
{
    struct outgoing_wait_call **at = &w->running;
    while (*at != call) {
        at = &(*at)->next;
    }
    *at = call->next;
    (void)curl_multi_remove_handle(w->multi, call->easy);
    curl_easy_cleanup(call->easy);
    curl_slist_free_all(call->lines);
    buf_deinit(&call->unsent);
    call->easy = NULL;
    call->lines = NULL;
    call->next = NULL;
}

void outgoing_wait_say(struct outgoing_wait_call *call, struct str bytes)
{
    CHECK(call->streams);
    if (call->easy != NULL) {
        buf_add_str(&call->unsent, bytes);
        (void)curl_easy_pause(call->easy, CURLPAUSE_CONT);
    }
}

void outgoing_wait_say_end(struct outgoing_wait_call *call)
{
    call->said_all = true;
    outgoing_wait_say(call, STR_EMPTY);
}

void outgoing_wait_cancel(struct outgoing_wait *w, struct outgoing_wait_call *call)
{
    if (call->easy != NULL) {
        end(w, call);
    }
}

void outgoing_wait_clear(struct outgoing_wait_call *call)
{
    buf_deinit(&call->answer);
}

/* Waiting */

static bool is_http(const char *url)
{
    return str_starts_with(str_from_z(url), STR("http://")) ||
           str_starts_with(str_from_z(url), STR("https://"));
}

static void set_failure(struct outgoing_wait_call *call, CURLcode code)
{
    if (code == CURLE_SSL_CACERT_BADFILE && call->ca_file != NULL) {
        (void)err_set(&call->err, ERR_IO, "the CA bundle '%s' cannot be used", call->ca_file);
    } else if (code == CURLE_UNSUPPORTED_PROTOCOL && is_http(call->url)) {
        (void)err_set(&call->err, ERR_IO,
                      "the response is not HTTP; check the port, and whether it needs https");
    } else if (code == CURLE_PEER_FAILED_VERIFICATION && call->error_text[0] != '\0') {
        /* Which check of the certificate failed. */
        (void)err_set(&call->err, ERR_IO, "%s", call->error_text);
    } else {
        (void)err_set(&call->err, ERR_IO, "%s", curl_easy_strerror(code));
    }
}

static void finish(struct outgoing_wait *w, CURL *easy, CURLcode code)
{
    struct outgoing_wait_call *call = NULL;
    long status = 0;
    CHECK(curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&call) == CURLE_OK);
    CHECK(call != NULL);
    (void)curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    call->status = (int)status;
    call->done = true;
    if (call->answer.overflow) {
        (void)err_set(&call->err, ERR_TOO_LARGE, "the response is larger than %zu bytes",
                      call->limit_bytes);
    } else if (code != CURLE_OK && !call->enough) {
        set_failure(call, code);
        call->err.sys = (int)code;
        call->unreached = code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST ||
                          code == CURLE_COULDNT_RESOLVE_PROXY;
    }
    end(w, call);
}

/* Time until the first request exceeds its silence limit; 0 if one has. */
static int64_t patience_ms(const struct outgoing_wait *w)
{
    int64_t least = TURN_MS_MAX;
    struct mono now = os_clock_mono();
    for (const struct outgoing_wait_call *call = w->running; call != NULL; call = call->next) {
        int64_t left = call->silence_ms - (now.ns - call->heard.ns) / NS_PER_MS;
        if (call->silence_ms > 0 && left < least) {
            least = left < 0 ? 0 : left;
        }
    }
    return least;
}

/* End the requests that have exceeded their silence limit. */
static void end_silent(struct outgoing_wait *w)
{
    struct mono now = os_clock_mono();
    struct outgoing_wait_call *next = NULL;
    for (struct outgoing_wait_call *call = w->running; call != NULL; call = next) {
        next = call->next;
        if (call->silence_ms > 0 && (now.ns - call->heard.ns) / NS_PER_MS >= call->silence_ms) {
            (void)err_set(&call->err, ERR_IO, "the server sent nothing for %g s",
                          (double)call->silence_ms / 1000);
            call->done = true;
            w->moved = true;
            end(w, call);
        }
    }
}

/* Let the requests make progress. True if one of them did. */
static bool collect(struct outgoing_wait *w)
{
    int running = 0;
    int left = 0;
    w->moved = false;
    (void)curl_multi_perform(w->multi, &running);
    for (CURLMsg *m = NULL; (m = curl_multi_info_read(w->multi, &left)) != NULL;) {
        if (m->msg == CURLMSG_DONE) {
            finish(w, m->easy_handle, m->data.result);
            w->moved = true;
        }
    }
    end_silent(w);
    return w->moved;
}

/* While the sending of a body is paused, libcurl does not notice that the connection has ended:
 * resume it. */
static void wake_streams(struct outgoing_wait *w)
{
    for (struct outgoing_wait_call *call = w->running; call != NULL; call = call->next) {
        if (call->streams) {
            (void)curl_easy_pause(call->easy, CURLPAUSE_CONT);
        }
    }
}

void outgoing_wait_turn(struct outgoing_wait *w, struct pollfd *fds, size_t count, int timeout_ms)
{
    struct curl_waitfd extra[FDS_MAX];
    int ready = 0;
    CHECK(count <= FDS_MAX);
    for (size_t i = 0; i < count; i++) {
        fds[i].revents = 0;
        bool out = (fds[i].events & POLLOUT) != 0;
        extra[i] = (struct curl_waitfd){.fd = fds[i].fd,
                                        .events = out ? CURL_WAIT_POLLOUT : CURL_WAIT_POLLIN};
    }
    if (collect(w)) {
        return;
    }
    if (timeout_ms < 0 || timeout_ms > TURN_MS_MAX) {
        timeout_ms = TURN_MS_MAX;
    }
    timeout_ms = patience_ms(w) < timeout_ms ? (int)patience_ms(w) : timeout_ms;
    (void)curl_multi_poll(w->multi, extra, (unsigned)count, timeout_ms, &ready);
    for (size_t i = 0; i < count; i++) {
        fds[i].revents = (short)(extra[i].revents != 0 ? fds[i].events : 0);
    }
    (void)collect(w);
    if (ready > 0) {
        wake_streams(w);
    }
}

bool outgoing_wait_run(struct outgoing_wait *w, struct outgoing_wait_call *call, int wake_fd)
{
    struct pollfd wake = {.fd = wake_fd, .events = POLLIN};
    outgoing_wait_start(w, call);
    while (!call->done) {
        outgoing_wait_turn(w, &wake, wake_fd >= 0 ? 1 : 0, -1);
        if (wake.revents != 0 && !call->done) {
            outgoing_wait_cancel(w, call);
            return false;
        }
    }
    return true;
}
