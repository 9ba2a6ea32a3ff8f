/* window_words.h - what the window did, as one line of text to compare.
 *
 * A test that compares the whole line also sees what should not be there:
 *     CANCEL 0 #1; REQUEST 1 #2 step 0 slot 0
 * A step reads `epoch.step` after epoch 0, a request of an audit has no slot,
 * and the bytes stand there when they are not those of a whole batch. */
#ifndef FBY_TESTS_WINDOW_WORDS_H
#define FBY_TESTS_WINDOW_WORDS_H

#include "tests/trainer_client/window_driver.h"

#include <stdio.h>

struct words {
    char   text[4096];
    size_t n;
};

__attribute__((format(printf, 2, 3))) static inline void put(
    struct words *words, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(
        words->text + words->n, sizeof(words->text) - words->n, format, args);
    va_end(args);
    assert_true(n >= 0 && words->n + (size_t)n < sizeof(words->text));
    words->n += (size_t)n;
}

static inline void put_step(struct words *words, uint64_t epoch, uint64_t step)
{
    if (epoch > 0) {
        put(words, " step %llu.%llu", (unsigned long long)epoch,
            (unsigned long long)step);
    } else {
        put(words, " step %llu", (unsigned long long)step);
    }
}

static inline void put_request(
    struct words *words, const struct fby_action *action)
{
    put(words, " #%llu", (unsigned long long)action->id.value);
    put_step(words, action->epoch, action->step);
    if (action->slot == FBY_NO_SLOT) {
        put(words, " audit");
    } else {
        put(words, " slot %d", action->slot);
    }
    if (action->bytes != BATCH) {
        put(words, " of %llu", (unsigned long long)action->bytes);
    }
    put(words, "%s", action->hedge ? " hedge" : "");
}

static inline void put_action(
    struct words *words, const struct fby_action *action)
{
    static const char *const names[] = {"CONNECT", "HELLO", "OPEN", "REQUEST",
        "CANCEL", "PING", "CREDIT", "BYE", "CLOSE", "UNREACHABLE", "GONE",
        "NO_WORKERS", "FAIL"};
    put(words, "%s%s", words->n > 0 ? "; " : "", names[action->kind]);
    if (action->peer != FBY_NO_PEER) {
        put(words, " %d", action->peer);
    }
    if (action->kind == FBY_DO_REQUEST) {
        put_request(words, action);
    } else if (action->kind == FBY_DO_CANCEL) {
        put(words, " #%llu", (unsigned long long)action->id.value);
    } else if (action->kind == FBY_DO_CREDIT) {
        put(words, " %llu", (unsigned long long)action->number);
    }
}

/* The actions of the last turn, or of the last wait, in their order. */
static inline void assert_said(const struct driver *d, const char *expected)
{
    struct words words = {.n = 0};
    for (int i = 0; i < d->n_acts; i++) {
        put_action(&words, &d->acts[i]);
    }
    assert_string_equal(words.text, expected);
}

/* A turn, and the actions in it. */
static inline void turn_says(struct driver *d, const char *expected)
{
    turn(d);
    assert_said(d, expected);
}

/* Assert that nothing happens before `ns` have passed, and then this. */
static inline void after_says(
    struct driver *d, int64_t ns, const char *expected)
{
    wait(d, ns - 1);
    assert_said(d, "");
    wait(d, 1);
    assert_said(d, expected);
}

/* The peers of the last turn's requests, as digits. */
static inline void assert_asked(const struct driver *d, const char *expected)
{
    char asked[MANY];
    int  n = count(d, FBY_DO_REQUEST, FBY_NO_PEER);
    for (int i = 0; i < n; i++) {
        asked[i] = (char)('0' + act(d, FBY_DO_REQUEST, i).peer);
    }
    asked[n] = '\0';
    assert_string_equal(asked, expected);
}

/* All counters that are not 0, in the order of their struct. */
static inline void assert_counted(const struct driver *d, const char *expected)
{
    static const char *const   names[] = {"delivered", "requests", "hedges",
          "hedges_won", "rerequests", "late", "late_hedge", "duplicates",
          "unknown", "lost", "busy", "cannot", "corrupt", "suspects", "restarts",
          "reconnects", "unreachable", "set_aside", "breaches", "gaps", "audits",
          "audits_skipped"};
    struct fby_window_counters c       = counters(d);
    struct words               words   = {.n = 0};
    uint64_t                   values[sizeof(names) / sizeof(names[0])];
    assert_int_equal(sizeof(values), sizeof(c));
    memcpy(values, &c, sizeof(c));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (values[i] != 0) {
            put(&words, "%s%s %llu", words.n > 0 ? ", " : "", names[i],
                (unsigned long long)values[i]);
        }
    }
    assert_string_equal(words.text, expected);
}

/* Cause, code, both peers, step and request id of the failure; "" when there is
 * none. */
static inline void assert_failed(const struct driver *d, const char *expected)
{
    static const char *const names[] = {
        "NONE", "CANNOT", "DIFFERENT", "CORRUPT", "ASIDE"};
    const struct fby_window_failure *f     = fby_window_failure(d->w);
    struct words                     words = {.n = 0};
    if (f != NULL) {
        put(&words, "%s %d, peers %d and %d,", names[f->cause], f->code,
            f->peer, f->other);
        put_step(&words, f->epoch, f->step);
        put(&words, " #%llu", (unsigned long long)f->id.value);
    }
    assert_string_equal(words.text, expected);
}

#endif
