/*
 * Requests to the server: URLs, headers, waiting, and error messages.
 */
#include <poll.h>

#include "base/check.h"
#include "base/limits.h"
#include "cli/cli_int.h"
#include "json/json_scan.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "os/os_signal.h"

enum { HEADERS_MAX = 8, LAST_REQUEST_MS = 1000 };

/* URLs */

/* A path segment "." or ".." must be encoded, so that no client library or proxy resolves it. */
static bool is_dots(struct str text)
{
    return str_eq(text, STR(".")) || str_eq(text, STR(".."));
}

static void add_encoded(struct buf *out, struct str text)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] != '\0' && strchr(plain, text.ptr[i]) != NULL && !is_dots(text)) {
            buf_add_char(out, text.ptr[i]);
        } else {
            buf_printf(out, "%%%02X", (unsigned)(unsigned char)text.ptr[i]);
        }
    }
}

static const char *take(struct cli *cli, struct buf *b)
{
    const char *z = arena_strz(cli->arena, buf_str(b));
    CHECK(z != NULL);
    buf_deinit(b);
    return z;
}

static void add_base(struct cli *cli, struct buf *url)
{
    struct str base = cli_text(cli, "server");
    if (memmem(base.ptr, base.len, "://", 3) == NULL) {
        buf_add_str(url, STR("http://"));
    }
    while (base.len > 0 && base.ptr[base.len - 1] == '/') {
        base.len--;
    }
    buf_add_str(url, base);
}

static bool is_at_root(const char *path)
{
    return strcmp(path, "/healthz") == 0 || strncmp(path, "/corvo.v1.", 10) == 0;
}

const char *cli_url(struct cli *cli, const char *pattern, const struct str *parts, size_t count)
{
    struct buf url;
    buf_init(&url, CLI_LINE_BYTES);
    add_base(cli, &url);
    if (!is_at_root(pattern)) {
        buf_add_str(&url, STR("/api/v1"));
    }
    for (const char *p = pattern; *p != '\0'; p++) {
        if (p[0] == '{' && p[1] >= '0' && p[1] <= '9' && p[2] == '}') {
            size_t i = (size_t)(p[1] - '0');
            CHECK(i < count);
            add_encoded(&url, parts[i]);
            p += 2;
        } else {
            buf_add_char(&url, *p);
        }
    }
    return take(cli, &url);
}

const char *cli_url_to(struct cli *cli, const char *path)
{
    return cli_url(cli, path, NULL, 0);
}

const char *cli_url_query(struct cli *cli, const char *url, const char *name, struct str value)
{
    struct buf b;
    buf_init(&b, CLI_LINE_BYTES);
    buf_printf(&b, "%s%c%s=", url, strchr(url, '?') == NULL ? '?' : '&', name);
    add_encoded(&b, value);
    return take(cli, &b);
}

struct str cli_url_shown(struct cli *cli, struct str url)
{
    const char *colon = url.len == 0 ? NULL : memmem(url.ptr, url.len, "://", 3);
    size_t from = colon == NULL ? 0 : (size_t)(colon - url.ptr) + 3;
    size_t at = from;
    /* Search for the last @: a password may contain one, a host name does not. */
    for (size_t i = from; i < url.len && strchr("/?#", url.ptr[i]) == NULL; i++) {
        at = url.ptr[i] == '@' ? i + 1 : at;
    }
    struct str rest = str_from_offset(url, at);
    return cli_harmless(
        cli, cli_format(cli, STR_FMT STR_FMT, STR_ARG(str_from(url.ptr, from)), STR_ARG(rest)));
}

/* Calls */

static void add_header(struct cli *cli, const char **headers, size_t *count, const char *name,
                       struct str value)
{
    if (value.len == 0) {
        return;
    }
    const char *line =
        arena_strz(cli->arena, cli_format(cli, "%s: " STR_FMT, name, STR_ARG(value)));
    CHECK(line != NULL);
    headers[(*count)++] = line;
}

static struct outgoing_wait_call call_to(struct cli *cli, const char *method, const char *url,
                                         const char *const *headers)
{
    struct str ca_file = cli_text(cli, "ca-file");
    if (cli->http == NULL) {
        cli->http = outgoing_wait_new();
    }
    return (struct outgoing_wait_call){
        .method = method,
        .url = url,
        .headers = headers,
        .ca_file = ca_file.len == 0 ? NULL : arena_strz(cli->arena, ca_file),
        .limit_bytes = CLI_ANSWER_BYTES};
}

/* The headers of every request and their number, with room for a few more. */
static size_t own_headers(struct cli *cli, const char ***out)
{
    size_t count = 0;
    *out = ARENA_ARRAY(cli->arena, const char *, HEADERS_MAX);
    CHECK(*out != NULL);
    add_header(cli, *out, &count, "X-API-Key", cli_text(cli, "api-key"));
    /* A command may have its own --namespace, with another meaning. */
    bool of_client = cli_value(cli, "namespace")->flag->field == NULL;
    add_header(cli, *out, &count, "X-Corvo-Namespace",
               of_client ? cli_text(cli, "namespace") : STR_EMPTY);
    add_header(cli, *out, &count, "X-Corvo-Client-Name", STR("corvo-cli"));
    return count;
}

void cli_deadline_begin(struct cli *cli)
{
    int64_t now_ns = os_clock_mono().ns;
    int64_t ms = cli_int(cli, "wait-timeout");
    if (cli_given(cli, "wait-timeout") && ms <= (INT64_MAX - now_ns) / NS_PER_MS) {
        cli->deadline.ns = now_ns + ms * NS_PER_MS;
    }
}

int64_t cli_deadline_left_ms(const struct cli *cli)
{
    int64_t ms = (cli->deadline.ns - os_clock_mono().ns) / NS_PER_MS;
    return cli->deadline.ns == 0 ? INT64_MAX : ms < 0 ? 0 : ms;
}

/* --timeout, or the time that the command has left if that is shorter. The last request gets a
 * short minimum, so that the command can report what it waited for. */
static int64_t timeout_of(struct cli *cli)
{
    int64_t timeout = cli_int(cli, "timeout");
    int64_t left = cli_deadline_left_ms(cli);
    left = left < LAST_REQUEST_MS ? LAST_REQUEST_MS : left;
    if (cli->deadline.ns == 0) {
        return timeout;
    }
    return timeout > 0 && timeout < left ? timeout : left;
}

struct outgoing_wait_call cli_call_to(struct cli *cli, const char *method, const char *url,
                                      struct str body)
{
    const char **headers = NULL;
    size_t count = own_headers(cli, &headers);
    add_header(cli, headers, &count, "Content-Type",
               body.len > 0 ? STR("application/json") : STR_EMPTY);
    headers[count] = NULL;
    struct outgoing_wait_call call = call_to(cli, method, url, headers);
    call.body = body;
    call.timeout_ms = timeout_of(cli);
    call.header = "X-Corvo-Next-Cursor";
    return call;
}

struct outgoing_wait_call cli_call_events(struct cli *cli, const char *url)
{
    struct outgoing_wait_call call = cli_call_to(cli, "GET", url, STR_EMPTY);
    call.timeout_ms = 0;
    call.silence_ms = CLI_SILENCE_MS;
    return call;
}

struct outgoing_wait_call cli_call_stream(struct cli *cli, const char *method)
{
    const char **headers = NULL;
    size_t count = own_headers(cli, &headers);
    add_header(cli, headers, &count, "X-Corvo-Client-Version", cli_text(cli, "app-version"));
    add_header(cli, headers, &count, "Content-Type", STR("application/connect+json"));
    add_header(cli, headers, &count, "Connect-Protocol-Version", STR("1"));
    /* A node that is not the leader proxies the stream, as it does with requests. The leader's own
     * address may be unreachable from here, and the key is meant for the named server only. */
    add_header(cli, headers, &count, "X-Corvo-Proxy-Stream", STR("1"));
    headers[count] = NULL;
    struct outgoing_wait_call call = call_to(cli, "POST", cli_url_to(cli, method), headers);
    call.streams = true;
    return call;
}

int cli_interrupted(struct cli *cli)
{
    if (cli->signal == 0) {
        cli->signal = os_signal_read(cli->signal_fd);
    }
    return cli->signal == 0 ? CLI_FAILED : CLI_SIGNAL_BASE + cli->signal;
}

int cli_unreachable(struct cli *cli, const struct err *err)
{
    struct str server = cli_url_shown(cli, cli_text(cli, "server"));
    return cli_fail(cli, "request failed: %s (" STR_FMT ")", err->msg, STR_ARG(server));
}

int cli_refused(struct cli *cli, int status, struct str body)
{
    struct str text = cli_harmless(cli, cli_member_text(cli, body, "error"));
    struct str raw = cli_harmless(cli, str_trim(body));
    if (status >= 300 && status < 400) {
        return cli_fail(cli,
                        "the server returned status %d, a redirect: set --server to the URL that it"
                        " redirects to",
                        status);
    }
    if (text.len == 0 && raw.len == 0) {
        return cli_fail(cli, "the server returned status %d", status);
    }
    (void)cli_fail(cli, STR_FMT, STR_ARG(text.len > 0 ? text : raw));
    if (status == 401) {
        cli_note(cli, "Set a key with --api-key or CORVO_API_KEY.\n");
    }
    return CLI_FAILED;
}

/* Refuse control characters: a header cannot contain them, and a key never does. */
static int check_headers(struct cli *cli)
{
    static const char *const names[] = {"api-key", "namespace"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (str_has_control(cli_text(cli, names[i]))) {
            return cli_fail(cli, "--%s contains a control character", names[i]);
        }
    }
    return CLI_OK;
}

int cli_ask(struct cli *cli, const char *method, const char *url, struct str body,
            struct cli_answer *out)
{
    int code = check_headers(cli);
    struct mono from = os_clock_mono();
    if (code != CLI_OK) {
        return code;
    }
    struct outgoing_wait_call call = cli_call_to(cli, method, url, body);
    if (!outgoing_wait_run(cli->http, &call, cli->signal_fd)) {
        outgoing_wait_clear(&call);
        return cli_interrupted(cli);
    }
    struct str shown = cli_url_shown(cli, str_from_z(url));
    log_debug("request", LOG_Z("method", method), LOG_STR("url", shown),
              LOG_I64("status", call.status),
              LOG_I64("took_us", (os_clock_mono().ns - from.ns) / NS_PER_US));
    *out = (struct cli_answer){.status = call.status,
                               .body = arena_str(cli->arena, buf_str(&call.answer)),
                               .next = arena_str(cli->arena, str_from_z(call.header_value))};
    if (call.err.code != ERR_OK) {
        code = cli_unreachable(cli, &call.err);
    } else if (out->body.len < call.answer.len) {
        code = cli_fail(cli, "the server's responses do not fit into memory");
    }
    outgoing_wait_clear(&call);
    return code;
}

int cli_unreadable(struct cli *cli)
{
    struct str server = cli_url_shown(cli, cli_text(cli, "server"));
    return cli_fail(cli, "request failed: the response is not JSON (" STR_FMT ")", STR_ARG(server));
}

/* Another server may respond 200 with a page, and a proxy may cut a response short. */
bool cli_is_document(struct str body)
{
    struct err err;
    body = str_trim(body);
    return body.len > 0 && (body.ptr[0] == '{' || body.ptr[0] == '[') &&
           json_scan_check(body, &err) == ERR_OK;
}

static int request_page(struct cli *cli, const char *method, const char *url, struct str body,
                        struct cli_answer *out)
{
    int code = cli_ask(cli, method, url, body, out);
    if (code == CLI_OK && (out->status < 200 || out->status >= 300)) {
        return cli_refused(cli, out->status, out->body);
    }
    if (code == CLI_OK && out->status != 204 && !cli_is_document(out->body)) {
        return cli_unreadable(cli);
    }
    return code;
}

/* The text between the brackets of an array. */
static struct str inside(struct str array)
{
    array = str_trim(array);
    return array.len >= 2 && array.ptr[0] == '[' ? str_trim(str_from(array.ptr + 1, array.len - 2))
                                                 : STR_EMPTY;
}

/* Fetch the pages after the first and join all of them into one array. */
static int follow(struct cli *cli, const char *url, struct cli_answer *out)
{
    struct buf all;
    int code = CLI_OK;
    struct cli_answer page = *out;
    buf_init(&all, CLI_ANSWER_BYTES);
    buf_add_char(&all, '[');
    buf_add_str(&all, inside(page.body));
    while (code == CLI_OK && page.next.len > 0) {
        const char *next = cli_url_query(cli, url, "cursor", page.next);
        code = request_page(cli, "GET", next, STR_EMPTY, &page);
        if (code == CLI_OK && inside(page.body).len > 0) {
            buf_add_char(&all, ',');
            buf_add_str(&all, inside(page.body));
        }
    }
    buf_add_char(&all, ']');
    out->body = arena_str(cli->arena, buf_str(&all));
    if (code == CLI_OK && (all.overflow || out->body.len < all.len)) {
        code = cli_fail(cli, "the server's responses do not fit into memory");
    }
    buf_deinit(&all);
    return code;
}

int cli_request(struct cli *cli, const char *method, const char *url, struct str body,
                struct cli_answer *out)
{
    int code = request_page(cli, method, url, body, out);
    bool more = code == CLI_OK && out->next.len > 0 && strcmp(method, "GET") == 0;
    return more ? follow(cli, url, out) : code;
}

bool cli_sleep(struct cli *cli, int64_t ms)
{
    struct pollfd wake = {.fd = cli->signal_fd, .events = POLLIN};
    return poll(&wake, cli->signal_fd >= 0 ? 1 : 0, (int)ms) == 0;
}
