/*
 * A store in a temporary folder, for the tests of this module.
 */
#pragma once

#include <stdlib.h>

#include "base/fault.h"
#include "lib/expect.h"
#include "lib/samples.h"
#include "lib/test.h"
#include "lib/tmpdir.h"
#include "store/store.h"
#include "store/store_docs.h"

struct store_fixture {
    struct tmpdir dir;
    struct store store;
};

static inline void store_fixture_open(struct store_fixture *f)
{
    struct err err;
    if (store_open(&f->store, tmpdir_path(&f->dir, "state").z, &err) != ERR_OK) {
        fail_msg("%s", err.msg);
    }
}

static inline void store_fixture_reopen(struct store_fixture *f)
{
    store_close(&f->store);
    store_fixture_open(f);
}

/* Commit as the machine does at the end of an entry. */
static inline void store_fixture_commit(struct store_fixture *f)
{
    f->store.meta.applied_index++;
    store_commit(&f->store);
}

static inline int store_fixture_setup(void **state)
{
    struct store_fixture *f = calloc(1, sizeof *f);
    f->dir = tmpdir_new_in_memory();
    store_fixture_open(f);
    *state = f;
    return 0;
}

static inline int store_fixture_teardown(void **state)
{
    struct store_fixture *f = *state;
    fault_reset();
    store_close(&f->store);
    tmpdir_remove(&f->dir);
    free(f);
    return 0;
}

#define STORE_TEST(name)                                                                           \
    cmocka_unit_test_setup_teardown(name, store_fixture_setup, store_fixture_teardown)
