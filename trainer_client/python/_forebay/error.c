/* SPDX-License-Identifier: Apache-2.0 */
/* error.c - exceptions. The package registers a factory that makes them from
 * status, text and parts, so the classes are written in Python. */
#include "trainer_client/python/_forebay/module.h"

#include <stdio.h>

/* Add `value`, whose reference it takes, to the parts. */
static bool add(PyObject *parts, const char *name, PyObject *value)
{
    bool added = value != NULL && PyDict_SetItemString(parts, name, value) == 0;
    Py_XDECREF(value);
    return added;
}

static bool add_text(PyObject *parts, const char *name, const char *text)
{
    return text[0] == '\0' || add(parts, name,
                                  PyUnicode_DecodeFSDefaultAndSize(
                                      text, (Py_ssize_t)strlen(text)));
}

static bool add_number(
    PyObject *parts, const char *name, bool known, uint64_t number)
{
    return !known || add(parts, name, PyLong_FromUnsignedLongLong(number));
}

/* The parts of a failure that are known, as a dict. */
static PyObject *parts_of(const struct forebay_failure *failure)
{
    PyObject *parts = PyDict_New();
    bool      done =
        parts != NULL && add_text(parts, "file", failure->file) &&
        add_number(parts, "line", failure->line > 0, failure->line) &&
        add_number(parts, "column", failure->column > 0, failure->column) &&
        add_text(parts, "shard", failure->shard) &&
        add_number(parts, "sample", failure->has_sample, failure->sample) &&
        add_number(parts, "offset", failure->has_sample, failure->offset) &&
        add_text(parts, "worker", failure->worker);
    if (!done) {
        Py_CLEAR(parts);
    }
    return parts;
}

static void set_exception(PyObject *exception)
{
    if (PyExceptionInstance_Check(exception)) {
        PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    } else {
        PyErr_SetString(PyExc_TypeError,
            "the function of set_error_factory() returned no exception");
    }
}

/* The lock of `error_factory` is that of a type, since the state has none. */
PyObject *fby_py_swap_factory(struct fby_py_state *state, PyObject *factory)
{
    PyObject *previous = NULL;
    FBY_PY_LOCK((PyObject *)state->stream_type);
    previous             = state->error_factory;
    state->error_factory = factory;
    FBY_PY_UNLOCK();
    return previous;
}

/* A reference to the factory, which another thread may replace; or NULL. */
static PyObject *error_factory_of(struct fby_py_state *state)
{
    PyObject *factory = NULL;
    FBY_PY_LOCK((PyObject *)state->stream_type);
    factory = Py_XNewRef(state->error_factory);
    FBY_PY_UNLOCK();
    return factory;
}

PyObject *fby_py_raise(
    struct fby_py_state *state, const struct forebay_failure *failure)
{
    const char *text = failure->text[0] != '\0'
                           ? failure->text
                           : forebay_status_text(failure->status);
    PyObject   *line =
        PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    PyObject *parts     = line != NULL ? parts_of(failure) : NULL;
    PyObject *factory   = error_factory_of(state);
    PyObject *exception = NULL;
    if (parts != NULL && factory == NULL) {
        PyErr_SetObject(PyExc_RuntimeError, line);
    } else if (parts != NULL) {
        exception = PyObject_CallFunction(
            factory, "iOO", (int)failure->status, line, parts);
    }
    if (exception != NULL) {
        set_exception(exception);
    }
    Py_XDECREF(exception);
    Py_XDECREF(factory);
    Py_XDECREF(parts);
    Py_XDECREF(line);
    return NULL;
}

PyObject *fby_py_raise_text(
    struct fby_py_state *state, enum forebay_status status, const char *text)
{
    struct forebay_failure failure = {.status = status};
    snprintf(failure.text, sizeof(failure.text), "%s", text);
    return fby_py_raise(state, &failure);
}

PyObject *fby_py_refuse_pickle(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    PyErr_SetString(PyExc_TypeError,
        "an open stream, its batches and their tensors cannot be pickled or "
        "copied: open a stream in the other process, or pickle the loader "
        "before it is used");
    return NULL;
}
