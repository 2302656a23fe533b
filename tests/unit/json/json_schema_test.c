#include "json/json_schema.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/limits.h"
#include "lib/expect.h"
#include "lib/test.h"

/* One request with a member of every kind. */

enum colour { RED, GREEN, BLUE };

struct step {
    struct str queue;
    struct str payload;
    int64_t weight;
};

struct agent {
    int64_t iterations;
    double cost;
};

struct request {
    struct str queue;
    struct str note;
    int64_t priority;
    int64_t count;
    double ratio;
    bool enabled;
    struct str payload;
    struct str tags;
    enum colour colour;
    enum colour mood;
    int64_t delay_ms;
    struct wall at;
    struct str *names;
    size_t name_count;
    struct agent *agent;
    struct step *steps;
    size_t step_count;
    uint64_t set;
};

static enum err_code parse_duration(struct str text, int64_t *out_ms, struct err *err)
{
    if (!str_to_i64(text, out_ms)) {
        return err_set(err, ERR_VALIDATION, "'" STR_FMT "' is not a duration", STR_ARG(text));
    }
    return ERR_OK;
}

static enum err_code parse_time(struct str text, struct wall *out, struct err *err)
{
    if (!str_to_i64(text, &out->ns)) {
        return err_set(err, ERR_VALIDATION, "'" STR_FMT "' is not a time", STR_ARG(text));
    }
    return ERR_OK;
}

static const struct json_word colours[] = {
    {"red", RED}, {"green", GREEN}, {"blue", BLUE}, {NULL, 0}};

static const struct json_field step_rows[] = {
    JSON_STR(struct step, queue, 1, 8, JSON_REQUIRED, "Where it goes."),
    JSON_RAW(struct step, payload, 0, JSON_KEEP_NULL, "Any value."),
    JSON_I64(struct step, weight, 0, 9, 0, "How heavy."),
};
static const struct step step_init = {.payload = {"{}", 2}, .weight = 1};
static const struct json_schema step_schema =
    JSON_SCHEMA(struct step, step_rows, .init = &step_init);

static const struct json_field agent_rows[] = {
    JSON_I64(struct agent, iterations, 1, 1000, 0, "How often."),
    JSON_F64(struct agent, cost, 0, 100, 0, "How much."),
};
static const struct json_schema agent_schema = JSON_SCHEMA(struct agent, agent_rows);

static const struct json_field request_rows[] = {
    JSON_STR(struct request, queue, 1, 8, JSON_REQUIRED | JSON_NO_CONTROL, "Required text."),
    JSON_STR(struct request, note, 0, 5, JSON_CUT, "Cut text."),
    JSON_I64(struct request, priority, 0, 9, 0, "A number."),
    JSON_I64(struct request, count, 1, 512, JSON_CLAMP, "A number that is held at its top."),
    JSON_F64(struct request, ratio, -1, 1, 0, "Not an integer."),
    JSON_BOOL(struct request, enabled, 0, "Yes or no."),
    JSON_RAW(struct request, payload, 16, JSON_KEEP_NULL, "Any value."),
    JSON_RAW(struct request, tags, 0, JSON_ONLY_OBJECT, "An object."),
    JSON_WORD(struct request, colour, colours, 0, "A word."),
    JSON_WORD(struct request, mood, colours, JSON_OR_NUMBER, "A word or a number."),
    JSON_DURATION(struct request, delay_ms, "delay", parse_duration, 10, 1000, 0, "A duration."),
    JSON_TIME(struct request, at, parse_time, 0, "A time."),
    JSON_STRS(struct request, names, name_count, 0, 3, 4, 0, "Some texts."),
    JSON_OBJECT(struct request, agent, struct agent, &agent_schema, 0, "An object."),
    JSON_OBJECTS(struct request, steps, step_count, struct step, &step_schema, 1, 20, 0,
                 "Some objects."),
};
static const struct request request_init = {
    .priority = 2, .count = 1, .enabled = true, .colour = GREEN, .mood = BLUE, .delay_ms = 500};
static const struct json_schema request_schema =
    JSON_SCHEMA(struct request, request_rows, .init = &request_init, JSON_SET(struct request, set));
static const struct json_schema strict_schema =
    JSON_SCHEMA(struct request, request_rows, .flags = JSON_STRICT);

/* Rows of request_rows, as bits of `set`. */
enum { SET_QUEUE = 1 << 0, SET_PRIORITY = 1 << 2, SET_PAYLOAD = 1 << 6, SET_DELAY = 1 << 10 };

static struct arena *arena;

static int setup(void **state)
{
    (void)state;
    arena = arena_new(1 << 20);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static struct request decoded(const char *json)
{
    struct request r;
    struct err err = {0};
    enum err_code code = json_schema_decode(&request_schema, str_from_z(json), arena, &r, &err);
    if (code != ERR_OK) {
        fail_msg("%s: %s", json, err.msg);
    }
    return r;
}

static void decode__fills_every_kind(void **state)
{
    (void)state;
    struct request r =
        decoded("{\"queue\":\"mail\",\"note\":\"hi\",\"priority\":9,\"count\":7,\"ratio\":-0.5,"
                "\"enabled\":false,\"payload\":[1, 2],\"tags\":{\"a\":1},\"colour\":\"blue\","
                "\"mood\":\"red\",\"delay\":\"20\",\"at\":\"12345\",\"names\":[\"x\",\"\\u0079\"],"
                "\"agent\":{\"iterations\":3,\"cost\":1.25},"
                "\"steps\":[{\"queue\":\"s1\"},{\"queue\":\"s2\",\"payload\":null,\"weight\":4}]}");
    const double ratio = -0.5, cost = 1.25;
    expect_str(r.queue, STR("mail"));
    expect_str(r.note, STR("hi"));
    assert_int_equal(r.priority, 9);
    assert_int_equal(r.count, 7);
    assert_memory_equal(&r.ratio, &ratio, sizeof ratio);
    assert_false(r.enabled);
    expect_str(r.payload, STR("[1, 2]"));
    expect_str(r.tags, STR("{\"a\":1}"));
    assert_int_equal(r.colour, BLUE);
    assert_int_equal(r.mood, RED);
    assert_int_equal(r.delay_ms, 20);
    assert_int_equal(r.at.ns, 12345);
    assert_int_equal(r.name_count, 2);
    expect_str(r.names[0], STR("x"));
    expect_str(r.names[1], STR("y"));
    assert_non_null(r.agent);
    assert_int_equal(r.agent->iterations, 3);
    assert_memory_equal(&r.agent->cost, &cost, sizeof cost);
    assert_int_equal(r.step_count, 2);
    expect_str(r.steps[0].queue, STR("s1"));
    expect_str(r.steps[0].payload, STR("{}"));
    assert_int_equal(r.steps[0].weight, 1);
    expect_str(r.steps[1].payload, STR("null"));
    assert_int_equal(r.steps[1].weight, 4);
    assert_int_equal(r.set, (1 << COUNT_OF(request_rows)) - 1);
}

static void decode__leaves_what_is_absent_as_it_begins(void **state)
{
    (void)state;
    struct request r = decoded("{\"queue\":\"q\"}");
    assert_int_equal(r.set, SET_QUEUE);
    assert_int_equal(r.priority, 2);
    assert_true(r.enabled);
    assert_int_equal(r.colour, GREEN);
    assert_int_equal(r.delay_ms, 500);
    assert_null(r.payload.ptr);
    assert_null(r.agent);
    assert_int_equal(r.name_count, 0);
    assert_int_equal(r.step_count, 0);
}

static void decode__takes_null_for_absent_unless_it_is_kept(void **state)
{
    (void)state;
    struct request r = decoded(
        "{\"queue\":\"q\",\"note\":null,\"priority\":null,\"enabled\":null,\"payload\":null,"
        "\"tags\":null,\"colour\":null,\"delay\":null,\"at\":null,\"names\":null,\"agent\":null,"
        "\"steps\":null}");
    assert_int_equal(r.set, SET_QUEUE | SET_PAYLOAD);
    expect_str(r.payload, STR("null"));
    assert_int_equal(r.priority, 2);
    assert_int_equal(r.delay_ms, 500);
    assert_null(r.agent);
    assert_int_equal(r.step_count, 0);
}

static void decode__lets_the_last_of_a_repeated_key_win(void **state)
{
    (void)state;
    struct request r = decoded("{\"queue\":\"a\",\"priority\":3,\"names\":[\"x\",\"y\"],"
                               "\"steps\":[{\"queue\":\"s\"}],\"delay\":\"30\","
                               "\"queue\":\"b\",\"priority\":null,\"names\":[\"z\"],"
                               "\"steps\":null,\"delay\":\"\"}");
    expect_str(r.queue, STR("b"));
    assert_int_equal(r.priority, 2);
    assert_int_equal(r.name_count, 1);
    expect_str(r.names[0], STR("z"));
    assert_int_equal(r.step_count, 0);
    assert_null(r.steps);
    assert_int_equal(r.delay_ms, 500);
    assert_int_equal(r.set & (SET_PRIORITY | SET_DELAY), 0);
}

static void decode__passes_over_unknown_members_and_trailing_text(void **state)
{
    (void)state;
    struct request r = decoded(" {\"x\":{\"queue\":1},\"queue\":\"q\",\"y\":[[]],\"Queue\":7} ...");
    expect_str(r.queue, STR("q"));
    r = decoded("{\"qu\\u0065ue\":\"q\"}");
    expect_str(r.queue, STR("q"));
}

static void decode__forgives_where_the_row_says_so(void **state)
{
    (void)state;
    struct request r = decoded("{\"queue\":\"q\",\"note\":\"123\u00e9\u00e9\",\"count\":100000,"
                               "\"colour\":\"\"}");
    expect_str(r.note, STR("123\u00e9")); /* cut between characters */
    assert_int_equal(r.count, 512);
    assert_int_equal(r.colour, GREEN);
    assert_int_equal(decoded("{\"queue\":\"q\",\"mood\":1}").mood, GREEN);
    expect_str(decoded("{\"queue\":\"q\",\"note\":\"123\\u00e9\\ud83d\\ude00\"}").note,
               STR("123\u00e9"));
}

static void decode__keeps_many_elements_in_order(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 4096);
    buf_add_str(&b, STR("{\"queue\":\"q\",\"steps\":["));
    for (int i = 0; i < 20; i++) {
        buf_printf(&b, "%s{\"queue\":\"s%d\"}", i == 0 ? "" : ",", i);
    }
    buf_add_str(&b, STR("]}"));
    struct request r;
    struct err err;
    assert_int_equal(json_schema_decode(&request_schema, buf_str(&b), arena, &r, &err), ERR_OK);
    assert_int_equal(r.step_count, 20);
    for (int i = 0; i < 20; i++) {
        char want[16];
        (void)snprintf(want, sizeof want, "s%d", i);
        expect_str(r.steps[i].queue, str_from_z(want));
    }
    buf_deinit(&b);
}

static const struct {
    const char *json;
    enum err_code code;
    const char *message;
} refused[] = {
    {"", ERR_PARSE, "invalid JSON at byte 0: unexpected end of the text"},
    {"nonsense", ERR_PARSE, "invalid JSON at byte 0: expected a value"},
    {"null", ERR_PARSE, "expected an object, got null"},
    {"[]", ERR_PARSE, "expected an object, got an array"},
    {"{\"queue\":\"q\"", ERR_PARSE, "invalid JSON at byte 12: unexpected end of the text"},
    {"{\"queue\":\"q\",}", ERR_PARSE, "invalid JSON at byte 13: expected a key"},
    {"{\"queue\":\"q\",\"x\":[1}", ERR_PARSE, "invalid JSON at byte 19: ',' or ']' expected"},
    {"{\"queue\":\"q\",\"names\":[\"a\"", ERR_PARSE,
     "invalid JSON at byte 25: unexpected end of the text"},
    {"{\"queue\":\"q\",\"priority\":tru}", ERR_PARSE, "invalid JSON at byte 24: expected a value"},
    {"{}", ERR_VALIDATION, "queue is required"},
    {"{\"queue\":null}", ERR_VALIDATION, "queue is required"},
    {"{\"queue\":\"a\",\"queue\":null}", ERR_VALIDATION, "queue is required"},
    {"{\"queue\":\"\"}", ERR_VALIDATION, "queue is required"},
    {"{\"queue\":7}", ERR_PARSE, "queue: expected a string, got a number"},
    {"{\"queue\":\"123456789\"}", ERR_VALIDATION, "queue: expected 1 to 8 bytes, got 9"},
    {"{\"queue\":\"a\\nb\"}", ERR_VALIDATION, "queue: control characters are not allowed"},
    {"{\"queue\":\"q\",\"priority\":10}", ERR_VALIDATION, "priority: expected 0 to 9, got 10"},
    {"{\"queue\":\"q\",\"priority\":-1}", ERR_VALIDATION, "priority: expected 0 to 9, got -1"},
    {"{\"queue\":\"q\",\"priority\":1.5}", ERR_PARSE, "priority: expected an integer, got 1.5"},
    {"{\"queue\":\"q\",\"priority\":\"1\"}", ERR_PARSE,
     "priority: expected a number, got a string"},
    {"{\"queue\":\"q\",\"count\":0}", ERR_VALIDATION, "count: expected 1 to 512, got 0"},
    {"{\"queue\":\"q\",\"ratio\":1.5}", ERR_VALIDATION, "ratio: expected -1 to 1, got 1.5"},
    {"{\"queue\":\"q\",\"ratio\":1e999}", ERR_VALIDATION, "ratio: expected -1 to 1, got 1e999"},
    {"{\"queue\":\"q\",\"enabled\":1}", ERR_PARSE, "enabled: expected a boolean, got a number"},
    {"{\"queue\":\"q\",\"payload\":\"123456789012345\"}", ERR_TOO_LARGE,
     "payload too large: 17 bytes (max 16)"},
    {"{\"queue\":\"q\",\"tags\":[]}", ERR_PARSE, "tags: expected an object, got an array"},
    {"{\"queue\":\"q\",\"colour\":\"pink\"}", ERR_VALIDATION,
     "colour: expected red, green or blue, got 'pink'"},
    {"{\"queue\":\"q\",\"colour\":1}", ERR_PARSE, "colour: expected a string, got a number"},
    {"{\"queue\":\"q\",\"mood\":77}", ERR_VALIDATION,
     "mood: expected red, green or blue, got '77'"},
    {"{\"queue\":\"q\",\"mood\":1.5}", ERR_PARSE, "mood: expected a string, got a number"},
    {"{\"queue\":\"q\",\"delay\":\"x\"}", ERR_VALIDATION, "delay: 'x' is not a duration"},
    {"{\"queue\":\"q\",\"delay\":\"5\"}", ERR_VALIDATION,
     "delay: expected 10 to 1000 milliseconds, got 5"},
    {"{\"queue\":\"q\",\"delay\":5}", ERR_PARSE, "delay: expected a string, got a number"},
    {"{\"queue\":\"q\",\"at\":\"\"}", ERR_VALIDATION, "at: '' is not a time"},
    {"{\"queue\":\"q\",\"names\":\"a\"}", ERR_PARSE, "names: expected an array, got a string"},
    {"{\"queue\":\"q\",\"names\":[\"a\",2]}", ERR_PARSE,
     "names[1]: expected a string, got a number"},
    {"{\"queue\":\"q\",\"names\":[\"a\",null]}", ERR_PARSE,
     "names[1]: expected a string, got null"},
    {"{\"queue\":\"q\",\"names\":[\"12345\"]}", ERR_VALIDATION,
     "names[0]: expected at most 4 bytes, got 5"},
    {"{\"queue\":\"q\",\"names\":[\"a\",\"b\",\"c\",\"d\"]}", ERR_VALIDATION,
     "names: expected 0 to 3 elements, got more"},
    {"{\"queue\":\"q\",\"agent\":[]}", ERR_PARSE, "agent: expected an object, got an array"},
    {"{\"queue\":\"q\",\"agent\":{\"cost\":\"x\"}}", ERR_PARSE,
     "agent.cost: expected a number, got a string"},
    {"{\"queue\":\"q\",\"steps\":[]}", ERR_VALIDATION, "steps is required"},
    {"{\"queue\":\"q\",\"steps\":[7]}", ERR_PARSE, "steps[0]: expected an object, got a number"},
    {"{\"queue\":\"q\",\"steps\":[{\"queue\":\"a\"},{}]}", ERR_VALIDATION,
     "steps[1].queue is required"},
    {"{\"queue\":\"q\",\"steps\":[{\"queue\":\"a\"},{\"queue\":\"b\",\"weight\":12}]}",
     ERR_VALIDATION, "steps[1].weight: expected 0 to 9, got 12"},
};

static void decode__refuses_with_the_path(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        ROW(refused[i].json);
        struct request r;
        struct err err = {0};
        enum err_code code =
            json_schema_decode(&request_schema, str_from_z(refused[i].json), arena, &r, &err);
        assert_string_equal(err.msg, refused[i].message);
        assert_int_equal(code, refused[i].code);
    }
}

/* {"steps":[{"queue":"q",<name>:[[…]]}]} with a value nested that deep. */
static struct str nested(const char *name, size_t depth)
{
    struct buf b;
    buf_init(&b, 1 << 14);
    buf_printf(&b, "{\"steps\":[{\"queue\":\"q\",\"%s\":", name);
    for (size_t i = 0; i < 2 * depth; i++) {
        buf_add_char(&b, i < depth ? '[' : ']');
    }
    buf_add_str(&b, STR("}]}"));
    struct str text = arena_str(arena, buf_str(&b));
    buf_deinit(&b);
    return text;
}

/* A raw value has its own limit, wherever it is in the document. */
static void decode__limits_the_depth_of_raw_values(void **state)
{
    (void)state;
    struct steps {
        struct step *steps;
        size_t count;
    };
    static const struct json_field deep_rows[] = {
        JSON_STR(struct step, queue, 1, 8, JSON_REQUIRED, "Where it goes."),
        JSON_RAW(struct step, payload, 0, JSON_DEEP, "Any value."),
    };
    static const struct json_schema deep_schema = JSON_SCHEMA(struct step, deep_rows);
    static const struct json_field rows[2][1] = {
        {JSON_OBJECTS(struct steps, steps, count, struct step, &step_schema, 1, 20, 0, "Objects.")},
        {JSON_OBJECTS(struct steps, steps, count, struct step, &deep_schema, 1, 20, 0, "Objects.")},
    };
    static const struct json_schema schema = JSON_SCHEMA(struct steps, rows[0]);
    static const struct json_schema deep = JSON_SCHEMA(struct steps, rows[1]);
    enum { MOST = LIMIT_JSON_VALUE_DEPTH };
    struct steps out;
    struct err err = {0};
    assert_int_equal(json_schema_decode(&schema, nested("payload", MOST), arena, &out, &err),
                     ERR_OK);
    assert_int_equal(json_schema_decode(&schema, nested("payload", MOST + 1), arena, &out, &err),
                     ERR_VALIDATION);
    assert_string_equal(err.msg, "steps[0].payload: nested more than 512 deep");
    assert_int_equal(json_schema_decode(&deep, nested("payload", MOST + 1), arena, &out, &err),
                     ERR_OK);
    assert_int_equal(json_schema_decode(&schema, nested("other", MOST + 1), arena, &out, &err),
                     ERR_OK);
    assert_int_equal(
        json_schema_decode(&deep, nested("payload", LIMIT_JSON_DEPTH), arena, &out, &err),
        ERR_PARSE);
}

/* A message has the limits that clients are told, not those of the row. */
static void message__tells_the_limits_that_hold(void **state)
{
    (void)state;
    struct told {
        struct str queue;
        int64_t period, count;
    };
    static const struct json_field rows[] = {
        JSON_STR(struct told, queue, 0, 8, JSON_INSISTED, "A name.", .told_max = 4),
        JSON_I64(struct told, period, INT64_MIN, 9, 0, "Without a lower limit."),
        JSON_I64(struct told, count, -5, 9, 0, "Below 1 is refused later.", .told_min = 1),
    };
    static const struct json_schema schema = JSON_SCHEMA(struct told, rows);
    static const struct {
        const char *json, *message;
    } bad[] = {
        {"{\"queue\":\"123456789\"}", "queue: expected 1 to 4 bytes, got 9"},
        {"{\"period\":10}", "period: expected at most 9, got 10"},
        {"{\"count\":10}", "count: expected 1 to 9, got 10"},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct told out;
        struct err err;
        assert_int_equal(json_schema_decode(&schema, str_from_z(bad[i].json), arena, &out, &err),
                         ERR_VALIDATION);
        assert_string_equal(err.msg, bad[i].message);
    }
}

static void strict__refuses_unknown_members_and_trailing_text(void **state)
{
    (void)state;
    struct request r;
    struct err err;
    assert_int_equal(json_schema_decode(&strict_schema, STR("{\"queue\":\"q\"} "), arena, &r, &err),
                     ERR_OK);
    assert_int_equal(r.priority, 0); /* without .init, members are zero */
    assert_int_equal(
        json_schema_decode(&strict_schema, STR("{\"queue\":\"q\",\"quue\":1}"), arena, &r, &err),
        ERR_VALIDATION);
    assert_string_equal(err.msg, "unknown member \"quue\"");
    assert_int_equal(json_schema_decode(&strict_schema, STR("{\"queue\":\"q\"}{"), arena, &r, &err),
                     ERR_PARSE);
    assert_string_equal(err.msg, "invalid JSON at byte 13: unexpected text after the value");
}

static void decode__says_too_large_when_the_arena_is_full(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "{\"queue\":\"q\",\"agent\":{}}",
        "{\"queue\":\"q\",\"steps\":[{\"queue\":\"s\"}]}",
        "{\"queue\":\"q\",\"names\":[\"a\"]}",
        "{\"queue\":\"\\u0071\"}",
    };
    struct arena *none = arena_new(0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i]);
        struct request r;
        struct err err;
        assert_int_equal(json_schema_decode(&request_schema, str_from_z(rows[i]), none, &r, &err),
                         ERR_TOO_LARGE);
    }
    arena_free(none);
}

static void message__has_room_for_long_paths(void **state)
{
    (void)state;
    struct request r;
    struct err err;
    struct buf b;
    buf_init(&b, 4096);
    buf_add_str(&b, STR("{\"queue\":\"q\",\"colour\":\""));
    for (int i = 0; i < 1000; i++) {
        buf_add_str(&b, STR("\u00e9"));
    }
    buf_add_str(&b, STR("\"}"));
    assert_int_equal(json_schema_decode(&request_schema, buf_str(&b), arena, &r, &err),
                     ERR_VALIDATION);
    assert_true(str_is_utf8(str_from_z(err.msg)));
    assert_true(strlen(err.msg) < 100);
    buf_deinit(&b);
}

static void table__is_consistent_and_describes_itself(void **state)
{
    (void)state;
    json_schema_check(&request_schema);
    for (size_t i = 0; i < request_schema.count; i++) {
        const struct json_field *field = &request_schema.fields[i];
        assert_true(strlen(field->name) == field->name_len);
        assert_true(strlen(json_schema_kind_name(field->kind)) > 0);
    }
    assert_string_equal(request_schema.fields[10].name, "delay");
    assert_string_equal(json_schema_kind_name(JSON_KIND_DURATION), "duration");
}

struct pair {
    int64_t a;
    int64_t b;
};

static void check_a_repeated_name(void)
{
    static const struct json_field rows[] = {
        JSON_I64(struct pair, a, 0, 1, 0, "One."),
        JSON_I64(struct pair, a, 0, 1, 0, "Again."),
    };
    static const struct json_schema schema = JSON_SCHEMA(struct pair, rows);
    json_schema_check(&schema);
}

static void check_limits_that_nothing_meets(void)
{
    static const struct json_field rows[] = {JSON_I64(struct pair, a, 2, 1, 0, "One.")};
    static const struct json_schema schema = JSON_SCHEMA(struct pair, rows);
    json_schema_check(&schema);
}

static void check_a_row_without_a_doc(void)
{
    static const struct json_field rows[] = {JSON_I64(struct pair, a, 0, 1, 0, "")};
    static const struct json_schema schema = JSON_SCHEMA(struct pair, rows);
    json_schema_check(&schema);
}

static void check_a_required_row_behind_others(void)
{
    static const struct json_field rows[] = {
        JSON_I64(struct pair, a, 0, 1, 0, "One."),
        JSON_I64(struct pair, b, 0, 1, JSON_REQUIRED, "Two."),
    };
    static const struct json_schema schema = JSON_SCHEMA(struct pair, rows);
    json_schema_check(&schema);
}

static void table__that_contradicts_itself_stops_the_process(void **state)
{
    (void)state;
    static void (*const rows[])(void) = {
        check_a_repeated_name,
        check_limits_that_nothing_meets,
        check_a_row_without_a_doc,
        check_a_required_row_behind_others,
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        expect_abort(rows[i]);
    }
}

#define WITH_ARENA(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

TEST_GROUP(json_schema, WITH_ARENA(decode__fills_every_kind),
           WITH_ARENA(decode__leaves_what_is_absent_as_it_begins),
           WITH_ARENA(decode__takes_null_for_absent_unless_it_is_kept),
           WITH_ARENA(decode__lets_the_last_of_a_repeated_key_win),
           WITH_ARENA(decode__passes_over_unknown_members_and_trailing_text),
           WITH_ARENA(decode__forgives_where_the_row_says_so),
           WITH_ARENA(decode__keeps_many_elements_in_order),
           WITH_ARENA(decode__refuses_with_the_path),
           WITH_ARENA(decode__limits_the_depth_of_raw_values),
           WITH_ARENA(message__tells_the_limits_that_hold),
           WITH_ARENA(strict__refuses_unknown_members_and_trailing_text),
           WITH_ARENA(decode__says_too_large_when_the_arena_is_full),
           WITH_ARENA(message__has_room_for_long_paths),
           cmocka_unit_test(table__is_consistent_and_describes_itself),
           cmocka_unit_test(table__that_contradicts_itself_stops_the_process));
