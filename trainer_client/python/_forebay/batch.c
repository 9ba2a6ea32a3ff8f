/* SPDX-License-Identifier: Apache-2.0 */
/* batch.c - the type Batch. Position and token are copied, so they can be read
 * after release(). The other methods read the library's batch and refuse a
 * released one. On a GPU the memory's reuse waits for the stream that was given
 * last: to next(), to __dlpack__() of a tensor, or to release(). */
#include <stddef.h>
#include <stdio.h>

#include "trainer_client/python/_forebay/module.h"

struct batch {
    PyObject              ob_base;
    struct forebay_batch *batch;  /* NULL: released */
    void                 *stream; /* CUDA's, given last */
    PyObject             *names;  /* the stream's tuple */
    unsigned long long    epoch, step;
    unsigned              rows, first_row;
    char                  token[192];
};

PyObject *fby_py_batch_new(struct fby_py_state *state,
    struct forebay_batch **batch_p, void *stream, PyObject *names)
{
    struct batch *self =
        (struct batch *)PyType_GenericAlloc(state->batch_type, 0);
    if (self == NULL) {
        (void)forebay_release(batch_p, stream);
        return NULL;
    }
    const struct forebay_batch *batch = *batch_p;
    self->stream                      = stream;
    self->names                       = Py_NewRef(names);
    self->epoch                       = forebay_batch_epoch(batch);
    self->step                        = forebay_batch_step(batch);
    self->rows                        = forebay_batch_rows(batch);
    self->first_row                   = forebay_batch_first_row(batch);
    (void)snprintf(
        self->token, sizeof(self->token), "%s", forebay_batch_token(batch));
    self->batch = *batch_p;
    *batch_p    = NULL;
    return &self->ob_base;
}

void fby_py_batch_set_stream(PyObject *batch, void *stream)
{
    FBY_PY_LOCK(batch);
    ((struct batch *)batch)->stream = stream;
    FBY_PY_UNLOCK();
}

static void batch_dealloc(PyObject *object)
{
    struct batch *self = (struct batch *)object;
    PyTypeObject *type = Py_TYPE(object);
    (void)forebay_release(&self->batch, self->stream);
    Py_XDECREF(self->names);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* ---- methods that read the batch ----------------------------------------- */

/* The library's batch; NULL with an exception when it was released. */
static struct forebay_batch *held(struct batch *self)
{
    if (self->batch == NULL) {
        (void)fby_py_raise_text(fby_py_state_of(&self->ob_base), FOREBAY_USAGE,
            "the batch was released: read it before release()");
    }
    return self->batch;
}

/* Define `function`, which calls read_<name>() under the object's lock. */
#define LOCKED(function, result_type, name, type)                \
    static result_type function(PyObject *object, type argument) \
    {                                                            \
        struct batch *self   = (struct batch *)object;           \
        result_type   result = NULL;                             \
        FBY_PY_LOCK(object);                                     \
        struct forebay_batch *batch = held(self);                \
        if (batch != NULL) {                                     \
            result = read_##name(self, batch, argument);         \
        }                                                        \
        FBY_PY_UNLOCK();                                         \
        return result;                                           \
    }

/* Define the method batch_<name>(). */
#define LOCKED_METHOD(name) LOCKED(batch_##name, PyObject *, name, PyObject *)

static PyObject *read_samples(
    struct batch *self, const struct forebay_batch *batch, PyObject *unused)
{
    (void)unused;
    return PyBytes_FromStringAndSize((const char *)forebay_batch_samples(batch),
        (Py_ssize_t)(self->rows * sizeof(uint64_t)));
}
LOCKED_METHOD(samples)

static PyObject *read_valid(
    struct batch *self, const struct forebay_batch *batch, PyObject *unused)
{
    (void)unused;
    return PyBytes_FromStringAndSize(
        (const char *)forebay_batch_valid(batch), (Py_ssize_t)self->rows);
}
LOCKED_METHOD(valid)

static PyObject *substitution_object(const struct forebay_substitution *s)
{
    return Py_BuildValue("(IKKN)", s->row, (unsigned long long)s->sample,
        (unsigned long long)s->substitute,
        PyUnicode_DecodeUTF8(
            s->cause, (Py_ssize_t)strlen(s->cause), "replace"));
}

static PyObject *read_substitutions(
    struct batch *self, const struct forebay_batch *batch, PyObject *unused)
{
    (void)self;
    (void)unused;
    uint32_t  n    = forebay_batch_n_substitutions(batch);
    PyObject *list = PyList_New(n);
    for (uint32_t i = 0; list != NULL && i < n; i++) {
        PyObject *one =
            substitution_object(forebay_batch_substitution(batch, i));
        if (one == NULL || PyList_SetItem(list, i, one) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}
LOCKED_METHOD(substitutions)

static PyObject *read_digest(
    struct batch *self, const struct forebay_batch *batch, PyObject *unused)
{
    (void)self;
    (void)unused;
    const uint8_t *digest = forebay_batch_digest(batch);
    if (digest == NULL) {
        Py_RETURN_NONE;
    }
    return PyBytes_FromStringAndSize((const char *)digest, 16);
}
LOCKED_METHOD(digest)

/* ---- tensors ------------------------------------------------------------- */

/* The number of a tensor. Negative numbers are not taken from the end. It runs
 * Python code of the caller, which may release the batch. */
static bool to_index(const struct batch *self, PyObject *value, uint32_t *out)
{
    Py_ssize_t n = PyTuple_Size(self->names);
    Py_ssize_t i = PyNumber_AsSsize_t(value, PyExc_IndexError);
    if (i == -1 && PyErr_Occurred() != NULL) {
        return false;
    }
    if (i < 0 || i >= n) {
        PyErr_Format(PyExc_IndexError,
            "tensor %zd: the batch has %zd, counted from 0", i, n);
        return false;
    }
    *out = (uint32_t)i;
    return true;
}

static PyObject *read_tensor(
    struct batch *self, struct forebay_batch *batch, uint32_t i)
{
    PyObject *name = PyTuple_GetItem(self->names, i);
    return name != NULL ? fby_py_tensor_new(&self->ob_base, batch, i, name)
                        : NULL;
}

static PyObject *read_capsule(
    struct batch *self, const struct forebay_batch *batch, uint32_t i)
{
    return fby_py_capsule(fby_py_state_of(&self->ob_base), batch, i);
}

static PyObject *read_row_lengths(
    struct batch *self, const struct forebay_batch *batch, uint32_t i)
{
    uint32_t            shortest = 0;
    uint32_t            longest  = 0;
    enum forebay_status status =
        forebay_batch_row_lengths(batch, i, &shortest, &longest);
    if (status != FOREBAY_OK) {
        return fby_py_raise_text(fby_py_state_of(&self->ob_base), status,
            "row_lengths: only the first tensor of a field whose rows vary in "
            "length has row lengths");
    }
    return Py_BuildValue("(II)", shortest, longest);
}

LOCKED(locked_tensor, PyObject *, tensor, uint32_t)
LOCKED(locked_capsule, PyObject *, capsule, uint32_t)
LOCKED(locked_row_lengths, PyObject *, row_lengths, uint32_t)

static PyObject *batch_tensor(PyObject *object, PyObject *number)
{
    uint32_t i = 0;
    return to_index((struct batch *)object, number, &i)
               ? locked_tensor(object, i)
               : NULL;
}

static PyObject *batch_capsule(PyObject *object, PyObject *number)
{
    uint32_t i = 0;
    return to_index((struct batch *)object, number, &i)
               ? locked_capsule(object, i)
               : NULL;
}

static PyObject *batch_row_lengths(PyObject *object, PyObject *number)
{
    uint32_t i = 0;
    return to_index((struct batch *)object, number, &i)
               ? locked_row_lengths(object, i)
               : NULL;
}

static DLManagedTensorVersioned *read_export(
    struct batch *self, const struct forebay_batch *batch, uint32_t i)
{
    DLManagedTensorVersioned *managed = NULL;
    enum forebay_status       status =
        forebay_batch_export(batch, i, DLPACK_MAJOR_VERSION, &managed);
    if (status != FOREBAY_OK) {
        (void)fby_py_raise_text(fby_py_state_of(&self->ob_base), status,
            forebay_status_text(status));
    }
    return managed;
}
LOCKED(locked_export, DLManagedTensorVersioned *, export, uint32_t)

DLManagedTensorVersioned *fby_py_batch_export_number(
    PyObject *batch, PyObject *number)
{
    uint32_t i = 0;
    return to_index((struct batch *)batch, number, &i) ? locked_export(batch, i)
                                                       : NULL;
}

/* ---- release ------------------------------------------------------------- */

static PyObject *release(struct batch *self)
{
    enum forebay_status status = FOREBAY_OK;
    FBY_PY_LOCK(&self->ob_base);
    status = forebay_release(&self->batch, self->stream);
    FBY_PY_UNLOCK();
    if (status != FOREBAY_OK) {
        return fby_py_raise_text(fby_py_state_of(&self->ob_base), status,
            "a child process cannot release its parent's batch");
    }
    Py_RETURN_NONE;
}

static PyObject *batch_release(
    PyObject *self, PyObject *const *args, Py_ssize_t n_args, PyObject *names)
{
    static const char *const known[] = {"stream"};
    PyObject                *stream  = NULL;
    PyObject **const         to[]    = {&stream};
    uint64_t                 address = 0;
    if (!fby_py_arguments("release", args, n_args, names, known, to, 1) ||
        (stream != NULL && stream != Py_None &&
            !fby_py_u64(stream, "stream", &address))) {
        return NULL;
    }
    if (stream != NULL && stream != Py_None) {
        fby_py_batch_set_stream(self, fby_py_pointer(address));
    }
    return release((struct batch *)self);
}

static PyObject *batch_token(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(((struct batch *)self)->token);
}

/* ---- type ---------------------------------------------------------------- */

static PyMethodDef methods[] = {
    {"samples", batch_samples, METH_NOARGS,
        "samples()\n--\n\nThe sample number of each row, as uint64 bytes."},
    {"valid", batch_valid, METH_NOARGS,
        "valid()\n--\n\nA byte for each row: 1, or 0 for a padding row."},
    {"substitutions", batch_substitutions, METH_NOARGS,
        "substitutions()\n--\n\n"
        "A list of (row, sample, substitute, cause)."},
    {"digest", batch_digest, METH_NOARGS,
        "digest()\n--\n\nThe digest of the step; None without digests."},
    {"row_lengths", batch_row_lengths, METH_O,
        "row_lengths(i)\n--\n\nThe shortest and the longest row of tensor i."},
    {"tensor", batch_tensor, METH_O, "tensor(i)\n--\n\nTensor i, as names[i]."},
    {"capsule", batch_capsule, METH_O,
        "capsule(i)\n--\n\n"
        "What tensor(i).__dlpack__(stream=-1) returns, in less time."},
    {"values", FBY_PY_FAST(fby_py_batch_values), METH_FASTCALL,
        "values(api, numbers)\n--\n\n"
        "A dict of tensors in the type of the framework whose exchange_api() "
        "this is, for a tuple of tuples (name, number)."},
    {"release", FBY_PY_FAST(batch_release), METH_FASTCALL | METH_KEYWORDS,
        "release(stream=None)\n--\n\n"
        "Give the memory back once no tensor of the batch is left. On a GPU "
        "its reuse waits for the stream: by default the one given last."},
    {"__reduce__", fby_py_refuse_pickle, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef members[] = {
    {"epoch", T_ULONGLONG, offsetof(struct batch, epoch), READONLY, NULL},
    {"step", T_ULONGLONG, offsetof(struct batch, step), READONLY,
        "in the epoch, from 0"},
    {"rows", T_UINT, offsetof(struct batch, rows), READONLY, NULL},
    {"first_row", T_UINT, offsetof(struct batch, first_row), READONLY,
        "the index of row 0 in the global batch"},
    {"names", T_OBJECT_EX, offsetof(struct batch, names), READONLY,
        "the names of the tensors"},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef getters[] = {
    {"token", batch_token, NULL, "resumes right after this batch", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static char doc[] = "One batch; Stream.next() makes it.";

static PyType_Slot slots[] = {
    {Py_tp_doc, doc},
    {Py_tp_dealloc, batch_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_members, members},
    {Py_tp_getset, getters},
    {0, NULL},
};

PyType_Spec fby_py_batch_spec = {
    .name      = "forebay._forebay.Batch",
    .basicsize = sizeof(struct batch),
    .flags     = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
