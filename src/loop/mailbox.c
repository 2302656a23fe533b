#include "loop/mailbox.h"

#include <stddef.h>

#include "base/check.h"

/* Deliver what has come, in order. A message may post others; they are for the next turn. */
static void mailbox_deliver(struct mailbox *box)
{
    uv_mutex_lock(&box->lock);
    struct msg *m = box->first;
    box->first = NULL;
    box->last = &box->first;
    uv_mutex_unlock(&box->lock);
    while (m != NULL) {
        struct msg *next = m->next;
        m->next = NULL;
        m->deliver(m); /* m may be gone after this */
        m = next;
    }
}

static void async_cb(uv_async_t *async)
{
    struct mailbox *box = async->data;
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
    CHECK(uv_mutex_init(&box->lock) == 0);
    CHECK(uv_async_init(loop, &box->async, async_cb) == 0);
    box->async.data = box;
}

bool mailbox_post(struct mailbox *box, struct msg *m)
{
    CHECK(m->deliver != NULL);
    m->next = NULL;
    uv_mutex_lock(&box->lock);
    bool open = !box->closed;
    bool wake = open && box->first == NULL;
    if (open) {
        *box->last = m;
        box->last = &m->next;
        if (wake) {
            /* Under the lock: the handle cannot be closed meanwhile. */
            CHECK(uv_async_send(&box->async) == 0);
        }
    }
    uv_mutex_unlock(&box->lock);
    return open;
}

void mailbox_close(struct mailbox *box)
{
    uv_mutex_lock(&box->lock);
    CHECK(!box->closed);
    box->closed = true;
    uv_mutex_unlock(&box->lock);
    mailbox_deliver(box);
    uv_close((uv_handle_t *)&box->async, NULL);
}

void mailbox_deinit(struct mailbox *box)
{
    CHECK(box->closed);
    CHECK(box->first == NULL);
    uv_mutex_destroy(&box->lock);
}
