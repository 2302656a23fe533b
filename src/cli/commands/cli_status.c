/*
 * Commands for the server, its workers and its cluster.
 */
#include "base/check.h"
#include "cli/cli_int.h"

/* clang-format off */
static const struct cli_column status_columns[] = {
    {"QUEUE", "name", CLI_SHOW_TEXT},    {"PENDING", "pending", CLI_SHOW_TEXT},
    {"ACTIVE", "active", CLI_SHOW_TEXT}, {"HELD", "held", CLI_SHOW_TEXT},
    {"COMPLETED", "completed", CLI_SHOW_TEXT}, {"DEAD", "dead", CLI_SHOW_TEXT},
};

static const struct cli_column worker_columns[] = {
    {"ID", "id", CLI_SHOW_TEXT},         {"HOSTNAME", "hostname", CLI_SHOW_TEXT},
    {"LAST HEARTBEAT", "last_heartbeat", CLI_SHOW_TIME}, {"STATUS", "last_heartbeat", CLI_SHOW_ALIVE},
    {"VERSION", "version", CLI_SHOW_TEXT | CLI_SHOW_ROOM}, {"QUEUES", "queues", CLI_SHOW_LIST},
};

static const struct cli_column node_columns[] = {
    {"NODE", "id", CLI_SHOW_TEXT},       {"ROLE", "role", CLI_SHOW_TEXT},
    {"VOTER", "voter", CLI_SHOW_TEXT},   {"ADDRESS", "address", CLI_SHOW_TEXT},
    {"LAG", "lag", CLI_SHOW_TEXT},
};
/* clang-format on */

static int run_status(struct cli *cli)
{
    struct cli_answer cluster;
    struct cli_answer queues;
    struct str *rows = NULL;
    int code = cli_request(cli, "GET", cli_url_to(cli, "/cluster/status"), STR_EMPTY, &cluster);
    if (code == CLI_OK) {
        code = cli_request(cli, "GET", cli_url_to(cli, "/queues"), STR_EMPTY, &queues);
    }
    if (code != CLI_OK) {
        return code;
    }
    if (cli_is_json(cli)) {
        cli_print_json(cli, CLI_OBJECT(cli, CLI_SET_RAW("cluster", str_trim(cluster.body)),
                                       CLI_SET_RAW("queues", str_trim(queues.body))));
        return CLI_OK;
    }
    cli_print_pattern(cli, cli->out, "Mode: {mode}  Status: {status}\n\n", cluster.body);
    size_t count = cli_elements(cli, queues.body, &rows);
    if (count == 0) {
        cli_printf(cli, "No queues\n");
    } else {
        cli_call_table(cli, status_columns, COUNT_OF(status_columns), rows, count);
    }
    return CLI_OK;
}

static int run_health(struct cli *cli)
{
    struct cli_answer answer;
    const char *url = cli_url_to(cli, "/healthz");
    if (cli_bool(cli, "ready")) {
        url = cli_url_query(cli, url, "ready", STR("1"));
    }
    int code = cli_request(cli, "GET", url, STR_EMPTY, &answer);
    if (code != CLI_OK) {
        return code;
    }
    struct str role = cli_member_text(cli, answer.body, "raft_state");
    return cli_show(cli, answer.body,
                    role.len > 0 ? "Status: {status}  Role: {raft_state}" : "Status: {status}");
}

/* Cluster */

static void print_line(struct cli *cli, struct str status, const char *label, const char *member)
{
    struct str value = cli_harmless(cli, cli_member_text(cli, status, member));
    cli_printf(cli, "%-15s " STR_FMT "\n", label, STR_ARG(value.len > 0 ? value : STR("-")));
}

/* Add the node's lag to its row if the response has the positions: only the leader knows them. */
static struct str with_lag(struct cli *cli, struct str status, struct str node)
{
    int64_t commit = 0;
    int64_t match = 0;
    if (cli_member(node, "lag").type != JSON_TYPE_COUNT ||
        !str_to_i64(cli_member_text(cli, status, "commit_index"), &commit) ||
        !str_to_i64(cli_member_text(cli, node, "match_index"), &match)) {
        return node;
    }
    return CLI_OBJECT(cli, CLI_SET_RAW("id", cli_member(node, "id").text),
                      CLI_SET_RAW("role", cli_member(node, "role").text),
                      CLI_SET_RAW("voter", cli_member(node, "voter").text),
                      CLI_SET_RAW("address", cli_member(node, "address").text),
                      CLI_SET_INT("lag", commit > match ? commit - match : 0));
}

/* Print a sentence about each node that is not healthy. */
static void print_problems(struct cli *cli, struct str status)
{
    struct str *nodes = NULL;
    size_t count = cli_elements(cli, cli_member(status, "nodes").text, &nodes);
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        struct str state = cli_harmless(cli, cli_member_text(cli, nodes[i], "status"));
        if (state.len == 0 || str_eq(state, STR("healthy"))) {
            continue;
        }
        struct str name = cli_harmless(cli, cli_member_text(cli, nodes[i], "id"));
        struct str error = cli_harmless(cli, cli_member_text(cli, nodes[i], "error"));
        struct str words = str_eq(state, STR("unknown"))   ? STR("unreachable from this node")
                           : str_eq(state, STR("differs")) ? STR("different from the majority")
                                                           : state;
        cli_printf(cli, "%sNode " STR_FMT " is " STR_FMT "%s" STR_FMT ".\n", any ? "" : "\n",
                   STR_ARG(name), STR_ARG(words), error.len > 0 ? ": " : "", STR_ARG(error));
        any = true;
    }
}

static int run_cluster_status(struct cli *cli)
{
    static const struct {
        const char *label;
        const char *member;
    } lines[] = {
        {"Mode:", "mode"},
        {"Status:", "status"},
        {"State:", "state"},
        {"Leader:", "leader_id"},
        {"Leader address:", "leader_addr"},
        {"Applied index:", "applied_index"},
        {"Commit index:", "commit_index"},
        {"Snapshot index:", "snapshot.latest_index"},
        {"Mirror lag:", "sqlite_mirror.lag"},
    };
    struct cli_answer answer;
    struct str *rows = NULL;
    int code = cli_request(cli, "GET", cli_url_to(cli, "/cluster/status"), STR_EMPTY, &answer);
    if (code != CLI_OK) {
        return code;
    }
    if (cli_is_json(cli)) {
        cli_print_json(cli, answer.body);
        return CLI_OK;
    }
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        print_line(cli, answer.body, lines[i].label, lines[i].member);
    }
    size_t count = cli_elements(cli, cli_member(answer.body, "nodes").text, &rows);
    for (size_t i = 0; i < count; i++) {
        rows[i] = with_lag(cli, answer.body, rows[i]);
    }
    if (count > 0) {
        cli_printf(cli, "\n");
        cli_call_table(cli, node_columns, COUNT_OF(node_columns), rows, count);
        print_problems(cli, answer.body);
    }
    return CLI_OK;
}

static void print_cluster_event(struct cli *cli, struct str event)
{
    struct str job = cli_harmless(cli, cli_member_text(cli, event, "job_id"));
    struct str queue = cli_harmless(cli, cli_member_text(cli, event, "queue"));
    cli_print_pattern(cli, cli->out, "{seq} {created_at} {type} ", event);
    cli_printf(cli, STR_FMT " " STR_FMT "\n", STR_ARG(job.len > 0 ? job : STR("-")),
               STR_ARG(queue.len > 0 ? queue : STR("-")));
}

static int run_cluster_events(struct cli *cli)
{
    struct cli_answer answer;
    struct str *rows = NULL;
    const char *url = cli_url_to(cli, "/cluster/events");
    url = cli_url_query(cli, url, "after_seq", cli_text(cli, "after"));
    url = cli_url_query(cli, url, "limit", cli_text(cli, "limit"));
    int code = cli_request(cli, "GET", url, STR_EMPTY, &answer);
    if (code != CLI_OK) {
        return code;
    }
    if (cli_is_json(cli)) {
        cli_print_json(cli, answer.body);
        return CLI_OK;
    }
    size_t count = cli_elements(cli, cli_member(answer.body, "events").text, &rows);
    for (size_t i = 0; i < count; i++) {
        print_cluster_event(cli, rows[i]);
    }
    return CLI_OK;
}

static int run_cluster_join(struct cli *cli)
{
    struct cli_answer answer;
    struct cli_pair pairs[4] = {CLI_SET_TEXT("node_id", cli->args[0]),
                                CLI_SET_TEXT("addr", cli->args[1])};
    size_t count = 2;
    if (cli_given(cli, "shard")) {
        pairs[count++] = (struct cli_pair)CLI_SET_INT("shard", cli_int(cli, "shard"));
    }
    if (cli_given(cli, "shard-count")) {
        pairs[count++] = (struct cli_pair)CLI_SET_INT("shard_count", cli_int(cli, "shard-count"));
    }
    int code = cli_request(cli, "POST", cli_url_to(cli, "/cluster/join"),
                           cli_object(cli, pairs, count), &answer);
    if (code != CLI_OK) {
        return code;
    }
    bool added = cli_member_true(answer.body, "added");
    return cli_show(cli, answer.body, added ? "Node {0} joined" : "Node {0} already a member");
}

/* clang-format off */
static const struct cli_flag health_flags[] = {
    CLI_FLAG("ready", CLI_BOOL, NULL, "false", "also check that there is a leader"),
};

static const struct cli_flag cluster_events_flags[] = {
    CLI_FLAG("after", CLI_INT, "SEQ", "0",   "only events after this number"),
    CLI_FLAG("limit", CLI_INT, "N",   "100", "print at most this many events"),
};

static const struct cli_flag cluster_join_flags[] = {
    CLI_FLAG("shard",       CLI_INT, "N", NULL, "the shard to join"),
    CLI_FLAG("shard-count", CLI_INT, "N", NULL, "number of shards the node expects"),
};

static const struct cli_command commands[] = {
    {.name = "status", .args = "", .summary = "Show server state and queues", .run = run_status},
    {.name = "health", .args = "", .summary = "Check server health. Exits 1 if the server is unhealthy",
     CLI_FLAGS(health_flags), .run = run_health},
    {.name = "workers", .args = "", .summary = "List workers",
     .call = {"GET", "/workers", CLI_COLUMNS(worker_columns), .empty = "No workers connected"}},
    {.name = "cluster status", .args = "", .summary = "Show the nodes and their log positions", .run = run_cluster_status},
    {.name = "cluster events", .args = "", .summary = "List events of the replicated log",
     CLI_FLAGS(cluster_events_flags), .run = run_cluster_events},
    {.name = "cluster join", .args = "<node-id> <raft-addr>", .summary = "Add a node to the cluster",
     CLI_FLAGS(cluster_join_flags), .run = run_cluster_join},
};
/* clang-format on */

const struct cli_family cli_status_family = {"Status", commands, COUNT_OF(commands)};
