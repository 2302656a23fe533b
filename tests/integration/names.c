/*
 * Names: preloaded into the server, it resolves the name three.corvo.test to three addresses of
 * this machine, and loses CORVO_TEST_LOSS_PERCENT percent of the datagrams that the server sends.
 *
 * A test can change neither the name servers of the machine nor the quality of its network. All
 * other calls use the real functions.
 */
#include <dlfcn.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

typedef int (*getaddrinfo_fn)(const char *node, const char *service, const struct addrinfo *hints,
                              struct addrinfo **out);

int getaddrinfo(const char *restrict node, const char *restrict service,
                const struct addrinfo *restrict hints, struct addrinfo **restrict out)
{
    static const char *const addresses[] = {"127.0.0.3", "127.0.0.1", "127.0.0.2"};
    getaddrinfo_fn real;
    *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    if (node == NULL || strcmp(node, "three.corvo.test") != 0) {
        return real(node, service, hints, out);
    }
    *out = NULL;
    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
        struct addrinfo *one = NULL;
        int rc = real(addresses[i], service, hints, &one);
        if (rc != 0) {
            freeaddrinfo(*out);
            *out = NULL;
            return rc;
        }
        one->ai_next = *out; /* a numeric address has one result */
        *out = one;
    }
    return 0;
}

typedef ssize_t (*sendto_fn)(int fd, const void *bytes, size_t len, int flags,
                             const struct sockaddr *to, socklen_t to_len);

ssize_t sendto(int fd, const void *bytes, size_t len, int flags, const struct sockaddr *to,
               socklen_t to_len)
{
    static _Thread_local unsigned seed = 1;
    const char *digits = getenv("CORVO_TEST_LOSS_PERCENT"); /* two digits */
    int percent = digits == NULL ? 0 : (digits[0] - '0') * 10 + digits[1] - '0';
    sendto_fn real;
    int type = 0;
    socklen_t size = sizeof type;
    *(void **)&real = dlsym(RTLD_NEXT, "sendto");
    if (percent > 0 && getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
        type == SOCK_DGRAM && rand_r(&seed) % 100 < percent) {
        return (ssize_t)len; /* the sender cannot know that it was lost */
    }
    return real(fd, bytes, len, flags, to, to_len);
}
