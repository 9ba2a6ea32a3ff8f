/* SPDX-License-Identifier: Apache-2.0 */
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
    pid_t       pid;       /* 0: not running */
    int         stdout_fd; /* read end of the pipe for its standard output */
    const char *log_path;  /* file of its messages; owned by the cluster */
    uint64_t    steps;     /* lines read from a consumer, one per batch */
};

/* Run FOREBAY_BIN, or the `forebay` of the build that this bench belongs to.
 * `args` begins with "forebay" and ends with NULL. `log_path` must outlive
 * `self`. */
void bench_process_start(
    struct bench_process *self, const char *log_path, const char *const *args);

/* Read at most `size` bytes of the standard output. Returns their number, or 0
 * if there was no output until `until_ns`. */
size_t bench_process_read(
    const struct bench_process *self, char *out, size_t size, int64_t until_ns);

/* Read the endpoint of the process, which is the first line of its output. */
void bench_process_read_endpoint(
    const struct bench_process *self, char *out, size_t size);

/* Kill the process; does nothing if `pid` is 0. */
void bench_process_kill(struct bench_process *self);

/* Run `forebay` as bench_process_start() does, and wait for its end. Write its
 * standard output to `out` as a string, cut to `size` bytes. */
void bench_process_run(
    const char *log_path, const char *const *args, char *out, size_t size);

/* Resident memory of a process: now, and its highest value so far. */
uint64_t bench_rss_bytes(pid_t pid);
uint64_t bench_peak_rss_bytes(pid_t pid);

/* CPU time of all threads of a process since its start. */
enum { BENCH_THIS_PROCESS = 0 };
int64_t bench_cpu_ns(pid_t pid);

#endif
