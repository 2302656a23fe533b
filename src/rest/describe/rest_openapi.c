/*
 * The OpenAPI 3.1 document, generated from the tables that the server itself uses.
 *
 * A route's row has the path, its parameters, the allowed roles and the responses. The table of its
 * body has the schema, with limits and defaults. The document therefore always matches the server.
 * The same tables give the same bytes.
 */
#include <stdio.h>

#include "base/check.h"
#include "base/limits.h"
#include "http/http_status.h"
#include "rest/describe/rest_answer_int.h"
#include "rest/describe/rest_schema_int.h"
#include "rest/rest_query_int.h"

struct openapi {
    struct json_write w;
    struct rest_schema_set *schemas;
};

/* Helpers */

static void text(struct openapi *o, const char *key, const char *value)
{
    rest_document__text(&o->w, key, str_from_z(value));
}

static void text_if(struct openapi *o, const char *key, const char *value)
{
    if (value != NULL) {
        text(o, key, value);
    }
}

static void open_object(struct openapi *o, const char *key)
{
    rest_document__object(&o->w, key);
}

static void open_array(struct openapi *o, const char *key)
{
    rest_document__array(&o->w, key);
}

static void end(struct openapi *o)
{
    json_write_end(&o->w);
}

static void reference(struct openapi *o, const char *kind, const char *name)
{
    char path[96];
    (void)snprintf(path, sizeof path, "#/components/%s/%s", kind, name);
    text(o, "$ref", path);
}

/* Paths */

#define BASE STR("/api/v1/")

static struct str below_base(const char *pattern)
{
    struct str path = str_from_z(pattern);
    return str_from_offset(path, str_starts_with(path, BASE) ? BASE.len : 1);
}

static struct str cut_segment(struct str *path)
{
    const char *slash = path->len == 0 ? NULL : memchr(path->ptr, '/', path->len);
    size_t len = slash == NULL ? path->len : (size_t)(slash - path->ptr);
    struct str segment = str_from(path->ptr, len);
    *path = str_from_offset(*path, slash == NULL ? len : len + 1);
    return segment;
}

static bool is_param(struct str segment)
{
    return segment.len > 2 && segment.ptr[0] == '{';
}

static struct str param_name(struct str segment)
{
    return str_from(segment.ptr + 1, segment.len - 2);
}

/* Patterns that differ only in the names of parameters are one path. */
static bool is_same_path(const struct rest_route *a, const struct rest_route *b)
{
    struct str x = str_from_z(a->pattern);
    struct str y = str_from_z(b->pattern);
    while (x.len > 0 && y.len > 0) {
        struct str left = cut_segment(&x);
        struct str right = cut_segment(&y);
        if (!(is_param(left) && is_param(right)) && !str_eq(left, right)) {
            return false;
        }
    }
    return x.len == y.len;
}

/* "GET" and "/api/v1/jobs/{id}" make "getJobsById"; "/healthz" makes "getRootHealthz". */
static void name_operation(const struct rest_route *r, char name[static REST_SCHEMA_NAME_MAX])
{
    struct str path = below_base(r->pattern);
    int n = snprintf(name, REST_SCHEMA_NAME_MAX, "%s", rest_router__method(r->method));
    CHECK(n > 0);
    for (char *p = name; *p != '\0'; p++) {
        *p = (char)(*p - 'A' + 'a');
    }
    if (!str_starts_with(str_from_z(r->pattern), BASE)) {
        rest_schema__add_camel(name, STR("root"));
    }
    while (path.len > 0) {
        struct str segment = cut_segment(&path);
        if (is_param(segment)) {
            rest_schema__add_camel(name, STR("by"));
        }
        rest_schema__add_camel(name, segment);
    }
}

static void name_schemas(struct openapi *o)
{
    for (size_t i = 0; i < rest_router__count(); i++) {
        const struct rest_route *r = rest_router__route(i);
        char operation[REST_SCHEMA_NAME_MAX];
        char name[REST_SCHEMA_NAME_MAX] = "";
        if (r->in != NULL) {
            name_operation(r, operation);
            rest_schema__add_camel(name, str_from_z(operation));
            rest_schema__add_camel(name, STR("request"));
            rest_schema__add(o->schemas, r->in, name);
        }
    }
}

/* Tags */

/* The tag of a route, by the first segment of its path. Other segments are tags themselves. */
static const struct {
    const char *segment;
    const char *tag;
} chapters[] = {
    {"enqueue", "producers"}, {"webhooks", "producers"},
    {"batch", "producers"},   {"fetch", "workers"},
    {"ack", "workers"},       {"fail", "workers"},
    {"heartbeat", "workers"}, {"workers", "workers"},
    {"healthz", "system"},    {"livez", "system"},
    {"readyz", "system"},     {"info", "system"},
    {"cluster", "system"},    {"metrics", "system"},
    {"debug", "system"},      {"openapi.json", "system"},
    {"docs", "system"},       {"corvo.v1.proto", "system"},
    {"", "system"},
};

static struct str tag_of(const struct rest_route *r)
{
    struct str path = below_base(r->pattern);
    struct str first = cut_segment(&path);
    for (size_t i = 0; i < COUNT_OF(chapters); i++) {
        if (str_eq(first, str_from_z(chapters[i].segment))) {
            return str_from_z(chapters[i].tag);
        }
    }
    return first;
}

static void write_tags(struct openapi *o)
{
    open_array(o, "tags");
    for (size_t i = 0; i < rest_router__count(); i++) {
        struct str tag = tag_of(rest_router__route(i));
        bool known = false;
        for (size_t before = 0; before < i && !known; before++) {
            known = str_eq(tag, tag_of(rest_router__route(before)));
        }
        if (!known) {
            json_write_object(&o->w);
            rest_document__text(&o->w, "name", tag);
            end(o);
        }
    }
    end(o);
}

/* Conditions on a route's row, in addition to its flags. */
enum { IF_NOT_OPEN = 1 << 16, IF_PARAMETERS = 1 << 17, IF_QUERY = 1 << 18 };

static bool has_any(const struct rest_route *r, unsigned wanted)
{
    unsigned flags = r->flags;
    flags |= (r->flags & ROUTE_OPEN) == 0 ? IF_NOT_OPEN : 0;
    flags |= strchr(r->pattern, '{') != NULL ? IF_PARAMETERS : 0;
    flags |= rest_router__query(r) != NULL ? IF_QUERY : 0;
    return (flags & wanted) != 0;
}

/* Responses */

/* Errors that occur before the handler is called. The route's row determines which ones apply. */
static const struct refusal {
    const char *name;
    int status;
    unsigned flags; /* any of these flags of the route */
    const char *description;
} refusals[] = {
    {"BadRequest", 400, ROUTE_BODY | ROUTE_STREAM | IF_QUERY | IF_NOT_OPEN,
     "Invalid body, parameter or namespace, or the operation is not allowed in the current state."},
    {"Unauthorized", 401, IF_NOT_OPEN, "Missing or invalid credential."},
    {"Forbidden", 403, IF_NOT_OPEN,
     "The caller's role or namespace does not allow this operation."},
    {"NotFound", 404, IF_PARAMETERS, "The resource does not exist, or the caller may not see it."},
    {"TooLarge", 413, ROUTE_BODY | ROUTE_STREAM,
     "The request body, or a part of it, is too large."},
    {"TooManyRequests", 429, IF_NOT_OPEN,
     "Rate limit exceeded, or the write pipeline is full. Retry-After tells when to try "
     "again."},
    {"Unavailable", 503, ROUTE_LEADER, "No leader is available."},
};

static void write_error_content(struct openapi *o)
{
    open_object(o, "content");
    open_object(o, "application/json");
    open_object(o, "schema");
    reference(o, "schemas", "Error");
    end(o);
    end(o);
    end(o);
}

/* Write the short form of one response: "{job_id, status}", "[queue]" or "job". */
static void write_one_shape(struct openapi *o, struct str shape)
{
    bool list = shape.ptr[0] == '[';
    struct str inner = list ? str_from(shape.ptr + 1, shape.len - 2) : shape;
    const struct rest_answer *answer = rest_answer__find(inner);
    if (list) {
        text(o, "type", "array");
        open_object(o, "items");
    }
    if (answer != NULL) {
        rest_answer__reference(&o->w, answer);
    } else {
        text(o, "type", "object");
        rest_document__text(&o->w, "title", inner);
    }
    if (list) {
        end(o);
    }
}

/* The same, or alternatives: "job | {jobs}". */
static void write_shape(struct openapi *o, struct str shape)
{
    struct str rest = shape;
    struct str first = str_trim(str_cut(&rest, '|'));
    if (rest.len == 0) {
        write_one_shape(o, first);
        return;
    }
    open_array(o, "anyOf");
    while (shape.len > 0) {
        json_write_object(&o->w);
        write_one_shape(o, str_trim(str_cut(&shape, '|')));
        end(o);
    }
    end(o);
}

#define ANY_MEDIA STR("*/*")

static bool is_media_type(struct str shape)
{
    return str_starts_with(shape, STR("text/")) || str_eq(shape, ANY_MEDIA);
}

static void write_media(struct openapi *o, struct str shape)
{
    json_write_key(&o->w, is_media_type(shape) ? shape : STR("application/json"));
    json_write_object(&o->w);
    open_object(o, "schema");
    if (!is_media_type(shape)) {
        write_shape(o, shape);
    } else if (!str_eq(shape, ANY_MEDIA)) {
        text(o, "type", "string");
    }
    end(o);
    end(o);
}

/* The last alternative may be a media type: "{from, to} | text/csv". */
static void write_content(struct openapi *o, struct str shape)
{
    const char *bar = memrchr(shape.ptr, '|', shape.len);
    struct str before = bar == NULL ? shape : str_from(shape.ptr, (size_t)(bar - shape.ptr));
    struct str last = str_trim(str_from_offset(shape, bar == NULL ? 0 : before.len + 1));
    bool two = bar != NULL && is_media_type(last);
    open_object(o, "content");
    write_media(o, two ? str_trim(before) : shape);
    if (two) {
        write_media(o, last);
    }
    end(o);
}

static void write_answer(struct openapi *o, struct str status, struct str shape)
{
    int64_t code = 0;
    bool digits = str_to_i64(status, &code);
    CHECK(digits);
    bool good = code >= 200 && code < 300;
    bool named = shape.len > 0 && shape.ptr[0] != '{' && shape.ptr[0] != '[';
    json_write_key(&o->w, status);
    json_write_object(&o->w);
    json_write_key(&o->w, STR("description"));
    json_write_str(&o->w, named && !is_media_type(shape) ? shape : http_status_reason((int)code));
    if (good && code != 204 && shape.len > 0) {
        write_content(o, shape);
    } else if (code >= 400) {
        write_error_content(o);
    }
    end(o);
}

/* Where the next answer begins: behind a comma that a status follows. */
static size_t answer_len(struct str s)
{
    for (size_t i = 0; i + 3 < s.len; i++) {
        if (s.ptr[i] == ',' && s.ptr[i + 2] >= '2' && s.ptr[i + 2] <= '5') {
            return i;
        }
    }
    return s.len;
}

static void write_answers(struct openapi *o, const struct rest_route *r)
{
    struct str rest = str_from_z(r->answer);
    struct str all = rest;
    open_object(o, "responses");
    while (rest.len > 0) {
        size_t len = answer_len(rest);
        struct str one = str_from(rest.ptr, len);
        CHECK(one.len >= 3);
        write_answer(o, str_from(one.ptr, 3), str_trim(str_from_offset(one, 3)));
        rest = str_trim(str_from_offset(rest, len < rest.len ? len + 1 : len));
    }
    for (size_t i = 0; i < COUNT_OF(refusals); i++) {
        char status[8];
        (void)snprintf(status, sizeof status, "%d", refusals[i].status);
        if (has_any(r, refusals[i].flags) && strstr(all.ptr, status) == NULL) {
            open_object(o, status);
            reference(o, "responses", refusals[i].name);
            end(o);
        }
    }
    open_object(o, "default");
    reference(o, "responses", "Error");
    end(o);
    end(o);
}

/* Operations */

/* The description of a path parameter, by the pattern up to it. */
static const struct place {
    const char *pattern;
    const char *description;
    int64_t max_bytes; /* 0: the rest of the path, possibly empty */
} places[] = {
    {"/api/v1/jobs/{id}", "Job ID.", LIMIT_NAME_BYTES},
    {"/api/v1/ack/{job_id}", "Job ID.", LIMIT_NAME_BYTES},
    {"/api/v1/fail/{job_id}", "Job ID.", LIMIT_NAME_BYTES},
    {"/api/v1/batch/{id}", "Batch ID.", LIMIT_NAME_BYTES},
    {"/api/v1/bulk/{id}", "Bulk operation ID.", LIMIT_NAME_BYTES},
    {"/api/v1/queues/{name}", "Queue name. Encode a '/' as %2F.", LIMIT_QUEUE_NAME_BYTES},
    {"/api/v1/schedules/{id}", "Schedule ID.", LIMIT_NAME_BYTES},
    {"/api/v1/cluster/nodes/{id}", "Node name.", LIMIT_NAME_BYTES},
    {"/api/v1/approval-policies/{id}", "Approval policy ID.", LIMIT_NAME_BYTES},
    {"/api/v1/markers/{id}", "Marker ID.", LIMIT_ACCESS_NAME_BYTES},
    {"/api/v1/auth/keys/{key_hash}", "SHA-256 of a key's secret, in hex.", LIMIT_NAME_BYTES},
    {"/api/v1/auth/keys/{key_hash}/roles/{role}", "Name of a custom role.", LIMIT_NAME_BYTES},
    {"/api/v1/auth/roles/{name}", "Name of a custom role.", LIMIT_NAME_BYTES},
    {"/api/v1/auth/sessions/{id}", "Session ID.", LIMIT_NAME_BYTES},
    {"/api/v1/namespaces/{name}", "Namespace name.", LIMIT_NAMESPACE_BYTES},
    {"/api/v1/org/members/{id}", "Member ID.", LIMIT_NAME_BYTES},
    {"/api/v1/org/api-keys/{id}", "Organization key ID.", LIMIT_NAME_BYTES},
    {"/api/v1/budgets/{scope}", "Scope: queue, tag or global.", LIMIT_NAME_BYTES},
    {"/api/v1/budgets/{scope}/{target}", "Queue name, tag as key=value, or *.", LIMIT_NAME_BYTES},
    {"/api/v1/webhooks/{queue}", "Queue name; for DELETE, the webhook ID. Encode a '/' as %2F.",
     LIMIT_QUEUE_NAME_BYTES},
    {"/jobs/{id}", "Scheduled-DB job ID.", LIMIT_NAME_BYTES},
    {"/docs/guide/{path}", "File of the guide.", 0},
    {"/ui/{path}", "File of the web interface. Every other path returns the interface itself.", 0},
};

static const struct place other_place = {
    .description = "Encode a '/' as %2F.",
    .max_bytes = LIMIT_NAME_BYTES,
};

static const struct place *find_place(const char *pattern, struct str rest)
{
    size_t len = strlen(pattern) - rest.len;
    len -= len > 0 && pattern[len - 1] == '/' ? 1 : 0;
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        if (str_eq(str_from_z(places[i].pattern), str_from(pattern, len))) {
            return &places[i];
        }
    }
    return &other_place;
}

/* Rows of the same path may use different names for a parameter; the first row's names are used. */
static void write_path_parameters(struct openapi *o, const struct rest_route *path)
{
    struct str rest = str_from_z(path->pattern);
    while (rest.len > 0) {
        struct str segment = cut_segment(&rest);
        if (!is_param(segment)) {
            continue;
        }
        const struct place *place = find_place(path->pattern, rest);
        json_write_object(&o->w);
        rest_document__text(&o->w, "name", param_name(segment));
        text(o, "in", "path");
        rest_document__bool(&o->w, "required", true);
        text(o, "description", place->description);
        open_object(o, "schema");
        text(o, "type", "string");
        if (place->max_bytes > 0) {
            rest_document__i64(&o->w, "minLength", 1);
            rest_document__i64(&o->w, "maxLength", place->max_bytes);
        }
        end(o);
        end(o);
    }
}

static void write_query_parameters(struct openapi *o, const struct json_schema *table)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct json_field *f = &table->fields[i];
        json_write_object(&o->w);
        text(o, "name", f->name);
        text(o, "in", "query");
        rest_document__bool(&o->w, "required", (f->flags & JSON_REQUIRED) != 0);
        rest_schema__describe(&o->w, f);
        if (f->kind == JSON_KIND_STRS) {
            text(o, "style", "form");
            rest_document__bool(&o->w, "explode", (f->flags & REST_QUERY_COMMAS) == 0);
        }
        open_object(o, "schema");
        rest_schema__field(&o->w, table, f);
        end(o);
        end(o);
    }
}

/* Headers that routes take. */
static const struct header_parameter {
    const char *component;
    unsigned flags; /* any of these flags of the route */
    const char *name;
    const char *description;
    const char *pattern;
    int64_t max_bytes;
} header_parameters[] = {
    {"Namespace", IF_NOT_OPEN, "X-Corvo-Namespace",
     "Namespace of the request. The default namespace if absent.",
     "^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)?$", LIMIT_NAMESPACE_BYTES},
    {"IdempotencyKey", ROUTE_KEY, "Idempotency-Key",
     "A repeated request with the same key and body within a day returns the first response and "
     "enqueues nothing. The same key with another body is refused.",
     NULL, LIMIT_IDEMPOTENCY_KEY_BYTES},
    {"ApiGeneration", ROUTE_GENERATION, "X-Corvo-Api",
     "2: a duplicate returns 409 with unique_job_id, and numeric priorities are urgencies from 0 "
     "to "
     "100, in requests and responses.",
     "^[12]?$", 1},
};

static void write_parameters(struct openapi *o, const struct rest_route *r,
                             const struct rest_route *path)
{
    const struct json_schema *query = rest_router__query(r);
    open_array(o, "parameters");
    write_path_parameters(o, path);
    if (query != NULL) {
        write_query_parameters(o, query);
    }
    for (size_t i = 0; i < COUNT_OF(header_parameters); i++) {
        if (has_any(r, header_parameters[i].flags)) {
            json_write_object(&o->w);
            reference(o, "parameters", header_parameters[i].component);
            end(o);
        }
    }
    end(o);
}

static void write_body(struct openapi *o, const struct rest_route *r)
{
    if ((r->flags & (ROUTE_BODY | ROUTE_STREAM)) == 0) {
        return;
    }
    open_object(o, "requestBody");
    rest_document__bool(&o->w, "required", r->in != NULL && (r->flags & ROUTE_BODY_EMPTY) == 0);
    open_object(o, "content");
    open_object(o, r->in != NULL ? "application/json" : "*/*");
    open_object(o, "schema");
    if (r->in != NULL) {
        rest_schema__reference(o->schemas, &o->w, r->in);
    }
    end(o);
    end(o);
    end(o);
    end(o);
}

static void write_roles(struct openapi *o, const struct rest_route *r)
{
    static const struct {
        unsigned bit;
        const char *name;
    } roles[] = {{ROLE_ADMIN, "admin"},
                 {ROLE_OPERATOR, "operator"},
                 {ROLE_WORKER, "worker"},
                 {ROLE_READONLY, "readonly"}};
    open_array(o, "x-corvo-roles");
    for (size_t i = 0; i < COUNT_OF(roles); i++) {
        if ((r->roles & roles[i].bit) != 0) {
            json_write_str(&o->w, str_from_z(roles[i].name));
        }
    }
    end(o);
    rest_document__bool(&o->w, "x-corvo-leader", (r->flags & ROUTE_LEADER) != 0);
}

static void write_operation(struct openapi *o, const struct rest_route *r,
                            const struct rest_route *path)
{
    char name[REST_SCHEMA_NAME_MAX];
    char method[8];
    size_t len = 0;
    for (const char *p = rest_router__method(r->method); *p != '\0' && len + 1 < sizeof method;
         p++) {
        method[len++] = (char)(*p - 'A' + 'a');
    }
    json_write_key(&o->w, str_from(method, len));
    json_write_object(&o->w);
    name_operation(r, name);
    text(o, "operationId", name);
    open_array(o, "tags");
    json_write_str(&o->w, tag_of(r));
    end(o);
    text(o, "summary", r->doc);
    write_parameters(o, r, path);
    write_body(o, r);
    write_answers(o, r);
    if ((r->flags & ROUTE_OPEN) != 0) {
        open_array(o, "security");
        end(o);
    } else {
        write_roles(o, r);
    }
    end(o);
}

static bool is_first_of_path(size_t i)
{
    for (size_t before = 0; before < i; before++) {
        if (is_same_path(rest_router__route(before), rest_router__route(i))) {
            return false;
        }
    }
    return true;
}

static void write_paths(struct openapi *o)
{
    open_object(o, "paths");
    for (size_t i = 0; i < rest_router__count(); i++) {
        const struct rest_route *path = rest_router__route(i);
        if (!is_first_of_path(i)) {
            continue;
        }
        open_object(o, path->pattern);
        for (size_t j = i; j < rest_router__count(); j++) {
            if (is_same_path(path, rest_router__route(j))) {
                write_operation(o, rest_router__route(j), path);
            }
        }
        end(o);
    }
    end(o);
}

/* Components */

/* Error codes, without duplicates. */
struct codes {
    const char *at[2 * ERR_CODE_COUNT];
    size_t count;
};

static void add_code(struct openapi *o, struct codes *codes, const char *word)
{
    for (size_t i = 0; i < codes->count; i++) {
        if (strcmp(codes->at[i], word) == 0) {
            return;
        }
    }
    CHECK(codes->count < COUNT_OF(codes->at));
    codes->at[codes->count++] = word;
    json_write_str(&o->w, str_from_z(word));
}

/* Write the error codes of handlers, and those of http/ for requests without a route. */
static void write_codes(struct openapi *o)
{
    struct codes codes = {.count = 0};
    open_array(o, "enum");
    for (unsigned i = 1; i < ERR_CODE_COUNT; i++) {
        add_code(o, &codes, err_wire((enum err_code)i));
    }
    for (int status = 400; status < 600; status++) {
        if (http_status_find_code(status) != NULL) {
            add_code(o, &codes, http_status_find_code(status));
        }
    }
    end(o);
}

static void write_error_schema(struct openapi *o)
{
    open_object(o, "Error");
    text(o, "type", "object");
    open_array(o, "required");
    json_write_str(&o->w, STR("error"));
    json_write_str(&o->w, STR("code"));
    end(o);
    open_object(o, "properties");
    open_object(o, "error");
    text(o, "type", "string");
    text(o, "description", "Error message for people.");
    end(o);
    open_object(o, "code");
    text(o, "type", "string");
    text(o, "description", "Error code for programs.");
    write_codes(o);
    end(o);
    open_object(o, "retry_after_ms");
    text(o, "type", "integer");
    text(o, "description", "With OVERLOADED: milliseconds to wait before trying again.");
    end(o);
    open_object(o, "unique_job_id");
    text(o, "type", "string");
    text(o, "description", "With CONFLICT: ID of the job that holds the unique key.");
    end(o);
    end(o);
    end(o);
}

static void write_error_responses(struct openapi *o)
{
    open_object(o, "responses");
    open_object(o, "Error");
    text(o, "description", "Any other error. See `code`.");
    write_error_content(o);
    end(o);
    for (size_t i = 0; i < COUNT_OF(refusals); i++) {
        open_object(o, refusals[i].name);
        text(o, "description", refusals[i].description);
        write_error_content(o);
        end(o);
    }
    end(o);
}

static void write_header_parameters(struct openapi *o)
{
    open_object(o, "parameters");
    for (size_t i = 0; i < COUNT_OF(header_parameters); i++) {
        const struct header_parameter *p = &header_parameters[i];
        open_object(o, p->component);
        text(o, "name", p->name);
        text(o, "in", "header");
        rest_document__bool(&o->w, "required", false);
        text(o, "description", p->description);
        open_object(o, "schema");
        text(o, "type", "string");
        text_if(o, "pattern", p->pattern);
        rest_document__i64(&o->w, "maxLength", p->max_bytes);
        end(o);
        end(o);
    }
    end(o);
}

/* The credential can be sent in three places. */
static const struct {
    const char *name, *type, *in, *parameter, *scheme, *description;
} credentials[] = {
    {"apiKey", "apiKey", "header", "X-API-Key", NULL, "API key or admin password."},
    {"bearer", "http", NULL, NULL, "bearer",
     "API key, admin password or single sign-on token, sent as a bearer token."},
    {"cookie", "apiKey", "cookie", "corvo_api_key", NULL,
     "API key or admin password for browsers, percent-encoded."},
};

static void write_security(struct openapi *o)
{
    open_object(o, "securitySchemes");
    for (size_t i = 0; i < COUNT_OF(credentials); i++) {
        open_object(o, credentials[i].name);
        text(o, "type", credentials[i].type);
        text_if(o, "in", credentials[i].in);
        text_if(o, "name", credentials[i].parameter);
        text_if(o, "scheme", credentials[i].scheme);
        text(o, "description", credentials[i].description);
        end(o);
    }
    end(o);
}

static void write_components(struct openapi *o)
{
    open_object(o, "components");
    open_object(o, "schemas");
    write_error_schema(o);
    rest_answer__write(&o->w);
    rest_schema__write(o->schemas, &o->w);
    end(o);
    write_error_responses(o);
    write_header_parameters(o);
    write_security(o);
    end(o);
}

static void write_info(struct openapi *o, const char *version)
{
    open_object(o, "info");
    text(o, "title", "Corvo");
    text(o, "version", version);
    text(
        o, "description",
        "Durable background jobs over HTTP. Request and response bodies are JSON. Unknown "
        "members are ignored. Unless noted otherwise, null means the same as leaving the member "
        "out. "
        "Errors are objects with a message (`error`) and a code (`code`). Authenticate with an API "
        "key, "
        "the admin password or a session. A server without credentials accepts only local clients, "
        "unless it was started with --open-access. `x-corvo-roles` lists the roles that may call "
        "an operation.");
    end(o);
    open_array(o, "servers");
    json_write_object(&o->w);
    text(o, "url", "/");
    end(o);
    end(o);
    open_array(o, "security");
    for (size_t i = 0; i < COUNT_OF(credentials); i++) {
        json_write_object(&o->w);
        open_array(o, credentials[i].name);
        end(o);
        end(o);
    }
    end(o);
}

void rest_openapi__write(const char *version, struct buf *out)
{
    struct openapi o = {.w = json_write_to(out), .schemas = rest_schema__new()};
    name_schemas(&o);
    json_write_object(&o.w);
    text(&o, "openapi", "3.1.0");
    write_info(&o, version);
    write_tags(&o);
    write_paths(&o);
    write_components(&o);
    end(&o);
    json_write_finish(&o.w);
    buf_add_char(out, '\n');
    rest_schema__free(o.schemas);
}
