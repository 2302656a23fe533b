/*
 * Suppressions for ThreadSanitizer, which calls this function when it starts.
 *
 * Debian's RocksDB is not built with the sanitizer, which therefore does not see the locks of its
 * threads and reports every exchange between them as a race. Reports with RocksDB, or with the C++
 * library that only RocksDB uses, are suppressed. Our use of data from RocksDB is still checked.
 *
 * libuv closes descriptors with a bare system call, which the sanitizer does not see either. If
 * another thread then opens a file or creates a loop and gets the same number, the two uses of the
 * number look like a race with the call that returned it.
 */
const char *__tsan_default_suppressions(void);

const char *__tsan_default_suppressions(void)
{
    return "called_from_lib:librocksdb.so\n"
           "called_from_lib:libstdc++.so\n"
           "race:librocksdb.so\n"
           "race:libstdc++.so\n"
           "race:epoll_create1\n"
           "race_top:^open$\n";
}
