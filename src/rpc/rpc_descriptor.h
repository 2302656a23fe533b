/*
 * Rpc_descriptor: Protocol Buffers descriptors of the services, for server reflection. They are
 * generated from the tables of messages and methods.
 */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/str.h"

/* Append the FileDescriptorProto of the file with this name; false if there is none. */
ATTR_NODISCARD bool rpc_descriptor_file(struct str name, struct buf *out);

/* Return the name of the file that declares the symbol, given by its full name: a service, method,
 * message, field, enum or enum value. Empty if there is none. */
struct str rpc_descriptor_file_of(struct str symbol);
