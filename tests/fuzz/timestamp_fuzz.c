/*
 * Fuzz: timestamps. An accepted time is after the epoch, and formatting and parsing it returns the
 * same time. Input of eight bytes is also used as a time.
 */
#include "core/timestamp.h"

#include <stdint.h>
#include <string.h>

#include "base/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_round_trip(struct wall at)
{
    struct wall back = {0};
    struct err err;
    char text[TIMESTAMP_TEXT_MAX];
    size_t len = timestamp_format(at, text);
    CHECK(timestamp_parse(str_from(text, len), &back, &err) == ERR_OK);
    CHECK(back.ns == (at.ns < 1 ? 1 : at.ns));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wall at = {.ns = -1};
    struct err err = {0};

    if (timestamp_parse(str_from(data, size), &at, &err) == ERR_OK) {
        CHECK(at.ns > 0);
        check_round_trip(at);
    } else {
        CHECK(err.code == ERR_VALIDATION);
        CHECK(at.ns == -1);
    }
    if (size == sizeof at.ns) {
        memcpy(&at.ns, data, sizeof at.ns);
        check_round_trip(at);
    }
    return 0;
}
