/* log.h - lines for operators, on standard error or where a program wants them.
 *
 * One event, one line, opened by a stable upper-case word to grep for:
 *     12:04:31.250 worker[812] WORKER-LOST 7f3a...: heartbeat 10.2 s late
 * Of one word at most 100 lines are written in 10 s, errors and debug lines
 * apart; the next one says how many were left out (log_limit.h).
 * Logged once, where it is first known; callers return the error. Colours only
 * on a terminal and never with NO_COLOR. FOREBAY_LOG=error|warn|info|debug in
 * the environment says how much, whatever the program does. Any thread. */
#ifndef FBY_COMMON_LOG_H
#define FBY_COMMON_LOG_H

enum fby_log_level { FBY_LOG_ERROR, FBY_LOG_WARN, FBY_LOG_INFO, FBY_LOG_DEBUG };

/* Name this process in its lines ("worker") and set how much is said, which is
 * FBY_LOG_WARN before. Call before threads start. */
void fby_log_init(const char *process, enum fby_log_level level);

enum { FBY_LOG_LINE = 1024 }; /* bytes of a line at most, with its NUL */

/* From now on lines go to `to` instead of standard error, without time and
 * process: "WORD text"; NULL: to standard error. Several threads may be in
 * `to` at a time, holding no lock of ours. Waits until nobody is in what was
 * set before, and returns its `arg`. Not from inside `to`. */
typedef void fby_log_to(void *arg, enum fby_log_level level, const char *line);
void *fby_log_redirect(enum fby_log_level level, fby_log_to *to, void *arg);

#define FBY_LOG_LIKE __attribute__((format(printf, 2, 3)))

void fby_error(const char *word, const char *format, ...) FBY_LOG_LIKE;
void fby_warn(const char *word, const char *format, ...) FBY_LOG_LIKE;
void fby_info(const char *word, const char *format, ...) FBY_LOG_LIKE;
void fby_debug(const char *word, const char *format, ...) FBY_LOG_LIKE;

#endif
