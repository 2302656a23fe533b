/*
 * Machine bench: the state machine with its store, without Raft, log or threads.
 *
 *   machine_bench [--dir DIR] [--ops N] [--batch N] [--jobs N]
 *                                                    cost per operation, memory per job, restart
 *   machine_bench --fill DIR N                       create a state with N waiting jobs
 *   machine_bench --claims DIR K                     claim K of them, ten per entry, for
 *                                                    claim_flat.sh
 *
 * Entries are made in advance, so that only machine_apply and the background work of RocksDB are
 * measured. The ids of jobs follow from the entry's time and index, so entries with acks can be
 * made before the jobs exist.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/limits.h"
#include "fsm/command/command.h"
#include "fsm/machine.h"
#include "lib/meter.h"
#include "os/os_clock.h"
#include "os/os_file.h"
#include "store/store_docs.h"

enum { PAYLOAD_BYTES = 200, FILL_BATCH = 512, DISK_BATCH = 128 };

static const struct str queue_name = {.ptr = "bench", .len = 5};

struct bench {
    struct machine *machine;
    struct wall now;
    uint64_t index; /* of the last entry */
    char payload[PAYLOAD_BYTES];
};

static void open_machine(struct bench *b, const char *dir)
{
    const struct machine_hooks hooks = {0};
    struct err err;
    if (machine_open(dir, &hooks, &b->machine, &err) != ERR_OK) {
        check_fatal("%s", err.msg);
    }
    b->now = os_clock_wall();
    b->index = machine_applied_index(b->machine);
    memset(b->payload, 'x', sizeof b->payload);
    b->payload[0] = b->payload[PAYLOAD_BYTES - 1] = '"';
}

/* Entries */

static void add_enqueue(const struct bench *b, struct buf *entry)
{
    struct command_new job = {.job = {.queue = queue_name,
                                      .payload = str_from(b->payload, PAYLOAD_BYTES),
                                      .priority = JOB_PRIORITY_NORMAL,
                                      .backoff = JOB_BACKOFF_EXPONENTIAL,
                                      .max_retries = JOB_MAX_RETRIES,
                                      .retry_base_ms = JOB_RETRY_BASE_MS,
                                      .retry_max_ms = JOB_RETRY_MAX_MS}};
    struct command c = {.type = COMMAND_ENQUEUE, .enqueue = {.jobs = &job, .count = 1}};
    struct buf bytes;
    buf_init(&bytes, LIMIT_OP_BYTES);
    command_encode(&c, &bytes);
    command_entry_add(entry, buf_str(&bytes));
    buf_deinit(&bytes);
}

static void add_claim(struct buf *entry)
{
    struct str queue = queue_name;
    struct command c = {.type = COMMAND_CLAIM,
                        .claim = {.queues = &queue,
                                  .queue_count = 1,
                                  .worker_id = STR("bench-worker"),
                                  .lease_ms = JOB_LEASE_MS,
                                  .count = 1}};
    struct buf bytes;
    buf_init(&bytes, LIMIT_OP_BYTES);
    command_encode(&c, &bytes);
    command_entry_add(entry, buf_str(&bytes));
    buf_deinit(&bytes);
}

static void add_ack(struct buf *entry, struct id id)
{
    struct command_ack_item item = {.id = id};
    struct command c = {.type = COMMAND_ACK, .ack = {.items = &item, .count = 1}};
    struct buf bytes;
    buf_init(&bytes, LIMIT_OP_BYTES);
    command_encode(&c, &bytes);
    command_entry_add(entry, buf_str(&bytes));
    buf_deinit(&bytes);
}

enum kind { ENQUEUE, CLAIM, ACK };
enum { CLAIMS_PER_ENTRY = 10 };

/* An entry of count commands. Acks are for the jobs that the entry at index `of` creates. */
static struct buf make_entry(const struct bench *b, enum kind kind, uint32_t count, uint64_t of)
{
    struct buf entry;
    buf_init(&entry, LIMIT_OP_BYTES);
    command_entry_begin(&entry, COMMAND_ENTRY_VERSION, b->now, true);
    for (uint32_t i = 0; i < count; i++) {
        if (kind == ENQUEUE) {
            add_enqueue(b, &entry);
        } else if (kind == CLAIM) {
            add_claim(&entry);
        } else {
            add_ack(&entry, id_make(b->now, of, i));
        }
    }
    command_entry_end(&entry, count);
    CHECK(!entry.overflow);
    return entry;
}

static void apply(struct bench *b, const struct buf *entry)
{
    machine_apply(b->machine, ++b->index, buf_str(entry));
}

static void check_results(const struct bench *b, uint32_t want_count)
{
    uint32_t count;
    const struct result *r = machine_results(b->machine, &count);
    for (uint32_t i = 0; i < count; i++) {
        CHECK(r[i].code == ERR_OK);
        CHECK(r[i].count == want_count);
    }
}

/* Cost per operation */

static void print_cost_head(void)
{
    printf("%-10s %5s %10s %10s %10s   CPU µs/op\n", "phase", "batch", "apply", "background",
           "total");
}

static void print_cost(const char *name, uint32_t batch, struct meter m, uint64_t ops)
{
    double n = (double)ops;
    printf("%-10s %5u %10.2f %10.2f %10.2f\n", name, batch, (double)m.thread_cpu_ns / n / 1e3,
           (double)(m.cpu_ns - m.thread_cpu_ns) / n / 1e3, (double)m.cpu_ns / n / 1e3);
    (void)fflush(stdout);
}

static void run_same(struct bench *b, const char *name, enum kind kind, uint32_t batch,
                     uint32_t entries)
{
    struct buf entry = make_entry(b, kind, batch, 0);
    struct meter start = meter_now();
    for (uint32_t i = 0; i < entries; i++) {
        apply(b, &entry);
        check_results(b, 1);
    }
    print_cost(name, batch, meter_since(start), (uint64_t)entries * batch);
    buf_deinit(&entry);
}

/* Acks for the jobs of `entries` enqueue entries. The first of these entries is at index `of`, the
 * others follow at intervals of step. */
static struct buf *make_acks(const struct bench *b, uint32_t batch, uint32_t entries, uint64_t of,
                             uint64_t step)
{
    struct buf *acks = calloc(entries, sizeof *acks);
    CHECK(acks != NULL);
    for (uint32_t i = 0; i < entries; i++) {
        acks[i] = make_entry(b, ACK, batch, of + i * step);
    }
    return acks;
}

static void free_acks(struct buf *acks, uint32_t entries)
{
    for (uint32_t i = 0; i < entries; i++) {
        buf_deinit(&acks[i]);
    }
    free(acks);
}

static void run_acks(struct bench *b, uint32_t batch, uint32_t entries, uint64_t of)
{
    struct buf *acks = make_acks(b, batch, entries, of, 1);
    struct meter start = meter_now();
    for (uint32_t i = 0; i < entries; i++) {
        apply(b, &acks[i]);
        check_results(b, 0);
    }
    print_cost("ack", batch, meter_since(start), (uint64_t)entries * batch);
    free_acks(acks, entries);
}

/* Enqueue, claim, ack: three operations per job. */
static void run_lifecycles(struct bench *b, uint32_t batch, uint32_t entries)
{
    struct buf enqueue = make_entry(b, ENQUEUE, batch, 0);
    struct buf claim = make_entry(b, CLAIM, batch, 0);
    struct buf *acks = make_acks(b, batch, entries, b->index + 1, 3);
    struct meter start = meter_now();
    for (uint32_t i = 0; i < entries; i++) {
        apply(b, &enqueue);
        apply(b, &claim);
        check_results(b, 1);
        apply(b, &acks[i]);
        check_results(b, 0);
    }
    print_cost("lifecycle", batch, meter_since(start), (uint64_t)entries * batch * 3);
    free_acks(acks, entries);
    buf_deinit(&enqueue);
    buf_deinit(&claim);
}

/* only: measure just this batch size; 0: all sizes. */
static void run_costs(const char *dir, uint64_t ops, uint32_t only)
{
    static const uint32_t batches[] = {1, 32, 128, 512};
    print_cost_head();
    for (size_t i = 0; i < (only != 0 ? 1 : COUNT_OF(batches)); i++) {
        struct bench b = {0};
        uint32_t batch = only != 0 ? only : batches[i];
        uint32_t entries = (uint32_t)(ops / batch / (batch == 1 ? 4 : 1));
        os_file_discard(dir);
        open_machine(&b, dir);
        uint64_t first = b.index + 1;
        run_same(&b, "enqueue", ENQUEUE, batch, entries);
        run_same(&b, "claim", CLAIM, batch, entries);
        run_acks(&b, batch, entries, first);
        run_lifecycles(&b, batch, entries / 3 + 1);
        machine_close(b.machine);
    }
    os_file_discard(dir);
}

/* Memory and restart */

static void fill(struct bench *b, uint64_t jobs)
{
    struct buf entry = make_entry(b, ENQUEUE, FILL_BATCH, 0);
    while (jobs >= FILL_BATCH) {
        apply(b, &entry);
        jobs -= FILL_BATCH;
    }
    buf_deinit(&entry);
    if (jobs > 0) {
        entry = make_entry(b, ENQUEUE, (uint32_t)jobs, 0);
        apply(b, &entry);
        buf_deinit(&entry);
    }
}

/* Allocated memory, except RocksDB's write buffers and block cache, which do not grow with the
 * number of jobs. The document cache is full in both of the states that are compared. */
static int64_t growing_bytes(const struct bench *b)
{
    struct kv_stats stats;
    kv_stats(machine_store(b->machine)->kv, &stats);
    return (int64_t)meter_heap_bytes() - (int64_t)stats.memtable_bytes - (int64_t)stats.cache_bytes;
}

static void run_memory(const char *dir, uint64_t jobs)
{
    struct bench b = {0};
    os_file_discard(dir);
    open_machine(&b, dir);
    fill(&b, jobs / 2);
    int64_t half = growing_bytes(&b);
    uint64_t rest = jobs - jobs / 2;
    fill(&b, rest);
    int64_t all = growing_bytes(&b);
    printf("\n%" PRIu64 " waiting jobs: %.1f bytes of index each, %.1f of heap; peak %.0f MB\n",
           jobs, (double)machine_index_bytes(b.machine) / (double)jobs,
           (double)(all - half) / (double)rest, (double)meter_peak_bytes() / 1e6);
    machine_close(b.machine);
    struct meter start = meter_now();
    open_machine(&b, dir);
    struct meter m = meter_since(start);
    CHECK(machine_live_count(b.machine) == jobs);
    printf("restart: %.2f s, %.2f s of CPU\n", (double)m.wall_ns / 1e9, (double)m.cpu_ns / 1e9);
    /* None of these documents is in memory now. */
    print_cost_head();
    run_same(&b, "from disk", CLAIM, DISK_BATCH, (uint32_t)(jobs / 4 / DISK_BATCH));
    machine_close(b.machine);
    os_file_discard(dir);
}

/* Claims, for claim_flat.sh */

static int run_fill(const char *dir, uint64_t jobs)
{
    struct bench b = {0};
    os_file_discard(dir);
    open_machine(&b, dir);
    fill(&b, jobs);
    machine_close(b.machine);
    return 0;
}

/* Read the documents of the first jobs in line once from the store, so that the cost of loading a
 * table's index and filter is not counted as a cost of the first claim. */
static void warm_up(const struct bench *b, uint32_t count)
{
    struct store *s = machine_store(b->machine);
    struct kv_iter *it = kv_iter_new(s->kv, NULL, STORE_LIVE, STR_EMPTY);
    for (uint32_t i = 0; i < count && kv_iter_valid(it); i++, kv_iter_next(it)) {
        struct buf doc;
        struct id id;
        memcpy(id.b, kv_iter_key(it).ptr, ID_BYTES);
        buf_init(&doc, SIZE_MAX);
        bool found = store_docs_read(s, id, &doc);
        CHECK(found);
        buf_deinit(&doc);
    }
    store_end_walk(it);
}

static int run_claims(const char *dir, uint32_t count)
{
    struct bench b = {0};
    open_machine(&b, dir);
    struct buf entry = make_entry(&b, CLAIM, CLAIMS_PER_ENTRY, 0);
    warm_up(&b, count);
    for (uint32_t i = 0; i < count; i += CLAIMS_PER_ENTRY) {
        meter_count_instructions(true);
        apply(&b, &entry);
        meter_count_instructions(false);
        check_results(&b, 1);
    }
    buf_deinit(&entry);
    machine_close(b.machine);
    return 0;
}

int main(int argc, char **argv)
{
    const char *dir = "bench-data";
    int64_t ops = 150000; /* few enough that the documents fit into the cache */
    int64_t jobs = 1000000;
    int64_t batch = 0;
    int64_t number = 0;
    if (argc == 4 && str_to_i64(str_from_z(argv[3]), &number) && number > 0) {
        if (strcmp(argv[1], "--fill") == 0) {
            return run_fill(argv[2], (uint64_t)number);
        }
        if (strcmp(argv[1], "--claims") == 0) {
            return run_claims(argv[2], (uint32_t)number);
        }
    }
    for (int i = 1; i + 1 < argc; i += 2) {
        struct str arg = str_from_z(argv[i]);
        struct str value = str_from_z(argv[i + 1]);
        if (str_eq(arg, STR("--dir"))) {
            dir = argv[i + 1];
        } else if (!((str_eq(arg, STR("--ops")) && str_to_i64(value, &ops)) ||
                     (str_eq(arg, STR("--batch")) && str_to_i64(value, &batch)) ||
                     (str_eq(arg, STR("--jobs")) && str_to_i64(value, &jobs)))) {
            (void)fprintf(stderr, "machine_bench: do not know '%s'\n", argv[i]);
            return 2;
        }
    }
    if (ops > 0) {
        run_costs(dir, (uint64_t)ops, (uint32_t)batch);
    }
    if (jobs > 0) {
        run_memory(dir, (uint64_t)jobs);
    }
    return 0;
}
