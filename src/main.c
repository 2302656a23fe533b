/*
 * Brings the server and the command line together.
 */
#include "cli/cli.h"
#include "jqbox/jqbox_child.h"
#include "os/os_process.h"
#include "server/server.h"
#include "server/settings.h"

extern char **environ;

static bool setting(size_t index, struct cli_setting *out)
{
    return settings_row(index, &out->name, &out->shown, &out->help);
}

int main(int argc, char **argv)
{
    static const struct cli_host host = {.server = server_main, .setting = setting};
    os_process_fill_standard();
    if (jqbox_child_is_asked(argc, argv)) {
        return jqbox_child_main();
    }
    return cli_main(argc, argv, environ, &host);
}
