#include "view/view_errors.h"

#include "base/buf.h"
#include "base/check.h"
#include "base/hash.h"
#include "view/view_int.h"

/* Patterns */

enum { ID_LEN_MIN = 16, HEX_LEN_MIN = 8 };

/* Bytes of non-ASCII characters are not blank: they are part of a word. */
static bool is_blank(char c)
{
    return (unsigned char)c <= ' ';
}

static bool is_between(char c)
{
    return is_blank(c) || strchr("()[]{}<>,;\"'`=|!?", c) != NULL;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

struct makeup {
    size_t digits, letters, hex, dashes, slashes, dots, colons;
    bool at; /* has an @ */
};

static struct makeup makeup_of(struct str word)
{
    struct makeup m = {0};
    for (size_t i = 0; i < word.len; i++) {
        char c = word.ptr[i];
        m.digits += is_digit(c) ? 1 : 0;
        m.letters += is_letter(c) ? 1 : 0;
        m.hex += is_hex(c) ? 1 : 0;
        m.dashes += c == '-' || c == '_' ? 1 : 0;
        m.slashes += c == '/' ? 1 : 0;
        m.dots += c == '.' ? 1 : 0;
        m.colons += c == ':' ? 1 : 0;
        m.at = m.at || c == '@';
    }
    return m;
}

/* Return the placeholder for a word that varies between errors; empty for other words. */
static struct str class_of(struct str word)
{
    struct makeup m = makeup_of(word);
    if (memmem(word.ptr, word.len, "://", 3) != NULL) {
        return STR("<url>");
    }
    if (m.at && m.dots > 0 && m.slashes == 0) {
        return STR("<address>");
    }
    if (m.slashes > 1 || (m.slashes == 1 && word.ptr[0] == '/' && word.len > 1)) {
        return STR("<path>");
    }
    /* 10.0.0.7:5432, ::1, 10.0.0.7 */
    if (m.digits > 0 && m.letters == 0 && (m.dots == 3 || m.colons > 1)) {
        return STR("<address>");
    }
    if (m.digits > 0 && m.hex + m.dashes == word.len && m.hex >= HEX_LEN_MIN && m.letters > 0) {
        return STR("<id>");
    }
    if (m.digits > 1 && m.digits + m.letters + m.dashes == word.len && word.len >= ID_LEN_MIN) {
        return STR("<id>");
    }
    return STR_EMPTY;
}

/* Append a word, with "#" for each number: "db#:#" for "db7:5432". */
static void add_word(struct buf *out, struct str word)
{
    struct str class = class_of(word);
    if (class.len > 0) {
        buf_add_str(out, class);
        return;
    }
    for (size_t i = 0; i < word.len; i++) {
        bool number = is_digit(word.ptr[i]);
        if (number) {
            while (i + 1 < word.len &&
                   (is_digit(word.ptr[i + 1]) ||
                    (word.ptr[i + 1] == '.' && i + 2 < word.len && is_digit(word.ptr[i + 2])))) {
                i++;
            }
        }
        buf_add(out, number ? "#" : word.ptr + i, 1);
    }
}

static void make_pattern(struct str error, struct buf *out)
{
    struct str text = str_trim(error);
    const char *end = text.len == 0 ? NULL : memchr(text.ptr, '\n', text.len);
    size_t len = end == NULL ? text.len : (size_t)(end - text.ptr);
    for (size_t i = 0; i < len && !out->overflow;) {
        size_t from = i;
        while (i < len && !is_between(text.ptr[i])) {
            i++;
        }
        /* A colon or a full stop at the end of a word does not belong to it. */
        size_t word = i;
        while (word > from && (text.ptr[word - 1] == ':' || text.ptr[word - 1] == '.')) {
            word--;
        }
        add_word(out, str_from(text.ptr + from, word - from));
        buf_add(out, text.ptr + word, i - word);
        if (i < len) {
            buf_add(out, is_blank(text.ptr[i]) ? " " : text.ptr + i, 1);
            i++;
        }
    }
}

int64_t view_errors_mark(struct str error, struct buf *out)
{
    char room[VIEW_ERRORS_PATTERN_MAX + 4]; /* room to cut the text between two characters */
    struct buf pattern;
    buf_init_room(&pattern, sizeof room, room, sizeof room);
    make_pattern(error, &pattern);
    struct str text = str_at_most(buf_str(&pattern), VIEW_ERRORS_PATTERN_MAX);
    if (out != NULL) {
        buf_add_str(out, text);
    }
    int64_t mark = (int64_t)hash_bytes(0, text.ptr == NULL ? "" : text.ptr, text.len);
    buf_deinit(&pattern);
    return mark;
}

void view_errors_format(int64_t mark, char *out)
{
    for (unsigned i = 0; i < VIEW_ERRORS_MARK_TEXT; i++) {
        out[i] = "0123456789abcdef"[(uint64_t)mark >> (60 - 4 * i) & 15];
    }
}

bool view_errors_parse(struct str text, int64_t *out)
{
    uint64_t mark = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        unsigned digit = is_digit(c) ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a') + 10;
        if (!is_hex(c)) {
            return false;
        }
        mark = mark << 4 | digit;
    }
    *out = (int64_t)mark;
    return text.len == VIEW_ERRORS_MARK_TEXT;
}

/* Groups */

/* ?9: all queues are wanted, so queues are not read. */
#define FROM_ERRORS(index)                                                                         \
    " FROM errors e INDEXED BY " index " WHERE e.at >= ?1 AND e.at <= ?2"                          \
    " AND (?9 OR EXISTS (SELECT 1 FROM queues q WHERE q.num = e.queue AND q.name >= ?3"            \
    " AND (?4 = '' OR q.name < ?4) AND (?5 = '' OR q.name = ?5)"                                   \
    " AND (?8 = '' OR view_in_scope(substr(q.name, length(?3) + 1), ?8))))"

/* A job is counted by its first error in the range: the one whose previous error is before the
 * range. Jobs are not read, because they are spread over the whole table. */
static const char groups_sql[] =
    "SELECT e.mark, count(*) AS n, sum(e.before < ?1), sum(e.before < ?1 AND e.dead), min(e.at),"
    " max(e.at)" FROM_ERRORS("errors_at") " GROUP BY e.mark ORDER BY n DESC, e.mark LIMIT ?7";
static const char total_sql[] = "SELECT count(*)" FROM_ERRORS("errors_at");
static const char example_sql[] = "SELECT e.job, e.error" FROM_ERRORS(
    "errors_mark") " AND e.mark = ?6 ORDER BY e.at DESC LIMIT 1";
static const char queues_sql[] =
    "SELECT (SELECT name FROM queues WHERE num = e.queue) AS name,"
    " count(*) AS n" FROM_ERRORS(
        "errors_mark") " AND e.mark = ?6 GROUP BY e.queue ORDER BY n DESC, name LIMIT ?7";
static const char versions_sql[] =
    "SELECT e.version, count(*) AS n" FROM_ERRORS("errors_version") " AND e.mark = ?6"
                                                                    " AND e.version <> ''"
                                                                    " GROUP BY e.version"
                                                                    " ORDER BY n DESC, e.version"
                                                                    " LIMIT ?7";
static const char steps_sql[] =
    "SELECT (e.at - ?1) / ?7 AS step, count(*)" FROM_ERRORS("errors_mark") " AND e.mark = ?6"
                                                                           " GROUP BY step";

struct asking {
    struct view_reader *r;
    struct view_errors *e;
    struct view_names names;
    struct arena *arena;
    struct err *err;
};

static enum err_code prepare(struct asking *q, const char *sql, sqlite3_stmt **out)
{
    if (view_sql__prepare(q->r->db, sql, out, q->err) != ERR_OK) {
        return q->err->code;
    }
    (void)sqlite3_bind_int64(*out, 1, q->e->from.ns);
    (void)sqlite3_bind_int64(*out, 2, q->e->to.ns);
    view_sql__bind_text(*out, 3, q->names.low);
    view_sql__bind_text(*out, 4, q->names.high);
    view_sql__bind_text(*out, 5, q->e->queue);
    view_sql__bind_text(*out, 8, q->e->scope);
    (void)sqlite3_bind_int(*out, 9,
                           q->e->ns.len == 0 && q->e->queue.len == 0 && q->e->scope.len == 0);
    return ERR_OK;
}

typedef enum err_code (*row_fn)(struct asking *q, void *data, sqlite3_stmt *st);

/* Call fn for each row of a statement; six and seven are its parameters ?6 and ?7. */
static enum err_code each(struct asking *q, const char *sql, int64_t six, int64_t seven, row_fn fn,
                          void *data)
{
    sqlite3_stmt *st = NULL;
    bool row = false;
    enum err_code code = prepare(q, sql, &st);
    if (code == ERR_OK) {
        (void)sqlite3_bind_int64(st, 6, six);
        (void)sqlite3_bind_int64(st, 7, seven);
        code = view_sql__step(q->r->db, st, &row, q->err);
    }
    while (code == ERR_OK && row) {
        code = fn(q, data, st);
        if (code == ERR_OK) {
            code = view_sql__step(q->r->db, st, &row, q->err);
        }
    }
    (void)sqlite3_finalize(st);
    return code;
}

static enum err_code keep_text(struct asking *q, struct str text, struct str *out)
{
    *out = arena_str(q->arena, text);
    return out->len == text.len ? ERR_OK
                                : err_set(q->err, ERR_TOO_LARGE, "there is no room for groups");
}

static enum err_code read_group(struct asking *q, void *data, sqlite3_stmt *st)
{
    struct view_errors *e = data;
    (void)q;
    e->groups[e->count++] =
        (struct view_errors_group){.mark = sqlite3_column_int64(st, 0),
                                   .count = sqlite3_column_int64(st, 1),
                                   .jobs = sqlite3_column_int64(st, 2),
                                   .dead = sqlite3_column_int64(st, 3),
                                   .first_seen = {.ns = sqlite3_column_int64(st, 4)},
                                   .last_seen = {.ns = sqlite3_column_int64(st, 5)}};
    return ERR_OK;
}

static enum err_code read_total(struct asking *q, void *data, sqlite3_stmt *st)
{
    (void)q;
    *(int64_t *)data = sqlite3_column_int64(st, 0);
    return ERR_OK;
}

static enum err_code read_example(struct asking *q, void *data, sqlite3_stmt *st)
{
    struct view_errors_group *g = data;
    g->example = view_sql__id(st, 0);
    return keep_text(q, view_sql__text(st, 1), &g->example_error);
}

static enum err_code read_queue(struct asking *q, void *data, sqlite3_stmt *st)
{
    struct view_errors_group *g = data;
    struct view_errors_queue *out = &g->queues[g->queue_count++];
    out->count = sqlite3_column_int64(st, 1);
    return keep_text(q, view_sql__text(st, 0), &out->name);
}

static enum err_code read_version(struct asking *q, void *data, sqlite3_stmt *st)
{
    struct view_errors_group *g = data;
    struct view_errors_queue *out = &g->versions[g->version_count++];
    out->count = sqlite3_column_int64(st, 1);
    return keep_text(q, view_sql__text(st, 0), &out->name);
}

static enum err_code read_step(struct asking *q, void *data, sqlite3_stmt *st)
{
    struct view_errors_group *g = data;
    int64_t step = sqlite3_column_int64(st, 0);
    (void)q;
    if (step >= 0 && step < VIEW_ERRORS_STEPS) {
        g->steps[step] = sqlite3_column_int64(st, 1);
    }
    return ERR_OK;
}

static enum err_code fill_group(struct asking *q, struct view_errors_group *g)
{
    int64_t width = (q->e->to.ns - q->e->from.ns) / VIEW_ERRORS_STEPS + 1;
    enum err_code code = each(q, example_sql, g->mark, 0, read_example, g);
    if (code == ERR_OK) {
        code = each(q, queues_sql, g->mark, VIEW_ERRORS_QUEUES, read_queue, g);
    }
    if (code == ERR_OK) {
        code = each(q, versions_sql, g->mark, VIEW_ERRORS_VERSIONS, read_version, g);
    }
    return code == ERR_OK ? each(q, steps_sql, g->mark, width, read_step, g) : code;
}

enum err_code view_errors_run(struct view_reader *r, struct view_errors *e, struct arena *a,
                              struct err *err)
{
    struct asking q = {r, e, view_db__names_of(a, e->ns), a, err};
    CHECK(e->limit <= VIEW_ERRORS_GROUPS_MAX);
    e->groups = ARENA_ARRAY(a, struct view_errors_group, e->limit + 1);
    e->count = 0;
    if (e->groups == NULL) {
        return err_set(err, ERR_TOO_LARGE, "there is no room for groups");
    }
    enum err_code code = each(&q, groups_sql, 0, e->limit, read_group, e);
    e->total = 0;
    for (size_t i = 0; i < e->count; i++) {
        e->total += e->groups[i].count;
    }
    if (code == ERR_OK && e->count == e->limit) { /* there may be more groups */
        code = each(&q, total_sql, 0, 0, read_total, &e->total);
    }
    for (size_t i = 0; code == ERR_OK && i < e->count; i++) {
        code = fill_group(&q, &e->groups[i]);
    }
    return view__asked(r, code, err);
}
