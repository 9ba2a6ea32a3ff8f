/* process.h - one `forebay` process that a bench runs.
 *
 * The bench reads the standard output of the process from a pipe; messages of
 * the process go to a file. The process is killed when the bench ends for any
 * reason. Errors end the bench. */
#ifndef FBY_BENCH_PROCESS_H
#define FBY_BENCH_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define BENCH_TIMEOUT_NS (60 * FBY_NS_PER_S) /* longest wait for output */

struct bench_process {
    pid_t       pid;   /* 0: not running */
    int         out;   /* read end of the pipe for its standard output */
    const char *log;   /* file of its messages; owned by the cluster */
    uint64_t    steps; /* lines read from a consumer, one per batch */
};

/* Run FOREBAY_BIN, or the `forebay` of the build that this bench belongs to.
 * `args` begins with "forebay" and ends with NULL. `log_path` must outlive
 * `self`. */
void bench_process_start(
    struct bench_process *self, const char *log_path, const char *const *args);

/* Read from the standard output; returns the number of bytes, 0 if none came
 * before `until_ns`. */
size_t bench_process_read(
    const struct bench_process *self, char *out, size_t size, int64_t until_ns);

/* Read the first line of the output, which is the endpoint of the process. */
void bench_process_endpoint(
    const struct bench_process *self, char *out, size_t size);

/* Kill the process; does nothing if `pid` is 0. */
void bench_process_kill(struct bench_process *self);

/* Resident memory of a process, and its CPU time so far (0: this process). */
uint64_t bench_rss_bytes(pid_t pid);
int64_t  bench_cpu_ns(pid_t pid);

#endif
