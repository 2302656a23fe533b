#include "cli/top/cli_top_draw.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/expect.h"
#include "lib/test.h"

/* Everything that is needed to draw a frame. */
struct stage {
    struct cli_top_model model;
    struct cli_top_ui ui;
    struct cli_top_grid grid;
    struct cli_top_frame frame;
    struct buf text;
};

static const struct wall now = {1800000000LL * NS_PER_S};

static struct stage *stage_new(size_t queues)
{
    struct stage *s = calloc(1, sizeof *s);
    struct cli_top_sample sample = {.queue_count = queues};
    assert_non_null(s);
    cli_top_model_init(&s->model);
    cli_top_input_init(&s->ui, STR_EMPTY);
    buf_init(&s->text, 1 << 20);
    sample.queues = calloc(queues + 1, sizeof *sample.queues);
    assert_non_null(sample.queues);
    for (size_t i = 0; i < queues; i++) {
        (void)snprintf(sample.queues[i].name, sizeof sample.queues[i].name, "queue%03zu", i);
        sample.queues[i].counts[CLI_TOP_PENDING] = (int64_t)i;
    }
    cli_top_model_take(&s->model, &sample, (struct mono){0});
    cli_top_input_settle(&s->ui, &s->model);
    s->frame = (struct cli_top_frame){
        .model = &s->model, .ui = &s->ui, .server = "server", .since = now, .now = now};
    return s;
}

static void stage_free(struct stage *s)
{
    cli_top_model_deinit(&s->model);
    cli_top_input_deinit(&s->ui);
    cli_top_grid_deinit(&s->grid);
    buf_deinit(&s->text);
    free(s);
}

/* Draw the frame and return it as text. */
static const char *stage_draw(struct stage *s, int width, int height)
{
    cli_top_grid_init(&s->grid, width, height, false);
    cli_top_draw(&s->grid, &s->frame);
    buf_clear(&s->text);
    cli_top_grid_text(&s->grid, &s->text);
    buf_add_char(&s->text, '\0');
    return s->text.ptr;
}

static void stage_key(struct stage *s, int key)
{
    assert_int_equal(cli_top_input_key(&s->ui, &s->model, key), CLI_TOP_NOTHING);
}

static void grid__cuts_clips_and_disarms(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        struct cli_top_at at;
        const char *plain, *unicode;
    } rows[] = {
        {"hello", {0, 0, 10}, "hello\n", "hello\n"},
        {"hello", {0, 6, 10}, "      hel~\n", "      hel\u2026\n"},
        {"hello", {0, 0, 3}, "he~\n", "he\u2026\n"},
        {"hello", {0, 0, 0}, "", ""},
        {"hello", {0, 20, 5}, "", ""},
        {"hello", {7, 0, 5}, "", ""},
        {"a\033[31m\x7f", {0, 0, 10}, "a?[31m?\n", "a?[31m?\n"},
        {"a\xff"
         "b",
         {0, 0, 10},
         "a?b\n",
         "a?b\n"},
        {"h\u00e9llo", {0, 0, 10}, "h?llo\n", "h\u00e9llo\n"},
        {"\u65e5\u672c\u8a9e", {0, 0, 10}, "???\n", "\u65e5\u672c\u8a9e\n"},
        {"\u65e5\u672c\u8a9e", {0, 0, 4}, "???\n", "\u65e5\u2026\n"},
        {"\xc2\x9b"
         "2J",
         {0, 0, 10},
         "?2J\n",
         "?2J\n"},
    };
    const char *was = setlocale(LC_CTYPE, "C.UTF-8");
    assert_non_null(was);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        for (int unicode = 0; unicode < 2; unicode++) {
            struct cli_top_grid g = {.cells = NULL};
            struct buf b;
            ROW(rows[i].text);
            buf_init(&b, 1024);
            cli_top_grid_init(&g, 10, 2, unicode == 1);
            int used = cli_top_grid_put(&g, rows[i].at, CLI_TOP_PLAIN, str_from_z(rows[i].text));
            assert_in_range(used, 0, 10);
            cli_top_grid_text(&g, &b);
            expect_str(buf_str(&b), str_from_z(unicode ? rows[i].unicode : rows[i].plain));
            buf_deinit(&b);
            cli_top_grid_deinit(&g);
        }
    }
    (void)setlocale(LC_CTYPE, "C");
}

static void draw__fits_every_size(void **state)
{
    (void)state;
    struct stage *s = stage_new(30);
    static const enum cli_top_mode modes[] = {CLI_TOP_BROWSE, CLI_TOP_HELP, CLI_TOP_PAGE,
                                              CLI_TOP_FILTER, CLI_TOP_CONFIRM};
    cli_top_input_page(&s->ui, STR("title\none\ntwo\n"));
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        s->ui.mode = modes[i];
        for (int width = 1; width < 220; width += 7) {
            for (int height = 1; height < 60; height += 3) {
                const char *text = stage_draw(s, width, height);
                assert_true(strlen(text) <= (size_t)((width + 1) * height));
            }
        }
    }
    stage_free(s);
}

static void draw__scrolls_to_the_selected_row(void **state)
{
    (void)state;
    struct stage *s = stage_new(200);
    assert_non_null(strstr(stage_draw(s, 80, 24), ">queue000"));
    stage_key(s, CLI_TOP_KEY_END);
    const char *text = stage_draw(s, 80, 24);
    assert_non_null(strstr(text, ">queue199"));
    assert_null(strstr(text, "queue000"));
    stage_free(s);
}

static void draw__says_what_is_wrong_and_keeps_what_was_known(void **state)
{
    (void)state;
    struct stage *s = stage_new(1);
    s->frame.trouble = "cannot connect";
    s->frame.trouble_since = (struct wall){now.ns - 12 * NS_PER_S};
    const char *text = stage_draw(s, 80, 24);
    assert_non_null(strstr(text, "NO ANSWER for 12s"));
    assert_non_null(strstr(text, "cannot connect; trying again"));
    assert_non_null(strstr(text, "queue000"));
    stage_free(s);
}

static void draw__names_the_leader_when_it_is_another_node(void **state)
{
    (void)state;
    static const struct {
        struct cli_top_cluster cluster;
        const char *title;
    } rows[] = {
        {{.status = "healthy",
          .mode = "cluster",
          .state = "Leader",
          .node = "a",
          .leader = "a",
          .nodes = 1},
         "healthy  cluster Leader a  "},
        {{.status = "healthy",
          .mode = "cluster",
          .state = "Follower",
          .node = "b",
          .leader = "a",
          .nodes = 3},
         "healthy  cluster Follower b, 3 nodes, a leads  "},
        {{.status = "degraded", .mode = "cluster", .state = "Candidate", .node = "b", .nodes = 3},
         "degraded  cluster Candidate b, 3 nodes  "},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct stage *s = stage_new(1);
        ROW(rows[i].title);
        s->model.now.cluster = rows[i].cluster;
        assert_non_null(strstr(stage_draw(s, 100, 24), rows[i].title));
        stage_free(s);
    }
}

static void draw__still_has_everything_and_no_keys(void **state)
{
    (void)state;
    struct stage *s = stage_new(100);
    s->frame.still = true;
    for (int width = 80; width <= 200; width += 120) {
        const char *text = stage_draw(s, width, cli_top_draw_height(&s->model, width));
        assert_non_null(strstr(text, " queue000"));
        assert_non_null(strstr(text, " queue099"));
        assert_non_null(strstr(text, " LAST FAILURES\n none\n"));
        assert_null(strstr(text, "quit"));
        assert_null(strstr(text, ">"));
    }
    stage_free(s);
}

/* Keys */

static void keys__select_sort_and_filter(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int keys[8]; /* 0 ends them */
        const char *selected;
        size_t shown;
    } rows[] = {
        {"nothing", {0}, "queue000", 12},
        {"down", {CLI_TOP_KEY_DOWN, 'j', 0}, "queue002", 12},
        {"no further than the ends", {CLI_TOP_KEY_END, CLI_TOP_KEY_DOWN, 0}, "queue011", 12},
        {"up", {CLI_TOP_KEY_END, 'k', CLI_TOP_KEY_UP, 0}, "queue009", 12},
        {"by pages", {CLI_TOP_KEY_PAGE_DOWN, CLI_TOP_KEY_PAGE_DOWN, 0}, "queue011", 12},
        {"and back", {CLI_TOP_KEY_END, CLI_TOP_KEY_PAGE_UP, 0}, "queue001", 12},
        {"sorted it stays", {'s', 0}, "queue000", 12},
        {"sorted it is the last", {'s', CLI_TOP_KEY_UP, 0}, "queue001", 12},
        {"filtered", {'/', '1', '1', CLI_TOP_KEY_ENTER, 0}, "queue011", 1},
        {"while it is typed", {'/', '0', '1', 0}, "queue001", 3},
        {"corrected", {'/', '1', '1', CLI_TOP_KEY_BACKSPACE, 0}, "queue011", 3},
        {"given up", {'/', '1', '1', CLI_TOP_KEY_ESCAPE, 0}, "queue011", 12},
        {"taken back", {'/', '1', CLI_TOP_KEY_ENTER, CLI_TOP_KEY_ESCAPE, 0}, "queue001", 12},
        {"unknown keys", {'Z', 0x1234, CLI_TOP_KEY_BACKSPACE, 0}, "queue000", 12},
        {"no failures to go to", {'\t', CLI_TOP_KEY_DOWN, 0}, "queue001", 12},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct stage *s = stage_new(12);
        ROW(rows[i].name);
        for (size_t k = 0; rows[i].keys[k] != 0; k++) {
            stage_key(s, rows[i].keys[k]);
        }
        assert_string_equal(s->ui.queue, rows[i].selected);
        assert_int_equal(s->model.shown_count, rows[i].shown);
        stage_free(s);
    }
}

static void keys__ask_for_what_the_caller_does(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int keys[8];
        enum cli_top_action action; /* of the last key */
        const char *target;
    } rows[] = {
        {"quit", {'q', 0}, CLI_TOP_QUIT, ""},
        {"refresh", {'r', 0}, CLI_TOP_REFRESH, ""},
        {"unfreeze", {'p', 'p', 0}, CLI_TOP_REFRESH, ""},
        {"pause", {'P', 'y', 0}, CLI_TOP_SWITCH, "queue000"},
        {"pause, no", {'P', 'n', 0}, CLI_TOP_NOTHING, "queue000"},
        {"pause, anything else", {'P', CLI_TOP_KEY_ENTER, 0}, CLI_TOP_NOTHING, "queue000"},
        {"pause what is not seen", {'/', 'x', CLI_TOP_KEY_ENTER, 'P', 'y', 0}, CLI_TOP_NOTHING, ""},
        {"pause the queue of a failure", {'\t', 'P', 'y', 0}, CLI_TOP_SWITCH, "queue002"},
        {"inspect", {'j', CLI_TOP_KEY_ENTER, 0}, CLI_TOP_SHOW_QUEUE, "queue001"},
        {"inspect a failure", {'\t', CLI_TOP_KEY_ENTER, 0}, CLI_TOP_SHOW_JOB, "job_new"},
        {"another failure", {'\t', 'j', CLI_TOP_KEY_ENTER, 0}, CLI_TOP_SHOW_JOB, "job_old"},
        {"back to the queues", {'\t', '\t', CLI_TOP_KEY_ENTER, 0}, CLI_TOP_SHOW_QUEUE, "queue000"},
        {"a job by its id", {'i', 'j', '1', CLI_TOP_KEY_ENTER, 0}, CLI_TOP_SHOW_JOB, "j1"},
        {"a job without an id", {'i', CLI_TOP_KEY_ENTER, 0}, CLI_TOP_NOTHING, ""},
        {"a q that closes the help", {'?', 'q', 0}, CLI_TOP_NOTHING, ""},
        {"a q in a filter", {'/', 'q', 0}, CLI_TOP_NOTHING, ""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct stage *s = stage_new(3);
        struct cli_top_failure old = {.seq = 1, .job = "job_old", .queue = "queue001"};
        struct cli_top_failure new = {.seq = 2, .job = "job_new", .queue = "queue002"};
        enum cli_top_action action = CLI_TOP_NOTHING;
        ROW(rows[i].name);
        cli_top_model_fail(&s->model, &old);
        cli_top_model_fail(&s->model, &new);
        for (size_t k = 0; rows[i].keys[k] != 0; k++) {
            action = cli_top_input_key(&s->ui, &s->model, rows[i].keys[k]);
        }
        assert_int_equal(action, rows[i].action);
        assert_string_equal(s->ui.target, rows[i].target);
        stage_free(s);
    }
}

static void keys__turn_a_page(void **state)
{
    (void)state;
    struct stage *s = stage_new(1);
    cli_top_input_page(&s->ui, STR("title\none\ntwo\nthree\n"));
    const char *text = stage_draw(s, 40, 5);
    assert_non_null(strstr(text, "title"));
    assert_non_null(strstr(text, "| one"));
    assert_non_null(strstr(text, "down: more"));
    stage_key(s, CLI_TOP_KEY_DOWN);
    assert_non_null(strstr(stage_draw(s, 40, 5), "| two"));
    stage_key(s, CLI_TOP_KEY_END);
    stage_key(s, CLI_TOP_KEY_DOWN);
    text = stage_draw(s, 40, 5);
    assert_non_null(strstr(text, "| three"));
    assert_null(strstr(text, "down: more"));
    stage_key(s, 'q');
    assert_int_equal(s->ui.mode, CLI_TOP_BROWSE);
    stage_free(s);
}

static void keys__are_all_in_the_help(void **state)
{
    (void)state;
    struct stage *s = stage_new(1);
    const char *key;
    const char *what;
    stage_key(s, '?');
    const char *text = stage_draw(s, 80, 24);
    size_t n = 0;
    for (; cli_top_input_help(n, &key, &what); n++) {
        assert_non_null(strstr(text, what));
    }
    assert_true(n >= 10);
    stage_free(s);
}

static void selection__of_a_queue_that_goes_moves_to_the_first(void **state)
{
    (void)state;
    struct stage *s = stage_new(3);
    struct cli_top_sample next = {.queue_count = 0};
    stage_key(s, CLI_TOP_KEY_END);
    next.queues = calloc(2, sizeof *next.queues);
    assert_non_null(next.queues);
    next.queue_count = 1;
    (void)snprintf(next.queues[0].name, sizeof next.queues[0].name, "other");
    cli_top_model_take(&s->model, &next, (struct mono){NS_PER_S});
    cli_top_input_settle(&s->ui, &s->model);
    assert_string_equal(s->ui.queue, "other");
    stage_free(s);
}

TEST_GROUP(cli_top_draw, cmocka_unit_test(grid__cuts_clips_and_disarms),
           cmocka_unit_test(draw__fits_every_size),
           cmocka_unit_test(draw__scrolls_to_the_selected_row),
           cmocka_unit_test(draw__says_what_is_wrong_and_keeps_what_was_known),
           cmocka_unit_test(draw__names_the_leader_when_it_is_another_node),
           cmocka_unit_test(draw__still_has_everything_and_no_keys),
           cmocka_unit_test(keys__select_sort_and_filter),
           cmocka_unit_test(keys__ask_for_what_the_caller_does),
           cmocka_unit_test(keys__turn_a_page), cmocka_unit_test(keys__are_all_in_the_help),
           cmocka_unit_test(selection__of_a_queue_that_goes_moves_to_the_first));
