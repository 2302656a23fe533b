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

/* One request at a time, with memory of its own. */
struct cli_top_request {
    struct outgoing_wait_call call;
    struct arena *arena;
    bool open; /* started, and its end not yet looked at */
};

struct cli_top_feed {
    /* what the caller may look at */
    char trouble[CLI_TOP_TEXT_BYTES]; /* why the last sample could not be had; "": it could */
    bool refused;                     /* there was an answer, but not that one */
    struct wall trouble_since;
    char no_events[CLI_TOP_TEXT_BYTES]; /* why there is no event stream; "": there is */
    bool changed;                       /* something is to be shown; the caller resets it */

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
    struct mono heard;                 /* something came by the stream */
    char switched[CLI_TOP_NAME_BYTES]; /* what the action is about; keys may go on meanwhile */
    bool pauses;
    char looked_at[CLI_TOP_NAME_BYTES]; /* what the page is about */
    bool page_is_job;
};

void cli_top_feed_init(struct cli_top_feed *f, struct cli *cli, struct cli_top_model *m,
                       struct cli_top_ui *ui, int64_t interval_ms);
void cli_top_feed_deinit(struct cli_top_feed *f);

/* Take what has come and ask for what is due. While the view is frozen, for nothing. */
void cli_top_feed_step(struct cli_top_feed *f, struct mono now, struct wall wall);

/* How long nothing is due. */
int64_t cli_top_feed_idle_ms(const struct cli_top_feed *f, struct mono now);

/* Do what a key asked for; quitting is not for us. */
void cli_top_feed_do(struct cli_top_feed *f, enum cli_top_action action);

/* The path of a document, below /api/v1. */
const char *cli_top_feed_path(enum cli_top_document document);
