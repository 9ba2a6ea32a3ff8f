/* SPDX-License-Identifier: Apache-2.0 */
/* Format log lines, limit their rate, and write them or pass them on. */
#include "common/log.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log_limit.h"
#include "common/utf8.h"

static struct {
    char       process[32];
    bool       colours;
    atomic_int level;
} settings = {.process = "forebay", .level = FBY_LOG_WARN};

/* Each change of the callback begins a new generation; their numbers alternate
 * between 0 and 1. The change waits for the threads inside the callback of the
 * old generation, but not for threads that enter the new callback meanwhile. */
static struct {
    pthread_mutex_t   change_lock; /* held for a whole change */
    pthread_mutex_t   lock;     /* guards the rest; not held in the callback */
    pthread_cond_t    all_left; /* the last thread left a generation */
    fby_log_callback *callback; /* NULL: standard error */
    void             *arg;      /* passed to the callback */
    unsigned          generation;
    unsigned          threads_in[2]; /* the callback, per generation */
} redirection = {.change_lock = PTHREAD_MUTEX_INITIALIZER,
    .lock                     = PTHREAD_MUTEX_INITIALIZER,
    .all_left                 = PTHREAD_COND_INITIALIZER};

static pthread_once_t read_env_once = PTHREAD_ONCE_INIT;
static bool           has_env_level; /* FOREBAY_LOG has set the level */

static void read_environment(void)
{
    static const char *const names[] = {
        /* by level */ "error", "warn", "info", "debug"};
    const char *wanted = getenv("FOREBAY_LOG");
    for (int i = FBY_LOG_ERROR; wanted != NULL && i <= FBY_LOG_DEBUG; i++) {
        if (strcmp(wanted, names[i]) == 0) {
            settings.level = i;
            has_env_level  = true;
        }
    }
}

static void set_level(enum fby_log_level level)
{
    pthread_once(&read_env_once, read_environment);
    if (!has_env_level) {
        settings.level = (int)level;
    }
}

void fby_log_init(const char *process, enum fby_log_level level)
{
    snprintf(settings.process, sizeof(settings.process), "%s", process);
    set_level(level);
    settings.colours = isatty(STDERR_FILENO) && getenv("NO_COLOR") == NULL;
}

void *fby_log_redirect(
    enum fby_log_level level, fby_log_callback *callback, void *arg)
{
    pthread_mutex_lock(&redirection.change_lock);
    pthread_mutex_lock(&redirection.lock);
    unsigned old           = redirection.generation;
    void    *old_arg       = redirection.arg;
    redirection.generation = 1 - old;
    redirection.callback   = callback;
    redirection.arg        = arg;
    set_level(level);
    while (redirection.threads_in[old] > 0) {
        pthread_cond_wait(&redirection.all_left, &redirection.lock);
    }
    pthread_mutex_unlock(&redirection.lock);
    pthread_mutex_unlock(&redirection.change_lock);
    return old_arg;
}

static void format_time(char *out, size_t size)
{
    struct timespec now;
    struct tm       local;
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &local);
    snprintf(out, size, "%02d:%02d:%02d.%03ld", local.tm_hour, local.tm_min,
        local.tm_sec, now.tv_nsec / FBY_NS_PER_MS);
}

/* Count a line; true if the rate limit admits it. *n_omitted is the number of
 * lines of `word` that were omitted before it. Errors, debug lines, and FAULT
 * lines, which tests count, are always admitted. */
static bool admit_line(
    enum fby_log_level level, const char *word, uint64_t *n_omitted)
{
    static pthread_mutex_t      lock = PTHREAD_MUTEX_INITIALIZER;
    static struct fby_log_limit limit; /* guarded by lock */
    *n_omitted = 0;
    if (level == FBY_LOG_ERROR || level == FBY_LOG_DEBUG ||
        strcmp(word, "FAULT") == 0) {
        return true;
    }
    pthread_mutex_lock(&lock);
    bool admitted = fby_log_limit_admit(&limit, word, fby_now_ns(), n_omitted);
    pthread_mutex_unlock(&lock);
    return admitted;
}

/* One write() per line, so that lines of several processes do not mix. */
static void write_stderr(
    enum fby_log_level level, const char *word, const char *text)
{
    static const char *const colour[] = {
        /* by level */ "\033[31m", "\033[33m", "", "\033[2m"};
    char time[64];
    char line[FBY_LOG_LINE + 240]; /* text, time, process, word, colours */
    format_time(time, sizeof(time));
    int length = snprintf(line, sizeof(line), "%s%s %s[%d] %s%s %s\n",
        settings.colours ? colour[level] : "", time, settings.process,
        (int)getpid(), word, settings.colours ? "\033[0m" : "", text);
    if (length > 0 && write(STDERR_FILENO, line, (size_t)length) < 0) {
        return; /* a failure of the log cannot be logged */
    }
}

/* Pass a line to the callback. Drops the line if the level was lowered since
 * the caller checked it. Returns false when there is no callback, so that the
 * caller must write the line to standard error. */
static bool pass_to_callback(
    enum fby_log_level level, const char *word, const char *text)
{
    char line[FBY_LOG_LINE];
    snprintf(line, sizeof(line), "%s %s", word, text);
    pthread_mutex_lock(&redirection.lock);
    unsigned          generation = redirection.generation;
    fby_log_callback *callback   = redirection.callback;
    void             *arg        = redirection.arg;
    bool              dropped    = (int)level > settings.level;
    bool              passed     = callback != NULL && !dropped;
    redirection.threads_in[generation] += passed ? 1 : 0;
    pthread_mutex_unlock(&redirection.lock);
    if (passed) {
        callback(arg, level, line);
        pthread_mutex_lock(&redirection.lock);
        if (--redirection.threads_in[generation] == 0) {
            pthread_cond_signal(&redirection.all_left);
        }
        pthread_mutex_unlock(&redirection.lock);
    }
    return passed || dropped;
}

__attribute__((format(printf, 3, 0))) static void write_line(
    enum fby_log_level level, const char *word, const char *format,
    va_list args)
{
    uint64_t n_omitted = 0;
    pthread_once(&read_env_once, read_environment);
    if ((int)level > settings.level || !admit_line(level, word, &n_omitted)) {
        return;
    }
    char body[900];        /* longer text is cut off */
    char text[960];        /* `body` and `omitted` */
    char omitted[56] = ""; /* says how many lines were omitted */
    vsnprintf(body, sizeof(body), format, args);
    if (n_omitted > 0) {
        snprintf(omitted, sizeof(omitted), " (%" PRIu64 " such lines left out)",
            n_omitted);
    }
    snprintf(text, sizeof(text), "%s%s", body, omitted);
    fby_make_one_line(text); /* names of files may have control characters */
    if (!pass_to_callback(level, word, text)) {
        write_stderr(level, word, text);
    }
}

#define LOG_FUNCTION(name, level)                        \
    void name(const char *word, const char *format, ...) \
    {                                                    \
        va_list args;                                    \
        va_start(args, format);                          \
        write_line(level, word, format, args);           \
        va_end(args);                                    \
    }

LOG_FUNCTION(fby_error, FBY_LOG_ERROR)
LOG_FUNCTION(fby_warn, FBY_LOG_WARN)
LOG_FUNCTION(fby_info, FBY_LOG_INFO)
LOG_FUNCTION(fby_debug, FBY_LOG_DEBUG)
