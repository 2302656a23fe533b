/*
 * Sso: single sign-on with an OpenID Connect provider (http-api.md 3.3, 18.5).
 *
 * A thread of its own fetches the provider's URLs and keys, exchanges the codes of sign-ins and
 * verifies tokens; no other thread waits for it. Other threads submit questions and get the answers
 * in their own mailboxes. Valid tokens are cached until they expire, so that a client's next
 * request needs no question.
 *
 * The settings are those of the table (auth_table.h): a change discards all cached data. Keys are
 * fetched when they are first needed, when a token names an unknown key, and every hour; at most a
 * few times a minute, whatever tokens clients send.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "auth/auth_sso.h"
#include "loop/mailbox.h"
#include "outgoing/outgoing_guard.h"

struct sso;

struct sso_config {
    struct auth_table *auth;
    const struct outgoing_guard *guard; /* NULL: every address is allowed */
    const char *user_agent;
};

struct sso *sso_open(const struct sso_config *config);
/* End all questions; later ones end at once. */
void sso_stop(struct sso *s);
/* Call after sso_stop, when no thread uses s any more. NULL is allowed for both. */
void sso_free(struct sso *s);

/* Look up the token with this hash in the cache. False if it is not known to be valid: use sso_ask.
 * Any thread. Texts are copied to the arena. */
ATTR_NODISCARD bool sso_knows(struct sso *s, const uint8_t hash[AUTH_HASH_BYTES],
                              struct arena *arena, struct auth_identity *out);

enum sso_question {
    SSO_TOKEN,    /* whose token is this? */
    SSO_PROVIDER, /* the provider's sign-in URL */
    SSO_CODE,     /* who signed in at the provider with this code? */
};

/* A question. The asker owns it, and keeps it from sso_ask until done. */
struct sso_ask {
    /* set by the asker */
    enum sso_question question;
    struct str token;
    struct str code, verifier, nonce, redirect_url;
    void (*done)(struct sso_ask *a); /* called on the mailbox's loop */
    struct mailbox *reply_to;
    void *data;
    /* result. ERR_UNAUTHORIZED: invalid, with the reason. ERR_UNHEALTHY: the provider cannot be
     * reached or answers incorrectly. ERR_NOT_FOUND: no provider is configured. */
    struct err err;
    struct auth_identity identity; /* its texts, and the next two, are in `memory` */
    struct str sign_in_url, client_id;
    uint8_t proof[AUTH_HASH_BYTES]; /* binds a session to the provider: see auth_sso_proof */
    struct arena *memory;           /* freed by sso_release */
    /* private */
    struct msg msg;
    struct sso *sso;
    struct sso_ask *next;
    struct sso_exchange *exchange;
    bool asked_again; /* after fetching the keys again */
};

void sso_ask(struct sso *s, struct sso_ask *a);
/* Call after done. */
void sso_release(struct sso_ask *a);
