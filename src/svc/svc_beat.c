#include "svc/svc_beat.h"

#include "base/limits.h"
#include "svc/svc_names.h"
#include "svc/svc_work.h"

enum err_code svc_beat_room(const struct svc_caller *who, size_t count, struct svc_beats *out,
                            struct err *err)
{
    if (count > LIMIT_HEARTBEAT_JOBS) {
        return err_set(err, ERR_VALIDATION, "jobs has more than %d items", LIMIT_HEARTBEAT_JOBS);
    }
    out->count = 0;
    out->list = SVC_CALLER_ARRAY(who, struct svc_beat, count, err);
    return out->list == NULL ? err->code : ERR_OK;
}

/* Copy a later report on the same job into the beat that is kept. */
static void replace(struct svc_beat *kept, const struct svc_beat *by)
{
    kept->progress = by->progress;
    kept->checkpoint = by->checkpoint;
    kept->usage = by->usage;
    kept->lease_token = by->lease_token;
}

static void keep_last(struct svc_beats *beats)
{
    struct map by_id;
    size_t kept = 0;
    map_init(&by_id);
    for (size_t i = 0; i < beats->count; i++) {
        struct map_node *known = map_find(&by_id, beats->list[i].job_id);
        if (known != NULL) {
            replace(CONTAINER_OF(known, struct svc_beat, by_id), &beats->list[i]);
            continue;
        }
        struct svc_beat *beat = &beats->list[kept++];
        *beat = beats->list[i];
        beat->by_id.key = beat->job_id;
        map_add(&by_id, &beat->by_id);
    }
    beats->count = kept;
    map_deinit(&by_id);
}

enum err_code svc_beat_command(const struct svc_caller *who, struct svc_beats *beats,
                               struct command *out, struct err *err)
{
    keep_last(beats);
    command_init(out, COMMAND_HEARTBEAT);
    out->heartbeat = (struct command_heartbeat){
        .ns = who->ns,
        .items = SVC_CALLER_ARRAY(who, struct command_heartbeat_item, beats->count, err)};
    if (out->heartbeat.items == NULL) {
        return err->code;
    }
    for (size_t i = 0; i < beats->count; i++) {
        struct svc_beat *beat = &beats->list[i];
        struct command_heartbeat_item *item = &out->heartbeat.items[out->heartbeat.count];
        beat->status = SVC_BEAT_UNKNOWN;
        beat->asked = svc_names_may_name(who, beat->job_id, &item->id);
        if (!beat->asked) {
            continue;
        }
        item->lease_token = (uint64_t)beat->lease_token;
        item->progress = svc_work_given(beat->progress);
        item->checkpoint = svc_work_given(beat->checkpoint);
        if (svc_usage_tokens(beat->usage, &item->usage, err) != ERR_OK) {
            return err_wrap(err, "jobs." STR_FMT, STR_ARG(beat->job_id));
        }
        out->heartbeat.count++;
    }
    return ERR_OK;
}

static enum svc_beat_status status_of(enum result_status status)
{
    return status == RESULT_OK       ? SVC_BEAT_OK
           : status == RESULT_CANCEL ? SVC_BEAT_CANCEL
                                     : SVC_BEAT_UNKNOWN;
}

enum err_code svc_beat_answer(struct svc_beats *beats, const struct result *r, struct err *err)
{
    uint32_t at = 0;
    for (size_t i = 0; i < beats->count; i++) {
        struct svc_beat *beat = &beats->list[i];
        if (!beat->asked) {
            continue;
        }
        if (at == r->count) {
            return err_set(err, ERR_INTERNAL, "a heartbeat has fewer answers than jobs");
        }
        beat->budget_exceeded = r->items[at].budget_exceeded;
        beat->status = status_of(r->items[at++].status);
        beat->lease_expires_at = beat->status == SVC_BEAT_OK ? r->at : (struct wall){0};
    }
    return ERR_OK;
}
