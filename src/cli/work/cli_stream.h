/*
 * Cli_stream: a lifecycle stream, on which a worker acknowledges jobs and fetches others with one
 * frame (docs/contract/rpc.md, section 11). Connect with JSON, over HTTP/2.
 *
 * One frame at a time: send it, call turn until the response has arrived, send the next. The first
 * frame opens the stream, and so does the first frame after it was lost. If a frame gets no
 * response, the caller repeats its contents as separate requests, whose errors say what is wrong.
 */
#pragma once

#include "base/clock.h"
#include "cli/cli_int.h"

enum cli_stream_news {
    CLI_STREAM_NOTHING,
    CLI_STREAM_ANSWER, /* the response to the frame */
    CLI_STREAM_LOST,   /* the stream is over; another may be opened later */
    CLI_STREAM_NONE, /* the server has no streams for this worker, or a proxy does not support them
                      */
};

struct cli_stream {
    struct cli *cli;
    struct arena *arena; /* used for the call */
    struct outgoing_wait_call call;
    struct buf in;   /* received bytes, starting with the last response */
    size_t answered; /* length of that response, which the caller may use until the next turn */
    bool open;
    bool accepted; /* the response headers have arrived */
    bool asked;    /* a frame is waiting for its response */
    bool proven;   /* a frame was answered, on this stream or an earlier one */
    struct mono answer_by;
};

void cli_stream_init(struct cli_stream *s, struct cli *cli);
void cli_stream_deinit(struct cli_stream *s);

/* Send a frame, a LifecycleStreamRequest. may_wait: it only fetches, so the response may take a
 * while. */
void cli_stream_send(struct cli_stream *s, struct str frame, bool may_wait);

/* Process received data. The text is the response, or the reason why the stream has ended; it is
 * valid until the next call. */
enum cli_stream_news cli_stream_turn(struct cli_stream *s, struct str *out_text);

/* Close the stream properly and wait briefly for the response. The server counts a broken stream as
 * a failure. */
void cli_stream_finish(struct cli_stream *s);

/* End the stream at once. The next frame opens another one. */
void cli_stream_close(struct cli_stream *s);

/* When the response to the frame is overdue; 0: no frame is in progress. */
struct mono cli_stream_deadline(const struct cli_stream *s);

/* Convert a job of a response to the document that a fetch over HTTP returns. */
struct str cli_stream_job(struct cli *cli, struct str job);
