#include "os/os_clock.h"
#include "rest/access/rest_auth_int.h"
#include "rest/access/rest_recheck_int.h"
#include "rest/access/rest_sso_int.h"

enum { SCRATCH_BYTES = 1 << 16 };

/* Was the caller identified by single sign-on? */
static bool is_signed_on(const struct rest_call *c)
{
    return c->sso != NULL && c->sso->err.code == ERR_OK && !c->caller.by_session &&
           !c->caller.has_hash;
}

/* Look up the caller again, with its current rights and expiry. The password does not change while
 * the server runs. */
static enum rest_verdict find_again(const struct rest_call *c, struct arena *arena,
                                    struct auth_caller *out, struct wall *out_until)
{
    *out = c->caller;
    *out_until = WALL_NONE;
    if (c->verdict == REST_OPEN) {
        return rest_auth__is_closed(c) ? REST_MISSING : REST_OPEN;
    }
    if (c->caller.by_session) {
        return rest_auth__find_session(c, c->who.known, arena, out, out_until);
    }
    if (c->caller.has_hash) {
        return rest_auth__find_key(c, c->caller.hash, arena, out, out_until);
    }
    if (is_signed_on(c)) {
        *out_until = c->sso->identity.until;
        bool past = out_until->ns != 0 && out_until->ns <= os_clock_wall().ns;
        return past || !rest_sso__still_vouches(c) ? REST_INVALID : REST_KNOWN;
    }
    return REST_KNOWN;
}

/* Are namespace and scope unchanged? The filters of a stream are based on them. */
static bool is_same(const struct auth_caller *a, const struct auth_caller *b)
{
    return a->chooses_ns == b->chooses_ns && str_eq(a->ns, b->ns) && str_eq(a->scope, b->scope);
}

static enum err_code look_again(struct rest_call *c, struct arena *arena, struct wall *out_until,
                                struct err *err)
{
    struct auth_caller now;
    enum rest_verdict verdict = find_again(c, arena, &now, out_until);
    if (verdict != REST_KNOWN && verdict != REST_OPEN) {
        return err_set(err, ERR_UNAUTHORIZED, "%s",
                       is_signed_on(c) ? "the sign-on of this client is no longer valid"
                                       : rest_auth__words(verdict));
    }
    if (!is_same(&c->caller, &now)) {
        return err_set(
            err, ERR_UNAUTHORIZED,
            "the namespace or the queues of this credential have changed; connect again");
    }
    if (!rest_auth__still_allows(c, &now)) {
        return err_set(err, ERR_FORBIDDEN, REST_AUTH_FORBIDDEN);
    }
    return ERR_OK;
}

/* Usually nothing has changed since the last check: then only a version is compared. */
enum err_code rest_recheck__call(void *call, struct err *err)
{
    struct rest_call *c = call;
    struct auth_table *auth = c->rest->config.auth;
    if (auth == NULL) {
        return ERR_OK;
    }
    uint64_t version = auth_table_version(auth); /* read before the data */
    bool past = c->auth_until.ns != 0 && c->auth_until.ns <= os_clock_wall().ns;
    if (c->auth_version == version && !past) {
        return ERR_OK;
    }
    struct arena *arena = arena_new(SCRATCH_BYTES); /* the call's own would grow with each check */
    enum err_code code = look_again(c, arena, &c->auth_until, err);
    c->auth_version = code == ERR_OK ? version : 0;
    arena_free(arena);
    return code;
}
