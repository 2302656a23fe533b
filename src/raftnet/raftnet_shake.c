#include "raftnet/raftnet_shake.h"

#include "base/check.h"
#include "base/pack.h"
#include "crypto/crypto.h"
#include "os/os_clock.h"

_Static_assert((int)RAFTNET_SHAKE_PROOF_BYTES == (int)CRYPTO_HASH_BYTES, "a proof is a code");

enum { WORDS_BYTES_MAX = 4 * RAFTNET_FRAME_SHAKE_BYTES_MAX };

/* The next message or decision. */
enum step { WANTS_HELLO, WANTS_PROOF, ASKED, WANTS_CHALLENGE, WANTS_ANSWER, OVER };

/* --- pieces of a message --- */

static void add_frame(struct buf *out, uint8_t kind, uint64_t cluster, struct str body)
{
    struct buf frame;
    buf_init(&frame, RAFTNET_FRAME_HEAD_BYTES + RAFTNET_FRAME_SHAKE_BYTES_MAX);
    raftnet_frame_begin(&frame);
    buf_add_str(&frame, body);
    raftnet_frame_end(&frame, kind, 0, cluster);
    buf_add_str(out, buf_str(&frame));
    buf_deinit(&frame);
}

/* Add the message to the transcript; both sides add the same messages in the same order. */
static void remember(struct raftnet_shake *s, uint64_t cluster, struct str body)
{
    pack_u64(&s->words, cluster);
    pack_u64(&s->words, body.len);
    buf_add_str(&s->words, body);
}

static void prove(const struct raftnet_shake *s, bool by_dialler,
                  unsigned char out[RAFTNET_SHAKE_PROOF_BYTES])
{
    struct buf text;
    buf_init(&text, WORDS_BYTES_MAX + 32);
    buf_add_str(&text, by_dialler ? STR("corvo peer who dials") : STR("corvo peer who answers"));
    buf_add_str(&text, buf_str(&s->words));
    CHECK(!text.overflow);
    crypto_hmac(s->secret, buf_str(&text), out);
    buf_deinit(&text);
}

static bool proof_is_right(const struct raftnet_shake *s, bool by_dialler, struct str proof)
{
    unsigned char want[RAFTNET_SHAKE_PROOF_BYTES];
    prove(s, by_dialler, want);
    return proof.len == sizeof want && crypto_equal(want, proof.ptr, sizeof want);
}

static void pack_node(struct buf *out, const struct raftnet_shake_node *n)
{
    char nonce[RAFTNET_SHAKE_NONCE_BYTES];
    os_clock_random(nonce, sizeof nonce);
    pack_u64(out, n->id);
    buf_add(out, nonce, sizeof nonce);
    pack_text(out, n->name);
    pack_text(out, n->address);
    pack_text(out, n->http_url);
    pack_text(out, n->version);
}

static struct str unpack_said(struct unpack *u)
{
    struct str text = unpack_text(u);
    if (text.len > RAFTNET_SHAKE_TEXT_BYTES_MAX || !str_is_utf8(text)) {
        u->bad = true;
    }
    return text;
}

static void unpack_node(struct unpack *u, uint64_t cluster, struct raftnet_shake_node *out)
{
    *out = (struct raftnet_shake_node){.cluster = cluster, .id = unpack_u64(u)};
    (void)unpack_bytes(u, RAFTNET_SHAKE_NONCE_BYTES);
    struct str *texts[] = {&out->name, &out->address, &out->http_url, &out->version};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        *texts[i] = unpack_said(u);
    }
}

/* Copy what the other side sent about itself, because it is used after the frame is freed. */
static void keep_other(struct raftnet_shake *s, struct str body)
{
    buf_clear(&s->theirs);
    buf_add_str(&s->theirs, body);
}

/* --- steps --- */

void raftnet_shake_begin(struct raftnet_shake *s, bool dials, const struct raftnet_shake_node *self,
                         struct str secret, struct buf *out)
{
    struct buf body;
    s->dials = dials;
    s->self = *self;
    s->secret = secret;
    s->step = dials ? WANTS_CHALLENGE : WANTS_HELLO;
    s->knows_other = false;
    buf_init(&s->words, WORDS_BYTES_MAX);
    buf_init(&s->theirs, RAFTNET_FRAME_SHAKE_BYTES_MAX);
    if (!dials) {
        return;
    }
    buf_init(&body, RAFTNET_FRAME_SHAKE_BYTES_MAX);
    pack_u8(&body, (uint8_t)s->purpose);
    pack_u64(&body, s->target);
    pack_node(&body, self);
    if (s->purpose == RAFTNET_SHAKE_INVITE) {
        pack_text(&body, s->invited);
    }
    CHECK(!body.overflow);
    remember(s, self->cluster, buf_str(&body));
    add_frame(out, RAFTNET_FRAME_HELLO, self->cluster, buf_str(&body));
    buf_deinit(&body);
}

void raftnet_shake_deinit(struct raftnet_shake *s)
{
    buf_deinit(&s->words);
    buf_deinit(&s->theirs);
}

static enum raftnet_shake_state fail(struct raftnet_shake *s, enum raftnet_shake_refusal why)
{
    s->step = OVER;
    s->refusal = why;
    return RAFTNET_SHAKE_FAILED;
}

static enum raftnet_shake_state fail_odd(struct raftnet_shake *s, struct err *err)
{
    (void)err_set(err, ERR_CORRUPT, "it sent an unexpected message");
    return fail(s, RAFTNET_SHAKE_OTHER);
}

static enum raftnet_shake_state take_hello(struct raftnet_shake *s, const struct raftnet_frame *f,
                                           struct buf *out, struct err *err)
{
    unsigned char proof[RAFTNET_SHAKE_PROOF_BYTES];
    struct buf body;
    keep_other(s, f->body);
    struct unpack u = unpack_from(buf_str(&s->theirs));
    uint8_t purpose = unpack_u8(&u);
    s->purpose = (enum raftnet_shake_purpose)purpose;
    s->target = unpack_u64(&u);
    unpack_node(&u, f->cluster, &s->other);
    s->invited = purpose == RAFTNET_SHAKE_INVITE ? unpack_said(&u) : STR_EMPTY;
    bool known = purpose >= RAFTNET_SHAKE_MESSAGES && purpose <= RAFTNET_SHAKE_INVITE;
    if (u.bad || !known || s->other.id == 0) { /* a later version may append fields */
        return fail_odd(s, err);
    }
    remember(s, f->cluster, f->body);
    buf_init(&body, RAFTNET_FRAME_SHAKE_BYTES_MAX);
    /* Do not reveal names and addresses before the other side has proved its identity. */
    pack_node(&body, &(struct raftnet_shake_node){.id = s->self.id});
    remember(s, s->self.cluster, buf_str(&body));
    prove(s, false, proof);
    buf_add(&body, proof, sizeof proof);
    CHECK(!body.overflow);
    add_frame(out, RAFTNET_FRAME_CHALLENGE, s->self.cluster, buf_str(&body));
    buf_deinit(&body);
    s->step = WANTS_PROOF;
    return RAFTNET_SHAKE_GOES_ON;
}

static enum raftnet_shake_state take_challenge(struct raftnet_shake *s,
                                               const struct raftnet_frame *f, struct buf *out,
                                               struct err *err)
{
    unsigned char proof[RAFTNET_SHAKE_PROOF_BYTES];
    if (f->body.len <= sizeof proof) {
        return fail_odd(s, err);
    }
    struct str said = str_from(f->body.ptr, f->body.len - sizeof proof);
    struct str theirs = str_from_offset(f->body, said.len);
    keep_other(s, said);
    struct unpack u = unpack_from(buf_str(&s->theirs));
    unpack_node(&u, f->cluster, &s->other);
    if (u.bad || s->other.id == 0) {
        return fail_odd(s, err);
    }
    remember(s, f->cluster, said);
    if (!proof_is_right(s, false, theirs)) {
        (void)err_set(err, ERR_FORBIDDEN, "it does not have the same cluster secret");
        return fail(s, RAFTNET_SHAKE_SECRET);
    }
    prove(s, true, proof);
    add_frame(out, RAFTNET_FRAME_PROOF, s->self.cluster, str_from(proof, sizeof proof));
    s->knows_other = true;
    s->step = WANTS_ANSWER;
    return RAFTNET_SHAKE_GOES_ON;
}

static enum raftnet_shake_state take_proof(struct raftnet_shake *s, const struct raftnet_frame *f,
                                           struct buf *out, struct err *err)
{
    if (!proof_is_right(s, true, f->body)) {
        raftnet_shake_refuse(s, RAFTNET_SHAKE_SECRET, "the cluster secret differs", out);
        (void)err_set(err, ERR_FORBIDDEN, "it does not have the same cluster secret");
        return fail(s, RAFTNET_SHAKE_SECRET);
    }
    s->knows_other = true;
    s->step = ASKED;
    return RAFTNET_SHAKE_ASKS;
}

static enum raftnet_shake_state take_answer(struct raftnet_shake *s, const struct raftnet_frame *f,
                                            struct err *err)
{
    struct unpack u = unpack_from(f->body);
    if (f->kind == RAFTNET_FRAME_ACCEPT && s->step == WANTS_ANSWER) {
        s->other.non_voter = s->purpose == RAFTNET_SHAKE_INVITE && unpack_u8(&u) != 0;
        if (u.bad) {
            return fail_odd(s, err);
        }
        s->step = OVER;
        return RAFTNET_SHAKE_DONE;
    }
    uint8_t why = unpack_u8(&u);
    struct str text = unpack_text(&u);
    if (f->kind != RAFTNET_FRAME_REFUSE || u.bad || !str_is_utf8(text)) {
        return fail_odd(s, err);
    }
    (void)err_set(err, ERR_FORBIDDEN, STR_FMT, (int)(text.len < 200 ? text.len : 200), text.ptr);
    return fail(s, why <= RAFTNET_SHAKE_REMOVED && why > 0 ? (enum raftnet_shake_refusal)why
                                                           : RAFTNET_SHAKE_OTHER);
}

enum raftnet_shake_state raftnet_shake_take(struct raftnet_shake *s, const struct raftnet_frame *f,
                                            struct buf *out, struct err *err)
{
    switch (s->step) {
    case WANTS_HELLO:
        return f->kind == RAFTNET_FRAME_HELLO ? take_hello(s, f, out, err) : fail_odd(s, err);
    case WANTS_PROOF:
        return f->kind == RAFTNET_FRAME_PROOF ? take_proof(s, f, out, err) : fail_odd(s, err);
    case WANTS_CHALLENGE:
        return f->kind == RAFTNET_FRAME_CHALLENGE ? take_challenge(s, f, out, err)
                                                  : take_answer(s, f, err);
    case WANTS_ANSWER:
        return take_answer(s, f, err);
    default:
        return fail_odd(s, err);
    }
}

void raftnet_shake_accept(struct raftnet_shake *s, struct buf *out)
{
    const char non_voter = s->self.non_voter ? 1 : 0;
    CHECK(s->step == ASKED);
    s->step = OVER;
    add_frame(out, RAFTNET_FRAME_ACCEPT, s->self.cluster,
              str_from(&non_voter, s->purpose == RAFTNET_SHAKE_INVITE ? 1 : 0));
}

void raftnet_shake_refuse(struct raftnet_shake *s, enum raftnet_shake_refusal why, const char *text,
                          struct buf *out)
{
    struct buf body;
    buf_init(&body, RAFTNET_FRAME_SHAKE_BYTES_MAX);
    pack_u8(&body, (uint8_t)why);
    pack_text(&body, str_from_z(text));
    add_frame(out, RAFTNET_FRAME_REFUSE, s->knows_other ? s->self.cluster : 0, buf_str(&body));
    buf_deinit(&body);
    s->step = OVER;
    s->refusal = why;
}
