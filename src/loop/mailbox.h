/*
 * Mailbox: the only way to send something from one thread to another.
 *
 * Every loop thread has one. Any thread may post. Only the owner delivers, on its own loop, in the
 * order of posting per sender. A message is a struct that embeds struct msg. Posting transfers
 * ownership: the sender does not touch the message until it returns as a reply. All posts between
 * two turns of the loop cause one wake-up.
 *
 * The wake-up is our own eventfd and not a uv_async_t: with that, libuv makes the receiver spin
 * while the sender is inside its system call, which took a fifth of the machine's time.
 */
#pragma once

#include <stdbool.h>

#include <uv.h>

struct msg {
    struct msg *next;
    void (*deliver)(struct msg *m); /* runs on the receiving loop; owns m */
};

struct mailbox {
    /* private */
    uv_poll_t poll;
    int wake_fd;     /* readable when something has come */
    uv_mutex_t lock; /* guards the next three */
    struct msg *first, **last;
    bool closed;
    struct msg *taken, **taken_last; /* owner's thread only: being delivered */
    void (*turned)(void *data);      /* owner's thread only; may be NULL */
    void *turned_data;
};

/* On the loop's own thread, before anybody posts. */
void mailbox_open(struct mailbox *box, uv_loop_t *loop);

/* On the owner's thread: call fn after each turn in which messages were delivered. Work that can be
 * done for many messages at once is done there. */
void mailbox_on_turn(struct mailbox *box, void (*fn)(void *data), void *data);

/* From any thread. False, and the message is still the caller's, once the mailbox is closed. */
bool mailbox_post(struct mailbox *box, struct msg *m);

/* The same for a chain of messages from first to last, linked by next, with one wake-up at most.
 * They are delivered in that order. */
bool mailbox_post_chain(struct mailbox *box, struct msg *first, struct msg *last);

/* On the owner's thread: refuse further posts, deliver what is there, end the handle. The memory
 * is free to use again after the loop has run closed handles. */
void mailbox_close(struct mailbox *box);

/* After the loop has run closed handles, when nobody can post any more. */
void mailbox_deinit(struct mailbox *box);
