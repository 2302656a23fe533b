/*
 * Policies: which agent jobs wait for a person before they continue (http-api.md 17.4).
 *
 * Iterations of agents take long, so the policies are a simple list, which is searched from its
 * end: the newest policy that matches decides. The tags of the job are read once for all of them.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/limits.h"
#include "core/queue_name.h"
#include "fsm/apply/apply_int.h"
#include "json/json_scan.h"

/* The members of a job that policies check. */
struct looked {
    struct str queue, ns;
    struct {
        struct json_value key, value;
    } tags[LIMIT_TAGS];
    size_t tag_count;
};

static char *own_texts(struct store_policy *rec)
{
    struct str *texts[] = {&rec->ns, &rec->name, &rec->queue, &rec->tag_key, &rec->tag_value};
    return entry__own_texts(texts, COUNT_OF(texts));
}

/* Insert a policy into the list, which is in the order of ids. */
static void add(struct machine *m, struct id id, const struct store_policy *rec)
{
    struct policy *p = calloc(1, sizeof *p);
    uint32_t at = m->policy_count;
    CHECK(p != NULL);
    p->id = id;
    p->rec = *rec;
    p->texts = own_texts(&p->rec);
    m->policies = realloc(m->policies, (m->policy_count + 1) * sizeof(struct policy *));
    CHECK(m->policies != NULL);
    for (; at > 0 && id_cmp(m->policies[at - 1]->id, id) > 0; at--) {
        m->policies[at] = m->policies[at - 1];
    }
    m->policies[at] = p;
    m->policy_count++;
    CHECK(at == 0 || id_cmp(m->policies[at - 1]->id, id) < 0);
    CHECK(at + 1 == m->policy_count || id_cmp(m->policies[at + 1]->id, id) > 0);
}

static bool find(const struct machine *m, struct id id, uint32_t *out_at)
{
    uint32_t from = 0;
    uint32_t to = m->policy_count;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (id_cmp(m->policies[middle]->id, id) < 0) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    *out_at = from;
    return from < m->policy_count && id_eq(m->policies[from]->id, id);
}

bool policies__is_known(const struct machine *m, struct id id)
{
    uint32_t at = 0;
    return find(m, id, &at);
}

static void policy_free(struct policy *p)
{
    free(p->texts);
    free(p);
}

void policies__add(struct machine *m, struct id id, const struct store_policy *rec)
{
    add(m, id, rec);
    buf_clear(&m->store.scratch);
    store_record_encode_policy(rec, &m->store.scratch);
    store_put(&m->store, STORE_KIND_POLICY, str_from(id.b, ID_BYTES), buf_str(&m->store.scratch));
}

bool policies__remove(struct machine *m, struct id id)
{
    uint32_t at = 0;
    if (!find(m, id, &at)) {
        return false;
    }
    store_delete(&m->store, STORE_KIND_POLICY, str_from(id.b, ID_BYTES));
    policy_free(m->policies[at]);
    CHECK(at < m->policy_count);
    m->policy_count--;
    for (; at < m->policy_count; at++) {
        m->policies[at] = m->policies[at + 1];
    }
    return true;
}

static void look_at(const struct job *j, struct looked *out)
{
    struct json_scan s = json_scan_from(j->tags);
    struct json_value key;
    struct json_value value;
    out->queue = j->queue;
    out->ns = queue_name_namespace(j->queue);
    out->tag_count = 0;
    if (j->tags.len == 0 || !json_scan_enter_object(&s)) {
        return;
    }
    while (out->tag_count < LIMIT_TAGS && json_scan_next_key(&s, &key) &&
           json_scan_value(&s, &value)) {
        out->tags[out->tag_count].key = key;
        out->tags[out->tag_count++].value = value;
    }
}

/* If a tag occurs twice, the last one counts. A missing tag matches an empty value. */
static bool has_tag(const struct looked *j, struct str key, struct str value)
{
    for (size_t i = j->tag_count; i > 0; i--) {
        if (json_value_text_eq(j->tags[i - 1].key, key)) {
            struct json_value v = j->tags[i - 1].value;
            return v.type == JSON_TYPE_STRING ? json_value_text_eq(v, value)
                                              : str_eq(v.text, value);
        }
    }
    return value.len == 0;
}

static bool fits(const struct store_policy *p, const struct looked *j)
{
    bool by_queue = p->queue.len > 0;
    bool by_tag = p->tag_key.len > 0;
    if (!p->enabled || (!by_queue && !by_tag) || (!p->all_namespaces && !str_eq(p->ns, j->ns))) {
        return false;
    }
    bool queue = by_queue && str_eq(p->queue, j->queue);
    bool tag = by_tag && has_tag(j, p->tag_key, p->tag_value);
    return p->all ? queue == by_queue && tag == by_tag : queue || tag;
}

struct str policies__match(const struct machine *m, const struct job *j)
{
    struct looked looked;
    if (m->policy_count == 0) {
        return STR_EMPTY;
    }
    look_at(j, &looked);
    for (uint32_t i = m->policy_count; i > 0; i--) {
        if (fits(&m->policies[i - 1]->rec, &looked)) {
            return m->policies[i - 1]->rec.name;
        }
    }
    return STR_EMPTY;
}

static void load_policy(void *data, struct str rest, struct str value)
{
    struct machine *m = data;
    struct store_policy rec;
    if (rest.len != ID_BYTES || !store_record_decode_policy(value, &rec)) {
        check_fatal("the record of an approval policy cannot be read");
    }
    add(m, id_from_bytes(rest.ptr), &rec);
}

void policies__load(struct machine *m)
{
    store_each(&m->store, STORE_KIND_POLICY, load_policy, m);
}

void policies__close(struct machine *m)
{
    for (uint32_t i = 0; i < m->policy_count; i++) {
        policy_free(m->policies[i]);
    }
    free(m->policies);
}
