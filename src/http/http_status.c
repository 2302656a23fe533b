#include "http/http_status.h"

#include <stdio.h>

#include "base/check.h"

/* clang-format off */
static const struct status_row {
    int status;
    struct str reason;
    const char *code; /* NULL: the server itself never sends it */
} status_rows[] = {
    {200, {"OK", 2},                               NULL},
    {201, {"Created", 7},                          NULL},
    {202, {"Accepted", 8},                         NULL},
    {204, {"No Content", 10},                      NULL},
    {206, {"Partial Content", 15},                 NULL},
    {301, {"Moved Permanently", 17},               NULL},
    {302, {"Found", 5},                            NULL},
    {303, {"See Other", 9},                        NULL},
    {304, {"Not Modified", 12},                    NULL},
    {307, {"Temporary Redirect", 18},              NULL},
    {308, {"Permanent Redirect", 18},              NULL},
    {400, {"Bad Request", 11},                     "VALIDATION_ERROR"},
    {401, {"Unauthorized", 12},                    NULL},
    {403, {"Forbidden", 9},                        NULL},
    {404, {"Not Found", 9},                        NULL},
    {405, {"Method Not Allowed", 18},              NULL},
    {406, {"Not Acceptable", 14},                  NULL},
    {408, {"Request Timeout", 15},                 "REQUEST_TIMEOUT"},
    {409, {"Conflict", 8},                         NULL},
    {410, {"Gone", 4},                             NULL},
    {411, {"Length Required", 15},                 NULL},
    {412, {"Precondition Failed", 19},             NULL},
    {413, {"Content Too Large", 17},               "PAYLOAD_TOO_LARGE"},
    {414, {"URI Too Long", 12},                    "URI_TOO_LONG"},
    {415, {"Unsupported Media Type", 22},          NULL},
    {417, {"Expectation Failed", 18},              "VALIDATION_ERROR"},
    {421, {"Misdirected Request", 19},             NULL},
    {422, {"Unprocessable Content", 21},           NULL},
    {429, {"Too Many Requests", 17},               "RATE_LIMITED"},
    {431, {"Request Header Fields Too Large", 31}, "HEADERS_TOO_LARGE"},
    {499, {"Client Closed Request", 21},           NULL},
    {500, {"Internal Server Error", 21},           NULL},
    {501, {"Not Implemented", 15},                 "UNSUPPORTED"},
    {502, {"Bad Gateway", 11},                     NULL},
    {503, {"Service Unavailable", 19},             "UNHEALTHY"},
    {504, {"Gateway Timeout", 15},                 NULL},
    {505, {"HTTP Version Not Supported", 26},      "UNSUPPORTED"},
    {507, {"Insufficient Storage", 20},            NULL},
};
/* clang-format on */

static const struct status_row *status_find(int status)
{
    for (size_t i = 0; i < COUNT_OF(status_rows); i++) {
        if (status_rows[i].status == status) {
            return &status_rows[i];
        }
    }
    return NULL;
}

struct str http_status_reason(int status)
{
    const struct status_row *row = status_find(status);
    return row == NULL ? STR("Unknown") : row->reason;
}

const char *http_status_find_code(int status)
{
    const struct status_row *row = status_find(status);
    return row == NULL ? NULL : row->code;
}

const char *http_status_code(int status)
{
    const char *code = http_status_find_code(status);
    CHECK(code != NULL);
    return code;
}

struct str http_status_body(struct http_problem problem, char room[HTTP_STATUS_BODY_MAX])
{
    int n = snprintf(room, HTTP_STATUS_BODY_MAX, "{\"error\":\"%s\",\"code\":\"%s\"}\n",
                     problem.text, http_status_code(problem.status));
    CHECK(n > 0);
    CHECK(n < HTTP_STATUS_BODY_MAX);
    return str_from(room, (size_t)n);
}

struct http_response http_status_refusal(struct http_problem problem,
                                         char room[HTTP_STATUS_BODY_MAX])
{
    static const struct http_header later[] = {{{"Retry-After", 11}, {"1", 1}}};
    bool passes = problem.status == 503 || problem.status == 429;
    return (struct http_response){
        .status = problem.status,
        .content_type = STR("application/json"),
        .headers = passes ? later : NULL,
        .header_count = passes ? COUNT_OF(later) : 0,
        .body = http_status_body(problem, room),
    };
}
