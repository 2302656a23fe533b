/*
 * Budgets of a backup, as items of a restore (http-api.md 20.4): the members are those of GET
 * /budgets.
 */
#include "base/limits.h"
#include "core/timestamp.h"
#include "rest/backup/rest_backup_int.h"
#include "rest/rest_budgets_int.h"
#include "store/store_access.h"

struct budget_in {
    struct str id, target;
    int scope, on_exceed;
    double daily_usd, per_job_usd;
    struct wall created_at;
    uint64_t set;
};
enum { ROW_DAILY, ROW_PER_JOB };

static const struct json_field budget_rows[] = {
    [ROW_DAILY] = JSON_F64(struct budget_in, daily_usd, 0, (int64_t)REST_BUDGETS_USD_MAX, 0,
                           "As in the backup."),
    [ROW_PER_JOB] = JSON_F64(struct budget_in, per_job_usd, 0, (int64_t)REST_BUDGETS_USD_MAX, 0,
                             "As in the backup."),
    JSON_STR(struct budget_in, id, 1, LIMIT_NAME_BYTES, JSON_REQUIRED | JSON_NO_CONTROL,
             "As in the backup."),
    JSON_WORD(struct budget_in, scope, rest_budgets__scopes, JSON_REQUIRED, "As in the backup."),
    JSON_STR(struct budget_in, target, 1, LIMIT_INTERNAL_NAME_BYTES,
             JSON_REQUIRED | JSON_NO_CONTROL, "As in the backup."),
    JSON_WORD(struct budget_in, on_exceed, rest_budgets__actions, 0, "As in the backup."),
    JSON_TIME(struct budget_in, created_at, timestamp_parse, 0, "As in the backup."),
};
static const struct budget_in restored_init = {.on_exceed = STORE_BUDGET_HOLD};
static const struct json_schema budget_schema = JSON_SCHEMA(
    struct budget_in, budget_rows, .init = &restored_init, JSON_SET(struct budget_in, set));

/* Convert the target to the stored form, and check it. */
static bool read_target(struct rest_call *c, const struct budget_in *in, struct str *out,
                        struct err *err)
{
    *out = in->target;
    if (in->scope == STORE_BUDGET_QUEUE) {
        return rest_names__internal(c, "target", in->target, out, err);
    }
    bool good = in->scope == STORE_BUDGET_GLOBAL ? str_eq(in->target, STR("*"))
                                                 : rest_budgets__tag(c, in->target, out);
    if (!good) {
        (void)err_set(err, ERR_VALIDATION, "target: '" STR_FMT "' is not valid",
                      STR_ARG(str_at_most(in->target, 64)));
    }
    return good;
}

bool rest_backup_budget__read(struct rest_call *c, struct str json,
                              struct command_restore_item *out, struct err *err)
{
    struct budget_in in;
    struct str target;
    struct buf body;
    if (json_schema_decode(&budget_schema, json, c->arena, &in, err) != ERR_OK ||
        !read_target(c, &in, &target, err)) {
        return false;
    }
    struct store_budget rec = {.id = in.id,
                               .ns = c->ns,
                               .target = in.scope == STORE_BUDGET_TAG ? in.target : STR_EMPTY,
                               .has_daily = (in.set >> ROW_DAILY & 1) != 0,
                               .has_per_job = (in.set >> ROW_PER_JOB & 1) != 0,
                               .on_exceed = (enum store_budget_action)in.on_exceed};
    if (!rec.has_daily && !rec.has_per_job) {
        (void)err_set(err, ERR_VALIDATION, "daily_usd or per_job_usd is required");
        return false;
    }
    rec.daily_nusd = rec.has_daily ? rest_budgets__nusd(in.daily_usd) : 0;
    rec.per_job_nusd = rec.has_per_job ? rest_budgets__nusd(in.per_job_usd) : 0;
    buf_init(&body, SIZE_MAX);
    store_access_encode_budget(&rec, &body);
    out->name = rest_budgets__record_name(c, (char)in.scope, target);
    out->budget = (struct store_access_frame){.created_at = in.created_at,
                                              .body = arena_str(c->arena, buf_str(&body))};
    buf_deinit(&body);
    return true;
}
