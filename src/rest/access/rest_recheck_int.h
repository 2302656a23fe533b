/*
 * Rest_recheck: whether the credential of a request that is still open still counts (http-api.md
 * 3.1). A stream asks before it sends, and a fetch that has waited before it is given a job.
 */
#pragma once

#include "rest/rest_int.h"

/* Implements front_client.recheck, with the call as data. ERR_UNAUTHORIZED or ERR_FORBIDDEN if the
 * credential is no longer valid or its rights have changed. */
ATTR_NODISCARD enum err_code rest_recheck__call(void *call, struct err *err);
