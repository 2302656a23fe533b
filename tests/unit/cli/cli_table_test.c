#include "cli/cli_table.h"

#include "lib/expect.h"
#include "lib/test.h"

static void table__does_not_contradict_itself(void **state)
{
    (void)state;
    cli_table_check();
}

static void args__are_counted_by_their_brackets(void **state)
{
    (void)state;
    static const struct {
        const char *command;
        size_t min, max;
    } rows[] = {
        {"queues", 0, 0}, {"enqueue", 2, 2}, {"bulk", 1, 2}, {"throttle", 1, 2}, {"help", 0, 3},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].command);
        const struct cli_command *c = cli_table_find(str_from_z(rows[i].command));
        assert_non_null(c);
        assert_int_equal(cli_table_args_min(c), rows[i].min);
        assert_int_equal(cli_table_args_max(c), rows[i].max);
    }
}

static void flags__of_a_command_hide_common_ones(void **state)
{
    (void)state;
    const struct cli_command *search = cli_table_find(STR("search"));
    const struct cli_command *queues = cli_table_find(STR("queues"));
    assert_string_equal(cli_table_find_flag(search, STR("output"))->words,
                        "text table wide json jsonl csv id ids");
    assert_string_equal(cli_table_find_flag(queues, STR("output"))->words,
                        "text table wide json jsonl csv id");
    size_t seen = 0;
    const struct cli_flag *f;
    for (size_t i = 0; (f = cli_table_flag(search, i)) != NULL; i++) {
        seen += strcmp(f->name, "output") == 0 ? 1 : 0;
    }
    assert_int_equal(seen, 1);
}

static void flags__are_found_by_letter_and_other_name(void **state)
{
    (void)state;
    const struct cli_command *c = cli_table_find(STR("enqueue"));
    assert_string_equal(cli_table_find_flag(c, STR("schedule"))->name, "scheduled-at");
    assert_string_equal(cli_table_find_flag(c, STR("h"))->name, "help");
    assert_null(cli_table_find_flag(c, STR("x")));
    assert_null(cli_table_find_flag(cli_table_find(STR("version")), STR("server")));
}

static void groups__are_what_commands_begin_with(void **state)
{
    (void)state;
    assert_true(cli_table_is_group(STR("budget")));
    assert_true(cli_table_is_group(STR("queue"))); /* only in other spellings */
    assert_false(cli_table_is_group(STR("budge")));
    assert_false(cli_table_is_group(STR("budget set")));
    expect_str(cli_table_alias(STR("queue pause")), STR("pause"));
    expect_str(cli_table_alias(STR("pause")), STR_EMPTY);
}

TEST_GROUP(cli_table, cmocka_unit_test(table__does_not_contradict_itself),
           cmocka_unit_test(args__are_counted_by_their_brackets),
           cmocka_unit_test(flags__of_a_command_hide_common_ones),
           cmocka_unit_test(flags__are_found_by_letter_and_other_name),
           cmocka_unit_test(groups__are_what_commands_begin_with));
