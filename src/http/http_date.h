/*
 * Http_date: the Date header of responses (RFC 9110, 6.6.1), formatted once per second.
 *
 * Belongs to one network thread.
 */
#pragma once

#include <stdint.h>

#include "base/str.h"

enum { HTTP_DATE_LEN = 29 };

struct http_date {
    uint64_t until_ms; /* of the loop's time: the text is right before */
    char text[HTTP_DATE_LEN];
};

/* Seconds since 1970 as "Sun, 06 Nov 1994 08:49:37 GMT". */
void http_date_format(int64_t seconds, char out[static HTTP_DATE_LEN]);

/* The date now; the loop's time is now_ms. The text lives until the next call. */
struct str http_date_now(struct http_date *d, uint64_t now_ms);
