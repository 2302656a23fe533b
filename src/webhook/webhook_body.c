#include "webhook/webhook_body.h"

#include <stdio.h>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/check.h"
#include "core/timestamp.h"
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
    unsigned char mac[EVP_MAX_MD_SIZE];
    unsigned len = 0;
    const unsigned char *made = HMAC(EVP_sha256(), secret.ptr, (int)secret.len,
                                     (const unsigned char *)body.ptr, body.len, mac, &len);
    CHECK(made != NULL);
    CHECK(len == 32);
    int at = snprintf(out, WEBHOOK_BODY_SIGNATURE_MAX, "sha256=");
    for (unsigned i = 0; i < len; i++) {
        at += snprintf(out + at, (size_t)(WEBHOOK_BODY_SIGNATURE_MAX - at), "%02x", mac[i]);
    }
}
