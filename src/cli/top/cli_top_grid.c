#include "cli/top/cli_top_grid.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

#include "base/check.h"

enum { LINE_BYTES = 4096 };

static int clamp(int value, int min, int max)
{
    return value < min ? min : value > max ? max : value;
}

void cli_top_grid_init(struct cli_top_grid *g, int width, int height, bool unicode)
{
    free(g->cells);
    g->width = clamp(width, 1, CLI_TOP_GRID_WIDTH_MAX);
    g->height = clamp(height, 1, CLI_TOP_GRID_HEIGHT_MAX);
    g->unicode = unicode;
    g->cells = calloc((size_t)g->width * (size_t)g->height, sizeof *g->cells);
    CHECK(g->cells != NULL);
    for (int y = 0; y < g->height; y++) {
        cli_top_grid_erase(g, (struct cli_top_at){y, 0, g->width});
    }
}

void cli_top_grid_deinit(struct cli_top_grid *g)
{
    free(g->cells);
    *g = (struct cli_top_grid){.cells = NULL};
}

static struct cli_top_cell *cell(struct cli_top_grid *g, int y, int x)
{
    bool inside = y >= 0 && y < g->height && x >= 0 && x < g->width;
    return inside ? &g->cells[y * g->width + x] : NULL;
}

static void set(struct cli_top_grid *g, int y, int x, uint32_t character, enum cli_top_style style)
{
    struct cli_top_cell *c = cell(g, y, x);
    if (c != NULL) {
        *c = (struct cli_top_cell){character, (uint8_t)style};
    }
}

struct cli_top_at cli_top_grid_row(struct cli_top_area area, int row, int x)
{
    return (struct cli_top_at){area.y + row, area.x + x, row < area.height ? area.width - x : 0};
}

/* Remove the first character from the text, which must not be empty. */
static uint32_t next_character(struct str *text)
{
    static const unsigned char lead[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    size_t len = str_utf8_len(*text);
    uint32_t c = len == 0 ? '?' : (unsigned char)text->ptr[0] & lead[len];
    for (size_t i = 1; i < len; i++) {
        c = c << 6 | ((unsigned char)text->ptr[i] & 0x3f);
    }
    *text = str_from_offset(*text, len == 0 ? 1 : len);
    return c;
}

/* Return a character that the terminal can show, and its number of columns. */
static uint32_t showable(const struct cli_top_grid *g, uint32_t c, int *out_columns)
{
    *out_columns = 1;
    if (c < 128) {
        return c < ' ' || c == 127 ? '?' : c;
    }
    int columns = g->unicode ? wcwidth((wchar_t)c) : -1;
    if (columns != 1 && columns != 2) {
        return '?';
    }
    *out_columns = columns;
    return c;
}

static int columns_of(const struct cli_top_grid *g, struct str text)
{
    int all = 0;
    while (text.len > 0) {
        int columns = 0;
        (void)showable(g, next_character(&text), &columns);
        all += columns;
    }
    return all;
}

int cli_top_grid_put(struct cli_top_grid *g, struct cli_top_at at, enum cli_top_style style,
                     struct str text)
{
    int room = clamp(at.width, 0, g->width - clamp(at.x, 0, g->width));
    bool cut = columns_of(g, text) > room;
    int used = 0;
    if (room == 0) {
        return 0;
    }
    while (text.len > 0) {
        int columns = 0;
        uint32_t c = showable(g, next_character(&text), &columns);
        if (used + columns > room - (cut ? 1 : 0)) {
            break;
        }
        set(g, at.y, at.x + used, c, style);
        if (columns == 2) {
            set(g, at.y, at.x + used + 1, 0, style);
        }
        used += columns;
    }
    if (cut) {
        set(g, at.y, at.x + used++, g->unicode ? 0x2026 : '~', style);
    }
    return used;
}

int cli_top_grid_printf(struct cli_top_grid *g, struct cli_top_at at, enum cli_top_style style,
                        const char *fmt, ...)
{
    char line[LINE_BYTES];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof line ? (size_t)n : sizeof line - 1;
    return cli_top_grid_put(g, at, style, str_from(line, len));
}

void cli_top_grid_right(struct cli_top_grid *g, struct cli_top_at at, enum cli_top_style style,
                        struct str text)
{
    int columns = columns_of(g, text);
    if (columns < at.width) {
        at.x += at.width - columns;
        at.width = columns;
    }
    (void)cli_top_grid_put(g, at, style, text);
}

void cli_top_grid_erase(struct cli_top_grid *g, struct cli_top_at at)
{
    for (int i = 0; i < at.width; i++) {
        set(g, at.y, at.x + i, ' ', CLI_TOP_PLAIN);
    }
}

void cli_top_grid_paint(struct cli_top_grid *g, struct cli_top_at at, enum cli_top_style style)
{
    for (int i = 0; i < at.width; i++) {
        struct cli_top_cell *c = cell(g, at.y, at.x + i);
        if (c != NULL) {
            c->style = (uint8_t)style;
        }
    }
}

size_t cli_top_grid_utf8(uint32_t c, char out[4])
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t len = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = len - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (c & 0x3f));
        c >>= 6;
    }
    out[0] = (char)(lead[len] | c);
    return len;
}

static int row_end(const struct cli_top_grid *g, int y)
{
    int end = g->width;
    while (end > 0 && g->cells[y * g->width + end - 1].character == ' ') {
        end--;
    }
    return end;
}

void cli_top_grid_text(const struct cli_top_grid *g, struct buf *out)
{
    int last = g->height;
    while (last > 0 && row_end(g, last - 1) == 0) {
        last--;
    }
    for (int y = 0; y < last; y++) {
        for (int x = 0; x < row_end(g, y); x++) {
            char bytes[4];
            uint32_t c = g->cells[y * g->width + x].character;
            buf_add(out, bytes, c == 0 ? 0 : cli_top_grid_utf8(c, bytes));
        }
        buf_add_char(out, '\n');
    }
}
