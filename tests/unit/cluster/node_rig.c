#include "unit/cluster/node_rig.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/fault.h"
#include "base/hash.h"
#include "cluster/node_int.h"
#include "lib/test.h"
#include "log/log.h"
#include "os/os_file.h"

static void toy_apply(void *data, uint64_t index, struct str entry)
{
    struct node_toy *t = data;
    uv_mutex_lock(&t->lock);
    assert_true(index > t->state.applied_index);
    t->state.applied_index = index;
    t->state.count++;
    t->state.hash = hash_bytes(t->state.hash, entry.ptr, entry.len);
    t->applies++;
    uv_mutex_unlock(&t->lock);
}

static uint64_t toy_applied_index(void *data)
{
    struct node_toy *t = data;
    return t->state.applied_index;
}

static enum err_code toy_checkpoint(void *data, const char *dir, struct err *err)
{
    struct node_toy *t = data;
    struct os_file_path path = os_file_join(dir, "state");
    if (os_file_make_dirs(dir, err) != ERR_OK) {
        return err->code;
    }
    uv_mutex_lock(&t->lock);
    t->checkpoints++;
    bool refuse = t->refuses_checkpoints;
    __typeof__(t->state) copy = t->state;
    uv_mutex_unlock(&t->lock);
    if (refuse) {
        return err_set(err, ERR_STORE, "not now");
    }
    return os_file_replace(path.z, str_from(&copy, sizeof copy), err);
}

static enum err_code toy_restore(void *data, const char *dir, struct err *err)
{
    struct node_toy *t = data;
    struct os_file_path path = os_file_join(dir, "state");
    struct buf bytes;
    buf_init(&bytes, 1024);
    enum err_code code = os_file_read(path.z, &bytes, err);
    if (code == ERR_OK) {
        assert_int_equal(bytes.len, sizeof t->state);
        memcpy(&t->state, bytes.ptr, sizeof t->state);
        t->restores++;
    }
    buf_deinit(&bytes);
    return code;
}

static enum err_code toy_checkpoint_index(void *data, const char *dir, uint64_t *out_index,
                                          struct err *err)
{
    (void)dir;
    (void)err;
    *out_index = ((const struct node_toy *)data)->checkpoint_index;
    return ERR_OK;
}

static void toy_leads_changed(void *data, bool leads)
{
    struct node_toy *t = data;
    assert_true(leads != t->leads);
    t->leads = leads;
    t->leads_changes++;
}

int node_rig_setup(void **state)
{
    static struct node_rig r;
    log_configure(LOG_ERROR, LOG_TEXT);
    r = (struct node_rig){.dir = tmpdir_new(), .config = node_config_default()};
    r.config.dir = r.dir.path;
    r.config.id = 1;
    r.config.address = "127.0.0.1:0";
    r.config.segment_bytes = 8192;
    r.config.heartbeat_ms = 5;
    r.config.election_ms = 50;
    CHECK(uv_mutex_init(&r.toy.lock) == 0);
    CHECK(uv_loop_init(&r.loop) == 0);
    *state = &r;
    return 0;
}

enum err_code node_rig_try_open(struct node_rig *r, struct err *err)
{
    const struct node_fsm fsm = {.data = &r->toy,
                                 .apply = toy_apply,
                                 .applied_index = toy_applied_index,
                                 .checkpoint = toy_checkpoint,
                                 .restore = toy_restore,
                                 .checkpoint_index = toy_checkpoint_index,
                                 .leads_changed = toy_leads_changed};
    r->toy.applies = r->toy.checkpoints = r->toy.restores = 0;
    r->closed = false;
    return node_open(&r->loop, &r->config, &fsm, &r->node, err);
}

void node_rig_run_until_leads(struct node_rig *r)
{
    while (!r->toy.leads) {
        (void)uv_run(&r->loop, UV_RUN_ONCE);
    }
    assert_true(node_leads(r->node));
}

void node_rig_open(struct node_rig *r)
{
    struct err err = {0};
    if (node_rig_try_open(r, &err) != ERR_OK) {
        fail_msg("%s", err.msg);
    }
    node_rig_run_until_leads(r);
}

static void closed_cb(void *data)
{
    struct node_rig *r = data;
    r->closed = true;
    r->node = NULL;
}

void node_rig_begin_close(struct node_rig *r)
{
    node_close(r->node, closed_cb, r);
}

void node_rig_close(struct node_rig *r)
{
    node_rig_begin_close(r);
    CHECK(uv_run(&r->loop, UV_RUN_DEFAULT) == 0);
    assert_true(r->closed);
    assert_false(r->toy.leads);
}

int node_rig_teardown(void **state)
{
    struct node_rig *r = *state;
    if (r->node != NULL) {
        node_rig_close(r);
    }
    CHECK(uv_loop_close(&r->loop) == 0);
    uv_mutex_destroy(&r->toy.lock);
    tmpdir_remove(&r->dir);
    fault_reset();
    log_configure(LOG_INFO, LOG_AUTO);
    return 0;
}

void node_rig_lose_state(struct node_rig *r)
{
    memset(&r->toy.state, 0, sizeof r->toy.state);
}

static void proposal_done(struct node_propose *p)
{
    struct node_rig_proposal *a = CONTAINER_OF(p, struct node_rig_proposal, p);
    assert_false(a->inside);
    assert_false(a->done);
    assert_false(a->rig->closed);
    a->done = true;
}

void node_rig_start(struct node_rig *r, struct node_rig_proposal *a, size_t len)
{
    *a = (struct node_rig_proposal){.rig = r, .inside = true};
    a->p.bytes = malloc(len);
    CHECK(a->p.bytes != NULL);
    memset(a->p.bytes, (int)(r->toy.state.count % 251), len);
    a->p.len = len;
    a->p.done = proposal_done;
    node_propose(r->node, &a->p);
    a->inside = false;
}

enum err_code node_rig_propose(struct node_rig *r, size_t len)
{
    struct node_rig_proposal a;
    node_rig_start(r, &a, len);
    while (!a.done) {
        (void)uv_run(&r->loop, UV_RUN_ONCE);
    }
    return a.p.err.code;
}

struct node_status node_rig_status(struct node_rig *r)
{
    struct node_status s;
    node_status(r->node, &s);
    return s;
}

static void changed_cb(struct raft_change *change, int status)
{
    assert_int_equal(status, 0);
    *(bool *)change->data = true;
}

/* Add a second member, which is unreachable, as a voter. */
void node_rig_add_voter(struct node_rig *r)
{
    struct raft *raft = &r->node->raft;
    bool added = false;
    struct raft_change change = {.data = &added};
    assert_int_equal(raft_add(raft, &change, 2, "127.0.0.1:1", changed_cb), 0);
    while (!added) {
        (void)uv_run(&r->loop, UV_RUN_ONCE);
    }
    raft->configuration.servers[1].role = RAFT_VOTER;
}
