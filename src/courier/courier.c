#include "courier/courier.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/map.h"
#include "base/url.h"

struct courier_host {
    struct map_node by_name;
    struct buf name;
    uint32_t lines; /* lines and calls that refer to it */
    uint32_t calls;
    uint32_t young; /* calls younger than slow_ms */
    bool answers, hung;
    uint64_t answer_count;
    struct courier_queue waiting; /* for a slot of this host */
};

struct courier {
    struct courier_config config;
    struct map hosts;
    struct courier_queue waiting_fast, waiting_slow;
    struct courier_call *oldest, *youngest; /* of the calls younger than slow_ms */
    struct courier_numbers numbers;
};

struct courier_config courier_config_default(void)
{
    return (struct courier_config){.calls_max = 256,
                                   .fast_max = 128,
                                   .slow_max = 128,
                                   .host_max = 32,
                                   .new_max = 4,
                                   .hung_max = 2,
                                   .slow_ms = 1000};
}

static void queue_init(struct courier_queue *q)
{
    q->first = NULL;
    q->last = &q->first;
}

struct courier *courier_new(const struct courier_config *config)
{
    struct courier *c = calloc(1, sizeof *c);
    CHECK(c != NULL);
    c->config = *config;
    map_init(&c->hosts);
    queue_init(&c->waiting_fast);
    queue_init(&c->waiting_slow);
    return c;
}

void courier_free(struct courier *c)
{
    CHECK(c->numbers.calls == 0);
    CHECK(c->hosts.count == 0);
    map_deinit(&c->hosts);
    free(c);
}

/* Hosts */

/* Host and port. An invalid URL counts as a host of its own. */
static void add_name(struct buf *out, struct str text)
{
    struct url url;
    const char *why;
    if (!url_parse(text, &url, &why)) {
        buf_add_str(out, text);
        return;
    }
    for (size_t i = 0; i < url.host.len; i++) {
        char c = url.host.ptr[i];
        if (c >= 'A' && c <= 'Z') {
            c = (char)(c - 'A' + 'a');
        }
        buf_add_char(out, c);
    }
    buf_printf(out, " %u", (unsigned)url.port);
}

static struct courier_host *host_of(struct courier *c, struct str url)
{
    struct buf name;
    buf_init(&name, SIZE_MAX);
    add_name(&name, url);
    struct map_node *known = map_find(&c->hosts, buf_str(&name));
    if (known != NULL) {
        buf_deinit(&name);
        return CONTAINER_OF(known, struct courier_host, by_name);
    }
    struct courier_host *h = calloc(1, sizeof *h);
    CHECK(h != NULL);
    h->name = name;
    h->by_name.key = buf_str(&h->name);
    queue_init(&h->waiting);
    map_add(&c->hosts, &h->by_name);
    return h;
}

static void let_go(struct courier *c, struct courier_host *h)
{
    CHECK(h->lines > 0);
    if (--h->lines > 0) {
        return;
    }
    CHECK(h->calls == 0);
    CHECK(h->waiting.first == NULL);
    c->numbers.hosts_hung -= h->hung ? 1 : 0;
    map_remove(&c->hosts, &h->by_name);
    buf_deinit(&h->name);
    free(h);
}

/* Waiting lines */

static void wait_in(struct courier_line *l, struct courier_queue *q)
{
    if (l->waits_in == NULL) {
        l->waits_in = q;
        l->next = NULL;
        *q->last = l;
        q->last = &l->next;
        l->courier->numbers.lines_waiting++;
    }
}

static void wait_no_more(struct courier_line *l)
{
    struct courier_queue *q = l->waits_in;
    if (q == NULL) {
        return;
    }
    struct courier_line **at = &q->first;
    while (*at != l) {
        at = &(*at)->next;
    }
    *at = l->next;
    if (l->next == NULL) {
        q->last = at;
    }
    l->waits_in = NULL;
    l->courier->numbers.lines_waiting--;
}

/* Update the host's state at the end of a call. If it now responds, its lines that wait for the
 * slow lane wait for the fast lane instead. */
static void judge(struct courier *c, struct courier_host *h, bool answers)
{
    bool news = answers && !h->answers;
    c->numbers.hosts_hung -= h->hung ? 1 : 0;
    h->hung = !answers;
    h->answers = answers;
    c->numbers.hosts_hung += h->hung ? 1 : 0;
    for (struct courier_line *l = news ? c->waiting_slow.first : NULL; l != NULL;) {
        struct courier_line *next = l->next;
        if (l->host == h) {
            wait_no_more(l);
            wait_in(l, &c->waiting_fast);
        }
        l = next;
    }
}

/* If all calls to the host are slow, it may get one more, which may be answered. */
static bool one_more(const struct courier *c, const struct courier_host *h)
{
    return h->young == 0 && c->numbers.slow < c->config.slow_max / 2;
}

static bool host_has_room(const struct courier *c, const struct courier_host *h)
{
    if (h->answers || h->calls >= c->config.host_max) {
        return h->calls < c->config.host_max;
    }
    if (h->hung) {
        return h->calls < c->config.hung_max || one_more(c, h);
    }
    return (h->calls < c->config.new_max && h->young < (c->config.new_max + 1) / 2) ||
           one_more(c, h);
}

static bool lane_has_room(const struct courier *c, bool slow)
{
    const struct courier_numbers *n = &c->numbers;
    return n->calls < c->config.calls_max &&
           (slow ? n->slow < c->config.slow_max : n->calls - n->slow < c->config.fast_max);
}

/* Let the first line of the queue begin calls. If it now lacks another slot (of its host or its
 * lane), it waits in the queue for that. */
static void tell_first(struct courier_queue *q)
{
    struct courier_line *l = q->first;
    wait_no_more(l);
    l->turn_in = q;
    l->ready(l);
    l->turn_in = NULL;
}

static void tell_lines(struct courier *c, struct courier_host *h)
{
    while (h->waiting.first != NULL && host_has_room(c, h)) {
        tell_first(&h->waiting);
    }
    while (c->waiting_fast.first != NULL && lane_has_room(c, false)) {
        tell_first(&c->waiting_fast);
    }
    while (c->waiting_slow.first != NULL && lane_has_room(c, true)) {
        tell_first(&c->waiting_slow);
    }
}

void courier_line_init(struct courier_line *l, struct courier *c, struct str url,
                       void (*ready)(struct courier_line *l))
{
    *l = (struct courier_line){.ready = ready, .courier = c, .host = host_of(c, url)};
    l->host->lines++;
}

void courier_line_move(struct courier_line *l, struct str url)
{
    struct courier_host *from = l->host;
    struct courier_host *to = host_of(l->courier, url);
    if (to != from) {
        wait_no_more(l);
        l->host = to;
        to->lines++;
        let_go(l->courier, from);
    }
}

void courier_line_deinit(struct courier_line *l)
{
    if (l->host != NULL) {
        wait_no_more(l);
        let_go(l->courier, l->host);
        *l = (struct courier_line){.ready = NULL};
    }
}

/* Calls */

static void no_longer_young(struct courier_call *call)
{
    struct courier *c = call->courier;
    if (call->older != NULL) {
        call->older->younger = call->younger;
    } else {
        c->oldest = call->younger;
    }
    if (call->younger != NULL) {
        call->younger->older = call->older;
    } else {
        c->youngest = call->older;
    }
    call->old = true;
    call->host->young--;
}

/* Lines in the queue come first, unless it is this line's turn. Without room, l joins the queue. */
static bool may_pass(struct courier_line *l, struct courier_queue *q, bool room)
{
    if (room && (q->first == NULL || l->turn_in == q)) {
        return true;
    }
    wait_in(l, q);
    return false;
}

bool courier_begin(struct courier_line *l, struct courier_call *call, uint64_t now_ms)
{
    struct courier *c = l->courier;
    struct courier_host *h = l->host;
    bool slow = !h->answers;
    if (l->waits_in != NULL || !may_pass(l, &h->waiting, host_has_room(c, h)) ||
        !may_pass(l, slow ? &c->waiting_slow : &c->waiting_fast, lane_has_room(c, slow))) {
        return false;
    }
    l->turn_in = NULL;
    *call = (struct courier_call){.courier = c,
                                  .host = h,
                                  .begun_ms = now_ms,
                                  .answers = h->answer_count,
                                  .slow = slow,
                                  .older = c->youngest};
    *(c->youngest != NULL ? &c->youngest->younger : &c->oldest) = call;
    c->youngest = call;
    h->lines++;
    h->calls++;
    h->young++;
    c->numbers.calls++;
    c->numbers.slow += slow ? 1 : 0;
    return true;
}

void courier_end(struct courier_call *call, enum courier_end how)
{
    struct courier *c = call->courier;
    struct courier_host *h = call->host;
    CHECK(h != NULL);
    if (!call->old) {
        no_longer_young(call);
    }
    h->calls--;
    c->numbers.calls--;
    c->numbers.slow -= call->slow ? 1 : 0;
    call->host = NULL;
    if (how == COURIER_ANSWERED) {
        h->answer_count++;
        judge(c, h, true);
    } else if (how == COURIER_HUNG && h->answer_count == call->answers) {
        judge(c, h, false);
    }
    tell_lines(c, h);
    let_go(c, h);
}

void courier_turn(struct courier *c, uint64_t now_ms)
{
    while (c->oldest != NULL && courier_due_ms(c) <= now_ms) {
        struct courier_call *call = c->oldest;
        no_longer_young(call);
        if (!call->slow) {
            call->slow = true;
            c->numbers.slow++;
        }
        tell_lines(c, call->host);
    }
}

uint64_t courier_due_ms(const struct courier *c)
{
    return c->oldest == NULL ? UINT64_MAX : c->oldest->begun_ms + c->config.slow_ms;
}

struct courier_numbers courier_numbers(const struct courier *c)
{
    return c->numbers;
}
