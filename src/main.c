/*
 * Brings the server and the command line together.
 */
#include "cli/cli.h"
#include "jqbox/jqbox_child.h"
#include "os/os_process.h"
#include "repair/recover.h"
#include "repair/repair.h"
#include "server/server.h"
#include "server/settings.h"

enum { REPORT_BYTES_MAX = 1 << 20 };

extern char **environ;

static bool setting(size_t index, struct cli_setting *out)
{
    return settings_row(index, &out->name, &out->shown, &out->help);
}

static int repair(const char *data_dir, bool empty, bool apply, FILE *out, FILE *err)
{
    const struct repair_ask ask = {.data_dir = data_dir, .apply = apply, .empty = empty};
    enum repair_outcome outcome = REPAIR_LOST;
    struct err why;
    struct buf report;
    buf_init(&report, REPORT_BYTES_MAX);
    enum err_code code = repair_run(&ask, &report, &outcome, &why);
    (void)fprintf(out, STR_FMT, STR_ARG(buf_str(&report)));
    buf_deinit(&report);
    if (code != ERR_OK) {
        (void)fprintf(err, "Error: %s\n", why.msg);
        return 1;
    }
    if (outcome == REPAIR_POSSIBLE) {
        (void)fprintf(out, "Nothing was changed. Repeat the command with --yes to do it.\n");
    }
    return outcome == REPAIR_SOUND || outcome == REPAIR_MENDED ? 0 : 1;
}

static int recover(const char *data_dir, bool apply, FILE *out, FILE *err)
{
    struct err why;
    struct buf report;
    buf_init(&report, REPORT_BYTES_MAX);
    enum err_code code = recover_run(data_dir, apply, &report, &why);
    (void)fprintf(out, STR_FMT, STR_ARG(buf_str(&report)));
    buf_deinit(&report);
    if (code != ERR_OK) {
        (void)fprintf(err, "Error: %s\n", why.msg);
        return 1;
    }
    if (!apply) {
        (void)fprintf(out, "Nothing was changed. Repeat the command with --yes to do it.\n");
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const struct cli_host host = {
        .server = server_main, .repair = repair, .recover = recover, .setting = setting};
    os_process_fill_standard();
    if (jqbox_child_is_asked(argc, argv)) {
        return jqbox_child_main();
    }
    return cli_main(argc, argv, environ, &host);
}
