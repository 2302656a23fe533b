/*
 * Apply_access: access records and budgets, for the files that apply commands. A part of
 * apply_int.h.
 */
#pragma once

#include "base/limits.h"
#include "fsm/machine_int.h"
#include "store/store_access.h"
#include "store/store_rows.h"

/* apply_budget.c */
struct apply_budget_verdict {
    bool exceeded;
    enum store_budget_action action; /* the strictest of those that are */
    struct str reason;
};
/* A job of the queue is asked for. */
struct apply_budget_verdict apply_budget__at_fetch(struct machine *m, struct str queue);
/* This job would be handed out: its tags count too. */
struct apply_budget_verdict apply_budget__of_candidate(struct machine *m, const struct job *j);
/* What the job has cost, and this report on top. */
struct apply_budget_verdict apply_budget__of_job(struct machine *m, struct job *j,
                                                 const struct store_tokens *t);
/* Write down what a worker reports of the job, if it reports anything. j is to be written after. */
void apply_budget__report(struct machine *m, struct job *j, enum store_phase phase,
                          const struct store_tokens *t);
/* The job, which is live, becomes held by the move. */
void apply_budget__hold(struct machine *m, struct job *j, enum job_move move, struct str reason);
/* Is nothing handed out of the queue at that time? *out_until: when the next day begins, if that
 * ends it; else 0. */
bool apply_budget__blocks(const struct machine *m, struct str queue, struct wall now,
                          struct wall *out_until);
/* The same of a job, which a budget for one of its tags holds. */
bool apply_budget__holds(struct machine *m, const struct job *j, struct wall now,
                         struct wall *out_until);
/* A record of one was put, with its body, or deleted, without. */
void apply_budget__changed(struct machine *m, struct str name, struct str body);
bool apply_budget__is_there(const struct machine *m, struct str name);
/* The same for a tag, by the key of what was spent on it. */
bool apply_budget__is_for_tag(const struct machine *m, struct str key);
/* The body of a record that is put: with a new id, unless it has one. */
struct str apply_budget__with_id(struct machine *m, struct str body);
void apply_budget__load(struct machine *m);
void apply_budget__close(struct machine *m);

/* spends.c */
/* A report of the job is written down, of an ack or a heartbeat. */
void spends__report(struct machine *m, const struct job *j, int64_t nusd, bool ack);
/* What all reports of the job cost, and this much more. Since entries of version 11 those of the
 * same entry count too: the sum is in the document. Where it is not, it is made from the rows, and
 * stays in j. */
int64_t spends__of_job(struct machine *m, struct job *j, int64_t more_nusd);
/* One more report of the job is about to get a row. */
void spends__add_to_job(struct machine *m, struct job *j, int64_t nusd);
/* The keys of what was spent on the tags of a job: their number. */
size_t spends__tags(struct machine *m, const struct job *j, struct str out[LIMIT_TAGS]);
/* What was spent on the day of now. The key is 'q' and a queue, 'g' and a namespace, or a tag's. */
int64_t spends__today(const struct machine *m, struct str key, struct wall now);
/* When the day after it begins. */
struct wall spends__tomorrow(struct wall now);
/* Is the average of the queue's acks above this? */
bool spends__average_above(const struct machine *m, struct str queue, int64_t nusd);
/* The first time today for the budget of this name? Then it is noted. */
bool spends__alert(struct machine *m, struct str budget);
void spends__forget_queue(struct machine *m, struct str queue);
void spends__load(struct machine *m);
void spends__close(struct machine *m);

/* apply_access.c */
/* From a backup, unless there is one for the same. False: there are too many. */
bool apply_access__restore_budget(struct machine *m, struct str name,
                                  const struct store_access_frame *budget);
/* What the entry has changed is told, and forgotten. */
void apply_access__tell(struct machine *m);
void apply_access__load(struct machine *m, const struct machine_hooks *hooks);
void apply_access__close(struct machine *m);
