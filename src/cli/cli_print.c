/*
 * Saying something: results on standard output, everything else on standard error.
 */
#include "base/check.h"
#include "cli/cli_int.h"
#include "json/json_scan.h"

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
    (void)fflush(cli->out); /* what was said before stands before */
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
    char line[CLI_LINE_BYTES / 16];
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

static void print_part(struct cli *cli, FILE *to, struct str name, struct str object)
{
    struct str text;
    if (name.len == 1 && name.ptr[0] >= '0' && name.ptr[0] <= '9') {
        size_t i = (size_t)(name.ptr[0] - '0');
        text = i < cli->arg_count ? cli->args[i] : STR_EMPTY;
    } else {
        const char *path = arena_strz(cli->arena, name);
        CHECK(path != NULL);
        text = cli_member_text(cli, object, path);
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
