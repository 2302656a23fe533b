/*
 * Where the server listens, and the URL at which others reach it.
 */
#include <stdio.h>

#include "server/server_int.h"
#include "server/settings_address.h"

/* Limit the number of clients, so that their connections cannot use up the file descriptors that
 * the store needs. */
static struct http_limits http_limits(const struct server *s)
{
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    uint64_t left = s->files - SERVER_FILES_OWN;
    limits.connections = left < limits.connections ? (unsigned)left : limits.connections;
    limits.body_timeout_ms = (uint32_t)s->settings.http_read_timeout_ms;
    limits.header_timeout_ms = (uint32_t)s->settings.http_header_timeout_ms;
    limits.write_timeout_ms = (uint32_t)s->settings.http_write_timeout_ms;
    limits.idle_timeout_ms = (uint32_t)s->settings.http_idle_timeout_ms;
    return limits;
}

struct http_server_config
server__http_config(struct server *s, struct http_listen listen[static SERVER_LISTENERS_MAX])
{
    const struct settings *set = &s->settings;
    bool tls = set->tls_cert.len > 0;
    const struct str addresses[SERVER_LISTENERS_MAX] = {set->bind, set->scheduler_bind,
                                                        set->metrics_bind};
    size_t count = 0;
    for (size_t i = 0; i < SERVER_LISTENERS_MAX; i++) {
        if (addresses[i].len > 0) {
            listen[count++] =
                (struct http_listen){.address = server__text(s, addresses[i]), .tls = tls};
        }
    }
    return (struct http_server_config){
        .listen = listen,
        .listen_count = count,
        .threads = (unsigned)set->http_threads,
        .limits = http_limits(s),
        .tls_cert_file = tls ? server__text(s, set->tls_cert) : NULL,
        .tls_key_file = tls ? server__text(s, set->tls_key) : NULL,
    };
}

/* The URL at which other nodes and clients reach the API on that port. */
static const char *url_at(struct server *s, struct str port)
{
    const struct settings *set = &s->settings;
    struct buf url;
    if (set->http_advertise.len > 0) {
        return server__text(s, set->http_advertise);
    }
    buf_init(&url, 1024);
    struct str host =
        set->advertise_host.len > 0 ? set->advertise_host : settings_address_host(set->bind);
    buf_printf(&url, "%s://" STR_FMT ":" STR_FMT, set->tls_cert.len > 0 ? "https" : "http",
               STR_ARG(host), STR_ARG(port));
    const char *text = server__text(s, buf_str(&url));
    buf_deinit(&url);
    return text;
}

const char *server__http_url(struct server *s)
{
    char port[8];
    (void)snprintf(port, sizeof port, "%u", (unsigned)http_server_port(s->http, 0));
    return url_at(s, str_from_z(port));
}

struct str server__given_port(const struct server *s)
{
    struct str port = settings_address_port(s->settings.bind);
    return str_eq(port, STR("0")) ? STR_EMPTY : port;
}

const char *server__expected_url(struct server *s)
{
    struct str port = server__given_port(s);
    return port.len == 0 && s->settings.http_advertise.len == 0 ? "" : url_at(s, port);
}
