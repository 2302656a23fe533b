#include "raftlog/segment.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/crc32c.h"
#include "lib/exact.h"
#include "lib/test.h"

enum { GENERATION = 7, IMAGE_BYTES_MAX = 1 << 20 };

static const struct segment_id id = {.key = 0x1122334455667788, .generation = GENERATION};
static const struct segment_id earlier = {.key = 0x1122334455667788, .generation = GENERATION - 1};

/* Write the batch into the image of a file, at the offset. */
static void write_to(struct buf *image, size_t offset, const struct segment_batch *b)
{
    for (unsigned i = 0; i < b->iov_count; i++) {
        assert_true(offset + b->iov[i].iov_len <= image->len);
        memcpy(image->ptr + offset, b->iov[i].iov_base, b->iov[i].iov_len);
        offset += b->iov[i].iov_len;
    }
}

static struct buf blank_image(size_t bytes)
{
    struct buf image;
    buf_init(&image, IMAGE_BYTES_MAX);
    char *room = buf_reserve(&image, bytes);
    assert_non_null(room);
    memset(room, 0, bytes);
    image.len = bytes;
    return image;
}

static const struct segment_record sample[] = {
    {.type = SEGMENT_CHANGE, .index = 10, .term = 2, .payload = {.ptr = "members!", .len = 8}},
    {.type = SEGMENT_COMMAND, .index = 11, .term = 2, .payload = {.ptr = "abc", .len = 3}},
    {.type = SEGMENT_BARRIER, .index = 12, .term = 3, .payload = {.ptr = NULL, .len = 0}},
    {.type = SEGMENT_TRUNCATE, .index = 11, .flushed = 64},
    {.type = SEGMENT_COMMAND, .index = 11, .term = 4, .payload = {.ptr = "12345678", .len = 8}},
    {.type = SEGMENT_RESET, .index = 900, .flushed = 72},
    {.type = SEGMENT_SEAL, .index = 8, .flushed = 72},
};

/* Return the image of a segment that contains the sample. */
static struct buf sample_image(struct segment_id which)
{
    struct segment_batch *b = calloc(1, sizeof *b);
    CHECK(b != NULL);
    struct buf image = blank_image(1024);
    segment_batch_begin(b, which, 10, 0);
    for (size_t i = 0; i < COUNT_OF(sample); i++) {
        segment_batch_add(b, segment_seed(which), &sample[i]);
    }
    write_to(&image, 0, b);
    free(b);
    return image;
}

static void assert_record_equal(const struct segment_record *a, const struct segment_record *b)
{
    assert_int_equal(a->type, b->type);
    assert_int_equal(a->index, b->index);
    assert_int_equal(a->term, b->term);
    assert_int_equal(a->flushed, b->flushed);
    assert_true(str_eq(a->payload, b->payload));
}

/* Count the valid records before the first invalid one. */
static size_t count_valid(struct segment_scan *s)
{
    struct segment_record r;
    size_t n = 0;
    while (segment_scan_next(s, &r)) {
        n++;
    }
    return n;
}

static void scan__gives_back_what_was_written(void **state)
{
    (void)state;
    struct buf image = sample_image(id);
    struct segment_scan s;
    struct segment_record r;
    assert_true(segment_scan_begin(&s, buf_str(&image), id));
    assert_int_equal(s.first_index, 10);
    for (size_t i = 0; i < COUNT_OF(sample); i++) {
        assert_int_equal(s.at % SEGMENT_ALIGN, 0);
        assert_true(segment_scan_next(&s, &r));
        assert_record_equal(&r, &sample[i]);
    }
    assert_false(segment_scan_next(&s, &r));
    assert_int_equal(s.stop, SEGMENT_BLANK);
    assert_false(segment_scan_next(&s, &r));
    buf_deinit(&image);
}

static void scan__does_not_see_records_of_another_generation(void **state)
{
    (void)state;
    /* A file that was full of generation 6 and has one record of generation 7. */
    struct buf image = sample_image(earlier);
    struct segment_batch *b = calloc(1, sizeof *b);
    assert_non_null(b);
    segment_batch_begin(b, id, 13, 0);
    struct segment_record r = {
        .type = SEGMENT_CHANGE, .index = 13, .term = 9, .payload = STR("8 bytes.")};
    segment_batch_add(b, segment_seed(id), &r);
    write_to(&image, 0, b);
    free(b);
    struct segment_scan s;
    assert_true(segment_scan_begin(&s, buf_str(&image), id));
    assert_int_equal(count_valid(&s), 1);
    assert_int_equal(s.stop, SEGMENT_BAD_CHECKSUM);
    size_t offset = s.at;
    assert_false(segment_find(&s, &offset, &r));
    assert_false(segment_scan_begin(&s, buf_str(&image), earlier));
    buf_deinit(&image);
}

static void scan__sees_every_flipped_bit(void **state)
{
    (void)state;
    struct buf image = sample_image(id);
    struct segment_scan s;
    assert_true(segment_scan_begin(&s, buf_str(&image), id));
    size_t all = count_valid(&s);
    size_t end = s.at;
    for (size_t bit = 0; bit < end * 8; bit++) {
        image.ptr[bit / 8] = (char)(image.ptr[bit / 8] ^ (1 << bit % 8));
        bool begun = segment_scan_begin(&s, buf_str(&image), id);
        size_t valid = count_valid(&s);
        /* The padding of a payload to 8 bytes is not covered by the checksum and has no meaning. */
        bool filler = bit / 8 >= 64 + 40 + 32 + 3 && bit / 8 < 64 + 40 + 40;
        assert_true(filler ? begun && valid == all : valid < all);
        assert_true(begun == (bit / 8 >= SEGMENT_HEADER_BYTES));
        image.ptr[bit / 8] = (char)(image.ptr[bit / 8] ^ (1 << bit % 8));
    }
    buf_deinit(&image);
}

static void scan__ends_at_every_length_without_reading_past_it(void **state)
{
    (void)state;
    struct buf image = sample_image(id);
    for (size_t len = 0; len <= image.len; len++) {
        struct str cut = exact_copy(image.ptr, len);
        struct segment_scan s;
        bool begun = segment_scan_begin(&s, cut, id);
        assert_true(begun == (len >= SEGMENT_HEADER_BYTES));
        (void)count_valid(&s);
        assert_true(s.at <= len);
        exact_free(cut);
    }
    buf_deinit(&image);
}

static void scan__knows_a_later_format_from_no_format(void **state)
{
    (void)state;
    struct buf image = sample_image(id);
    struct segment_scan s;
    image.ptr[8] = SEGMENT_VERSION + 1; /* this makes the checksum, at 12, wrong */
    assert_false(segment_scan_begin(&s, buf_str(&image), id));
    assert_int_equal(s.stop, SEGMENT_NOT_BEGUN);
    memset(image.ptr + 12, 0, 4);
    uint32_t crc = htole32(crc32c_update(0, image.ptr, SEGMENT_HEADER_BYTES));
    memcpy(image.ptr + 12, &crc, sizeof crc);
    assert_false(segment_scan_begin(&s, buf_str(&image), id));
    assert_int_equal(s.stop, SEGMENT_OTHER_VERSION);
    buf_deinit(&image);
}

/* A client can send a payload that consists of records of every possible generation, but does not
 * know the key. */
static void scan__does_not_see_what_was_written_without_the_key(void **state)
{
    (void)state;
    struct segment_id guess = id;
    struct segment_scan s;
    struct segment_record r;
    guess.key = 0;
    struct buf image = sample_image(guess);
    assert_false(segment_scan_begin(&s, buf_str(&image), id));
    assert_int_equal(s.stop, SEGMENT_OTHER_LOG);
    size_t offset = 0;
    assert_false(segment_find(&s, &offset, &r));
    uint64_t key = 1;
    assert_true(segment_key(buf_str(&image), &key));
    assert_int_equal(key, 0);
    buf_deinit(&image);
}

static void find__tells_a_torn_write_from_a_damaged_record(void **state)
{
    (void)state;
    struct buf image = sample_image(id);
    struct segment_scan s;
    struct segment_record r;
    /* Damage the second record, at 104. The fourth was written when 64 bytes were on disk, the last
     * when 72 were, so neither proves that the second was on disk. */
    image.ptr[104 + 33] = 'X';
    assert_true(segment_scan_begin(&s, buf_str(&image), id));
    assert_int_equal(count_valid(&s), 1);
    assert_int_equal(s.at, 104);
    size_t offset = s.at;
    size_t found = 0;
    while (segment_find(&s, &offset, &r)) {
        assert_true(r.flushed <= s.at);
        found++;
    }
    assert_int_equal(found, COUNT_OF(sample) - 2);
    /* Damage the first record, too. The last record proves that it was on disk. */
    image.ptr[64 + 33] = 'X';
    assert_true(segment_scan_begin(&s, buf_str(&image), id));
    assert_int_equal(count_valid(&s), 0);
    offset = s.at;
    uint64_t flushed_max = 0;
    while (segment_find(&s, &offset, &r)) {
        flushed_max = r.flushed > flushed_max ? r.flushed : flushed_max;
    }
    assert_true(flushed_max > s.at);
    buf_deinit(&image);
}

/* Zeros are skipped in pieces of 4 KiB. */
static void find__sees_a_record_wherever_it_is_behind_zeros(void **state)
{
    (void)state;
    enum { BYTES = 12 << 10 };
    const struct segment_record first = {.type = SEGMENT_BARRIER, .index = 5, .term = 1};
    struct segment_batch *b = calloc(1, sizeof *b);
    assert_non_null(b);
    segment_batch_add(b, segment_seed(id), &first);
    for (size_t at = 0; at + SEGMENT_RECORD_BYTES <= BYTES; at += SEGMENT_ALIGN) {
        struct buf image = blank_image(BYTES);
        struct segment_scan s;
        struct segment_record r;
        size_t offset = 0;
        write_to(&image, at, b);
        assert_false(segment_scan_begin(&s, buf_str(&image), id));
        assert_true(segment_find(&s, &offset, &r));
        assert_record_equal(&r, &first);
        assert_int_equal(offset, at + SEGMENT_RECORD_BYTES);
        assert_false(segment_find(&s, &offset, &r));
        buf_deinit(&image);
    }
    free(b);
}

/* A payload that consists of record headers, each of which claims the rest as its payload. */
static void find__is_not_slowed_down_by_payloads_that_look_like_records(void **state)
{
    (void)state;
    enum { BYTES = IMAGE_BYTES_MAX };
    struct buf image = blank_image(BYTES);
    for (size_t at = 64; at + 64 < BYTES; at += 32) {
        uint32_t length = (uint32_t)(BYTES - at - 64);
        uint64_t index = 1;
        memcpy(image.ptr + at + 4, &length, sizeof length);
        memcpy(image.ptr + at + 8, &index, sizeof index);
        image.ptr[at + 28] = SEGMENT_COMMAND;
    }
    struct segment_scan s;
    struct segment_record r;
    size_t offset = 0;
    (void)segment_scan_begin(&s, buf_str(&image), id);
    assert_false(segment_find(&s, &offset, &r));
    assert_true(s.find_bytes < BYTES); /* it stopped instead of reading 17 GB */
    buf_deinit(&image);
}

TEST_GROUP(segment, cmocka_unit_test(scan__gives_back_what_was_written),
           cmocka_unit_test(scan__does_not_see_records_of_another_generation),
           cmocka_unit_test(scan__sees_every_flipped_bit),
           cmocka_unit_test(scan__ends_at_every_length_without_reading_past_it),
           cmocka_unit_test(scan__knows_a_later_format_from_no_format),
           cmocka_unit_test(scan__does_not_see_what_was_written_without_the_key),
           cmocka_unit_test(find__tells_a_torn_write_from_a_damaged_record),
           cmocka_unit_test(find__sees_a_record_wherever_it_is_behind_zeros),
           cmocka_unit_test(find__is_not_slowed_down_by_payloads_that_look_like_records));
