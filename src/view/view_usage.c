#include "view/view_usage.h"

#include "base/check.h"
#include "view/view_int.h"

/* total(), not sum(): sum() fails on overflow, and the reports come from clients. Below 2^53 a sum
 * of doubles is exact. */
#define SELECT(key, join)                                                                          \
    "SELECT " key " AS k, total(u.input), total(u.output), total(u.cache_creation),"               \
    " total(u.cache_read), total(u.cost) AS c, count(*) FROM usage u INDEXED BY usage_at"          \
    " CROSS JOIN jobs j ON j.id = u.job CROSS JOIN queues q ON q.num = j.queue" join               \
    " WHERE u.at >= ?1 AND u.at <= ?2 AND u.row_num < ?8 AND q.name >= ?3 AND (?4 = '' OR q.name " \
    "< ?4)"                                                                                        \
    " AND (?7 = '' OR view_in_scope(substr(q.name, length(?3) + 1), ?7))"

/* The part before the mark in the internal name of a queue. */
#define NAMESPACE                                                                                  \
    "iif(instr(q.name, '::') = 0, 'default', substr(q.name, 1, instr(q.name, '::') - 1))"

static const char *const statements[] = {
    [VIEW_USAGE_ALL] = SELECT("''", ""),
    [VIEW_USAGE_BY_QUEUE] = SELECT("q.name", "") " GROUP BY k ORDER BY c DESC, k LIMIT ?5",
    [VIEW_USAGE_BY_MODEL] = SELECT("u.model", "") " GROUP BY k ORDER BY c DESC, k LIMIT ?5",
    [VIEW_USAGE_BY_PROVIDER] = SELECT("u.provider", "") " GROUP BY k ORDER BY c DESC, k LIMIT ?5",
    [VIEW_USAGE_BY_TAG] =
        SELECT("view_tag_text(t.tags, ?6)",
               " CROSS JOIN texts t ON t.num = j.num") " GROUP BY k ORDER BY c DESC, k LIMIT ?5",
    [VIEW_USAGE_BY_NAMESPACE] = SELECT(NAMESPACE, "") " GROUP BY k ORDER BY k LIMIT ?5",
};

static int64_t whole(double v)
{
    return v >= 9.2e18 ? INT64_MAX : v <= -9.2e18 ? INT64_MIN : (int64_t)v;
}

static void read_row(sqlite3_stmt *st, struct view_usage_sum *out)
{
    *out = (struct view_usage_sum){.key = view_sql__text(st, 0),
                                   .input = whole(sqlite3_column_double(st, 1)),
                                   .output = whole(sqlite3_column_double(st, 2)),
                                   .cache_creation = whole(sqlite3_column_double(st, 3)),
                                   .cache_read = whole(sqlite3_column_double(st, 4)),
                                   .cost_nusd = whole(sqlite3_column_double(st, 5)),
                                   .reports = sqlite3_column_int64(st, 6)};
}

static enum err_code keep(struct view_usage *u, const struct view_usage_sum *sum, struct arena *a,
                          struct err *err)
{
    struct str key = arena_str(a, sum->key);
    if (key.len != sum->key.len) {
        return err_set(err, ERR_TOO_LARGE, "there are too many groups for one response");
    }
    u->groups[u->group_count] = *sum;
    u->groups[u->group_count++].key = key;
    return ERR_OK;
}

static enum err_code read_groups(struct view_reader *r, struct view_usage *u, enum view_usage_by by,
                                 struct arena *a, struct err *err)
{
    struct view_names names = view_db__names_of(a, u->ns);
    sqlite3_stmt *st = NULL;
    bool row = false;
    if (view_sql__prepare(r->db, statements[by], &st, err) != ERR_OK) {
        return err->code;
    }
    (void)sqlite3_bind_int64(st, 1, u->from.ns);
    (void)sqlite3_bind_int64(st, 2, u->to.ns);
    view_sql__bind_text(st, 3, names.low);
    view_sql__bind_text(st, 4, names.high);
    view_sql__bind_text(st, 7, u->scope);
    (void)sqlite3_bind_int64(st, 8, u->rows_before);
    if (by != VIEW_USAGE_ALL) {
        (void)sqlite3_bind_int64(st, 5, VIEW_USAGE_GROUPS_MAX);
    }
    if (by == VIEW_USAGE_BY_TAG) {
        view_sql__bind_text(st, 6, u->tag);
    }
    enum err_code code = view_sql__step(r->db, st, &row, err);
    while (code == ERR_OK && row) {
        struct view_usage_sum sum;
        read_row(st, &sum);
        if (by == VIEW_USAGE_ALL) {
            u->total = sum;
            u->total.key = STR_EMPTY;
        } else {
            code = keep(u, &sum, a, err);
        }
        if (code == ERR_OK) {
            code = view_sql__step(r->db, st, &row, err);
        }
    }
    (void)sqlite3_finalize(st);
    return code;
}

enum err_code view_usage_sum(struct view_reader *r, struct view_usage *u, struct arena *a,
                             struct err *err)
{
    u->groups = ARENA_ARRAY(a, struct view_usage_sum, VIEW_USAGE_GROUPS_MAX);
    u->group_count = 0;
    if (u->groups == NULL) {
        return err_set(err, ERR_TOO_LARGE, "there is no room for groups");
    }
    enum err_code code = read_groups(r, u, VIEW_USAGE_ALL, a, err);
    if (code == ERR_OK && u->by != VIEW_USAGE_ALL) {
        code = read_groups(r, u, u->by, a, err);
    }
    return view__asked(r, code, err);
}
