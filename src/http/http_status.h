/*
 * Http_status: names of status codes, and the error responses of the server itself.
 */
#pragma once

#include "base/str.h"
#include "http/http_request.h"

/* The reason why the server refuses a request. */
struct http_problem {
    int status;       /* 0: no problem */
    const char *text; /* fixed text, lower case, without characters that JSON would escape */
};

/* "Not Found"; "Unknown" for a status without a row. */
struct str http_status_reason(int status);

/* The error code for a refusal with this status (field "code" of the error body); NULL if the
 * server itself never refuses with it. */
const char *http_status_find_code(int status);

/* The same for a status that the server does refuse with. */
const char *http_status_code(int status);

enum { HTTP_STATUS_BODY_MAX = 256 };

/* Write the error body, {"error":…,"code":…} and a newline, into room. Returns a view of room. */
struct str http_status_body(struct http_problem problem, char room[HTTP_STATUS_BODY_MAX]);

/* Return the whole error response, with the body in room, and with Retry-After for 429 and 503. */
struct http_response http_status_refusal(struct http_problem problem,
                                         char room[HTTP_STATUS_BODY_MAX]);
