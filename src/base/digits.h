/*
 * Digits: formats numbers where printf would be too slow.
 */
#pragma once

#include <stdint.h>

enum { DIGITS_MAX = 20 }; /* maximum length of a number, decimal or hex */

/* Write n at `at`, which has room for DIGITS_MAX bytes. Returns the end. May overwrite the rest of
 * the room. */
char *digits_put(char *at, uint64_t n);
char *digits_put_hex(char *at, uint64_t n); /* lower case */

/* Write all eight digits. */
void digits_put_hex_word(char *at, uint32_t n);

/* Write the last `width` digits of n, padded with zeros. */
char *digits_put_padded(char *at, uint64_t n, unsigned width);
