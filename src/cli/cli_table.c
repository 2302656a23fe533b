#include "cli/cli_table.h"

#include "base/attr.h"
#include "base/check.h"

static const struct cli_family *const families[] = {
    &cli_self_family,    &cli_work_family,      &cli_jobs_family,   &cli_search_family,
    &cli_bulk_family,    &cli_queues_family,    &cli_status_family, &cli_cluster_family,
    &cli_history_family, &cli_schedules_family, &cli_events_family, &cli_costs_family,
    &cli_access_family,  &cli_admin_family,     &cli_backup_family, &cli_seed_family,
    &cli_bench_family,   &cli_top_family,
};

/* clang-format off */
static const struct cli_flag client_flags[] = {
    CLI_FLAG("server",      CLI_TEXT,     "URL",      "http://localhost:8080", "base URL of the server",
             .env = "CORVO_URL", .options = CLI_NOT_EMPTY),
    CLI_FLAG("api-key",     CLI_BYTES,    "KEY",      NULL,                    "API key or admin password",
             .env = "CORVO_API_KEY"),
    CLI_FLAG("namespace",   CLI_TEXT,     "NAME",     NULL,                    "namespace to act in; a key of one namespace always acts in its own",
             .env = "CORVO_NAMESPACE"),
    CLI_FLAG("output",      CLI_TEXT,     "FORMAT",   "text",                  "output format",
             .letter = 'o', .words = "text table wide json jsonl csv id"),
    CLI_FLAG("output-json", CLI_BOOL,     NULL,       "false",                 "same as --output json"),
    CLI_FLAG("ca-file",     CLI_BYTES,    "FILE",     NULL,                    "CA bundle (PEM) used to verify the server certificate",
             .env = "SSL_CERT_FILE"),
    CLI_FLAG("timeout",     CLI_DURATION, "DURATION", NULL,                    "timeout of each request"),
};

static const struct cli_flag confirm_flags[] = {
    CLI_FLAG("yes", CLI_BOOL, NULL, "false", "do not ask for confirmation", .letter = 'y'),
};

static const struct cli_flag global_flags[] = {
    CLI_FLAG("log-level", CLI_TEXT, "LEVEL", "info",  "lowest level to log to standard error: debug, info, warn or error"),
    CLI_FLAG("help",      CLI_BOOL, NULL,    "false", "show this help", .letter = 'h'),
};

/* Aliases, for users who look for a command in another place. */
static const struct {
    const char *from;
    const char *to;
} aliases[] = {
    {"jobs list", "search"},     {"jobs search", "search"},   {"jobs inspect", "inspect"},
    {"jobs cancel", "cancel"},   {"jobs delete", "delete"},
    {"queue list", "queues"},    {"queue pause", "pause"},    {"queue resume", "resume"},
    {"queue clear", "clear"},    {"queue drain", "drain"},    {"queue destroy", "destroy"},
    {"queue concurrency", "concurrency"}, {"queue throttle", "throttle"},
    {"events tail", "events"},   {"tail", "events"},
    {"keys", "keys list"},       {"webhooks", "webhooks list"}, {"namespaces", "namespaces list"},
    {"roles", "roles list"},     {"sessions", "sessions list"}, {"org", "org show"},
    {"sso", "sso show"},
    {"audit list", "audit"},
    {"worker", "work"},          {"show", "inspect"},
};
/* clang-format on */

const struct cli_family *const *cli_table_families(size_t *out_count)
{
    *out_count = COUNT_OF(families);
    return families;
}

const struct cli_command *cli_table_at(size_t index)
{
    for (size_t i = 0; i < COUNT_OF(families); i++) {
        if (index < families[i]->count) {
            return &families[i]->commands[index];
        }
        index -= families[i]->count;
    }
    return NULL;
}

const struct cli_command *cli_table_find(struct str name)
{
    const struct cli_command *c;
    for (size_t i = 0; (c = cli_table_at(i)) != NULL; i++) {
        if (str_eq(str_from_z(c->name), name)) {
            return c;
        }
    }
    return NULL;
}

bool cli_table_is_below(struct str name, struct str group)
{
    return name.len > group.len && str_starts_with(name, group) && name.ptr[group.len] == ' ';
}

bool cli_table_is_group(struct str name)
{
    const struct cli_command *c;
    for (size_t i = 0; (c = cli_table_at(i)) != NULL; i++) {
        if (cli_table_is_below(str_from_z(c->name), name)) {
            return true;
        }
    }
    for (size_t i = 0; i < COUNT_OF(aliases); i++) {
        if (cli_table_is_below(str_from_z(aliases[i].from), name)) {
            return true;
        }
    }
    return false;
}

const struct cli_command *cli_table_alias_at(size_t index, const char **out_from)
{
    if (index >= COUNT_OF(aliases)) {
        return NULL;
    }
    *out_from = aliases[index].from;
    return cli_table_find(str_from_z(aliases[index].to));
}

struct str cli_table_alias(struct str name)
{
    for (size_t i = 0; i < COUNT_OF(aliases); i++) {
        if (str_eq(str_from_z(aliases[i].from), name)) {
            return str_from_z(aliases[i].to);
        }
    }
    return STR_EMPTY;
}

/* Flags */

static bool has_own(const struct cli_command *c, const char *name)
{
    for (size_t i = 0; i < c->flag_count; i++) {
        if (strcmp(c->flags[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* The nth visible flag of the list. If the list has fewer, *index is reduced by their number. */
static const struct cli_flag *nth(const struct cli_command *c, const struct cli_flag *flags,
                                  size_t count, size_t *index)
{
    for (size_t i = 0; i < count; i++) {
        if (c != NULL && has_own(c, flags[i].name)) {
            continue;
        }
        if (*index == 0) {
            return &flags[i];
        }
        (*index)--;
    }
    return NULL;
}

const struct cli_flag *cli_table_flag(const struct cli_command *command, size_t index)
{
    const struct cli_flag *flag = NULL;
    unsigned options = command == NULL ? 0 : command->options;
    if (command != NULL) {
        if (index < command->flag_count) {
            return &command->flags[index];
        }
        index -= command->flag_count;
    }
    if ((options & CLI_CONFIRM) != 0) {
        flag = nth(command, confirm_flags, COUNT_OF(confirm_flags), &index);
    }
    if (flag == NULL && (options & CLI_LOCAL) == 0) {
        flag = nth(command, client_flags, COUNT_OF(client_flags), &index);
    }
    return flag != NULL ? flag : nth(command, global_flags, COUNT_OF(global_flags), &index);
}

const struct cli_flag *cli_table_find_flag(const struct cli_command *command, struct str name)
{
    const struct cli_flag *f;
    for (size_t i = 0; (f = cli_table_flag(command, i)) != NULL; i++) {
        bool letter = name.len == 1 && f->letter != 0 && f->letter == name.ptr[0];
        if (letter || str_eq(str_from_z(f->name), name) ||
            (f->alias != NULL && str_eq(str_from_z(f->alias), name))) {
            return f;
        }
    }
    return NULL;
}

/* Arguments */

static size_t count_of(const char *args, char bracket)
{
    size_t n = 0;
    for (const char *p = args; *p != '\0'; p++) {
        n += *p == bracket ? 1 : 0;
    }
    return n;
}

size_t cli_table_args_min(const struct cli_command *command)
{
    return count_of(command->args, '<');
}

size_t cli_table_args_max(const struct cli_command *command)
{
    bool rest = strstr(command->args, "...") != NULL;
    return rest ? CLI_ARGS_MAX : count_of(command->args, '<') + count_of(command->args, '[');
}

bool cli_table_is_word(const char *words, struct str value)
{
    struct str left = str_from_z(words);
    while (left.len > 0) {
        if (str_eq(str_cut(&left, ' '), value)) {
            return true;
        }
    }
    return false;
}

/* Checks */

static void check_flag(const struct cli_command *c, size_t index)
{
    const struct cli_flag *f = &c->flags[index];
    CHECK(f->help != NULL);
    CHECK((f->value == NULL) == (f->kind == CLI_BOOL));
    if (f->words != NULL && f->fallback != NULL) {
        CHECK(cli_table_is_word(f->words, str_from_z(f->fallback)));
    }
    for (size_t i = 0; i < index; i++) {
        CHECK(strcmp(c->flags[i].name, f->name) != 0);
    }
}

static void check_command(const struct cli_command *c)
{
    CHECK(c->summary != NULL);
    CHECK(c->args != NULL);
    CHECK(cli_table_find(str_from_z(c->name)) == c); /* no other command has this name */
    CHECK(cli_table_args_max(c) <= CLI_ARGS_MAX);
    CHECK(c->run != NULL || c->call.method != NULL);
    CHECK(((c->options & CLI_CONFIRM) != 0) == (c->confirm != NULL));
    if (c->run == NULL) {
        CHECK((c->call.text == NULL) == (c->call.column_count > 0));
        CHECK((c->call.column_count > 0) == (c->call.empty != NULL));
    }
    for (size_t i = 0; i < c->flag_count; i++) {
        check_flag(c, i);
    }
}

void cli_table_check(void)
{
    const struct cli_command *c;
    for (size_t i = 0; (c = cli_table_at(i)) != NULL; i++) {
        check_command(c);
    }
    for (size_t i = 0; i < COUNT_OF(aliases); i++) {
        CHECK(cli_table_find(str_from_z(aliases[i].from)) == NULL);
        CHECK(cli_table_find(str_from_z(aliases[i].to)) != NULL);
    }
}
