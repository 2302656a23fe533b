/*
 * Output: results on standard output, everything else on standard error.
 */
#include "base/check.h"
#include "cli/cli_int.h"
#include "json/json_scan.h"

enum { LINE_BYTES_USUAL = 4096 };

void cli_printf(struct cli *cli, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    (void)vfprintf(cli->out, fmt, args);
    va_end(args);
}

void cli_note(struct cli *cli, const char *fmt, ...)
{
    va_list args;
    (void)fflush(cli->out); /* print earlier results before the error */
    va_start(args, fmt);
    (void)vfprintf(cli->err, fmt, args);
    va_end(args);
    (void)fflush(cli->err);
}

int cli_fail(struct cli *cli, const char *fmt, ...)
{
    va_list args;
    (void)fflush(cli->out);
    (void)fputs("Error: ", cli->err);
    va_start(args, fmt);
    (void)vfprintf(cli->err, fmt, args);
    va_end(args);
    (void)fputc('\n', cli->err);
    return CLI_FAILED;
}

struct str cli_format(struct cli *cli, const char *fmt, ...)
{
    struct buf b;
    char line[LINE_BYTES_USUAL];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    if (n >= 0 && (size_t)n < sizeof line) {
        return arena_str(cli->arena, str_from(line, (size_t)n));
    }
    buf_init(&b, CLI_LINE_BYTES);
    char *room = n < 0 ? NULL : buf_reserve(&b, (size_t)n + 1);
    struct str s = STR_EMPTY;
    if (room != NULL) {
        va_start(args, fmt);
        (void)vsnprintf(room, (size_t)n + 1, fmt, args);
        va_end(args);
        s = arena_str(cli->arena, str_from(room, (size_t)n));
    }
    buf_deinit(&b);
    return s;
}

void cli_print_json(struct cli *cli, struct str json)
{
    struct err err;
    struct buf out;
    if (json_scan_check(json, &err) != ERR_OK) {
        (void)fwrite(json.ptr, 1, json.len, cli->out);
        return;
    }
    buf_init(&out, SIZE_MAX / 2);
    cli_json_indent(&out, json);
    buf_add_char(&out, '\n');
    (void)fwrite(out.ptr, 1, out.len, cli->out);
    buf_deinit(&out);
}

/* C0, DEL, and C1 in UTF-8: c2 80 to c2 9f. */
static bool is_control(struct str text, size_t i)
{
    unsigned char c = (unsigned char)text.ptr[i];
    unsigned char next = i + 1 < text.len ? (unsigned char)text.ptr[i + 1] : 0;
    return c < ' ' || c == 127 || (c == 0xc2 && next >= 0x80 && next < 0xa0);
}

struct str cli_harmless(struct cli *cli, struct str text)
{
    char *copy = text.len == 0 ? NULL : ARENA_ARRAY(cli->arena, char, text.len);
    size_t len = 0;
    for (size_t i = 0; copy != NULL && i < text.len; i++) {
        bool control = is_control(text, i);
        i += control && (unsigned char)text.ptr[i] == 0xc2 ? 1 : 0;
        copy[len++] = (char)(control ? '?' : text.ptr[i]);
    }
    return str_from(copy, len);
}

static void print_part(struct cli *cli, FILE *to, struct str name, struct str object)
{
    struct str text;
    if (name.len == 1 && name.ptr[0] >= '0' && name.ptr[0] <= '9') {
        size_t i = (size_t)(name.ptr[0] - '0');
        text = i < cli->arg_count ? cli->args[i] : STR_EMPTY;
    } else {
        const char *path = arena_strz(cli->arena, name);
        CHECK(path != NULL);
        text = cli_harmless(cli, cli_member_text(cli, object, path));
    }
    (void)fwrite(text.ptr == NULL ? "" : text.ptr, 1, text.len, to);
}

void cli_print_pattern(struct cli *cli, FILE *to, const char *pattern, struct str object)
{
    for (const char *p = pattern; *p != '\0'; p++) {
        const char *close = *p == '{' ? strchr(p, '}') : NULL;
        if (close == NULL) {
            (void)fputc(*p, to);
            continue;
        }
        print_part(cli, to, str_from(p + 1, (size_t)(close - p) - 1), object);
        p = close;
    }
}

int cli_show(struct cli *cli, struct str answer, const char *pattern)
{
    if (cli_is_json(cli)) {
        cli_print_json(cli, answer);
    } else {
        cli_print_pattern(cli, cli->out, pattern, answer);
        cli_printf(cli, "\n");
    }
    return CLI_OK;
}
