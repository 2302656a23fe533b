#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"

static const struct {
    int http;
    const char *wire;
    const char *text;
} rows[ERR_CODE_COUNT] = {
#define ERR_ROW(code, http, wire, text) [ERR_##code] = {http, wire, text},
    ERR_LIST(ERR_ROW)
#undef ERR_ROW
};

enum err_code err_set(struct err *err, enum err_code code, const char *fmt, ...)
{
    CHECK(code > ERR_OK);
    CHECK(code < ERR_CODE_COUNT);
    va_list args;
    va_start(args, fmt);
    err->code = code;
    err->sys = 0;
    (void)vsnprintf(err->msg, sizeof err->msg, fmt, args);
    va_end(args);
    return code;
}

enum err_code err_set_default(struct err *err, enum err_code code)
{
    return err_set(err, code, "%s", err_text(code));
}

enum err_code err_wrap(struct err *err, const char *fmt, ...)
{
    char joined[2 * sizeof err->msg + 2];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(joined, sizeof err->msg, fmt, args);
    va_end(args);
    CHECK(n >= 0);
    size_t len = (size_t)n < sizeof err->msg ? (size_t)n : sizeof err->msg - 1;
    (void)snprintf(joined + len, sizeof joined - len, ": %s", err->msg);
    memcpy(err->msg, joined, sizeof err->msg - 1);
    err->msg[sizeof err->msg - 1] = '\0';
    return err->code;
}

enum err_code err_from_errno(struct err *err, const char *call)
{
    int sys = errno;
    char text[128];
    enum err_code code = sys == ENOSPC || sys == EDQUOT ? ERR_NO_SPACE : ERR_IO;
    (void)err_set(err, code, "%s: %s", call, strerror_r(sys, text, sizeof text));
    err->sys = sys;
    return code;
}

int err_http_status(enum err_code code)
{
    CHECK(code < ERR_CODE_COUNT);
    return rows[code].http;
}

const char *err_wire(enum err_code code)
{
    CHECK(code < ERR_CODE_COUNT);
    return rows[code].wire;
}

const char *err_text(enum err_code code)
{
    CHECK(code < ERR_CODE_COUNT);
    return rows[code].text;
}
