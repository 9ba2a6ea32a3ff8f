/* SPDX-License-Identifier: Apache-2.0 */
/* log.c - a bounded queue for the library's log lines.
 *
 * Threads of the library add lines and never wait for Python. log_lines()
 * takes the lines. When the queue is full, later lines are counted and dropped.
 * The queue belongs to the process: a forked child begins with an empty one. */
#include <stdio.h>
#include <string.h>

#include "trainer_client/python/_forebay/module.h"

enum { MAX_LINES = 256, LINE_SIZE = 1024 };

struct log_line {
    int  level;
    char text[LINE_SIZE];
};

/* All members are guarded by `lock`, which is held for one copy at most. */
static struct {
    pthread_mutex_t lock;
    struct log_line lines[MAX_LINES]; /* a ring */
    unsigned        first, n;
    uint64_t        dropped;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void add_line(void *arg, enum forebay_log_level level, const char *line)
{
    (void)arg;
    pthread_mutex_lock(&queue.lock);
    if (queue.n == MAX_LINES) {
        queue.dropped++;
    } else {
        struct log_line *slot =
            &queue.lines[(queue.first + queue.n) % MAX_LINES];
        slot->level = (int)level;
        snprintf(slot->text, sizeof(slot->text), "%s", line);
        queue.n++;
    }
    pthread_mutex_unlock(&queue.lock);
}

/* Take the first line, or, when there is none, what was dropped. */
static bool take_line(struct log_line *out)
{
    pthread_mutex_lock(&queue.lock);
    bool took = queue.n > 0 || queue.dropped > 0;
    if (queue.n > 0) {
        *out        = queue.lines[queue.first];
        queue.first = (queue.first + 1) % MAX_LINES;
        queue.n--;
    } else if (queue.dropped > 0) {
        out->level = FOREBAY_LOG_WARN;
        snprintf(out->text, sizeof(out->text),
            "LOG-DROPPED %llu further log lines: the queue was full",
            (unsigned long long)queue.dropped);
        queue.dropped = 0;
    }
    pthread_mutex_unlock(&queue.lock);
    return took;
}

/* ---- fork ---------------------------------------------------------------- */

static void before_fork(void)
{
    pthread_mutex_lock(&queue.lock);
}

static void after_fork_in_parent(void)
{
    pthread_mutex_unlock(&queue.lock);
}

static void after_fork_in_child(void)
{
    queue.n       = 0; /* the parent logs them */
    queue.dropped = 0;
    pthread_mutex_unlock(&queue.lock);
}

static void start_once(void)
{
    (void)pthread_atfork(
        before_fork, after_fork_in_parent, after_fork_in_child);
    forebay_set_log(add_line, NULL, FOREBAY_LOG_INFO);
}

void fby_py_log_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, start_once);
}

/* ---- Python -------------------------------------------------------------- */

static bool append_line(PyObject *list, const struct log_line *line)
{
    PyObject *text = PyUnicode_DecodeUTF8(
        line->text, (Py_ssize_t)strlen(line->text), "replace");
    PyObject *pair =
        text != NULL ? Py_BuildValue("(iN)", line->level, text) : NULL;
    bool appended = pair != NULL && PyList_Append(list, pair) == 0;
    Py_XDECREF(pair);
    return appended;
}

PyObject *fby_py_log_lines(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    struct log_line line;
    PyObject       *list = PyList_New(0);
    /* At most one queue in a call, also while lines arrive. */
    for (int i = 0; list != NULL && i <= MAX_LINES && take_line(&line); i++) {
        if (!append_line(list, &line)) {
            Py_CLEAR(list);
        }
    }
    return list;
}
