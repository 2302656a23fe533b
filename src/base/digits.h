/*
 * Digits: numbers as text where printf would cost more than everything around it.
 */
#pragma once

#include <stdint.h>

enum { DIGITS_MAX = 20 }; /* of the largest number, in either base */

/* Write n at `at`, which has room for DIGITS_MAX, and return where it ends; what is behind that, as
 * far as the room, may change. */
char *digits_put(char *at, uint64_t n);
char *digits_put_hex(char *at, uint64_t n); /* lower case */

/* All eight of them, for which there is room. */
void digits_put_hex_word(char *at, uint32_t n);

/* The last `width` digits of n, with zeros in front. */
char *digits_put_padded(char *at, uint64_t n, unsigned width);
