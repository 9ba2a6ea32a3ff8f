/* SPDX-License-Identifier: Apache-2.0 */
/* err.h - the error type of the project.
 *
 * A function that can fail returns fby_err and delivers its result through a
 * trailing `out` pointer, which it writes only on FBY_OK. The codes are grouped
 * by what a failure affects (this call, this peer, this process, ...), so that
 * a caller can decide from the code alone. If a user has to understand a
 * failure, the function also takes a `struct fby_error_detail *why`, and writes
 * to it where the problem is, what is wrong and what to do. */
#ifndef FBY_COMMON_ERR_H
#define FBY_COMMON_ERR_H

#define FBY_ERR_MAP(X)                                          \
    X(OK, "ok")                                                 \
    /* this call fails: the caller may retry */                 \
    X(AGAIN, "not now")                                         \
    X(FULL, "no room left in a bounded queue or pool")          \
    X(TIMEOUT, "deadline passed")                               \
    X(NOT_FOUND, "no such thing")                               \
    /* this sample was read, but cannot be used */              \
    X(BAD_SAMPLE, "a decoder or op refuses the sample")         \
    /* this dataset: its bytes are not those of the manifest */ \
    X(STALE, "the data changed since it was indexed")           \
    /* this peer: end its session, keep serving the others */   \
    X(PROTO, "peer sent a message the protocol forbids")        \
    X(GONE, "peer left")                                        \
    /* this run: a retry would fail again */                    \
    X(USAGE, "the call is not allowed here")                    \
    X(CONFIG, "configuration is not usable")                    \
    /* this process or machine */                               \
    X(IO, "reading or writing failed")                          \
    X(SYS, "operating system call failed")

typedef enum {
#define X(name, text) FBY_##name,
    FBY_ERR_MAP(X)
#undef X
} fby_err;

#define FBY_CHECKED __attribute__((warn_unused_result))

/* Return from the calling function with the error of `call`, if it fails. */
#define FBY_TRY(call)              \
    do {                           \
        fby_err call_err = (call); \
        if (call_err != FBY_OK) {  \
            return call_err;       \
        }                          \
    } while (0)

/* A static text that describes `err`, never NULL. Any thread. */
const char *fby_strerror(fby_err err);

/* The cause of an error for users. Control characters (a newline, an escape) of
 * names and values from outside are replaced by '?', so that the text is always
 * one line. It is empty when no cause was given. */
struct fby_error_detail {
    char text[512]; /* UTF-8, ends with NUL, no control character */
};

/* Format the text of `why` (may be NULL) and return `err`, so that a failing
 * function can end with: return fby_error_set(why, FBY_CONFIG, "...", ...). */
fby_err fby_error_set(struct fby_error_detail *why, fby_err err,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Put the formatted prefix and ": " before the text of `why` (may be NULL), and
 * return `err`. When `err` is FBY_OK, `why` does not change. If the result is
 * too long, the prefix is shortened to "pre...", never the cause. */
fby_err fby_error_prefix(struct fby_error_detail *why, fby_err err,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
