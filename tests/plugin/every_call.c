/* Calls every system call of the kernel with arguments that would change a file, and prints a ConfigMap that says how many
 * calls were made and how many came back.
 *
 * every_call OUTSIDE READABLE CALLS [WORDS...]: a file that cannot be opened, one that can be read, and the numbers of
 * the calls between commas, or "all". With the word "version" it says what Helm says.
 *
 * Each call is made by a process of its own, which ends by itself after a second: some calls wait, some kill.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EMPTY_PATH 0x1000
#define SET_FLAGS 0x40086602
#define SET_ATTRIBUTES 0x401c5820
#define AT_ONCE 64

static const char *outside, *readable;
static char scratch[4096], magic[64];
static int descriptor, nameless;
static long parent;

/* Beside each other, so that a pointer to one is good for calls that read more than they should. */
static struct timespec times[4] = {{1, 0}, {1, 0}, {1, 0}, {1, 0}};
static unsigned int attributes[16] = {0x80, 0x80, 0x80, 0x80};
static struct { unsigned long value; unsigned int size, flags; } xattr = {(unsigned long)"v", 1, 0};
static struct { unsigned long flags, mode, resolve; } how = {O_WRONLY | O_TRUNC, 0, 0};
static struct rlimit few = {512, 512};

static struct { long made, back; } *count;

#define P(it) ((long)(it))
#define VARIANTS 40

static const long *variant(int index) {
    static long all[VARIANTS][6];
    if (!all[0][0]) {
        long given[VARIANTS][6] = {
            /* The path first: chmod, utime, utimes, truncate, chown, creat, unlink, rename, link, setxattr, open. */
            {P(outside), 0600}, {P(outside), 0}, {P(outside), P(times)}, {P(outside), 1000, 1000},
            {P(outside), P(scratch)}, {P(scratch), P(outside)}, {P(outside), P("user.t"), P("v"), 1, 0},
            {P(outside), O_WRONLY | O_TRUNC}, {P(outside), O_RDONLY | O_TRUNC}, {P(outside), 3 | O_TRUNC},
            {P(magic), 0600}, {P(magic), P(times)}, {P(magic), 1000, 1000}, {P(readable), O_RDONLY | O_TRUNC},
            {P(readable), 0600}, {P(readable), P(times)},
            /* The path second: fchmodat, utimensat, futimesat, fchownat, openat, unlinkat, linkat, setxattrat. */
            {AT_FDCWD, P(outside), 0600, 0}, {AT_FDCWD, P(outside), 0, 0}, {AT_FDCWD, P(outside), P(times), 0},
            {AT_FDCWD, P(outside), 1000, 1000, 0}, {AT_FDCWD, P(outside), O_WRONLY | O_TRUNC, 0},
            {AT_FDCWD, P(outside), O_RDONLY | O_TRUNC, 0}, {AT_FDCWD, P(outside), 3 | O_TRUNC, 0},
            {AT_FDCWD, P(outside), AT_FDCWD, P(scratch), 0}, {AT_FDCWD, P(outside), 0, P("user.t"), P(&xattr), 16},
            {AT_FDCWD, P(outside), P(attributes), 24, 0}, {AT_FDCWD, P(outside), P(&how), 24},
            {AT_FDCWD, P(magic), 0600, 0},
            /* A descriptor of a file that may be read, then one of a file that may not. */
            {descriptor, 0600}, {descriptor, 1000, 1000}, {descriptor, 0, P(times), 0}, {descriptor, 0, 0, 0},
            {descriptor, P("user.t"), P("v"), 1, 0}, {descriptor, SET_FLAGS, P(attributes)},
            {descriptor, SET_ATTRIBUTES, P(attributes)},
            {nameless, P(""), 0600, EMPTY_PATH}, {nameless, P(""), P(times), EMPTY_PATH},
            {nameless, P(""), 1000, 1000, EMPTY_PATH},
            /* The limits and the priority of the process that started this one. */
            {parent, RLIMIT_NOFILE, P(&few), 0}, {PRIO_PROCESS, parent, 19},
        };
        memcpy(all, given, sizeof all);
    }
    return all[index];
}

/* Signals that others could feel are for another test. */
static int is_left_out(long call, int index) {
    return index >= VARIANTS - 2 && (call == SYS_kill || call == SYS_tkill || call == SYS_tgkill);
}

static void end_after_a_second(void) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    struct itimerspec second = {.it_value = {1, 0}};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &second, NULL))
        _exit(3);
}

static int running;

static void attempt(long call, const long *with, int old_interface) {
    while (running >= AT_ONCE && waitpid(-1, NULL, 0) > 0)
        running--;
    pid_t child = fork();
    if (child < 0) {
        perror("fork");
        exit(4);
    }
    if (child > 0) {
        running++;
        return;
    }
    end_after_a_second();
    __atomic_fetch_add(&count->made, 1, __ATOMIC_RELAXED);
    if (old_interface) {
#ifdef __x86_64__
        long answer;
        __asm__ volatile("int $0x80" : "=a"(answer) : "a"(call), "b"(with[0]), "c"(with[1]), "d"(with[2]) : "memory");
#endif
    } else {
        syscall(call, with[0], with[1], with[2], with[3], with[4], with[5]);
    }
    __atomic_fetch_add(&count->back, 1, __ATOMIC_RELAXED);
    _exit(0);
}

static void attempt_all(long call) {
    for (int index = 0; index < VARIANTS; index++)
        if (!is_left_out(call, index))
            attempt(call, variant(index), 0);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "version"))
            return puts("v4.2.3") < 0;
    if (argc < 4)
        return 2;
    outside = argv[1], readable = argv[2], parent = getppid();
    snprintf(scratch, sizeof scratch, "%s/made", getenv("HOME"));
    descriptor = open(readable, O_RDONLY);
    nameless = open(outside, O_PATH);
    snprintf(magic, sizeof magic, "/proc/self/fd/%d", nameless);
    count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (descriptor < 0 || nameless < 0 || count == MAP_FAILED) {
        perror("every_call");
        return 3;
    }
    if (strcmp(argv[3], "all")) {
        for (char *next = argv[3]; *next; next += *next == ',')
            attempt_all(strtol(next, &next, 10));
    } else {
        for (long call = 0; call < 512; call++)
            attempt_all(call);
#ifdef __x86_64__
        /* The same file by the interfaces of 32 bits: x32, and i386, which takes addresses of 32 bits only. */
        for (long call = 0; call < 548; call++)
            attempt(0x40000000 | call, variant(0), 0);
        char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
        snprintf(low, 4096, "%s", outside);
        long first[6] = {P(low), 0600}, second[6] = {AT_FDCWD, P(low), 0600};
        for (long call = 0; call < 472; call++) {
            attempt(call, first, 1);
            attempt(call, second, 1);
        }
#endif
    }
    while (waitpid(-1, NULL, 0) > 0)
        ;
    printf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: calls\ndata:\n  made: \"%ld\"\n  back: \"%ld\"\n",
           count->made, count->back);
    return 0;
}
