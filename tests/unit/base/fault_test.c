#include "base/fault.h"

#include "lib/test.h"

static void point__fails_from_the_nth_time_on(void **state)
{
    (void)state;
    fault_reset();
    for (unsigned nth = 1; nth < 5; nth++) {
        fault_arm(FAULT_DISK_WRITE, nth);
        for (unsigned pass = 1; pass < 10; pass++) {
            assert_int_equal(fault_passes(FAULT_DISK_WRITE), pass < nth);
        }
    }
    fault_reset();
}

static void point__that_is_not_armed_passes(void **state)
{
    (void)state;
    fault_reset();
    fault_arm(FAULT_DISK_WRITE, 1);
    assert_true(fault_passes(FAULT_DISK_FLUSH));
    assert_false(FAULT(DISK_FLUSH));
    assert_true(FAULT(DISK_WRITE));
    fault_arm(FAULT_DISK_WRITE, 0);
    assert_false(FAULT(DISK_WRITE));
    fault_arm(FAULT_KV_COMMIT, 1);
    fault_reset();
    assert_false(FAULT(KV_COMMIT));
}

TEST_GROUP(fault, cmocka_unit_test(point__fails_from_the_nth_time_on),
           cmocka_unit_test(point__that_is_not_armed_passes));
