/* SPDX-License-Identifier: Apache-2.0 */
/* call.h - the Stream object, and a call of the library with it. */
#ifndef FBY_PYTHON_CALL_H
#define FBY_PYTHON_CALL_H

#include "trainer_client/python/_forebay/module.h"
#include "trainer_client/python/_forebay/users.h"

struct fby_py_stream {
    PyObject            ob_base;
    struct fby_py_users users;
    PyObject           *info;
    PyObject           *fields;
    PyObject           *names;
    PyObject           *classes;
    bool                on_host; /* no call waits for a GPU */
};

/* A call of the library: what to do, and how it failed. */
struct fby_py_call {
    enum forebay_status (*run)(
        struct forebay *stream, struct fby_py_call *call);
    enum forebay_status    status;
    struct forebay_failure failure; /* of a status that is an error */
    bool                   closing; /* another thread closes the stream */

    int64_t               timeout_ns; /* arguments and results */
    void                 *stream, *memory;
    struct forebay_batch *batch;
    const char           *token;
    uint64_t              epoch, step;
    bool                  on;
    struct forebay_stats  stats;
    uint8_t               digest[16];
};

/* Run a call without the GIL. Returns false with an exception when the stream
 * cannot be used; else call->status is the result. */
bool fby_py_run(struct fby_py_stream *self, struct fby_py_call *call);
/* The same with the GIL, for a call that does not wait. */
bool fby_py_run_at_once(struct fby_py_stream *self, struct fby_py_call *call);
/* Raise the exception of a call that failed. Returns NULL. */
PyObject *fby_py_raise_call(
    struct fby_py_stream *self, const struct fby_py_call *call);

/* The method next() of Stream (next.c). */
PyObject *fby_py_next(PyObject *object, PyObject *const *args,
    Py_ssize_t n_args, PyObject *names);

#endif
