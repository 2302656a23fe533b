/*
 * Rest_invite_int: asking a node that waits for an invitation, shared by both routes that add one.
 */
#pragma once

#include "engine/engine_invite.h"
#include "rest/rest_int.h"

/* Invite the node with this name at this address; then go on here, with the result in i, which is
 * the call's. What cannot be the name or the address of a member is an error of it, too. */
void rest_invite__send(struct rest_call *c, struct engine_invite *i, struct str name,
                       struct str address, void (*then)(struct rest_call *c));
