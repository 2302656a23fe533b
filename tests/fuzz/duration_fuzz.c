/*
 * Fuzz: durations. An accepted duration is not negative, and formatting and parsing it returns the
 * same value.
 */
#include "core/duration.h"

#include <stdint.h>

#include "base/check.h"
#include "base/clock.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t ms = -1, again = -1;
    struct err err = {0};
    char text[DURATION_TEXT_MAX];

    if (duration_parse(str_from(data, size), &ms, &err) == ERR_OK) {
        CHECK(ms >= 0);
        size_t len = duration_format(ms * NS_PER_MS, text);
        CHECK(duration_parse(str_from(text, len), &again, &err) == ERR_OK);
        CHECK(again == ms);
    } else {
        CHECK(err.code == ERR_VALIDATION);
        CHECK(err.msg[0] != '\0');
        CHECK(ms == -1);
    }
    return 0;
}
