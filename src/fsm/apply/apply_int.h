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

/* The kept answer to a named seal was made before the end of its entry, when the callback's job was
 * not there yet: add it, if the command is a seal. */
void apply_batch__seal_again(struct machine *m, const struct command *c, struct result *r);

/* entry.c */

/* Refuse: the result carries the code and the message. */
void entry__refuse(struct machine *m, struct result *r, enum err_code code, const char *fmt, ...)
    ATTR_PRINTF(4, 5);

/* Room that lives until the entry is applied. */
void *entry__alloc(struct machine *m, size_t size);
#define ENTRY_ARRAY(m, type, n) ((type *)entry__alloc((m), sizeof(type) * (n)))

/* Whether the entry has read and written so much that what is left goes into a later one. Asked
 * between two jobs by whatever may meet many. The answer is the same on every node. */
bool entry__is_full(const struct machine *m);
uint64_t entry__cost(const struct machine *m); /* so far, in bytes */

/* "job_…" in the entry's memory, for messages and payloads. */
struct str entry__id_text(struct machine *m, struct id id, struct str prefix);

/* A buf whose bytes live until the entry is applied: fill it, then keep its text. */
struct str entry__keep(struct machine *m, struct buf *b);

/* The texts of a record move into memory of their own, which the caller frees. */
char *entry__own_texts(struct str *texts[], size_t count);

/* ids.c: a fresh id, unique by its place in the log */
struct id ids__new(struct machine *m);

/* history.c: what happened, by the minute. Nothing is decided by it, but it is stored. */
void history__event(struct machine *m, enum store_event_type type, struct str queue);
void history__waited(struct machine *m, const struct job *j); /* before ready_at is cleared */
void history__ran(struct machine *m, const struct job *j);
void history__line_up(const struct machine *m, struct job *j); /* order is still that of before */
void history__moved(struct machine *m, struct str queue);      /* it has more or fewer pending */
void history__drop(struct machine *m, struct str queue);       /* it was deleted */
void history__write(struct machine *m);                        /* at the end of an entry */
void history__load(struct machine *m);
void history__close(struct machine *m);

/* jobs.c: every change of a job goes through these. */

/* The job and the family that it is in; false when there is none. */
bool jobs__get(struct machine *m, struct id id, struct job *out, enum store_family *out_family);

/* The same for who wants its numbers only: the document is not kept in memory, and what out has in
 * text is not to be used. */
bool jobs__glance(struct machine *m, struct id id, struct job *out);
/* The document, in the entry's memory, of a job that was read or written in this entry. */
struct str jobs__doc(struct machine *m, struct id id);
/* Its state alone. */
bool jobs__state(struct machine *m, struct id id, enum job_state *out);

/* Create j: id, times, state and place are set here, the queue is made when it is new, `enqueued`
 * is told. j's texts may be anything that lives until the entry is applied. */
void jobs__create(struct machine *m, struct job *j);
void jobs__create_as(struct machine *m, struct job *j); /* its id is set, and new: ids__new */

/* Write j as it is now and bring every index in line with it. `was_in` is where jobs__get found it.
 * A pending job goes to the tail of its line, or of none while it has to wait for others. */
void jobs__write(struct machine *m, struct job *j, enum store_family was_in);

/* Rows were put under j, whose document stays as it is: copies of it look again. */
void jobs__note_rows(struct machine *m, const struct job *j);

/* Write j, which was claimed and is pending again, at the place that it had before. */
void jobs__write_back(struct machine *m, struct job *j, uint64_t order);

/* At start: take up a live job from its document. */
void jobs__load(struct machine *m, const struct job *j, size_t payload_bytes);

/* Take j out of everything, with its rows. */
void jobs__remove(struct machine *m, struct job *j, enum store_family was_in);

void jobs__emit(struct machine *m, enum store_event_type type, const struct job *j);
void jobs__emit_event(struct machine *m, const struct store_event *e);
/* It was active, and is taken from its worker (machine_hooks.taken). */
void jobs__tell_taken(struct machine *m, const struct job *j);

/* Whether the state allows the move that a command asks for; refuse when it does not. */
bool jobs__may_move(struct machine *m, const struct job *j, enum job_move move, enum err_code code,
                    struct result *r);
/* The same, and make it. */
bool jobs__move(struct machine *m, struct job *j, enum job_move move, enum err_code code,
                struct result *r);

/* Find the job of a command, or refuse. */
bool jobs__need(struct machine *m, struct id id, struct job *out, enum store_family *out_family,
                struct result *r);

/* Refuse when the command names a lease that is not the job's last. A token of 0 names none. */
bool jobs__lease_holds(struct machine *m, const struct job *j, uint64_t token, enum err_code code,
                       struct result *r);

/* Did the worker that had the last claim end it so already? Then its answer was lost, and it asks
 * again. A token of 0 names no claim. */
bool jobs__was_ended(const struct job *j, uint64_t token, enum job_ended how);

void jobs__forget_end(struct job *j);

/* Append an error entry to j, whose count goes up; j is written by the caller. */
void jobs__add_error(struct machine *m, struct job *j, struct str error, struct str backtrace);

void jobs__clear_claim(struct job *j); /* worker and lease */

/* job_end.c: a job ends. Each writes the job, tells, and does what follows from the end. */

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

/* An attempt failed: by the rules of retries the job waits or ends. r may be NULL. */
void job_end__failed(struct machine *m, struct job *j, struct str error, struct str backtrace,
                     struct result *r);
/* The same, but not before the target of its call wants to hear of it again. */
void job_end__failed_later(struct machine *m, struct job *j, struct str error,
                           int64_t not_before_ms);
/* The last attempt of a run failed, and the job goes on with another run: only told and counted. */
void job_end__run_failed(struct machine *m, struct job *j, struct str error);
/* What job_end__failed answered to the worker that ended j so, of a job that is as it was left
 * then, or went on by itself. */
void job_end__failed_again(const struct job *j, struct result *r);

/* apply_claim.c: claim what is wanted; r is a claim's result. */
void apply_claim__take(struct machine *m, const struct command_claim *cl, struct result *r);
/* j becomes active for the worker of the claim. */
void apply_claim__hand_out(struct machine *m, struct queue *q, struct job *j,
                           const struct command_claim *cl, struct result_item *item);

/* apply_purge.c: one step over the jobs that are over, from an id on: those with names, or those
 * without. Where the next step goes on; until, at the end. */
struct id apply_purge__jobs(struct machine *m, struct id from, struct wall before, struct id until,
                            bool named, struct result *r);

/* apply_jobs.c: the action on each of the jobs that are visible in the namespace. */
void apply_jobs__each(struct machine *m, const struct command_jobs *cj, struct str ns,
                      struct result *r);

/* apply_bulk.c */
/* One step of clearing or deleting a queue; r says whether there is more, and where. A queue that
 * is not there is done. */
void apply_queue__remove(struct machine *m, const struct command_queue *c, struct result *r);
/* What a delete does before its first step: nothing holds back what is in the queue. */
void apply_queue__begin_delete(struct machine *m, struct queue *q);
void apply_bulk__load(struct machine *m);
void apply_bulk__close(struct machine *m);

/* apply_schedule.c */
bool apply_schedule__first(const struct machine *m, struct machine_due_schedule *out);
/* As machine_due_schedules. */
uint32_t apply_schedule__due(const struct machine *m, struct wall now,
                             struct machine_due_schedule *out, uint32_t max);
/* From a backup, unless there is one of this id. False: another one has its name. */
bool apply_schedule__restore(struct machine *m, struct id id, const struct store_schedule *rec);
void apply_schedule__load(struct machine *m);
void apply_schedule__close(struct machine *m);

/* apply_webhook.c */
/* From a backup, unless there is one of this id. False: there are too many. */
bool apply_webhook__restore(struct machine *m, struct str id, const struct store_webhook *rec);
void apply_webhook__load(struct machine *m);
void apply_webhook__close(struct machine *m);

/* apply_policy.c */
bool apply_policy__is_known(const struct machine *m, struct id id);
/* The name of the newest policy that holds the job before its next iteration; empty: none does. */
struct str apply_policy__match(const struct machine *m, const struct job *j);
/* From a backup, unless there is one of this id. False: there are too many. */
bool apply_policy__restore(struct machine *m, struct id id, const struct store_policy *rec);
void apply_policy__load(struct machine *m);
void apply_policy__close(struct machine *m);

/* machine_nodes.c */
struct node_record {
    struct store_node rec; /* texts point into own memory */
    char *texts;
};
/* NULL when there is none. */
struct node_record *machine_nodes__find(const struct machine *m, uint64_t id);

/* apply_node.c */
void apply_node__load(struct machine *m);
void apply_node__close(struct machine *m);
