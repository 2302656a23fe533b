#include "lib/golden.h"

#include <stdlib.h>

#include "lib/expect.h"
#include "lib/tmpdir.h"

static struct os_file_path path_of(const char *name)
{
    struct os_file_path path;
    (void)snprintf(path.z, sizeof path.z, CORVO_TESTS_DIR "/golden/%s", name);
    return path;
}

void golden_read(const char *name, struct str present, struct buf *out)
{
    struct os_file_path path = path_of(name);
    const char *write = getenv("CORVO_WRITE_GOLDEN");
    if (access(path.z, F_OK) != 0) {
        if (write == NULL || strcmp(write, "1") != 0) {
            fail_msg("there is no golden file '%s' (see tests/lib/golden.h)", name);
        }
        tmpdir_write(path.z, present);
    }
    tmpdir_read(path.z, out);
}

void golden_read_present(const char *name, const struct buf *present, struct buf *out)
{
    ROW(name);
    assert_false(present->overflow);
    golden_read(name, buf_str(present), out);
    assert_int_equal(out->len, present->len);
    assert_memory_equal(out->ptr, present->ptr, present->len);
}
