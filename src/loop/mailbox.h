/*
 * Mailbox: the only way to send something from one thread to another.
 *
 * Every loop thread has one. Any thread may post. Only the owner delivers, on its own loop, in the
 * order of posting per sender. A message is a struct that embeds struct msg. Posting transfers
 * ownership: the sender does not touch the message until it returns as a reply. All posts between
 * two turns of the loop cause one wake-up.
 *
 * An eventfd is used for the wake-up instead of a uv_async_t: with that, libuv makes the receiver
 * spin while the sender is inside its system call, which took a fifth of the machine's time.
 */
#pragma once

#include <stdbool.h>

#include <uv.h>

struct msg {
    struct msg *next;
    void (*deliver)(struct msg *m); /* runs on the receiving loop; owns m */
};

struct mailbox {
    /* internal */
    uv_poll_t poll;
    int wake_fd;     /* readable when messages have been posted */
    uv_mutex_t lock; /* protects the next three */
    struct msg *first, **last;
    bool closed;
    struct msg *taken, **taken_last; /* owner's thread only: messages being delivered */
    void (*turned)(void *data);      /* owner's thread only; may be NULL */
    void *turned_data;
};

/* Open the mailbox. Call on the loop's own thread, before anything is posted. */
void mailbox_open(struct mailbox *box, uv_loop_t *loop);

/* On the owner's thread: call fn after each turn in which messages were delivered, for work that
 * is done once for many messages. */
void mailbox_on_turn(struct mailbox *box, void (*fn)(void *data), void *data);

/* Post a message, from any thread. False if the mailbox is closed; the caller then keeps the
 * message. */
bool mailbox_post(struct mailbox *box, struct msg *m);

/* The same for a chain of messages linked by next, with at most one wake-up. They are delivered
 * in that order. */
bool mailbox_post_chain(struct mailbox *box, struct msg *first, struct msg *last);

/* On the owner's thread: refuse further posts, deliver the pending messages, close the handle.
 * The memory may be reused after the loop has processed the closed handle. */
void mailbox_close(struct mailbox *box);

/* Call after the loop has processed the closed handle, when no thread can post any more. */
void mailbox_deinit(struct mailbox *box);
