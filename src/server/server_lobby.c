#include "server/server_lobby.h"

#include <stdlib.h>

#include "base/check.h"
#include "json/json_write.h"

enum { ANSWER_BYTES_MAX = 1024, STOP_MS = 500 };

struct server_lobby {
    struct http_server *http;
    const char *node_id;
};

static void write_health(struct json_write *w, const struct server_lobby *l)
{
    json_write_key(w, STR("status"));
    json_write_str(w, STR("degraded"));
    json_write_key(w, STR("role"));
    json_write_str(w, STR("follower"));
    json_write_key(w, STR("node_id"));
    json_write_str(w, str_from_z(l->node_id));
    json_write_key(w, STR("forming"));
    json_write_bool(w, true);
}

static void write_not_ready(struct json_write *w)
{
    json_write_key(w, STR("status"));
    json_write_str(w, STR("not ready"));
    json_write_key(w, STR("reason"));
    json_write_str(w, STR("no leader"));
}

static void write_later(struct json_write *w)
{
    json_write_key(w, STR("error"));
    json_write_str(w, STR("the cluster is still forming"));
    json_write_key(w, STR("code"));
    json_write_str(w, str_from_z(err_wire(ERR_LEADER_UNAVAILABLE)));
}

static void on_request(void *data, struct http_request *req)
{
    const struct server_lobby *l = data;
    bool health = str_eq(req->path_raw, STR("/health"));
    bool ready = str_eq(req->path_raw, STR("/ready")) || str_eq(req->path_raw, STR("/readyz"));
    bool lives = str_eq(req->path_raw, STR("/livez"));
    char room[ANSWER_BYTES_MAX];
    struct buf b;
    buf_init_room(&b, sizeof room, room, sizeof room);
    struct json_write w = json_write_to(&b);
    json_write_object(&w);
    if (health || lives) {
        write_health(&w, l);
    } else if (ready) {
        write_not_ready(&w);
    } else {
        write_later(&w);
    }
    json_write_end(&w);
    const struct http_response response = {.status = health || lives ? 200 : 503,
                                           .content_type = STR("application/json"),
                                           .body = buf_str(&b)};
    http_request_answer(req, &response);
    buf_deinit(&b);
}

enum err_code server_lobby_open(const struct http_server_config *config, const char *node_id,
                                struct server_lobby **out, struct err *err)
{
    struct http_server_config http = *config;
    struct server_lobby *l = calloc(1, sizeof *l);
    CHECK(l != NULL);
    l->node_id = node_id;
    http.threads = 1;
    http.data = l;
    http.on_request = on_request;
    if (http_server_open(&http, &l->http, err) != ERR_OK) {
        free(l);
        return err->code;
    }
    *out = l;
    return ERR_OK;
}

void server_lobby_close(struct server_lobby *l)
{
    if (l == NULL) {
        return;
    }
    http_server_stop(l->http, STOP_MS);
    http_server_free(l->http);
    free(l);
}
