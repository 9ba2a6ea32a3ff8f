/* SPDX-License-Identifier: Apache-2.0 */
/* next.c - take the next batch of a Stream. A batch that is ready is taken at
 * once; else the call waits in slices, between which signals are handled. */
#include <time.h>

#include "trainer_client/python/_forebay/call.h"

/* Signals are handled at least this often. */
#define SLICE_NS INT64_C(100000000)

static enum forebay_status take(
    struct forebay *stream, struct fby_py_call *call)
{
    return call->memory == NULL ? forebay_next(stream, call->timeout_ns,
                                      call->stream, &call->batch)
                                : forebay_next_into(stream, call->timeout_ns,
                                      call->stream, call->memory, &call->batch);
}

static int64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int64_t deadline_of(int64_t timeout_ns)
{
    int64_t begin_ns = now_ns();
    bool    endless  = timeout_ns < 0 || timeout_ns > INT64_MAX - begin_ns;
    return endless ? INT64_MAX : begin_ns + timeout_ns;
}

/* Take a batch that is ready, or note another result. Returns false as
 * wait_next() does. On a GPU it notes only that it took none, since there the
 * call may have to wait for the device. */
static bool take_at_once(struct fby_py_stream *self, struct fby_py_call *call)
{
    call->timeout_ns = 0;
    call->status     = FOREBAY_TIMEOUT;
    return !self->on_host || fby_py_run_at_once(self, call);
}

/* Wait in slices until there is a result, an error, or no time left. Returns
 * false with an exception of a signal handler, or when the stream is closed. */
static bool wait_next(
    struct fby_py_stream *self, int64_t timeout_ns, struct fby_py_call *call)
{
    int64_t deadline_ns = deadline_of(timeout_ns);
    for (;;) {
        int64_t left_ns  = deadline_ns - now_ns();
        bool    is_last  = left_ns <= SLICE_NS;
        call->timeout_ns = !is_last ? SLICE_NS : left_ns > 0 ? left_ns : 0;
        if (!fby_py_run(self, call)) {
            return false;
        }
        if (call->status != FOREBAY_TIMEOUT || is_last) {
            return true;
        }
        if (PyErr_CheckSignals() < 0) {
            return false;
        }
    }
}

/* A pointer or a CUDA stream's number. */
static bool to_pointer(PyObject *value, const char *name, void **out)
{
    uint64_t address = 0;
    bool     done    = fby_py_u64(value, name, &address);
    *out             = fby_py_pointer(address);
    return done;
}

struct next_arguments {
    PyObject *timeout, *stream, *memory;
};

static bool read_next_arguments(PyObject *const *args, Py_ssize_t n_args,
    PyObject *names, struct next_arguments *out)
{
    static const char *const known[] = {"timeout", "stream", "memory"};
    PyObject **const         to[] = {&out->timeout, &out->stream, &out->memory};
    bool done = fby_py_arguments("next", args, n_args, names, known, to, 3);
    if (out->timeout == Py_None) {
        out->timeout = NULL;
    }
    return done;
}

PyObject *fby_py_next(
    PyObject *object, PyObject *const *args, Py_ssize_t n_args, PyObject *names)
{
    struct fby_py_stream *self       = (struct fby_py_stream *)object;
    struct next_arguments given      = {NULL, NULL, NULL};
    struct fby_py_call    call       = {.run = take};
    int64_t               timeout_ns = -1;
    if (!read_next_arguments(args, n_args, names, &given) ||
        (given.timeout != NULL &&
            !fby_py_seconds(given.timeout, "timeout", &timeout_ns)) ||
        (given.stream != NULL &&
            !to_pointer(given.stream, "stream", &call.stream)) ||
        (given.memory != NULL &&
            !to_pointer(given.memory, "memory", &call.memory)) ||
        !take_at_once(self, &call) ||
        (call.status == FOREBAY_TIMEOUT &&
            !wait_next(self, timeout_ns, &call))) {
        return NULL;
    }
    if (call.status == FOREBAY_OK) {
        return fby_py_batch_new(
            fby_py_state_of(object), &call.batch, call.stream, self->names);
    }
    if (call.status == FOREBAY_END) {
        Py_RETURN_NONE;
    }
    return fby_py_raise_call(self, &call);
}
