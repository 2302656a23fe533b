/*
 * Golden: files in tests/golden/ that every later version must be able to decode.
 *
 * A file contains bytes that a released version has written. Tests decode them and compare the
 * result with the original value. A format that changes gets a new version number and a new file.
 * The old file stays.
 *
 * To add a file: write a test that calls golden_read with a name that does not exist yet, and run
 * it once with CORVO_WRITE_GOLDEN=1 in the environment. Existing files are never overwritten.
 */
#pragma once

#include "base/buf.h"
#include "base/str.h"

/* Read the file into out, which is initialized here and belongs to the caller. A missing file fails
 * the test, or is written with the bytes of the present version. */
void golden_read(const char *name, struct str present, struct buf *out);

/* The same for a file of the present version: it must have exactly these bytes. */
void golden_read_present(const char *name, const struct buf *present, struct buf *out);
