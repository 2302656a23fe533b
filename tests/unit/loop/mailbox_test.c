#include "loop/mailbox.h"

#include "base/attr.h"
#include "lib/test.h"

struct note {
    struct msg msg;
    struct note *then; /* posted when this one is delivered */
    struct box *box;
    bool closes;
};

struct box {
    struct mailbox mailbox;
    const struct note *seen[8];
    unsigned count;
};

static void deliver(struct msg *m)
{
    struct note *n = CONTAINER_OF(m, struct note, msg);
    n->box->seen[n->box->count++] = n;
    if (n->then != NULL) {
        assert_true(mailbox_post(&n->box->mailbox, &n->then->msg));
    }
    if (n->closes) {
        mailbox_close(&n->box->mailbox);
    }
}

/* A message handler that closes the mailbox: the messages posted before are delivered in order, and
 * then the message that the handler has posted. */
static void close__delivers_in_the_order_of_posting(void **state)
{
    struct box box = {.count = 0};
    struct note last = {.msg.deliver = deliver, .box = &box};
    struct note notes[] = {
        {.msg.deliver = deliver, .box = &box},
        {.msg.deliver = deliver, .box = &box, .then = &last, .closes = true},
        {.msg.deliver = deliver, .box = &box},
        {.msg.deliver = deliver, .box = &box},
    };
    uv_loop_t loop;
    (void)state;
    assert_int_equal(uv_loop_init(&loop), 0);
    mailbox_open(&box.mailbox, &loop);
    for (size_t i = 0; i < COUNT_OF(notes); i++) {
        assert_true(mailbox_post(&box.mailbox, &notes[i].msg));
    }
    assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(box.count, COUNT_OF(notes) + 1);
    for (size_t i = 0; i < COUNT_OF(notes); i++) {
        assert_ptr_equal(box.seen[i], &notes[i]);
    }
    assert_ptr_equal(box.seen[COUNT_OF(notes)], &last);
    assert_false(mailbox_post(&box.mailbox, &last.msg));
    mailbox_deinit(&box.mailbox);
    assert_int_equal(uv_loop_close(&loop), 0);
}

TEST_GROUP(mailbox, cmocka_unit_test(close__delivers_in_the_order_of_posting));
