/*
 * Apply_access: access records and budgets, for the files that apply commands. A part of
 * apply_int.h.
 */
#pragma once

#include "base/limits.h"
#include "fsm/explain.h"
#include "fsm/machine_int.h"
#include "store/store_access.h"
#include "store/store_rows.h"

/* apply_budget.c */
struct apply_budget_verdict {
    bool exceeded;
    enum store_budget_action action; /* of the budget that decides (http-api.md 17.3) */
    struct str reason;
};
/* May a fetch claim a job of the queue? */
struct apply_budget_verdict apply_budget__at_fetch(struct machine *m, struct str queue);
/* May this job be handed out? Also checks the budgets of its tags. */
struct apply_budget_verdict apply_budget__of_candidate(struct machine *m, const struct job *j);
/* Checks the per-job limits against the job's cost so far plus this report. */
struct apply_budget_verdict apply_budget__of_job(struct machine *m, struct job *j,
                                                 const struct store_tokens *t);
/* Store a worker's usage report for the job; an empty report stores nothing. The caller writes j
 * afterwards. */
void apply_budget__report(struct machine *m, struct job *j, enum store_phase phase,
                          const struct store_tokens *t);
/* Hold a live job because of a budget. */
void apply_budget__hold(struct machine *m, struct job *j, enum job_move move, struct str reason);
/* Does a budget block the whole queue at that time? *out_until is the start of the next day if the
 * block ends then, otherwise 0. */
bool apply_budget__blocks(const struct machine *m, struct str queue, struct wall now,
                          struct wall *out_until);
/* The same for one job, blocked by a budget for one of its tags. */
bool apply_budget__holds(struct machine *m, const struct job *j, struct wall now,
                         struct wall *out_until);
/* For explanations: the budget that keeps a queue, or a job because of its tags, from being handed
 * out. The reason is in the arena; until is as above. */
struct explain_budget apply_budget__explain_queue(const struct machine *m, struct str queue,
                                                  struct wall now, struct arena *a);
struct explain_budget apply_budget__explain_job(struct machine *m, const struct job *j,
                                                struct wall now, struct arena *a);
/* A budget record was written (body) or deleted (empty body). */
void apply_budget__changed(struct machine *m, struct str name, struct str body);
bool apply_budget__is_there(const struct machine *m, struct str name);
/* The body with a new id, unless it already has one. */
struct str apply_budget__with_id(struct machine *m, struct str body);
void apply_budget__load(struct machine *m);
void apply_budget__close(struct machine *m);

/* spends.c */
/* Add the cost of a usage report, from an ack or a heartbeat, to the spending records. */
void spends__report(struct machine *m, const struct job *j, int64_t nusd, bool ack);
/* The total cost of the job's reports, plus more_nusd. Since entries of version 11 the sum is in
 * the document and includes reports of the same entry. If the document has no sum yet, it is
 * computed from the rows and stored in j. */
int64_t spends__of_job(struct machine *m, struct job *j, int64_t more_nusd);
/* Call before a usage row is added: adds its cost to the sum in j. */
void spends__add_to_job(struct machine *m, struct job *j, int64_t nusd);
/* The keys of the spending records of the job's tags. Returns their number. */
size_t spends__tags(struct machine *m, const struct job *j, struct str out[LIMIT_TAGS]);
/* The amount spent on the day of now. The key is 'q' and a queue, 'g' and a namespace, or that of
 * a tag. */
int64_t spends__today(const struct machine *m, struct str key, struct wall now);
/* The start of the next day. */
struct wall spends__tomorrow(struct wall now);
/* Is the average cost per ack of the queue above this amount? */
bool spends__average_above(const struct machine *m, struct str queue, int64_t nusd);
/* True for the first alert of the budget on this day; the day is then recorded. */
bool spends__alert(struct machine *m, struct str budget);
/* A queue is deleted or created: its sum of today is kept for a new queue of the same name. */
void spends__queue_gone(struct machine *m, struct str queue);
void spends__queue_made(struct machine *m, struct str queue);
void spends__load(struct machine *m);
void spends__close(struct machine *m);

/* apply_access.c */
/* Restore a budget from a backup, unless one with this name exists. False: there are too many. */
bool apply_access__restore_budget(struct machine *m, struct str name,
                                  const struct store_access_frame *budget);
/* Report the changes of the entry to the access hook, and clear the list. */
void apply_access__tell(struct machine *m);
void apply_access__load(struct machine *m, const struct machine_hooks *hooks);
void apply_access__close(struct machine *m);
