/*
 * Cli_top_draw: draws one frame of `corvo top` into a grid of any size.
 *
 * The frame depends only on the data, the user's choices and the time. Narrow screens show the
 * parts below each other, with fewer columns; wide ones show the workers beside the queues.
 */
#pragma once

#include <stdbool.h>

#include "base/clock.h"
#include "cli/top/cli_top_grid.h"
#include "cli/top/cli_top_input.h"
#include "cli/top/cli_top_model.h"

struct cli_top_frame {
    const struct cli_top_model *model;
    const struct cli_top_ui *ui;
    const char *server;
    const char *trouble;   /* why there is no new data; NULL: there is */
    bool refused;          /* with trouble: the server answered, but refused */
    const char *no_events; /* why there are no failures; NULL: they arrive */
    struct wall trouble_since;
    struct wall since; /* when the view was opened */
    struct wall now;
    bool still; /* printed once: no keys, no selection */
};

/* Draw the frame into a blank grid. */
void cli_top_draw(struct cli_top_grid *g, const struct cli_top_frame *f);

/* The height at which nothing is omitted. */
int cli_top_draw_height(const struct cli_top_model *m, int width);
