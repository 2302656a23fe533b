#include "os/os_signal.h"

#include <sys/signalfd.h>
#include <unistd.h>

static bool is_ignored(int number)
{
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

int os_signal_open(unsigned more)
{
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGTERM);
    if ((more & OS_SIGNAL_WINDOW) != 0) {
        (void)sigaddset(&set, SIGWINCH);
    }
    if ((more & OS_SIGNAL_HANGUP) != 0 && !is_ignored(SIGHUP)) {
        (void)sigaddset(&set, SIGHUP);
    }
    if (pthread_sigmask(SIG_BLOCK, &set, NULL) != 0) {
        return -1;
    }
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int os_signal_read(int fd)
{
    struct signalfd_siginfo info;
    ssize_t n = fd < 0 ? -1 : read(fd, &info, sizeof info);
    return n == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}

void os_signal_ignore_pipe(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
}

void os_signal_restore(void)
{
    sigset_t none;
    (void)sigemptyset(&none);
    (void)pthread_sigmask(SIG_SETMASK, &none, NULL);
    (void)signal(SIGPIPE, SIG_DFL);
}
