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
    CLI_STREAM_ANSWER, /* to the frame */
    CLI_STREAM_LOST,   /* the stream is over; another may be opened later */
    CLI_STREAM_NONE,   /* the server has none for us, or what is between does not let it through */
};

struct cli_stream {
    struct cli *cli;
    struct arena *arena; /* of the call */
    struct outgoing_wait_call call;
    struct buf in;   /* what came, from the last answer on */
    size_t answered; /* bytes of that answer, which is the caller's until the next turn */
    bool open;
    bool accepted; /* the head of its answer is there */
    bool asked;    /* a frame is not answered */
    bool proven;   /* a frame was answered, on this stream or one before */
    struct mono answer_by;
};

void cli_stream_init(struct cli_stream *s, struct cli *cli);
void cli_stream_deinit(struct cli_stream *s);

/* Send a frame, a LifecycleStreamRequest. With may_wait the server may take its time to answer, for
 * it fetches only. */
void cli_stream_send(struct cli_stream *s, struct str frame, bool may_wait);

/* Look at what came. The text is that of the answer, or why there is no stream any more; it stays
 * until the next call. */
enum cli_stream_news cli_stream_turn(struct cli_stream *s, struct str *out_text);

/* Say goodbye, and wait for the answer a little: to the server a stream that breaks is a failure.
 */
void cli_stream_finish(struct cli_stream *s);

/* End the stream now. The next frame opens another. */
void cli_stream_close(struct cli_stream *s);

/* When the frame's answer is too late; 0: no frame is under way. */
struct mono cli_stream_deadline(const struct cli_stream *s);

/* A job of an answer as the document that a fetch over HTTP has. */
struct str cli_stream_job(struct cli *cli, struct str job);
