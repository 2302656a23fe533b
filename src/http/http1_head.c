#include "http/http1_head.h"

#include <string.h>

#include "base/check.h"
#include "http/http_field.h"

/* Facts from the headers that concern the connection. */
struct head_facts {
    struct http1_head *head;
    bool has_length, has_coding, has_host;
    bool says_close, says_keep_alive, says_upgrade, says_settings, wants_h2c;
    unsigned settings_count;
    struct http_problem *problem;
};

static bool refuse(struct http_problem *problem, int status, const char *text)
{
    *problem = (struct http_problem){.status = status, .text = text};
    return false;
}

static bool on_content_length(struct head_facts *f, struct str value)
{
    /* Digits only: str_to_i64 would accept a sign. */
    if (f->has_length) {
        return refuse(f->problem, 400, "duplicate content-length header");
    }
    if (value.len == 0 || value.ptr[0] == '-' || !str_to_i64(value, &f->head->content_length)) {
        return refuse(f->problem, 400, "content-length is not a number");
    }
    f->has_length = true;
    return true;
}

static bool on_transfer_encoding(struct head_facts *f, struct str value)
{
    if (f->has_coding) {
        return refuse(f->problem, 400, "duplicate transfer-encoding header");
    }
    if (!str_eq_nocase(value, STR("chunked"))) {
        return refuse(f->problem, 501, "the only supported transfer coding is chunked");
    }
    f->has_coding = true;
    return true;
}

/* Not a check of the whole grammar: it only excludes bytes that another parser could treat as
 * the end of the host. */
static bool is_host_byte(char c)
{
    switch (c) {
    case ' ':
    case '\t':
    case '/':
    case '\\':
    case '?':
    case '#':
    case '@':
    case ',':
        return false;
    default:
        return true;
    }
}

static bool on_host(struct head_facts *f, struct str value)
{
    if (f->has_host) {
        return refuse(f->problem, 400, "duplicate host header");
    }
    for (size_t i = 0; i < value.len; i++) {
        if (!is_host_byte(value.ptr[i])) {
            return refuse(f->problem, 400, "host is not a valid host");
        }
    }
    f->has_host = true;
    return true;
}

static bool on_connection(struct head_facts *f, struct str value)
{
    f->says_close |= http_field_list_has(value, STR("close"));
    f->says_keep_alive |= http_field_list_has(value, STR("keep-alive"));
    f->says_upgrade |= http_field_list_has(value, STR("upgrade"));
    f->says_settings |= http_field_list_has(value, STR("http2-settings"));
    return true;
}

static bool on_expect(struct head_facts *f, struct str value)
{
    if (!str_eq_nocase(value, STR("100-continue"))) {
        return refuse(f->problem, 417, "the only supported expectation is 100-continue");
    }
    f->head->expect_continue = true;
    return true;
}

static bool on_upgrade(struct head_facts *f, struct str value)
{
    f->wants_h2c |= http_field_list_has(value, STR("h2c"));
    return true;
}

static bool on_http2_settings(struct head_facts *f, struct str value)
{
    f->head->h2_settings = value;
    f->settings_count++;
    return true;
}

/* Handlers of the headers that concern the connection; NULL for all others. */
static bool (*const takers[HTTP_KNOWN_COUNT])(struct head_facts *f, struct str value) = {
    [HTTP_KNOWN_HOST] = on_host,
    [HTTP_KNOWN_CONTENT_LENGTH] = on_content_length,
    [HTTP_KNOWN_CONNECTION] = on_connection,
    [HTTP_KNOWN_TRANSFER_ENCODING] = on_transfer_encoding,
    [HTTP_KNOWN_EXPECT] = on_expect,
    [HTTP_KNOWN_UPGRADE] = on_upgrade,
    [HTTP_KNOWN_HTTP2_SETTINGS] = on_http2_settings,
};

static bool parse_version(struct str version, struct http1_head *out, struct http_problem *problem)
{
    if (version.len != 8 || memcmp(version.ptr, "HTTP/", 5) != 0 || version.ptr[6] != '.' ||
        version.ptr[5] < '0' || version.ptr[5] > '9' || version.ptr[7] < '0' ||
        version.ptr[7] > '9') {
        return refuse(problem, 400, "the request line is not well-formed");
    }
    if (version.ptr[5] != '1') {
        return refuse(problem, 505, "the HTTP version is not supported");
    }
    out->protocol = version.ptr[7] == '0' ? HTTP_1_0 : HTTP_1_1;
    return true;
}

/* "GET /path HTTP/1.1": exactly one blank between the parts. */
static bool parse_request_line(struct str line, struct http1_head *out,
                               struct http_problem *problem)
{
    size_t method_len = http_field_token_len(line);
    const char *target = line.ptr + method_len + 1;
    const char *end = line.ptr + line.len;
    if (method_len == 0 || method_len + 1 >= line.len || line.ptr[method_len] != ' ') {
        return refuse(problem, 400, "the request line is not well-formed");
    }
    const char *blank = memchr(target, ' ', (size_t)(end - target));
    if (blank == NULL) {
        return refuse(problem, 400, "the request line is not well-formed");
    }
    out->method_name = str_from(line.ptr, method_len);
    out->target = str_from(target, (size_t)(blank - target));
    if (!parse_version(str_from(blank + 1, (size_t)(end - blank - 1)), out, problem)) {
        return false;
    }
    if (out->target.len == 0 || http_field_target_len(out->target) != out->target.len) {
        return refuse(problem, 400, "the request target is not well-formed");
    }
    if (str_eq(out->method_name, STR("CONNECT"))) {
        return refuse(problem, 501, "this server is not a proxy");
    }
    if (str_eq(out->target, STR("*")) && !str_eq(out->method_name, STR("OPTIONS"))) {
        return refuse(problem, 400, "the request target is not well-formed");
    }
    return true;
}

/* A line ends at the first byte that a value cannot contain, so finding the end and validating
 * the value are one step. */
size_t http1_head_line(struct str text, struct http_header *out, struct http_problem *problem)
{
    size_t name_len = http_field_token_len(text);
    CHECK(name_len < text.len);
    if (name_len == 0 && (text.ptr[0] == ' ' || text.ptr[0] == '\t')) {
        (void)refuse(problem, 400, "a header line is folded");
        return 0;
    }
    if (name_len == 0 || text.ptr[name_len] != ':') {
        (void)refuse(problem, 400, "a header name is not well-formed");
        return 0;
    }
    struct str rest = str_from_offset(text, name_len + 1);
    size_t value_len = http_field_value_len(rest);
    CHECK(value_len + 1 < rest.len);
    if (rest.ptr[value_len] != '\r' || rest.ptr[value_len + 1] != '\n') {
        (void)refuse(problem, 400, "a header value has a control byte");
        return 0;
    }
    out->name = str_from(text.ptr, name_len);
    out->value = http_field_trim(str_from(rest.ptr, value_len));
    return name_len + 1 + value_len + 2;
}

/* Record the position of the next header, and process it if it concerns the connection. */
static bool note_header(struct head_facts *f, const struct http_header *header)
{
    enum http_known known = http_known_of(header->name);
    if (known == HTTP_KNOWN_NONE) {
        return true;
    }
    http_known_note(f->head->known, known, f->head->header_count);
    return takers[known] == NULL || takers[known](f, header->value);
}

/* Check the headers in combination, and derive the results. */
static bool conclude(struct head_facts *f)
{
    struct http1_head *head = f->head;
    if (head->protocol == HTTP_1_1 && !f->has_host) {
        return refuse(f->problem, 400, "host is missing");
    }
    if (f->has_coding && f->has_length) {
        return refuse(f->problem, 400, "content-length and transfer-encoding cannot both be set");
    }
    if (f->has_coding && head->protocol == HTTP_1_0) {
        return refuse(f->problem, 400, "HTTP/1.0 has no transfer-encoding");
    }
    if (f->has_coding) {
        head->content_length = -1;
    }
    head->keep_alive = !f->says_close && (head->protocol == HTTP_1_1 || f->says_keep_alive);
    head->expect_continue &= head->protocol == HTTP_1_1 && head->content_length != 0;
    head->upgrade_h2c = head->protocol == HTTP_1_1 && f->wants_h2c && f->says_upgrade &&
                        f->says_settings && f->settings_count == 1;
    return true;
}

/* Remove the first line from text, without its line end, which the framing has verified. */
static struct str take_line(struct str *text)
{
    const char *lf = memchr(text->ptr, '\n', text->len);
    CHECK(lf != NULL);
    size_t len = (size_t)(lf - text->ptr) + 1;
    CHECK(len >= 2);
    struct str line = str_from(text->ptr, len - 2);
    *text = str_from_offset(*text, len);
    return line;
}

bool http1_head_parse(struct str text, struct http_header *headers, size_t header_max,
                      struct http_known_slots *known, struct http1_head *out,
                      struct http_problem *problem)
{
    *out = (struct http1_head){.headers = headers, .known = known};
    struct head_facts facts = {.head = out, .problem = problem};
    if (!parse_request_line(take_line(&text), out, problem)) {
        return false;
    }
    while (!str_eq(text, STR("\r\n"))) {
        if (out->header_count == header_max) {
            return refuse(problem, 431, "too many headers");
        }
        struct http_header *header = &headers[out->header_count];
        size_t len = http1_head_line(text, header, problem);
        if (len == 0 || !note_header(&facts, header)) {
            return false;
        }
        text = str_from_offset(text, len);
        out->header_count++;
    }
    return conclude(&facts);
}
