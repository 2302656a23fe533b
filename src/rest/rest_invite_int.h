/*
 * Rest_invite_int: asking a node that waits for an invitation, shared by both routes that add one.
 */
#pragma once

#include "engine/engine_invite.h"
#include "rest/rest_int.h"

/* Invite the node with this name and address, then call `then` on this thread, with the result in
 * i. i belongs to the call. An invalid name or address is reported in i as well. */
void rest_invite__send(struct rest_call *c, struct engine_invite *i, struct str name,
                       struct str address, void (*then)(struct rest_call *c));
