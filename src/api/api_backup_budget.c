/*
 * Budgets of a backup (http-api.md 20.4): the members are those of GET /budgets.
 */
#include "api/api_backup_int.h"
#include "base/limits.h"
#include "core/timestamp.h"
#include "store/store_access.h"

#define USD_MAX 1000000000

static const struct json_word scope_words[] = {{"queue", STORE_BUDGET_QUEUE},
                                               {"tag", STORE_BUDGET_TAG},
                                               {"global", STORE_BUDGET_GLOBAL},
                                               {NULL, 0}};
static const struct json_word action_words[] = {{"hold", STORE_BUDGET_HOLD},
                                                {"reject", STORE_BUDGET_REJECT},
                                                {"alert_only", STORE_BUDGET_ALERT},
                                                {NULL, 0}};

static struct str word_of(const struct json_word *words, int value)
{
    while (words->word != NULL && words->value != value) {
        words++;
    }
    return words->word != NULL ? str_from_z(words->word) : STR_EMPTY;
}

/* Writing. A record's name is its scope, one byte, its namespace, NUL and its target. */

bool api_backup_budget__read_record(struct str name, struct str value,
                                    struct api_backup_budget *out)
{
    struct store_access_frame frame;
    if (name.len < 2 || !store_access_decode_frame(value, &frame) ||
        !store_access_decode_budget(frame.body, &out->rec)) {
        return false;
    }
    out->scope = name.ptr[0];
    out->target = str_from_offset(name, 1);
    (void)str_cut(&out->target, '\0');
    out->created_at = frame.created_at;
    return true;
}

void api_backup_budget__write(struct json_write *w, const struct api_call *c,
                              const struct api_backup_budget *b)
{
    json_write_object(w);
    api_document__text(w, "id", b->rec.id);
    api_document__text(w, "scope", word_of(scope_words, b->scope));
    api_document__text(
        w, "target", b->scope == STORE_BUDGET_QUEUE ? api_names__visible(c, b->target) : b->target);
    if (b->rec.has_daily) {
        api_document__usd(w, "daily_usd", b->rec.daily_nusd);
    }
    if (b->rec.has_per_job) {
        api_document__usd(w, "per_job_usd", b->rec.per_job_nusd);
    }
    api_document__text(w, "on_exceed", word_of(action_words, (int)b->rec.on_exceed));
    api_document__time(w, "created_at", b->created_at);
    json_write_end(w);
}

/* Reading */

struct budget_in {
    struct str id, target;
    int scope, on_exceed;
    double daily_usd, per_job_usd;
    struct wall created_at;
    uint64_t set;
};
enum { ROW_DAILY, ROW_PER_JOB };

static const struct json_field budget_rows[] = {
    [ROW_DAILY] = JSON_F64(struct budget_in, daily_usd, 0, USD_MAX, 0, "As in the backup."),
    [ROW_PER_JOB] = JSON_F64(struct budget_in, per_job_usd, 0, USD_MAX, 0, "As in the backup."),
    JSON_STR(struct budget_in, id, 1, LIMIT_NAME_BYTES, JSON_REQUIRED | JSON_NO_CONTROL,
             "As in the backup."),
    JSON_WORD(struct budget_in, scope, scope_words, JSON_REQUIRED, "As in the backup."),
    JSON_STR(struct budget_in, target, 1, LIMIT_NAME_BYTES, JSON_REQUIRED | JSON_NO_CONTROL,
             "As in the backup."),
    JSON_WORD(struct budget_in, on_exceed, action_words, 0, "As in the backup."),
    JSON_TIME(struct budget_in, created_at, timestamp_parse, 0, "As in the backup."),
};
static const struct budget_in restored_init = {.on_exceed = STORE_BUDGET_HOLD};
static const struct json_schema budget_schema = JSON_SCHEMA(
    struct budget_in, budget_rows, .init = &restored_init, JSON_SET(struct budget_in, set));

static int64_t nusd(double usd)
{
    return (int64_t)(usd * 1e9 + 0.5);
}

/* The target as it is stored; what a tag or the whole namespace is called is checked here. */
static bool read_target(struct api_call *c, const struct budget_in *in, struct str *out,
                        struct err *err)
{
    const char *sign = memchr(in->target.ptr, '=', in->target.len);
    *out = in->target;
    if (in->scope == STORE_BUDGET_QUEUE) {
        return api_names__internal(c, "target", in->target, out, err);
    }
    bool good = in->scope == STORE_BUDGET_GLOBAL ? str_eq(in->target, STR("*"))
                                                 : sign != NULL && sign != in->target.ptr;
    if (!good) {
        (void)err_set(err, ERR_VALIDATION, "target: '" STR_FMT "' is not valid",
                      STR_ARG(str_at_most(in->target, 64)));
    }
    return good;
}

bool api_backup_budget__read(struct api_call *c, struct str json, struct command_restore_item *out,
                             struct err *err)
{
    struct budget_in in;
    struct str target;
    struct buf name;
    struct buf body;
    if (json_schema_decode(&budget_schema, json, c->arena, &in, err) != ERR_OK ||
        !read_target(c, &in, &target, err)) {
        return false;
    }
    struct store_budget rec = {.id = in.id,
                               .ns = c->ns,
                               .has_daily = (in.set >> ROW_DAILY & 1) != 0,
                               .has_per_job = (in.set >> ROW_PER_JOB & 1) != 0,
                               .on_exceed = (enum store_budget_action)in.on_exceed};
    if (!rec.has_daily && !rec.has_per_job) {
        (void)err_set(err, ERR_VALIDATION, "daily_usd or per_job_usd is required");
        return false;
    }
    rec.daily_nusd = rec.has_daily ? nusd(in.daily_usd) : 0;
    rec.per_job_nusd = rec.has_per_job ? nusd(in.per_job_usd) : 0;
    buf_init(&name, SIZE_MAX);
    buf_add_char(&name, (char)in.scope);
    buf_add_str(&name, c->ns);
    buf_add_char(&name, '\0');
    buf_add_str(&name, target);
    buf_init(&body, SIZE_MAX);
    store_access_encode_budget(&rec, &body);
    out->name = arena_str(c->arena, buf_str(&name));
    out->budget = (struct store_access_frame){.created_at = in.created_at,
                                              .body = arena_str(c->arena, buf_str(&body))};
    buf_deinit(&name);
    buf_deinit(&body);
    return true;
}
