#include "fsm/command/command_kinds.h"

#include "base/check.h"

static const char *const words[] = {
    [COMMAND_ENQUEUE] = "enqueue",
    [COMMAND_CLAIM] = "claim",
    [COMMAND_ACK] = "ack",
    [COMMAND_FAIL] = "fail",
    [COMMAND_HEARTBEAT] = "heartbeat",
    [COMMAND_JOBS] = "jobs",
    [COMMAND_REPLAY] = "replay",
    [COMMAND_QUEUE] = "queue",
    [COMMAND_TICK] = "tick",
    [COMMAND_PURGE] = "purge",
    [COMMAND_BATCH_OPEN] = "batch_open",
    [COMMAND_BATCH_SEAL] = "batch_seal",
    [COMMAND_SCHEDULE_PUT] = "schedule_put",
    [COMMAND_SCHEDULE_DELETE] = "schedule_delete",
    [COMMAND_SCHEDULE_FIRE] = "schedule_fire",
    [COMMAND_WEBHOOK_PUT] = "webhook_put",
    [COMMAND_WEBHOOK_DELETE] = "webhook_delete",
    [COMMAND_WEBHOOK_MARK] = "webhook_mark",
    [COMMAND_BULK_PUT] = "bulk_put",
    [COMMAND_BULK_STEP] = "bulk_step",
    [COMMAND_BULK_END] = "bulk_end",
    [COMMAND_BULK_QUEUE] = "bulk_queue",
    [COMMAND_RESTORE] = "restore",
    [COMMAND_POLICY_PUT] = "policy_put",
    [COMMAND_POLICY_DELETE] = "policy_delete",
    [COMMAND_RETURN] = "return",
    [COMMAND_ACCESS] = "access",
    [COMMAND_AUDIT] = "audit",
    [COMMAND_PUSH_CLAIM] = "push_claim",
    [COMMAND_PUSH_FINISH] = "push_finish",
    [COMMAND_NAMED_PUT] = "named_put",
    [COMMAND_NAMED_PURGE] = "named_purge",
    [COMMAND_NODE_PUT] = "node_put",
    [COMMAND_NODE_STATE] = "node_state",
};

bool command_exists(unsigned type)
{
    return type < COUNT_OF(words) && words[type] != NULL;
}

const char *command_word(enum command_type type)
{
    CHECK(command_exists(type));
    return words[type];
}

/* The newest version of each command that has several (docs/formats/commands.md). An old version
 * keeps its effect: the functions that apply it read m->version. */
static const uint8_t newest[COMMAND_TYPE_LAST + 1] = {
    [COMMAND_ENQUEUE] = 3,       [COMMAND_CLAIM] = 4,     [COMMAND_ACK] = 3,
    [COMMAND_FAIL] = 2,          [COMMAND_HEARTBEAT] = 2, [COMMAND_JOBS] = 3,
    [COMMAND_BULK_STEP] = 2,     [COMMAND_ACCESS] = 3,    [COMMAND_BULK_PUT] = 3,
    [COMMAND_BATCH_OPEN] = 3,    [COMMAND_REPLAY] = 2,    [COMMAND_NAMED_PUT] = 2,
    [COMMAND_SCHEDULE_FIRE] = 2,
};

unsigned command_kinds_ack_flags(const struct command_ack *ack)
{
    return (ack->next != NULL ? ACK_FLAG_NEXT : 0U) | (ack->any_cost ? ACK_FLAG_ANY_COST : 0U);
}

static uint8_t bulk_version(const struct command_bulk_put *b)
{
    return !job_fit_is_any(&b->fit) ? BULK_WITH_FIT
           : b->scope.len > 0       ? BULK_WITH_SCOPE
                                    : BULK_WITHOUT_SCOPE;
}

static uint8_t claim_version(const struct command_claim *cl)
{
    return cl->no_hold ? CLAIM_NO_HOLD : cl->version.len > 0 ? CLAIM_WITH_VERSION : CLAIM_PLAIN;
}

static uint8_t access_version(const struct command_access *a)
{
    uint8_t version = ACCESS_PLAIN;
    for (size_t i = 0; i < a->count; i++) {
        if (a->items[i].rule == COMMAND_ACCESS_SAME) {
            return ACCESS_OF_SAME;
        }
        if (a->items[i].kind == STORE_ACCESS_NAMESPACE &&
            a->items[i].body.len > STORE_NAMESPACE_BYTES_PLAIN) {
            version = ACCESS_WITH_QUOTA;
        }
    }
    return version;
}

static uint8_t once_version(const struct command_once *once)
{
    return once->key.len == 0 ? ONCE_WITHOUT_KEY : ONCE_WITH_KEY;
}

uint8_t command_newest(enum command_type type)
{
    CHECK(command_exists(type));
    return newest[type] == 0 ? 1 : newest[type];
}

/* The lowest version that can express the command. */
static uint8_t least_version(const struct command *c)
{
    switch ((int)c->type) {
    case COMMAND_ACCESS:
        return access_version(&c->access);
    case COMMAND_ACK:
        return command_kinds_ack_flags(&c->ack) == 0 ? ACK_PLAIN : ACK_WITH_FLAGS;
    case COMMAND_CLAIM:
        return claim_version(&c->claim);
    case COMMAND_BULK_PUT:
        return bulk_version(&c->bulk_put);
    case COMMAND_JOBS:
        return job_fit_is_any(&c->jobs.fit) ? JOBS_WITHOUT_FIT : JOBS_WITH_FIT;
    case COMMAND_NAMED_PUT:
        return c->named_put.job->job.name.len > 0 ? PUT_WITH_NAME : PUT_WITHOUT_NAME;
    case COMMAND_REPLAY:
        return once_version(&c->replay.once);
    case COMMAND_SCHEDULE_FIRE:
        return once_version(&c->schedule_fire.once);
    case COMMAND_BATCH_OPEN:
        return c->batch_open.owner.known ? BATCH_OPEN_WITH_OWNER
                                         : once_version(&c->batch_open.once);
    case COMMAND_ENQUEUE:
        return c->enqueue.has_batch && c->enqueue.owner.known ? ENQUEUE_WITH_OWNER : ENQUEUE_PLAIN;
    default:
        return command_newest(c->type);
    }
}

uint8_t command_kinds_version(const struct command *c)
{
    return c->version != 0 ? c->version : least_version(c);
}
