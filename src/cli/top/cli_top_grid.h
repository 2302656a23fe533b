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
    CLI_TOP_BAR, /* the title and the selected row: reversed */
    CLI_TOP_GOOD,
    CLI_TOP_WARN,
    CLI_TOP_BAD,
    CLI_TOP_HEAD, /* heading of a table */
    CLI_TOP_STYLE_COUNT
};

struct cli_top_cell {
    uint32_t character; /* 0: right half of the character before */
    uint8_t style;
};

struct cli_top_grid {
    int width, height;
    bool unicode;
    struct cli_top_cell *cells; /* row by row */
};

/* Make a blank grid of this size (limited to the maximum). May be called again for another size. */
void cli_top_grid_init(struct cli_top_grid *g, int width, int height, bool unicode);
void cli_top_grid_deinit(struct cli_top_grid *g);

/* A position: a row, the first column, and the number of columns available. */
struct cli_top_at {
    int y, x, width;
};

/* A part of the grid. */
struct cli_top_area {
    int y, x, width, height;
};

/* The rest of a row of the area, from column x on; of width 0 below its last row. */
struct cli_top_at cli_top_grid_row(struct cli_top_area area, int row, int x);

/* Put text at the position, with an ellipsis if it is too long. Returns the number of columns
 * used. */
int cli_top_grid_put(struct cli_top_grid *g, struct cli_top_at at, enum cli_top_style style,
                     struct str text);
int cli_top_grid_printf(struct cli_top_grid *g, struct cli_top_at at, enum cli_top_style style,
                        const char *fmt, ...) ATTR_PRINTF(4, 5);

/* The same, aligned to the right. */
void cli_top_grid_right(struct cli_top_grid *g, struct cli_top_at at, enum cli_top_style style,
                        struct str text);

/* Blank these columns. */
void cli_top_grid_erase(struct cli_top_grid *g, struct cli_top_at at);

/* Change the style of these columns. */
void cli_top_grid_paint(struct cli_top_grid *g, struct cli_top_at at, enum cli_top_style style);

/* Append the rows as lines of UTF-8, without trailing blanks, up to the last row that is not
 * blank. */
void cli_top_grid_text(const struct cli_top_grid *g, struct buf *out);

/* Encode a character as UTF-8. Returns the number of bytes. */
size_t cli_top_grid_utf8(uint32_t character, char out[4]);
