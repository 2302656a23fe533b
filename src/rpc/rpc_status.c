#include "rpc/rpc_status.h"

#include "base/check.h"

static const struct {
    const char *word;
    int http;
} rows[RPC_STATUS_COUNT] = {
#define RPC_STATUS_ROW(name, word, http) [RPC_##name] = {word, http},
    RPC_STATUS_LIST(RPC_STATUS_ROW)
#undef RPC_STATUS_ROW
};

const char *rpc_status_word(enum rpc_status status)
{
    CHECK(status < RPC_STATUS_COUNT);
    return rows[status].word;
}

int rpc_status_http(enum rpc_status status)
{
    CHECK(status < RPC_STATUS_COUNT);
    return rows[status].http;
}

/* Codes whose RPC status does not follow from their HTTP status. */
static const struct {
    enum err_code code;
    enum rpc_status status;
} exceptions[] = {
    {ERR_OK, RPC_OK},
    {ERR_TOO_LARGE, RPC_RESOURCE_EXHAUSTED},     /* the message, or the memory of the call */
    {ERR_FIELD_TOO_LARGE, RPC_INVALID_ARGUMENT}, /* one of its fields */
    {ERR_UNKNOWN_OUTCOME, RPC_UNAVAILABLE},
};

static const struct {
    int http;
    enum rpc_status status;
} by_http[] = {
    {400, RPC_INVALID_ARGUMENT},   {401, RPC_UNAUTHENTICATED},  {403, RPC_PERMISSION_DENIED},
    {404, RPC_NOT_FOUND},          {405, RPC_UNIMPLEMENTED},    {409, RPC_ALREADY_EXISTS},
    {413, RPC_RESOURCE_EXHAUSTED}, {422, RPC_INVALID_ARGUMENT}, {429, RPC_RESOURCE_EXHAUSTED},
    {501, RPC_UNIMPLEMENTED},      {502, RPC_UNAVAILABLE},      {503, RPC_UNAVAILABLE},
    {504, RPC_DEADLINE_EXCEEDED},  {507, RPC_UNAVAILABLE},
};

enum rpc_status rpc_status_of(enum err_code code)
{
    for (size_t i = 0; i < COUNT_OF(exceptions); i++) {
        if (exceptions[i].code == code) {
            return exceptions[i].status;
        }
    }
    int http = err_http_status(code);
    for (size_t i = 0; i < COUNT_OF(by_http); i++) {
        if (by_http[i].http == http) {
            return by_http[i].status;
        }
    }
    return RPC_INTERNAL;
}

uint32_t rpc_status_retry_ms(enum err_code code, uint32_t hint_ms)
{
    enum { RETRY_MS = 1000 }; /* until there are tokens or memory again */
    bool is_busy = code == ERR_OVERLOADED && hint_ms > 0;
    return is_busy ? hint_ms : code == ERR_OVERLOADED || code == ERR_RATE_LIMITED ? RETRY_MS : 0;
}
