/*
 * Model_int: shared by the files of the model. One file per subject, one function per rule.
 */
#pragma once

#include "sim/model_sim/model.h"
#include "sim/model_sim/model_chain.h"

/* model.c */
/* Did the machine process this job before the entry was full? */
bool model_reaches(const struct model *m, struct id id);
struct str model_keep(struct model *m, struct str s); /* a copy in the arena */
void *model_alloc(struct model *m, size_t size);      /* zeroed */
struct id model_next_id(struct model *m);
struct str model_id_text(struct model *m, struct id id, struct str prefix);
void model_refuse(struct result *out, enum err_code code);
/* Add an event of the job j, whose other members the caller may set. NULL if events are off. */
struct store_event *model_event(struct model *m, enum store_event_type type, const struct job *j);
void model_event_queue(struct model *m, enum store_event_type type, struct str queue);
/* Return the queue of that name. Creates it if it does not exist. */
struct model_queue *model_queue_of(struct model *m, struct str name);

/* model_job.c: a job from its creation to its end */
struct model_job *model_job_create(struct model *m, const struct job *like);
void model_job_to_state(struct model *m, struct model_job *j, enum job_state state);
void model_job_touch(struct model *m, struct model_job *j);
void model_job_clear_worker(struct model_job *j);
void model_job_remove(struct model *m, struct model_job *j);
void model_job_delete(struct model *m, struct model_job *j); /* with an event */
/* Jobs that were stored in this way when the entry began, in the order of their ids, including
 * removed ones. */
struct model_list model_job_stored(struct model *m, enum model_stored stored);
bool model_job_exists(const struct model *m, const struct model_job *j);
void model_job_add_error(struct model *m, struct model_job *j, struct str error,
                         struct str backtrace);
/* model_tally.c: called before the report gets its row, and before the job is removed */
void model_tally_report(struct model *m, const struct model_job *j,
                        const struct store_tokens *tokens);
void model_tally_settle(struct model *m, const struct model_job *j);

void model_job_add_usage(struct model *m, struct model_job *j, enum store_phase phase,
                         const struct store_tokens *tokens);
void model_job_add_iteration(struct model *m, struct model_job *j, struct store_iteration row);
bool model_job_expired(const struct model *m, const struct model_job *j);
/* The error has already been added. */
void model_job_die(struct model *m, struct model_job *j, struct str error);
void model_job_expire(struct model *m, struct model_job *j);
void model_job_fail(struct model *m, struct model_job *j, struct str error, struct str backtrace,
                    struct result *out);
/* The result of a failure at that time. */
void model_job_failure(const struct job *doc, struct wall at, struct result *out);
/* Jobs that wait for j, which has completed, stop waiting for it. */
void model_job_satisfy(struct model *m, const struct model_job *j);
/* Continue for completed jobs whose waiters have not all been updated. Returns the number of
 * updated jobs. */
uint32_t model_job_satisfy_owed(struct model *m);
/* The job runs again. */
void model_job_owes_nothing(struct model *m, struct id id);

/* Clears, deletes and operations by filter that began before now skip this job. */
void model_job_join(const struct model *m, struct model_job *j);
/* A request is answered with this job. Clears, deletes and operations by filter that would end it
 * skip it if they began before now. */
void model_job_promise(struct model *m, struct id id);

/* model_lock.c: unique keys */
struct model_lock *model_lock_find(struct model *m, struct str queue, struct str key);
void model_lock_set(struct model *m, const struct model_job *j);
void model_lock_release(struct model *m, const struct model_job *j);
void model_lock_move(struct model *m, const struct model_job *j, struct str to);

/* model_batch.c */
void model_batch_count_end(struct model *m, struct model_job *j, bool succeeded);
void model_batch_open(struct model *m, const struct command_batch_open *c, struct result *out);
void model_batch_seal(struct model *m, const struct command_batch_seal *c, struct result *out);
struct model_batch *model_batch_create(struct model *m, struct str queue, struct str payload,
                                       const struct store_owner *owner, bool sealed);
void model_batch_touch(struct model *m, struct model_batch *b);
void model_batch_finish(struct model *m, struct model_batch *b);

/* model_chain.c */
void model_chain_advance(struct model *m, const struct model_job *j,
                         const struct command_ack_item *ack);
void model_chain_step_died(struct model *m, const struct model_job *j, struct str error);

/* Families of commands, one file each. */
void model_enqueue(struct model *m, const struct command_enqueue *c, struct result *out);
/* The dependencies that have not completed. */
struct str model_enqueue_unmet(struct model *m, struct str waits_for);
void model_claim(struct model *m, const struct command_claim *c, struct result *out);
void model_claim_return(struct model *m, const struct command_return *c, struct result *out);
void model_ack(struct model *m, const struct command_ack *c, struct result *out);
void model_fail(struct model *m, const struct command_fail *c, struct result *out);
void model_heartbeat(struct model *m, const struct command_heartbeat *c, struct result *out);
void model_action(struct model *m, const struct command_jobs *c, struct result *out);
void model_replay(struct model *m, const struct command_replay *c, struct result *out);
void model_queue_remember_claim(struct model *m, struct model_queue *q);
void model_queue_change(struct model *m, const struct command_queue *c, struct result *out);
void model_tick(struct model *m, struct result *out);
void model_purge(struct model *m, const struct command_purge *c, struct result *out);
void model_schedule_put(struct model *m, const struct command_schedule_put *c, struct result *out);
void model_schedule_delete(struct model *m, const struct command_schedule_delete *c,
                           struct result *out);
void model_schedule_fire(struct model *m, const struct command_schedule_fire *c,
                         struct result *out);
void model_webhook_put(struct model *m, const struct command_webhook_put *c, struct result *out);
void model_webhook_delete(struct model *m, const struct command_webhook_delete *c,
                          struct result *out);
void model_webhook_mark(struct model *m, const struct command_webhook_mark *c);

/* model_policy.c */
void model_policy_put(struct model *m, const struct command_policy_put *c, struct result *out);
void model_policy_delete(struct model *m, const struct command_policy_delete *c,
                         struct result *out);
/* The name of the policy that holds the job before its next iteration, or empty. */
struct str model_policy_of(const struct model *m, const struct job *j);
void model_bulk_put(struct model *m, const struct command_bulk_put *c, struct result *out);
void model_bulk_step(struct model *m, const struct command_bulk_step *c, struct result *out);
/* Is an operation by filter in progress that may end the job? */
bool model_bulk_may_end(const struct model *m, struct id job);
void model_bulk_end(struct model *m, const struct command_bulk_end *c, struct result *out);

/* model_worker.c */
void model_worker_seen(struct model *m, const struct command_claim *claim);
void model_worker_beat(struct model *m, struct str ns, struct str id);
