/*
 * Server_int: the parts of a running server, shared by the files that open and close them. server.c
 * has the start, the stop and the loop in between; server_listen.c where the server listens and how
 * it is reached; server_engine.c the engine and its cluster; server_services.c everything that uses
 * the engine.
 */
#pragma once

#include <stdint.h>

#include <uv.h>

#include "audit/audit.h"
#include "auth/auth_table.h"
#include "base/arena.h"
#include "base/attr.h"
#include "base/budget.h"
#include "base/err.h"
#include "binary/binary.h"
#include "engine/engine.h"
#include "front/front_forward.h"
#include "http/http_server.h"
#include "os/os_networks.h"
#include "outgoing/outgoing_guard.h"
#include "push/push.h"
#include "rest/rest.h"
#include "rpc/rpc.h"
#include "server/server_discover.h"
#include "server/server_lobby.h"
#include "server/server_signals.h"
#include "server/settings.h"
#include "sso/sso.h"
#include "svc/svc_bulk.h"
#include "trace/trace.h"
#include "view/view.h"
#include "webhook/webhook.h"

enum {
    SERVER_SETTINGS_BYTES_MAX = 4 << 20,
    SERVER_USER_AGENT_BYTES = 64,
    SERVER_LISTENERS_MAX = 3,
    SERVER_FILES_OWN = 640, /* reserved for the server: the store's tables, the log, the view,
                               webhooks */
};

/* Used if the system does not report the size of its memory. */
#define SERVER_MEMORY_DEFAULT ((uint64_t)512 << 20)

struct server {
    struct settings settings;
    struct arena *arena;
    uint64_t files;       /* limit of open files */
    int dir_lock;         /* of the data directory; -1: not taken */
    struct budget budget; /* for the memory of all requests */
    struct auth_table *auth;
    struct audit *audit;
    struct sso *sso;
    struct trace *trace;        /* NULL: tracing is off */
    struct os_networks proxies; /* trusted proxies */
    struct discover *discover;  /* NULL: discovery is not configured */
    struct server_discover *watch;
    struct server_lobby *lobby; /* NULL unless the cluster is forming */
    struct engine *engine;
    struct svc_bulk *bulk;
    struct view *view;
    struct outgoing_guard *webhook_guard;
    struct webhook_sender *webhooks;
    struct push_sender *push;
    char user_agent[SERVER_USER_AGENT_BYTES];
    struct front_shared front; /* forwards requests to the other nodes */
    struct rpc *rpc;
    struct binary *binary;
    struct rest *rest;
    struct http_server *http;
    struct server_signals *signals;
    uv_loop_t loop;  /* of the main thread; runs once everything is open */
    uv_async_t wake; /* sent when a signal has arrived */
    uv_timer_t trim;
    uint64_t trimmed_bytes; /* resident memory after the last trim because of growth */
    int64_t trim_after_ns;  /* no check for growth before this time */
};

/* A setting as a zero-terminated text, which lives as long as the server. */
const char *server__text(struct server *s, struct str text);

/* The same; NULL if it is empty. */
const char *server__text_or_null(struct server *s, struct str text);

/* The addresses to listen on, and the TLS files and limits. */
struct http_server_config
server__http_config(struct server *s, struct http_listen listen[static SERVER_LISTENERS_MAX]);

/* The port of the bind setting; empty if the system is to choose it. */
struct str server__given_port(const struct server *s);

/* The URL at which other nodes and clients reach the API. */
const char *server__http_url(struct server *s);

/* The same before the server listens; empty if the port is not known yet. */
const char *server__expected_url(struct server *s);

ATTR_NODISCARD enum err_code server__open_engine(struct server *s, struct err *err);
ATTR_NODISCARD enum err_code server__open_view(struct server *s, struct err *err);
ATTR_NODISCARD enum err_code server__open_webhooks(struct server *s, struct err *err);
ATTR_NODISCARD enum err_code server__open_http(struct server *s, struct err *err);
