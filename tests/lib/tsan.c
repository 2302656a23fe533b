/*
 * What ThreadSanitizer is told when it starts; nobody else calls this.
 *
 * Debian's RocksDB is not built with it, so the locks by which its threads share their memory are
 * not seen, and every exchange between them looks like a race. What RocksDB calls, by itself or
 * through the C++ library, which nobody else uses, is left out; what we do with what it gives us is
 * still watched.
 *
 * libuv closes descriptors with a bare system call, which is not seen either. When another thread
 * then opens a file and gets the same number, the two uses of the number look like a race with the
 * creation of the loop.
 */
const char *__tsan_default_suppressions(void);

const char *__tsan_default_suppressions(void)
{
    return "called_from_lib:librocksdb.so\n"
           "called_from_lib:libstdc++.so\n"
           "race:librocksdb.so\n"
           "race:libstdc++.so\n"
           "race:epoll_create1\n";
}
