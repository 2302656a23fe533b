/*
 * Rest_backup: shared by backup and restore (http-api.md 20.4): a job with all its rows, as JSON.
 *
 * A job is written as its document, plus `iterations` and `usage`, plus `restore`: data that a
 * restored job needs but its document does not show.
 */
#pragma once

#include "core/queue_name.h"
#include "fsm/command/command_restore.h"
#include "rest/rest_int.h"
#include "store/store_snapshot.h"

/* The namespace that a backup or a restore is about: named in the query or in a text, else the
 * caller's. False, and the call has ended, when the caller may not. Sets c->ns. */
ATTR_NODISCARD bool rest_backup__set_namespace(struct rest_call *c, struct str named);
/* Whether a queue is in the backup of the call's namespace (queue_name_home), and is one that the
 * caller may use. */
static inline bool rest_backup__is_own(const struct rest_call *c, struct str queue)
{
    return str_eq(queue_name_home(queue), c->ns) && rest_names__is_visible(c, queue);
}

/* rest_backup_job.c: writing */
struct rest_backup_options {
    bool secrets;
    uint64_t first_summed; /* usage rows from this one on are in the sums of the backup, too */
};
/* Returns how many of the oldest rows were left out, because a restore would not accept the job
 * with them. */
uint64_t rest_backup_job__write(struct json_write *w, const struct rest_call *c,
                                const struct job *j, struct store_snapshot *sn,
                                const struct rest_backup_options *options);
void rest_backup_job__write_queue(struct json_write *w, const struct rest_call *c, struct str name,
                                  const struct store_queue *q);
void rest_backup_job__write_schedule(struct json_write *w, const struct rest_call *c, struct id id,
                                     const struct store_schedule *s, bool secrets);
void rest_backup_job__write_webhook(struct json_write *w, const struct rest_call *c, struct str id,
                                    const struct store_webhook *h);
void rest_backup_job__write_batch(struct json_write *w, const struct rest_call *c, struct id id,
                                  const struct store_batch *b);

/* rest_backup_budget.c: a budget as an item of a restore */
ATTR_NODISCARD bool rest_backup_budget__read(struct rest_call *c, struct str json,
                                             struct command_restore_item *out, struct err *err);

/* As they are shown: an approval policy, and what a webhook listens to. */
void rest_policies__write(struct json_write *w, const struct rest_call *c, struct id id,
                          const struct store_policy *p);
void rest_webhooks__write_events(struct json_write *w, struct str patterns);

/* rest_restore_job.c: reading. Items are put behind those that are there. Texts are views of the
 * JSON or in the call's arena. */
struct rest_restore_list {
    struct command_restore_item *items; /* from malloc; whoever has the list frees it */
    size_t count, cap;
    size_t bytes;      /* about what they take in a command */
    uint64_t disabled; /* schedules that were enabled; counted on */
};

enum rest_restore_what {
    REST_RESTORE_QUEUE,
    REST_RESTORE_SCHEDULE,
    REST_RESTORE_BATCH,
    REST_RESTORE_WEBHOOK,
    REST_RESTORE_POLICY,
    REST_RESTORE_BUDGET,
    REST_RESTORE_SUM,
    REST_RESTORE_JOB,
    REST_RESTORE_WHAT_COUNT
};

ATTR_NODISCARD bool rest_restore_job__read(struct rest_call *c, enum rest_restore_what what,
                                           struct str json, struct rest_restore_list *list,
                                           struct err *err);
/* What they take in a command, about, from the item at on. */
size_t rest_restore_job__item_bytes(const struct command_restore_item *it);
/* A job of the first format, or of any when it is to be enqueued anew. */
ATTR_NODISCARD bool rest_restore_job__read_new(struct rest_call *c, struct str json,
                                               struct command_new *out, struct err *err);
