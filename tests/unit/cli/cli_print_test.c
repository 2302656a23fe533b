#include "cli/cli_complete.h"
#include "cli/cli_man.h"
#include "cli/cli_progress.h"
#include "cli/cli_time.h"
#include "lib/test.h"
#include "unit/cli/cli_kit.h"

static void indent__lays_out_any_json(void **state)
{
    (void)state;
    static const struct {
        const char *json, *laid_out;
    } rows[] = {
        {"1", "1"},
        {"{}", "{}"},
        {" [ ] ", "[]"},
        {"[1,2]", "[\n  1,\n  2\n]"},
        {"{\"a\":{\"b\":[]}}", "{\n  \"a\": {\n    \"b\": []\n  }\n}"},
        {"{\"a\":\"x,{[:\\\"]}\",\"b\":null}", "{\n  \"a\": \"x,{[:\\\"]}\",\n  \"b\": null\n}"},
        {"{\n\t\"n\" : 12345678901234567890 }", "{\n  \"n\": 12345678901234567890\n}"},
        {"\"\\\\\"", "\"\\\\\""},
        {"[[],[[]],{}]", "[\n  [],\n  [\n    []\n  ],\n  {}\n]"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf b;
        ROW(rows[i].json);
        buf_init(&b, 1 << 16);
        cli_json_indent(&b, str_from_z(rows[i].json));
        expect_str(buf_str(&b), str_from_z(rows[i].laid_out));
        buf_deinit(&b);
    }
}

static void relative__uses_the_largest_unit(void **state)
{
    (void)state;
    static const struct {
        int64_t s;
        const char *text;
    } rows[] = {
        {0, "now"},         {-1, "1s ago"},    {-59, "59s ago"},           {-60, "1m ago"},
        {-3599, "59m ago"}, {-3600, "1h ago"}, {-86399, "23h ago"},        {-86400, "1d ago"},
        {5, "in 5s"},       {600, "in 10m"},   {-400 * 86400, "400d ago"},
    };
    struct wall now = {.ns = 1800000000LL * NS_PER_S};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char out[CLI_TIME_TEXT_MAX];
        ROW(rows[i].text);
        size_t len = cli_time_relative((struct wall){now.ns + rows[i].s * NS_PER_S}, now, out);
        expect_str(str_from(out, len), str_from_z(rows[i].text));
    }
    char out[CLI_TIME_TEXT_MAX];
    assert_true(cli_time_relative((struct wall){INT64_MAX}, (struct wall){-5}, out) > 0);
}

static void bar__is_as_full_as_the_work(void **state)
{
    (void)state;
    static const struct {
        int64_t done, total;
        const char *bar;
    } rows[] = {
        {0, 10, "[----------]   0%"},  {5, 10, "[#####-----]  50%"},
        {10, 10, "[##########] 100%"}, {20, 10, "[##########] 100%"},
        {1, 0, "[----------]   0%"},   {INT64_MAX / 2, INT64_MAX, "[#####-----]  50%"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf b;
        ROW(rows[i].bar);
        buf_init(&b, 256);
        cli_progress_bar(&b, rows[i].done, rows[i].total, 10);
        expect_str(buf_str(&b), str_from_z(rows[i].bar));
        buf_deinit(&b);
    }
}

static void table__pads_by_characters_and_disarms_cells(void **state)
{
    (void)state;
    static const struct cli_column columns[] = {
        {"NAME", "name", CLI_SHOW_TEXT},
        {"N", "n|m", CLI_SHOW_TEXT},
        {"ON", "on", CLI_SHOW_YES},
        {"QUEUES", "queues", CLI_SHOW_LIST},
    };
    struct str rows[] = {
        STR("{\"name\":\"h\\u00e9llo\",\"n\":1,\"on\":true,\"queues\":\"[\\\"a\\\",\\\"b\\\"]\"}"),
        STR("{\"name\":\"a\\u001b[31m\",\"m\":22,\"on\":false,\"queues\":[\"c\"]}"),
        STR("{\"name\":null}"),
    };
    struct cli_kit k;
    cli_kit_open(&k);
    assert_int_equal(cli_kit_parse(&k, "queues"), ERR_OK);
    cli_call_table(&k.cli, columns, COUNT_OF(columns), rows, COUNT_OF(rows));
    expect_str(cli_kit_output(&k), STR("NAME    N   ON   QUEUES\n"
                                       "h\u00e9llo   1   yes  a,b\n"
                                       "a?[31m  22       c\n"
                                       "-       -        -\n"));
    cli_kit_close(&k);
}

static void pattern__has_arguments_and_members(void **state)
{
    (void)state;
    struct cli_kit k;
    cli_kit_open(&k);
    assert_int_equal(cli_kit_parse(&k, "move job-1 there"), ERR_OK);
    cli_print_pattern(&k.cli, k.cli.out, "{0} to {1}: {status} {a.b}{none} {",
                      STR("{\"status\":\"ok\",\"a\":{\"b\":[1]}}"));
    expect_str(cli_kit_output(&k), STR("job-1 to there: ok [1] {"));
    cli_kit_close(&k);
}

static void complete__offers_what_fits(void **state)
{
    (void)state;
    static const struct {
        const char *line; /* '.' at the end is an empty last word */
        const char *first, *not_there;
    } rows[] = {
        {"que", "queues\t", "enqueue"},
        {"budget .", "list\t", "enqueue"},
        {"budget s", "set\t", "list"},
        {"help budget s", "set\t", "list"},
        {"search --ord", "--order\t", "--output"},
        {"search --order .", "asc\t", "--"},
        {"search --server .", "", "asc"},
        {"pause .", "", "pause"}, /* completes queue names on the server */
    };
    static char nobody[] = "CORVO_URL=http://127.0.0.1:1";
    static char *environment[] = {nobody, NULL};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cli_kit k;
        char text[128];
        char *words[8];
        int count = 0;
        ROW(rows[i].line);
        cli_kit_open(&k);
        k.cli.environment = environment;
        (void)snprintf(text, sizeof text, "%s", rows[i].line);
        char *rest = NULL;
        for (char *w = strtok_r(text, " ", &rest); w != NULL; w = strtok_r(NULL, " ", &rest)) {
            w[0] = (char)(w[0] == '.' ? '\0' : w[0]);
            words[count++] = w;
        }
        cli_complete_words(&k.cli, count, words);
        struct str out = cli_kit_output(&k);
        assert_true(str_starts_with(out, str_from_z(rows[i].first)));
        assert_null(memmem(out.ptr, out.len, rows[i].not_there, strlen(rows[i].not_there)));
        if (rows[i].first[0] == '\0') {
            assert_int_equal(out.len, 0);
        }
        cli_kit_close(&k);
    }
}

/* The page has the whole name, as roff prints it: bold, and with each dash escaped. */
static void expect_on_page(struct str page, const char *name)
{
    struct buf bold;
    buf_init(&bold, 1 << 10);
    buf_printf(&bold, "\\fB\\-\\-");
    for (const char *p = name; *p != '\0'; p++) {
        buf_printf(&bold, *p == '-' ? "\\%c" : "%c", *p);
    }
    buf_printf(&bold, "\\fR");
    if (memmem(page.ptr, page.len, bold.ptr, bold.len) == NULL) {
        fail_msg("the page lacks --%s", name);
    }
    buf_deinit(&bold);
}

static void man__has_every_flag_of_every_command(void **state)
{
    (void)state;
    const struct cli_command *c;
    const struct cli_flag *f;
    for (size_t i = 0; (c = cli_table_at(i)) != NULL; i++) {
        struct cli_kit k;
        ROW(c->name);
        cli_kit_open(&k);
        cli_man_command(&k.cli, k.cli.out, c);
        struct str page = cli_kit_output(&k);
        assert_true(str_starts_with(page, STR(".TH \"corvo")));
        /* The page of a command that parses its own flags lists the settings instead. */
        bool parsed = (c->options & CLI_RAW) == 0;
        for (size_t n = 0; parsed && (f = cli_table_flag(c, n)) != NULL; n++) {
            expect_on_page(page, f->name);
            if (f->alias != NULL) {
                expect_on_page(page, f->alias);
            }
        }
        cli_kit_close(&k);
    }
}

TEST_GROUP(cli_print, cmocka_unit_test(indent__lays_out_any_json),
           cmocka_unit_test(relative__uses_the_largest_unit),
           cmocka_unit_test(bar__is_as_full_as_the_work),
           cmocka_unit_test(table__pads_by_characters_and_disarms_cells),
           cmocka_unit_test(pattern__has_arguments_and_members),
           cmocka_unit_test(complete__offers_what_fits),
           cmocka_unit_test(man__has_every_flag_of_every_command));
