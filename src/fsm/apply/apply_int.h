/*
 * Apply_int: the functions for applying commands. All reads and changes of the state go through
 * them.
 *
 * A command first reads and then refuses or decides; only then does it change the state. A refused
 * command has changed nothing, so the functions that change the state cannot fail.
 */
#pragma once

#include "fsm/apply/apply_access_int.h" /* IWYU pragma: export */
#include "fsm/machine_int.h"
#include "fsm/state/batches_int.h" /* IWYU pragma: export */
#include "fsm/state/parts_int.h"   /* IWYU pragma: export */
#include "fsm/state/push_int.h"    /* IWYU pragma: export */
#include "fsm/state/queues_int.h"  /* IWYU pragma: export */
#include "fsm/state/spaces_int.h"  /* IWYU pragma: export */

/* One function per command; machine.c has the table. */
typedef void (*apply_fn)(struct machine *m, const struct command *c, struct result *r);
void apply_enqueue(struct machine *m, const struct command *c, struct result *r);
void apply_claim(struct machine *m, const struct command *c, struct result *r);
void apply_ack(struct machine *m, const struct command *c, struct result *r);
void apply_fail(struct machine *m, const struct command *c, struct result *r);
void apply_heartbeat(struct machine *m, const struct command *c, struct result *r);
void apply_jobs(struct machine *m, const struct command *c, struct result *r);
void apply_replay(struct machine *m, const struct command *c, struct result *r);
void apply_queue(struct machine *m, const struct command *c, struct result *r);
void apply_tick(struct machine *m, const struct command *c, struct result *r);
void apply_purge(struct machine *m, const struct command *c, struct result *r);
void apply_batch_open(struct machine *m, const struct command *c, struct result *r);
void apply_batch_seal(struct machine *m, const struct command *c, struct result *r);
void apply_schedule_put(struct machine *m, const struct command *c, struct result *r);
void apply_schedule_delete(struct machine *m, const struct command *c, struct result *r);
void apply_schedule_fire(struct machine *m, const struct command *c, struct result *r);
void apply_webhook_put(struct machine *m, const struct command *c, struct result *r);
void apply_webhook_delete(struct machine *m, const struct command *c, struct result *r);
void apply_webhook_mark(struct machine *m, const struct command *c, struct result *r);
void apply_policy_put(struct machine *m, const struct command *c, struct result *r);
void apply_policy_delete(struct machine *m, const struct command *c, struct result *r);
void apply_node_put(struct machine *m, const struct command *c, struct result *r);
void apply_node_state(struct machine *m, const struct command *c, struct result *r);
void apply_bulk_put(struct machine *m, const struct command *c, struct result *r);
void apply_bulk_step(struct machine *m, const struct command *c, struct result *r);
void apply_bulk_end(struct machine *m, const struct command *c, struct result *r);
void apply_bulk_queue(struct machine *m, const struct command *c, struct result *r);
void apply_restore(struct machine *m, const struct command *c, struct result *r);
void apply_return(struct machine *m, const struct command *c, struct result *r);
void apply_access(struct machine *m, const struct command *c, struct result *r);
void apply_access_audit(struct machine *m, const struct command *c, struct result *r);
void apply_push_claim(struct machine *m, const struct command *c, struct result *r);
void apply_push_finish(struct machine *m, const struct command *c, struct result *r);
void apply_named_put(struct machine *m, const struct command *c, struct result *r);
void apply_named_purge(struct machine *m, const struct command *c, struct result *r);

/* apply_batch.c */

/* The stored result of a named batch_seal lacks the callback job, which is created only at the end
 * of the entry. If c is a seal, add the job to the result. */
void apply_batch__seal_again(struct machine *m, const struct command *c, struct result *r);

/* entry.c */

/* Refuse the command: sets the code and the message of the result. */
void entry__refuse(struct machine *m, struct result *r, enum err_code code, const char *fmt, ...)
    ATTR_PRINTF(4, 5);

/* Memory that is valid until the entry has been applied. */
void *entry__alloc(struct machine *m, size_t size);
#define ENTRY_ARRAY(m, type, n) ((type *)entry__alloc((m), sizeof(type) * (n)))

/* Has the entry reached its limit of bytes read and written? Commands that handle many jobs check
 * this after each job and leave the rest to a later entry. The answer is the same on every node. */
bool entry__is_full(const struct machine *m);
uint64_t entry__cost(const struct machine *m); /* so far, in bytes */

/* "job_…" in the entry's memory, for messages and payloads. */
struct str entry__id_text(struct machine *m, struct id id, struct str prefix);

/* Keep the text of a filled buf until the entry has been applied. */
struct str entry__keep(struct machine *m, struct buf *b);

/* Move the texts of a record into one new allocation, which the caller frees. */
char *entry__own_texts(struct str *texts[], size_t count);

/* ids.c: a fresh id, unique by its place in the log */
struct id ids__new(struct machine *m);

/* history.c: counts what happens, per minute. It is stored, but no rule depends on it. */
void history__event(struct machine *m, enum store_event_type type, struct str queue);
void history__waited(struct machine *m, const struct job *j); /* call before ready_at is cleared */
void history__ran(struct machine *m, const struct job *j);
void history__line_up(const struct machine *m, struct job *j); /* call before order is changed */
void history__moved(struct machine *m, struct str queue); /* its number of pending jobs changed */
void history__drop(struct machine *m, struct str queue);  /* it was deleted */
void history__write(struct machine *m);                   /* at the end of an entry */
void history__load(struct machine *m);
void history__close(struct machine *m);

/* job_read.c */

/* Read the job and the family that it is in. False if it does not exist. */
bool job_read__get(struct machine *m, struct id id, struct job *out, enum store_family *out_family);

/* The same for callers that need only numbers and times: the document is not kept in memory, so do
 * not use the texts of out. */
bool job_read__glance(struct machine *m, struct id id, struct job *out);
/* The document, in the entry's memory, of a job that was read or written in this entry. */
struct str job_read__doc(struct machine *m, struct id id);
/* Only the state of the job. */
bool job_read__state(struct machine *m, struct id id, enum job_state *out);

/* Find the job of a command, or refuse. */
bool job_read__need(struct machine *m, struct id id, struct job *out, enum store_family *out_family,
                    struct result *r);

/* jobs.c: every change of a job goes through these. */

/* Create j: sets its id, times, state and place in line, creates the queue if it is new, and emits
 * `enqueued`. The texts of j must be valid until the entry has been applied. */
void jobs__create(struct machine *m, struct job *j);
void jobs__create_as(struct machine *m, struct job *j); /* with the id in j, from ids__new */

/* Write j and update all indexes. `was_in` is the family in which job_read__get found it. A pending
 * job goes to the end of its line, or into no line while it waits for other jobs. */
void jobs__write(struct machine *m, struct job *j, enum store_family was_in);

/* Rows were added to j but its document did not change: report it to holders of copies. */
void jobs__note_rows(struct machine *m, const struct job *j);

/* Write j, which was claimed and is pending again, and restore its previous place in line. */
void jobs__write_back(struct machine *m, struct job *j, uint64_t order);

/* At start: add a live job, read from its document, to the indexes. Returns its record. */
struct live_job *jobs__load(struct machine *m, const struct job *j, size_t payload_bytes);

/* Remove j from the store and all indexes, with its rows. */
void jobs__remove(struct machine *m, struct job *j, enum store_family was_in);

void jobs__emit(struct machine *m, enum store_event_type type, const struct job *j);
void jobs__emit_event(struct machine *m, const struct store_event *e);
/* Report that an active job was taken away from its worker (machine_hooks.taken). */
void jobs__tell_taken(struct machine *m, const struct job *j);

/* Does the job's state allow this move? If not, refuse. */
bool jobs__may_move(struct machine *m, const struct job *j, enum job_move move, enum err_code code,
                    struct result *r);
/* The same, and make the move. */
bool jobs__move(struct machine *m, struct job *j, enum job_move move, enum err_code code,
                struct result *r);

/* Refuse if the lease token is not that of the job's last claim. A token of 0 is accepted. */
bool jobs__lease_holds(struct machine *m, const struct job *j, uint64_t token, enum err_code code,
                       struct result *r);

/* Has the holder of this lease token already ended the job in this way? Then its response was lost
 * and it repeats the request. False for a token of 0. */
bool jobs__was_ended(const struct job *j, uint64_t token, enum job_ended how);

void jobs__forget_end(struct job *j);

/* Append an error row and count it in j. The caller writes j. */
void jobs__add_error(struct machine *m, struct job *j, struct str error, struct str backtrace);

void jobs__clear_claim(struct job *j); /* worker and lease */

/* job_end.c: ends a job: writes it, emits the event, then batch, chain, dependents, unique key. */

struct job_end_ack {
    bool has_result;
    struct str result;
    bool exit;
    struct str exit_reason;
};
void job_end__completed(struct machine *m, struct job *j, enum store_family was_in,
                        const struct job_end_ack *ack);
void job_end__dead(struct machine *m, struct job *j, enum store_family was_in, struct str error);
void job_end__expired(struct machine *m, struct job *j, enum store_family was_in);
void job_end__cancelled(struct machine *m, struct job *j, enum store_family was_in);
void job_end__removed(struct machine *m, struct job *j, enum store_family was_in);

/* An attempt failed: depending on its retry options, the job is retried or dies. r may be NULL. */
void job_end__failed(struct machine *m, struct job *j, struct str error, struct str backtrace,
                     struct result *r);
/* The same, but the next attempt is not before the delay that the push target requested. */
void job_end__failed_later(struct machine *m, struct job *j, struct str error,
                           int64_t not_before_ms);
/* The last attempt of a run of a recurring job failed: only emits the event and counts. */
void job_end__run_failed(struct machine *m, struct job *j, struct str error);
/* Repeat the result that job_end__failed returned when this attempt failed. Only for a job that no
 * worker or user has changed since. */
void job_end__failed_again(const struct job *j, struct result *r);

/* apply_claim.c: claim jobs; r is the result of a claim. */
void apply_claim__take(struct machine *m, const struct command_claim *cl, struct result *r);
/* j becomes active for the worker of the claim. */
void apply_claim__hand_out(struct machine *m, struct queue *q, struct job *j,
                           const struct command_claim *cl, struct result_item *item);

/* apply_purge.c: one step over the finished jobs, with or without names, starting at `from`.
 * Returns where the next step starts; `until` when all are done. */
struct id apply_purge__jobs(struct machine *m, struct id from, struct wall before, struct id until,
                            bool named, struct result *r);

/* apply_jobs.c: apply the action to each job that is visible in the namespace. */
void apply_jobs__each(struct machine *m, const struct command_jobs *cj, struct str ns,
                      struct result *r);

/* apply_bulk.c */
/* One step of clearing or deleting a queue. r tells whether there is more, and where to continue.
 * If the queue does not exist, there is nothing to do. */
void apply_queue__remove(struct machine *m, const struct command_queue *c, struct result *r);
/* Before the first step of a delete. Removes the queue's limits in entries before version 11. */
void apply_queue__begin_delete(struct machine *m, struct queue *q);
void apply_bulk__load(struct machine *m);
void apply_bulk__close(struct machine *m);

/* apply_schedule.c */
bool apply_schedule__first(const struct machine *m, struct machine_due_schedule *out);
/* As machine_due_schedules. */
uint32_t apply_schedule__due(const struct machine *m, struct wall now,
                             struct machine_due_schedule *out, uint32_t max);
/* Restore from a backup, unless the id exists. False: another schedule has the name. */
bool apply_schedule__restore(struct machine *m, struct id id, const struct store_schedule *rec);
void apply_schedule__load(struct machine *m);
void apply_schedule__close(struct machine *m);

/* apply_webhook.c */
/* Restore from a backup, unless the id exists. False: there are too many. */
bool apply_webhook__restore(struct machine *m, struct str id, const struct store_webhook *rec);
void apply_webhook__load(struct machine *m);
void apply_webhook__close(struct machine *m);

/* apply_policy.c */
/* Restore from a backup, unless the id exists. False: there are too many. */
bool apply_policy__restore(struct machine *m, struct id id, const struct store_policy *rec);

/* machine_nodes.c */
struct node_record {
    struct store_node rec; /* texts point into own memory */
    char *texts;
};
/* NULL if there is none. */
struct node_record *machine_nodes__find(const struct machine *m, uint64_t id);

/* apply_node.c */
void apply_node__load(struct machine *m);
void apply_node__close(struct machine *m);
