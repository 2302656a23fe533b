/*
 * Samples: one value of each type that is written to disk, with every member set to a value other
 * than zero, and functions that compare two such values member by member.
 *
 * The files in tests/golden/ were written from the samples, so a sample never changes. A new member
 * gets a new sample and a new file.
 */
#pragma once

#include "core/job.h"
#include "fsm/command/command.h"
#include "store/store_event.h"
#include "store/store_record.h"
#include "store/store_rows.h"

/* A different id for each number. */
struct id samples_id(unsigned number);

struct job samples_job_full(void);
struct job samples_job_minimal(void);
struct job samples_job_push(void); /* with the members of version 2 */

struct store_queue samples_queue(void);
struct store_lock samples_lock(void);
struct store_owner samples_owner(void);
struct store_batch samples_batch(void); /* without an owner */
struct store_schedule samples_schedule(void);
struct store_webhook samples_webhook(void);
struct store_policy samples_policy(void);
struct store_worker samples_worker(void);
struct store_bulk samples_bulk(void);

struct store_error samples_error(void);
struct store_usage samples_usage(void);
struct store_iteration samples_iteration(void);
struct store_try samples_try(void);

/* One event of each type. Their numbers begin at first_seq. */
enum { SAMPLES_EVENTS = STORE_EVENT_TYPE_LAST };
struct store_event samples_event(unsigned i, uint64_t first_seq, struct wall when);

/* A command of this type. Its arrays belong to the samples. */
struct command samples_command(enum command_type type);

void samples_same_job(const struct job *got, const struct job *want);
void samples_same_queue(const struct store_queue *got, const struct store_queue *want);
void samples_same_lock(const struct store_lock *got, const struct store_lock *want);
void samples_same_batch(const struct store_batch *got, const struct store_batch *want);
void samples_same_schedule(const struct store_schedule *got, const struct store_schedule *want);
void samples_same_webhook(const struct store_webhook *got, const struct store_webhook *want);
void samples_same_policy(const struct store_policy *got, const struct store_policy *want);
void samples_same_worker(const struct store_worker *got, const struct store_worker *want);
void samples_same_bulk(const struct store_bulk *got, const struct store_bulk *want);
void samples_same_error(const struct store_error *got, const struct store_error *want);
void samples_same_usage(const struct store_usage *got, const struct store_usage *want);
void samples_same_iteration(const struct store_iteration *got, const struct store_iteration *want);
void samples_same_try(const struct store_try *got, const struct store_try *want);
void samples_same_event(const struct store_event *got, const struct store_event *want);
void samples_same_command(const struct command *got, const struct command *want);
