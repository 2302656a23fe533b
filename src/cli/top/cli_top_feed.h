/*
 * Cli_top_feed: all requests of `corvo top` to the server.
 *
 * Four requests are repeated; their responses together are a sample. Failures arrive on the event
 * stream, which is reopened after the last event if it breaks. Pausing a queue and opening a detail
 * are single requests. All of them run concurrently, in the run's set of requests: the caller waits
 * in outgoing_wait_turn and then calls cli_top_feed_step.
 */
#pragma once

#include "base/clock.h"
#include "cli/cli_int.h"
#include "cli/cli_sse.h"
#include "cli/top/cli_top_input.h"
#include "cli/top/cli_top_model.h"
#include "cli/top/cli_top_read.h"

/* One request at a time, with its own memory. */
struct cli_top_request {
    struct outgoing_wait_call call;
    struct arena *arena;
    bool open; /* started, and its end not yet processed */
};

struct cli_top_feed {
    /* for the caller */
    char trouble[CLI_TOP_TEXT_BYTES]; /* why the last sample failed; "": it did not */
    bool refused;                     /* with trouble: the server answered, but refused */
    struct wall trouble_since;
    char no_events[CLI_TOP_TEXT_BYTES]; /* why there is no event stream; "": there is */
    bool changed;                       /* there is something new to draw; the caller resets it */

    /* private */
    struct cli *cli;
    struct cli_top_model *model;
    struct cli_top_ui *ui;
    int64_t interval_ms;
    struct cli_top_request documents[CLI_TOP_DOC_COUNT];
    struct cli_top_request stream, action, page;
    bool sampling;
    struct mono sample_due;
    struct cli_sse sse;
    struct mono heard;                 /* last input from the stream */
    char switched[CLI_TOP_NAME_BYTES]; /* queue of the action; ui->target may change meanwhile */
    bool pauses;
    char looked_at[CLI_TOP_NAME_BYTES]; /* queue or job of the page */
    bool page_is_job;
};

void cli_top_feed_init(struct cli_top_feed *f, struct cli *cli, struct cli_top_model *m,
                       struct cli_top_ui *ui, int64_t interval_ms);
void cli_top_feed_deinit(struct cli_top_feed *f);

/* Process responses and start the requests that are due. While the view is frozen, start no samples
 * and close the event stream. */
void cli_top_feed_step(struct cli_top_feed *f, struct mono now, struct wall wall);

/* The time until a request is due. */
int64_t cli_top_feed_idle_ms(const struct cli_top_feed *f, struct mono now);

/* Start the request for an action. The caller handles CLI_TOP_QUIT. */
void cli_top_feed_do(struct cli_top_feed *f, enum cli_top_action action);

/* The path of a document, below /api/v1. */
const char *cli_top_feed_path(enum cli_top_document document);
