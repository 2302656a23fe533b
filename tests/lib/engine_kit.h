/*
 * Engine_kit: an engine in a temporary folder, and a client that waits for its results.
 *
 * The client is a thread with a loop and a mailbox, like every real user of the engine. A test
 * starts commands and waits until they are done, until a document has a given state, or until
 * claims are parked. It always waits for an event, never for a fixed time. A wait without success
 * stops the process.
 *
 * The core thread can be held. Commands that are submitted meanwhile arrive together, so a test
 * controls which commands share an entry.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

#include "engine/engine.h"
#include "lib/tmpdir.h"

struct engine_kit {
    struct tmpdir dir;
    struct engine_config config;
    struct engine *engine; /* NULL while it is closed */
    struct mailbox box;    /* of the client's thread */
    /* private */
    uv_thread_t thread;
    uv_loop_t loop;
    uv_sem_t ready;
    uv_mutex_t lock; /* guards the members below, and the counters of ops */
    uv_cond_t moved;
    uint64_t done_total;
    uint64_t changes;         /* reported by the feed */
    struct engine_feed *feed; /* this and the next three belong to the client's thread */
    struct engine_take take;
    bool taking, feed_ends;
    uv_sem_t feed_over;
    struct engine_call hold;
    uv_sem_t held, let_go, held_over;
    struct engine_kit_op *last; /* of engine_kit_do */
};

/* Open an engine with fast defaults: not durable, small segments. configure may change them. It can
 * be NULL. */
struct engine_kit *engine_kit_open(void (*configure)(struct engine_config *config));
void engine_kit_close(struct engine_kit *k);

/* Stop or start only the engine, on the same folder. All ops must be done before it stops. */
void engine_kit_stop_engine(struct engine_kit *k);
void engine_kit_start_engine(struct engine_kit *k);

/* Run fn on the client's thread and wait for its end. */
void engine_kit_on_client(struct engine_kit *k, void (*fn)(void *data), void *data);

/* Nothing happens on the core thread between hold and release. */
void engine_kit_hold(struct engine_kit *k);
void engine_kit_release(struct engine_kit *k);

/* One command. */
struct engine_kit_op {
    struct engine_op op;
    struct engine_kit *kit;
    struct mailbox *reply_to; /* the kit's mailbox, unless a test sets another */
    unsigned done_count;
    unsigned cancels_open; /* not yet handled by the client's thread */
    uint64_t done_place;   /* position among all ops of the kit: 1 was done first */
    struct result result;  /* after engine_kit_wait */
    struct arena *arena;
    struct msg cancel_msg;
};

void engine_kit_op_init(struct engine_kit_op *o, struct engine_kit *k);
void engine_kit_op_deinit(struct engine_kit_op *o);

/* Submit. A claim waits for park_ms. */
void engine_kit_start(struct engine_kit_op *o, const struct command *c, int64_t park_ms);
/* Wait until the op is done and nothing refers to it. The result is decoded if its err is ERR_OK.
 */
void engine_kit_wait(struct engine_kit_op *o);
/* Cancel the op on the client's thread, unless it is done by then. Does not wait. */
void engine_kit_cancel(struct engine_kit_op *o);

/* Submit and wait. The result is valid until the next engine_kit_do. The engine must return ERR_OK.
 */
const struct result *engine_kit_do(struct engine_kit *k, const struct command *c);

/* Common commands. Each must succeed. */
struct command_new engine_kit_new_job(const char *queue);
struct id engine_kit_put(struct engine_kit *k, struct command_new job);
struct id engine_kit_enqueue(struct engine_kit *k, const char *queue);
struct id engine_kit_claim(struct engine_kit *k, const char *queue); /* ID_NONE if none */
void engine_kit_ack(struct engine_kit *k, struct id id);
void engine_kit_fail(struct engine_kit *k, struct id id);
void engine_kit_job(struct engine_kit *k, enum command_job_action action, struct id id);
void engine_kit_queue(struct engine_kit *k, enum command_queue_action action, const char *name,
                      uint32_t number);

/* A claim without a worker, which therefore writes no worker row. *queue must live as long as the
 * command. */
struct command engine_kit_claim_command(struct str *queue, uint32_t count);

/* The state of a stored job. JOB_STATE_COUNT if it does not exist. */
enum job_state engine_kit_state(struct engine_kit *k, struct id id);

/* Wait until the job is in this state, or does not exist (JOB_STATE_COUNT). */
void engine_kit_wait_state(struct engine_kit *k, struct id id, enum job_state state);

/* The number of parked claims, including all that this thread has submitted before. */
uint64_t engine_kit_parked(struct engine_kit *k);
struct engine_status engine_kit_status(struct engine_kit *k);
