/*
 * Fuzz: the list of tables of a store. A tear is inside the file, and a file that is cleared from
 * there on is torn at the same place, or not at all.
 *
 * The corpus is a list of RocksDB, complete and torn.
 */
#include "kv/kv_manifest.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum kv_manifest_found read_all(struct str file, uint64_t *out_at)
{
    struct kv_manifest_walk walk = {0};
    enum kv_manifest_found found = KV_MANIFEST_SOUND;
    while (file.len > 0 && found == KV_MANIFEST_SOUND) {
        size_t len = file.len < KV_MANIFEST_BLOCK_BYTES ? file.len : KV_MANIFEST_BLOCK_BYTES;
        found = kv_manifest__read(&walk, str_from(file.ptr, len));
        file = str_from_offset(file, len);
    }
    *out_at = walk.start;
    return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t at;
    uint64_t again;
    if (read_all(str_from(data, size), &at) != KV_MANIFEST_TORN) {
        return 0;
    }
    CHECK(at < size);
    char *mended = malloc(size);
    CHECK(mended != NULL);
    memcpy(mended, data, size);
    memset(mended + at, 0, size - at);
    if (read_all(str_from(mended, size), &again) != KV_MANIFEST_SOUND) {
        CHECK(again == at);
    }
    free(mended);
    return 0;
}
