/* SPDX-License-Identifier: Apache-2.0 */
/* call.c - a call of the library without the GIL. It takes part in the stream's
 * use (users.h) and leaves again before Python code can run, because a signal
 * handler may close the stream. A call that does not wait keeps the GIL: while
 * another thread runs Python code, taking it again would take up to 5 ms. */
#include "trainer_client/python/_forebay/call.h"

/* Take part in the stream's use. Returns false with an exception. */
static bool enter(struct fby_py_stream *self)
{
    enum forebay_status status = fby_py_users_enter(&self->users);
    if (status == FOREBAY_OK) {
        return true;
    }
    (void)fby_py_raise_text(fby_py_state_of(&self->ob_base), status,
        status == FOREBAY_USAGE
            ? "the stream is closed: open another one"
            : "a child process cannot use its parent's stream: open one in "
              "the child, or start it by spawn");
    return false;
}

static bool is_error(enum forebay_status status)
{
    return status != FOREBAY_OK && status != FOREBAY_END;
}

/* Copy why the call failed. A few calls record no error: then this thread's
 * last one is of another call. */
static void note_failure(const struct forebay *stream, struct fby_py_call *call)
{
    call->failure.struct_size = sizeof(call->failure);
    if (forebay_failure(stream, &call->failure) != FOREBAY_OK ||
        call->failure.status != call->status) {
        call->failure = (struct forebay_failure){.status = call->status};
    }
}

/* Run the call, and leave the stream that was entered. */
static void run_and_leave(struct fby_py_stream *self, struct fby_py_call *call)
{
    call->status = call->run(self->users.stream, call);
    if (is_error(call->status)) {
        note_failure(self->users.stream, call);
    }
    call->closing = fby_py_users_leave(&self->users);
}

bool fby_py_run(struct fby_py_stream *self, struct fby_py_call *call)
{
    if (!enter(self)) {
        return false;
    }
    Py_BEGIN_ALLOW_THREADS;
    run_and_leave(self, call);
    Py_END_ALLOW_THREADS;
    return true;
}

bool fby_py_run_at_once(struct fby_py_stream *self, struct fby_py_call *call)
{
    if (!enter(self)) {
        return false;
    }
    run_and_leave(self, call);
    return true;
}

PyObject *fby_py_raise_call(
    struct fby_py_stream *self, const struct fby_py_call *call)
{
    struct fby_py_state *state = fby_py_state_of(&self->ob_base);
    return call->closing ? fby_py_raise_text(state, call->status,
                               "another thread closed the stream")
                         : fby_py_raise(state, &call->failure);
}
