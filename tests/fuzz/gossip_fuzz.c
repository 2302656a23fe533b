/*
 * Fuzz: gossip datagrams with a valid MAC. Whatever they contain, reading them returns a list
 * within its limits, or refuses them. An accepted member can be encoded again.
 */
#include <string.h>

#include <openssl/hmac.h>

#include "base/check.h"
#include "base/unpack.h"
#include "discover/discover_message.h"

enum { MAC_BYTES = 32, TIME_AT = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct discover_member rows[255];
    static const struct discover_member *const first[] = {&rows[0]};
    struct discover_message_key key = discover_message_key(STR("the secret of this fuzzer"));
    uint8_t bytes[DISCOVER_MESSAGE_BYTES_MAX];
    uint8_t again[DISCOVER_MESSAGE_BYTES_MAX];
    unsigned len = MAC_BYTES;
    size_t count = 0;
    if (size < TIME_AT + sizeof(int64_t) || size > sizeof bytes - MAC_BYTES) {
        return 0;
    }
    memcpy(bytes, data, size);
    CHECK(HMAC(EVP_sha256(), key.bytes, (int)sizeof key.bytes, data, size, bytes + size, &len) !=
          NULL);
    struct unpack u = unpack_from(str_from(data + TIME_AT, size - TIME_AT));
    int64_t now = unpack_i64(&u);
    now = now < -INT32_MAX ? 0 : now > INT64_MAX - INT32_MAX ? 0 : now;
    if (discover_message_read(&key, now, str_from(bytes, size + MAC_BYTES), rows, 255, &count) ==
            DISCOVER_MESSAGE_FINE &&
        count > 0) {
        CHECK(rows[0].node_id[0] != '\0');
        CHECK(discover_message_write(&key, now, first, 1, again) <= sizeof again);
    }
    return 0;
}
