/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - the `forebay` executable: select the subcommand and run it. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/option.h"
#include "common/limits.h"
#include "common/log.h"
#include "pipeline/nearest.h"

static const struct fby_command *const commands[] = {
    &fby_command_init,
    &fby_command_pull,
    &fby_command_up,
    &fby_command_server,
    &fby_command_worker,
    &fby_command_scale,
    &fby_command_plan,
    &fby_command_show,
    &fby_command_lint,
    &fby_command_index,
    &fby_command_keys,
    &fby_command_doctor,
    &fby_command_photos,
};
enum { N_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void print_help(FILE *out)
{
    fputs("Usage: forebay COMMAND [OPTION...]\n"
          "Feed GPUs from CPU machines: workers fetch and preprocess samples,\n"
          "a trainer receives them, in a reproducible order, exactly once.\n\n",
        out);
    for (size_t i = 0; i < N_COMMANDS; i++) {
        fprintf(out, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
    }
    fputs("\nThe first five minutes:\n"
          "  forebay init DIR -o p.yaml       write a pipeline file\n"
          "  forebay pull --pipeline p.yaml   measure how fast batches arrive\n"
          "\n'forebay COMMAND --help' explains a command.\n",
        out);
}

static int report_unknown_command(const char *name)
{
    const char *names[N_COMMANDS];
    for (size_t i = 0; i < N_COMMANDS; i++) {
        names[i] = commands[i]->name;
    }
    const char *nearest = fby_nearest_find(name, names, N_COMMANDS);
    fputs("forebay: there is no command '", stderr);
    fby_option_print_escaped(stderr, name);
    fputc('\'', stderr);
    if (nearest != NULL) {
        fprintf(stderr, "; did you mean '%s'?", nearest);
    }
    fputs("\nTry 'forebay --help'.\n", stderr);
    return FBY_EXIT_USAGE;
}

static int run_command(int argc, char **argv)
{
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(argv[0], commands[i]->name) == 0) {
            char name[64];
            snprintf(name, sizeof(name), "forebay %s", argv[0]);
            argv[0] = name;
            fby_log_init(commands[i]->name, FBY_LOG_WARN);
            return commands[i]->run(argc, argv);
        }
    }
    return report_unknown_command(argv[0]);
}

/* Batches are large blocks that are allocated and freed often. Keep those below
 * 1 GiB on the heap: otherwise the kernel maps and clears pages for each. */
static void keep_large_blocks_on_heap(void)
{
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

/* Each connection and each open file needs a descriptor; many systems start
 * with a limit of 1,024. */
static void raise_file_limit(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
}

/* Open /dev/null for each closed standard stream. Otherwise a socket or file
 * would get the stream's number, and printed text would go to it. Standard
 * output is opened read-only: printing to it fails, which close_stdout()
 * reports. */
static void open_missing_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0) {
            int flags = fd == STDERR_FILENO ? O_WRONLY : O_RDONLY;
            /* The new descriptor gets the lowest free number, which is fd. */
            (void)open("/dev/null", flags);
        }
    }
}

/* For atexit(): change the exit code to 1 if printed text was lost. */
static void close_stdout(void)
{
    bool lost = ferror(stdout) != 0;
    errno     = 0;
    if (fclose(stdout) != 0 || lost) {
        fprintf(stderr, "forebay: cannot write standard output: %s\n",
            errno != 0 ? strerror(errno) : "an earlier write failed");
        fflush(stderr); /* buffered while argp parses (option.c) */
        _exit(FBY_EXIT_FAILED);
    }
}

/* Below this, the first allocations would fail and end the process. */
static bool has_memory(void)
{
    enum { MIN_ADDRESS_SPACE = 80 << 20 /* bytes */ };
    struct fby_error_detail why = {{0}};
    fby_err err = fby_limits_check_memory("forebay", MIN_ADDRESS_SPACE, &why);
    if (err != FBY_OK) {
        fprintf(stderr, "%s\n", why.text);
    }
    return err == FBY_OK;
}

int main(int argc, char **argv)
{
    /* Children run /proc/self/exe; without this, `ps` shows them as "exe". */
    pthread_setname_np(pthread_self(), "forebay");
    open_missing_standard_streams();
    atexit(close_stdout);
    signal(SIGXFSZ, SIG_IGN); /* at the file size limit, write() then fails */
    signal(
        SIGCHLD, SIG_DFL); /* if ignored, the ends of children are not told */
    keep_large_blocks_on_heap();
    raise_file_limit();
    if (!has_memory()) {
        return FBY_EXIT_FAILED;
    }
    if (sodium_init() < 0) {
        fputs("forebay: libsodium cannot start on this machine\n", stderr);
        return FBY_EXIT_FAILED;
    }
    if (argc < 2) {
        print_help(stderr);
        return FBY_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0 ||
        strcmp(argv[1], "-h") == 0) {
        print_help(stdout);
        return FBY_EXIT_DONE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("forebay " FBY_VERSION);
        return FBY_EXIT_DONE;
    }
    return run_command(argc - 1, argv + 1);
}
