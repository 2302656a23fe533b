/*
 * Http_status: names of status codes, and the texts with which the server refuses requests.
 */
#pragma once

#include "base/str.h"
#include "http/http_request.h"

/* Why a request is refused before a handler sees it. */
struct http_problem {
    int status;       /* 0: no problem */
    const char *text; /* fixed text, lower case, without bytes that JSON would escape */
};

/* "Not Found"; "Unknown" for a status without a row. */
struct str http_status_reason(int status);

/* The word of the contract's error body for a refusal with this status; NULL when the server itself
 * never refuses with it. */
const char *http_status_find_code(int status);

/* The same where it does. */
const char *http_status_code(int status);

enum { HTTP_STATUS_BODY_MAX = 256 };

/* The error body, {"error":…,"code":…} and a newline, in room; a view of it. */
struct str http_status_body(struct http_problem problem, char room[HTTP_STATUS_BODY_MAX]);

/* The whole answer, with the body in room, and when to come back where that helps. */
struct http_response http_status_refusal(struct http_problem problem,
                                         char room[HTTP_STATUS_BODY_MAX]);
