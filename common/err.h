/* err.h - the one error type of the project.
 *
 * A function that can fail returns fby_err and delivers its result through a
 * trailing `out` pointer, which it writes only on FBY_OK. The groups below say
 * how far the damage reaches, so a caller can decide from the code alone.
 * Where a person has to be told more than a code, the function also takes a
 * `struct fby_why`, and writes what is wrong, where, and what would be
 * right. */
#ifndef FBY_COMMON_ERR_H
#define FBY_COMMON_ERR_H

#define FBY_ERR_MAP(X)                                          \
    X(OK, "ok")                                                 \
    /* this call only: the caller may try again */              \
    X(AGAIN, "not now")                                         \
    X(FULL, "no room left in a bounded queue or pool")          \
    X(TIMEOUT, "deadline passed")                               \
    X(NOT_FOUND, "no such thing")                               \
    /* this sample: its complete bytes are refused */           \
    X(BAD_SAMPLE, "a decoder or op refuses the sample")         \
    /* this dataset: the bytes are not those of the manifest */ \
    X(STALE, "the data changed since it was indexed")           \
    /* this peer: drop the session, keep serving the others */  \
    X(PROTO, "peer sent a message the protocol forbids")        \
    X(GONE, "peer left")                                        \
    /* this run: nothing that a retry would mend */             \
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

/* Static text, never NULL; safe from any thread. */
const char *fby_strerror(fby_err err);

/* One line for a person; empty when nothing was said. Of names and values that
 * come from outside every control character (a newline, an escape) is shown as
 * '?', so that what is said stays one line whatever they hold. */
struct fby_why {
    char text[512]; /* UTF-8, ends with NUL, no control character */
};

/* Write `why` (which may be NULL) and return `err`, so that a failing function
 * ends in one line: return fby_because(why, FBY_CONFIG, "...", ...). */
fby_err fby_because(struct fby_why *why, fby_err err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Put "text: " before what `why` says already; returns `err`. Where both have
 * no room it is the text that is shortened, to "te...", never the cause. */
fby_err fby_because_in(struct fby_why *why, fby_err err, const char *format,
    ...) __attribute__((format(printf, 3, 4)));

#endif
