/*
 * Crashes: the store has no write-ahead log, so a killed process loses commits. But the state found
 * afterwards is that of one commit in all families, never a mixture.
 *
 * The writer that is killed needs a new process, because the threads of RocksDB do not survive a
 * fork. So the test starts its own executable again, with the folder in an environment variable
 * that is read before main.
 */
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/pack.h"
#include "base/unpack.h"
#include "kv/kv.h"
#include "lib/expect.h"
#include "lib/rng.h"
#include "lib/test.h"
#include "lib/tmpdir.h"

#define WRITER_DIR "CORVO_TEST_KV_WRITER"

enum { FAMILIES = 3, KEYS = 40, VALUE_BYTES = 400, ROUNDS = 12 };
static const char *const names[FAMILIES] = {"one", "two", "three"};

/* Small write buffers and a window of a few commits, so that there are many flushes while the
 * writer runs. */
static const struct kv_config config = {.families = names,
                                        .family_count = FAMILIES,
                                        .hinted_families = 1U << 1,
                                        .write_buffer_bytes = 64 << 10,
                                        .window_bytes = 2 << 10};

static struct kv *open_or_stop(const char *path)
{
    struct kv *kv = NULL;
    struct err err;
    if (kv_open(path, &config, &kv, &err) != ERR_OK) {
        check_fatal("%s", err.msg);
    }
    return kv;
}

/* Return the number that a commit has written under a key, 0 if there is none. */
static uint64_t number_at(struct kv *kv, unsigned family, struct str key)
{
    struct buf value;
    struct err err;
    bool found = false;
    buf_init(&value, 1 << 16);
    CHECK(kv_get(kv, NULL, family, key, &value, &found, &err) == ERR_OK);
    struct unpack u = unpack_from(buf_str(&value));
    uint64_t n = found ? unpack_u64(&u) : 0;
    buf_deinit(&value);
    return n;
}

/* Make commit n: write n under "index" in every family, and under the key n % KEYS in the family n
 * % FAMILIES, there followed by bytes that fill the buffers. */
static void commit_number(struct kv *kv, struct kv_batch *batch, uint64_t n)
{
    struct buf value;
    struct err err;
    char key = (char)('A' + n % KEYS);
    buf_init(&value, 1 << 16);
    pack_u64(&value, n);
    for (unsigned family = 0; family < FAMILIES; family++) {
        kv_put(batch, family, STR("index"), buf_str(&value));
    }
    for (unsigned i = 0; i < VALUE_BYTES; i++) {
        pack_u8(&value, (uint8_t)hash_u64(n + i)); /* so that LZ4 cannot compress it */
    }
    kv_put(batch, (unsigned)(n % FAMILIES), str_from(&key, 1), buf_str(&value));
    buf_deinit(&value);
    CHECK(kv_commit(kv, batch, &err) == ERR_OK);
}

/* The writer: continues from the commit that it finds and reports each commit, until it is
 * killed. */
__attribute__((constructor)) static void write_when_asked(void)
{
    const char *dir = getenv(WRITER_DIR);
    if (dir == NULL) {
        return;
    }
    struct kv *kv = open_or_stop(dir);
    struct kv_batch *batch = kv_batch_new(kv);
    for (uint64_t n = number_at(kv, 0, STR("index")) + 1;; n++) {
        commit_number(kv, batch, n);
        CHECK(write(STDOUT_FILENO, ".", 1) == 1);
    }
}

static pid_t start_writer(const char *dir, int *out_told)
{
    int ends[2];
    char folder[OS_FILE_PATH_MAX + 64];
    char *argv[] = {(char[]){"writer"}, NULL};
    char *envp[] = {folder, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    (void)snprintf(folder, sizeof folder, WRITER_DIR "=%s", dir);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
    assert_int_equal(posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO), 0);
    assert_int_equal(posix_spawn(&pid, "/proc/self/exe", &actions, NULL, argv, envp), 0);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(ends[1]);
    *out_told = ends[0];
    return pid;
}

/* Kill the writer after it has reported this many commits. Returns how many it has reported in
 * all. */
static uint64_t run_writer(const char *dir, uint64_t commits)
{
    int told = -1;
    int status = 0;
    char bytes[64];
    uint64_t seen = 0;
    pid_t pid = start_writer(dir, &told);
    while (seen < commits) {
        ssize_t n = read(told, bytes, sizeof bytes);
        assert_true(n > 0);
        seen += (uint64_t)n;
    }
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    for (ssize_t n = 1; n > 0; seen += (uint64_t)n) {
        n = read(told, bytes, sizeof bytes);
        assert_true(n >= 0);
    }
    (void)close(told);
    return seen;
}

/* Check that the store contains the result of the commits 1 to n, and nothing else. */
static void expect_state_of_commit(struct kv *kv, uint64_t n)
{
    for (unsigned family = 0; family < FAMILIES; family++) {
        assert_int_equal(number_at(kv, family, STR("index")), n);
        for (unsigned k = 0; k < KEYS; k++) {
            char key = (char)('A' + k);
            uint64_t last = n;
            while (last > 0 && (last % KEYS != k || last % FAMILIES != family)) {
                last--;
            }
            assert_int_equal(number_at(kv, family, str_from(&key, 1)), last);
        }
    }
}

static void crash__leaves_the_state_of_one_commit_in_all_families(void **state)
{
    (void)state;
    struct tmpdir dir = tmpdir_new();
    struct os_file_path path = tmpdir_path(&dir, "kv");
    struct rng rng = rng_from(3);
    uint64_t kept = 0;
    bool lost_some = false;
    bool kept_some = false;
    /* Until both have occurred: how many commits a flush includes depends on the machine. */
    for (unsigned round = 0; round < ROUNDS || !lost_some || !kept_some; round++) {
        assert_true(round < 50 * ROUNDS);
        uint64_t told = run_writer(path.z, 1 + rng_below(&rng, 800));
        struct kv *kv = open_or_stop(path.z);
        uint64_t found = number_at(kv, 0, STR("index"));
        expect_state_of_commit(kv, found);
        /* Not behind the state found before, and not ahead of the commits made: the last commit may
         * be unreported. */
        assert_in_range(found, kept, kept + told + 1);
        lost_some = lost_some || found < kept + told;
        kept_some = kept_some || found > kept;
        kept = found;
        kv_close(kv);
    }
    tmpdir_remove(&dir);
}

TEST_GROUP(kv_crash, cmocka_unit_test(crash__leaves_the_state_of_one_commit_in_all_families));
