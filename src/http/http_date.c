#include "http/http_date.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "os/os_clock.h"

void http_date_format(int64_t seconds, char out[static HTTP_DATE_LEN])
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    char text[HTTP_DATE_LEN + 32];
    time_t at = (time_t)seconds;
    struct tm utc;
    CHECK(gmtime_r(&at, &utc) != NULL);
    int n = snprintf(text, sizeof text, "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT",
                     days + 3 * (size_t)utc.tm_wday, utc.tm_mday, months + 3 * (size_t)utc.tm_mon,
                     utc.tm_year + 1900, utc.tm_hour, utc.tm_min, utc.tm_sec);
    CHECK(n == HTTP_DATE_LEN);
    memcpy(out, text, HTTP_DATE_LEN);
}

struct str http_date_now(struct http_date *d, uint64_t now_ms)
{
    if (now_ms >= d->until_ms) {
        int64_t ns = os_clock_wall().ns;
        http_date_format(ns / NS_PER_S, d->text);
        d->until_ms = now_ms + 1000 - (uint64_t)(ns % NS_PER_S / NS_PER_MS);
    }
    return str_from(d->text, HTTP_DATE_LEN);
}
