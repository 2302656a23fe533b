/*
 * Shared by the files of binary: the state of the thread, and a connection.
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
    BINARY_CALLS_MAX = 64, /* commands in progress per connection; further frames stay unread */
    BINARY_OUT_BYTES_MAX = 1 << 20, /* unread output; above this, nothing more is read or claimed */
    BINARY_CREDITS_MAX = 65535,
    BINARY_AUTH_MS = 10000,  /* from accept to a valid credential */
    BINARY_FRAME_MS = 30000, /* to send a frame completely, or to read the last response */
};

struct binary_conn;

struct binary {
    struct binary_config config;
    uv_thread_t thread;
    uv_loop_t loop;
    uv_tcp_t listener;
    uv_prepare_t turn; /* runs before the loop waits */
    struct mailbox mailbox;
    struct engine_outbox outbox;
    struct msg stop_msg;
    bool stopping;
    struct http_addr addr;
    struct binary_conn *conns;
    size_t conn_count;
    struct binary_conn *unsent; /* connections with output to send at the end of the turn */
    struct map held;            /* jobs that were pushed and not finished, by id */
    struct binary_held *held_free;
    struct engine_taken *taken;
    struct arena_pool call_arenas;
    struct arena *scratch; /* for one lookup */
    struct arena *answer;  /* for the engine's result of one claim */
};

/* A job that was pushed to a client. */
struct binary_held {
    struct map_node node; /* in binary.held; the key is the bytes of the id */
    struct binary_conn *conn;
    struct binary_held *next, *prev;
    struct id id;
    uint64_t lease_token;
};

struct binary_conn {
    struct binary *binary;
    struct binary_conn *next, *prev;
    struct binary_conn *unsent_next;
    bool unsent; /* is in binary.unsent */
    uv_tcp_t tcp;
    uv_timer_t timer; /* for authentication, then for incomplete frames */
    unsigned open_handles;
    char address_text[HTTP_ADDR_TEXT_MAX];
    struct str address;
    bool is_local; /* the client is on this machine */
    bool known;    /* has authenticated */
    struct auth_caller who;
    struct buf texts; /* the texts of who */
    bool sent_away;   /* the client knows that another node leads; nothing has succeeded since */
    bool closing;     /* the socket is being closed */
    bool closed;
    bool reading, last; /* last: close after the pending output was sent */
    bool ended;         /* the client sends no more; pending responses are still sent */
    bool was_stranger;  /* the timer limits authentication */
    unsigned calls;     /* in progress */
    struct buf in;
    struct buf out; /* not yet passed to libuv */
    uv_write_t write;
    char *writing;                        /* the bytes of the write in progress; NULL: none */
    size_t writing_bytes;                 /* charged to the budget */
    struct binary_held *held, *held_last; /* newest first */
    size_t held_count;
    struct binary_claim *claim; /* the subscription; NULL: none */
};

/* binary_conn.c */
void binary_conn__accept(struct binary *b);
void binary_conn__close(struct binary_conn *c);
/* Call after adding to c->out: all output is sent together at the end of the turn. */
void binary_conn__flush(struct binary_conn *c);
void binary_conn__send_all(struct binary *b); /* at the end of a turn */
void binary_conn__error(struct binary_conn *c, uint32_t number, struct str text);
/* A request ended with this code. If another node leads, notify the client once. */
void binary_conn__outcome(struct binary_conn *c, uint32_t number, enum err_code code);
/* A command is done: free the connection, or continue reading, if possible. */
void binary_conn__settle(struct binary_conn *c);
bool binary_conn__is_full(const struct binary_conn *c);

/* binary_auth.c */
bool binary_auth__admit(struct binary_conn *c, struct str token); /* check a credential */
bool binary_auth__is_known(struct binary_conn *c);                /* is it still valid? */
/* The client has to authenticate first: only an auth frame is accepted. */
bool binary_auth__is_stranger(const struct binary_conn *c);
struct str
binary_auth__why_not(const struct binary_conn *c); /* the error for a client that is not known */
bool binary_auth__may(struct binary_conn *c, uint8_t type); /* may the client send such a frame? */
extern const char binary_auth__denied[];                    /* the error if it may not */
void binary_auth__refused(struct binary_conn *c,
                          uint8_t type);                /* write the refusal to the audit log */
uint8_t binary_auth__role(const struct binary_conn *c); /* as sent in the response to auth */
/* The caller for svc; its texts are copied into the arena. */
struct svc_caller binary_auth__caller(const struct binary_conn *c, struct arena *arena);

/* binary_call.c: requests with one response */
void binary_call__take(struct binary_conn *c, const struct binary_message_head *head,
                       struct str payload);

/* binary_claim.c: pushed jobs */
void binary_claim__subscribe(struct binary_conn *c, uint32_t number, struct str payload);
void binary_claim__go_on(struct binary_conn *c); /* there may be room for more jobs */
void binary_claim__leave(struct binary_conn *c); /* the connection is closing */
bool binary_claim__is_busy(const struct binary_conn *c);
void binary_claim__free(struct binary_conn *c);

/* binary_held.c: jobs that clients hold */
/* The job is about to be pushed: if another client holds it, notify that client that its run is
 * over. */
void binary_held__end_before(struct binary *b, struct id id);
/* The job was pushed; no other client may have it. */
void binary_held__add(struct binary_conn *c, struct id id, uint64_t lease_token);
/* Forget the job without a notification: the client knows that it no longer has it. */
void binary_held__forget(struct binary_conn *c, struct id id);
/* The same, but only for this lease; 0: for any. */
void binary_held__forget_run(struct binary_conn *c, struct id id, uint64_t lease_token);
void binary_held__forget_all(struct binary_conn *c);
void binary_held__taken(void *binary, struct id job, uint64_t lease_token); /* engine_taken.h */
void binary_held__free(struct binary *b);

/* binary.c */
void binary__conn_gone(struct binary *b);
