#include "base/crc32c.h"

#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static uint32_t update_hardware(uint32_t crc, const uint8_t *p,
                                                                  size_t n)
{
    uint64_t wide = crc;
    for (; n >= 8; n -= 8, p += 8) {
        uint64_t word;
        memcpy(&word, p, sizeof word);
        wide = _mm_crc32_u64(wide, word);
    }
    crc = (uint32_t)wide;
    for (; n > 0; n--, p++) {
        crc = _mm_crc32_u8(crc, *p);
    }
    return crc;
}

static int has_hardware(void)
{
    return __builtin_cpu_supports("sse4.2");
}

#elif defined(__aarch64__)
#include <arm_acle.h>
#include <sys/auxv.h>

__attribute__((target("+crc"))) static uint32_t update_hardware(uint32_t crc, const uint8_t *p,
                                                                size_t n)
{
    for (; n >= 8; n -= 8, p += 8) {
        uint64_t word;
        memcpy(&word, p, sizeof word);
        crc = __crc32cd(crc, word);
    }
    for (; n > 0; n--, p++) {
        crc = __crc32cb(crc, *p);
    }
    return crc;
}

static int has_hardware(void)
{
    return (getauxval(AT_HWCAP) & (1UL << 7)) != 0; /* HWCAP_CRC32 */
}

#else

static uint32_t update_hardware(uint32_t crc, const uint8_t *p, size_t n)
{
    (void)p;
    (void)n;
    return crc;
}

static int has_hardware(void)
{
    return 0;
}

#endif

uint32_t crc32c_update_software(uint32_t crc, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    crc = ~crc;
    for (; n > 0; n--, p++) {
        crc ^= *p;
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc >> 1) ^ (0x82f63b78U & (0U - (crc & 1U)));
        }
    }
    return ~crc;
}

uint32_t crc32c_update(uint32_t crc, const void *bytes, size_t n)
{
    return has_hardware() ? ~update_hardware(~crc, bytes, n)
                          : crc32c_update_software(crc, bytes, n);
}
