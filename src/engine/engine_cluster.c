/*
 * Membership: the leader makes Raft's configuration match the member records.
 */
#include "engine/engine_cluster.h"

#include <string.h>

#include "base/check.h"
#include "cluster/identity.h"
#include "cluster/peers.h"
#include "engine/engine_int.h"
#include "fsm/machine_nodes.h"
#include "log/log.h"
#include "os/os_clock.h"
#include "store/store_access.h"

enum {
    KEEP_MS = 100,
    TELL_MS = 1000,
    CATCH_UP_ENTRIES = 2000, /* a member that lags by fewer may become a voter */
};

/* --- helpers --- */

void engine_cluster__copy(char *out, size_t size, struct str s)
{
    size_t len = s.len < size ? s.len : size - 1;
    memcpy(out, s.len == 0 ? "" : s.ptr, len);
    out[len] = '\0';
}

const struct node_member *engine_cluster__member(const struct engine_cluster *c, uint64_t id)
{
    for (size_t i = 0; i < c->member_count; i++) {
        if (c->members[i].id == id) {
            return &c->members[i];
        }
    }
    return NULL;
}

void engine_cluster__look(struct engine *e)
{
    e->cluster.member_count =
        node_members(e->node, e->cluster.members, COUNT_OF(e->cluster.members));
}

/* --- the engine's own commands --- */

/* Drop a report that cannot be recorded, so that it is not tried again. The member reports again
 * when it reconnects. */
static void forget_met(struct engine_cluster *c, uint64_t id)
{
    for (size_t i = 0; i < COUNT_OF(c->met); i++) {
        c->met[i].node.id = c->met[i].node.id == id ? 0 : c->met[i].node.id;
    }
}

static void own_done(struct engine_op *op)
{
    struct engine *e = op->data;
    e->cluster.busy = false;
    struct arena *a = arena_new(SIZE_MAX);
    struct result r;
    if (op->err.code == ERR_OK && result_decode(buf_str(&op->result), a, &r) && r.code != ERR_OK) {
        log_warn("member not recorded", LOG_STR("error", r.message));
        forget_met(&e->cluster, e->cluster.met_put);
    }
    e->cluster.met_put = 0;
    arena_free(a);
}

static void submit(struct engine *e, const struct command *command)
{
    e->cluster.busy = true;
    engine_pipe__submit_own(e, &e->cluster.op, command);
}

static void put_record(struct engine *e, const struct store_node *node)
{
    struct command c = {.type = COMMAND_NODE_PUT, .node_put.node = *node};
    struct err err;
    if (command_check(&c, &e->config.limits, &err) != ERR_OK) {
        log_warn("member not recorded", LOG_STR("node_id", node->name), LOG_Z("error", err.msg));
        return;
    }
    submit(e, &c);
}

static void put_state(struct engine *e, uint64_t id, enum store_node_state state)
{
    struct command c = {.type = COMMAND_NODE_STATE, .node_state = {.id = id, .state = state}};
    submit(e, &c);
}

/* --- records of the members --- */

static bool is_news(const struct store_node *known, const struct raftnet_shake_node *said)
{
    return !str_eq(known->name, said->name) || !str_eq(known->address, said->address) ||
           (said->http_url.len > 0 && !str_eq(known->http_url, said->http_url)) ||
           !str_eq(known->version, said->version);
}

static struct store_node record_of(const struct raftnet_shake_node *said, bool voter)
{
    return (struct store_node){.id = said->id,
                               .voter = voter,
                               .name = said->name,
                               .address = said->address,
                               .http_url = said->http_url,
                               .version = said->version};
}

/* A node without a member record writes the marker of its version's first start itself. For the
 * others, the marker is written together with the record (apply_node.c). */
static void mark_version(struct engine *e)
{
    const struct str version = e->cluster.self.version;
    char room[2 + LIMIT_WORKER_VERSION_BYTES] = {STORE_ACCESS_MARKER, STORE_MARKER_NODE};
    struct str key = str_from(room, 2 + version.len);
    struct buf body;
    if (e->cluster.version_marked || version.len == 0 || key.len > sizeof room) {
        return;
    }
    e->cluster.version_marked = true;
    memcpy(room + 2, version.ptr, version.len);
    buf_init(&body, SIZE_MAX);
    if (!store_get(machine_store(e->machine), STORE_KIND_ACCESS, key, &body)) {
        store_access_encode_marker(&(struct store_marker){.text = version}, &body);
        struct command_access_item item = {
            .kind = room[0], .name = str_from_offset(key, 1), .body = buf_str(&body)};
        submit(e, &(struct command){.type = COMMAND_ACCESS, .access = {&item, 1}});
    }
    buf_deinit(&body);
}

/* Record this node if its record is missing or outdated. Returns true if a command was submitted. A
 * group of one that other nodes cannot connect to needs no record. */
static bool keep_self(struct engine *e)
{
    if (e->config.cluster.bind == NULL && machine_nodes_count(e->machine) == 0) {
        mark_version(e);
        return e->cluster.busy;
    }
    struct peers *peers = node_members_peers(e->node);
    const struct raftnet_shake_node *self = peers == NULL ? &e->cluster.self : peers_self(peers);
    const struct store_node *known = machine_nodes_find(e->machine, self->id);
    if (known != NULL && !is_news(known, self)) {
        return false;
    }
    struct store_node rec = record_of(self, known == NULL ? true : known->voter);
    put_record(e, &rec);
    return e->cluster.busy;
}

/* Update the record of another member from its report. The report is kept until the command has
 * been submitted; otherwise a record based on an older report would stay wrong. */
static bool keep_met(struct engine *e)
{
    struct engine_cluster *c = &e->cluster;
    for (size_t i = 0; i < COUNT_OF(c->met); i++) {
        const struct engine_met *m = &c->met[i];
        const struct store_node *known =
            m->node.id == 0 ? NULL : machine_nodes_find(e->machine, m->node.id);
        if (known == NULL || known->state == STORE_NODE_REMOVED || !is_news(known, &m->node)) {
            continue;
        }
        struct store_node rec = record_of(&m->node, known->voter);
        rec.http_url = rec.http_url.len > 0 ? rec.http_url : known->http_url;
        put_record(e, &rec);
        if (!c->busy) {
            forget_met(c, rec.id);
            continue;
        }
        c->met_put = rec.id;
        return true;
    }
    return false;
}

static void met_hook(void *data, const struct raftnet_shake_node *node)
{
    struct engine *e = data;
    struct engine_cluster *c = &e->cluster;
    struct engine_met *m = &c->met[c->met_next];
    for (size_t i = 0; i < COUNT_OF(c->met); i++) {
        m = c->met[i].node.id == node->id ? &c->met[i] : m;
    }
    if (m == &c->met[c->met_next]) {
        c->met_next = (c->met_next + 1) % COUNT_OF(c->met);
    }
    m->node = *node;
    engine_cluster__copy(m->name, sizeof m->name, node->name);
    engine_cluster__copy(m->address, sizeof m->address, node->address);
    engine_cluster__copy(m->http_url, sizeof m->http_url, node->http_url);
    engine_cluster__copy(m->version, sizeof m->version, node->version);
    m->node.name = str_from_z(m->name);
    m->node.address = str_from_z(m->address);
    m->node.http_url = str_from_z(m->http_url);
    m->node.version = str_from_z(m->version);
}

/* --- Raft's configuration --- */

/* Make one change that brings Raft's configuration closer to the record. Returns false if they
 * match. */
static bool keep_member(struct engine *e, const struct store_node *n)
{
    const struct node_member *m = engine_cluster__member(&e->cluster, n->id);
    char address[STORE_NODE_ADDRESS_BYTES_MAX + 1];
    struct err err;
    enum err_code code = ERR_OK;
    bool stays = n->state == STORE_NODE_MEMBER;
    engine_cluster__copy(address, sizeof address, n->address);
    if (m == NULL && stays) {
        log_info("member added", LOG_STR("node_id", n->name), LOG_Z("address", address));
        code = node_members_add(e->node, n->id, address, &err);
    } else if (m == NULL && n->state == STORE_NODE_LEAVING) {
        log_info("member removed", LOG_STR("node_id", n->name));
        put_state(e, n->id, STORE_NODE_REMOVED);
    } else if (m != NULL && !stays && m->self) {
        if (!e->handing_over) {
            code = node_transfer(e->node, 0, engine_cluster__moved, e, &err);
        }
    } else if (m != NULL && !stays) {
        code = node_members_remove(e->node, n->id, &err);
    } else if (m != NULL && m->role == NODE_SPARE) {
        code = node_members_assign(e->node, n->id, NODE_STANDBY, &err);
    } else if (m != NULL && m->role == NODE_STANDBY && n->voter &&
               m->match_index + CATCH_UP_ENTRIES > e->cluster.last_index && m->match_index > 0) {
        log_info("member becomes a voter", LOG_STR("node_id", n->name));
        code = node_members_assign(e->node, n->id, NODE_VOTER, &err);
    } else {
        return false;
    }
    if (code != ERR_OK) {
        log_warn("membership change failed", LOG_STR("node_id", n->name), LOG_Z("error", err.msg));
    }
    return true;
}

void engine_cluster__moved(void *data, bool moved)
{
    (void)data;
    (void)moved; /* the next check sees the result */
}

static void keep(struct engine *e)
{
    struct node_status status;
    if (!e->leads || e->stopping || e->cluster.busy || e->node == NULL ||
        !node_members_may_change(e->node)) {
        return;
    }
    if (keep_self(e) || keep_met(e)) {
        return;
    }
    engine_cluster__look(e);
    node_status(e->node, &status);
    e->cluster.last_index = status.last_index;
    for (uint32_t i = 0; i < machine_nodes_count(e->machine); i++) {
        if (keep_member(e, machine_nodes_at(e->machine, i))) {
            return;
        }
    }
}

static void note_leader(struct engine *e);

static void lost_hook(void *data, uint64_t id)
{
    struct engine *e = data;
    if (e->node != NULL) {
        node_members_lost(e->node, id);
    }
}

static void removed_hook(void *data, const char *by)
{
    struct engine *e = data;
    (void)by;
    if (!e->cluster.removed) {
        e->cluster.removed = true;
        log_error("this node was removed from the cluster",
                  LOG_Z("remedy", "stop it; to rejoin, it needs an empty data directory"));
        note_leader(e);
    }
}

/* Detect the removal of this node: its record says that it leaves, and it is no longer in Raft's
 * configuration. */
static void look_at_self(struct engine *e)
{
    const struct store_node *self =
        machine_nodes_find(e->machine, atomic_load(&e->cluster.node_id));
    if (e->leads || e->node == NULL || e->cluster.removed || self == NULL ||
        self->state == STORE_NODE_MEMBER) {
        return;
    }
    engine_cluster__look(e);
    if (e->cluster.member_count > 0 && engine_cluster__member(&e->cluster, self->id) == NULL) {
        removed_hook(e, "our own log");
    }
}

/* Send the members what they must know of this node: they may have been restarted since. */
static void tell_members(struct engine *e)
{
    struct engine_cluster *c = &e->cluster;
    struct peers *peers = node_members_peers(e->node);
    for (size_t i = 0; i < c->member_count; i++) {
        const struct node_member *m = &c->members[i];
        if (!m->self) {
            peers_send_reads(peers, m->id, m->address, COMMAND_ENTRY_NEWEST);
            peers_send_space(peers, m->id, m->address, (uint8_t)e->space.status.level);
        }
    }
}

/* Determine the newest entry version that all members read. */
static void look_at_versions(struct engine *e)
{
    struct engine_cluster *c = &e->cluster;
    uint8_t version = COMMAND_ENTRY_NEWEST;
    for (size_t i = 0; i < c->member_count; i++) {
        const struct node_member *m = &c->members[i];
        version = m->self ? version : engine_reads_least(&c->told, m->id, version);
    }
    if (e->leads && version != c->entry_version && c->entry_version != 0) {
        log_info("version of log entries changed", LOG_U64("version", version));
    }
    c->entry_version = version;
    atomic_store(&c->read_by_all, version);
}

/* Let a member lead that has space for new jobs, if this node has not. */
static void look_for_room(struct engine *e, int64_t now_ms)
{
    struct engine_cluster *c = &e->cluster;
    enum engine_space_level own = e->space.status.level;
    struct err err;
    if (!e->leads || e->stopping || own == ENGINE_SPACE_FINE || now_ms < c->room_ms) {
        return;
    }
    uint64_t id = engine_room_choose(&c->told, c->members, c->member_count, own, now_ms);
    const struct store_node *n = id == 0 ? NULL : machine_nodes_find(e->machine, id);
    if (n == NULL) {
        return;
    }
    c->room_ms = now_ms + ENGINE_ROOM_AGAIN_MS;
    if (node_transfer(e->node, id, engine_cluster__moved, e, &err) == ERR_OK) {
        log_warn("leadership goes to a node with more disk space", LOG_STR("node_id", n->name));
    }
}

/* This runs before keep, which may make a member a voter: the version that all members read must
 * be known. */
static void look_at_members(struct engine *e)
{
    struct engine_cluster *c = &e->cluster;
    int64_t now_ms = os_clock_mono().ns / NS_PER_MS;
    if (e->node == NULL || node_members_peers(e->node) == NULL) {
        return;
    }
    engine_cluster__look(e);
    look_at_versions(e);
    if (now_ms >= c->tell_ms) {
        c->tell_ms = now_ms + TELL_MS;
        tell_members(e);
    }
    look_for_room(e, now_ms);
}

static void keep_cb(uv_timer_t *timer)
{
    struct engine *e = timer->data;
    look_at_members(e);
    keep(e);
    engine_pipe__pump(e); /* there may be no other event that pumps */
    look_at_self(e);
    engine_hash__tell(e);
    engine_history__look(e, engine_leader_lag_ms(e));
}

/* --- leadership --- */

static bool is_same_leader(const struct engine_leader *a, const struct engine_leader *b)
{
    return a->id == b->id && a->self == b->self && a->term == b->term &&
           strcmp(a->name, b->name) == 0 && strcmp(a->address, b->address) == 0 &&
           strcmp(a->http_url, b->http_url) == 0;
}

/* A removed node has no leader, even if it still hears from one for a while. */
static void note_leader(struct engine *e)
{
    struct engine_cluster *c = &e->cluster;
    struct engine_leader now = {.id = c->removed ? 0 : c->leader_id, .self = e->leads};
    const struct store_node *n =
        now.id == 0 || e->machine == NULL ? NULL : machine_nodes_find(e->machine, now.id);
    if (n != NULL) {
        engine_cluster__copy(now.name, sizeof now.name, n->name);
        engine_cluster__copy(now.address, sizeof now.address, n->address);
        engine_cluster__copy(now.http_url, sizeof now.http_url, n->http_url);
    } else if (now.id != 0 && now.id == atomic_load(&c->node_id)) {
        engine_cluster__copy(now.name, sizeof now.name, c->self.name);
        engine_cluster__copy(now.address, sizeof now.address, c->self.address);
        engine_cluster__copy(now.http_url, sizeof now.http_url, c->self.http_url);
    }
    now.term = c->elections;
    (void)pthread_mutex_lock(&c->lock);
    bool changed = !is_same_leader(&now, &c->leader);
    c->leader = now;
    if (changed) {
        (void)pthread_cond_broadcast(&c->leader_known);
    }
    (void)pthread_mutex_unlock(&c->lock);
    if (changed) {
        engine_notifier__leads(e);
    }
}

static void count_change(struct engine_cluster *c, uint64_t from, uint64_t to)
{
    size_t i = 0;
    while (i < c->leader_pairs && (c->leaders[i].from != from || c->leaders[i].to != to)) {
        i++;
    }
    if (i < ENGINE_CLUSTER_CHANGES) {
        c->leader_pairs += i == c->leader_pairs ? 1 : 0;
        c->leaders[i].from = from;
        c->leaders[i].to = to;
        c->leaders[i].count++;
    }
}

void engine_cluster__leader(struct engine *e, uint64_t leader_id)
{
    if (leader_id != 0 && leader_id != e->cluster.led_last) {
        count_change(&e->cluster, e->cluster.led_last, leader_id);
        e->cluster.led_last = leader_id;
    }
    e->cluster.leader_id = leader_id;
    e->cluster.elections += leader_id != 0 ? 1 : 0;
    note_leader(e);
}

void engine_cluster__leads(struct engine *e)
{
    note_leader(e);
}

void engine_cluster__applied(struct engine *e, uint64_t index)
{
    if (machine_nodes_changes(e->machine) != e->cluster.changes) {
        e->cluster.changes = machine_nodes_changes(e->machine);
        note_leader(e);
    }
    if (index != 0) {
        engine_hash__applied(e, index);
    }
}

bool engine_leader(struct engine *e, struct engine_leader *out)
{
    (void)pthread_mutex_lock(&e->cluster.lock);
    *out = e->cluster.leader;
    (void)pthread_mutex_unlock(&e->cluster.lock);
    return out->id != 0;
}

int64_t engine_leader_lag_ms(const struct engine *e)
{
    int64_t had_ns = atomic_load_explicit(&e->cluster.lag.had_ns, memory_order_relaxed);
    if (engine_leads(e)) {
        return 0;
    }
    return had_ns == 0 ? -1 : (os_clock_mono().ns - had_ns) / NS_PER_MS;
}

bool engine_leader_wait(struct engine *e, int64_t timeout_ms)
{
    struct engine_cluster *c = &e->cluster;
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += timeout_ms / 1000;
    until.tv_nsec += timeout_ms % 1000 * NS_PER_MS;
    until.tv_sec += until.tv_nsec / NS_PER_S;
    until.tv_nsec %= NS_PER_S;
    int rc = 0;
    (void)pthread_mutex_lock(&c->lock);
    while (c->leader.id == 0 && rc == 0) {
        rc = pthread_cond_timedwait(&c->leader_known, &c->lock, &until);
    }
    bool known = c->leader.id != 0;
    (void)pthread_mutex_unlock(&c->lock);
    return known;
}

/* --- messages from peers --- */

static const char *address_hook(void *data, uint64_t id)
{
    struct engine *e = data;
    const struct store_node *n = machine_nodes_find(e->machine, id);
    if (n == NULL) {
        return NULL;
    }
    engine_cluster__copy(e->cluster.address, sizeof e->cluster.address, n->address);
    return e->cluster.address;
}

static bool is_removed_hook(void *data, uint64_t id)
{
    struct engine *e = data;
    const struct store_node *n = machine_nodes_find(e->machine, id);
    return n != NULL && n->state == STORE_NODE_REMOVED;
}

static void hashed_hook(void *data, uint64_t id, uint64_t index, uint64_t hash)
{
    engine_hash__heard(data, id, index, hash);
}

/* Measures one index at a time: the next one is chosen when this one is applied. */
static void committed_hook(void *data, uint64_t index)
{
    struct engine *e = data;
    struct engine_lag *lag = &e->cluster.lag;
    int64_t now_ns = os_clock_mono().ns;
    uint64_t applied = e->node == NULL ? 0 : node_applied(e->node);
    if (applied >= index) {
        atomic_store_explicit(&lag->had_ns, now_ns, memory_order_relaxed);
        lag->at_ns = 0;
        return;
    }
    if (lag->at_ns != 0 && applied >= lag->commit) {
        atomic_store_explicit(&lag->had_ns, lag->at_ns, memory_order_relaxed);
        lag->at_ns = 0;
    }
    if (lag->at_ns == 0) {
        lag->commit = index;
        lag->at_ns = now_ns;
    }
}

static void reads_hook(void *data, uint64_t id, uint8_t version)
{
    struct engine *e = data;
    engine_reads_heard(&e->cluster.told, id, version);
}

static void space_hook(void *data, uint64_t id, uint8_t level)
{
    struct engine *e = data;
    engine_room_heard(&e->cluster.told, id, level, os_clock_mono().ns / NS_PER_MS);
}

/* --- open and close --- */

enum err_code engine_cluster__identify(struct engine *e, struct err *err)
{
    struct engine_cluster *c = &e->cluster;
    const struct engine_cluster_config *config = &e->config.cluster;
    struct os_file_path ballot = os_file_join(e->raft_dir.z, "ballot");
    struct os_file_info info;
    struct identity me;
    bool has_log = os_file_stat(ballot.z, &info, err) == ERR_OK;
    if (identity_open(e->config.data_dir, has_log, e->config.node.bootstrap, &me, err) != ERR_OK) {
        return err->code;
    }
    e->config.node.id = me.node;
    e->config.node.id_assumed = me.assumed;
    e->config.node.joined = me.joined;
    atomic_store(&c->node_id, me.node);
    atomic_store(&c->cluster_id, me.cluster);
    c->self = (struct raftnet_shake_node){.cluster = me.cluster,
                                          .id = me.node,
                                          .name = str_from_z(config->name),
                                          .address = str_from_z(e->config.node.address),
                                          .http_url = str_from_z(config->http_url),
                                          .version = str_from_z(config->version),
                                          .non_voter = config->non_voter};
    c->peers = (struct peers_config){.bind = config->bind,
                                     .secret = config->secret,
                                     .tls = config->tls,
                                     .rate_bytes = config->rate_bytes,
                                     .self = c->self,
                                     .hooks = {.data = e,
                                               .address = address_hook,
                                               .is_removed = is_removed_hook,
                                               .met = met_hook,
                                               .lost = lost_hook,
                                               .adopt = engine_invite__adopt_hook,
                                               .removed = removed_hook,
                                               .hashed = hashed_hook,
                                               .committed = committed_hook,
                                               .reads = reads_hook,
                                               .space = space_hook}};
    e->config.node.peers = &c->peers;
    return ERR_OK;
}

bool engine_cluster_has_begun(const char *data_dir)
{
    return identity_has_cluster(data_dir);
}

enum err_code engine_cluster__keep_identity(struct engine *e, struct err *err)
{
    const struct identity me = {.node = atomic_load(&e->cluster.node_id),
                                .cluster = atomic_load(&e->cluster.cluster_id)};
    return e->config.node.id_assumed ? identity_store(e->config.data_dir, &me, err) : ERR_OK;
}

void engine_cluster__init(struct engine *e)
{
    pthread_condattr_t attr;
    CHECK(pthread_condattr_init(&attr) == 0);
    CHECK(pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0);
    CHECK(pthread_cond_init(&e->cluster.leader_known, &attr) == 0);
    CHECK(pthread_condattr_destroy(&attr) == 0);
    CHECK(pthread_mutex_init(&e->cluster.lock, NULL) == 0);
}

void engine_cluster__free(struct engine *e)
{
    (void)pthread_cond_destroy(&e->cluster.leader_known);
    (void)pthread_mutex_destroy(&e->cluster.lock);
}

void engine_cluster__open(struct engine *e)
{
    struct engine_cluster *c = &e->cluster;
    CHECK(uv_timer_init(&e->loop, &c->timer) == 0);
    c->timer.data = e;
    engine_op_init(&c->op);
    c->op.done = own_done;
    c->op.data = e;
}

void engine_cluster__start(struct engine *e)
{
    e->cluster.changes = machine_nodes_changes(e->machine);
    CHECK(uv_timer_start(&e->cluster.timer, keep_cb, 0, KEEP_MS) == 0);
}

void engine_cluster__close(struct engine *e)
{
    uv_close((uv_handle_t *)&e->cluster.timer, NULL);
}

void engine_cluster__closed(struct engine *e)
{
    engine_op_deinit(&e->cluster.op);
}
