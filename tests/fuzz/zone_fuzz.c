/*
 * Fuzz: time zones, from the bytes of a file or from a rule. Conversions between instants and local
 * times are consistent.
 */
#include "core/zone.h"

#include <stdint.h>

#include "base/check.h"
#include "lib/tzif.h"

enum { OFFSET_S_MAX = 26 * 3600 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_local(const struct zone *z, int64_t local_s)
{
    int64_t found[2];
    unsigned count = zone_instants(z, local_s, found);
    for (unsigned i = 0; i < count; i++) {
        CHECK(found[i] + zone_offset_s(z, found[i]) == local_s);
    }
    CHECK(count < 2 || found[0] < found[1]);
    int64_t first = zone_first_instant(z, local_s);
    CHECK(count == 0 || first == found[0]);
    if (count == 0) {
        /* The local time is skipped: clocks show less before the change and more after it. */
        CHECK(first + zone_offset_s(z, first) > local_s);
        CHECK(first - 1 + zone_offset_s(z, first - 1) < local_s);
    }
}

static void check_zone(const struct zone *z)
{
    static const int64_t instants_s[] = {
        -9000000000, -1, 0, 1, 1000000, 1774745999, 1774746000, 1792890000, 4102444800, 9000000000};
    for (size_t i = 0; i < COUNT_OF(instants_s); i++) {
        int64_t offset_s = zone_offset_s(z, instants_s[i]);
        CHECK(offset_s > -OFFSET_S_MAX && offset_s < OFFSET_S_MAX);
        check_local(z, instants_s[i]);
        check_local(z, instants_s[i] + offset_s);
        check_local(z, instants_s[i] + offset_s + 1800);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int32_t none = 0;
    struct zone *z;
    struct err err = {0};
    char rule[64];
    struct buf b;

    if (zone_new(str_from(data, size), &z, &err) == ERR_OK) {
        check_zone(z);
        zone_free(z);
    } else {
        CHECK(err.code == ERR_VALIDATION);
        CHECK(err.msg[0] != '\0');
    }
    if (size >= sizeof rule) {
        return 0;
    }
    memcpy(rule, data, size);
    rule[size] = '\0';
    buf_init(&b, 4096);
    tzif_build(&b, &(struct tzif){.offsets_s = &none, .type_count = 1, .rule = rule});
    if (zone_new(buf_str(&b), &z, &err) == ERR_OK) {
        check_zone(z);
        zone_free(z);
    }
    buf_deinit(&b);
    return 0;
}
