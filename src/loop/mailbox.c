#include "loop/mailbox.h"

#include <errno.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/check.h"

/* Deliver the messages in order. A message may post others, which are delivered in the next turn.
 * If a message closes the mailbox, this function is called again and first delivers the rest of the
 * current messages. */
static void mailbox_deliver(struct mailbox *box)
{
    uv_mutex_lock(&box->lock);
    if (box->first != NULL) {
        *box->taken_last = box->first;
        box->taken_last = box->last;
        box->first = NULL;
        box->last = &box->first;
    }
    uv_mutex_unlock(&box->lock);
    while (box->taken != NULL) {
        struct msg *m = box->taken;
        box->taken = m->next;
        if (m->next == NULL) {
            box->taken_last = &box->taken;
        }
        m->next = NULL;
        m->deliver(m); /* m may be freed after this */
    }
}

static void poll_cb(uv_poll_t *poll, int status, int events)
{
    struct mailbox *box = poll->data;
    uint64_t count;
    CHECK(status == 0);
    (void)events;
    ssize_t n = read(box->wake_fd, &count, sizeof count);
    CHECK(n == sizeof count || errno == EAGAIN);
    mailbox_deliver(box);
    if (box->turned != NULL) {
        box->turned(box->turned_data);
    }
}

void mailbox_on_turn(struct mailbox *box, void (*fn)(void *data), void *data)
{
    box->turned = fn;
    box->turned_data = data;
}

void mailbox_open(struct mailbox *box, uv_loop_t *loop)
{
    *box = (struct mailbox){0};
    box->last = &box->first;
    box->taken_last = &box->taken;
    box->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    CHECK(box->wake_fd >= 0);
    CHECK(uv_mutex_init(&box->lock) == 0);
    CHECK(uv_poll_init(loop, &box->poll, box->wake_fd) == 0);
    box->poll.data = box;
    CHECK(uv_poll_start(&box->poll, UV_READABLE, poll_cb) == 0);
}

bool mailbox_post_chain(struct mailbox *box, struct msg *first, struct msg *last)
{
    CHECK(first->deliver != NULL);
    last->next = NULL;
    uv_mutex_lock(&box->lock);
    bool open = !box->closed;
    bool wake = open && box->first == NULL;
    if (open) {
        *box->last = first;
        box->last = &last->next;
    }
    uv_mutex_unlock(&box->lock);
    if (wake) {
        /* Write without the lock, which the woken thread needs. The descriptor stays open while any
         * thread can post. */
        uint64_t one = 1;
        ssize_t n = write(box->wake_fd, &one, sizeof one);
        CHECK(n == sizeof one);
    }
    return open;
}

bool mailbox_post(struct mailbox *box, struct msg *m)
{
    return mailbox_post_chain(box, m, m);
}

void mailbox_close(struct mailbox *box)
{
    uv_mutex_lock(&box->lock);
    CHECK(!box->closed);
    box->closed = true;
    uv_mutex_unlock(&box->lock);
    mailbox_deliver(box);
    uv_close((uv_handle_t *)&box->poll, NULL);
}

void mailbox_deinit(struct mailbox *box)
{
    CHECK(box->closed);
    CHECK(box->first == NULL);
    CHECK(box->taken == NULL);
    uv_mutex_destroy(&box->lock);
    (void)close(box->wake_fd);
}
