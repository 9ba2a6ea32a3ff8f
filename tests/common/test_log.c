/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/log.h"
#include "common/log_limit.h"

enum { THREADS = 3, CHANGES = 200 };

/* The lines that one callback received. */
struct received {
    int                n;
    enum fby_log_level level; /* of the last */
    char               line[FBY_LOG_LINE];
};

static void receive_line(void *arg, enum fby_log_level level, const char *line)
{
    struct received *received_lines = arg;
    received_lines->n++;
    received_lines->level = level;
    (void)snprintf(
        received_lines->line, sizeof(received_lines->line), "%s", line);
}

static void say_all(void)
{
    fby_error("E-WORD", "%d", 0);
    fby_warn("W-WORD", "%d", 1);
    fby_info("I-WORD", "%d", 2);
    fby_debug("D-WORD", "%d", 3);
}

/* Runs in a child process before any other line, since the variable is read
 * only once. */
static void the_level_of_the_environment_takes_precedence(void **state)
{
    (void)state;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct received received_lines = {.n = 0};
        setenv("FOREBAY_LOG", "info", 1);
        (void)fby_log_redirect(FBY_LOG_ERROR, receive_line, &received_lines);
        say_all();
        _exit(received_lines.n);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 3);
}

static void lines_come_up_to_the_level(void **state)
{
    (void)state;
    static const char *const last[] = {
        "E-WORD 0", "W-WORD 1", "I-WORD 2", "D-WORD 3"};
    for (int level = FBY_LOG_ERROR; level <= FBY_LOG_DEBUG; level++) {
        struct received received_lines = {.n = 0};
        (void)fby_log_redirect(
            (enum fby_log_level)level, receive_line, &received_lines);
        say_all();
        assert_int_equal(received_lines.n, level + 1);
        assert_int_equal(received_lines.level, level);
        assert_string_equal(received_lines.line, last[level]);
    }
    (void)fby_log_redirect(FBY_LOG_WARN, NULL, NULL);
}

static void each_log_entry_is_one_line_of_bounded_length(void **state)
{
    (void)state;
    struct received received_lines = {.n = 0};
    char            text[2 * FBY_LOG_LINE];
    (void)fby_log_redirect(FBY_LOG_WARN, receive_line, &received_lines);
    fby_error("BAD", "a%sb%sc\x7f", "\n", "\r\033");
    assert_string_equal(received_lines.line, "BAD a?b??c?");
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    fby_error("LONG", "%s", text);
    assert_memory_equal(received_lines.line, "LONG xxxx", 9);
    assert_in_range(strlen(received_lines.line), 800, FBY_LOG_LINE - 1);
    assert_int_equal(received_lines.n, 2);
    (void)fby_log_redirect(FBY_LOG_WARN, NULL, NULL);
}

static void of_one_word_a_burst_comes_and_no_more(void **state)
{
    (void)state;
    struct received received_lines = {.n = 0};
    (void)fby_log_redirect(FBY_LOG_WARN, receive_line, &received_lines);
    for (int i = 0; i < 2 * FBY_LOG_BURST; i++) {
        fby_warn("OFTEN", "%d", i);
    }
    assert_in_range(received_lines.n, FBY_LOG_BURST, 2 * FBY_LOG_BURST - 1);
    (void)fby_log_redirect(FBY_LOG_WARN, NULL, NULL);
}

/* Lines below the level do not count as suppressed by the rate limit. */
static void what_is_not_shown_uses_up_no_burst(void **state)
{
    (void)state;
    struct received received_lines = {.n = 0};
    (void)fby_log_redirect(FBY_LOG_WARN, receive_line, &received_lines);
    for (int i = 0; i < 2 * FBY_LOG_BURST; i++) {
        fby_info("UNSHOWN", "%d", i);
    }
    (void)fby_log_redirect(FBY_LOG_INFO, receive_line, &received_lines);
    fby_info("UNSHOWN", "now");
    assert_int_equal(received_lines.n, 1);
    assert_string_equal(received_lines.line, "UNSHOWN now");
    (void)fby_log_redirect(FBY_LOG_WARN, NULL, NULL);
}

static void what_was_set_before_is_given_back(void **state)
{
    (void)state;
    struct received first  = {.n = 0};
    struct received second = {.n = 0};
    assert_null(fby_log_redirect(FBY_LOG_WARN, receive_line, &first));
    assert_ptr_equal(
        fby_log_redirect(FBY_LOG_WARN, receive_line, &second), &first);
    fby_error("SECOND", "it is");
    assert_int_equal(first.n, 0);
    assert_int_equal(second.n, 1);
    assert_ptr_equal(fby_log_redirect(FBY_LOG_WARN, NULL, NULL), &second);
}

/* ---- replaced while other threads log ------------------------------------ */

struct log {
    atomic_bool set; /* the callback may be called with this log */
};

static atomic_int  lines;
static atomic_int  late;
static atomic_bool enough;

static void check_set(void *arg, enum fby_log_level level, const char *line)
{
    struct log *log = arg;
    (void)level;
    (void)line;
    atomic_fetch_add(&lines, 1);
    atomic_fetch_add(&late, log->set ? 0 : 1);
}

static void *log_until_enough(void *arg)
{
    (void)arg;
    while (!enough) {
        fby_debug("CHATTER", "of a thread");
    }
    return NULL;
}

/* A later use of the log is also reported by the sanitizers. */
static void free_log(struct log *log)
{
    if (log != NULL) {
        log->set = false;
        free(log);
    }
}

static void wait_for_lines(int n)
{
    for (int end = lines + n; lines < end;) {
        sched_yield();
    }
}

static void no_thread_uses_a_log_that_was_replaced(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, log_until_enough, NULL);
    }
    for (int i = 0; i < CHANGES; i++) {
        struct log *log = malloc(sizeof(*log));
        assert_non_null(log);
        atomic_init(&log->set, true);
        free_log(fby_log_redirect(FBY_LOG_DEBUG, check_set, log));
        wait_for_lines(THREADS);
    }
    free_log(fby_log_redirect(FBY_LOG_WARN, NULL, NULL));
    int after = lines;
    enough    = true;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(lines, after);
    assert_int_equal(late, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_level_of_the_environment_takes_precedence),
        cmocka_unit_test(lines_come_up_to_the_level),
        cmocka_unit_test(each_log_entry_is_one_line_of_bounded_length),
        cmocka_unit_test(of_one_word_a_burst_comes_and_no_more),
        cmocka_unit_test(what_is_not_shown_uses_up_no_burst),
        cmocka_unit_test(what_was_set_before_is_given_back),
        cmocka_unit_test(no_thread_uses_a_log_that_was_replaced),
    };
    unsetenv("FOREBAY_LOG");
    return cmocka_run_group_tests_name("common.log", tests, NULL, NULL);
}
