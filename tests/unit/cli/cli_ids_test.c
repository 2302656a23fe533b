#include "cli/commands/cli_ids.h"

#include "cli/cli_sse.h"
#include "lib/expect.h"
#include "lib/test.h"

static void ids__are_found_in_every_form(void **state)
{
    (void)state;
    static const struct {
        const char *text, *ids; /* joined with commas */
    } rows[] = {
        {"", ""},
        {" \n \n", ""},
        {"job_a\n", "job_a"},
        {"job_a\n\n  job_b  \r\njob_c", "job_a,job_b,job_c"},
        {"[\"job_a\",\"job_b\"]", "job_a,job_b"},
        {"[]", ""},
        {"[{\"id\":\"job_a\",\"queue\":\"q\"},{\"id\":\"job_b\"}]", "job_a,job_b"},
        {"{\"jobs\":[{\"id\":\"job_a\"}],\"total\":1}", "job_a"},
        {"{\"job_ids\":[\"job_a\",\"job_b\"]}", "job_a,job_b"},
        {"{\"jobs\":[],\"total\":0}", ""},
        {"{\"id\":\"job_a\"}\n{\"id\":\"job_b\"}\n", "job_a,job_b"},
        {"\"job_a\"\n\"job_\\u0062\"\n", "job_a,job_b"},
        {"{\n  \"jobs\": [\n    {\n      \"id\": \"job_a\"\n    }\n  ]\n}\n", "job_a"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena *arena = arena_new(1 << 20);
        struct cli_ids ids;
        struct err err;
        struct buf joined;
        ROW(rows[i].text);
        buf_init(&joined, 1024);
        assert_int_equal(cli_ids_read(str_from_z(rows[i].text), arena, &ids, &err), ERR_OK);
        for (size_t k = 0; k < ids.count; k++) {
            buf_add_str(&joined, k > 0 ? STR(",") : STR_EMPTY);
            buf_add_str(&joined, ids.id[k]);
        }
        expect_str(buf_str(&joined), str_from_z(rows[i].ids));
        buf_deinit(&joined);
        arena_free(arena);
    }
}

static void ids__of_another_form_are_refused(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "[1,2]",      "[{\"name\":\"x\"}]",      "{\"jobs\":7}", "{\"error\":\"no\"}",
        "[\"job_a\"", "{\"jobs\":[{\"id\":1}]}", "\"job_a\" 7",  "[\"job_a\"] oops",
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena *arena = arena_new(1 << 20);
        struct cli_ids ids;
        struct err err;
        ROW(rows[i]);
        assert_int_equal(cli_ids_read(str_from_z(rows[i]), arena, &ids, &err), ERR_VALIDATION);
        assert_true(err.msg[0] != '\0');
        arena_free(arena);
    }
}

static void ids__of_many_lines_are_all_kept(void **state)
{
    (void)state;
    struct arena *arena = arena_new(1 << 24);
    struct cli_ids ids;
    struct err err;
    struct buf text;
    buf_init(&text, 1 << 20);
    for (int i = 0; i < 5000; i++) {
        buf_printf(&text, "job_%d\n", i);
    }
    assert_int_equal(cli_ids_read(buf_str(&text), arena, &ids, &err), ERR_OK);
    assert_int_equal(ids.count, 5000);
    expect_str(ids.id[0], STR("job_0"));
    expect_str(ids.id[4999], STR("job_4999"));
    buf_deinit(&text);
    arena_free(arena);
}

/* Events */

static bool on_event(void *data, const struct cli_sse_event *event)
{
    struct buf *out = data;
    buf_printf(out, "<" STR_FMT "|" STR_FMT "|" STR_FMT ">", STR_ARG(event->id),
               STR_ARG(event->type), STR_ARG(event->data));
    return !str_eq(event->type, STR("stop"));
}

static void sse__gives_the_same_events_however_it_is_cut(void **state)
{
    (void)state;
    static const char stream[] = ":hello\n\nid: 1\nevent: a\ndata: {\"x\":1}\n\n"
                                 ":keepalive\n\n"
                                 "data: two\ndata: lines\n\n"
                                 "event: no data\n\n"
                                 "id:7\r\ndata:tight\r\n\r\nother: x\ndata\n\n"
                                 "id: 9\n\nid: 10\n" /* part of an incomplete frame */
                                 "data: unfinished\n";
    static const char want[] = "<1|a|{\"x\":1}><||two\nlines><7||tight><||>";
    size_t len = sizeof stream - 1;
    for (size_t cut = 0; cut <= len; cut++) {
        struct cli_sse sse;
        struct buf out;
        buf_init(&out, 4096);
        cli_sse_init(&sse, on_event, &out);
        assert_true(cli_sse_feed(&sse, str_from(stream, cut)));
        assert_true(cli_sse_feed(&sse, str_from(stream + cut, len - cut)));
        expect_str(buf_str(&out), str_from_z(want));
        assert_string_equal(sse.position, "9");
        cli_sse_deinit(&sse);
        buf_deinit(&out);
    }
}

static void sse__ends_when_told(void **state)
{
    (void)state;
    struct cli_sse sse;
    struct buf out;
    buf_init(&out, 4096);
    cli_sse_init(&sse, on_event, &out);
    assert_false(cli_sse_feed(&sse, STR("event: stop\ndata: x\n\ndata: more\n\n")));
    expect_str(buf_str(&out), STR("<|stop|x>"));
    cli_sse_deinit(&sse);
    buf_deinit(&out);
}

static void sse__forgets_half_a_frame_on_a_new_connection(void **state)
{
    (void)state;
    struct cli_sse sse;
    struct buf out;
    buf_init(&out, 4096);
    cli_sse_init(&sse, on_event, &out);
    assert_true(cli_sse_feed(&sse, STR("id: 3\ndata: lost\nda")));
    cli_sse_restart(&sse);
    assert_true(cli_sse_feed(&sse, STR("data: whole\n\n")));
    expect_str(buf_str(&out), STR("<||whole>"));
    cli_sse_deinit(&sse);
    buf_deinit(&out);
}

TEST_GROUP(cli_ids, cmocka_unit_test(ids__are_found_in_every_form),
           cmocka_unit_test(ids__of_another_form_are_refused),
           cmocka_unit_test(ids__of_many_lines_are_all_kept),
           cmocka_unit_test(sse__gives_the_same_events_however_it_is_cut),
           cmocka_unit_test(sse__ends_when_told),
           cmocka_unit_test(sse__forgets_half_a_frame_on_a_new_connection));
