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

/* Set c->ns to the namespace of a backup or a restore: the named one, else the caller's. False,
 * with the call ended, if the caller may not use it. */
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

/* rest_backup_budget.c: decode a budget for a restore */
ATTR_NODISCARD bool rest_backup_budget__read(struct rest_call *c, struct str json,
                                             struct command_restore_item *out, struct err *err);

/* Write an approval policy, and the event patterns of a webhook, as the API shows them. */
void rest_policies__write(struct json_write *w, const struct rest_call *c, struct id id,
                          const struct store_policy *p);
void rest_webhooks__write_events(struct json_write *w, struct str patterns);

/* rest_restore_job.c: reading. Items are appended to the list. Texts are views of the JSON or in
 * the call's arena. */
struct rest_restore_list {
    struct command_restore_item *items; /* from malloc; the owner of the list frees it */
    size_t count, cap;
    size_t bytes;      /* approximate size of the items in a command */
    uint64_t disabled; /* enabled schedules that were disabled; accumulates */
    uint64_t cut;      /* jobs cut off from batches and jobs of other namespaces; accumulates */
    uint64_t rerouted; /* jobs whose chains led to another namespace; accumulates */
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
/* Approximate size of an item in a command. */
size_t rest_restore_job__item_bytes(const struct command_restore_item *it);
/* Decode a job to be enqueued as a new one: a job of the first format, or any job in enqueue
 * mode. */
ATTR_NODISCARD bool rest_restore_job__read_new(struct rest_call *c, struct str json,
                                               struct command_new *out, struct err *err);
