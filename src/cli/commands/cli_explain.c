/*
 * Prints the server's explanation (GET …/explain) as text: a sentence about the job or queue, and a
 * line for each reason, followed by the jobs that the reason names.
 */
#include "cli/commands/cli_explain.h"

#include "base/id.h"
#include "cli/cli_int.h"

/* The lists of jobs in a reason, and the member that is printed after each job's id. */
static const struct {
    const char *list;
    const char *detail;
} named[] = {
    {"held_by", "worker_id"},
    {"waits_for", "state"},
};

static void show_reason(struct cli *cli, struct str reason)
{
    struct str message = cli_harmless(cli, cli_member_text(cli, reason, "message"));
    cli_printf(cli, "- " STR_FMT "\n", STR_ARG(message));
    for (size_t i = 0; i < COUNT_OF(named); i++) {
        struct str *jobs = NULL;
        size_t count = cli_elements(cli, cli_member(reason, named[i].list).text, &jobs);
        for (size_t n = 0; n < count; n++) {
            struct str id = cli_harmless(cli, cli_member_text(cli, jobs[n], "job_id"));
            struct str detail = cli_harmless(cli, cli_member_text(cli, jobs[n], named[i].detail));
            cli_printf(cli, "    " STR_FMT " (" STR_FMT ")\n", STR_ARG(id), STR_ARG(detail));
        }
    }
}

static void show(struct cli *cli, struct str answer, bool job)
{
    struct str *reasons = NULL;
    struct str id = cli_harmless(cli, cli_member_text(cli, answer, "job_id"));
    struct str queue = cli_harmless(cli, cli_member_text(cli, answer, "queue"));
    struct str state = cli_member_text(cli, answer, "state");
    bool runnable = cli_member_true(answer, "runnable");
    if (job) {
        cli_printf(cli, "Job " STR_FMT " in queue " STR_FMT " is " STR_FMT ".\n", STR_ARG(id),
                   STR_ARG(queue), STR_ARG(state));
    } else {
        cli_printf(cli, "Queue " STR_FMT " %s.\n", STR_ARG(queue),
                   runnable ? "is ready to hand out jobs" : "hands out no jobs at the moment");
    }
    size_t count = cli_elements(cli, cli_member(answer, "reasons").text, &reasons);
    for (size_t i = 0; i < count; i++) {
        show_reason(cli, reasons[i]);
    }
    if (job && runnable && count == 0) {
        cli_printf(cli, "- nothing blocks it: it goes to the next free worker\n");
    }
}

int cli_explain_run(struct cli *cli)
{
    struct cli_answer answer;
    bool job = str_starts_with(cli->args[0], ID_JOB);
    const char *url = job ? CLI_URL(cli, "/jobs/{0}/explain", cli->args[0])
                          : CLI_URL(cli, "/queues/{0}/explain", cli->args[0]);
    int code = cli_request(cli, "GET", url, STR_EMPTY, &answer);
    if (code != CLI_OK) {
        return code;
    }
    if (cli_is_json(cli)) {
        cli_print_json(cli, answer.body);
    } else {
        show(cli, answer.body, job);
    }
    return CLI_OK;
}
