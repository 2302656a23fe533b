#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/http_status.h"
#include "json/json_scan.h"
#include "lib/expect.h"
#include "lib/test.h"
#include "rest/describe/rest_answer_int.h"
#include "rest/rest_int.h"
#include "store/store_event.h"

static struct rest_openapi *openapi;
static struct str description; /* the document, written once for all tests */

static int setup(void **state)
{
    (void)state;
    openapi = rest_openapi__new("1.2.3");
    description = rest_openapi__text(openapi);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rest_openapi__free(openapi);
    return 0;
}

static struct json_value member(struct str object, struct str name)
{
    struct json_value v;
    if (!json_scan_member(object, name, &v)) {
        fail_msg("there is no member " STR_FMT, STR_ARG(name));
    }
    return v;
}

static bool has(struct str object, const char *name)
{
    struct json_value v;
    return json_scan_member(object, str_from_z(name), &v);
}

static void expect_text(struct str object, const char *name, struct str text)
{
    struct json_value v = member(object, str_from_z(name));
    assert_int_equal(v.type, JSON_TYPE_STRING);
    assert_true(json_value_text_eq(v, text));
}

/* Return the object that a "#/…" reference points to. */
static struct str follow(struct str object)
{
    struct str reference = member(object, STR("$ref")).text;
    struct str at = description;
    reference = str_from(reference.ptr + 3, reference.len - 4); /* without "#/ and the last quote */
    while (reference.len > 0) {
        const char *slash = memchr(reference.ptr, '/', reference.len);
        size_t len = slash == NULL ? reference.len : (size_t)(slash - reference.ptr);
        at = member(at, str_from(reference.ptr, len)).text;
        reference = str_from_offset(reference, slash == NULL ? len : len + 1);
    }
    return at;
}

/* Are the paths the same, apart from the names of parameters? */
static bool is_same_path(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b) {
        bool param = *a == '{';
        a += param ? strcspn(a, "}") : 1;
        b += param ? strcspn(b, "}") : 1;
    }
    return *a == *b;
}

/* Return the path under which the route is described. If patterns differ only in the names of
 * parameters, it is the first of them. */
static struct str path_of(const struct rest_route *r)
{
    size_t i = 0;
    while (!is_same_path(rest_router__route(i)->pattern, r->pattern)) {
        i++;
    }
    return str_from_z(rest_router__route(i)->pattern);
}

static struct str operation_of(const struct rest_route *r)
{
    static const char *const methods[HTTP_METHOD_COUNT] = {
        [HTTP_GET] = "get", [HTTP_POST] = "post", [HTTP_PUT] = "put", [HTTP_DELETE] = "delete"};
    struct str paths = member(description, STR("paths")).text;
    struct str path = member(paths, path_of(r)).text;
    return member(path, str_from_z(methods[r->method])).text;
}

static void openapi__is_json_with_what_the_format_wants(void **state)
{
    struct err err;
    struct str all = description;
    (void)state;
    assert_int_equal(json_scan_check(all, &err), ERR_OK);
    expect_text(all, "openapi", STR("3.1.0"));
    expect_text(member(all, STR("info")).text, "version", STR("1.2.3"));
    assert_true(has(member(all, STR("info")).text, "title"));
}

static void openapi__is_the_same_every_time(void **state)
{
    (void)state;
    struct rest_openapi *again = rest_openapi__new("1.2.3");
    expect_str(rest_openapi__text(again), description);
    assert_ptr_equal(rest_openapi__text(openapi).ptr, description.ptr);
    rest_openapi__free(again);
}

static void openapi__lists_every_route(void **state)
{
    (void)state;
    for (size_t i = 0; i < rest_router__count(); i++) {
        const struct rest_route *r = rest_router__route(i);
        ROW(r->pattern);
        struct str operation = operation_of(r);
        expect_text(operation, "summary", str_from_z(r->doc));
        assert_true(r->doc[0] != '\0');
        assert_true(has(operation, "tags"));
        assert_true(has(operation, "parameters"));
        assert_int_equal(has(operation, "requestBody"),
                         (r->flags & (ROUTE_BODY | ROUTE_STREAM)) != 0);
        assert_int_equal(has(operation, "security"), (r->flags & ROUTE_OPEN) != 0);
        assert_int_equal(has(operation, "x-corvo-roles"), (r->flags & ROUTE_OPEN) == 0);
        struct str responses = member(operation, STR("responses")).text;
        assert_true(has(responses, "default"));
        char status[4] = {r->answer[0], r->answer[1], r->answer[2], '\0'};
        assert_true(has(member(responses, str_from_z(status)).text, "description"));
    }
}

static void openapi__names_every_operation_once(void **state)
{
    struct str *names = calloc(rest_router__count(), sizeof *names);
    (void)state;
    assert_non_null(names);
    for (size_t i = 0; i < rest_router__count(); i++) {
        names[i] = member(operation_of(rest_router__route(i)), STR("operationId")).text;
        for (size_t j = 0; j < i; j++) {
            assert_false(str_eq(names[i], names[j]));
        }
    }
    free(names);
}

static void openapi__describes_path_parameters(void **state)
{
    (void)state;
    for (size_t i = 0; i < rest_router__count(); i++) {
        const struct rest_route *r = rest_router__route(i);
        struct json_scan s = json_scan_from(member(operation_of(r), STR("parameters")).text);
        struct json_value v;
        unsigned in_path = 0;
        unsigned in_pattern = 0;
        ROW(r->pattern);
        assert_true(json_scan_enter_array(&s));
        while (json_scan_next_element(&s) && json_scan_value(&s, &v)) {
            if (has(v.text, "$ref")) {
                v.text = follow(v.text);
            }
            assert_true(has(v.text, "schema"));
            if (json_value_text_eq(member(v.text, STR("in")), STR("path"))) {
                in_path++;
                assert_false(json_value_text_eq(member(v.text, STR("description")),
                                                STR("Encode a '/' as %2F.")));
            }
        }
        for (const char *p = r->pattern; *p != '\0'; p++) {
            in_pattern += *p == '{' ? 1U : 0U;
        }
        assert_int_equal(in_path, in_pattern);
    }
}

/* Find the description of a query parameter by name. The text is empty if there is none. */
static struct str query_parameter(const struct rest_route *r, struct str name)
{
    struct json_scan s = json_scan_from(member(operation_of(r), STR("parameters")).text);
    struct json_value v;
    assert_true(json_scan_enter_array(&s));
    while (json_scan_next_element(&s) && json_scan_value(&s, &v)) {
        if (!has(v.text, "$ref") && json_value_text_eq(member(v.text, STR("in")), STR("query")) &&
            json_value_text_eq(member(v.text, STR("name")), name)) {
            return v.text;
        }
    }
    return STR_EMPTY;
}

/* Check that the description contains the field's limit. */
static void expect_limit(const struct json_field *f, struct str property)
{
    bool any = false;
    switch (f->kind) {
    case JSON_KIND_STR:
        any = has(property, "maxLength") || has(property, "x-corvo-cut-bytes") ||
              has(property, "enum") || has(property, "anyOf");
        break;
    case JSON_KIND_I64:
    case JSON_KIND_F64:
        any = has(property, "format");
        assert_true(f->min == INT64_MIN || has(property, "minimum"));
        break;
    case JSON_KIND_STRS:
    case JSON_KIND_OBJECTS:
        any = has(property, "maxItems") && has(property, "items");
        break;
    case JSON_KIND_WORD:
        any = has(property, "enum") || has(property, "anyOf");
        break;
    case JSON_KIND_DURATION:
        any = has(property, "pattern");
        break;
    case JSON_KIND_TIME:
        any = has(property, "format");
        break;
    case JSON_KIND_RAW:
        any = f->max == 0 || has(property, "x-corvo-max-bytes");
        break;
    case JSON_KIND_OBJECT:
        any = has(property, "$ref");
        break;
    case JSON_KIND_BOOL:
        any = true;
        break;
    case JSON_KIND_COUNT:
    default:
        break;
    }
    assert_true(any);
}

static void expect_fields(const struct json_schema *table, struct str schema)
{
    struct str properties = member(schema, STR("properties")).text;
    json_schema_check(table);
    for (size_t i = 0; i < table->count; i++) {
        const struct json_field *f = &table->fields[i];
        struct str property = member(properties, str_from(f->name, f->name_len)).text;
        ROW(f->name);
        struct json_value text = member(property, STR("description"));
        assert_true(text.text.len > 2);
        expect_limit(f, property);
        if (f->kind == JSON_KIND_OBJECT) {
            expect_fields(f->schema, follow(property));
        } else if (f->kind == JSON_KIND_OBJECTS) {
            expect_fields(f->schema, follow(member(property, STR("items")).text));
        }
    }
}

static void openapi__describes_every_field_with_its_limit(void **state)
{
    (void)state;
    for (size_t i = 0; i < rest_router__count(); i++) {
        const struct rest_route *r = rest_router__route(i);
        if (r->in == NULL) {
            continue;
        }
        ROW(r->pattern);
        struct str body = member(operation_of(r), STR("requestBody")).text;
        struct str content = member(body, STR("content")).text;
        struct str json = member(content, STR("application/json")).text;
        expect_fields(r->in, follow(member(json, STR("schema")).text));
    }
}

/* The table of a query is found by method and pattern, so each table must belong to a route. */
static void openapi__describes_every_query_parameter_with_its_limit(void **state)
{
    unsigned tables = 0;
    (void)state;
    for (size_t i = 0; i < rest_router__count(); i++) {
        const struct rest_route *r = rest_router__route(i);
        const struct json_schema *query = rest_router__query(r);
        if (query == NULL) {
            continue;
        }
        ROW(r->pattern);
        tables++;
        json_schema_check(query);
        for (size_t j = 0; j < query->count; j++) {
            const struct json_field *f = &query->fields[j];
            ROW(f->name);
            struct str parameter = query_parameter(r, str_from(f->name, f->name_len));
            bool required = (f->flags & JSON_REQUIRED) != 0;
            expect_str(member(parameter, STR("required")).text,
                       required ? STR("true") : STR("false"));
            assert_true(member(parameter, STR("description")).text.len > 2);
            expect_limit(f, member(parameter, STR("schema")).text);
            assert_int_equal(has(parameter, "explode"), f->kind == JSON_KIND_STRS);
        }
    }
    assert_int_equal(tables, rest_router__query_count());
}

static void openapi__says_what_absent_parameters_count_as(void **state)
{
    static const struct {
        const char *pattern, *name, *value;
    } rows[] = {
        {"/api/v1/cluster/events", "limit", "100"},
        {"/api/v1/dead", "sort", "\"failed_at\""},
        {"/api/v1/search/fulltext", "limit", "50"},
        {"/api/v1/usage/summary", "period", "\"24h\""},
        {"/api/v1/usage/summary", "group_by", "\"none\""},
        {"/api/v1/webhooks/{queue}", "priority", "\"normal\""},
        {"/api/v1/events", "tail", NULL},
    };
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        size_t at = 0;
        ROW(rows[i].pattern);
        while (strcmp(rest_router__route(at)->pattern, rows[i].pattern) != 0) {
            at++;
        }
        struct str parameter = query_parameter(rest_router__route(at), str_from_z(rows[i].name));
        struct str schema = member(parameter, STR("schema")).text;
        if (rows[i].value == NULL) {
            assert_false(has(schema, "default"));
        } else {
            expect_str(member(schema, STR("default")).text, str_from_z(rows[i].value));
        }
    }
}

static void openapi__says_what_absent_members_count_as(void **state)
{
    struct str schemas = member(member(description, STR("components")).text, STR("schemas")).text;
    struct str enqueue =
        member(member(schemas, STR("PostEnqueueRequest")).text, STR("properties")).text;
    (void)state;
    expect_str(member(member(enqueue, STR("max_retries")).text, STR("default")).text, STR("3"));
    expect_text(member(enqueue, STR("priority")).text, "default", STR("normal"));
    expect_text(member(enqueue, STR("retry_base_delay")).text, "default", STR("5s"));
    assert_false(has(member(enqueue, STR("unique_key")).text, "default"));
}

static void expect_listed(struct str words, const char *word)
{
    char quoted[64];
    (void)snprintf(quoted, sizeof quoted, "\"%s\"", word);
    ROW(quoted);
    assert_non_null(memmem(words.ptr, words.len, quoted, strlen(quoted)));
}

static void openapi__knows_the_words_of_every_error(void **state)
{
    struct str schemas = member(member(description, STR("components")).text, STR("schemas")).text;
    struct str properties = member(member(schemas, STR("Error")).text, STR("properties")).text;
    struct str words = member(member(properties, STR("code")).text, STR("enum")).text;
    (void)state;
    for (int code = 1; code < ERR_CODE_COUNT; code++) {
        expect_listed(words, err_wire((enum err_code)code));
    }
    for (int status = 400; status < 600; status++) {
        if (http_status_find_code(status) != NULL) {
            expect_listed(words, http_status_find_code(status));
        }
    }
}

/* Constraints that handlers check themselves, because they return special error messages. */
static void openapi__tells_what_handlers_insist_on(void **state)
{
    static const struct {
        const char *schema, *property, *key, *value; /* no property: of the schema itself */
    } rows[] = {
        {"PostEnqueueRequest", NULL, "required", "[\"queue\"]"},
        {"PostEnqueueRequest", "queue", "minLength", "1"},
        {"PostEnqueueRequest", "tags", "type", "\"object\""},
        {"PostEnqueueRequest", "tags", "maxProperties", "64"},
        {"PostEnqueueRequestChain", "steps", "minItems", "2"},
        {"PostEnqueueRequestChain", "on_failure", "anyOf",
         "[{\"type\":\"string\"},{\"type\":\"object\",\"additionalProperties\":{}}]"},
        {"PostFetchRequest", NULL, "required", "[\"queues\"]"},
        {"PostFetchRequest", "queues", "minItems", "1"},
        {"PostAckBatchRequest", "acks", "maxItems", "512"},
        {"PostAckByJobIdRequest", "step_status", "enum", "[\"continue\",\"exit\"]"},
        {"PostJobsByIdMoveRequest", NULL, "required", "[\"queue\"]"},
        {"PostSchedulesRequest", NULL, "required", "[\"name\",\"queue\",\"cron\"]"},
        {"PutSchedulesByIdRequest", NULL, "required", NULL},
        {"PutSchedulesByIdRequest", "max_retries", "default", NULL},
        {"PostWebhooksRequest", "url", "pattern", "\"^https?://[^ /?#][^ ]*$\""},
        {"PostWebhooksRequest", "retry_limit", "maximum", "25"},
        {"PostQueuesByNameThrottleRequest", "rate", "minimum", "1"},
        {"PostQueuesByNameThrottleRequest", "rate", "maximum", "1000000"},
        {"PostApprovalPoliciesRequest", "mode", "enum", "[\"any\",\"all\"]"},
    };
    struct str schemas = member(member(description, STR("components")).text, STR("schemas")).text;
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].schema);
        struct str at = member(schemas, str_from_z(rows[i].schema)).text;
        if (rows[i].property != NULL) {
            ROW(rows[i].property);
            at = member(member(at, STR("properties")).text, str_from_z(rows[i].property)).text;
        }
        if (rows[i].value == NULL) {
            assert_false(has(at, rows[i].key));
        } else {
            expect_str(member(at, str_from_z(rows[i].key)).text, str_from_z(rows[i].value));
        }
    }
}

/* Is the answer without a schema: text, or the OpenAPI document itself? */
static bool is_plain(struct str shape)
{
    return str_starts_with(shape, STR("text/")) || str_eq(shape, STR("*/*")) ||
           str_eq(shape, STR("OpenAPI document"));
}

/* Check the schemas of an answer that has several forms. */
static void expect_each_typed(struct str schemas)
{
    struct json_scan s = json_scan_from(schemas);
    struct json_value v;
    unsigned count = 0;
    assert_true(json_scan_enter_array(&s));
    while (json_scan_next_element(&s) && json_scan_value(&s, &v)) {
        assert_true(has(follow(v.text), "properties"));
        count++;
    }
    assert_true(count > 1);
}

static void openapi__types_every_answer(void **state)
{
    (void)state;
    for (size_t i = 0; i < rest_router__count(); i++) {
        const struct rest_route *r = rest_router__route(i);
        if (str_starts_with(str_from_z(r->answer), STR("204"))) {
            continue; /* no body */
        }
        const char *end = strstr(r->answer, ", 2");
        end = end != NULL ? end : strstr(r->answer, ", 3");
        end = end != NULL ? end : strstr(r->answer, ", 4");
        end = end != NULL ? end : strstr(r->answer, ", 5");
        size_t len = end == NULL ? strlen(r->answer) : (size_t)(end - r->answer);
        struct str shape = str_from(r->answer + 4, len - 4);
        if (r->answer[0] != '2' || is_plain(shape)) {
            continue;
        }
        ROW(r->pattern);
        struct json_value schema;
        struct str response =
            member(member(operation_of(r), STR("responses")).text, str_from(r->answer, 3)).text;
        struct str content = member(response, STR("content")).text;
        schema = member(member(content, STR("application/json")).text, STR("schema"));
        const char *csv = memmem(shape.ptr, shape.len, " | text/csv", 11);
        if (csv != NULL) {
            assert_true(has(content, "text/csv"));
            shape.len = (size_t)(csv - shape.ptr);
        }
        if (memchr(shape.ptr, '|', shape.len) != NULL) {
            expect_each_typed(member(schema.text, STR("anyOf")).text);
            continue;
        }
        if (shape.ptr[0] == '[') {
            schema = member(schema.text, STR("items"));
        }
        assert_true(has(follow(schema.text), "properties"));
    }
}

static void expect_words(const char *document, const char *(*word)(unsigned i), unsigned count)
{
    struct str schemas = member(member(description, STR("components")).text, STR("schemas")).text;
    struct json_scan s =
        json_scan_from(member(member(schemas, str_from_z(document)).text, STR("enum")).text);
    struct json_value v;
    unsigned listed = 0;
    ROW(document);
    assert_true(json_scan_enter_array(&s));
    while (json_scan_next_element(&s) && json_scan_value(&s, &v)) {
        bool known = false;
        for (unsigned i = 0; i < count; i++) {
            known = known || json_value_text_eq(v, str_from_z(word(i)));
        }
        assert_true(known);
        listed++;
    }
    assert_int_equal(listed, count);
}

static const char *state_word(unsigned i)
{
    return job_state_name((enum job_state)i);
}

static const char *event_word(unsigned i)
{
    return store_event_word((enum store_event_type)(i + 1));
}

static void openapi__knows_the_words_of_states_and_events(void **state)
{
    (void)state;
    expect_words("JobState", state_word, JOB_STATE_COUNT);
    expect_words("EventType", event_word, STORE_EVENT_TYPE_LAST);
}

TEST_GROUP_ONE_THREAD(rest_openapi, setup, teardown,
                      cmocka_unit_test(openapi__is_json_with_what_the_format_wants),
                      cmocka_unit_test(openapi__is_the_same_every_time),
                      cmocka_unit_test(openapi__lists_every_route),
                      cmocka_unit_test(openapi__names_every_operation_once),
                      cmocka_unit_test(openapi__describes_path_parameters),
                      cmocka_unit_test(openapi__describes_every_field_with_its_limit),
                      cmocka_unit_test(openapi__describes_every_query_parameter_with_its_limit),
                      cmocka_unit_test(openapi__says_what_absent_parameters_count_as),
                      cmocka_unit_test(openapi__says_what_absent_members_count_as),
                      cmocka_unit_test(openapi__knows_the_words_of_every_error),
                      cmocka_unit_test(openapi__tells_what_handlers_insist_on),
                      cmocka_unit_test(openapi__types_every_answer),
                      cmocka_unit_test(openapi__knows_the_words_of_states_and_events));
