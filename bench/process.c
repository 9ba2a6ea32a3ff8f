/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/process.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/bench.h"
#include "common/clock.h"

/* The path of the program `forebay`. */
static const char *forebay_path(void)
{
    static char path[PATH_MAX + 16];
    char        own_path[PATH_MAX];
    const char *chosen = getenv("FOREBAY_BIN");
    if (chosen != NULL) {
        return chosen;
    }
    ssize_t n = readlink("/proc/self/exe", own_path, sizeof(own_path) - 1);
    own_path[n > 0 ? n : 0] = '\0';
    snprintf(path, sizeof(path), "%s/../forebay", dirname(own_path));
    return path;
}

/* Calls only async-signal-safe functions, since it runs after fork(). */
static _Noreturn void exec_child(
    const char *path, const char *const *args, int out, int log)
{
    union { /* removes const: execv() lacks it, but changes no argument */
        const char *const *with_const;
        char *const       *without_const;
    } argv = {.with_const = args};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(out, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    execv(path, argv.without_const);
    _exit(127);
}

void bench_process_start(
    struct bench_process *self, const char *log_path, const char *const *args)
{
    const char *path = forebay_path();
    int         pipe_fds[2];
    int log = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (log < 0 || pipe2(pipe_fds, O_CLOEXEC) != 0) {
        bench_die("a pipe or the log %s cannot be opened: %s", log_path,
            strerror(errno));
    }
    fflush(NULL); /* else the child would write the buffers again */
    *self = (struct bench_process){
        .pid = fork(), .stdout_fd = pipe_fds[0], .log_path = log_path};
    if (self->pid == 0) {
        exec_child(path, args, pipe_fds[1], log);
    }
    close(log);
    close(pipe_fds[1]);
    if (self->pid < 0) {
        bench_die("a process cannot be started: %s", strerror(errno));
    }
}

void bench_process_kill(struct bench_process *self)
{
    if (self->pid != 0) {
        kill(self->pid, SIGKILL);
        waitpid(self->pid, NULL, 0);
        close(self->stdout_fd);
    }
    *self = (struct bench_process){0};
}

size_t bench_process_read(
    const struct bench_process *self, char *out, size_t size, int64_t until_ns)
{
    struct pollfd item    = {.fd = self->stdout_fd, .events = POLLIN};
    int64_t       left_ns = until_ns - fby_now_ns();
    /* Round up, so that poll() does not return before `until_ns`. */
    int left_ms = left_ns > 0 ? (int)(left_ns / FBY_NS_PER_MS) + 1 : 0;
    if (poll(&item, 1, left_ms) <= 0) {
        return 0;
    }
    ssize_t n = read(self->stdout_fd, out, size);
    if (n <= 0) {
        bench_die(
            "a forebay process ended unexpectedly; see %s", self->log_path);
    }
    return (size_t)n;
}

void bench_process_read_endpoint(
    const struct bench_process *self, char *out, size_t size)
{
    size_t  used     = 0; /* bytes of `out` */
    int64_t until_ns = fby_now_ns() + BENCH_TIMEOUT_NS;
    while (used == 0 || out[used - 1] != '\n') {
        size_t n = bench_process_read(self, out + used, size - used, until_ns);
        if (n == 0) {
            bench_die("a forebay process did not start within a minute; see %s",
                self->log_path);
        }
        used += n;
    }
    out[used - 1] = '\0';
}

void bench_process_run(
    const char *log_path, const char *const *args, char *out, size_t size)
{
    struct bench_process process;
    size_t               used   = 0;
    int                  status = 0;
    ssize_t              n      = 1;
    bench_process_start(&process, log_path, args);
    while (n > 0 && used + 1 < size) {
        n = read(process.stdout_fd, out + used, size - used - 1);
        used += n > 0 ? (size_t)n : 0;
    }
    out[used] = '\0';
    waitpid(process.pid, &status, 0);
    close(process.stdout_fd);
    if (status != 0) {
        bench_die("forebay %s failed; see %s", args[1], log_path);
    }
}

uint64_t bench_rss_bytes(pid_t pid)
{
    char path[64];
    char line[128] = "";
    snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
    FILE *file = fopen(path, "r");
    if (file == NULL || fgets(line, sizeof(line), file) == NULL) {
        bench_die("%s cannot be read", path);
    }
    fclose(file);
    /* The second number is the count of resident pages. */
    return strtoull(line + strcspn(line, " "), NULL, 10) *
           (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t bench_peak_rss_bytes(pid_t pid)
{
    char     path[64];
    char     line[256];
    uint64_t kib = 0;
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, "VmHWM:", 6) == 0) {
            kib = strtoull(line + 6, NULL, 10);
        }
    }
    if (kib == 0) {
        bench_die("%s: there is no VmHWM", path);
    }
    fclose(file);
    return kib << 10;
}

int64_t bench_cpu_ns(pid_t pid)
{
    clockid_t       clock;
    struct timespec t;
    if (clock_getcpuclockid(pid, &clock) != 0 ||
        clock_gettime(clock, &t) != 0) {
        bench_die("the CPU time of process %d cannot be read", (int)pid);
    }
    return (int64_t)t.tv_sec * FBY_NS_PER_S + t.tv_nsec;
}
