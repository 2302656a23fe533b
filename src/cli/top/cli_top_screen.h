/*
 * Cli_top_screen: the terminal of `corvo top`. The only file that knows ncurses.
 *
 * Between open and close, the terminal shows our grid and returns keys one by one, without waiting;
 * Ctrl-C remains a signal. Close restores the terminal. Only one can be open at a time.
 */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/err.h"
#include "cli/top/cli_top_grid.h"

struct cli_top_screen;

/* Does this terminal show what is not ASCII? By the locale, and TERM for those that never could. */
bool cli_top_screen_unicode(char **environment);

/* ERR_UNSUPPORTED when TERM names nothing that can be drawn on. */
ATTR_NODISCARD enum err_code cli_top_screen_open(bool color, struct cli_top_screen **out,
                                                 struct err *err);
void cli_top_screen_close(struct cli_top_screen *s); /* NULL is fine */

/* Ask the terminal how large it is; the grid is made for it. */
void cli_top_screen_fit(struct cli_top_screen *s, struct cli_top_grid *g, bool unicode);

void cli_top_screen_show(struct cli_top_screen *s, const struct cli_top_grid *g);

/* The next key that was pressed (cli_top_input.h), CLI_TOP_KEY_NONE when there is no more. */
int cli_top_screen_key(struct cli_top_screen *s);

/* The size of the terminal behind standard output; the defaults stay when it has none. */
void cli_top_screen_size(int *width, int *height);
