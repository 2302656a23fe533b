/*
 * Machine_kit: a state machine in a temporary folder, with one-line helpers for tests.
 *
 * One kit serves all tests of a file, because opening a machine is slow. Every call that changes
 * something is one log entry at the kit's time. Tests only move this time forward. Each test uses
 * new queues (kit_name), so that jobs of other tests do not affect it.
 *
 * The kit records every entry. At the end it applies all of them to a second machine, which is
 * closed and opened again several times in between. Both machines must have the same state hash
 * after each entry. This proves that nothing in the tests depends on memory that a restart loses.
 */
#pragma once

#include "base/arena.h"
#include "fsm/command/command.h"
#include "fsm/command/result.h"
#include "fsm/machine.h"
#include "lib/expect.h"
#include "lib/test.h"
#include "lib/tmpdir.h"
#include "store/store_event.h"

struct kit_entry {
    char *bytes;
    size_t len;
    uint64_t index;
    uint64_t hash; /* state hash of the machine after this entry */
};

struct kit {
    struct tmpdir dir;
    struct machine *machine;
    struct arena *arena; /* for results of reads, freed with the kit */
    uint64_t index;
    struct wall now;
    bool events_off;
    uint8_t entry_version; /* of new entries */
    unsigned names;
    struct kit_entry *log;
    size_t log_count, log_cap;
    struct buf gathered; /* commands for the next entry of kit_apply_gathered */
    uint32_t gathered_count;

    /* reported by the hooks for the last entry */
    struct buf ready; /* names of queues, each followed by a space */
    struct id changed[64];
    size_t changed_count;
};

/* For TEST_GROUP_FIXTURE. */
int kit_setup(void **state);
int kit_teardown(void **state);

/* Skip the check with a second machine at the end. Needed if something was stored that is not in
 * the log. */
void kit_forget(struct kit *k);

/* A new queue name. */
const char *kit_name(struct kit *k);

void kit_pass_ms(struct kit *k, int64_t ms);

/* Close the machine and open it again. */
void kit_reopen(struct kit *k);

/* Apply one entry with these commands. The results are valid until the next entry. */
const struct result *kit_apply_all(struct kit *k, const struct command *commands, uint32_t count);
const struct result *kit_apply(struct kit *k, const struct command *c);
/* The same for a named operation, which no entry before `since` contains. */
const struct result *kit_apply_named(struct kit *k, const struct command *c, struct id name,
                                     uint64_t since);
/* Keep a command, and apply all kept commands as one entry. There must be at least one. */
void kit_gather(struct kit *k, const struct command *c);
const struct result *kit_apply_gathered(struct kit *k);

/* Check that the command is refused with this code and message, and that nothing has changed. The
 * id replaces {id} in the message. */
void kit_refuses(struct kit *k, const struct command *c, enum err_code code, const char *message,
                 struct id id);

/* New jobs. A template has the defaults of the contract. kit_enqueue_job accepts any job. */
struct job kit_template(const char *queue, const char *payload);
struct id kit_enqueue(struct kit *k, const char *queue, const char *payload);
struct id kit_enqueue_job(struct kit *k, const struct job *j);
struct command kit_enqueue_command(struct command_new *jobs, size_t count);
/* A job in this state, in a new queue. */
struct id kit_job_in(struct kit *k, enum job_state state);

/* "worker" claims the first job of the queue for a minute. ID_NONE if there is none. */
struct id kit_claim(struct kit *k, const char *queue);
const struct result *kit_claim_with(struct kit *k, const struct command_claim *c);
/* A new job of the queue, claimed at once. The queue must have no other jobs. */
struct id kit_active(struct kit *k, const char *queue);

const struct result *kit_ack(struct kit *k, struct id id);
const struct result *kit_ack_item(struct kit *k, struct command_ack_item item);
const struct result *kit_fail(struct kit *k, struct id id, const char *error);
enum result_status kit_beat(struct kit *k, struct id id);
const struct result *kit_beat_item(struct kit *k, struct command_heartbeat_item item);

/* An operator's action on one job. */
struct command kit_action(enum command_job_action action, struct id *id);
const struct result *kit_do(struct kit *k, enum command_job_action action, struct id id);

const struct result *kit_queue(struct kit *k, enum command_queue_action action, const char *name);
const struct result *kit_queue_with(struct kit *k, const struct command_queue *c);

/* Clear or delete in as many steps as needed. Returns the number of removed jobs. */
uint32_t kit_empty(struct kit *k, enum command_queue_action action, const char *name);

/* Advance the time and apply ticks until nothing more is due. */
void kit_tick(struct kit *k, int64_t after_ms);

/* Reads of the committed state. */
bool kit_has(struct kit *k, struct id id);
struct job kit_job(struct kit *k, struct id id);
/* The number of usage reports of a job, and the last report without its texts. */
struct kit_usages {
    unsigned count;
    struct store_usage last;
};
struct kit_usages kit_usages(struct kit *k, struct id id);
struct machine_queue kit_queue_info(struct kit *k, const char *name);
void kit_expect_state(struct kit *k, struct id id, enum job_state state);
void kit_expect_count(struct kit *k, const char *queue, enum job_state state, uint64_t count);

/* Check all events of the job, given as words separated by spaces. */
void kit_expect_events(struct kit *k, struct id id, const char *words);
void kit_expect_queue_events(struct kit *k, const char *queue, const char *words);
/* The newest event of the job. */
struct store_event kit_last_event(struct kit *k, struct id id);

/* Check the error rows of the job, oldest first, separated by "|". */
void kit_expect_errors(struct kit *k, struct id id, const char *errors);

/* A hash of the whole store, except the machine's record, which every entry changes. */
uint64_t kit_digest(struct kit *k);

/* Texts in the kit's arena. */
struct str kit_text(struct kit *k, const char *fmt, ...) ATTR_PRINTF(2, 3);
struct str kit_id_text(struct kit *k, struct id id, struct str prefix);
