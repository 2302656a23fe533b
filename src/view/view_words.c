#include "view/view_words.h"

#include "base/check.h"
#include "view/view_int.h"
#include "view/view_search.h"

/* Indexing. Each chunk is written by one INSERT … SELECT, which takes two thirds of the time of
 * single rows and a fifth of that of triggers. */

enum { CHUNK_BYTES = 8 << 20, STALE_MIN = 4096 };

/* Find the last number of the next chunk, which is limited in rows and bytes but has at least one
 * row. */
static enum err_code chunk_end(struct view_rows *r, const char *sql, int64_t after, int64_t *out,
                               struct err *err)
{
    sqlite3_stmt *st = NULL;
    int64_t bytes = 0;
    bool row = false;
    *out = after;
    if (view_sql__prepare(r->db, sql, &st, err) != ERR_OK) {
        return err->code;
    }
    (void)sqlite3_bind_int64(st, 1, after);
    enum err_code code = view_sql__step(r->db, st, &row, err);
    for (int n = 0; code == ERR_OK && row && n < VIEW_WORDS_CHUNK && bytes < CHUNK_BYTES; n++) {
        *out = sqlite3_column_int64(st, 0);
        bytes += sqlite3_column_int64(st, 1);
        code = view_sql__step(r->db, st, &row, err);
    }
    (void)sqlite3_finalize(st);
    return code;
}

/* Run a statement over the numbers above `after`, up to `until`. */
static enum err_code run_range(struct view_rows *r, const char *sql, int64_t after, int64_t until,
                               struct err *err)
{
    sqlite3_stmt *st = NULL;
    if (view_sql__prepare(r->db, sql, &st, err) != ERR_OK) {
        return err->code;
    }
    (void)sqlite3_bind_int64(st, 1, after);
    (void)sqlite3_bind_int64(st, 2, until);
    enum err_code code = view_sql__run(r->db, st, err);
    (void)sqlite3_finalize(st);
    return code;
}

/* Remove texts of deleted jobs from the index. The index can remove a text only if the text is
 * passed to it again. A payload that is not in the file was deleted with its job: the index keeps
 * it until it is emptied. Such a payload matches nothing, because there is no text of that
 * number. */
static enum err_code forget(struct view_rows *r, struct err *err)
{
    static const char delete_words[] =
        "INSERT INTO words (words, rowid, queue, payload, tags)"
        " SELECT 'delete', t.num, t.queue, " VIEW_PLAIN_PAYLOAD ", " VIEW_PLAIN_TAGS
        " FROM gone g JOIN texts t USING (num)"
        " WHERE g.num > ?1 AND g.num <= ?2 AND t.payload IS NOT NULL";
    static const char count_stale[] =
        "UPDATE mark SET stale = stale + (SELECT count(*) FROM gone g JOIN texts t USING (num)"
        " WHERE g.num > ?1 AND g.num <= ?2 AND t.payload IS NULL)";
    static const char *const steps[] = {
        delete_words,
        count_stale,
        "DELETE FROM texts WHERE num IN (SELECT num FROM gone WHERE num > ?1 AND num <= ?2)",
        "DELETE FROM gone WHERE num > ?1 AND num <= ?2",
    };
    int64_t until;
    if (chunk_end(r,
                  "SELECT num, t.bytes FROM gone JOIN texts t USING (num) WHERE num > ?"
                  " ORDER BY num",
                  0, &until, err) != ERR_OK) {
        return err->code;
    }
    if (until == 0) {
        return ERR_OK;
    }
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        if (run_range(r, steps[i], 0, until, err) != ERR_OK) {
            return err->code;
        }
    }
    r->gone_count -= sqlite3_changes(r->db);
    return view_sql__number(r->db, "SELECT stale FROM mark", &r->stale, err);
}

/* Empty the index. All texts must be added again. */
static enum err_code empty(struct view_rows *r, int64_t *out_until, struct err *err)
{
    static const char *const steps[] = {
        "INSERT INTO words (words) VALUES ('delete-all')",
        "DELETE FROM texts WHERE num IN (SELECT num FROM gone)",
        "DELETE FROM gone",
    };
    int64_t first = 0;
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        if (view_sql__exec(r->db, steps[i], err) != ERR_OK) {
            return err->code;
        }
    }
    if (view_sql__number(r->db, "SELECT min(num) FROM texts", &first, err) != ERR_OK) {
        return err->code;
    }
    r->gone_count = r->stale = 0;
    *out_until = first > 0 ? first - 1 : r->next_num - 1;
    return ERR_OK;
}

static enum err_code bytes_of(struct view_rows *r, int64_t after, int64_t until, int64_t *out,
                              struct err *err)
{
    sqlite3_stmt *st = NULL;
    bool row = false;
    if (view_sql__prepare(r->db, "SELECT sum(bytes) FROM texts WHERE num > ? AND num <= ?", &st,
                          err) != ERR_OK) {
        return err->code;
    }
    (void)sqlite3_bind_int64(st, 1, after);
    (void)sqlite3_bind_int64(st, 2, until);
    enum err_code code = view_sql__step(r->db, st, &row, err);
    *out = code == ERR_OK && row ? sqlite3_column_int64(st, 0) : 0;
    (void)sqlite3_finalize(st);
    return code;
}

static enum err_code learn(struct view_rows *r, int64_t *out_until, struct err *err)
{
    int64_t after = r->mark.words;
    int64_t until = r->next_num - 1; /* some of these numbers have no texts any more */
    int64_t bytes = 0;
    until = until - after > VIEW_WORDS_CHUNK ? after + VIEW_WORDS_CHUNK : until;
    if (bytes_of(r, after, until, &bytes, err) != ERR_OK ||
        (bytes > CHUNK_BYTES &&
         chunk_end(r, "SELECT num, bytes FROM texts WHERE num > ? ORDER BY num", after, &until,
                   err) != ERR_OK)) {
        return err->code;
    }
    *out_until = until;
    return run_range(r,
                     "INSERT INTO words (rowid, queue, payload, tags)"
                     " SELECT t.num, t.queue, " VIEW_PLAIN_PAYLOAD ", " VIEW_PLAIN_TAGS
                     " FROM texts t"
                     " WHERE t.num > ?1 AND t.num <= ?2",
                     after, until, err);
}

enum err_code view_words__is_stale(struct view_rows *r, bool *out, struct err *err)
{
    int64_t jobs = 0;
    *out = false;
    if (r->stale < STALE_MIN) {
        return ERR_OK;
    }
    if (view_sql__number(r->db, "SELECT sum(n) FROM counts WHERE queue = 0", &jobs, err) !=
        ERR_OK) {
        return err->code;
    }
    *out = r->stale > jobs;
    return ERR_OK;
}

uint64_t view_words__lag(const struct view_rows *r)
{
    return (uint64_t)(r->next_num - 1 - r->mark.words + r->gone_count);
}

enum err_code view_words__advance(struct view_rows *r, struct err *err)
{
    struct view_mark mark = r->mark;
    if (view_rows__begin(r, err) == ERR_OK && forget(r, err) == ERR_OK &&
        learn(r, &mark.words, err) == ERR_OK) {
        return view_rows__commit(r, &mark, err);
    }
    return err->code;
}

enum err_code view_words__restart(struct view_rows *r, struct err *err)
{
    struct view_mark mark = r->mark;
    if (view_rows__begin(r, err) == ERR_OK && empty(r, &mark.words, err) == ERR_OK) {
        return view_rows__commit(r, &mark, err);
    }
    return err->code;
}

/* Searching */

struct finding {
    struct view_reader *r;
    struct view_words *w;
    struct view_names names; /* queue names that the caller may see */
};

static bool is_known(const struct view_words *w, struct id id)
{
    for (size_t i = 0; i < w->count; i++) {
        if (id_eq(w->ids[i], id)) {
            return true;
        }
    }
    return false;
}

/* Add the results of a statement. Its parameters: ?1 the text, ?2 and ?3 the namespace's range, ?4
 * the limit, ?5 a state, ?6 a scope. A query that FTS5 cannot parse finds nothing. */
static enum err_code collect(struct finding *f, const char *sql, struct str text, int state,
                             struct err *err)
{
    sqlite3 *db = f->r->db;
    sqlite3_stmt *st = NULL;
    int rc;
    if (view_sql__prepare(db, sql, &st, err) != ERR_OK) {
        return err->code;
    }
    view_sql__bind_text(st, 1, text);
    view_sql__bind_text(st, 2, f->names.low);
    view_sql__bind_text(st, 3, f->names.high);
    (void)sqlite3_bind_int64(st, 4, f->w->limit);
    (void)sqlite3_bind_int64(st, 5, state);
    view_sql__bind_text(st, 6, f->w->scope);
    while ((rc = sqlite3_step(st)) == SQLITE_ROW && f->w->count < f->w->limit) {
        struct id id = view_sql__id(st, 0);
        if (!is_known(f->w, id)) {
            f->w->ids[f->w->count++] = id;
        }
    }
    bool failed = rc != SQLITE_ROW && rc != SQLITE_DONE && rc != SQLITE_ERROR;
    enum err_code code = failed ? view_sql__err(db, "words", err) : ERR_OK;
    (void)sqlite3_finalize(st);
    return code;
}

#define VISIBLE                                                                                    \
    " t.queue >= ?2 AND (?3 = '' OR t.queue < ?3)"                                                 \
    " AND (?6 = '' OR view_in_scope(substr(t.queue, length(?2) + 1), ?6))"

/* The inner part is limited, because ranking every match of a word that all jobs have takes
 * seconds. For a short time, the index still has texts of jobs that were removed or moved; the join
 * with jobs excludes them. */
#define RANKED(condition)                                                                          \
    "SELECT j.id FROM (SELECT t.num AS num, t.id AS id, bm25(words) AS score FROM words"           \
    " CROSS JOIN texts t ON t.num = words.rowid WHERE words MATCH ?1 AND" VISIBLE                  \
    " ORDER BY words.rowid DESC LIMIT 10000) m CROSS JOIN jobs j ON j.id = m.id"                   \
    " WHERE j.num = m.num" condition " ORDER BY m.score, j.id DESC LIMIT ?4"

static const char by_words[] = RANKED("");
static const char by_words_and_state[] = RANKED(" AND j.state = ?5");
static const char by_part[] =
    "SELECT j.id FROM jobs j NOT INDEXED CROSS JOIN texts t ON t.num = j.num"
    " WHERE (view_contains_plain(" VIEW_PAYLOAD ", ?1) OR view_contains_plain(t.tags, ?1)"
    " OR view_contains(t.queue, ?1)) AND" VISIBLE " ORDER BY j.id DESC LIMIT ?4";

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Find the first word that names a state. *out_rest is the query without it. False if there is
 * none, or if the query has operators. */
static bool split_state(struct str query, struct arena *a, enum job_state *out_state,
                        struct str *out_rest)
{
    bool found = false;
    char *rest = arena_need(a, query.len + 1, 1);
    size_t len = 0;
    for (size_t at = 0; at < query.len;) {
        size_t end = at;
        while (end < query.len && !is_blank(query.ptr[end])) {
            if (query.ptr[end] == '\0' || strchr("\"*():^+-{}", query.ptr[end]) != NULL) {
                return false;
            }
            end++;
        }
        struct str word = str_from(query.ptr + at, end - at);
        if (!found && job_state_parse(word, out_state)) {
            found = true;
        } else {
            memcpy(rest + len, word.ptr, word.len);
            len += word.len;
            rest[len++] = ' ';
        }
        for (at = end; at < query.len && is_blank(query.ptr[at]); at++) {
        }
    }
    *out_rest = str_trim(str_from(rest, len));
    return found;
}

/* Add the newest jobs of a state. */
static enum err_code collect_state(struct finding *f, enum job_state state, struct arena *a,
                                   struct err *err)
{
    struct view_words *w = f->w;
    struct view_filter filter = {.ns = w->ns, .scope = w->scope, .states = 1U << state};
    struct view_search s = {.filter = &filter, .limit = w->limit};
    if (view_search_run(f->r, &s, a, err) != ERR_OK) {
        return err->code;
    }
    for (size_t i = 0; i < s.count && w->count < w->limit; i++) {
        if (!is_known(w, s.ids[i])) {
            w->ids[w->count++] = s.ids[i];
        }
    }
    return ERR_OK;
}

enum err_code view_words_find(struct view_reader *r, struct view_words *w, struct arena *a,
                              struct err *err)
{
    struct finding f = {.r = r, .w = w, .names = view_db__names_of(a, w->ns)};
    struct str query = str_trim(w->query);
    enum job_state state = JOB_PENDING;
    struct str rest;
    w->count = 0;
    w->ids = ARENA_ARRAY(a, struct id, w->limit == 0 ? 1 : w->limit);
    if (w->ids == NULL) {
        return err_set(err, ERR_TOO_LARGE, "there is no room for %u ids", (unsigned)w->limit);
    }
    enum err_code code = collect(&f, by_words, query, 0, err);
    if (code == ERR_OK && split_state(query, a, &state, &rest)) {
        code = rest.len > 0 ? collect(&f, by_words_and_state, rest, (int)state, err)
                            : collect_state(&f, state, a, err);
    }
    if (code == ERR_OK && w->count == 0) {
        code = collect(&f, by_part, view_functions__lower(a, query), 0, err);
    }
    return view__asked(r, code, err);
}
