#include "webhook/webhook_body.h"

#include <stdio.h>

#include "core/timestamp.h"
#include "crypto/crypto.h"
#include "json/json_write.h"

void webhook_body_write(struct buf *out, struct str event, struct wall sent_at, struct str id)
{
    char at[TIMESTAMP_TEXT_MAX];
    struct json_write w = json_write_to(out);
    json_write_object(&w);
    json_write_key(&w, STR("event"));
    json_write_raw(&w, event);
    json_write_key(&w, STR("sent_at"));
    json_write_str(&w, str_from(at, timestamp_format(sent_at, at)));
    json_write_key(&w, STR("webhook_id"));
    json_write_str(&w, id);
    json_write_end(&w);
    json_write_finish(&w);
}

void webhook_body_sign(struct str secret, struct str body, char out[WEBHOOK_BODY_SIGNATURE_MAX])
{
    uint8_t mac[CRYPTO_HASH_BYTES];
    crypto_hmac(secret, body, mac);
    int at = snprintf(out, WEBHOOK_BODY_SIGNATURE_MAX, "sha256=");
    for (unsigned i = 0; i < sizeof mac; i++) {
        at += snprintf(out + at, (size_t)(WEBHOOK_BODY_SIGNATURE_MAX - at), "%02x", mac[i]);
    }
}
