/*
 * Commands for access: API keys, custom roles, sessions, single sign-on, the organisation.
 */
#include "base/check.h"
#include "cli/cli_int.h"
#include "json/json_scan.h"

enum { KEY_HASH_CHARACTERS = 64 };

/* Keys */

/* Replace the first argument, the beginning of a key's hash, by the whole hash. The server would
 * report success for deleting a key that does not exist. */
static int find_key(struct cli *cli)
{
    struct cli_answer answer;
    struct str *keys = NULL;
    struct str start = cli->args[0];
    size_t matches = 0;
    if (start.len == KEY_HASH_CHARACTERS) {
        return CLI_OK;
    }
    int code = cli_request(cli, "GET", cli_url_to(cli, "/auth/keys"), STR_EMPTY, &answer);
    if (code != CLI_OK) {
        return code;
    }
    size_t count = cli_elements(cli, answer.body, &keys);
    for (size_t i = 0; i < count; i++) {
        struct str hash = cli_member_text(cli, keys[i], "key_hash");
        if (str_starts_with(hash, start)) {
            cli->args[0] = hash;
            matches++;
        }
    }
    if (matches == 0) {
        return cli_fail(cli,
                        "no API key has a hash that begins with '" STR_FMT "'; see corvo keys list",
                        STR_ARG(start));
    }
    return matches == 1
               ? CLI_OK
               : cli_fail(cli,
                          "%zu API keys have a hash that begins with '" STR_FMT "'; add digits",
                          matches, STR_ARG(start));
}

static int run_with_key(struct cli *cli)
{
    int code = find_key(cli);
    return code == CLI_OK ? cli_call_run(cli) : code;
}

static int run_key_roles(struct cli *cli)
{
    struct cli_answer answer;
    struct str *roles = NULL;
    int code = find_key(cli);
    if (code != CLI_OK) {
        return code;
    }
    const char *url = CLI_URL(cli, "/auth/keys/{0}/roles", cli->args[0]);
    code = cli_request(cli, "GET", url, STR_EMPTY, &answer);
    if (code != CLI_OK) {
        return code;
    }
    if (cli_is_json(cli)) {
        cli_print_json(cli, answer.body);
        return CLI_OK;
    }
    size_t count = cli_elements(cli, cli_member(answer.body, "roles").text, &roles);
    for (size_t i = 0; i < count; i++) {
        struct json_value role;
        struct err err;
        if (json_scan_first(roles[i], &role, &err) == ERR_OK) {
            struct str name = cli_harmless(cli, cli_decode(cli, role));
            cli_printf(cli, STR_FMT "\n", STR_ARG(name));
        }
    }
    if (count == 0) {
        cli_note(cli, "The key has no custom roles\n");
    }
    return CLI_OK;
}

/* Roles */

/* The offset of the action in "resource:action"; 0 if the text has another form. */
static size_t action_at(struct str grant)
{
    const char *colon = memchr(grant.ptr, ':', grant.len);
    size_t at = colon == NULL ? 0 : (size_t)(colon - grant.ptr);
    return at > 0 && at + 1 < grant.len ? at + 1 : 0;
}

static struct str resource_of(struct str grant)
{
    return str_from(grant.ptr, action_at(grant) - 1);
}

static bool is_first_of_resource(const struct cli_value *grants, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        if (str_eq(resource_of(grants->items[k]), resource_of(grants->items[i]))) {
            return false;
        }
    }
    return true;
}

/* Build the body: one permission per resource, with all its actions. */
static struct str role_body(struct cli *cli, const struct cli_value *grants)
{
    struct buf b;
    buf_init(&b, CLI_LINE_BYTES);
    struct json_write w = json_write_to(&b);
    json_write_object(&w);
    json_write_key(&w, STR("name"));
    json_write_str(&w, cli->args[0]);
    json_write_key(&w, STR("permissions"));
    json_write_array(&w);
    for (size_t i = 0; i < grants->item_count; i++) {
        struct str resource = resource_of(grants->items[i]);
        if (!is_first_of_resource(grants, i)) {
            continue;
        }
        json_write_object(&w);
        json_write_key(&w, STR("resource"));
        json_write_str(&w, resource);
        json_write_key(&w, STR("actions"));
        json_write_array(&w);
        for (size_t k = i; k < grants->item_count; k++) {
            if (str_eq(resource_of(grants->items[k]), resource)) {
                json_write_str(&w, str_from_offset(grants->items[k], action_at(grants->items[k])));
            }
        }
        json_write_end(&w);
        json_write_end(&w);
    }
    json_write_end(&w);
    json_write_end(&w);
    json_write_finish(&w);
    struct str body = b.overflow ? STR_EMPTY : arena_str(cli->arena, buf_str(&b));
    buf_deinit(&b);
    return body;
}

static int run_role_set(struct cli *cli)
{
    const struct cli_value *grants = cli_value(cli, "allow");
    struct cli_answer answer;
    for (size_t i = 0; i < grants->item_count; i++) {
        if (action_at(grants->items[i]) == 0) {
            return cli_fail(cli, "--allow must be resource:action, not '" STR_FMT "'",
                            STR_ARG(grants->items[i]));
        }
    }
    struct str body = role_body(cli, grants);
    if (body.len == 0) {
        return cli_fail(cli, "--allow is too long");
    }
    int code = cli_request(cli, "POST", cli_url_to(cli, "/auth/roles"), body, &answer);
    return code == CLI_OK ? cli_show(cli, answer.body, "Role set: {0}") : code;
}

/* Single sign-on */

static void print_setting(struct cli *cli, struct str answer, const char *label, const char *member)
{
    struct str text = cli_harmless(cli, cli_member_text(cli, answer, member));
    if (text.len > 0) {
        cli_printf(cli, "%-14s " STR_FMT "\n", label, STR_ARG(text));
    }
}

static int run_sso_show(struct cli *cli)
{
    struct cli_answer answer;
    struct json_value key;
    struct json_value role;
    int code = cli_request(cli, "GET", cli_url_to(cli, "/settings/sso"), STR_EMPTY, &answer);
    if (code != CLI_OK) {
        return code;
    }
    if (cli_is_json(cli)) {
        cli_print_json(cli, answer.body);
        return CLI_OK;
    }
    if (cli_member_text(cli, answer.body, "provider").len == 0) {
        cli_printf(cli, "Single sign-on is off\n");
        return CLI_OK;
    }
    print_setting(cli, answer.body, "Provider:", "provider");
    print_setting(cli, answer.body, "Issuer:", "oidc_issuer_url");
    print_setting(cli, answer.body, "Client id:", "oidc_client_id");
    print_setting(cli, answer.body, "Group claim:", "oidc_group_claim");
    print_setting(cli, answer.body, "Updated:", "updated_at");
    struct json_scan s = json_scan_from(cli_member(answer.body, "group_role_mappings").text);
    while (json_scan_peek(&s) == JSON_TYPE_OBJECT && json_scan_enter_object(&s)) {
        while (json_scan_next_key(&s, &key) && json_scan_value(&s, &role)) {
            struct str group = cli_harmless(cli, cli_decode(cli, key));
            struct str name = cli_harmless(cli, cli_decode(cli, role));
            cli_printf(cli, "%-14s " STR_FMT "=" STR_FMT "\n", "Group:", STR_ARG(group),
                       STR_ARG(name));
        }
    }
    return CLI_OK;
}

static int run_sso_off(struct cli *cli)
{
    struct cli_answer answer;
    int code = CLI_FAILED;
    if (!cli_confirmed(cli, true, cli->command->confirm, &code)) {
        return code;
    }
    struct str body = CLI_OBJECT(cli, CLI_SET_RAW("provider", STR("\"\"")));
    code = cli_request(cli, "POST", cli_url_to(cli, "/settings/sso"), body, &answer);
    return code == CLI_OK ? cli_show(cli, answer.body, "Single sign-on is off") : code;
}

/* clang-format off */
static const struct cli_column key_columns[] = {
    {"NAME", "name", CLI_SHOW_TEXT},            {"NAMESPACE", "namespace", CLI_SHOW_TEXT},
    {"ROLE", "role", CLI_SHOW_TEXT},            {"ENABLED", "enabled", CLI_SHOW_TEXT},
    {"SCOPE", "queue_scope", CLI_SHOW_TEXT},    {"LAST USED", "last_used_at", CLI_SHOW_TIME},
    {"EXPIRES", "expires_at", CLI_SHOW_TIME},   {"KEY HASH", "key_hash", CLI_SHOW_TEXT},
};

static const struct cli_column role_columns[] = {
    {"NAME", "name", CLI_SHOW_TEXT},            {"UPDATED", "updated_at|created_at", CLI_SHOW_TIME},
    {"PERMISSIONS", "permissions", CLI_SHOW_GRANTS},
};

static const struct cli_column session_columns[] = {
    {"ID", "id", CLI_SHOW_TEXT},                {"PRINCIPAL", "principal", CLI_SHOW_TEXT},
    {"ROLE", "role", CLI_SHOW_TEXT},            {"NAMESPACE", "namespace", CLI_SHOW_TEXT | CLI_SHOW_MINOR},
    {"ADDRESS", "address", CLI_SHOW_TEXT},      {"CREATED", "created_at", CLI_SHOW_TIME},
    {"EXPIRES", "expires_at", CLI_SHOW_TIME},   {"USER AGENT", "user_agent", CLI_SHOW_CUT | CLI_SHOW_MINOR},
};

static const struct cli_column member_columns[] = {
    {"ID", "id", CLI_SHOW_TEXT},                {"NAME", "name", CLI_SHOW_TEXT},
    {"EMAIL", "email", CLI_SHOW_TEXT},          {"ROLE", "role", CLI_SHOW_TEXT},
    {"CREATED", "created_at", CLI_SHOW_TIME},
};

static const struct cli_column org_key_columns[] = {
    {"ID", "id", CLI_SHOW_TEXT},                {"NAME", "name", CLI_SHOW_TEXT},
    {"PREFIX", "prefix", CLI_SHOW_TEXT},        {"CREATED", "created_at", CLI_SHOW_TIME},
};

static const struct cli_flag key_flags[] = {
    CLI_FLAG("name",        CLI_TEXT, "NAME",    NULL,       "name of the key",
             .field = "name", .options = CLI_REQUIRED),
    CLI_FLAG("namespace",   CLI_TEXT, "NAME",    NULL,       "namespace of the key; by default the one of --api-key, else default",
             .field = "namespace", .env = "CORVO_NAMESPACE"),
    CLI_FLAG("role",        CLI_TEXT, "ROLE",    "readonly", "admin, operator, worker, readonly or a custom role",
             .field = "role", .options = CLI_SEND_DEFAULT),
    CLI_FLAG("queue-scope", CLI_TEXT, "PATTERN", NULL,       "queues the key may access", .field = "queue_scope", .options = CLI_NOT_EMPTY),
    CLI_FLAG("expires-at",  CLI_TIME, "TIME",    NULL,       "when the key expires, for example 90d",
             .field = "expires_at", .options = CLI_AHEAD | CLI_FUTURE),
};

static const struct cli_flag rotate_flags[] = {
    CLI_FLAG("overlap", CLI_DURATION, "DURATION", NULL, "how long the old secret keeps working; 24h by default",
             .field = "overlap"),
};

static const struct cli_flag role_flags[] = {
    CLI_FLAG("allow", CLI_LIST, "RESOURCE:ACTION", NULL, "permissions of the role", .options = CLI_REQUIRED),
};

static const struct cli_flag member_flags[] = {
    CLI_FLAG("email", CLI_TEXT, "ADDRESS", NULL,     "email address", .field = "email"),
    CLI_FLAG("role",  CLI_TEXT, "ROLE",    "member", "role in the organization",
             .field = "role", .options = CLI_SEND_DEFAULT),
};

static const struct cli_flag sso_flags[] = {
    CLI_FLAG("issuer",        CLI_TEXT,  "URL",    NULL,     "oidc: issuer URL of the provider, exactly as the provider reports it",
             .field = "oidc_issuer_url"),
    CLI_FLAG("client-id",     CLI_TEXT,  "ID",     NULL,     "oidc: client id of this server at the provider",
             .field = "oidc_client_id"),
    CLI_FLAG("client-secret", CLI_TEXT,  "SECRET", NULL,     "oidc: client secret; if left out, the stored secret is kept",
             .field = "oidc_client_secret", .env = "CORVO_OIDC_CLIENT_SECRET"),
    CLI_FLAG("group-claim",   CLI_TEXT,  "NAME",   "groups", "oidc: token claim that contains the user's groups",
             .field = "oidc_group_claim", .options = CLI_SEND_DEFAULT),
    CLI_FLAG("map",           CLI_PAIRS, "GROUP=ROLE", NULL, "oidc: role for each group", .field = "group_role_mappings"),
    CLI_FLAG("disabled",      CLI_BOOL,  NULL,     "false",  "saml: store the settings, but do not accept the headers yet",
             .field = "saml_enabled", .options = CLI_SEND_DEFAULT | CLI_INVERTED),
};

static const struct cli_command commands[] = {
    {.name = "keys list", .args = "", .summary = "List API keys",
     .call = {"GET", "/auth/keys", CLI_COLUMNS(key_columns), .empty = "No API keys"}},
    {.name = "keys create", .args = "", .summary = "Create an API key and print its secret once",
     .about = "Creating the first key turns on authentication: every client then needs a key.",
     .examples = "export CORVO_API_KEY=$(corvo keys create --name ops --role admin)", CLI_FLAGS(key_flags),
     .call = {"POST", "/auth/keys", .text = "{api_key}", .note = "note"}},
    {.name = "keys rotate", .args = "<key-hash>", .summary = "Create a second secret for a key and print it once",
     .about = "The old secret keeps working for the duration of --overlap. Replace it everywhere before then.",
     .examples = "corvo keys rotate 9f86d0 --overlap 1h", CLI_FLAGS(rotate_flags),
     .run = run_with_key,
     .call = {"POST", "/auth/keys/{0}/rotate", .text = "{api_key}"}},
    {.name = "keys delete", .args = "<key-hash>", .summary = "Delete an API key",
     .options = CLI_CONFIRM, .confirm = "Delete the API key with hash {0}?",
     .about = "The first digits of the hash are enough if no other key's hash begins with them.", .run = run_with_key,
     .call = {"DELETE", "/auth/keys", .arg_field = {"key_hash"}, .text = "Key deleted: {0}"}},
    {.name = "keys roles", .args = "<key-hash>", .summary = "List the custom roles of an API key", .run = run_key_roles},
    {.name = "roles list", .args = "", .summary = "List custom roles",
     .call = {"GET", "/auth/roles", CLI_COLUMNS(role_columns), .empty = "No custom roles"}},
    {.name = "roles create", .args = "<name>", .summary = "Create or replace a custom role",
     .about = "A resource is the first path segment after /api/v1, such as queues or jobs; * means all.\n"
              "Actions are read, write, delete, pause, resume, drain, clear, retry, cancel, approve, reject, hold, move,\n"
              "replay and *.",
     .examples = "corvo roles create pauser --allow queues:read,queues:pause,queues:resume",
     CLI_FLAGS(role_flags), .run = run_role_set},
    {.name = "roles delete", .args = "<name>", .summary = "Delete a custom role and remove it from all keys",
     .options = CLI_CONFIRM, .confirm = "Delete role {0} and remove it from all keys?",
     .call = {"DELETE", "/auth/roles/{0}", .text = "Role deleted: {0}"}},
    {.name = "roles assign", .args = "<key-hash> <role>", .summary = "Assign a custom role to an API key", .run = run_with_key,
     .call = {"POST", "/auth/keys/{0}/roles", .arg_field = {NULL, "role"}, .text = "Role {1} assigned to {0}"}},
    {.name = "roles unassign", .args = "<key-hash> <role>", .summary = "Remove a custom role from an API key", .run = run_with_key,
     .call = {"DELETE", "/auth/keys/{0}/roles/{1}", .text = "Role {1} removed from {0}"}},
    {.name = "sessions list", .args = "", .summary = "List open sessions of the web interface",
     .call = {"GET", "/auth/sessions", CLI_COLUMNS(session_columns), .empty = "No open sessions"}},
    {.name = "sessions end", .args = "<id>", .summary = "End a session of the web interface",
     .call = {"DELETE", "/auth/sessions/{0}", .text = "Session ended: {0}"}},
    {.name = "sso show", .args = "", .summary = "Show the single sign-on settings", .run = run_sso_show},
    {.name = "sso set", .args = "<provider>", .summary = "Configure single sign-on on all nodes",
     .about = "oidc: the server accepts tokens of an OpenID Connect provider, and the web interface shows a sign-in\n"
              "button. saml: the proxies in the server's setting trusted-proxies identify users with X-Corvo-SAML\n"
              "headers. The command replaces all single sign-on settings.",
     .examples = "corvo sso set oidc --issuer https://id.example.com --client-id corvo --map ops=admin,dev=operator\n"
                 "corvo sso set saml",
     CLI_FLAGS(sso_flags),
     .call = {"POST", "/settings/sso", .arg_field = {"provider"}, .text = "Single sign-on set: {0}",
              .note = "warning note"}},
    {.name = "sso off", .args = "", .summary = "Turn single sign-on off and end its sessions",
     .options = CLI_CONFIRM, .confirm = "Turn single sign-on off and end its sessions?",
     .run = run_sso_off},
    {.name = "org show", .args = "", .summary = "Show the organization",
     .call = {"GET", "/org", .text = "{name} ({id})"}},
    {.name = "org rename", .args = "<name>", .summary = "Rename the organization",
     .call = {"PUT", "/org", .arg_field = {"name"}, .text = "Organization renamed: {0}"}},
    {.name = "org members", .args = "", .summary = "List members of the organization",
     .call = {"GET", "/org/members", CLI_COLUMNS(member_columns), .empty = "No members"}},
    {.name = "org add-member", .args = "<name>", .summary = "Add a member to the organization", CLI_FLAGS(member_flags),
     .call = {"POST", "/org/members", .arg_field = {"name"}, .text = "Member added: {id}"}},
    {.name = "org remove-member", .args = "<id>", .summary = "Remove a member from the organization",
     .options = CLI_CONFIRM, .confirm = "Remove member {0}?",
     .call = {"DELETE", "/org/members/{0}", .text = "Member removed: {0}"}},
    {.name = "org keys", .args = "", .summary = "List API keys of the organization",
     .call = {"GET", "/org/api-keys", CLI_COLUMNS(org_key_columns), .empty = "No organization keys"}},
    {.name = "org create-key", .args = "<name>", .summary = "Create an organization API key and print its secret once",
     .about = "The key is an admin of the default namespace.",
     .call = {"POST", "/org/api-keys", .arg_field = {"name"}, .text = "{key}"}},
    {.name = "org delete-key", .args = "<id>", .summary = "Delete an API key of the organization",
     .options = CLI_CONFIRM, .confirm = "Delete organization key {0}?",
     .call = {"DELETE", "/org/api-keys/{0}", .text = "Key deleted: {0}"}},
};
/* clang-format on */

const struct cli_family cli_access_family = {"Access", commands, COUNT_OF(commands)};
