/*
 * Sso: single sign-on with an OpenID Connect provider (http-api.md 3.3, 18.5).
 *
 * A thread of its own asks the provider for its addresses and keys, exchanges the codes of sign-ins
 * and verifies tokens; nobody else waits for it. Whoever has a question hands it over and hears of
 * its end in his own mailbox. Tokens that were right are remembered until they expire, so that a
 * client's next request asks nobody.
 *
 * The settings are those of the table (auth_table.h): after a change nothing of before counts. Keys
 * are fetched when they are first needed, when a token names one that is not there, and every hour;
 * never more often than a few times a minute, whatever tokens are shown.
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
    const struct outgoing_guard *guard; /* NULL: every address may be called */
    const char *user_agent;
};

struct sso *sso_open(const struct sso_config *config);
/* Ends all questions; later ones end at once. */
void sso_stop(struct sso *s);
/* After sso_stop, when nobody asks any more. NULL is fine, for both. */
void sso_free(struct sso *s);

/* Was the token with this hash right before, and is it still? Any thread. The texts go into the
 * arena. */
ATTR_NODISCARD bool sso_knows(struct sso *s, const uint8_t hash[AUTH_HASH_BYTES],
                              struct arena *arena, struct auth_identity *out);

enum sso_question {
    SSO_TOKEN,    /* who does the token belong to? */
    SSO_PROVIDER, /* where does the provider let people sign in? */
    SSO_CODE,     /* who is it that the provider sent back with the code? */
};

/* The asker's memory, from sso_ask until done. */
struct sso_ask {
    /* set by the asker */
    enum sso_question question;
    struct str token;
    struct str code, verifier, nonce, redirect_url;
    void (*done)(struct sso_ask *a); /* in the mailbox's loop */
    struct mailbox *reply_to;
    void *data;
    /* result. ERR_UNAUTHORIZED: it is not right, and why. ERR_UNHEALTHY: the provider cannot be
     * asked, or does not answer as it should. ERR_NOT_FOUND: there is no such provider. */
    struct err err;
    struct auth_identity identity; /* in memory, as the next two */
    struct str sign_in_url, client_id;
    uint8_t proof[AUTH_HASH_BYTES]; /* for a session */
    struct arena *memory;           /* given back by sso_release */
    /* private */
    struct msg msg;
    struct sso *sso;
    struct sso_ask *next;
    struct sso_exchange *exchange;
    bool asked_again; /* with new keys */
};

void sso_ask(struct sso *s, struct sso_ask *a);
/* After done. */
void sso_release(struct sso_ask *a);
