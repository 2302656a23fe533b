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
    uint64_t until_ms; /* loop time at which the text expires */
    char text[HTTP_DATE_LEN];
};

/* Format seconds since 1970 as "Sun, 06 Nov 1994 08:49:37 GMT". */
void http_date_format(int64_t seconds, char out[static HTTP_DATE_LEN]);

/* Return the current date; now_ms is the loop's time. The text is valid until the next call. */
struct str http_date_now(struct http_date *d, uint64_t now_ms);
