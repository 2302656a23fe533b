/*
 * Commands for the members of a cluster: verify and recover.
 */
#include "base/check.h"
#include "cli/cli_int.h"
#include "os/os_clock.h"

enum {
    LAG_MAX = 10000, /* entries; a few seconds behind under load */
    NODE_MS = 5000,  /* without --timeout: a node that takes longer does not respond */
};

/* Collects problems: prints sentences, or builds a list for --output json. */
struct verify {
    struct cli *cli;
    unsigned wrong;
    struct buf problems; /* for --output json */
    struct json_write w; /* writes problems */
};

/* Report a problem of a node, or of the cluster if node is empty. */
static void say(struct verify *v, struct str node, const char *what)
{
    struct str name = cli_harmless(v->cli, node);
    v->wrong++;
    if (cli_is_json(v->cli)) {
        json_write_object(&v->w);
        if (name.len > 0) {
            json_write_key(&v->w, STR("node"));
            json_write_str(&v->w, name);
        }
        json_write_key(&v->w, STR("problem"));
        json_write_str(&v->w, str_from_z(what));
        json_write_end(&v->w);
    } else {
        cli_printf(v->cli, "%s" STR_FMT "%s%s.\n", name.len > 0 ? "Node " : "", STR_ARG(name),
                   name.len > 0 ? " " : "", what);
    }
}

static int64_t number_of(struct str object, const char *path)
{
    struct json_value v = cli_member(object, path);
    int64_t n = 0;
    for (size_t i = 0; i < v.text.len && v.text.ptr[i] >= '0' && v.text.ptr[i] <= '9'; i++) {
        n = n * 10 + (v.text.ptr[i] - '0');
    }
    return n;
}

/* Check a node's own status and compare it with that of the queried node. */
static void verify_status(struct verify *v, struct str first, struct str status, struct str name)
{
    static const struct {
        const char *member;
        const char *what;
    } same[] = {
        {"cluster_id", "belongs to another cluster"},
        {"leader_id", "follows another leader, or has none"},
        {"durable", "has a different --durable setting"},
        {"lifecycle_events", "has a different --lifecycle-events setting"},
    };
    for (size_t i = 0; i < COUNT_OF(same); i++) {
        if (!str_eq(cli_member(first, same[i].member).text,
                    cli_member(status, same[i].member).text)) {
            say(v, name, same[i].what);
        }
    }
    if (cli_member_true(status, "quarantined")) {
        say(v, name, "has data that differs from the majority and is quarantined");
    } else if (number_of(status, "state_hash.differed_total") > 0) {
        say(v, name, "found a difference between its data and another node's");
    }
    if (cli_member_text(v->cli, status, "unreadable").len > 0) {
        say(v, name, "runs a version that cannot read the leader's messages");
    }
    if (cli_member_true(status, "removed")) {
        say(v, name, "was removed from the cluster but is still running");
    }
}

static void verify_node(struct verify *v, struct str first, struct str node)
{
    struct cli *cli = v->cli;
    struct cli_answer answer;
    struct str name = cli_member_text(cli, node, "id");
    struct str url = cli_member_text(cli, node, "http_url");
    struct str state = cli_member_text(cli, node, "status");
    if (str_eq(state, STR("unreachable"))) {
        say(v, name, "cannot be reached by the leader");
    } else if (number_of(node, "lag") > LAG_MAX) {
        say(v, name, "is far behind the leader");
    }
    if (url.len == 0) {
        say(v, name, "has not reported the URL of its API");
        return;
    }
    const char *full =
        arena_strz(cli->arena, cli_format(cli, STR_FMT "/api/v1/cluster/status", STR_ARG(url)));
    CHECK(full != NULL);
    if (!cli_given(cli, "timeout")) {
        cli->deadline.ns = os_clock_mono().ns + NODE_MS * NS_PER_MS;
    }
    int code = cli_ask(cli, "GET", full, STR_EMPTY, &answer);
    cli->deadline = (struct mono){0};
    if (cli->signal != 0) {
        return;
    }
    if (code != CLI_OK || answer.status != 200) {
        say(v, name, "does not respond at its API URL");
        return;
    }
    verify_status(v, first, answer.body, name);
}

static void conclude(struct verify *v, size_t count)
{
    struct cli *cli = v->cli;
    json_write_end(&v->w);
    json_write_finish(&v->w);
    if (cli_is_json(cli)) {
        cli_print_json(cli, CLI_OBJECT(cli, CLI_SET_INT("nodes", (int64_t)count),
                                       CLI_SET_RAW("problems", buf_str(&v->problems))));
    } else if (v->wrong == 0) {
        cli_printf(cli, "%zu %s, no problems found.\n", count, count == 1 ? "node" : "nodes");
    }
}

static int run_verify(struct cli *cli)
{
    struct cli_answer answer;
    struct verify v = {.cli = cli};
    struct str *rows = NULL;
    int code = cli_request(cli, "GET", cli_url_to(cli, "/cluster/status"), STR_EMPTY, &answer);
    if (code != CLI_OK) {
        return code;
    }
    buf_init(&v.problems, CLI_ANSWER_BYTES);
    v.w = json_write_to(&v.problems);
    json_write_array(&v.w);
    if (cli_member_text(cli, answer.body, "leader_id").len == 0) {
        say(&v, STR_EMPTY, "There is no leader: a majority of the voters must be running");
    }
    size_t count = cli_elements(cli, cli_member(answer.body, "nodes").text, &rows);
    for (size_t i = 0; i < count && cli->signal == 0; i++) {
        verify_node(&v, answer.body, rows[i]);
    }
    if (cli->signal != 0) {
        buf_deinit(&v.problems);
        return cli_interrupted(cli);
    }
    conclude(&v, count);
    buf_deinit(&v.problems);
    return v.wrong == 0 ? CLI_OK : CLI_FAILED;
}

static int run_recover(struct cli *cli)
{
    const char *data_dir = arena_strz(cli->arena, cli_text(cli, "data-dir"));
    CHECK(data_dir != NULL);
    return cli->host->recover(data_dir, cli_bool(cli, "yes"), cli->out, cli->err);
}

/* clang-format off */
static const struct cli_flag recover_flags[] = {
    CLI_FLAG("data-dir", CLI_TEXT, "DIR", "data", "data directory of the surviving node"),
    CLI_FLAG("yes", CLI_BOOL, NULL, "false", "carry out the recovery; without it nothing is changed"),
};

static const struct cli_command commands[] = {
    {.name = "cluster leave", .args = "<node-id>", .summary = "Remove a running node from the cluster",
     .call = {"POST", "/cluster/leave", .arg_field = {"node_id"}, .text = "Node {0} is leaving the cluster"}},
    {.name = "cluster remove", .args = "<node-id>", .summary = "Remove a node that will not come back",
     .call = {"DELETE", "/cluster/nodes/{0}", .text = "Node {0} is leaving the cluster"}},
    {.name = "cluster transfer", .args = "<node-id>", .summary = "Transfer leadership to another node",
     .call = {"POST", "/cluster/transfer", .arg_field = {"node_id"}, .text = "Transferring leadership to {0}"}},
    {.name = "cluster verify", .args = "", .summary = "Compare the data of all nodes. Exits 1 if they differ",
     .run = run_verify},
    {.name = "cluster recover", .args = "", .summary = "Turn the last surviving node into a new cluster",
     .about = "Use this if a majority of the nodes is lost for good. The server must be stopped. Writes\n"
                "that only the lost nodes had are lost, even if they were acknowledged.",
     CLI_FLAGS(recover_flags), .options = CLI_LOCAL, .run = run_recover},
};
/* clang-format on */

const struct cli_family cli_cluster_family = {"Cluster", commands, COUNT_OF(commands)};
