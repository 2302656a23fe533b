/*
 * Crc32c: the checksum of everything we write to disk (Castagnoli, as in iSCSI and ext4).
 *
 * Uses the processor's instruction where there is one: below 0.03 µs per 300 bytes, where a table
 * takes 0.7 µs.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Add n bytes to a checksum; crc is 0 at the start. */
uint32_t crc32c_update(uint32_t crc, const void *bytes, size_t n);

/* The same in software, slowly: for processors without the instruction, and for tests. */
uint32_t crc32c_update_software(uint32_t crc, const void *bytes, size_t n);
