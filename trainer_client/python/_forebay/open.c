/* SPDX-License-Identifier: Apache-2.0 */
/* open.c - open a stream without the GIL.
 *
 * The library calls back on the opening thread about ten times a second. Then
 * signals are handled and progress is reported. A Python exception from either
 * ends the opening, and is what the caller sees. */
#include "trainer_client/python/_forebay/open.h"

struct opening {
    PyThreadState *thread; /* the caller's, saved */
    PyObject      *on_scan;
};

static void report_scan(void *arg, uint64_t done, uint64_t total)
{
    struct opening *opening = arg;
    PyEval_RestoreThread(opening->thread);
    if (PyErr_Occurred() == NULL) {
        PyObject *result = PyObject_CallFunction(opening->on_scan, "KK",
            (unsigned long long)done, (unsigned long long)total);
        Py_XDECREF(result);
    }
    opening->thread = PyEval_SaveThread();
}

static bool give_up(void *arg)
{
    struct opening *opening = arg;
    PyEval_RestoreThread(opening->thread);
    bool failed     = PyErr_Occurred() != NULL || PyErr_CheckSignals() < 0;
    opening->thread = PyEval_SaveThread();
    return failed;
}

struct forebay *fby_py_open(
    struct fby_py_state *state, struct fby_py_options *arguments)
{
    struct forebay         *stream  = NULL;
    struct forebay_options *options = &arguments->options;
    struct opening          opening = {.on_scan = arguments->on_scan};
    options->give_up                = give_up;
    options->give_up_arg            = &opening;
    if (opening.on_scan != NULL) {
        options->on_scan     = report_scan;
        options->on_scan_arg = &opening;
    }
    opening.thread             = PyEval_SaveThread();
    enum forebay_status status = forebay_open(options, NULL, 0, &stream);
    PyEval_RestoreThread(opening.thread);
    if (PyErr_Occurred() != NULL) {
        fby_py_close(&stream);
    } else if (status != FOREBAY_OK) {
        arguments->failure.status = status;
        (void)fby_py_raise(state, &arguments->failure);
    }
    return stream;
}

void fby_py_close(struct forebay **stream_p)
{
    Py_BEGIN_ALLOW_THREADS;
    forebay_close(stream_p);
    Py_END_ALLOW_THREADS;
}
