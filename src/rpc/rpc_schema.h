/*
 * Rpc_schema: the text of proto/corvo/v1/worker.proto, embedded in the binary.
 */
#pragma once

#include "base/str.h"

extern const struct str rpc_schema;
