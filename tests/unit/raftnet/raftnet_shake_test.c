/*
 * The handshake, without a network: the test passes the output of one side to the other.
 */
#include "raftnet/raftnet_shake.h"

#include "lib/test.h"

struct pair {
    struct raftnet_shake dials, answers;
    struct buf to_answers, to_dials;
    struct err err;
};

static void begin_for(struct pair *p, const char *secret_a, const char *secret_b,
                      const struct raftnet_shake *dials, const struct raftnet_shake_node *b)
{
    const struct raftnet_shake_node a = {
        .cluster = 5, .id = 1, .name = STR("one"), .address = STR("h:1"), .version = STR("v")};
    *p = (struct pair){.dials = *dials};
    buf_init(&p->to_answers, 65536);
    buf_init(&p->to_dials, 65536);
    raftnet_shake_begin(&p->dials, true, &a, str_from_z(secret_a), &p->to_answers);
    raftnet_shake_begin(&p->answers, false, b, str_from_z(secret_b), &p->to_dials);
}

static void begin(struct pair *p, const char *secret_a, const char *secret_b)
{
    const struct raftnet_shake_node b = {.cluster = 5, .id = 2, .name = STR("two")};
    const struct raftnet_shake dials = {.purpose = RAFTNET_SHAKE_MESSAGES, .target = 2};
    begin_for(p, secret_a, secret_b, &dials, &b);
}

static void end(struct pair *p)
{
    raftnet_shake_deinit(&p->dials);
    raftnet_shake_deinit(&p->answers);
    buf_deinit(&p->to_answers);
    buf_deinit(&p->to_dials);
}

/* Pass the only frame in `from` to a side. */
static enum raftnet_shake_state hand(struct raftnet_shake *to, struct buf *from, struct buf *back,
                                     struct err *err)
{
    struct raftnet_frame f;
    size_t len = 0;
    assert_int_equal(raftnet_frame_read(buf_str(from), RAFTNET_FRAME_SHAKE_BYTES_MAX, &f, &len),
                     RAFTNET_FRAME_WHOLE);
    assert_int_equal(len, from->len);
    enum raftnet_shake_state state = raftnet_shake_take(to, &f, back, err);
    buf_clear(from);
    return state;
}

static enum raftnet_shake_state to_answers(struct pair *p)
{
    return hand(&p->answers, &p->to_answers, &p->to_dials, &p->err);
}

static enum raftnet_shake_state to_dials(struct pair *p)
{
    return hand(&p->dials, &p->to_dials, &p->to_answers, &p->err);
}

/* Run an invitation up to the point where the invited node accepts or refuses it. */
static void begin_invitation(struct pair *p, bool non_voter)
{
    const struct raftnet_shake_node b = {.id = 2, .name = STR("two"), .non_voter = non_voter};
    const struct raftnet_shake dials = {.purpose = RAFTNET_SHAKE_INVITE, .invited = STR("two")};
    begin_for(p, "a long secret of two", "a long secret of two", &dials, &b);
    assert_int_equal(to_answers(p), RAFTNET_SHAKE_GOES_ON);
    assert_int_equal(to_dials(p), RAFTNET_SHAKE_GOES_ON);
    assert_int_equal(to_answers(p), RAFTNET_SHAKE_ASKS);
}

static void same_secret__is_accepted(void **state)
{
    (void)state;
    struct pair p;
    begin(&p, "a long secret of two", "a long secret of two");
    assert_int_equal(to_answers(&p), RAFTNET_SHAKE_GOES_ON);
    assert_int_equal(to_dials(&p), RAFTNET_SHAKE_GOES_ON);
    assert_int_equal(to_answers(&p), RAFTNET_SHAKE_ASKS);
    assert_int_equal(p.answers.other.id, 1);
    assert_int_equal(p.answers.other.cluster, 5);
    assert_int_equal(p.answers.target, 2);
    assert_true(str_eq(p.answers.other.name, STR("one")));
    assert_true(str_eq(p.answers.other.address, STR("h:1")));
    raftnet_shake_accept(&p.answers, &p.to_dials);
    assert_int_equal(to_dials(&p), RAFTNET_SHAKE_DONE);
    assert_int_equal(p.dials.other.id, 2);
    assert_int_equal(p.dials.other.name.len, 0); /* only numbers are sent before the proof */
    end(&p);
}

static void other_secret__is_refused_by_who_dials(void **state)
{
    (void)state;
    struct pair p;
    begin(&p, "a long secret of two", "another secret of two");
    assert_int_equal(to_answers(&p), RAFTNET_SHAKE_GOES_ON);
    assert_int_equal(to_dials(&p), RAFTNET_SHAKE_FAILED);
    assert_int_equal(p.dials.refusal, RAFTNET_SHAKE_SECRET);
    assert_string_equal(p.err.msg, "it does not have the same cluster secret");
    assert_int_equal(p.to_answers.len, 0); /* no proof is sent */
    end(&p);
}

/* A side without the secret replays a proof of another handshake. */
static void proof__is_of_this_conversation(void **state)
{
    (void)state;
    struct pair old;
    struct pair fresh;
    begin(&old, "a long secret of two", "a long secret of two");
    (void)to_answers(&old);
    (void)to_dials(&old); /* the proof is in old.to_answers */
    begin(&fresh, "a long secret of two", "a long secret of two");
    (void)to_answers(&fresh);
    buf_clear(&fresh.to_answers);
    buf_add_str(&fresh.to_answers, buf_str(&old.to_answers));
    assert_int_equal(to_answers(&fresh), RAFTNET_SHAKE_FAILED);
    assert_int_equal(fresh.answers.refusal, RAFTNET_SHAKE_SECRET);
    end(&old);
    end(&fresh);
}

/* The proof of the answering side is not valid for the dialing side. */
static void proof__cannot_be_sent_back(void **state)
{
    (void)state;
    struct pair p;
    struct raftnet_frame f;
    size_t len = 0;
    begin(&p, "a long secret of two", "a long secret of two");
    (void)to_answers(&p);
    assert_int_equal(raftnet_frame_read(buf_str(&p.to_dials), 4096, &f, &len), RAFTNET_FRAME_WHOLE);
    struct raftnet_frame back = {.kind = RAFTNET_FRAME_PROOF, .cluster = 5};
    back.body =
        str_from(f.body.ptr + f.body.len - RAFTNET_SHAKE_PROOF_BYTES, RAFTNET_SHAKE_PROOF_BYTES);
    assert_int_equal(raftnet_shake_take(&p.answers, &back, &p.to_dials, &p.err),
                     RAFTNET_SHAKE_FAILED);
    end(&p);
}

static void refusal__says_why(void **state)
{
    (void)state;
    struct pair p;
    begin(&p, "", "");
    (void)to_answers(&p);
    (void)to_dials(&p);
    assert_int_equal(to_answers(&p), RAFTNET_SHAKE_ASKS);
    raftnet_shake_refuse(&p.answers, RAFTNET_SHAKE_REMOVED, "you were removed", &p.to_dials);
    assert_int_equal(to_dials(&p), RAFTNET_SHAKE_FAILED);
    assert_int_equal(p.dials.refusal, RAFTNET_SHAKE_REMOVED);
    assert_string_equal(p.err.msg, "you were removed");
    end(&p);
}

static void invitation__names_who_is_meant(void **state)
{
    (void)state;
    for (int non_voter = 0; non_voter < 2; non_voter++) {
        struct pair p;
        begin_invitation(&p, non_voter != 0);
        assert_int_equal(p.answers.purpose, RAFTNET_SHAKE_INVITE);
        assert_int_equal(p.answers.target, 0);
        assert_int_equal(p.answers.other.cluster, 5);
        assert_true(str_eq(p.answers.invited, STR("two")));
        raftnet_shake_accept(&p.answers, &p.to_dials);
        assert_int_equal(to_dials(&p), RAFTNET_SHAKE_DONE);
        assert_int_equal(p.dials.other.id, 2);
        assert_int_equal(p.dials.other.non_voter, non_voter);
        end(&p);
    }
}

static void invitation__is_proved_as_everything_else(void **state)
{
    (void)state;
    struct pair p;
    const struct raftnet_shake_node b = {.id = 2, .name = STR("two")};
    const struct raftnet_shake dials = {.purpose = RAFTNET_SHAKE_INVITE, .invited = STR("two")};
    begin_for(&p, "a long secret of two", "another secret of two", &dials, &b);
    assert_int_equal(to_answers(&p), RAFTNET_SHAKE_GOES_ON);
    assert_int_equal(to_dials(&p), RAFTNET_SHAKE_FAILED);
    assert_int_equal(p.dials.refusal, RAFTNET_SHAKE_SECRET);
    end(&p);
}

static void invitation__needs_a_name_and_a_whole_answer(void **state)
{
    (void)state;
    struct pair p;
    const struct raftnet_frame empty = {.kind = RAFTNET_FRAME_ACCEPT};
    begin_invitation(&p, false);
    assert_int_equal(raftnet_shake_take(&p.dials, &empty, &p.to_answers, &p.err),
                     RAFTNET_SHAKE_FAILED);
    end(&p);

    /* The hello of a connection for messages, but with the purpose of an invitation. */
    struct raftnet_frame f;
    size_t len = 0;
    begin(&p, "s", "s");
    p.to_answers.ptr[RAFTNET_FRAME_HEAD_BYTES] = RAFTNET_SHAKE_INVITE;
    (void)raftnet_frame_read(buf_str(&p.to_answers), 4096, &f, &len);
    f.kind = RAFTNET_FRAME_HELLO;
    f.body = str_from_offset(buf_str(&p.to_answers), RAFTNET_FRAME_HEAD_BYTES);
    assert_int_equal(raftnet_shake_take(&p.answers, &f, &p.to_dials, &p.err), RAFTNET_SHAKE_FAILED);
    assert_int_equal(p.to_dials.len, 0);
    end(&p);
}

static void nonsense__is_refused_at_every_step(void **state)
{
    (void)state;
    static const struct raftnet_frame rows[] = {
        {.kind = RAFTNET_FRAME_HELLO},
        {.kind = RAFTNET_FRAME_HELLO, .body = {"\1\0\0\0\0\0\0\0\0", 9}},
        {.kind = RAFTNET_FRAME_CHALLENGE, .body = {"x", 1}},
        {.kind = RAFTNET_FRAME_ACCEPT},
        {.kind = RAFTNET_FRAME_REFUSE},
        {.kind = RAFTNET_FRAME_RAFT},
        {.kind = 200},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct pair p;
        begin(&p, "s", "s");
        assert_int_equal(raftnet_shake_take(&p.answers, &rows[i], &p.to_dials, &p.err),
                         RAFTNET_SHAKE_FAILED);
        assert_int_equal(raftnet_shake_take(&p.dials, &rows[i], &p.to_answers, &p.err),
                         RAFTNET_SHAKE_FAILED);
        end(&p);
    }
}

TEST_GROUP(raftnet_shake, cmocka_unit_test(same_secret__is_accepted),
           cmocka_unit_test(other_secret__is_refused_by_who_dials),
           cmocka_unit_test(proof__is_of_this_conversation),
           cmocka_unit_test(proof__cannot_be_sent_back), cmocka_unit_test(refusal__says_why),
           cmocka_unit_test(invitation__names_who_is_meant),
           cmocka_unit_test(invitation__is_proved_as_everything_else),
           cmocka_unit_test(invitation__needs_a_name_and_a_whole_answer),
           cmocka_unit_test(nonsense__is_refused_at_every_step));
