/*
 * Rpc_names: fields in errors are named as in the schema. The checks of svc and of commands know
 * the names of the HTTP API.
 */
#pragma once

#include "base/err.h"

/* Rename the field that the message begins with: in a list called "items", "acks[2].result: …"
 * becomes "items[2].result_json: …". list: the message's list of jobs or acks; NULL: it has none.
 */
void rpc_names__of_message(const char *list, struct err *err);
