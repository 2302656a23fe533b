/*
 * Tests of the wires without sockets.
 */
#include <string.h>

#include <nghttp2/nghttp2.h>

#include "lib/expect.h"
#include "lib/test.h"
#include "load/load_int.h"

struct kit {
    struct load_plan plan;
    struct load_run run;
    struct load_thread thread;
    struct load_client client[2]; /* the second is used only if a test assigns a connection to it */
    struct load_client *clients[2];
    struct load_conn conn;
};

static struct kit *kit_new(const struct load_wire *wire)
{
    struct kit *k = calloc(1, sizeof *k);
    assert_non_null(k);
    k->plan = (struct load_plan){
        .authority = "there:80", .headers = {{"x-api-key", "secret"}}, .header_count = 1};
    k->run.plan = &k->plan;
    k->thread.run = &k->run;
    k->thread.wire = wire;
    load_client__init(&k->client[0], &k->thread, true, 0);
    k->clients[0] = &k->client[0];
    k->client[0].conn = &k->conn;
    k->conn.thread = &k->thread;
    k->conn.clients = k->clients;
    k->conn.client_count = 1;
    buf_init(&k->conn.in, 1 << 20);
    buf_init(&k->conn.out, 1 << 20);
    buf_init(&k->conn.pushed, 1 << 20);
    buf_init(&k->conn.acks, 1 << 20);
    wire->open(&k->conn);
    return k;
}

static void kit_free(struct kit *k)
{
    k->thread.wire->close(&k->conn);
    load_client__deinit(&k->client[0]);
    buf_deinit(&k->conn.in);
    buf_deinit(&k->conn.out);
    buf_deinit(&k->conn.pushed);
    buf_deinit(&k->conn.acks);
    free(k);
}

static void kit_ask(struct kit *k, const char *path, const char *body)
{
    (void)snprintf(k->client[0].path, sizeof k->client[0].path, "%s", path);
    buf_clear(&k->client[0].body);
    buf_add_str(&k->client[0].body, str_from_z(body));
    buf_clear(&k->client[0].answer);
    k->client[0].body_sent = 0;
    k->client[0].status = 0;
    k->client[0].server_ns = -1;
    k->client[0].state = CLIENT_SENT;
    k->conn.answered = NULL;
    k->thread.wire->request(&k->conn, &k->client[0]);
}

static void http1__a_request_is_one_post(void **state)
{
    (void)state;
    struct kit *k = kit_new(&load_http1_wire);
    kit_ask(k, "/api/v1/enqueue", "{\"a\":1}");
    expect_str(buf_str(&k->conn.out), STR("POST /api/v1/enqueue HTTP/1.1\r\nhost: there:80\r\n"
                                          "x-api-key: secret\r\ncontent-length: 7\r\n\r\n"
                                          "{\"a\":1}"));
    kit_free(k);
}

static void http1__an_answer_may_come_in_any_pieces(void **state)
{
    (void)state;
    static const char text[] = "HTTP/1.1 201 Created\r\nContent-Length: 5\r\n"
                               "server-timing: proc;dur=1.250\r\n\r\nhello";
    for (size_t cut = 1; cut < sizeof text - 1; cut++) {
        struct kit *k = kit_new(&load_http1_wire);
        kit_ask(k, "/x", "");
        assert_true(load_http1_wire.input(&k->conn, str_from(text, cut)));
        assert_null(k->conn.answered);
        assert_true(load_http1_wire.input(&k->conn, str_from(text + cut, sizeof text - 1 - cut)));
        assert_ptr_equal(k->conn.answered, &k->client[0]);
        assert_int_equal(k->client[0].status, 201);
        assert_int_equal(k->client[0].server_ns, 1250000);
        expect_str(buf_str(&k->client[0].answer), STR("hello"));
        kit_free(k);
    }
}

static void http1__what_is_not_http_breaks_the_connection(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "SSH-2.0-x\r\n\r\n",
        "HTTP/1.1 abc\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct kit *k = kit_new(&load_http1_wire);
        ROW(rows[i]);
        kit_ask(k, "/x", "");
        assert_false(load_http1_wire.input(&k->conn, str_from_z(rows[i])));
        assert_null(k->conn.answered);
        kit_free(k);
    }
}

static void timing__reads_milliseconds(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ns;
    } rows[] = {
        {"proc;dur=0.490", 490000},
        {"proc;dur=12", 12000000},
        {"dur=1.0000001", 1000000},
        {"proc", -1},
        {"", -1},
        {"dur=", 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        ROW(rows[i].text);
        assert_int_equal(load_http1_timing(str_from_z(rows[i].text)), rows[i].ns);
    }
}

/* An HTTP/2 server that answers every request with the request's body. */
struct peer {
    nghttp2_session *session;
    struct buf body;
};

static int peer_data_cb(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes,
                        size_t len, void *data)
{
    struct peer *p = data;
    (void)session;
    (void)flags;
    (void)id;
    buf_add(&p->body, bytes, len);
    return 0;
}

static ssize_t peer_read_cb(nghttp2_session *session, int32_t id, uint8_t *out, size_t len,
                            uint32_t *flags, nghttp2_data_source *source, void *data)
{
    struct peer *p = data;
    (void)session;
    (void)id;
    (void)source;
    assert_true(p->body.len <= len);
    memcpy(out, p->body.ptr, p->body.len);
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)p->body.len;
}

static int peer_frame_cb(nghttp2_session *session, const nghttp2_frame *frame, void *data)
{
    static uint8_t name[] = ":status";
    static uint8_t value[] = "200";
    static uint8_t timing[] = "server-timing";
    static uint8_t took[] = "proc;dur=0.003";
    const nghttp2_nv head[] = {{name, value, 7, 3, 0}, {timing, took, 13, 14, 0}};
    nghttp2_data_provider body = {.read_callback = peer_read_cb};
    (void)data;
    if (frame->hd.type == NGHTTP2_DATA && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
        assert_int_equal(nghttp2_submit_response(session, frame->hd.stream_id, head, 2, &body), 0);
    }
    return 0;
}

static void peer_exchange(struct peer *p, struct kit *k)
{
    const uint8_t *bytes = NULL;
    ssize_t n;
    assert_int_equal(
        nghttp2_session_mem_recv(p->session, (const uint8_t *)k->conn.out.ptr, k->conn.out.len),
        k->conn.out.len);
    buf_clear(&k->conn.out);
    while ((n = nghttp2_session_mem_send(p->session, &bytes)) > 0) {
        assert_true(load_http2_wire.input(&k->conn, str_from(bytes, (size_t)n)));
    }
    assert_int_equal(n, 0);
}

static void http2__requests_follow_one_another_on_a_connection(void **state)
{
    (void)state;
    struct kit *k = kit_new(&load_http2_wire);
    struct peer p = {0};
    nghttp2_session_callbacks *callbacks = NULL;
    buf_init(&p.body, 1 << 20);
    assert_int_equal(nghttp2_session_callbacks_new(&callbacks), 0);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, peer_data_cb);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, peer_frame_cb);
    assert_int_equal(nghttp2_session_server_new(&p.session, callbacks, &p), 0);
    nghttp2_session_callbacks_del(callbacks);
    assert_int_equal(nghttp2_submit_settings(p.session, 0, NULL, 0), 0);
    for (int i = 0; i < 3; i++) {
        char body[32];
        (void)snprintf(body, sizeof body, "{\"number\":%d}", i);
        buf_clear(&p.body);
        kit_ask(k, "/api/v1/enqueue", body);
        peer_exchange(&p, k);
        assert_ptr_equal(k->conn.answered, &k->client[0]);
        assert_int_equal(k->client[0].status, 200);
        assert_int_equal(k->client[0].server_ns, 3000);
        expect_str(buf_str(&k->client[0].answer), str_from_z(body));
    }
    nghttp2_session_del(p.session);
    buf_deinit(&p.body);
    kit_free(k);
}

static void http2__what_is_not_http_breaks_the_connection(void **state)
{
    (void)state;
    struct kit *k = kit_new(&load_http2_wire);
    kit_ask(k, "/x", "{}");
    assert_false(load_http2_wire.input(
        &k->conn, STR("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")));
    kit_free(k);
}

static void binary__a_producer_sends_its_credential_and_then_frames(void **state)
{
    (void)state;
    static const char answer[] = "\x81\2\0\0\0\3\0\0\0\1\0\0";
    struct kit *k = kit_new(&load_binary_wire);
    kit_ask(k, "", "body");
    assert_int_equal(k->conn.out.len, 9 + 7 + 9 + 4);
    assert_memory_equal(k->conn.out.ptr, "\5\1\0\0\0\7\0\0\0\6secret\1\2\0\0\0\4\0\0\0body", 29);
    for (size_t i = 0; i < sizeof answer - 1; i++) {
        assert_null(k->conn.answered);
        assert_true(load_binary_wire.input(&k->conn, str_from(answer + i, 1)));
    }
    assert_ptr_equal(k->conn.answered, &k->client[0]);
    assert_int_equal(k->client[0].status, 200);
    kit_free(k);
}

static void binary__refusals_are_told_by_their_code(void **state)
{
    static const struct {
        struct str bytes;
        int status;
    } rows[] = {
        {{"\x81\2\0\0\0\3\0\0\0\0\0\1", 12}, 400}, {{"\x81\2\0\0\0\3\0\0\0\0\0\2", 12}, 429},
        {{"\x81\2\0\0\0\3\0\0\0\0\0\3", 12}, 503}, {{"\x09\2\0\0\0\0\0\0\0", 9}, 503},
        {{"\xff\2\0\0\0\2\0\0\0no", 11}, 400},     {{"\x85\1\0\0\0\2\0\0\0\1\0", 11}, 401},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct kit *k = kit_new(&load_binary_wire);
        kit_ask(k, "", "body");
        assert_true(load_binary_wire.input(&k->conn, rows[i].bytes));
        assert_int_equal(k->client[0].status, rows[i].status);
        kit_free(k);
    }
}

/* A pushed job: id, queue, attempt, checkpoint, tags, payload, token. */
#define PUSHED(id) "\1" id "\1q\1\0\0\0\0\0\2\0\0\0{}\1\0\0\0\0\0\0\0"

static void start_worker(struct kit *k, size_t i, const char *acks, size_t count)
{
    struct load_client *client = &k->client[i];
    buf_clear(&client->body);
    buf_add_str(&client->body, str_from_z(acks));
    client->in_ack = count;
    buf_clear(&client->answer);
    client->held_count = 0;
    client->status = 0;
    client->state = CLIENT_SENT;
    load_binary_wire.request(&k->conn, client);
}

/* Expect the bytes that this turn has sent. */
static void expect_sent(struct kit *k, const char *bytes, size_t len)
{
    load_binary_wire.finish(&k->conn);
    assert_int_equal(k->conn.out.len, len);
    assert_memory_equal(k->conn.out.ptr, bytes, len);
    buf_clear(&k->conn.out);
    k->conn.answered = NULL;
}

static size_t take(struct kit *k, size_t i)
{
    assert_true(load_binary__take_jobs(&k->client[i]));
    k->client[i].state = CLIENT_READY;
    k->conn.answered = NULL;
    return k->client[i].held_count;
}

static void input(struct kit *k, const char *bytes, size_t len)
{
    assert_true(load_binary_wire.input(&k->conn, str_from(bytes, len)));
}

static void binary__workers_on_a_connection_share_what_is_pushed(void **state)
{
    static const char jobs[] = "\x82\1\0\0\0\112\0\0\0\3\0" PUSHED("a") PUSHED("b") PUSHED("c");
    static const char job[] = "\x82\1\0\0\0\32\0\0\0\1\0" PUSHED("d");
    static const char frames[] = "\3\2\0\0\0\5\0\0\0\3\0ABC\2\3\0\0\0\6\0\0\0\3\0what";
    static const char acked[] = "\x83\2\0\0\0\3\0\0\0\3\0\0";
    char what[] = "what";
    struct load_text text = {.fetch = what, .fetch_len = 4};
    (void)state;
    struct kit *k = kit_new(&load_binary_wire);
    k->plan.fetch_batch = 2;
    k->plan.header_count = 0;
    k->run.texts = &text;
    load_client__deinit(&k->client[0]);
    for (unsigned i = 0; i < 2; i++) {
        load_client__init(&k->client[i], &k->thread, false, 0);
        k->clients[i] = &k->client[i];
        k->client[i].conn = &k->conn;
    }
    k->conn.client_count = 2;
    buf_clear(&k->conn.out);
    load_binary_wire.open(&k->conn);

    /* Each worker grants credits for two jobs, in one frame together. Three jobs arrive: two for
     * one worker, one for the other. */
    start_worker(k, 0, "", 0);
    start_worker(k, 1, "", 0);
    expect_sent(k, "\2\1\0\0\0\6\0\0\0\4\0what", 15);
    input(k, jobs, sizeof jobs - 1);
    assert_ptr_equal(k->conn.answered, &k->client[0]);
    assert_ptr_equal(k->client[0].next_answered, &k->client[1]);
    assert_int_equal(take(k, 0) + take(k, 1), 3);

    /* Their acks are one frame, and their credits another. A job that arrives before the answer
     * waits for the first free worker. */
    start_worker(k, 0, "A", 1);
    start_worker(k, 1, "BC", 2);
    expect_sent(k, frames, sizeof frames - 1);
    input(k, job, sizeof job - 1);
    assert_null(k->conn.answered);
    input(k, acked, sizeof acked - 1);
    assert_ptr_equal(k->conn.answered, &k->client[0]);
    assert_int_equal(k->client[0].acked, 1);
    assert_int_equal(k->client[1].acked, 2);
    assert_int_equal(take(k, 0) + take(k, 1), 1);

    /* If jobs are already waiting, a new request sends a ping. Its answer wakes the client. */
    input(k, job, sizeof job - 1);
    assert_null(k->conn.answered);
    start_worker(k, 0, "", 0);
    expect_sent(k, "\4\4\0\0\0\0\0\0\0", 9);
    input(k, "\x84\4\0\0\0\0\0\0\0", 9);
    assert_ptr_equal(k->conn.answered, &k->client[0]);
    assert_int_equal(take(k, 0), 1);

    /* Refused credits no longer belong to any client. */
    start_worker(k, 1, "", 0);
    load_binary_wire.finish(&k->conn);
    input(k, "\xff\3\0\0\0\12\0\0\0overloaded", 9 + 10);
    assert_ptr_equal(k->conn.answered, &k->client[1]);
    assert_int_equal(k->client[1].status, 503);
    assert_int_equal(k->client[0].promised + k->client[1].promised, 0);
    load_client__deinit(&k->client[1]);
    kit_free(k);
}

static void binary__what_is_no_frame_breaks_the_connection(void **state)
{
    (void)state;
    struct kit *k = kit_new(&load_binary_wire);
    kit_ask(k, "", "body");
    assert_false(load_binary_wire.input(&k->conn, STR("HTTP/1.1 400 Bad Request\r\n\r\n")));
    assert_null(k->conn.answered);
    kit_free(k);
}

TEST_GROUP(load_wire, cmocka_unit_test(binary__a_producer_sends_its_credential_and_then_frames),
           cmocka_unit_test(binary__refusals_are_told_by_their_code),
           cmocka_unit_test(binary__workers_on_a_connection_share_what_is_pushed),
           cmocka_unit_test(binary__what_is_no_frame_breaks_the_connection),
           cmocka_unit_test(http1__a_request_is_one_post),
           cmocka_unit_test(http1__an_answer_may_come_in_any_pieces),
           cmocka_unit_test(http1__what_is_not_http_breaks_the_connection),
           cmocka_unit_test(timing__reads_milliseconds),
           cmocka_unit_test(http2__requests_follow_one_another_on_a_connection),
           cmocka_unit_test(http2__what_is_not_http_breaks_the_connection));
