/*
 * Rpc_schema: proto/corvo/v1/worker.proto as it is in the repository.
 */
#pragma once

#include "base/str.h"

extern const struct str rpc_schema;
