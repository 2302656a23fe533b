/*
 * Cli_top_grid: a screen of characters in memory.
 *
 * `corvo top` draws into a grid, which is then shown by ncurses on a terminal, or printed as lines
 * of text for --once and in tests. Everything outside the grid is clipped. Control characters, and
 * characters that the terminal cannot show, become '?'.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/str.h"

enum { CLI_TOP_GRID_WIDTH_MAX = 1000, CLI_TOP_GRID_HEIGHT_MAX = 20000 };

enum cli_top_style {
    CLI_TOP_PLAIN,
    CLI_TOP_FAINT,
    CLI_TOP_BOLD,
    CLI_TOP_BAR, /* the title and the selected row: the other way round */
    CLI_TOP_GOOD,
    CLI_TOP_WARN,
    CLI_TOP_BAD,
    CLI_TOP_HEAD, /* of a table */
    CLI_TOP_STYLE_COUNT
};

struct cli_top_cell {
    uint32_t character; /* 0: the right half of the one before */
    uint8_t style;
};

struct cli_top_grid {
    int width, height;
    bool unicode;
    struct cli_top_cell *cells; /* row after row */
};

/* Blank, of that size (held to the limits). May be called again for another one. */
void cli_top_grid_init(struct cli_top_grid *g, int width, int height, bool unicode);
void cli_top_grid_deinit(struct cli_top_grid *g);

/* Where to put something: a row, its first column and how many columns it may have. */
struct cli_top_at {
    int y, x, width;
};

/* A part of the grid. */
struct cli_top_area {
    int y, x, width, height;
};

/* The rest of a row of the area, from column x on; no room at all below its last row. */
struct cli_top_at cli_top_grid_row(struct cli_top_area area, int row, int x);

/* Put text there, with an ellipsis if it has no room; returns the columns that it took. */
int cli_top_grid_put(struct cli_top_grid *g, struct cli_top_at at, enum cli_top_style style,
                     struct str text);
int cli_top_grid_printf(struct cli_top_grid *g, struct cli_top_at at, enum cli_top_style style,
                        const char *fmt, ...) ATTR_PRINTF(4, 5);

/* The same at the right end of the room. */
void cli_top_grid_right(struct cli_top_grid *g, struct cli_top_at at, enum cli_top_style style,
                        struct str text);

/* Blank these columns. */
void cli_top_grid_erase(struct cli_top_grid *g, struct cli_top_at at);

/* Give what stands there another style. */
void cli_top_grid_paint(struct cli_top_grid *g, struct cli_top_at at, enum cli_top_style style);

/* The rows as lines of UTF-8 without blanks at their ends, up to the last that has anything. */
void cli_top_grid_text(const struct cli_top_grid *g, struct buf *out);

/* A character as UTF-8; the number of bytes. */
size_t cli_top_grid_utf8(uint32_t character, char out[4]);
