#include "http/http1_parser.h"

#include <string.h>

#include "lib/http1_trace.h"
#include "lib/test.h"

#define H "Host: a\r\n"

struct parse_row {
    const char *name;
    const char *input;
    const char *trace;
};

/* clang-format off */
static const struct parse_row valid_rows[] = {
    {"the least there is", "GET / HTTP/1.1\r\n" H "\r\n",
     "head GET / HTTP/1.1 length=0 keep-alive\n  Host=a\nbody 0 \nend\nmore 0\n"},
    {"an unfinished head", "GET / HTTP/1.1\r\nHost", "more 0\n"},
    {"an empty line first", "\r\nGET / HTTP/1.1\r\n" H "\r\n",
     "head GET / HTTP/1.1 length=0 keep-alive\n  Host=a\nbody 0 \nend\nmore 0\n"},
    {"four empty lines first", "\r\n\r\n\r\n\r\nGET / HTTP/1.1\r\n" H "\r\n",
     "head GET / HTTP/1.1 length=0 keep-alive\n  Host=a\nbody 0 \nend\nmore 0\n"},
    {"blanks around a value", "GET / HTTP/1.1\r\nHost: \t a \t\r\n\r\n",
     "head GET / HTTP/1.1 length=0 keep-alive\n  Host=a\nbody 0 \nend\nmore 0\n"},
    {"an empty value", "GET / HTTP/1.1\r\nHost:\r\n\r\n",
     "head GET / HTTP/1.1 length=0 keep-alive\n  Host=\nbody 0 \nend\nmore 0\n"},
    {"bytes above ASCII in a value", "GET / HTTP/1.1\r\n" H "X: \xc3\xa9\r\n\r\n",
     "head GET / HTTP/1.1 length=0 keep-alive\n  Host=a\n  X=\xc3\xa9\nbody 0 \nend\nmore 0\n"},
    {"a body with a length", "POST /x HTTP/1.1\r\n" H "Content-Length: 5\r\n\r\nhello",
     "head POST /x HTTP/1.1 length=5 keep-alive\n  Host=a\n  Content-Length=5\nbody 5 hello\nend\nmore 0\n"},
    {"half a body", "POST /x HTTP/1.1\r\n" H "Content-Length: 5\r\n\r\nhel",
     "head POST /x HTTP/1.1 length=5 keep-alive\n  Host=a\n  Content-Length=5\nmore 3\n"},
    {"a chunked body", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n",
     "head POST / HTTP/1.1 length=-1 keep-alive\n  Host=a\n  Transfer-Encoding=chunked\nbody 15 hello0123456789\nend\nmore 0\n"},
    {"trailers are forgotten", "POST / HTTP/1.1\r\n" H "transfer-encoding: CHUNKED\r\n\r\n0\r\nContent-Length: 9\r\n\r\n",
     "head POST / HTTP/1.1 length=-1 keep-alive\n  Host=a\n  transfer-encoding=CHUNKED\nbody 0 \nend\nmore 0\n"},
    {"two requests", "GET /1 HTTP/1.1\r\n" H "\r\nPOST /2 HTTP/1.1\r\n" H "Content-Length: 1\r\n\r\nxGET",
     "head GET /1 HTTP/1.1 length=0 keep-alive\n  Host=a\nbody 0 \nend\n"
     "head POST /2 HTTP/1.1 length=1 keep-alive\n  Host=a\n  Content-Length=1\nbody 1 x\nend\nmore 0\n"},
    {"HTTP/1.0 closes", "GET / HTTP/1.0\r\n\r\n", "head GET / HTTP/1.0 length=0\nbody 0 \nend\nmore 0\n"},
    {"HTTP/1.0 may keep", "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n",
     "head GET / HTTP/1.0 length=0 keep-alive\n  Connection=Keep-Alive\nbody 0 \nend\nmore 0\n"},
    {"close among others", "GET / HTTP/1.1\r\n" H "Connection: a, CLOSE ,b\r\n\r\n",
     "head GET / HTTP/1.1 length=0\n  Host=a\n  Connection=a, CLOSE ,b\nbody 0 \nend\nmore 0\n"},
    {"100-continue", "POST / HTTP/1.1\r\n" H "Expect: 100-Continue\r\nContent-Length: 2\r\n\r\n",
     "head POST / HTTP/1.1 length=2 keep-alive expect\n  Host=a\n  Expect=100-Continue\n  Content-Length=2\nmore 0\n"},
    {"100-continue without a body is nothing", "GET / HTTP/1.1\r\n" H "Expect: 100-continue\r\n\r\n",
     "head GET / HTTP/1.1 length=0 keep-alive\n  Host=a\n  Expect=100-continue\nbody 0 \nend\nmore 0\n"},
    {"upgrade to h2c", "GET / HTTP/1.1\r\n" H "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n",
     "head GET / HTTP/1.1 length=0 keep-alive h2c\n  Host=a\n  Connection=Upgrade, HTTP2-Settings\n  Upgrade=h2c\n  HTTP2-Settings=AAMAAABk\nbody 0 \nend\nmore 0\n"},
    {"upgrade to something else", "GET / HTTP/1.1\r\n" H "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
     "head GET / HTTP/1.1 length=0 keep-alive\n  Host=a\n  Connection=Upgrade\n  Upgrade=websocket\nbody 0 \nend\nmore 0\n"},
    {"a method of its own", "BREW /pot HTTP/1.1\r\n" H "\r\n",
     "head BREW /pot HTTP/1.1 length=0 keep-alive\n  Host=a\nbody 0 \nend\nmore 0\n"},
    {"OPTIONS *", "OPTIONS * HTTP/1.1\r\n" H "\r\n",
     "head OPTIONS * HTTP/1.1 length=0 keep-alive\n  Host=a\nbody 0 \nend\nmore 0\n"},
    {"a later minor version", "GET / HTTP/1.7\r\n" H "\r\n",
     "head GET / HTTP/1.1 length=0 keep-alive\n  Host=a\nbody 0 \nend\nmore 0\n"},
    {"a path as it was typed", "GET /gr\xc3\xb6\xc3\x9f" "e HTTP/1.1\r\n" H "\r\n",
     "head GET /gr\xc3\xb6\xc3\x9f" "e HTTP/1.1 length=0 keep-alive\n  Host=a\nbody 0 \nend\nmore 0\n"},
};

#define BAD_LINE "error 400 the request line is not well-formed\n"
#define BAD_NAME "error 400 a header name is not well-formed\n"
#define BAD_END  "error 400 a line ends without a carriage return\n"

static const struct parse_row invalid_rows[] = {
    {"TLS on a plain port", "\x16\x03\x01\x02", BAD_LINE},
    {"five empty lines first", "\r\n\r\n\r\n\r\n\r\nGET / HTTP/1.1\r\n", BAD_LINE},
    {"a lone carriage return first", "\rGET / HTTP/1.1\r\n", BAD_LINE},
    {"a bare line feed after the request line", "GET / HTTP/1.1\nHost: a\r\n\r\n", BAD_END},
    {"a bare line feed after a header", "GET / HTTP/1.1\r\nHost: a\n\r\n", BAD_END},
    {"a bare line feed as the empty line", "GET / HTTP/1.1\r\nHost: a\r\n\n", BAD_END},
    {"a carriage return in the request line", "GET /\r HTTP/1.1\r\n" H "\r\n", "error 400 the request target is not well-formed\n"},
    {"a carriage return in a value", "GET / HTTP/1.1\r\n" H "X: a\rb\r\n\r\n", "error 400 a header value has a control byte\n"},
    {"two carriage returns at the end", "GET / HTTP/1.1\r\n" H "X: a\r\r\n\r\n", "error 400 a header value has a control byte\n"},
    {"two blanks in the request line", "GET  / HTTP/1.1\r\n" H "\r\n", BAD_LINE},
    {"two blanks before the version", "GET /  HTTP/1.1\r\n" H "\r\n", BAD_LINE},
    {"no version", "GET /\r\n" H "\r\n", BAD_LINE},
    {"no target", "GET HTTP/1.1\r\n" H "\r\n", BAD_LINE},
    {"nothing but a method", "GET\r\n" H "\r\n", BAD_LINE},
    {"a method and a blank", "GET \r\n" H "\r\n", BAD_LINE},
    {"a version of letters", "GET / HTTP/a.b\r\n" H "\r\n", BAD_LINE},
    {"a lower-case version", "GET / http/1.1\r\n" H "\r\n", BAD_LINE},
    {"HTTP/2 in text", "GET / HTTP/2.0\r\n" H "\r\n", "error 505 the HTTP version is not supported\n"},
    {"a fragment", "GET /#a HTTP/1.1\r\n" H "\r\n", "error 400 the request target is not well-formed\n"},
    {"a star", "GET * HTTP/1.1\r\n" H "\r\n", "error 400 the request target is not well-formed\n"},
    {"a proxy's business", "CONNECT a:1 HTTP/1.1\r\n" H "\r\n", "error 501 this server is not a proxy\n"},
    {"a folded line", "GET / HTTP/1.1\r\n" H "X: a\r\n b\r\n\r\n", "error 400 a header line is folded\n"},
    {"a line folded with a tab", "GET / HTTP/1.1\r\n" H "X: a\r\n\tb\r\n\r\n", "error 400 a header line is folded\n"},
    {"a blank before the colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", BAD_NAME},
    {"a blank in a name", "GET / HTTP/1.1\r\n" H "X Y: a\r\n\r\n", BAD_NAME},
    {"no name", "GET / HTTP/1.1\r\n" H ": a\r\n\r\n", BAD_NAME},
    {"no colon", "GET / HTTP/1.1\r\n" H "X\r\n\r\n", BAD_NAME},
    {"a name above ASCII", "GET / HTTP/1.1\r\n" H "\xc3\xa9: a\r\n\r\n", BAD_NAME},
    {"a control byte in a value", "GET / HTTP/1.1\r\n" H "X: \x01\r\n\r\n", "error 400 a header value has a control byte\n"},
    {"a delete byte in a value", "GET / HTTP/1.1\r\n" H "X: \x7f\r\n\r\n", "error 400 a header value has a control byte\n"},
    {"no host", "GET / HTTP/1.1\r\n\r\n", "error 400 host is missing\n"},
    {"two hosts", "GET / HTTP/1.1\r\n" H "host: b\r\n\r\n", "error 400 duplicate host header\n"},
    {"a host with a path", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", "error 400 host is not a valid host\n"},
    {"two lengths that differ", "POST / HTTP/1.1\r\n" H "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", "error 400 duplicate content-length header\n"},
    {"two lengths that agree", "POST / HTTP/1.1\r\n" H "Content-Length: 1\r\ncontent-length: 1\r\n\r\n", "error 400 duplicate content-length header\n"},
    {"a list of lengths", "POST / HTTP/1.1\r\n" H "Content-Length: 1, 1\r\n\r\n", "error 400 content-length is not a number\n"},
    {"a negative length", "POST / HTTP/1.1\r\n" H "Content-Length: -1\r\n\r\n", "error 400 content-length is not a number\n"},
    {"a length with a sign", "POST / HTTP/1.1\r\n" H "Content-Length: +1\r\n\r\n", "error 400 content-length is not a number\n"},
    {"a length in hex", "POST / HTTP/1.1\r\n" H "Content-Length: 0x1\r\n\r\n", "error 400 content-length is not a number\n"},
    {"a length that does not fit", "POST / HTTP/1.1\r\n" H "Content-Length: 9223372036854775808\r\n\r\n", "error 400 content-length is not a number\n"},
    {"an empty length", "POST / HTTP/1.1\r\n" H "Content-Length:\r\n\r\n", "error 400 content-length is not a number\n"},
    {"length and coding", "POST / HTTP/1.1\r\n" H "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "error 400 content-length and transfer-encoding cannot both be set\n"},
    {"coding and length", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", "error 400 content-length and transfer-encoding cannot both be set\n"},
    {"two codings", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", "error 400 duplicate transfer-encoding header\n"},
    {"a coding before chunked", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: gzip, chunked\r\n\r\n", "error 501 the only supported transfer coding is chunked\n"},
    {"identity", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: identity\r\n\r\n", "error 501 the only supported transfer coding is chunked\n"},
    {"chunked with a stray byte", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: \x0b" "chunked\r\n\r\n", "error 400 a header value has a control byte\n"},
    {"a coding in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", "error 400 HTTP/1.0 has no transfer-encoding\n"},
    {"another expectation", "POST / HTTP/1.1\r\n" H "Expect: 200-ok\r\n\r\n", "error 417 the only supported expectation is 100-continue\n"},
};

#define CHUNKED "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n"
#define CHUNKED_HEAD "head POST / HTTP/1.1 length=-1 keep-alive\n  Host=a\n  Transfer-Encoding=chunked\n"
#define BAD_SIZE "error 400 a chunk size is not well-formed\n"

static const struct parse_row chunk_rows[] = {
    {"no digits", CHUNKED "\r\n", CHUNKED_HEAD BAD_SIZE},
    {"no hex", CHUNKED "g\r\n", CHUNKED_HEAD BAD_SIZE},
    {"a prefix", CHUNKED "0x1\r\n", CHUNKED_HEAD BAD_SIZE},
    {"a sign", CHUNKED "-1\r\n", CHUNKED_HEAD BAD_SIZE},
    {"a blank before the size", CHUNKED " 1\r\n", CHUNKED_HEAD BAD_SIZE},
    {"a blank after the size", CHUNKED "1 \r\na\r\n", CHUNKED_HEAD BAD_SIZE},
    {"a size of 60 bits", CHUNKED "fffffffffffffff\r\n", CHUNKED_HEAD "more 0\n"},
    {"a size of 64 bits", CHUNKED "ffffffffffffffff\r\n", CHUNKED_HEAD BAD_SIZE},
    {"leading zeros without end", CHUNKED "00000000000000000001\r\n", CHUNKED_HEAD BAD_SIZE},
    {"a control byte in an extension", CHUNKED "1;\x01\r\na\r\n", CHUNKED_HEAD BAD_SIZE},
    {"a bare line feed after a size", CHUNKED "1\na\r\n", CHUNKED_HEAD BAD_END},
    {"a bare line feed after a chunk", CHUNKED "1\r\na\n", CHUNKED_HEAD "error 400 a chunk does not match its size\n"},
    {"a chunk longer than it says", CHUNKED "1\r\nab\r\n", CHUNKED_HEAD "error 400 a chunk does not match its size\n"},
    {"a bare line feed at the end", CHUNKED "0\r\n\n", CHUNKED_HEAD BAD_END},
    {"a folded trailer", CHUNKED "0\r\nA: b\r\n c\r\n\r\n", CHUNKED_HEAD "error 400 a header line is folded\n"},
    {"a trailer without a colon", CHUNKED "0\r\nA\r\n\r\n", CHUNKED_HEAD BAD_NAME},
};
/* clang-format on */

/* Check that every way to cut the input produces the trace of the row. */
static void check_rows(const struct parse_row *rows, size_t count)
{
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    for (size_t i = 0; i < count; i++) {
        struct str input = str_from_z(rows[i].input);
        for (size_t cut = 0; cut <= input.len; cut++) {
            struct buf trace;
            size_t piece = cut == 0 ? 1 : input.len; /* first: byte by byte */
            http1_trace_run(&limits, input, cut, piece, &trace);
            if (!str_eq(buf_str(&trace), str_from_z(rows[i].trace))) {
                ROW(rows[i].name);
                print_message("cut at %zu, said:\n" STR_FMT, cut, STR_ARG(buf_str(&trace)));
                fail();
            }
            buf_deinit(&trace);
        }
    }
}

static void http1_parser__reads_what_is_well_formed(void **state)
{
    (void)state;
    check_rows(valid_rows, COUNT_OF(valid_rows));
}

static void http1_parser__refuses_what_could_be_read_differently(void **state)
{
    (void)state;
    check_rows(invalid_rows, COUNT_OF(invalid_rows));
}

static void http1_parser__refuses_bad_chunks(void **state)
{
    (void)state;
    check_rows(chunk_rows, COUNT_OF(chunk_rows));
}

/* Not in the tables, because a row cannot contain a NUL. */
static void http1_parser__refuses_nul_bytes_everywhere(void **state)
{
    (void)state;
    static const char good[] = "POST /abc HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n";
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    for (size_t i = 0; i < sizeof good - 1; i++) {
        char bad[sizeof good];
        struct buf trace;
        memcpy(bad, good, sizeof good);
        bad[i] = '\0';
        http1_trace_run(&limits, str_from(bad, sizeof bad - 1), 0, sizeof bad, &trace);
        /* If the NUL replaces one of the last line feeds, the head does not end. Otherwise the
         * request is refused. */
        assert_true(str_starts_with(buf_str(&trace), STR("error 400")) ||
                    (good[i] == '\n' && str_eq(buf_str(&trace), STR("more 0\n"))));
        buf_deinit(&trace);
    }
}

struct limit_row {
    const char *name;
    const char *before;
    char fill;
    size_t fill_count;
    const char *after;
    const char *last_line; /* of the trace */
};

static void http1_parser__keeps_to_its_limits(void **state)
{
    (void)state;
    /* clang-format off */
    static const struct limit_row rows[] = {
        {"a request line of the limit",   "GET /", 'a', 100 - 16, " HTTP/1.1\r\n" H "\r\n", "more 0\n"},
        {"a request line past the limit", "GET /", 'a', 101 - 16, " HTTP/1.1\r\n" H "\r\n", "error 414 the request line is too long\n"},
        {"a request line without end",    "GET /", 'a', 100,      "",                       "error 414 the request line is too long\n"},
        {"a head of the limit",           "GET / HTTP/1.1\r\n" H "X: ", 'a', 200 - 32, "\r\n\r\n", "more 0\n"},
        {"a head past the limit",         "GET / HTTP/1.1\r\n" H "X: ", 'a', 201 - 32, "\r\n\r\n", "error 431 the request head is too long\n"},
        {"a head without end",            "GET / HTTP/1.1\r\n" H "X: ", 'a', 300,      "",         "error 431 the request head is too long\n"},
        {"headers past the limit",        "GET / HTTP/1.1\r\n" H "a:\r\nb:\r\nc:\r\nd:\r\n", ' ', 0, "\r\n", "error 431 too many headers\n"},
        {"extensions of the limit",       CHUNKED "1;", 'a', 15, "\r\nx\r\n0\r\n\r\n", "more 0\n"},
        {"extensions past the limit",     CHUNKED "1;", 'a', 16, "\r\nx\r\n0\r\n\r\n", "error 400 the chunk extensions are too long\n"},
        {"extensions without end",        CHUNKED "1;", 'a', 99, "",                   "error 400 a chunk header or trailer line is too long\n"},
        {"many small extensions",         CHUNKED "1;aaaaaaaaaaa\r\nx\r\n1;", 'a', 8, "\r\nx\r\n", "error 400 the chunk extensions are too long\n"},
        {"trailers past the limit",       CHUNKED "0\r\nX: ", 'a', 200, "\r\n\r\n",    "error 400 a chunk header or trailer line is too long\n"},
        {"many trailers",                 CHUNKED "0\r\na:\r\nb:\r\nc:\r\nd:\r\ne:\r\n", ' ', 0, "\r\n", "error 431 too many headers\n"},
    };
    /* clang-format on */
    struct http_limits limits = HTTP_LIMITS_DEFAULT;
    limits.request_line_bytes = 100;
    limits.header_bytes = 200;
    limits.header_count = 4;
    limits.chunk_extension_bytes = 16;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf input;
        buf_init(&input, SIZE_MAX);
        buf_add_str(&input, str_from_z(rows[i].before));
        for (size_t n = 0; n < rows[i].fill_count; n++) {
            buf_add_char(&input, rows[i].fill);
        }
        buf_add_str(&input, str_from_z(rows[i].after));
        for (size_t piece = 1; piece <= input.len; piece += 1) {
            struct buf trace;
            http1_trace_run(&limits, buf_str(&input), 0, piece, &trace);
            struct str said = buf_str(&trace);
            struct str want = str_from_z(rows[i].last_line);
            if (said.len < want.len || !str_eq(str_from_offset(said, said.len - want.len), want)) {
                ROW(rows[i].name);
                print_message("pieces of %zu, said:\n" STR_FMT, piece, STR_ARG(said));
                fail();
            }
            buf_deinit(&trace);
        }
        buf_deinit(&input);
    }
}

TEST_GROUP(http1_parser, cmocka_unit_test(http1_parser__reads_what_is_well_formed),
           cmocka_unit_test(http1_parser__refuses_what_could_be_read_differently),
           cmocka_unit_test(http1_parser__refuses_bad_chunks),
           cmocka_unit_test(http1_parser__refuses_nul_bytes_everywhere),
           cmocka_unit_test(http1_parser__keeps_to_its_limits));
