/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - the type Stream: its life, its methods but next(), and its
 * attributes. */
#include <stddef.h>

#include "trainer_client/python/_forebay/call.h"
#include "trainer_client/python/_forebay/open.h"

/* ---- life ---------------------------------------------------------------- */

/* Describe the stream, which is open. */
static bool describe(struct fby_py_stream *self)
{
    const struct forebay *stream = self->users.stream;
    struct forebay_info   info   = {.struct_size = sizeof(info)};
    (void)forebay_info(stream, &info);
    self->on_host = strcmp(info.device, "host") == 0;
    return (self->info = fby_py_info(stream)) != NULL &&
           (self->fields = fby_py_fields(stream, info.n_fields)) != NULL &&
           (self->names = fby_py_names(self->fields)) != NULL &&
           (self->classes = fby_py_classes(stream)) != NULL;
}

static PyObject *stream_new(
    PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    if (PyTuple_Size(args) > 0) {
        PyErr_SetString(PyExc_TypeError,
            "Stream takes keyword arguments only, as server=, "
            "pipeline_path=");
        return NULL;
    }
    struct fby_py_options options;
    struct forebay       *stream = NULL;
    if (fby_py_options_init(&options, keywords)) {
        stream = fby_py_open(PyType_GetModuleState(type), &options);
    }
    fby_py_options_fini(&options);
    if (stream == NULL) {
        return NULL;
    }
    struct fby_py_stream *self =
        (struct fby_py_stream *)PyType_GenericAlloc(type, 0);
    if (self == NULL) {
        fby_py_close(&stream);
        return NULL;
    }
    fby_py_users_init(&self->users, stream);
    if (!describe(self)) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static void close_without_gil(struct fby_py_stream *self)
{
    Py_BEGIN_ALLOW_THREADS;
    fby_py_users_close(&self->users);
    Py_END_ALLOW_THREADS;
}

static void stream_dealloc(PyObject *object)
{
    struct fby_py_stream *self = (struct fby_py_stream *)object;
    PyTypeObject         *type = Py_TYPE(object);
    close_without_gil(self);
    Py_XDECREF(self->info);
    Py_XDECREF(self->fields);
    Py_XDECREF(self->names);
    Py_XDECREF(self->classes);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *stream_close(PyObject *self, PyObject *unused)
{
    (void)unused;
    close_without_gil((struct fby_py_stream *)self);
    Py_RETURN_NONE;
}

/* ---- calls ----------------------------------------------------- */

/* Run a call that returns nothing. */
static PyObject *run_for_none(
    struct fby_py_stream *self, struct fby_py_call *call)
{
    if (!fby_py_run(self, call)) {
        return NULL;
    }
    if (call->status != FOREBAY_OK) {
        return fby_py_raise_call(self, call);
    }
    Py_RETURN_NONE;
}

static enum forebay_status seek(
    struct forebay *stream, struct fby_py_call *call)
{
    return call->token != NULL
               ? forebay_seek(stream, call->token)
               : forebay_seek_step(stream, call->epoch, call->step);
}

static enum forebay_status check_token(
    struct forebay *stream, struct fby_py_call *call)
{
    return forebay_check_token(stream, call->token);
}

/* Make a call that takes a token. `name` is that of the method. */
static PyObject *run_with_token(
    PyObject *self, struct fby_py_call *call, const char *name, PyObject *token)
{
    call->token =
        PyUnicode_Check(token) ? PyUnicode_AsUTF8AndSize(token, NULL) : NULL;
    if (call->token == NULL) {
        if (PyErr_Occurred() == NULL) {
            PyErr_Format(PyExc_TypeError, "%s: the token must be a str", name);
        }
        return NULL;
    }
    return run_for_none((struct fby_py_stream *)self, call);
}

static PyObject *stream_seek(PyObject *self, PyObject *token)
{
    struct fby_py_call call = {.run = seek};
    return run_with_token(self, &call, "seek", token);
}

static PyObject *stream_check_token(PyObject *self, PyObject *token)
{
    struct fby_py_call call = {.run = check_token};
    return run_with_token(self, &call, "check_token", token);
}

static PyObject *stream_seek_step(
    PyObject *self, PyObject *const *args, Py_ssize_t n_args, PyObject *names)
{
    static const char *const known[] = {"epoch", "step"};
    PyObject                *epoch   = NULL;
    PyObject                *step    = NULL;
    PyObject **const         to[]    = {&epoch, &step};
    struct fby_py_call       call    = {.run = seek};
    if (!fby_py_arguments("seek_step", args, n_args, names, known, to, 2)) {
        return NULL;
    }
    if (epoch == NULL || step == NULL) {
        PyErr_SetString(PyExc_TypeError, "seek_step: give epoch and step");
        return NULL;
    }
    return fby_py_u64(epoch, "epoch", &call.epoch) &&
                   fby_py_u64(step, "step", &call.step)
               ? run_for_none((struct fby_py_stream *)self, &call)
               : NULL;
}

static enum forebay_status interrupt(
    struct forebay *stream, struct fby_py_call *call)
{
    return forebay_interrupt(stream, call->on);
}

static PyObject *stream_interrupt(PyObject *self, PyObject *on)
{
    int                truth = PyObject_IsTrue(on);
    struct fby_py_call call  = {.run = interrupt, .on = truth > 0};
    return truth < 0 ? NULL : run_for_none((struct fby_py_stream *)self, &call);
}

static enum forebay_status read_stats(
    struct forebay *stream, struct fby_py_call *call)
{
    call->stats.struct_size = sizeof(call->stats);
    return forebay_stats(stream, &call->stats);
}

static PyObject *stream_stats(PyObject *object, PyObject *unused)
{
    (void)unused;
    struct fby_py_stream *self = (struct fby_py_stream *)object;
    struct fby_py_call    call = {.run = read_stats};
    if (!fby_py_run(self, &call)) {
        return NULL;
    }
    return call.status == FOREBAY_OK ? fby_py_stats(&call.stats)
                                     : fby_py_raise_call(self, &call);
}

static enum forebay_status read_digest(
    struct forebay *stream, struct fby_py_call *call)
{
    return forebay_stream_digest(stream, call->digest);
}

static PyObject *stream_digest(PyObject *object, PyObject *unused)
{
    (void)unused;
    struct fby_py_stream *self = (struct fby_py_stream *)object;
    struct fby_py_call    call = {.run = read_digest};
    if (!fby_py_run(self, &call)) {
        return NULL;
    }
    if (call.status == FOREBAY_USAGE) {
        return fby_py_raise_text(fby_py_state_of(object), call.status,
            "the stream has no digest: open it with digests=True");
    }
    return call.status == FOREBAY_OK
               ? PyBytes_FromStringAndSize(
                     (const char *)call.digest, sizeof(call.digest))
               : fby_py_raise_call(self, &call);
}

/* ---- type ---------------------------------------------------------------- */

static PyMethodDef methods[] = {
    {"next", FBY_PY_FAST(fby_py_next), METH_FASTCALL | METH_KEYWORDS,
        "next(timeout=-1.0, stream=0, memory=0)\n--\n\n"
        "The next Batch; None at the end. timeout in seconds, < 0: no limit."},
    {"seek", stream_seek, METH_O,
        "seek(token)\n--\n\nGo on right after the batch with this token."},
    {"check_token", stream_check_token, METH_O,
        "check_token(token)\n--\n\n"
        "Check that a token is of this stream, without a move."},
    {"seek_step", FBY_PY_FAST(stream_seek_step), METH_FASTCALL | METH_KEYWORDS,
        "seek_step(epoch, step)\n--\n\nGo on at a step of an epoch."},
    {"interrupt", stream_interrupt, METH_O,
        "interrupt(on)\n--\n\nEnd waiting calls of next(), until on is False."},
    {"stats", stream_stats, METH_NOARGS,
        "stats()\n--\n\nThe members of forebay_stats as a dict."},
    {"digest", stream_digest, METH_NOARGS,
        "digest()\n--\n\nThe digest of the steps delivered so far, 16 bytes."},
    {"close", stream_close, METH_NOARGS,
        "close()\n--\n\nEnd the stream. Batches and tensors stay usable."},
    {"__reduce__", fby_py_refuse_pickle, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef members[] = {
    {"info", T_OBJECT_EX, offsetof(struct fby_py_stream, info), READONLY,
        "the members of forebay_info as a dict"},
    {"fields", T_OBJECT_EX, offsetof(struct fby_py_stream, fields), READONLY,
        "a tuple (name, source, dtype, shape, layout, as) for each tensor"},
    {"names", T_OBJECT_EX, offsetof(struct fby_py_stream, names), READONLY,
        "the names of the tensors"},
    {"classes", T_OBJECT_EX, offsetof(struct fby_py_stream, classes), READONLY,
        "the names of the class ids; None where the source has none"},
    {NULL, 0, 0, 0, NULL},
};

static char doc[] =
    "An open stream of batches. Its arguments are keywords only.";

static PyType_Slot slots[] = {
    {Py_tp_doc, doc},
    {Py_tp_new, stream_new},
    {Py_tp_dealloc, stream_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_members, members},
    {0, NULL},
};

PyType_Spec fby_py_stream_spec = {
    .name      = "forebay._forebay.Stream",
    .basicsize = sizeof(struct fby_py_stream),
    .flags     = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots     = slots,
};
