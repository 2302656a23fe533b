/*
 * Crc32c: the checksum of all data written to disk (Castagnoli, as in iSCSI and ext4).
 *
 * Uses the processor's instruction if there is one: 300 bytes take less than 0.03 µs, and 0.7 µs
 * with a table.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Add n bytes to a checksum; crc is 0 at the start. */
uint32_t crc32c_update(uint32_t crc, const void *bytes, size_t n);

/* The same in software, slowly: for processors without the instruction, and for tests. */
uint32_t crc32c_update_software(uint32_t crc, const void *bytes, size_t n);
