/*
 * Machine_kit: a state machine in a folder of its own, and what is asked of it in one line each.
 *
 * One kit serves all tests of a file, because a machine takes a while to make. Every call that
 * changes something is one log entry at the kit's time, which tests move on and never back; each
 * test works in queues of its own (kit_name) so that what others left behind is not in its way.
 *
 * The kit writes down every entry. At the end it applies them all once more to a second machine,
 * which is closed and opened again several times on the way, and both must have come to the same
 * state hash after each entry: whatever the tests of the file did, it did not depend on what a
 * restart forgets.
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
    uint64_t hash; /* the machine's after it */
};

struct kit {
    struct tmpdir dir;
    struct machine *machine;
    struct arena *arena; /* what was read, until the kit goes */
    uint64_t index;
    struct wall now;
    bool events_off;
    uint8_t entry_version; /* of the entries that are made */
    unsigned names;
    struct kit_entry *log;
    size_t log_count, log_cap;

    /* what the hooks told of the last entry */
    struct buf ready; /* names of queues, a space behind each */
    struct id changed[64];
    size_t changed_count;
};

/* For TEST_GROUP_FIXTURE. */
int kit_setup(void **state);
int kit_teardown(void **state);

/* Leave out the second machine at the end: something was stored that is not in the log. */
void kit_forget(struct kit *k);

/* A queue that nobody has used. */
const char *kit_name(struct kit *k);

void kit_pass_ms(struct kit *k, int64_t ms);

/* Close the machine and open it again. */
void kit_reopen(struct kit *k);

/* One entry with these commands; the results live until the next one. */
const struct result *kit_apply_all(struct kit *k, const struct command *commands, uint32_t count);
const struct result *kit_apply(struct kit *k, const struct command *c);
/* The same for an operation with a name, which was not sent before the entry `since`. */
const struct result *kit_apply_named(struct kit *k, const struct command *c, struct id name,
                                     uint64_t since);

/* The command is refused with this code and message, in which {id} stands for the id; and nothing
 * has changed. */
void kit_refuses(struct kit *k, const struct command *c, enum err_code code, const char *message,
                 struct id id);

/* New jobs. A template has the defaults of the contract; kit_enqueue_job takes any. */
struct job kit_template(const char *queue, const char *payload);
struct id kit_enqueue(struct kit *k, const char *queue, const char *payload);
struct id kit_enqueue_job(struct kit *k, const struct job *j);
struct command kit_enqueue_command(struct command_new *jobs, size_t count);
/* A job in this state, in a queue of its own. */
struct id kit_job_in(struct kit *k, enum job_state state);

/* The first job of the queue goes to "worker" for a minute; ID_NONE when there is none. */
struct id kit_claim(struct kit *k, const char *queue);
const struct result *kit_claim_with(struct kit *k, const struct command_claim *c);
/* A new job of the queue, which has no others, claimed at once. */
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

/* Clear or delete, step by step to the end; how many jobs went. */
uint32_t kit_empty(struct kit *k, enum command_queue_action action, const char *name);

/* Time passes, and ticks come until there is nothing more to do. */
void kit_tick(struct kit *k, int64_t after_ms);

/* What is committed. */
bool kit_has(struct kit *k, struct id id);
struct job kit_job(struct kit *k, struct id id);
/* How many usage reports a job has, and the last of them without its texts. */
struct kit_usages {
    unsigned count;
    struct store_usage last;
};
struct kit_usages kit_usages(struct kit *k, struct id id);
struct machine_queue kit_queue_info(struct kit *k, const char *name);
void kit_expect_state(struct kit *k, struct id id, enum job_state state);
void kit_expect_count(struct kit *k, const char *queue, enum job_state state, uint64_t count);

/* All events of the job, as words with a space between. */
void kit_expect_events(struct kit *k, struct id id, const char *words);
void kit_expect_queue_events(struct kit *k, const char *queue, const char *words);
/* The newest event of the job. */
struct store_event kit_last_event(struct kit *k, struct id id);

/* The error rows of the job, oldest first, with a bar between. */
void kit_expect_errors(struct kit *k, struct id id, const char *errors);

/* A hash of all that is stored, except the machine's own record, which every entry changes. */
uint64_t kit_digest(struct kit *k);

/* Text in the kit's memory. */
struct str kit_text(struct kit *k, const char *fmt, ...) ATTR_PRINTF(2, 3);
struct str kit_id_text(struct kit *k, struct id id, struct str prefix);
