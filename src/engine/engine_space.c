#include "engine/engine_space.h"

#include <inttypes.h>

#include "base/limits.h"

static enum engine_space_use use_of_action(enum command_job_action action)
{
    return action == COMMAND_JOB_DELETE ? ENGINE_SPACE_FREES : ENGINE_SPACE_GOES_ON;
}

enum engine_space_use engine_space_use(const struct command *c)
{
    switch (c->type) {
    case COMMAND_ENQUEUE:
    case COMMAND_REPLAY:
    case COMMAND_BATCH_OPEN:
    case COMMAND_SCHEDULE_PUT:
    case COMMAND_SCHEDULE_FIRE:
    case COMMAND_WEBHOOK_PUT:
    case COMMAND_RESTORE:
    case COMMAND_POLICY_PUT:
    case COMMAND_NAMED_PUT:
        return ENGINE_SPACE_ADDS;
    case COMMAND_CLAIM:
    case COMMAND_ACK:
    case COMMAND_FAIL:
    case COMMAND_HEARTBEAT:
    case COMMAND_TICK:
    case COMMAND_BATCH_SEAL:
    case COMMAND_WEBHOOK_MARK:
    case COMMAND_RETURN:
    case COMMAND_ACCESS: /* a key can be revoked on a full disk */
    case COMMAND_AUDIT:
    case COMMAND_PUSH_CLAIM:
    case COMMAND_PUSH_FINISH:
    case COMMAND_NODE_PUT:
    case COMMAND_NODE_STATE:
        return ENGINE_SPACE_GOES_ON;
    case COMMAND_JOBS:
        return use_of_action(c->jobs.action);
    case COMMAND_BULK_PUT:
        return use_of_action(c->bulk_put.action);
    case COMMAND_QUEUE:
        return c->queue.action == COMMAND_QUEUE_CLEAR || c->queue.action == COMMAND_QUEUE_DELETE
                   ? ENGINE_SPACE_FREES
                   : ENGINE_SPACE_GOES_ON;
    case COMMAND_BULK_QUEUE:
    case COMMAND_BULK_STEP: /* few: only bulk operations begun with free space */
    case COMMAND_BULK_END:
    case COMMAND_PURGE:
    case COMMAND_NAMED_PURGE:
    case COMMAND_SCHEDULE_DELETE:
    case COMMAND_WEBHOOK_DELETE:
    case COMMAND_POLICY_DELETE:
        return ENGINE_SPACE_FREES;
    default:
        return ENGINE_SPACE_ADDS; /* unknown command: assume that it adds data */
    }
}

bool engine_space_allows(enum engine_space_level level, enum engine_space_use use)
{
    return (unsigned)level + (unsigned)use <= ENGINE_SPACE_ADDS;
}

uint64_t engine_space_low_mark(const struct engine_space_seen *s)
{
    return s->min_bytes + s->unwritten_bytes;
}

uint64_t engine_space_spend_mark(const struct engine_space_seen *s)
{
    return s->min_bytes / 2 + s->unwritten_bytes;
}

uint64_t engine_space_full_mark(const struct engine_space_seen *s)
{
    return s->min_bytes / 4 + s->unwritten_bytes;
}

bool engine_space_has_room_to_compact(const struct engine_space_seen *s, bool paused)
{
    uint64_t again = paused ? s->min_bytes / 8 : 0; /* hysteresis */
    return s->free_bytes >= engine_space_low_mark(s) + s->compaction_bytes + again;
}

enum engine_space_level engine_space_judge(const struct engine_space_seen *s,
                                           enum engine_space_level before)
{
    uint64_t low = engine_space_low_mark(s);
    uint64_t full = engine_space_full_mark(s);
    low += before >= ENGINE_SPACE_LOW ? s->min_bytes / 16 : 0;
    full += before >= ENGINE_SPACE_FULL ? s->min_bytes / 16 : 0;
    if (s->refused || s->free_bytes < full || s->log_bytes > s->log_bytes_max / 4 * 3) {
        return ENGINE_SPACE_FULL;
    }
    if (s->free_bytes < low || s->log_bytes > s->log_bytes_max / 2) {
        return ENGINE_SPACE_LOW;
    }
    return ENGINE_SPACE_FINE;
}

enum err_code engine_space_reason(const struct engine_space_status *s, struct err *err)
{
    const struct engine_space_seen *seen = &s->seen;
    static const char *const refused[] = {
        [ENGINE_SPACE_LOW] = "new jobs are refused",
        [ENGINE_SPACE_FULL] = "only deletions are accepted",
    };
    if (s->level == ENGINE_SPACE_FINE) {
        return ERR_OK;
    }
    if (seen->free_bytes < engine_space_low_mark(seen) + seen->min_bytes / 16 || seen->refused) {
        return err_set(
            err, ERR_NO_SPACE,
            "the disk is nearly full, %s: %" PRIu64 " MiB are free, %" PRIu64 " MiB are needed",
            refused[s->level], seen->free_bytes >> 20, (engine_space_low_mark(seen) >> 20) + 1);
    }
    return err_set(err, ERR_NO_SPACE,
                   "snapshots fail, so the log grows, %s: it uses %" PRIu64
                   " MiB of memory; \"snapshot failed\" in the server's log has the reason",
                   refused[s->level], seen->log_bytes >> 20);
}

uint64_t engine_space_reserve_bytes(uint64_t min_bytes, enum engine_space_reserve which)
{
    uint64_t bytes = min_bytes / (which == ENGINE_SPACE_TO_START ? 32 : 4);
    uint64_t most =
        which == ENGINE_SPACE_TO_START ? LIMIT_RESERVE_START_BYTES : LIMIT_RESERVE_BYTES;
    return bytes < most ? bytes : most;
}
