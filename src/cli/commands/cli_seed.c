/*
 * corvo seed demo: creates demo data, so that every page and every state has something to show.
 *
 * Calls the API as producer, worker and operator, and stops at the first call that fails. Only
 * calls that older servers may lack (budgets, policies, webhooks) are skipped with a note if they
 * return 404. The command can be repeated: it sets the settings again and adds further jobs.
 */
#include "base/check.h"
#include "cli/cli_int.h"
#include "core/timestamp.h"
#include "os/os_clock.h"

enum { DEAD_JOBS = 6, SCHEDULED_JOBS = 5, UNIQUE_JOBS = 3, CLAIM_TRIES = 32 };

struct seeding {
    struct cli *cli;
    struct str notes[16]; /* printed at the end */
    size_t note_count;
};

static void remember(struct seeding *s, const char *what, struct str id)
{
    CHECK(s->note_count < COUNT_OF(s->notes));
    s->notes[s->note_count++] = cli_format(s->cli, "%s: " STR_FMT, what, STR_ARG(id));
}

static int post(struct seeding *s, const char *path, struct str body, struct cli_answer *out)
{
    return cli_request(s->cli, "POST", cli_url_to(s->cli, path), body, out);
}

/* Make a setting that an older server may not have. */
static int post_setting(struct seeding *s, const char *path, struct str body)
{
    struct cli *cli = s->cli;
    struct cli_answer answer;
    int code = cli_ask(cli, "POST", cli_url_to(cli, path), body, &answer);
    if (code != CLI_OK || answer.status < 400 || answer.status == 409) {
        return code;
    }
    if (answer.status == 404) {
        cli_note(cli, "Skipped: the server has no %s\n", path);
        return CLI_OK;
    }
    return cli_refused(cli, answer.status, answer.body);
}

static int enqueue(struct seeding *s, struct str body, struct str *out_id)
{
    struct cli_answer answer;
    int code = post(s, "/enqueue", body, &answer);
    if (code == CLI_OK) {
        *out_id = cli_member_text(s->cli, answer.body, "job_id");
    }
    return code;
}

static struct str fetch_body(struct seeding *s, const char *queue, size_t count)
{
    struct str queues = cli_format(s->cli, "[\"%s\"]", queue);
    return CLI_OBJECT(s->cli, CLI_SET_RAW("queues", queues),
                      CLI_SET_TEXT("worker_id", STR("seed-worker")),
                      CLI_SET_TEXT("hostname", STR("seed-host")), CLI_SET_INT("timeout", 1),
                      CLI_SET_INT("count", (int64_t)count));
}

/* Claim exactly this job. Other jobs that are claimed first are abandoned: their leases expire. */
static int claim(struct seeding *s, const char *queue, struct str id)
{
    struct cli *cli = s->cli;
    for (int i = 0; i < CLAIM_TRIES; i++) {
        struct cli_answer answer;
        int code = post(s, "/fetch", fetch_body(s, queue, 1), &answer);
        if (code != CLI_OK) {
            return code;
        }
        if (answer.status == 204) {
            break;
        }
        if (str_eq(cli_member_text(cli, answer.body, "job_id"), id)) {
            return CLI_OK;
        }
    }
    return cli_fail(cli, "queue %s did not return job " STR_FMT, queue, STR_ARG(id));
}

static int ack(struct seeding *s, struct str id, struct str body)
{
    struct cli_answer answer;
    return cli_request(s->cli, "POST", CLI_URL(s->cli, "/ack/{0}", id), body, &answer);
}

static int fail(struct seeding *s, struct str id, struct str error)
{
    struct cli_answer answer;
    struct str body = CLI_OBJECT(s->cli, CLI_SET_TEXT("error", error));
    return cli_request(s->cli, "POST", CLI_URL(s->cli, "/fail/{0}", id), body, &answer);
}

static int act(struct seeding *s, const char *pattern, struct str name, struct str body)
{
    struct cli_answer answer;
    return cli_request(s->cli, "POST", CLI_URL(s->cli, pattern, name), body, &answer);
}

/* Return the usage of one of three models. */
static struct str usage(struct seeding *s, size_t i)
{
    static const struct {
        const char *model;
        const char *provider;
        double usd;
    } models[] = {{"atlas-large", "northwind", 0.0042},
                  {"atlas-mini", "northwind", 0.0006},
                  {"meridian-2", "lumen", 0.0031}};
    size_t m = i % COUNT_OF(models);
    int64_t in = 400 + (int64_t)(i * 37 % 900);
    int64_t out = 80 + (int64_t)(i * 23 % 300);
    return CLI_OBJECT(s->cli, CLI_SET_INT("input_tokens", in), CLI_SET_INT("output_tokens", out),
                      CLI_SET_INT("cache_creation_tokens", i % 4 == 0 ? 256 : 0),
                      CLI_SET_INT("cache_read_tokens", i % 4 == 0 ? 0 : 512),
                      CLI_SET_TEXT("model", str_from_z(models[m].model)),
                      CLI_SET_TEXT("provider", str_from_z(models[m].provider)),
                      CLI_SET_REAL("cost_usd", models[m].usd * (double)(1 + i % 5)));
}

static struct str in_minutes(struct seeding *s, int64_t minutes)
{
    char room[TIMESTAMP_TEXT_MAX];
    size_t len = timestamp_format(wall_add_ms(os_clock_wall(), minutes * 60 * 1000), room);
    return arena_str(s->cli->arena, str_from(room, len));
}

/* The parts */

static int seed_budgets(struct seeding *s)
{
    int code = post_setting(s, "/budgets",
                            STR("{\"scope\":\"global\",\"target\":\"*\",\"daily_usd\":25,"
                                "\"on_exceed\":\"alert_only\"}"));
    if (code != CLI_OK) {
        return code;
    }
    return post_setting(s, "/budgets",
                        STR("{\"scope\":\"queue\",\"target\":\"agents.seed\",\"daily_usd\":10,"
                            "\"per_job_usd\":1.25,\"on_exceed\":\"hold\"}"));
}

/* These run first and have the highest priority, so that a fetch returns exactly these jobs. */
static int seed_dead(struct seeding *s)
{
    struct str id = STR_EMPTY;
    int code = CLI_OK;
    for (int i = 1; code == CLI_OK && i <= DEAD_JOBS; i++) {
        struct str payload =
            CLI_OBJECT(s->cli, CLI_SET_TEXT("to", cli_format(s->cli, "bounce%d@example.com", i)),
                       CLI_SET_TEXT("template", STR("welcome")));
        code = enqueue(s,
                       CLI_OBJECT(s->cli, CLI_SET_TEXT("queue", STR("emails.send")),
                                  CLI_SET_TEXT("priority", STR("critical")),
                                  CLI_SET_INT("max_retries", 0), CLI_SET_RAW("payload", payload)),
                       &id);
        if (code == CLI_OK) {
            code = claim(s, "emails.send", id);
        }
        if (code == CLI_OK) {
            code = fail(s, id, cli_format(s->cli, "seed failure %d", i));
        }
    }
    remember(s, "dead job", id);
    return code;
}

static int seed_retrying(struct seeding *s)
{
    struct str id = STR_EMPTY;
    int code = enqueue(
        s,
        STR("{\"queue\":\"reports.generate\",\"priority\":\"critical\",\"max_retries\":5,"
            "\"retry_base_delay\":\"1h\",\"payload\":{\"report\":\"quarterly\",\"page\":7}}"),
        &id);
    if (code == CLI_OK) {
        code = claim(s, "reports.generate", id);
    }
    if (code == CLI_OK) {
        code = fail(s, id, STR("the warehouse did not answer in time"));
    }
    remember(s, "retrying job", id);
    return code;
}

static int seed_chain(struct seeding *s)
{
    struct str id = STR_EMPTY;
    int code =
        enqueue(s,
                STR("{\"queue\":\"pipeline.ingest\",\"priority\":\"critical\","
                    "\"payload\":{\"source\":\"s3://demo/orders.csv\"},\"chain\":{\"steps\":["
                    "{\"queue\":\"pipeline.ingest\"},"
                    "{\"queue\":\"pipeline.transform\",\"payload\":{\"format\":\"parquet\"}},"
                    "{\"queue\":\"pipeline.notify\"}],"
                    "\"on_failure\":{\"queue\":\"pipeline.failure\"},"
                    "\"on_exit\":{\"queue\":\"pipeline.cleanup\"}}}"),
                &id);
    if (code == CLI_OK) {
        code = claim(s, "pipeline.ingest", id);
    }
    if (code == CLI_OK) {
        code = ack(s, id, STR("{\"result\":{\"rows\":1840}}"));
    }
    remember(s, "chain", id);
    return code;
}

/* Run an agent job through all its iterations. */
static int seed_agent(struct seeding *s)
{
    static const struct {
        const char *status;
        const char *checkpoint;
        const char *result;
    } steps[] = {
        {"continue", "{\"step\":1,\"found\":3}", NULL},
        {"continue", "{\"step\":2,\"found\":9}", NULL},
        {"done", NULL, "{\"summary\":\"nine agree\",\"scores\":{\"relevance\":0.92}}"},
    };
    struct str id = STR_EMPTY;
    int code = enqueue(s,
                       STR("{\"queue\":\"agents.seed\",\"priority\":\"critical\","
                           "\"payload\":{\"task\":\"survey the literature\"},"
                           "\"agent\":{\"max_iterations\":8,\"max_cost_usd\":1}}"),
                       &id);
    for (size_t i = 0; code == CLI_OK && i < COUNT_OF(steps); i++) {
        code = claim(s, "agents.seed", id);
        if (code == CLI_OK) {
            code = ack(s, id,
                       CLI_OBJECT(s->cli, CLI_SET_TEXT("agent_status", str_from_z(steps[i].status)),
                                  CLI_SET_RAW("checkpoint", str_from_z(steps[i].checkpoint)),
                                  CLI_SET_RAW("result", str_from_z(steps[i].result)),
                                  CLI_SET_RAW("usage", usage(s, i))));
        }
    }
    remember(s, "agent job", id);
    return code;
}

static int seed_held(struct seeding *s)
{
    struct str by_hand = STR_EMPTY;
    struct str by_limit = STR_EMPTY;
    int code = enqueue(s,
                       STR("{\"queue\":\"agents.research\",\"priority\":\"critical\","
                           "\"payload\":{\"task\":\"draft the contract\"},"
                           "\"agent\":{\"max_iterations\":1}}"),
                       &by_limit);
    if (code == CLI_OK) {
        code = claim(s, "agents.research", by_limit);
    }
    if (code == CLI_OK) {
        code = ack(s, by_limit, STR("{\"agent_status\":\"continue\",\"checkpoint\":{\"step\":1}}"));
    }
    if (code == CLI_OK) {
        code = enqueue(s,
                       STR("{\"queue\":\"agents.research\","
                           "\"payload\":{\"task\":\"send the offer\"}}"),
                       &by_hand);
    }
    if (code == CLI_OK) {
        code = act(s, "/jobs/{0}/hold", by_hand, STR("{\"reason\":\"waits for legal\"}"));
    }
    remember(s, "held job", by_hand);
    remember(s, "held agent job", by_limit);
    return code;
}

static struct str base_job(struct seeding *s, size_t i)
{
    static const char *const queues[] = {"emails.send", "reports.generate", "agents.research"};
    static const char *const priorities[] = {"normal", "high", "normal", "critical"};
    struct cli *cli = s->cli;
    struct str payload = CLI_OBJECT(cli, CLI_SET_INT("number", (int64_t)i),
                                    CLI_SET_INT("amount", (int64_t)(i * 13 % 400)),
                                    CLI_SET_TEXT("customer", cli_format(cli, "cust_%zu", i % 17)));
    struct str tags =
        CLI_OBJECT(cli, CLI_SET_TEXT("tenant", cli_format(cli, "tenant-%zu", 1 + i % 3)));
    struct str none = STR_EMPTY;
    return CLI_OBJECT(cli, CLI_SET_TEXT("queue", str_from_z(queues[i % COUNT_OF(queues)])),
                      CLI_SET_RAW("payload", payload), CLI_SET_RAW("tags", tags),
                      CLI_SET_TEXT("priority", str_from_z(priorities[i % COUNT_OF(priorities)])),
                      CLI_SET_TEXT("retry_backoff", i % 8 == 7 ? STR("exponential") : none),
                      CLI_SET_TEXT("retry_base_delay", i % 8 == 7 ? STR("2s") : none),
                      CLI_SET_TEXT("retry_max_delay", i % 8 == 7 ? STR("5m") : none),
                      CLI_SET_TEXT("expire_after", i % 10 == 9 ? STR("24h") : none));
}

/* Claim and complete this many jobs of the queue, with usage. */
static int work_base(struct seeding *s, const char *queue, size_t want, size_t *number)
{
    struct cli *cli = s->cli;
    while (want > 0) {
        struct cli_answer answer;
        struct str *jobs = NULL;
        int code = post(s, "/fetch/batch", fetch_body(s, queue, want), &answer);
        if (code != CLI_OK) {
            return code;
        }
        size_t count = cli_elements(cli, cli_member(answer.body, "jobs").text, &jobs);
        if (count == 0) {
            return CLI_OK; /* another worker takes jobs, too */
        }
        for (size_t i = 0; i < count; i++) {
            struct str id = cli_member_text(cli, jobs[i], "job_id");
            struct str cost = usage(s, (*number)++);
            struct str body = CLI_OBJECT(cli, CLI_SET_RAW("result", STR("{\"ok\":true}")),
                                         CLI_SET_RAW("usage", cost));
            code = ack(s, id, body);
            if (code != CLI_OK) {
                return code;
            }
        }
        want -= count < want ? count : want;
    }
    return CLI_OK;
}

static int seed_base(struct seeding *s)
{
    static const char *const queues[] = {"emails.send", "reports.generate", "agents.research"};
    size_t count = (size_t)cli_int(s->cli, "count");
    size_t number = 0;
    int code = CLI_OK;
    for (size_t i = 0; code == CLI_OK && i < count; i++) {
        struct str id;
        code = enqueue(s, base_job(s, i), &id);
    }
    for (size_t q = 0; code == CLI_OK && q < COUNT_OF(queues); q++) {
        size_t mine = (count + COUNT_OF(queues) - 1 - q) / COUNT_OF(queues);
        code = work_base(s, queues[q], (mine * 4 + 4) / 5, &number);
    }
    return code;
}

static int seed_active(struct seeding *s)
{
    struct cli *cli = s->cli;
    struct str id = STR_EMPTY;
    struct cli_answer answer;
    int code = enqueue(s,
                       STR("{\"queue\":\"reports.generate\",\"priority\":\"critical\","
                           "\"payload\":{\"report\":\"annual\"}}"),
                       &id);
    if (code == CLI_OK) {
        code = claim(s, "reports.generate", id);
    }
    if (code == CLI_OK) {
        struct str one =
            CLI_OBJECT(cli, CLI_SET_RAW("progress",
                                        STR("{\"current\":3,\"total\":9,\"message\":\"page 3\"}")));
        const char *key = arena_strz(cli->arena, id);
        CHECK(key != NULL);
        struct str jobs = CLI_OBJECT(cli, CLI_SET_RAW(key, one));
        code = post(s, "/heartbeat", CLI_OBJECT(cli, CLI_SET_RAW("jobs", jobs)), &answer);
    }
    remember(s, "active job", id);
    return code;
}

static int seed_later(struct seeding *s)
{
    struct str id = STR_EMPTY;
    int code = CLI_OK;
    for (int i = 0; code == CLI_OK && i < SCHEDULED_JOBS; i++) {
        code = enqueue(s,
                       CLI_OBJECT(s->cli, CLI_SET_TEXT("queue", STR("reports.generate")),
                                  CLI_SET_TEXT("scheduled_at", in_minutes(s, 10 + i)),
                                  CLI_SET_RAW("payload", STR("{\"report\":\"hourly\"}"))),
                       &id);
    }
    remember(s, "scheduled job", id);
    for (int i = 0; code == CLI_OK && i < UNIQUE_JOBS; i++) {
        code = enqueue(s,
                       STR("{\"queue\":\"emails.send\",\"unique_key\":\"seed-digest\","
                           "\"payload\":{\"template\":\"digest\"}}"),
                       &id);
    }
    remember(s, "unique job", id);
    return code;
}

static int seed_dependencies(struct seeding *s)
{
    struct str parents[2] = {STR_EMPTY, STR_EMPTY};
    struct str id = STR_EMPTY;
    int code = CLI_OK;
    for (size_t i = 0; code == CLI_OK && i < COUNT_OF(parents); i++) {
        code = enqueue(s, STR("{\"queue\":\"reports.generate\",\"payload\":{\"part\":true}}"),
                       &parents[i]);
    }
    if (code == CLI_OK) {
        struct str list = cli_format(s->cli, "[\"" STR_FMT "\",\"" STR_FMT "\"]",
                                     STR_ARG(parents[0]), STR_ARG(parents[1]));
        code = enqueue(s,
                       CLI_OBJECT(s->cli, CLI_SET_TEXT("queue", STR("reports.generate")),
                                  CLI_SET_RAW("payload", STR("{\"report\":\"sum of parts\"}")),
                                  CLI_SET_RAW("depends_on", list)),
                       &id);
    }
    remember(s, "dependent job", id);
    return code;
}

/* The server creates a new policy on every request, so an existing one is left alone. */
static int seed_policy(struct seeding *s)
{
    struct cli *cli = s->cli;
    struct cli_answer answer;
    int code = cli_ask(cli, "GET", cli_url_to(cli, "/approval-policies"), STR_EMPTY, &answer);
    if (code != CLI_OK || cli_element_named(cli, answer.body, STR("high-value-review")).len > 0) {
        return code;
    }
    return post_setting(s, "/approval-policies",
                        STR("{\"name\":\"high-value-review\",\"mode\":\"all\","
                            "\"queue\":\"emails.send\",\"tag_key\":\"requires_approval\","
                            "\"tag_value\":\"true\"}"));
}

static int seed_approval(struct seeding *s)
{
    struct str id = STR_EMPTY;
    int code = seed_policy(s);
    if (code == CLI_OK) {
        code = enqueue(s,
                       STR("{\"queue\":\"emails.send\",\"tags\":{\"requires_approval\":\"true\"},"
                           "\"payload\":{\"to\":\"cfo@example.com\",\"amount\":90000},"
                           "\"agent\":{\"max_iterations\":3}}"),
                       &id);
    }
    remember(s, "job that needs approval", id);
    return code;
}

static int seed_settings(struct seeding *s)
{
    struct str id = STR_EMPTY;
    int code = post_setting(
        s, "/webhooks",
        STR("{\"id\":\"wh_seed_demo\",\"url\":\"https://example.com/corvo-webhook\","
            "\"events\":[\"completed\",\"failed\",\"dead\"],\"secret\":\"seed-secret\","
            "\"retry_limit\":3,\"enabled\":true}"));
    if (code == CLI_OK) {
        code = post_setting(s, "/schedules",
                            STR("{\"name\":\"seed-daily-report\",\"queue\":\"reports.generate\","
                                "\"cron\":\"0 9 * * 1-5\",\"timezone\":\"Europe/Berlin\","
                                "\"payload\":{\"report\":\"daily\"}}"));
    }
    if (code == CLI_OK) {
        code = enqueue(s, STR("{\"queue\":\"imports.legacy\",\"payload\":{\"file\":\"old.csv\"}}"),
                       &id);
    }
    if (code == CLI_OK) {
        code = act(s, "/queues/{0}/pause", STR("imports.legacy"), STR_EMPTY);
    }
    if (code == CLI_OK) {
        code = enqueue(
            s, STR("{\"queue\":\"imports.legacy\",\"payload\":{\"file\":\"wrong.csv\"}}"), &id);
    }
    if (code == CLI_OK) {
        code = act(s, "/jobs/{0}/cancel", id, STR_EMPTY);
    }
    remember(s, "cancelled job", id);
    return code;
}

static int run_demo(struct cli *cli)
{
    static int (*const parts[])(struct seeding * s) = {
        seed_budgets, seed_dead, seed_retrying, seed_chain,        seed_agent,    seed_held,
        seed_active,  seed_base, seed_later,    seed_dependencies, seed_approval, seed_settings,
    };
    struct seeding s = {.cli = cli};
    if (cli_int(cli, "count") <= 0) {
        return cli_fail(cli, "--count must be > 0");
    }
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        int code = parts[i](&s);
        if (code != CLI_OK) {
            return code;
        }
    }
    if (cli_is_json(cli)) {
        cli_print_json(cli, CLI_OBJECT(cli, CLI_SET_TEXT("status", STR("ok")),
                                       CLI_SET_INT("jobs", cli_int(cli, "count"))));
        return CLI_OK;
    }
    cli_printf(cli, "Seeded demo data successfully.\n");
    for (size_t i = 0; i < s.note_count; i++) {
        cli_printf(cli, "- " STR_FMT "\n", STR_ARG(s.notes[i]));
    }
    return CLI_OK;
}

/* clang-format off */
static const struct cli_flag demo_flags[] = {
    CLI_FLAG("count", CLI_INT, "N", "48", "number of ordinary jobs, in addition to the special ones"),
};

static const struct cli_command commands[] = {
    {.name = "seed demo", .args = "", .summary = "Fill a server with demo data",
     .about = "Creates jobs in every state, a chain, dependencies, agent jobs with usage, budgets, an\n"
              "approval policy, a webhook, a schedule and a paused queue. Not for production.",
     CLI_FLAGS(demo_flags), .run = run_demo},
};
/* clang-format on */

const struct cli_family cli_seed_family = {"Demonstration", commands, COUNT_OF(commands)};
