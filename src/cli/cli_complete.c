#include "cli/cli_complete.h"

#include "base/attr.h"
#include "cli/cli_parse.h"

static const char bash_script[] =
    "# bash completion for corvo: source <(corvo completion bash)\n"
    "_corvo() {\n"
    "    local IFS=$'\\n' line word last rest=$COMP_LINE i n=0\n"
    "    local -a words=()\n"
    "    # Bash splits words at = and :, as in --output=json and http://host:8080.\n"
    "    for ((i = 0; i <= COMP_CWORD; i++)); do\n"
    "        word=${COMP_WORDS[i]}\n"
    "        if ((i > 0)) && [[ -n $rest && $rest != [[:space:]]* ]]; then\n"
    "            words[n]+=$word\n"
    "        else\n"
    "            n=${#words[@]}\n"
    "            words[n]=$word\n"
    "        fi\n"
    "        rest=${rest#\"${rest%%[![:space:]]*}\"}\n"
    "        rest=${rest#\"$word\"}\n"
    "    done\n"
    "    last=$word\n"
    "    [[ $last == [=:] ]] && last=\n"
    "    COMPREPLY=()\n"
    "    while read -r line; do\n"
    "        line=${line%%$'\\t'*}\n"
    "        COMPREPLY+=(\"${line#\"${words[n]%\"$last\"}\"}\")\n"
    "    done < <(corvo __complete \"${words[@]:1}\" 2>/dev/null)\n"
    "}\n"
    "complete -o default -F _corvo corvo\n";

static const char zsh_script[] =
    "#compdef corvo\n"
    "# zsh completion for corvo: source <(corvo completion zsh)\n"
    "_corvo() {\n"
    "    local -a found\n"
    "    local line\n"
    "    while IFS= read -r line; do\n"
    "        found+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\")\n"
    "    done < <(corvo __complete \"${(@)words[2,CURRENT]}\" 2>/dev/null)\n"
    "    if (( ${#found} )); then\n"
    "        _describe 'corvo' found\n"
    "    else\n"
    "        _files\n"
    "    fi\n"
    "}\n"
    "compdef _corvo corvo\n";

static const char fish_script[] =
    "# fish completion for corvo: corvo completion fish | source\n"
    "complete -c corvo -f -n 'count (corvo __complete (commandline -opc)[2..-1] (commandline -ct)"
    " 2>/dev/null)' -a '(corvo __complete (commandline -opc)[2..-1] (commandline -ct)"
    " 2>/dev/null)'\n";

static const char powershell_script[] =
    "# PowerShell completion for corvo: corvo completion powershell | Out-String |"
    " Invoke-Expression\n"
    "Register-ArgumentCompleter -Native -CommandName corvo -ScriptBlock {\n"
    "    param($word, $line, $cursor)\n"
    "    $words = @($line.CommandElements | Select-Object -Skip 1 |\n"
    "        Where-Object { $_.Extent.EndOffset -lt $cursor } |\n"
    "        ForEach-Object { $_.ToString() })\n"
    "    # Older shells do not pass an empty argument on.\n"
    "    $empty = if ($PSNativeCommandArgumentPassing -in 'Standard', 'Windows') { '' }"
    " else { '\"\"' }\n"
    "    $last = if ($word) { $word } else { $empty }\n"
    "    corvo __complete @words $last 2>$null | ForEach-Object {\n"
    "        $name, $help = $_ -split \"`t\", 2\n"
    "        if (-not $help) { $help = $name }\n"
    "        [System.Management.Automation.CompletionResult]::new(\n"
    "            $name, $name, 'ParameterValue', $help)\n"
    "    }\n"
    "}\n";

const char *cli_complete_script(struct str shell)
{
    static const struct {
        const char *shell;
        const char *script;
    } scripts[] = {{"bash", bash_script},
                   {"zsh", zsh_script},
                   {"fish", fish_script},
                   {"powershell", powershell_script}};
    for (size_t i = 0; i < COUNT_OF(scripts); i++) {
        if (str_eq(shell, str_from_z(scripts[i].shell))) {
            return scripts[i].script;
        }
    }
    return NULL;
}

static void offer(struct cli *cli, struct str word, const char *prefix, struct str name,
                  const char *help)
{
    struct str full = cli_format(cli, "%s" STR_FMT, prefix, STR_ARG(name));
    if (str_starts_with(full, word)) {
        cli_printf(cli, STR_FMT "\t%s\n", STR_ARG(full), help);
    }
}

static void offer_words(struct cli *cli, struct str word, const char *prefix, const char *words)
{
    struct str left = str_from_z(words);
    while (left.len > 0) {
        offer(cli, word, prefix, str_cut(&left, ' '), "");
    }
}

static struct str next_word(struct str name, struct str group)
{
    struct str rest = group.len == 0 ? name : str_from_offset(name, group.len + 1);
    return str_cut(&rest, ' ');
}

/* Offer an alias only if its first characters have been typed. */
static void offer_aliases(struct cli *cli, struct str group, struct str word)
{
    const struct cli_command *c;
    const char *from = NULL;
    for (size_t i = 0; (c = cli_table_alias_at(i, &from)) != NULL; i++) {
        if (group.len > 0 && cli_table_is_below(str_from_z(from), group)) {
            offer(cli, word, "", next_word(str_from_z(from), group), c->summary);
        }
    }
}

/* The command with this name or alias. */
static const struct cli_command *command_of(struct str words)
{
    struct str alias = cli_table_alias(words);
    return cli_table_find(alias.len > 0 ? alias : words);
}

/* Offer the words that may follow those of the group, each once. */
static void offer_commands(struct cli *cli, struct str group, struct str word)
{
    const struct cli_command *c;
    struct str last = STR_EMPTY;
    for (size_t i = 0; (c = cli_table_at(i)) != NULL; i++) {
        struct str name = str_from_z(c->name);
        bool below = group.len == 0 || cli_table_is_below(name, group);
        if (!below || (c->options & CLI_HIDDEN) != 0) {
            continue;
        }
        struct str next = next_word(name, group);
        bool whole = next.ptr + next.len == name.ptr + name.len;
        if (!str_eq(next, last)) {
            offer(cli, word, "", next, whole ? c->summary : "");
        }
        last = next;
    }
    offer_aliases(cli, group, word);
}

static void offer_settings(struct cli *cli, struct str word)
{
    struct cli_setting s;
    for (size_t i = 0; cli->host != NULL && cli->host->setting(i, &s); i++) {
        offer(cli, word, "--", str_from_z(s.name), s.help);
    }
}

static void offer_flags(struct cli *cli, const struct cli_command *c, struct str word)
{
    const struct cli_flag *f;
    if (c != NULL && strcmp(c->name, "server") == 0) {
        offer_settings(cli, word);
        return;
    }
    for (size_t i = 0; (f = cli_table_flag(c, i)) != NULL; i++) {
        offer(cli, word, "--", str_from_z(f->name), f->help);
        if (f->alias != NULL) {
            offer(cli, word, "--", str_from_z(f->alias), f->help);
        }
    }
}

/* The flag in --name, --name=value or -x; NULL if it is none. */
static const struct cli_flag *flag_of(const struct cli_command *c, const char *arg)
{
    struct str name = str_from_z(arg);
    if (str_starts_with(name, STR("--"))) {
        name = str_from_offset(name, 2);
        return cli_table_find_flag(c, str_cut(&name, '='));
    }
    return name.len == 2 && name.ptr[0] == '-' ? cli_table_find_flag(c, str_from_offset(name, 1))
                                               : NULL;
}

/* True if the next word is the value of the flag. */
static bool needs_value(const struct cli_flag *f, const char *arg)
{
    return f != NULL && f->kind != CLI_BOOL && strchr(arg, '=') == NULL;
}

/* Collect the words before the last one that name a command; skip flags between them. */
static void command_words(int count, char **words, struct cli_parse_words *out)
{
    for (int i = 0; i + 1 < count; i++) {
        const struct cli_command *c = command_of(str_from(out->text, out->len));
        const struct cli_flag *f = flag_of(c, words[i]);
        if (words[i][0] == '-') {
            i += needs_value(f, words[i]) ? 1 : 0;
        } else if (!cli_parse_add_word(out, str_from_z(words[i]))) {
            return;
        }
    }
}

/* What has been typed. */
struct typed {
    int count;
    char **words;
    const struct cli_command *command;
};

/* Values that the server knows, for arguments and flags that name them. The request has a short
 * timeout. */

enum { REQUEST_ARGS_MAX = 32 };

struct source {
    const char *url;
    struct str body;  /* body of a POST; empty: the request is a GET */
    const char *list; /* member with the rows; NULL: the response is the list */
    const char *member;
    const char *help;
};

static const struct source queues = {.url = "/queues", .member = "name", .help = "queue"};

/* Arguments whose values depend on the command: the first row whose command is the beginning of
 * the typed one. */
static const struct {
    const char *argument;
    const char *command;
    struct source source;
} listed[] = {
    {"id", "schedules", {.url = "/schedules", .member = "id", .help = "schedule"}},
    {"id", "webhooks", {.url = "/webhooks", .member = "id", .help = "webhook"}},
    {"id", "approval-policy", {.url = "/approval-policies", .member = "id", .help = "policy"}},
    {"id", "sessions", {.url = "/auth/sessions", .member = "id", .help = "session"}},
    {"id", "org remove-member", {.url = "/org/members", .member = "id", .help = "member"}},
    {"id", "org delete-key", {.url = "/org/api-keys", .member = "id", .help = "key"}},
    {"id", "unmark", {.url = "/markers", .member = "id", .help = "marker"}},
    {"key-hash", "", {.url = "/auth/keys", .member = "key_hash", .help = "key"}},
    {"role", "", {.url = "/auth/roles", .member = "name", .help = "role"}},
    {"name", "roles", {.url = "/auth/roles", .member = "name", .help = "role"}},
    {"name", "namespaces", {.url = "/namespaces", .member = "name", .help = "namespace"}},
    {"node-id", "", {.url = "/cluster/status", .list = "nodes", .member = "id", .help = "node"}},
};

/* A list of queues with the typed flags that say where to connect and as whom. Otherwise they come
 * from the environment, as for other commands. */
static int request_args(const struct typed *t, char **out)
{
    static char command[] = "queues", flag[] = "--timeout", moment[] = "700ms";
    int n = 0;
    out[n++] = command;
    out[n++] = flag;
    out[n++] = moment;
    for (int i = 0; i + 1 < t->count && n + 2 < REQUEST_ARGS_MAX; i++) {
        const struct cli_flag *f = flag_of(t->command, t->words[i]);
        bool value = needs_value(f, t->words[i]);
        bool own = f != NULL && f->field != NULL; /* --namespace with another meaning */
        if (f != NULL && !own &&
            cli_table_is_word("server api-key namespace ca-file", str_from_z(f->name)) &&
            (!value || i + 2 < t->count)) {
            out[n++] = t->words[i];
            if (value) {
                out[n++] = t->words[i + 1];
            }
        }
        i += value ? 1 : 0;
    }
    return n;
}

static void offer_members(struct cli *cli, const struct typed *t, struct str word,
                          const struct source *from)
{
    char *args[REQUEST_ARGS_MAX];
    struct cli_answer answer;
    struct str *rows = NULL;
    struct err parsed;
    FILE *err = cli->err;
    if (cli_parse(cli, request_args(t, args), args, &parsed) != ERR_OK) {
        return;
    }
    cli->err = fopen("/dev/null", "w"); /* an unreachable server is not an error here */
    if (cli->err == NULL) {
        cli->err = err;
        return;
    }
    int code = cli_ask(cli, from->body.len > 0 ? "POST" : "GET", cli_url_to(cli, from->url),
                       from->body, &answer);
    (void)fclose(cli->err);
    cli->err = err;
    if (code != CLI_OK || answer.status != 200) {
        return;
    }
    struct str array = from->list == NULL ? answer.body : cli_member(answer.body, from->list).text;
    size_t count = cli_elements(cli, array, &rows);
    for (size_t i = 0; i < count; i++) {
        struct str name = cli_harmless(cli, cli_member_text(cli, rows[i], from->member));
        if (name.len > 0) {
            offer(cli, word, "", name, from->help);
        }
    }
}

static void offer_jobs(struct cli *cli, const struct typed *t, struct str word)
{
    bool begun = str_starts_with(word, STR("job_"));
    struct str body = begun ? CLI_OBJECT(cli, CLI_SET_TEXT("job_id_prefix", word)) : STR("{}");
    struct source jobs = {"/jobs/search", body, "jobs", "id", ""};
    offer_members(cli, t, word, &jobs);
}

/* New names are not offered. */
static bool creates(const struct typed *t)
{
    struct str name = str_from_z(t->command->name);
    return memmem(name.ptr, name.len, " create", strlen(" create")) != NULL;
}

static void offer_listed(struct cli *cli, const struct typed *t, struct str word, struct str what)
{
    for (size_t i = 0; i < COUNT_OF(listed) && t->command != NULL && !creates(t); i++) {
        if (str_eq(what, str_from_z(listed[i].argument)) &&
            str_starts_with(str_from_z(t->command->name), str_from_z(listed[i].command))) {
            offer_members(cli, t, word, &listed[i].source);
            return;
        }
    }
}

/* Find the request by the placeholder in the table: "queue", "<job-id>", "STATES". */
static void offer_named(struct cli *cli, const struct typed *t, struct str word, struct str what)
{
    if (str_eq_nocase(what, STR("queue")) || str_eq(what, STR("target-queue")) ||
        str_eq(what, STR("QUEUES"))) {
        offer_members(cli, t, word, &queues);
    } else if (str_eq_nocase(what, STR("job-id"))) {
        offer_jobs(cli, t, word);
    } else if (str_eq(what, STR("job-id|queue"))) {
        offer_members(cli, t, word, &queues);
        offer_jobs(cli, t, word);
    } else if (str_eq_nocase(what, STR("states"))) {
        offer_words(cli, word, "",
                    "pending active completed retrying dead cancelled scheduled held");
    } else if (str_eq(what, STR("action"))) {
        offer_words(cli, word, "",
                    "retry delete cancel requeue hold approve reject move change_priority");
    } else if (str_eq(what, STR("shell"))) {
        offer_words(cli, word, "", "bash zsh fish powershell");
    } else if (str_eq(what, STR("scope"))) {
        offer_words(cli, word, "", "queue tag global");
    } else {
        offer_listed(cli, t, word, what);
    }
}

/* Offer the words that may follow "--name=". */
static void offer_value(struct cli *cli, const struct cli_flag *f, struct str word)
{
    struct str rest = word;
    struct str name = str_cut(&rest, '=');
    const char *prefix = arena_strz(cli->arena, cli_format(cli, STR_FMT "=", STR_ARG(name)));
    if (f != NULL && f->words != NULL && prefix != NULL) {
        offer_words(cli, word, prefix, f->words);
    }
}

/* The name of the nth argument of "<scope> [target]". */
static struct str argument_name(const char *args, size_t n)
{
    for (const char *p = args; *p != '\0'; p++) {
        if (*p == '<' || *p == '[') {
            size_t len = strcspn(p + 1, ">]");
            if (n-- == 0) {
                return str_from(p + 1, len);
            }
        }
    }
    return STR_EMPTY;
}

/* The number of arguments before the word that is being completed. */
static size_t arguments_before(const struct cli_command *c, int count, char **words)
{
    size_t n = 0;
    for (int i = 0; i + 1 < count; i++) {
        const struct cli_flag *f = flag_of(c, words[i]);
        if (words[i][0] == '-') {
            i += needs_value(f, words[i]) ? 1 : 0;
        } else {
            n++;
        }
    }
    size_t own = 1;
    for (const char *p = c->name; *p != '\0'; p++) {
        own += *p == ' ' ? 1 : 0;
    }
    return n < own ? 0 : n - own;
}

void cli_complete_words(struct cli *cli, int count, char **words)
{
    /* "help" and "man" take the name of a command, so complete what follows them. */
    if (count > 1 && cli_table_is_word("help man", str_from_z(words[0]))) {
        words++;
        count--;
    }
    struct cli_parse_words found = {.len = 0};
    command_words(count, words, &found);
    struct str group = str_from(found.text, found.len);
    const struct cli_command *c = command_of(group);
    struct str word = count > 0 ? str_from_z(words[count - 1]) : STR_EMPTY;
    const struct typed typed = {.count = count, .words = words, .command = c};
    const struct cli_flag *before = count > 1 ? flag_of(c, words[count - 2]) : NULL;
    bool is_value = count > 1 && needs_value(before, words[count - 2]);
    if (is_value) {
        if (before->words != NULL) {
            offer_words(cli, word, "", before->words);
        } else if (before->value != NULL) {
            offer_named(cli, &typed, word, str_from_z(before->value));
        }
    } else if (str_starts_with(word, STR("--")) && memchr(word.ptr, '=', word.len) != NULL) {
        offer_value(cli, flag_of(c, words[count - 1]), word);
    } else if (str_starts_with(word, STR("-"))) {
        offer_flags(cli, c, word);
    } else if (group.len == 0 || cli_table_is_group(group)) {
        offer_commands(cli, group, word);
    }
    if (c != NULL && !str_starts_with(word, STR("-")) && !is_value) {
        struct str name = argument_name(c->args, arguments_before(c, count, words));
        if (name.len > 0) {
            offer_named(cli, &typed, word, name);
        }
    }
}
