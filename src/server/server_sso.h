/*
 * Server_sso: sets up single sign-on from the settings of the server.
 */
#pragma once

#include "auth/auth_table.h"
#include "base/err.h"
#include "os/os_networks.h"
#include "server/settings.h"

/* Set the single sign-on settings that apply until the cluster stores its own, and the proxies
 * whose headers are trusted. ERR_VALIDATION names the setting. */
ATTR_NODISCARD enum err_code server_sso_set(const struct settings *set, struct auth_table *auth,
                                            struct os_networks *proxies, struct err *err);
