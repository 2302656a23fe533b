/*
 * Blocking connections, for long transfers that must not hold up the loop.
 */
#include <netdb.h>
#include <string.h>

#include "base/check.h"
#include "os/os_clock.h"
#include "raftnet/raftnet_int.h"

enum { HOST_BYTES_MAX = 256, SHAKE_STEPS_MAX = 4 };

static enum err_code look_up(const char *address, struct sockaddr_storage *out, socklen_t *out_len,
                             struct err *err)
{
    char host[HOST_BYTES_MAX];
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    const char *colon = strrchr(address, ':');
    size_t len = colon == NULL ? 0 : (size_t)(colon - address);
    if (len == 0 || len >= sizeof host) {
        return err_set(err, ERR_VALIDATION, "'%s' is not host:port", address);
    }
    memcpy(host, address, len);
    host[len] = '\0';
    int rc = getaddrinfo(host, colon + 1, &hints, &found);
    if (rc != 0) {
        return err_set(err, ERR_IO, "%s: %s", address, gai_strerror(rc));
    }
    memcpy(out, found->ai_addr, found->ai_addrlen);
    *out_len = found->ai_addrlen;
    freeaddrinfo(found);
    return ERR_OK;
}

enum err_code raftnet_stream_read(struct raftnet_link *l, struct buf *body, size_t body_max,
                                  struct raftnet_frame *out, struct err *err)
{
    size_t len = 0;
    buf_clear(body);
    char *head = buf_reserve(body, RAFTNET_FRAME_HEAD_BYTES);
    CHECK(head != NULL);
    if (raftnet_link_read_all(l, head, RAFTNET_FRAME_HEAD_BYTES, err) != ERR_OK) {
        return err->code;
    }
    body->len = RAFTNET_FRAME_HEAD_BYTES;
    enum raftnet_frame_read got = raftnet_frame_read(buf_str(body), body_max, out, &len);
    if (got == RAFTNET_FRAME_MORE && len > body->len) {
        char *rest = buf_reserve(body, len - body->len);
        CHECK(rest != NULL); /* the caller's limit is above body_max */
        if (raftnet_link_read_all(l, rest, len - body->len, err) != ERR_OK) {
            return err->code;
        }
        body->len = len;
        got = raftnet_frame_read(buf_str(body), body_max, out, &len);
    }
    return got == RAFTNET_FRAME_WHOLE ? ERR_OK : err_set(err, ERR_CORRUPT, "a damaged frame");
}

static enum err_code shake(struct raftnet_link *l, struct raftnet_shake *s, struct buf *out,
                           struct buf *in, struct err *err)
{
    for (int i = 0; i < SHAKE_STEPS_MAX; i++) {
        struct raftnet_frame f;
        if (raftnet_link_write_all(l, buf_str(out), err) != ERR_OK) {
            return err->code;
        }
        buf_clear(out);
        if (raftnet_stream_read(l, in, RAFTNET_FRAME_SHAKE_BYTES_MAX, &f, err) != ERR_OK) {
            return err->code;
        }
        enum raftnet_shake_state state = raftnet_shake_take(s, &f, out, err);
        if (state == RAFTNET_SHAKE_DONE) {
            return ERR_OK;
        }
        if (state != RAFTNET_SHAKE_GOES_ON) {
            return err->code;
        }
    }
    return err_set(err, ERR_CORRUPT, "the handshake did not complete in time");
}

/* Connect and shake hands. On success the caller frees the handshake. */
static enum err_code dial(const struct raftnet_stream_target *target, struct raftnet_shake *s,
                          struct raftnet_link *out_link, struct err *err)
{
    struct sockaddr_storage at;
    socklen_t len = 0;
    SSL_CTX *context = NULL;
    struct buf out;
    struct buf in;
    if (!raftnet_link_address(target->address, &at, &len) &&
        look_up(target->address, &at, &len, err) != ERR_OK) {
        return err->code;
    }
    if (target->tls.cert_file != NULL &&
        raftnet_link_context(&target->tls, &context, err) != ERR_OK) {
        return err->code;
    }
    enum err_code code = raftnet_link_dial(out_link, (struct sockaddr *)&at, len, context, err);
    SSL_CTX_free(context); /* the connection has its own reference */
    if (code != ERR_OK) {
        return code;
    }
    buf_init(&out, (size_t)2 * RAFTNET_FRAME_SHAKE_BYTES_MAX);
    buf_init(&in, (size_t)2 * RAFTNET_FRAME_SHAKE_BYTES_MAX);
    struct mono until = {.ns = os_clock_mono().ns + target->timeout_ms * NS_PER_MS};
    code = raftnet_link_wait(out_link, until, err);
    raftnet_shake_begin(s, true, &target->self, target->secret, &out);
    code = code == ERR_OK ? shake(out_link, s, &out, &in, err) : code;
    if (code != ERR_OK) {
        raftnet_shake_deinit(s);
        raftnet_link_close(out_link);
    }
    buf_deinit(&out);
    buf_deinit(&in);
    return code;
}

enum err_code raftnet_stream_dial(const struct raftnet_stream_target *target,
                                  struct raftnet_link *out_link, struct err *err)
{
    struct raftnet_shake s = {.purpose = RAFTNET_SHAKE_STREAM, .target = target->id};
    if (dial(target, &s, out_link, err) != ERR_OK) {
        return err->code;
    }
    raftnet_shake_deinit(&s);
    raftnet_link_block(out_link, target->timeout_ms);
    return ERR_OK;
}

enum err_code raftnet_stream_invite(const struct raftnet_stream_target *target, struct str name,
                                    uint64_t *out_id, bool *out_voter, struct err *err)
{
    struct raftnet_shake s = {.purpose = RAFTNET_SHAKE_INVITE, .invited = name};
    struct raftnet_link link;
    if (dial(target, &s, &link, err) != ERR_OK) {
        return err->code;
    }
    *out_id = s.other.id;
    *out_voter = !s.other.non_voter;
    raftnet_shake_deinit(&s);
    raftnet_link_close(&link);
    return ERR_OK;
}
