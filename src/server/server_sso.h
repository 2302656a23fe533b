/*
 * Server_sso: sets up single sign-on from the settings of the server.
 */
#pragma once

#include "auth/auth_table.h"
#include "base/err.h"
#include "os/os_networks.h"
#include "server/settings.h"

/* What is in force while the cluster has stored nothing else, and whose headers are believed.
 * ERR_VALIDATION names the setting. */
ATTR_NODISCARD enum err_code server_sso_set(const struct settings *set, struct auth_table *auth,
                                            struct os_networks *proxies, struct err *err);
