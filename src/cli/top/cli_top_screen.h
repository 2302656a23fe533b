/*
 * Cli_top_screen: the terminal of `corvo top`. The only file that uses ncurses.
 *
 * Between open and close, the terminal shows a grid and returns keys one by one, without waiting;
 * Ctrl-C remains a signal. Close restores the terminal. Only one can be open at a time.
 */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/err.h"
#include "cli/top/cli_top_grid.h"

struct cli_top_screen;

/* Can the terminal show Unicode characters? Depends on the locale and, for old terminals, on
 * TERM. */
bool cli_top_screen_unicode(char **environment);

/* ERR_UNSUPPORTED if the terminal in TERM is unknown or cannot be drawn on. */
ATTR_NODISCARD enum err_code cli_top_screen_open(bool color, struct cli_top_screen **out,
                                                 struct err *err);
void cli_top_screen_close(struct cli_top_screen *s); /* NULL is allowed */

/* Read the size of the terminal and make the grid fit it. */
void cli_top_screen_fit(struct cli_top_screen *s, struct cli_top_grid *g, bool unicode);

void cli_top_screen_show(struct cli_top_screen *s, const struct cli_top_grid *g);

/* The next key (cli_top_input.h); CLI_TOP_KEY_NONE if there is none. */
int cli_top_screen_key(struct cli_top_screen *s);

/* The size of the terminal on standard output; unchanged if it has none. */
void cli_top_screen_size(int *width, int *height);
