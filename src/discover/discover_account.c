/*
 * The service account of this pod: files that Kubernetes puts into it.
 */
#include <stdio.h>

#include "base/buf.h"
#include "discover/discover_int.h"
#include "os/os_file.h"

#define ACCOUNT_DIR "/var/run/secrets/kubernetes.io/serviceaccount"

void discover_account__file(const struct discover *d, const char *name,
                            char out[static DISCOVER_PATH_BYTES])
{
    struct str dir = d->config.account_dir.len > 0 ? d->config.account_dir : STR(ACCOUNT_DIR);
    (void)snprintf(out, DISCOVER_PATH_BYTES, STR_FMT "/%s", STR_ARG(dir), name);
}

void discover_account__namespace(const struct discover *d, char out[static DISCOVER_NAME_BYTES])
{
    char path[DISCOVER_PATH_BYTES];
    struct buf text;
    struct err ignored;
    struct str ns = d->config.ns;
    buf_init(&text, DISCOVER_NAME_BYTES - 1);
    discover_account__file(d, "namespace", path);
    if (ns.len == 0 && os_file_read(path, &text, &ignored) == ERR_OK) {
        ns = str_trim(buf_str(&text));
    }
    if (ns.len == 0) {
        ns = d->config.pod_ns.len > 0 ? d->config.pod_ns : STR("default");
    }
    (void)snprintf(out, DISCOVER_NAME_BYTES, STR_FMT, STR_ARG(ns));
    buf_deinit(&text);
}
