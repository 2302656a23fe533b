#include "cli/cli_suggest.h"

enum { WORD_MAX = 32, FAR = 1000 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment distance, row by row; swaps look two rows back. */
size_t cli_suggest_distance(struct str a, struct str b)
{
    size_t rows[3][WORD_MAX + 1];
    if (a.len > WORD_MAX || b.len > WORD_MAX) {
        return FAR;
    }
    for (size_t j = 0; j <= b.len; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= a.len; i++) {
        size_t *now = rows[i % 3];
        const size_t *last = rows[(i + 2) % 3];
        const size_t *before = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t change = a.ptr[i - 1] == b.ptr[j - 1] ? 0 : 1;
            now[j] = least(least(last[j], now[j - 1]) + 1, last[j - 1] + change);
            if (i > 1 && j > 1 && a.ptr[i - 1] == b.ptr[j - 2] && a.ptr[i - 2] == b.ptr[j - 1]) {
                now[j] = least(now[j], before[j - 2] + 1);
            }
        }
    }
    return rows[a.len % 3][b.len];
}

/* Make the candidate the best one if it is closer than *distance and close enough for a suggestion:
 * at most a third of the characters differ, and at least one matches. */
static void consider(struct str word, struct str candidate, struct str *best, size_t *distance)
{
    size_t d = cli_suggest_distance(word, candidate);
    size_t most = word.len < 3 ? 1 : (word.len + 2) / 3;
    bool prefix = word.len >= 3 && str_starts_with(candidate, word);
    if (prefix) {
        d = least(d, 1);
    }
    if (d <= most && d < candidate.len && d < *distance) {
        *distance = d;
        *best = candidate;
    }
}

struct str cli_suggest_command(struct str group, struct str word)
{
    struct str best = STR_EMPTY;
    size_t distance = FAR;
    const struct cli_command *c;
    for (size_t i = 0; (c = cli_table_at(i)) != NULL; i++) {
        struct str name = str_from_z(c->name);
        if ((c->options & CLI_HIDDEN) != 0) {
            continue;
        }
        if (group.len > 0) {
            if (!str_starts_with(name, group) || name.len <= group.len + 1 ||
                name.ptr[group.len] != ' ') {
                continue;
            }
            name = str_from_offset(name, group.len + 1);
        }
        consider(word, str_cut(&name, ' '), &best, &distance);
    }
    return best;
}

struct str cli_suggest_flag(const struct cli_command *command, struct str name)
{
    struct str best = STR_EMPTY;
    size_t distance = FAR;
    const struct cli_flag *f;
    for (size_t i = 0; (f = cli_table_flag(command, i)) != NULL; i++) {
        consider(name, str_from_z(f->name), &best, &distance);
    }
    return best;
}
