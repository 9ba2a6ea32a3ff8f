/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - log lines, on standard error or to a callback of the program.
 *
 * An event is one line with a stable upper-case word, for grep:
 *     12:04:31.250 worker[812] WORKER-LOST 7f3a...: heartbeat 10.2 s late
 * At most 100 lines with the same word are written in 10 s; the next line says
 * how many were omitted (log_limit.h). Errors and debug lines are not limited.
 * An event is logged once, where it is first known; callers return the error.
 * Colours are used on a terminal only, and never with NO_COLOR. The environment
 * variable FOREBAY_LOG=error|warn|info|debug overrides the level that the
 * program sets. Any thread. */
#ifndef FBY_COMMON_LOG_H
#define FBY_COMMON_LOG_H

enum fby_log_level { FBY_LOG_ERROR, FBY_LOG_WARN, FBY_LOG_INFO, FBY_LOG_DEBUG };

/* Set the name of the process in its lines ("worker"), and the level, which is
 * FBY_LOG_WARN until then. Call before threads start. */
void fby_log_init(const char *process, enum fby_log_level level);

enum { FBY_LOG_LINE = 1024 }; /* bytes of the longest line, with its NUL */

/* Set the level, and pass lines to `callback` instead of standard error,
 * without time and process: "WORD text". NULL: back to standard error. Returns
 * the `arg` of the previous callback.
 *
 * Thread: any, but not from inside the callback. Several threads may be in the
 *         callback at the same time; they hold no lock of this module.
 * Blocks: until no thread is inside the previous callback. */
typedef void fby_log_callback(
    void *arg, enum fby_log_level level, const char *line);
void *fby_log_redirect(
    enum fby_log_level level, fby_log_callback *callback, void *arg);

#define FBY_LOG_FORMAT __attribute__((format(printf, 2, 3)))

/* Write one line at this level: `word`, a blank and the formatted text. */
void fby_error(const char *word, const char *format, ...) FBY_LOG_FORMAT;
void fby_warn(const char *word, const char *format, ...) FBY_LOG_FORMAT;
void fby_info(const char *word, const char *format, ...) FBY_LOG_FORMAT;
void fby_debug(const char *word, const char *format, ...) FBY_LOG_FORMAT;

#endif
