#include "cli/top/cli_top_screen.h"

#include <langinfo.h>
#include <locale.h>
#include <ncurses.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/check.h"
#include "cli/cli_table.h"
#include "cli/top/cli_top_input.h"

enum { ESCAPE_MS = 50, WIDTH_DEFAULT = 80, HEIGHT_DEFAULT = 24 };

struct cli_top_screen {
    SCREEN *screen;
    attr_t attributes[CLI_TOP_STYLE_COUNT];
    short pairs[CLI_TOP_STYLE_COUNT];
};

bool cli_top_screen_unicode(char **environment)
{
    struct str term = STR_EMPTY;
    for (char **e = environment; e != NULL && *e != NULL; e++) {
        struct str pair = str_from_z(*e);
        term = str_starts_with(pair, STR("TERM=")) ? str_from_offset(pair, 5) : term;
    }
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
    if (setlocale(LC_CTYPE, "") == NULL) {
        return false;
    }
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0 &&
           !cli_table_is_word("dumb vt52 vt100 vt102 vt220 ansi", term);
}

static void choose_styles(struct cli_top_screen *s, bool color)
{
    static const struct {
        attr_t attributes;
        short color;      /* -1: none */
        attr_t colorless; /* also, on a terminal without colours */
    } styles[CLI_TOP_STYLE_COUNT] = {
        [CLI_TOP_PLAIN] = {A_NORMAL, -1, 0},
        [CLI_TOP_FAINT] = {A_DIM, -1, 0},
        [CLI_TOP_BOLD] = {A_BOLD, -1, 0},
        [CLI_TOP_BAR] = {A_REVERSE, -1, 0},
        [CLI_TOP_GOOD] = {A_NORMAL, COLOR_GREEN, 0},
        [CLI_TOP_WARN] = {A_NORMAL, COLOR_YELLOW, A_BOLD},
        [CLI_TOP_BAD] = {A_BOLD, COLOR_RED, 0},
        [CLI_TOP_HEAD] = {A_BOLD | A_UNDERLINE, -1, 0},
    };
    color = color && has_colors();
    if (color) {
        (void)start_color();
        (void)use_default_colors();
    }
    for (int i = 0; i < CLI_TOP_STYLE_COUNT; i++) {
        bool colored = color && styles[i].color >= 0;
        s->attributes[i] = styles[i].attributes | (color ? 0 : styles[i].colorless);
        s->pairs[i] = (short)(colored ? i : 0);
        if (colored) {
            (void)init_pair((short)i, styles[i].color, -1);
        }
    }
}

enum err_code cli_top_screen_open(bool color, struct cli_top_screen **out, struct err *err)
{
    SCREEN *screen = newterm(NULL, stdout, stdin);
    if (screen == NULL) {
        return err_set(err, ERR_UNSUPPORTED, "cannot draw on this terminal (TERM); use --once");
    }
    struct cli_top_screen *s = calloc(1, sizeof *s);
    CHECK(s != NULL);
    s->screen = screen;
    (void)set_term(screen);
    (void)cbreak();
    (void)noecho();
    (void)nonl();
    (void)keypad(stdscr, TRUE);
    (void)nodelay(stdscr, TRUE);
    (void)set_escdelay(ESCAPE_MS);
    (void)curs_set(0);
    choose_styles(s, color);
    *out = s;
    return ERR_OK;
}

void cli_top_screen_close(struct cli_top_screen *s)
{
    if (s != NULL) {
        (void)endwin();
        delscreen(s->screen);
        free(s);
    }
}

void cli_top_screen_size(int *width, int *height)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
        *width = size.ws_col;
        *height = size.ws_row;
    }
}

void cli_top_screen_fit(struct cli_top_screen *s, struct cli_top_grid *g, bool unicode)
{
    int width = WIDTH_DEFAULT;
    int height = HEIGHT_DEFAULT;
    (void)s;
    cli_top_screen_size(&width, &height);
    if (width != COLS || height != LINES) {
        (void)resizeterm(height, width);
    }
    cli_top_grid_init(g, width, height, unicode);
}

static void show_cell(struct cli_top_screen *s, const struct cli_top_grid *g, int y, int x)
{
    const struct cli_top_cell *c = &g->cells[y * g->width + x];
    wchar_t text[2] = {(wchar_t)c->character, 0};
    cchar_t shown;
    if (setcchar(&shown, text, s->attributes[c->style], s->pairs[c->style], NULL) == OK) {
        (void)mvadd_wch(y, x, &shown);
    }
}

void cli_top_screen_show(struct cli_top_screen *s, const struct cli_top_grid *g)
{
    (void)erase();
    for (int y = 0; y < g->height; y++) {
        for (int x = 0; x < g->width; x++) {
            if (g->cells[y * g->width + x].character != 0) {
                show_cell(s, g, y, x);
            }
        }
    }
    (void)refresh();
}

int cli_top_screen_key(struct cli_top_screen *s)
{
    static const struct {
        int from, to;
    } keys[] = {
        {KEY_UP, CLI_TOP_KEY_UP},         {KEY_DOWN, CLI_TOP_KEY_DOWN},
        {KEY_PPAGE, CLI_TOP_KEY_PAGE_UP}, {KEY_NPAGE, CLI_TOP_KEY_PAGE_DOWN},
        {KEY_HOME, CLI_TOP_KEY_HOME},     {KEY_END, CLI_TOP_KEY_END},
        {KEY_ENTER, CLI_TOP_KEY_ENTER},   {'\n', CLI_TOP_KEY_ENTER},
        {'\r', CLI_TOP_KEY_ENTER},        {KEY_BACKSPACE, CLI_TOP_KEY_BACKSPACE},
        {'\b', CLI_TOP_KEY_BACKSPACE},    {127, CLI_TOP_KEY_BACKSPACE},
        {27, CLI_TOP_KEY_ESCAPE},         {ERR, CLI_TOP_KEY_NONE},
    };
    (void)s;
    int key = KEY_RESIZE;
    while (key == KEY_RESIZE) { /* the size is read elsewhere */
        key = getch();
    }
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        if (keys[i].from == key) {
            return keys[i].to;
        }
    }
    return key;
}
