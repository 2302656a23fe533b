#include "repair/repair_member.h"

#include <inttypes.h>

#include "cluster/identity.h"
#include "raftlog/ballot.h"
#include "raftlog/members.h"

static uint64_t only_of(struct str bytes)
{
    struct raft_configuration members;
    struct err ignored;
    if (members_decode(bytes, &members, &ignored) != ERR_OK) {
        return 0;
    }
    uint64_t only = members.n == 1 ? members.servers[0].id : 0;
    raft_configuration_close(&members);
    return only;
}

/* The newest list of members is in the log, or else in the snapshot. */
static uint64_t find_only(const struct wal_content *content, const struct manifest *snapshot)
{
    for (size_t i = content->count; i > 0; i--) {
        const struct raft_entry *e = &content->entry[i - 1];
        if (e->type == RAFT_CHANGE) {
            return only_of(str_from(e->buf.base, e->buf.len));
        }
    }
    return snapshot == NULL ? 0 : only_of(snapshot->members);
}

static uint64_t find_last_term(const struct wal_content *content, const struct manifest *snapshot)
{
    if (content->count > 0) {
        return content->entry[content->count - 1].term;
    }
    return snapshot == NULL ? 0 : snapshot->term;
}

static void examine_ballot(struct repair_member *m)
{
    struct ballot ballot;
    struct os_file_info info;
    m->ballot_lost = ballot_inspect(m->ballot.z, &ballot, &m->ballot_err) != ERR_OK;
    if (!m->ballot_lost && m->last_term > 0 &&
        os_file_stat(m->ballot.z, &info, &m->ballot_err) != ERR_OK) {
        m->ballot_lost = true;
    }
    if (!m->ballot_lost && ballot.term < m->last_term) {
        m->ballot_lost = true;
        (void)err_set(&m->ballot_err, ERR_CORRUPT,
                      "'%s' has term %" PRIu64 ", but the log has entries of term %" PRIu64,
                      m->ballot.z, ballot.term, m->last_term);
    }
    m->vote = m->ballot_lost ? 0 : ballot.vote;
}

/* Directories of versions without clusters have no identity. */
static void examine_identity(struct repair_member *m, const char *data_dir)
{
    struct identity identity;
    enum err_code code = identity_inspect(data_dir, &identity, &m->identity_err);
    bool is_old = code == ERR_NOT_FOUND && (m->last_term == 0 || m->only == IDENTITY_OLD_NODE);
    m->identity_lost = code != ERR_OK && !is_old;
    m->node = code == ERR_OK ? identity.node : is_old ? IDENTITY_OLD_NODE : 0;
}

void repair_member_examine(struct repair_member *m, const char *data_dir,
                           const struct wal_content *content, const struct manifest *snapshot)
{
    struct os_file_path raft = os_file_join(data_dir, "raft");
    *m = (struct repair_member){.identity = os_file_join(data_dir, "identity"),
                                .ballot = os_file_join(raft.z, "ballot"),
                                .last_term = find_last_term(content, snapshot),
                                .only = find_only(content, snapshot)};
    examine_ballot(m);
    examine_identity(m, data_dir);
}

/* Each file proves for the other that this directory belongs to the only member, and not to a node
 * that had just begun to join it: such a node has not voted for that member. */
bool repair_member_can_mend(const struct repair_member *m)
{
    if (m->only == 0 || m->last_term == 0) {
        return false;
    }
    return m->identity_lost ? !m->ballot_lost && m->vote == m->only
                            : m->ballot_lost && m->node == m->only;
}

static enum err_code mend_ballot(const struct repair_member *m, struct err *err)
{
    struct ballot ballot;
    int fd = -1;
    if (ballot_open(m->ballot.z, &fd, &ballot, err) != ERR_OK) {
        return err->code;
    }
    ballot.term = m->last_term;
    enum err_code code = ballot_store(fd, &ballot, err);
    os_file_close(fd);
    return code;
}

enum err_code repair_member_mend(const struct repair_member *m, const char *data_dir,
                                 struct err *err)
{
    struct identity identity;
    if (m->ballot_lost) {
        return mend_ballot(m, err);
    }
    if (identity_open(data_dir, true, false, &identity, err) != ERR_OK) {
        return err->code;
    }
    identity.node = m->only;
    return identity_store(data_dir, &identity, err);
}
