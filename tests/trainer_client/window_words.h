/* SPDX-License-Identifier: Apache-2.0 */
/* window_words.h - the window's actions as one line of text to compare.
 *
 * A test that compares the whole line also notices unexpected actions:
 *     CANCEL 0 #1; REQUEST 1 #2 step 0 slot 0
 * A step is written `epoch.step` after epoch 0, and a request of an audit or
 * a probe has no slot. The bytes of a request are written only if they are not BATCH. */
#ifndef FBY_TESTS_WINDOW_WORDS_H
#define FBY_TESTS_WINDOW_WORDS_H

#include "tests/trainer_client/window_driver.h"

#include <stdio.h>

struct line {
    char   text[4096];
    size_t n;
};

__attribute__((format(printf, 2, 3))) static inline void append(
    struct line *line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(
        line->text + line->n, sizeof(line->text) - line->n, format, args);
    va_end(args);
    assert_true(n >= 0 && line->n + (size_t)n < sizeof(line->text));
    line->n += (size_t)n;
}

static inline void append_step(struct line *line, uint64_t epoch, uint64_t step)
{
    if (epoch > 0) {
        append(line, " step %llu.%llu", (unsigned long long)epoch,
            (unsigned long long)step);
    } else {
        append(line, " step %llu", (unsigned long long)step);
    }
}

static inline void append_request(
    struct line *line, const struct fby_action *action)
{
    append(line, " #%llu", (unsigned long long)action->id.value);
    append_step(line, action->epoch, action->step);
    if (action->slot == FBY_NO_SLOT) {
        append(line, action->probe ? " probe" : " audit");
    } else {
        append(line, " slot %d", action->slot);
    }
    if (action->bytes != BATCH) {
        append(line, " of %llu", (unsigned long long)action->bytes);
    }
    append(line, "%s", action->hedge ? " hedge" : "");
}

static inline void append_action(
    struct line *line, const struct fby_action *action)
{
    static const char *const names[] = {"CONNECT", "HELLO", "OPEN", "REQUEST",
        "CANCEL", "PING", "CREDIT", "BYE", "CLOSE", "UNREACHABLE", "GONE",
        "NO_WORKERS", "FAIL"};
    append(line, "%s%s", line->n > 0 ? "; " : "", names[action->kind]);
    if (action->peer != FBY_NO_PEER) {
        append(line, " %d", action->peer);
    }
    if (action->kind == FBY_DO_REQUEST) {
        append_request(line, action);
    } else if (action->kind == FBY_DO_CANCEL) {
        append(line, " #%llu", (unsigned long long)action->id.value);
    } else if (action->kind == FBY_DO_CREDIT) {
        append(line, " %llu", (unsigned long long)action->number);
    }
}

/* Compare all actions of the last turn or wait, in order. */
static inline void assert_actions(const struct driver *d, const char *expected)
{
    struct line line = {.n = 0};
    for (int i = 0; i < d->n_actions; i++) {
        append_action(&line, &d->actions[i]);
    }
    assert_string_equal(line.text, expected);
}

/* Run a turn and compare its actions. */
static inline void assert_turn(struct driver *d, const char *expected)
{
    turn(d);
    assert_actions(d, expected);
}

/* Assert no action before `ns` have passed, and these at that time. */
static inline void assert_after(
    struct driver *d, int64_t ns, const char *expected)
{
    wait(d, ns - 1);
    assert_actions(d, "");
    wait(d, 1);
    assert_actions(d, expected);
}

/* Compare the peers of the last turn's requests, written as digits. */
static inline void assert_requested_peers(
    const struct driver *d, const char *expected)
{
    char asked[MAX_ACTIONS];
    int  n = count(d, FBY_DO_REQUEST, FBY_NO_PEER);
    for (int i = 0; i < n; i++) {
        asked[i] = (char)('0' + nth_action(d, FBY_DO_REQUEST, i).peer);
    }
    asked[n] = '\0';
    assert_string_equal(asked, expected);
}

/* Compare all counters that are not 0, in the order of their struct. */
static inline void assert_counters(const struct driver *d, const char *expected)
{
    static const char *const   names[] = {"delivered", "requests", "hedges",
          "hedges_won", "rerequests", "late", "late_hedge", "duplicates",
          "unknown", "lost", "busy", "cannot", "corrupt", "suspects", "stalls",
          "restarts", "reconnects", "unreachable", "set_aside", "breaches",
          "gaps", "audits", "audits_skipped"};
    struct fby_window_counters c       = counters(d);
    struct line                line    = {.n = 0};
    uint64_t                   values[sizeof(names) / sizeof(names[0])];
    assert_int_equal(sizeof(values), sizeof(c));
    memcpy(values, &c, sizeof(c));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (values[i] != 0) {
            append(&line, "%s%s %llu", line.n > 0 ? ", " : "", names[i],
                (unsigned long long)values[i]);
        }
    }
    assert_string_equal(line.text, expected);
}

/* Compare cause, code, both peers, step and request id of the failure; "" if
 * there is none. */
static inline void assert_failed(const struct driver *d, const char *expected)
{
    static const char *const names[] = {
        "NONE", "CANNOT", "DIFFERENT", "CORRUPT", "ASIDE"};
    const struct fby_window_failure *f    = fby_window_failure(d->w);
    struct line                      line = {.n = 0};
    if (f != NULL) {
        append(&line, "%s %d, peers %d and %d,", names[f->cause], f->code,
            f->peer, f->other);
        append_step(&line, f->epoch, f->step);
        append(&line, " #%llu", (unsigned long long)f->id.value);
    }
    assert_string_equal(line.text, expected);
}

#endif
