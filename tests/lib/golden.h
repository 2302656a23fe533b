/*
 * Golden: bytes that must keep decoding, in tests/golden/.
 *
 * A file holds what some released version has written. Tests decode it and compare with the value
 * it was made from, for ever; a format that changes gets a new version number and a new file, and
 * the old file stays.
 *
 * To add one: write the test that calls golden_read with the name of a file that is not there, and
 * run it once with CORVO_WRITE_GOLDEN=1 in the environment. Files that exist are never written.
 */
#pragma once

#include "base/buf.h"
#include "base/str.h"

/* The bytes of the file; out is made here and the caller's afterwards. A missing file fails the
 * test, or is written with the bytes that the present version gives. */
void golden_read(const char *name, struct str present, struct buf *out);

/* The same, for a file of the present version: it has the very bytes. */
void golden_read_present(const char *name, const struct buf *present, struct buf *out);
