/*
 * Base64url: bytes as text without padding (RFC 4648 5), as used in tokens and in settings in
 * headers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/str.h"

/* The maximum number of bytes that a text decodes to. */
static inline size_t base64url_room(size_t len)
{
    return len / 4 * 3 + 3;
}

/* Decode. False if the text is invalid; unused bits must be zero. */
ATTR_NODISCARD bool base64url_decode(struct str text, uint8_t *out, size_t *out_len);

/* Encode; out must have 4 bytes for every 3 bytes of input, rounded up. */
struct str base64url_encode(struct str bytes, char *out);
