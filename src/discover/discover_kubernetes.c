/*
 * Kubernetes: the running pods with the label app=<service>, from the API server (scheduler.md
 * 14.3).
 *
 * The pod's service account authenticates the requests: its token is read before each request,
 * because it is replaced from time to time, and the API server is verified only with its CA
 * certificate. A pod that has an address counts whether it is ready or not: a node that begins a
 * cluster is not ready yet.
 *
 * This pod is annotated with its own addresses, if the account has the permission.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/check.h"
#include "discover/discover_int.h"
#include "json/json_scan.h"
#include "json/json_write.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "os/os_file.h"
#include "outgoing/outgoing_wait.h"

enum {
    TOKEN_BYTES_MAX = 16 << 10,
    ANSWER_BYTES_MAX = 4 << 20,
    LINE_BYTES = TOKEN_BYTES_MAX + 64,
    URL_BYTES = 1024,
    BODY_BYTES_MAX = 4096,
    WAIT_MS = 5000,
};

struct kubernetes {
    char base[URL_BYTES]; /* URL of the API server, with the namespace's path */
    char ca[DISCOVER_PATH_BYTES];
    char token_file[DISCOVER_PATH_BYTES];
    char authorization[LINE_BYTES];
    bool annotated;
};

/* Requests */

static enum err_code read_token(struct kubernetes *k, struct err *err)
{
    struct buf text;
    buf_init(&text, TOKEN_BYTES_MAX);
    enum err_code code = os_file_read(k->token_file, &text, err);
    struct str token = str_trim(buf_str(&text));
    if (code == ERR_OK && (token.len == 0 || str_has_control(token))) {
        code = err_set(err, ERR_VALIDATION, "%s has no token", k->token_file);
    }
    if (code == ERR_OK) {
        (void)snprintf(k->authorization, sizeof k->authorization, "Authorization: Bearer " STR_FMT,
                       STR_ARG(token));
    }
    buf_deinit(&text);
    return code;
}

/* Send one request; ERR_OK only for status 200, whose body is then appended to answer. */
static enum err_code request(struct kubernetes *k, const char *method, const char *path,
                             struct str body, struct buf *answer, struct err *err)
{
    char url[2 * URL_BYTES];
    if (read_token(k, err) != ERR_OK) {
        return err->code;
    }
    (void)snprintf(url, sizeof url, "%s/%s", k->base, path);
    const char *headers[] = {k->authorization, "Accept: application/json",
                             body.len > 0 ? "Content-Type: application/merge-patch+json" : NULL,
                             NULL};
    struct outgoing_wait_call call = {.method = method,
                                      .url = url,
                                      .headers = headers,
                                      .body = body,
                                      .ca_file = k->ca,
                                      .timeout_ms = WAIT_MS,
                                      .limit_bytes = ANSWER_BYTES_MAX};
    struct outgoing_wait *w = outgoing_wait_new();
    bool ran = outgoing_wait_run(w, &call, -1);
    enum err_code code = ERR_OK;
    if (!ran || call.err.code != ERR_OK) {
        code = err_set(err, ERR_IO, "API server: %s", call.err.msg);
    } else if (call.status != 200) {
        code = err_set(err, ERR_IO, "API server: %s %s returned %d", method, path, call.status);
    } else {
        buf_add_str(answer, buf_str(&call.answer));
    }
    outgoing_wait_clear(&call);
    outgoing_wait_free(w);
    return code;
}

/* Reading pods */

/* The string at a path of members, without its quotes; empty if there is none. Names, phases and
 * addresses have no characters that JSON escapes. */
static struct str text_at(struct str object, const char *const path[], size_t depth)
{
    struct json_value v = {.text = object};
    for (size_t i = 0; i < depth; i++) {
        if (!json_scan_member(v.text, str_from_z(path[i]), &v)) {
            return STR_EMPTY;
        }
    }
    return v.type == JSON_TYPE_STRING ? str_from(v.text.ptr + 1, v.text.len - 2) : STR_EMPTY;
}

#define TEXT_AT(object, ...)                                                                       \
    text_at((object), (const char *const[]){__VA_ARGS__},                                          \
            COUNT_OF(((const char *const[]){__VA_ARGS__})))

/* Call fn with each element of the array that is the member of the object. */
static void each(struct str object, const char *member, void (*fn)(void *data, struct str element),
                 void *data)
{
    struct json_value v;
    if (!json_scan_member(object, str_from_z(member), &v) || v.type != JSON_TYPE_ARRAY) {
        return;
    }
    struct json_scan s = json_scan_from(v.text);
    bool sound = json_scan_enter_array(&s);
    while (sound && json_scan_next_element(&s) && json_scan_value(&s, &v)) {
        fn(data, v.text);
    }
}

static void note_port(void *data, struct str port)
{
    uint16_t *found = data;
    struct json_value v;
    int64_t n;
    if (str_eq(TEXT_AT(port, "name"), STR("http")) &&
        json_scan_member(port, STR("containerPort"), &v) && v.type == JSON_TYPE_NUMBER &&
        json_value_i64(v, &n) && n > 0 && n <= UINT16_MAX) {
        *found = (uint16_t)n;
    }
}

static void note_container(void *data, struct str container)
{
    each(container, "ports", note_port, data);
}

struct pods {
    struct discover *d;
    struct discover_list *out;
    char ns[DISCOVER_NAME_BYTES];
};

static void note_pod(void *data, struct str pod)
{
    struct pods *p = data;
    const struct discover_config *c = &p->d->config;
    struct json_value spec;
    uint16_t port = 0; /* of the API, if the pod specifies one */
    char host[DISCOVER_NAME_BYTES];
    struct str name = TEXT_AT(pod, "metadata", "name");
    struct str ip = TEXT_AT(pod, "status", "podIP");
    struct str subdomain = TEXT_AT(pod, "spec", "subdomain");
    if (!str_eq(TEXT_AT(pod, "status", "phase"), STR("Running")) || ip.len == 0) {
        return;
    }
    if (json_scan_member(pod, STR("spec"), &spec)) {
        each(spec.text, "containers", note_container, &port);
    }
    /* The name of a StatefulSet's pod stays the same when its address changes. */
    int n = subdomain.len == 0
                ? snprintf(host, sizeof host, STR_FMT, STR_ARG(ip))
                : snprintf(host, sizeof host, STR_FMT "." STR_FMT ".%.63s.svc." STR_FMT,
                           STR_ARG(name), STR_ARG(subdomain), p->ns,
                           STR_ARG(c->domain.len > 0 ? c->domain : STR("cluster.local")));
    bool own =
        (c->pod.len > 0 && str_eq(name, c->pod)) || (c->pod_ip.len > 0 && str_eq(ip, c->pod_ip));
    if (n > 0 && (size_t)n < sizeof host) {
        discover__add_host(p->d, p->out, str_from_z(host), port, own ? c->node_id : name);
    }
}

static enum err_code find(struct discover *d, struct discover_list *out, struct err *err)
{
    struct kubernetes *k = d->state;
    struct pods pods = {.d = d, .out = out};
    char path[URL_BYTES];
    struct buf answer;
    struct json_value v;
    discover_account__namespace(d, pods.ns);
    (void)snprintf(path, sizeof path, "pods?labelSelector=app%%3D" STR_FMT,
                   STR_ARG(d->config.name));
    buf_init(&answer, ANSWER_BYTES_MAX);
    enum err_code code = request(k, "GET", path, STR_EMPTY, &answer, err);
    if (code == ERR_OK && (json_scan_first(buf_str(&answer), &v, err) != ERR_OK ||
                           !json_scan_member(v.text, STR("items"), &v))) {
        code = err_set(err, ERR_IO, "API server: the list of pods cannot be read");
    }
    if (code == ERR_OK) {
        each(buf_str(&answer), "items", note_pod, &pods);
    }
    buf_deinit(&answer);
    return code;
}

/* Annotations */

static void write_annotation(struct json_write *w, const char *key, struct str value, bool remove)
{
    json_write_key(w, str_from_z(key));
    if (remove) {
        json_write_null(w);
    } else {
        json_write_str(w, value);
    }
}

static bool annotate(struct discover *d, bool remove, struct err *err)
{
    struct kubernetes *k = d->state;
    const struct discover_config *c = &d->config;
    char path[URL_BYTES];
    char port[8];
    char now[24];
    struct str host;
    uint16_t number = 0;
    struct buf body;
    struct buf answer;
    if (!discover__split(c->peer_addr, &host, &number)) {
        host = c->peer_addr; /* as configured */
    }
    (void)snprintf(port, sizeof port, "%u", (unsigned)number);
    (void)snprintf(now, sizeof now, "%lld", os_clock_wall().ns / NS_PER_S);
    (void)snprintf(path, sizeof path, "pods/" STR_FMT, STR_ARG(c->pod));
    buf_init(&body, BODY_BYTES_MAX);
    buf_init(&answer, ANSWER_BYTES_MAX);
    struct json_write w = json_write_to(&body);
    json_write_object(&w);
    json_write_key(&w, STR("metadata"));
    json_write_object(&w);
    json_write_key(&w, STR("annotations"));
    json_write_object(&w);
    write_annotation(&w, "scheduled-db/node-id", c->node_id, remove);
    write_annotation(&w, "scheduled-db/address", host, remove);
    write_annotation(&w, "scheduled-db/port", str_from_z(port), remove);
    write_annotation(&w, "scheduled-db/registered-at", str_from_z(now), remove);
    json_write_end(&w);
    json_write_end(&w);
    json_write_end(&w);
    bool done = request(k, "PATCH", path, buf_str(&body), &answer, err) == ERR_OK;
    buf_deinit(&answer);
    buf_deinit(&body);
    return done;
}

/* Opening and closing */

static bool is_name(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '-' || c == '.' || c == '_')) {
            return false;
        }
    }
    return s.len > 0 && s.len < DISCOVER_NAME_BYTES;
}

/* The URL of the API server: as configured, else from the pod's environment. */
static enum err_code find_server(const struct discover *d, char *out, size_t size, struct err *err)
{
    struct str host = d->config.kubernetes_host;
    struct str port = d->config.kubernetes_port;
    struct str given = d->config.kubernetes_api;
    if (given.len > 0) {
        if (!str_starts_with(given, STR("https://"))) { /* never send the token in clear text */
            return err_set(err, ERR_VALIDATION, "kubernetes-api: expected a URL with https");
        }
        (void)snprintf(out, size, STR_FMT, STR_ARG(given));
        return ERR_OK;
    }
    if (host.len == 0) {
        return err_set(err, ERR_VALIDATION,
                       "KUBERNETES_SERVICE_HOST is not set: run in a pod, or set "
                       "--kubernetes-api");
    }
    bool v6 = memchr(host.ptr, ':', host.len) != NULL;
    (void)snprintf(out, size, "https://%s" STR_FMT "%s:" STR_FMT, v6 ? "[" : "", STR_ARG(host),
                   v6 ? "]" : "", STR_ARG(port.len > 0 ? port : STR("443")));
    return ERR_OK;
}

static enum err_code open_kubernetes(struct discover *d, struct err *err)
{
    char server[URL_BYTES / 2];
    char ns[DISCOVER_NAME_BYTES];
    struct err refused;
    if (discover_kubernetes_dns__open(d, err) != ERR_OK ||
        find_server(d, server, sizeof server, err) != ERR_OK) {
        return err->code;
    }
    discover_account__namespace(d, ns);
    if (!is_name(str_from_z(ns)) || !is_name(d->config.name)) {
        return err_set(err, ERR_VALIDATION,
                       "kubernetes-namespace and kubernetes-service-name must be names");
    }
    struct kubernetes *k = calloc(1, sizeof *k);
    CHECK(k != NULL);
    (void)snprintf(k->base, sizeof k->base, "%s/api/v1/namespaces/%s", server, ns);
    discover_account__file(d, "ca.crt", k->ca);
    discover_account__file(d, "token", k->token_file);
    d->state = k;
    if (is_name(d->config.pod)) {
        k->annotated = annotate(d, false, &refused);
        if (!k->annotated) {
            log_info("pod not annotated", LOG_STR("pod", d->config.pod),
                     LOG_Z("reason", refused.msg));
        }
    }
    return ERR_OK;
}

static void close_kubernetes(struct discover *d)
{
    struct kubernetes *k = d->state;
    struct err err;
    if (k->annotated && !annotate(d, true, &err)) {
        log_info("annotations of the pod not removed", LOG_Z("reason", err.msg));
    }
    free(k);
}

const struct discover_strategy discover_kubernetes__strategy = {.name = "kubernetes",
                                                                .may_remove = true,
                                                                .open = open_kubernetes,
                                                                .find = find,
                                                                .close = close_kubernetes};
