#include "sso/sso.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "sso/sso_int.h"

enum {
    FETCH_MS = 5000,
    ANSWER_BYTES_MAX = 512 << 10, /* limit of a provider's response */
    ASK_BYTES = 256 << 10,        /* memory limit of one question: a decoded token with its roles */
    WAITING_MAX = 1024,
    CONNECTIONS_MAX = 16,
    REFRESH_MS = 10000,             /* minimum interval between requests to the provider… */
    CREDIT_MS_MAX = 5 * REFRESH_MS, /* …and the burst allowed after a pause */
    KEYS_MS = 3600 * 1000,          /* fetch the keys again: one may have been revoked */
    URL_BYTES_MAX = 8192,
};

enum fetch { FETCH_NONE, FETCH_PROVIDER, FETCH_KEYS };

/* An authorization code being exchanged at the provider. */
struct sso_exchange {
    struct outgoing_request request;
    struct sso_ask *ask;
    struct sso_exchange *next;
    struct buf body, authorization;
};

struct sso {
    struct sso_config config;
    struct sso_cache cache;
    uv_thread_t thread;
    uv_sem_t opened;
    struct mailbox box;
    struct msg stop_msg, end_msg;
    /* below: used by the thread only */
    uv_loop_t loop;
    struct outgoing *outgoing;
    bool stopping;
    struct buf body; /* of the settings */
    struct store_sso settings;
    bool has_settings;
    uint64_t version;
    struct sso_provider provider; /* no memory: unknown */
    struct auth_jwks *keys;       /* NULL: unknown */
    uint64_t keys_at_ms;
    struct err why; /* why the provider is unknown */
    enum fetch fetching;
    struct outgoing_request request;
    struct buf url;
    uint64_t credit_ms, credit_at_ms;       /* rate limit of requests to the provider */
    struct sso_ask *waiting, **waiting_end; /* wait for the provider's keys */
    size_t waiting_count;
    struct sso_exchange *exchanges;
    size_t exchange_count;
};

static void step(struct sso *s, struct sso_ask *a);

/* ---- answering a question ---- */

static void deliver_done(struct msg *m)
{
    struct sso_ask *a = CONTAINER_OF(m, struct sso_ask, msg);
    a->done(a);
}

static void answer(struct sso_ask *a)
{
    a->msg.deliver = deliver_done;
    bool posted = mailbox_post(a->reply_to, &a->msg);
    CHECK(posted); /* the asker's mailbox stays open until the answer */
}

static void refuse(struct sso_ask *a, enum err_code code, const char *why)
{
    (void)err_set(&a->err, code, "%s", why);
    answer(a);
}

/* ---- settings ---- */

static void end_fetch(struct sso *s)
{
    if (s->fetching != FETCH_NONE) {
        outgoing_cancel(&s->request);
        outgoing_request_deinit(&s->request);
        s->fetching = FETCH_NONE;
    }
}

static void wake(struct sso *s, bool asked);

/* Discard everything that depends on the old settings. */
static void follow_settings(struct sso *s)
{
    if (s->version == auth_table_sso_version(s->config.auth)) {
        return;
    }
    end_fetch(s);
    s->has_settings =
        auth_table_sso_settings(s->config.auth, &s->body, &s->settings, &s->version) &&
        s->settings.provider == STORE_SSO_OIDC;
    sso_provider__clear(&s->provider);
    auth_jwks_free(s->keys);
    s->keys = NULL;
    s->credit_ms = CREDIT_MS_MAX;
    (void)err_set(&s->why, ERR_UNHEALTHY, "the identity provider has not been contacted yet");
    sso_cache__clear(&s->cache, s->version);
    wake(s, false);
}

/* ---- the provider and its keys ---- */

static void fetch(struct sso *s, enum fetch what, const char *url);

/* Retry all waiting questions. */
static void wake(struct sso *s, bool asked)
{
    struct sso_ask *a = s->waiting;
    s->waiting = NULL;
    s->waiting_end = &s->waiting;
    s->waiting_count = 0;
    while (a != NULL) {
        struct sso_ask *next = a->next;
        a->next = NULL;
        a->asked_again = a->asked_again || asked;
        step(s, a);
        a = next;
    }
}

static void failed(struct sso *s, const struct err *err)
{
    s->why = *err;
    s->why.code = ERR_UNHEALTHY;
    log_warn("identity provider unreachable", LOG_STR("issuer", s->settings.issuer),
             LOG_Z("error", err->msg));
    wake(s, true);
}

static enum err_code take_provider(struct sso *s, struct str text, struct err *err)
{
    struct sso_provider provider;
    enum err_code code = sso_provider__parse(text, s->settings.issuer, &provider, err);
    if (code != ERR_OK) {
        sso_provider__clear(&provider);
        return code;
    }
    sso_provider__clear(&s->provider);
    s->provider = provider;
    return ERR_OK;
}

static enum err_code take_keys(struct sso *s, struct str text, struct err *err)
{
    struct auth_jwks *keys = NULL;
    if (auth_jwks_parse(text, &keys, err) != ERR_OK) {
        return err_wrap(err, "the provider's keys");
    }
    auth_jwks_free(s->keys);
    s->keys = keys;
    s->keys_at_ms = uv_now(&s->loop);
    sso_cache__clear(&s->cache, s->version); /* a key may have been revoked */
    log_info("identity provider's keys fetched", LOG_STR("issuer", s->settings.issuer),
             LOG_U64("keys", auth_jwks_count(keys)));
    return ERR_OK;
}

static enum err_code check_answer(const struct outgoing_request *r, const char *of_what,
                                  struct err *err)
{
    if (r->err.code != ERR_OK) {
        *err = r->err;
        return err_wrap(err, "%s", of_what);
    }
    return r->status == 200 ? ERR_OK
                            : err_set(err, ERR_UNHEALTHY, "%s: status %d", of_what, r->status);
}

static void fetched(struct outgoing_request *r)
{
    struct sso *s = r->data;
    enum fetch what = s->fetching;
    struct err err;
    s->fetching = FETCH_NONE;
    enum err_code code = check_answer(
        r, what == FETCH_PROVIDER ? "the provider's configuration" : "the provider's keys", &err);
    if (code == ERR_OK) {
        code = what == FETCH_PROVIDER ? take_provider(s, buf_str(&r->answer), &err)
                                      : take_keys(s, buf_str(&r->answer), &err);
    }
    outgoing_request_deinit(r);
    if (code != ERR_OK) {
        failed(s, &err);
    } else if (what == FETCH_PROVIDER) {
        fetch(s, FETCH_KEYS, s->provider.keys_url);
    } else {
        wake(s, true);
    }
}

static void fetch(struct sso *s, enum fetch what, const char *url)
{
    s->request = (struct outgoing_request){.method = "GET",
                                           .url = url,
                                           .headers = {{"Accept", STR("application/json")}},
                                           .header_count = 1,
                                           .timeout_ms = FETCH_MS,
                                           .answer_limit = ANSWER_BYTES_MAX,
                                           .done = fetched,
                                           .data = s};
    s->fetching = what;
    outgoing_start(s->outgoing, &s->request);
}

/* Rate limit: tokens must not be able to make this server call the provider at will. */
static bool may_refresh(struct sso *s)
{
    uint64_t now_ms = uv_now(&s->loop);
    s->credit_ms += now_ms - s->credit_at_ms;
    s->credit_ms = s->credit_ms > CREDIT_MS_MAX ? CREDIT_MS_MAX : s->credit_ms;
    s->credit_at_ms = now_ms;
    if (s->credit_ms < REFRESH_MS) {
        return false;
    }
    s->credit_ms -= REFRESH_MS;
    return true;
}

/* Fetch the provider's description and keys, unless that is in progress. */
static bool refresh(struct sso *s)
{
    if (s->fetching != FETCH_NONE) {
        return true;
    }
    if (!may_refresh(s)) {
        return false;
    }
    buf_clear(&s->url);
    sso_provider__url(s->settings.issuer, &s->url);
    buf_add_char(&s->url, '\0');
    fetch(s, FETCH_PROVIDER, s->url.ptr);
    return true;
}

static void wait_for_keys(struct sso *s, struct sso_ask *a)
{
    *s->waiting_end = a;
    s->waiting_end = &a->next;
    s->waiting_count++;
}

/* Fetch from the provider again, once for each question; if that is not possible, answer with
 * the error. */
static void ask_again(struct sso *s, struct sso_ask *a, enum err_code code, const char *why)
{
    if (!a->asked_again && s->waiting_count < WAITING_MAX && refresh(s)) {
        wait_for_keys(s, a);
    } else {
        refuse(a, code, why);
    }
}

/* ---- tokens ---- */

static void verify(struct sso *s, struct sso_ask *a)
{
    struct auth_jwt token;
    struct auth_jwt_rule rule = {.issuer = s->settings.issuer,
                                 .audience = s->settings.client_id,
                                 .nonce = a->nonce,
                                 .now = os_clock_wall()};
    if (auth_jwt_parse(a->token, a->memory, &token, &a->err) != ERR_OK) {
        answer(a);
        return;
    }
    enum err_code code = auth_jwt_verify(&token, s->keys, &a->err);
    if (code == ERR_NOT_FOUND) {
        ask_again(s, a, ERR_UNAUTHORIZED, "the token's key is not one of the provider's keys");
        return;
    }
    if (code == ERR_OK && auth_jwt_check(&token, &rule, &a->err) == ERR_OK &&
        auth_sso_from_claims(token.claims, &s->settings, a->memory, &a->identity, &a->err) ==
            ERR_OK) {
        auth_sso_proof(&s->settings, a->proof);
        a->identity.until = token.expires_at;
        if (a->question == SSO_TOKEN) {
            sso_cache__put(&s->cache, a->token, &a->identity, token.expires_at);
        }
    }
    answer(a);
}

/* ---- codes ---- */

static void free_exchange(struct sso *s, struct sso_exchange *x)
{
    struct sso_exchange **at = &s->exchanges;
    while (*at != x) {
        at = &(*at)->next;
    }
    *at = x->next;
    s->exchange_count--;
    outgoing_request_deinit(&x->request);
    buf_deinit(&x->body);
    buf_deinit(&x->authorization);
    free(x);
}

static void exchanged(struct outgoing_request *r)
{
    struct sso_exchange *x = r->data;
    struct sso_ask *a = x->ask;
    struct sso *s = a->sso;
    bool refused = r->err.code == ERR_OK && r->status >= 400 && r->status < 500;
    enum err_code code = check_answer(r, "the provider's token endpoint", &a->err);
    if (code == ERR_OK) {
        code = sso_provider__id_token(buf_str(&r->answer), a->memory, &a->token, &a->err);
    } else if (refused) {
        log_warn("sign-in refused by the identity provider", LOG_I64("status", r->status),
                 LOG_STR("answer", str_at_most(buf_str(&r->answer), 300)));
    }
    free_exchange(s, x);
    if (code != ERR_OK) {
        a->err.code = refused ? ERR_UNAUTHORIZED : ERR_UNHEALTHY;
        answer(a);
    } else {
        step(s, a);
    }
}

static void exchange(struct sso *s, struct sso_ask *a)
{
    if (s->provider.token_url == NULL) {
        refuse(a, ERR_UNHEALTHY, "the provider has no token_endpoint");
        return;
    }
    if (s->exchange_count >= WAITING_MAX) {
        refuse(a, ERR_UNHEALTHY, "too many sign-ins are in progress");
        return;
    }
    struct sso_exchange *x = calloc(1, sizeof *x);
    CHECK(x != NULL);
    x->ask = a;
    x->next = s->exchanges;
    s->exchanges = x;
    s->exchange_count++;
    buf_init(&x->body, ASK_BYTES);
    buf_init(&x->authorization, ASK_BYTES);
    sso_provider__exchange(&s->provider, &s->settings, a, &x->body, &x->authorization);
    x->request = (struct outgoing_request){
        .method = "POST",
        .url = s->provider.token_url,
        .headers = {{"Content-Type", STR("application/x-www-form-urlencoded")},
                    {"Accept", STR("application/json")},
                    {"Authorization", buf_str(&x->authorization)}},
        .header_count = x->authorization.len > 0 ? 3 : 2,
        .body = buf_str(&x->body),
        .timeout_ms = FETCH_MS,
        .answer_limit = ANSWER_BYTES_MAX,
        .done = exchanged,
        .data = x};
    outgoing_start(s->outgoing, &x->request);
}

/* ---- questions ---- */

static void tell_provider(struct sso *s, struct sso_ask *a)
{
    if (s->provider.sign_in_url == NULL) {
        refuse(a, ERR_UNHEALTHY, "the provider has no authorization_endpoint");
        return;
    }
    a->sign_in_url = arena_str(a->memory, str_from_z(s->provider.sign_in_url));
    a->client_id = arena_str(a->memory, s->settings.client_id);
    answer(a);
}

/* Advance the question as far as possible now. */
static void step(struct sso *s, struct sso_ask *a)
{
    err_clear(&a->err); /* of the previous step */
    follow_settings(s);
    if (s->stopping) {
        refuse(a, ERR_UNHEALTHY, "the server is shutting down");
    } else if (!s->has_settings) {
        refuse(a, ERR_NOT_FOUND, "single sign-on with an identity provider is not configured");
    } else if (s->keys == NULL) {
        ask_again(s, a, ERR_UNHEALTHY, s->why.msg);
    } else if (a->question == SSO_PROVIDER) {
        tell_provider(s, a);
    } else if (a->question == SSO_CODE && a->token.len == 0) {
        exchange(s, a);
    } else {
        if (uv_now(&s->loop) - s->keys_at_ms > KEYS_MS) {
            (void)refresh(s); /* for later questions */
        }
        verify(s, a);
    }
}

static void deliver_ask(struct msg *m)
{
    struct sso_ask *a = CONTAINER_OF(m, struct sso_ask, msg);
    a->memory = arena_new(ASK_BYTES);
    step(a->sso, a);
}

void sso_ask(struct sso *s, struct sso_ask *a)
{
    a->sso = s;
    a->next = NULL;
    a->asked_again = false;
    a->err = (struct err){.code = ERR_OK};
    a->memory = NULL;
    a->msg.deliver = deliver_ask;
    bool posted = mailbox_post(&s->box, &a->msg);
    CHECK(posted); /* sso_ask must not be called after sso_free */
}

void sso_release(struct sso_ask *a)
{
    arena_free(a->memory);
    a->memory = NULL;
}

bool sso_knows(struct sso *s, const uint8_t hash[AUTH_HASH_BYTES], struct arena *arena,
               struct auth_identity *out)
{
    return sso_cache__get(&s->cache, hash, auth_table_sso_version(s->config.auth), os_clock_wall(),
                          arena, out);
}

/* ---- the thread ---- */

static void deliver_stop(struct msg *m)
{
    struct sso *s = CONTAINER_OF(m, struct sso, stop_msg);
    s->stopping = true;
    end_fetch(s);
    while (s->exchanges != NULL) {
        struct sso_exchange *x = s->exchanges;
        struct sso_ask *a = x->ask;
        outgoing_cancel(&x->request);
        free_exchange(s, x);
        step(s, a);
    }
    wake(s, true);
}

static void deliver_end(struct msg *m)
{
    struct sso *s = CONTAINER_OF(m, struct sso, end_msg);
    outgoing_close(s->outgoing);
    mailbox_close(&s->box);
}

static void thread_main(void *data)
{
    struct sso *s = data;
    struct outgoing_config outgoing = {.guard = s->config.guard,
                                       .connections_max = CONNECTIONS_MAX,
                                       .user_agent = s->config.user_agent};
    (void)pthread_setname_np(pthread_self(), "sso");
    CHECK(uv_loop_init(&s->loop) == 0);
    mailbox_open(&s->box, &s->loop);
    s->outgoing = outgoing_open(&s->loop, &outgoing);
    uv_sem_post(&s->opened);
    CHECK(uv_run(&s->loop, UV_RUN_DEFAULT) == 0);
    mailbox_deinit(&s->box);
    CHECK(uv_loop_close(&s->loop) == 0);
}

struct sso *sso_open(const struct sso_config *config)
{
    struct sso *s = calloc(1, sizeof *s);
    CHECK(s != NULL);
    s->config = *config;
    s->waiting_end = &s->waiting;
    buf_init(&s->body, LIMIT_ACCESS_BODY_BYTES);
    buf_init(&s->url, URL_BYTES_MAX);
    sso_cache__init(&s->cache);
    CHECK(uv_sem_init(&s->opened, 0) == 0);
    CHECK(uv_thread_create(&s->thread, thread_main, s) == 0);
    uv_sem_wait(&s->opened);
    return s;
}

void sso_stop(struct sso *s)
{
    if (s != NULL) {
        s->stop_msg.deliver = deliver_stop;
        bool posted = mailbox_post(&s->box, &s->stop_msg);
        CHECK(posted);
    }
}

void sso_free(struct sso *s)
{
    if (s == NULL) {
        return;
    }
    s->end_msg.deliver = deliver_end;
    bool posted = mailbox_post(&s->box, &s->end_msg);
    CHECK(posted);
    CHECK(uv_thread_join(&s->thread) == 0);
    sso_provider__clear(&s->provider);
    auth_jwks_free(s->keys);
    sso_cache__deinit(&s->cache);
    buf_deinit(&s->body);
    buf_deinit(&s->url);
    uv_sem_destroy(&s->opened);
    free(s);
}
