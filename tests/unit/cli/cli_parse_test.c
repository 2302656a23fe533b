#include "cli/cli_parse.h"

#include "core/timestamp.h"
#include "lib/test.h"
#include "os/os_clock.h"
#include "unit/cli/cli_kit.h"

static void parse__finds_the_command_behind_flags(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        const char *command; /* NULL: only a group */
    } rows[] = {
        {"queues", "queues"},
        {"--server http://x queues", "queues"},
        {"--output=json budget list", "budget list"},
        {"budget --server x list", "budget list"},
        {"schedules", "schedules"},
        {"schedules list", "schedules list"},
        {"schedules --output json", "schedules"},
        {"keys", "keys list"},
        {"--version", "version"},
        {"--log-level debug --version", "version"},
        {"--version --output json", "version"},
        {"jobs retry job_1", "jobs retry"},
        {"jobs cancel job_1", "cancel"},
        {"queue pause q", "pause"},
        {"queue throttle q 5/1s", "throttle"},
        {"tail --count 1", "events"},
        {"enqueue budget {}", "enqueue"},
        {"pause list", "pause"},
        {"", NULL},
        {"budget", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cli_kit k;
        ROW(rows[i].line);
        cli_kit_open(&k);
        assert_int_equal(cli_kit_parse(&k, rows[i].line), ERR_OK);
        if (rows[i].command == NULL) {
            assert_null(k.cli.command);
        } else {
            assert_non_null(k.cli.command);
            assert_string_equal(k.cli.command->name, rows[i].command);
        }
        cli_kit_close(&k);
    }
}

static void parse__refuses_with_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        const char *message; /* part of the message */
    } rows[] = {
        {"quues", "unknown command 'quues'; did you mean 'queues'?"},
        {"xyzzy", "unknown command 'xyzzy'"},
        {"budget sett", "did you mean 'budget set'?"},
        {"schedules creat x", "did you mean 'schedules create'?"},
        {"--sevrer x queues", "did you mean --server?"},
        {"search --statee dead", "unknown flag '--statee' of corvo search; did you mean --state?"},
        {"search -x", "unknown flag '-x'"},
        {"search --limit", "flag --limit requires a value"},
        {"search --limit ten", "--limit: expected a whole number, got 'ten'"},
        {"search --order up", "--order: expected asc or desc, got 'up'"},
        {"keys create --name a --expires-at 2020-01-01",
         "--expires-at: expected a time in the future, got '2020-01-01'"},
        {"keys create --name a --expires-at -1h", "--expires-at: expected a time in the future"},
        {"enqueue q {} --delay yesterday",
         "--delay: expected a time that has not passed, got 'yesterday'"},
        {"enqueue q {} --at -5m", "--at: expected a time that has not passed, got '-5m'"},
        {"push http://x {} --scheduled-at yesterday", "--scheduled-at: expected a time that"},
        {"search --created-after soon", "--created-after: expected a time"},
        {"search --tag noequals", "tag must be key=value"},
        {"search --tag =x", "tag must be key=value"},
        {"search extra", "unexpected argument 'extra'"},
        {"queues --timeout 5", "--timeout: expected a duration"},
        {"queues --output xml",
         "--output: expected text, table, wide, json, jsonl, csv or id, got 'xml'"},
        {"enqueue q", "corvo enqueue needs <queue> <payload>, got 1 argument"},
        {"queues --timeout 1ns", "--timeout: expected a duration of at least 1ms, got '1ns'"},
        {"drain q --wait --wait-timeout 0.5ms", "--wait-timeout: expected a duration of at least"},
        {"enqueue q {} --delay 5m --at 1h", "use either --at or --delay, not both"},
        {"enqueue q {} --delay 5m --schedule 1h", "use either --scheduled-at or --delay, not"},
        {"search --since 1h --created-after 2026-02-10", "use either --since or --created-after"},
        {"search --queue=", "--queue must not be empty"},
        {"search --queue  --all", "--queue must not be empty"},
        {"search --worker-id=", "--worker-id must not be empty"},
        {"search --tag=", "flag --tag requires at least one value"},
        {"jobs retry --state dead --queue=", "--queue must not be empty"},
        {"approval-policy set p --queue=", "--queue must not be empty"},
        {"keys create --name a --queue-scope=", "--queue-scope must not be empty"},
        {"queues --server=", "--server must not be empty"},
        {"destroy  --confirm", "<queue> must not be empty"},
        {"move j  --output json", "<target-queue> must not be empty"},
        {"enqueue q {} --chain {", "invalid chain JSON: invalid JSON at byte 1"},
        {"enqueue q {} --chain @/does/not/exist", "--chain"},
        {"schedules create x --queue q", "flag --cron is required"},
        {"budget set queue q --daily much", "--daily: expected a number"},
        {"budget set queue q --daily nan", "--daily: expected a number, got 'nan'"},
        {"enqueue q {} --agent-max-cost-usd 1e999", "--agent-max-cost-usd: expected a number"},
        {"drain q --wait=maybe", "--wait: expected true or false"},
        {"enqueue q\xff {}", "argument 'q\xff' is not valid UTF-8"},
        {"enqueue q {} --unique-key \xff", "--unique-key is not valid UTF-8"},
        {"search --tag a=\xc3", "--tag is not valid UTF-8"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cli_kit k;
        ROW(rows[i].line);
        cli_kit_open(&k);
        assert_int_equal(cli_kit_parse(&k, rows[i].line), ERR_VALIDATION);
        if (strstr(k.err.msg, rows[i].message) == NULL) {
            fail_msg("got '%s'", k.err.msg);
        }
        cli_kit_close(&k);
    }
}

static void parse__reads_a_duration_as_a_time_ahead_where_it_plans(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        const char *flag;
        bool ahead;
    } rows[] = {
        {"enqueue q {} --at 1h", "at", true},
        {"enqueue q {} --at now", "at", false},
        {"enqueue q {} --delay 0", "delay", false},
        {"enqueue q {} --scheduled-at 2020-01-01T00:00:00Z", "scheduled-at", false},
        {"push http://x {} --scheduled-at 1h", "scheduled-at", true},
        {"push http://x {} --scheduled-at 2020-01-01", "scheduled-at", false},
        {"keys create --name a --expires-at 1h", "expires-at", true},
        {"search --since 1h", "since", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cli_kit k;
        struct wall at;
        ROW(rows[i].line);
        cli_kit_open(&k);
        assert_int_equal(cli_kit_parse(&k, rows[i].line), ERR_OK);
        assert_int_equal(timestamp_parse(cli_text(&k.cli, rows[i].flag), &at, &k.err), ERR_OK);
        assert_int_equal(at.ns > os_clock_wall().ns, rows[i].ahead);
        cli_kit_close(&k);
    }
}

static void parse__takes_names_of_files_in_any_encoding(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "backup create \xff",         "backup restore \xff",   "admin backup -o \xff",
        "backup verify \xff",         "queues --ca-file \xff", "bench --save \xff",
        "work --queue q --exec \xff",
    };
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct cli_kit k;
        ROW(lines[i]);
        cli_kit_open(&k);
        assert_int_equal(cli_kit_parse(&k, lines[i]), ERR_OK);
        cli_kit_close(&k);
    }
}

static void parse__mixes_flags_and_arguments(void **state)
{
    (void)state;
    struct cli_kit k;
    cli_kit_open(&k);
    assert_int_equal(
        cli_kit_parse(&k, "enqueue --priority=high mail --max-retries -1 {\"a\":1} --tag a=b"),
        ERR_OK);
    expect_str(k.cli.args[0], STR("mail"));
    expect_str(k.cli.args[1], STR("{\"a\":1}"));
    expect_str(cli_text(&k.cli, "priority"), STR("high"));
    assert_int_equal(cli_int(&k.cli, "max-retries"), -1);
    cli_kit_close(&k);

    cli_kit_open(&k);
    assert_int_equal(cli_kit_parse(&k, "pause -- --odd-name"), ERR_OK);
    expect_str(k.cli.args[0], STR("--odd-name"));
    cli_kit_close(&k);
}

static void parse__takes_values_from_the_environment(void **state)
{
    (void)state;
    char url[] = "CORVO_URL=http://elsewhere";
    char key[] = "CORVO_API_KEY=from-env";
    char *environment[] = {url, key, NULL};
    struct cli_kit k;
    cli_kit_open(&k);
    k.cli.environment = environment;
    assert_int_equal(cli_kit_parse(&k, "queues --api-key mine"), ERR_OK);
    expect_str(cli_text(&k.cli, "server"), STR("http://elsewhere"));
    expect_str(cli_text(&k.cli, "api-key"), STR("mine"));
    cli_kit_close(&k);

    cli_kit_open(&k);
    assert_int_equal(cli_kit_parse(&k, "queues"), ERR_OK);
    expect_str(cli_text(&k.cli, "server"), STR("http://localhost:8080"));
    assert_false(cli_given(&k.cli, "server"));
    cli_kit_close(&k);
}

static void body__has_what_was_given_by_its_kind(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        const char *body;
    } rows[] = {
        {"enqueue q {}", "{}"},
        {"enqueue q {} --max-retries 0 --unique-key k --priority high",
         "{\"priority\":\"high\",\"unique_key\":\"k\",\"max_retries\":0}"},
        {"enqueue q {} --max-retries -1", "{}"},
        {"enqueue q {} --depends-on a,b --depends-on c", "{\"depends_on\":[\"a\",\"b\",\"c\"]}"},
        {"enqueue q {} --agent-max-cost-usd 1.5 --agent-iteration-timeout 5m",
         "{\"agent\":{\"max_cost_usd\":1.5,\"iteration_timeout\":\"5m\"}}"},
        {"enqueue q {} --agent-max-iterations 0", "{}"},
        {"enqueue q {} --chain {\"steps\":_[1]_}", "{\"chain\":{\"steps\": [1] }}"},
        {"search --state dead,held --tag a=1 --tag b=x=y --has-errors=false --attempt-min 2",
         "{\"state\":[\"dead\",\"held\"],\"tags\":{\"a\":\"1\",\"b\":\"x=y\"},"
         "\"has_errors\":false,\"attempt_min\":2,\"sort\":\"created_at\",\"order\":\"desc\"}"},
        {"search --tag a=1,b=2,c --tag d=,",
         "{\"tags\":{\"a\":\"1\",\"b\":\"2,c\",\"d\":\",\"},\"sort\":\"created_at\","
         "\"order\":\"desc\"}"},
        {"search --created-after 2026-02-10",
         "{\"created_after\":\"2026-02-10\",\"sort\":\"created_at\",\"order\":\"desc\"}"},
        {"webhooks set --url http://x --disabled",
         "{\"url\":\"http://x\",\"retry_limit\":3,\"enabled\":false}"},
        {"webhooks set --url http://x --events a,b",
         "{\"url\":\"http://x\",\"events\":[\"a\",\"b\"],\"retry_limit\":3,\"enabled\":true}"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cli_kit k;
        struct buf b;
        ROW(rows[i].line);
        cli_kit_open(&k);
        assert_int_equal(cli_kit_parse(&k, rows[i].line), ERR_OK);
        expect_str(cli_kit_body(&k, &b), str_from_z(rows[i].body));
        buf_deinit(&b);
        cli_kit_close(&k);
    }
}

static void help__is_asked_for_whatever_else_is_wrong(void **state)
{
    (void)state;
    struct cli_kit k;
    cli_kit_open(&k);
    assert_int_equal(cli_kit_parse(&k, "enqueue --nonsense --help"), ERR_OK);
    assert_true(k.cli.help);
    cli_help_command(k.cli.out, k.cli.command);
    assert_non_null(strstr(cli_kit_output(&k).ptr, "usage: corvo enqueue <queue> <payload>"));
    cli_kit_close(&k);
}

TEST_GROUP(cli_parse, cmocka_unit_test(parse__finds_the_command_behind_flags),
           cmocka_unit_test(parse__refuses_with_what_is_wrong),
           cmocka_unit_test(parse__reads_a_duration_as_a_time_ahead_where_it_plans),
           cmocka_unit_test(parse__takes_names_of_files_in_any_encoding),
           cmocka_unit_test(parse__mixes_flags_and_arguments),
           cmocka_unit_test(parse__takes_values_from_the_environment),
           cmocka_unit_test(body__has_what_was_given_by_its_kind),
           cmocka_unit_test(help__is_asked_for_whatever_else_is_wrong));
