#include "cli/cli_suggest.h"

#include "lib/expect.h"
#include "lib/test.h"

static void distance__counts_single_changes(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        size_t distance;
    } rows[] = {
        {"", "", 0},
        {"a", "", 1},
        {"queues", "queues", 0},
        {"quues", "queues", 1},
        {"qeueus", "queues", 2},
        {"kitten", "sitting", 3},
        {"ab", "ba", 1},
        {"abcd", "badc", 2},
        {"abc", "xyz", 3},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].a);
        struct str a = str_from_z(rows[i].a);
        struct str b = str_from_z(rows[i].b);
        assert_int_equal(cli_suggest_distance(a, b), rows[i].distance);
        assert_int_equal(cli_suggest_distance(b, a), rows[i].distance);
    }
    struct str longer = STR("a word that nobody would call a command at all");
    assert_true(cli_suggest_distance(longer, longer) > longer.len);
}

static void command__is_suggested_when_near(void **state)
{
    (void)state;
    static const struct {
        const char *group, *word, *suggestion;
    } rows[] = {
        {"", "enqeue", "enqueue"},
        {"", "serch", "search"},
        {"", "cance", "cancel"},
        {"", "xyzzy", ""},
        {"", "x", ""},
        {"budget", "sets", "set"},
        {"budget", "queues", ""},
        {"", "comp", "completion"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].word);
        expect_str(cli_suggest_command(str_from_z(rows[i].group), str_from_z(rows[i].word)),
                   str_from_z(rows[i].suggestion));
    }
}

static void flag__is_suggested_when_near(void **state)
{
    (void)state;
    const struct cli_command *c = cli_table_find(STR("search"));
    expect_str(cli_suggest_flag(c, STR("payload-contain")), STR("payload-contains"));
    expect_str(cli_suggest_flag(c, STR("sever")), STR("server"));
    expect_str(cli_suggest_flag(c, STR("zzzz")), STR_EMPTY);
}

TEST_GROUP(cli_suggest, cmocka_unit_test(distance__counts_single_changes),
           cmocka_unit_test(command__is_suggested_when_near),
           cmocka_unit_test(flag__is_suggested_when_near));
