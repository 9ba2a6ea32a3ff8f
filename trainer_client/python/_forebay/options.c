/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - the keyword arguments of Stream() as forebay_options.
 *
 * A table names each argument, the function that converts it, and the member
 * that receives it. None keeps the default. The list `keep` owns every object
 * whose text is borrowed, because other threads may run while the stream is
 * being opened. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "trainer_client/python/_forebay/module.h"

typedef bool convert_fn(struct fby_py_options *self, PyObject *value,
    const char *name, void *member);

static bool refuse(PyObject *type, const char *name, const char *what)
{
    PyErr_Format(type, "%s: %s", name, what);
    return false;
}

static bool keep(struct fby_py_options *self, PyObject *object)
{
    return PyList_Append(self->keep, object) == 0;
}

/* ---- numbers ------------------------------------------------------------- */

static bool to_u64(struct fby_py_options *self, PyObject *value,
    const char *name, void *member)
{
    (void)self;
    return fby_py_u64(value, name, member);
}

static bool to_u32(struct fby_py_options *self, PyObject *value,
    const char *name, void *member)
{
    (void)self;
    uint64_t number = 0;
    if (!fby_py_u64(value, name, &number)) {
        return false;
    }
    if (number > UINT32_MAX) {
        return refuse(PyExc_ValueError, name, "must be from 0 to 2**32 - 1");
    }
    uint32_t narrow = (uint32_t)number;
    memcpy(member, &narrow, sizeof(narrow));
    return true;
}

static bool to_seed(struct fby_py_options *self, PyObject *value,
    const char *name, void *member)
{
    self->options.has_seed = true;
    return to_u64(self, value, name, member);
}

static bool to_timeout(struct fby_py_options *self, PyObject *value,
    const char *name, void *member)
{
    (void)self;
    int64_t timeout_ns = 0;
    if (!fby_py_seconds(value, name, &timeout_ns)) {
        return false;
    }
    if (timeout_ns <= 0) {
        return refuse(PyExc_ValueError, name, "must be more than 0 seconds");
    }
    memcpy(member, &timeout_ns, sizeof(timeout_ns));
    return true;
}

static bool to_bool(struct fby_py_options *self, PyObject *value,
    const char *name, void *member)
{
    (void)self;
    (void)name;
    int truth       = PyObject_IsTrue(value);
    *(bool *)member = truth > 0;
    return truth >= 0;
}

/* ---- texts --------------------------------------------------------------- */

static bool to_text(struct fby_py_options *self, PyObject *value,
    const char *name, void *member)
{
    Py_ssize_t  size = 0;
    const char *text =
        PyUnicode_Check(value) ? PyUnicode_AsUTF8AndSize(value, &size) : NULL;
    if (text == NULL) {
        return PyErr_Occurred() == NULL &&
               refuse(PyExc_TypeError, name, "must be a str");
    }
    if (strlen(text) != (size_t)size) {
        return refuse(PyExc_ValueError, name, "has a NUL character");
    }
    memcpy(member, &text, sizeof(text));
    return keep(self, value);
}

static bool to_path(struct fby_py_options *self, PyObject *value,
    const char *name, void *member)
{
    (void)name;
    PyObject *bytes = NULL;
    if (!PyUnicode_FSConverter(value, &bytes)) {
        return false;
    }
    const char *path = PyBytes_AsString(bytes);
    memcpy(member, &path, sizeof(path));
    bool kept = keep(self, bytes);
    Py_DECREF(bytes);
    return kept;
}

/* A list's items as a tuple that `keep` owns, borrowed. */
static PyObject *to_items(
    struct fby_py_options *self, PyObject *value, const char *name)
{
    if (!PyList_Check(value) && !PyTuple_Check(value)) {
        (void)refuse(PyExc_TypeError, name, "must be a list or a tuple");
        return NULL;
    }
    PyObject *items = PySequence_Tuple(value);
    bool      kept  = items != NULL && keep(self, items);
    Py_XDECREF(items);
    return kept ? items : NULL;
}

/* Convert the items of the list `value` to the elements of a new array of
 * `size` bytes each. Ownership: *array is freed with the options, also after an
 * error. */
static bool to_array(struct fby_py_options *self, PyObject *value,
    const char *name, convert_fn *convert, size_t size, void **array,
    size_t *n_items)
{
    PyObject *items = to_items(self, value, name);
    if (items == NULL) {
        return false;
    }
    Py_ssize_t n = PyTuple_Size(items);
    *array       = calloc(n > 0 ? (size_t)n : 1, size);
    if (*array == NULL) {
        (void)PyErr_NoMemory();
        return false;
    }
    *n_items = (size_t)n;
    for (Py_ssize_t i = 0; i < n; i++) {
        char *item = (char *)*array + (size_t)i * size;
        if (!convert(self, PyTuple_GetItem(items, i), name, item)) {
            return false;
        }
    }
    return true;
}

static bool to_fields(struct fby_py_options *self, PyObject *value,
    const char *name, void *member)
{
    (void)member;
    void *array  = NULL;
    bool  done   = to_array(self, value, name, to_text, sizeof(*self->fields),
           &array, &self->options.n_fields);
    self->fields = array;
    self->options.fields = array;
    return done;
}

static bool to_root(
    struct fby_py_options *self, PyObject *pair, const char *name, void *member)
{
    struct forebay_root *root = member;
    if (!PyTuple_Check(pair) || PyTuple_Size(pair) != 2) {
        return refuse(PyExc_TypeError, name,
            "must be a list of tuples (name, directory)");
    }
    return to_text(self, PyTuple_GetItem(pair, 0), name, &root->name) &&
           to_path(self, PyTuple_GetItem(pair, 1), name, &root->directory);
}

static bool to_roots(struct fby_py_options *self, PyObject *value,
    const char *name, void *member)
{
    (void)member;
    void *array = NULL;
    bool  done  = to_array(self, value, name, to_root, sizeof(*self->roots),
          &array, &self->options.n_roots);
    self->roots = array;
    self->options.roots = array;
    return done;
}

/* ---- choices ------------------------------------------------------------- */

static bool to_memory(struct fby_py_options *self, PyObject *value,
    const char *name, void *member)
{
    (void)member;
    const char *text = NULL;
    if (!to_text(self, value, name, &text)) {
        return false;
    }
    self->options.caller_memory = strcmp(text, "own") == 0;
    self->options.fixed_outputs = strcmp(text, "fixed") == 0;
    return self->options.caller_memory || self->options.fixed_outputs ||
           strcmp(text, "ring") == 0 ||
           refuse(PyExc_ValueError, name, "must be own, ring or fixed");
}

static bool to_on_scan(struct fby_py_options *self, PyObject *value,
    const char *name, void *member)
{
    (void)member;
    self->on_scan = value;
    return PyCallable_Check(value) ? keep(self, value)
                                   : refuse(PyExc_TypeError, name,
                                         "must be a function of (done, total)");
}

/* ---- tables -------------------------------------------------------------- */

struct argument {
    const char *name;
    convert_fn *convert;
    size_t      offset; /* of the member that is set */
};

static bool to_pad(struct fby_py_options *self, PyObject *value,
    const char *name, void *member)
{
    (void)self;
    struct forebay_output *output = member;
    output->pad                   = PyFloat_AsDouble(value);
    output->has_pad               = true;
    return PyErr_Occurred() == NULL ||
           (PyErr_Clear(), refuse(PyExc_TypeError, name, "must be a number"));
}

#define OUTPUT(member) offsetof(struct forebay_output, member)

static const struct argument output_keys[] = {
    {"field", to_text, OUTPUT(field)},
    {"dtype", to_u32, OUTPUT(dtype)},
    {"layout", to_u32, OUTPUT(layout)},
    {"as", to_u32, OUTPUT(as)},
    {"pad_to", to_u32, OUTPUT(pad_to)},
    {"offsets", to_u32, OUTPUT(offsets)},
    {"pad", to_pad, 0},
    {NULL, NULL, 0},
};

/* Convert the values of a dict into the members of `base`. */
static bool convert_all(struct fby_py_options *self, PyObject *dict,
    const struct argument *known, const char *where, void *base)
{
    PyObject  *key   = NULL;
    PyObject  *value = NULL;
    Py_ssize_t pos   = 0;
    while (PyDict_Next(dict, &pos, &key, &value)) {
        const struct argument *a = known;
        while (a->name != NULL &&
               (!PyUnicode_Check(key) ||
                   PyUnicode_CompareWithASCIIString(key, a->name) != 0)) {
            a++;
        }
        if (a->name == NULL) {
            PyErr_Format(PyExc_TypeError, "%s: %R is not known", where, key);
            return false;
        }
        if (value != Py_None &&
            !a->convert(self, value, a->name, (char *)base + a->offset)) {
            return false;
        }
    }
    return true;
}

/* `dict` is copied, because converting a value may run Python code. */
static bool to_output(
    struct fby_py_options *self, PyObject *dict, const char *name, void *member)
{
    struct forebay_output *output = member;
    *output                       = forebay_output(NULL);
    if (!PyDict_Check(dict)) {
        return refuse(PyExc_TypeError, name, "must be a list of dicts");
    }
    PyObject *copy = PyDict_Copy(dict);
    bool      done =
        copy != NULL && convert_all(self, copy, output_keys, name, output);
    Py_XDECREF(copy);
    return done;
}

static bool to_outputs(struct fby_py_options *self, PyObject *value,
    const char *name, void *member)
{
    (void)member;
    void *array = NULL;
    bool  done  = to_array(self, value, name, to_output, sizeof(*self->outputs),
          &array, &self->options.n_outputs);
    self->outputs         = array;
    self->options.outputs = array;
    return done;
}

#define OPTION(member) offsetof(struct fby_py_options, options.member)

static const struct argument arguments[] = {
    {"server", to_text, OPTION(server)},
    {"keys", to_text, OPTION(keys)},
    {"pipeline_path", to_path, OPTION(pipeline_path)},
    {"pipeline_text", to_text, OPTION(pipeline_text)},
    {"split", to_text, OPTION(split)},
    {"job", to_text, OPTION(job)},
    {"rank", to_u32, OPTION(rank)},
    {"world", to_u32, OPTION(world)},
    {"seed", to_seed, OPTION(seed)},
    {"token", to_text, OPTION(token)},
    {"fields", to_fields, 0},
    {"outputs", to_outputs, 0},
    {"roots", to_roots, 0},
    {"device", to_text, OPTION(device)},
    {"memory", to_memory, 0},
    {"window_bytes", to_u64, OPTION(window_bytes)},
    {"window_batches", to_u32, OPTION(window_batches)},
    {"max_held_bytes", to_u64, OPTION(max_held_bytes)},
    {"decode_threads", to_u32, OPTION(decode_threads)},
    {"open_timeout", to_timeout, OPTION(open_timeout_ns)},
    {"steps", to_u64, OPTION(steps)},
    {"epochs", to_u64, OPTION(epochs)},
    {"digests", to_bool, OPTION(digests)},
    {"on_scan", to_on_scan, 0},
    {NULL, NULL, 0},
};

bool fby_py_options_init(struct fby_py_options *out, PyObject *keywords)
{
    *out = (struct fby_py_options){.options = forebay_options(),
        .failure = {.struct_size = sizeof(out->failure)}};
    out->options.open_timeout_ns = INT64_C(300) * 1000000000;
    out->options.failure         = &out->failure;
    out->keep                    = PyList_New(0);
    return out->keep != NULL &&
           (keywords == NULL ||
               convert_all(out, keywords, arguments, "Stream", out));
}

void fby_py_options_fini(struct fby_py_options *self)
{
    free(self->fields);
    free(self->outputs);
    free(self->roots);
    Py_CLEAR(self->keep);
}
