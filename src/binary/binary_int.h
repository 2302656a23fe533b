/*
 * What the files of binary share: the state of the thread, and a connection.
 *
 * A connection is freed when its socket is closed and none of its commands is in progress.
 * Responses are sent in the order in which commands finish, not in the order of the requests.
 */
#pragma once

#include <uv.h>

#include "auth/auth.h"
#include "base/arena_pool.h"
#include "base/map.h"
#include "binary/binary.h"
#include "binary/binary_message.h"
#include "engine/engine_taken.h"
#include "loop/mailbox.h"

enum {
    BINARY_CONNS_MAX = 8192,
    BINARY_CALLS_MAX = 64,          /* of a connection, under way; more wait unread */
    BINARY_OUT_BYTES_MAX = 1 << 20, /* not taken by the client: nothing more is read or claimed */
    BINARY_CREDITS_MAX = 65535,
    BINARY_AUTH_MS = 10000,  /* from accept to a right credential */
    BINARY_FRAME_MS = 30000, /* from the first byte of a frame to its last; and for a last answer */
};

struct binary_conn;

struct binary {
    struct binary_config config;
    uv_thread_t thread;
    uv_loop_t loop;
    uv_tcp_t listener;
    uv_prepare_t
        turn; /* before the loop waits, whatever ran: a write may end outside of its polling */
    struct mailbox mailbox;
    struct engine_outbox outbox;
    struct msg stop_msg;
    bool stopping;
    struct http_addr addr;
    struct binary_conn *conns;
    size_t conn_count;
    struct binary_conn *unsent; /* they have something to write when the turn ends */
    struct map held;            /* jobs that were pushed and not heard of again, by id */
    struct binary_held *held_free;
    struct engine_taken *taken;
    struct arena_pool call_arenas;
    struct arena *scratch; /* of one look-up */
    struct arena *answer;  /* of the engine's answer to one claim */
};

/* A job that a client has. */
struct binary_held {
    struct map_node node; /* in binary.held; its key is the bytes of the id */
    struct binary_conn *conn;
    struct binary_held *next, *prev;
    struct id id;
    uint64_t lease_token;
};

struct binary_conn {
    struct binary *binary;
    struct binary_conn *next, *prev;
    struct binary_conn *unsent_next;
    bool unsent; /* stands in binary.unsent */
    uv_tcp_t tcp;
    uv_timer_t timer; /* until it has authenticated, then while a frame is incomplete */
    unsigned open_handles;
    char address_text[HTTP_ADDR_TEXT_MAX];
    struct str address;
    bool is_local; /* on this machine */
    bool known;    /* has shown who it is */
    struct auth_caller who;
    struct buf texts; /* of who */
    bool sent_away;   /* it was told that another node leads, and nothing has succeeded since */
    bool closing;     /* the socket is */
    bool closed;
    bool reading, last; /* last: ends when what is written has left */
    bool ended;         /* the client sends no more: it gets the answers that it waits for */
    bool was_stranger;  /* the timer is that of authentication */
    unsigned calls;     /* under way */
    struct buf in;
    struct buf out; /* waits for the write that is under way */
    uv_write_t write;
    char *writing;                        /* its bytes; NULL: none */
    size_t writing_bytes;                 /* which are the budget's */
    struct binary_held *held, *held_last; /* the newest first */
    size_t held_count;
    /* what it has subscribed to */
    struct binary_claim *claim; /* NULL: nothing */
};

/* binary_conn.c */
void binary_conn__accept(struct binary *b);
void binary_conn__close(struct binary_conn *c);
/* Answers go into c->out; then this: they leave together when the turn of the loop ends. */
void binary_conn__flush(struct binary_conn *c);
void binary_conn__send_all(struct binary *b); /* at the end of a turn */
void binary_conn__error(struct binary_conn *c, uint32_t number, struct str text);
/* What it asked for ended so: it is told, once, when that is because another node leads. */
void binary_conn__outcome(struct binary_conn *c, uint32_t number, enum err_code code);
/* Something that it asked for is done: it may be freed, or read on. */
void binary_conn__settle(struct binary_conn *c);
bool binary_conn__is_full(const struct binary_conn *c);

/* binary_auth.c */
bool binary_auth__admit(struct binary_conn *c, struct str token); /* it shows something */
bool binary_auth__is_known(struct binary_conn *c);                /* and may stay */
/* It has not shown who it is, and has to: only an auth frame is taken from it. */
bool binary_auth__is_stranger(const struct binary_conn *c);
struct str binary_auth__why_not(const struct binary_conn *c);   /* for one that is not known */
bool binary_auth__may(struct binary_conn *c, uint8_t type);     /* send such a frame */
extern const char binary_auth__denied[];                        /* for one that may not */
void binary_auth__refused(struct binary_conn *c, uint8_t type); /* it was, for such a frame */
uint8_t binary_auth__role(const struct binary_conn *c);         /* as a number on the wire */
/* With texts in the arena. */
struct svc_caller binary_auth__caller(const struct binary_conn *c, struct arena *arena);

/* binary_call.c: what a frame asks for */
void binary_call__take(struct binary_conn *c, const struct binary_message_head *head,
                       struct str payload);

/* binary_claim.c: pushed jobs */
void binary_claim__subscribe(struct binary_conn *c, uint32_t number, struct str payload);
void binary_claim__go_on(struct binary_conn *c); /* there may be room */
void binary_claim__leave(struct binary_conn *c); /* the connection is closing */
bool binary_claim__is_busy(const struct binary_conn *c);
void binary_claim__free(struct binary_conn *c);

/* binary_held.c: jobs that clients have */
/* The job is about to be somebody's: if it was another's, its run there is over. */
void binary_held__end_before(struct binary *b, struct id id);
/* One that nobody has. */
void binary_held__add(struct binary_conn *c, struct id id, uint64_t lease_token);
/* The client knows that it no longer has the job: it is told nothing more of it. */
void binary_held__forget(struct binary_conn *c, struct id id);
/* The same if it has it by this lease; 0: by any. */
void binary_held__forget_run(struct binary_conn *c, struct id id, uint64_t lease_token);
void binary_held__forget_all(struct binary_conn *c);
void binary_held__taken(void *binary, struct id job, uint64_t lease_token); /* engine_taken.h */
void binary_held__free(struct binary *b);

/* binary.c */
void binary__conn_gone(struct binary *b);
