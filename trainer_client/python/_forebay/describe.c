/* SPDX-License-Identifier: Apache-2.0 */
/* describe.c - what was opened, and statistics, as Python objects. Tables say
 * which members of the library's structs become which keys. */
#include <stddef.h>
#include <string.h>

#include "trainer_client/python/_forebay/module.h"

enum member_kind { KIND_U32, KIND_U64, KIND_I64, KIND_TEXT };

struct member {
    const char      *name;
    enum member_kind kind;
    size_t           offset;
};

#define INFO(kind, name)                                 \
    {                                                    \
#name, kind, offsetof(struct forebay_info, name) \
    }
#define STAT(kind, name)                                  \
    {                                                     \
#name, kind, offsetof(struct forebay_stats, name) \
    }

static const struct member info_members[] = {
    INFO(KIND_U64, samples),
    INFO(KIND_U64, steps_per_epoch),
    INFO(KIND_U32, global_batch),
    INFO(KIND_U32, n_fields),
    INFO(KIND_U64, seed),
    INFO(KIND_U64, first_epoch),
    INFO(KIND_U64, first_step),
    INFO(KIND_U64, end_step),
    INFO(KIND_TEXT, content_digest),
    INFO(KIND_TEXT, data_digest),
    INFO(KIND_TEXT, fingerprint),
    INFO(KIND_TEXT, job),
    INFO(KIND_U64, batch_bytes),
    INFO(KIND_TEXT, first_token),
    INFO(KIND_TEXT, device),
    INFO(KIND_U32, n_classes),
};

static const struct member stats_members[] = {
    STAT(KIND_U64, steps),
    STAT(KIND_U64, images),
    STAT(KIND_U64, raw_bytes),
    STAT(KIND_U64, wire_bytes),
    STAT(KIND_I64, wait_ns),
    STAT(KIND_U64, hedges),
    STAT(KIND_U64, rerequests),
    STAT(KIND_U64, late_chunks),
    STAT(KIND_U64, late_hedge_chunks),
    STAT(KIND_U64, checksum_failures),
    STAT(KIND_U64, protocol_errors),
    STAT(KIND_U64, substituted),
    STAT(KIND_U64, lost),
    STAT(KIND_U64, busy),
    STAT(KIND_U64, suspects),
    STAT(KIND_U64, reconnects),
    STAT(KIND_U64, overflow_batches),
    STAT(KIND_U32, workers_known),
    STAT(KIND_U32, workers_in_use),
    STAT(KIND_U32, workers_left_aside),
    STAT(KIND_U32, batches_held),
    STAT(KIND_U64, held_bytes),
    STAT(KIND_U64, audits),
    STAT(KIND_U64, audits_skipped),
    STAT(KIND_U32, batches_ready),
};

static PyObject *text_object(const char *text)
{
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

static PyObject *member_object(const struct member *member, const void *from)
{
    const char *at = (const char *)from + member->offset;
    uint32_t    u32;
    uint64_t    u64;
    int64_t     i64;
    switch (member->kind) {
    case KIND_U32:
        memcpy(&u32, at, sizeof(u32));
        return PyLong_FromUnsignedLong(u32);
    case KIND_U64:
        memcpy(&u64, at, sizeof(u64));
        return PyLong_FromUnsignedLongLong(u64);
    case KIND_I64:
        memcpy(&i64, at, sizeof(i64));
        return PyLong_FromLongLong(i64);
    case KIND_TEXT:
        return text_object(at);
    }
    return NULL;
}

/* Set a key to `value`, whose reference it takes. */
static bool set(PyObject *dict, const char *key, PyObject *value)
{
    bool done = value != NULL && PyDict_SetItemString(dict, key, value) == 0;
    Py_XDECREF(value);
    return done;
}

static PyObject *dict_of(
    const struct member *members, size_t n, const void *from)
{
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict != NULL && i < n; i++) {
        if (!set(dict, members[i].name, member_object(&members[i], from))) {
            Py_CLEAR(dict);
        }
    }
    return dict;
}

PyObject *fby_py_info(const struct forebay *stream)
{
    struct forebay_info info = {.struct_size = sizeof(info)};
    (void)forebay_info(stream, &info);
    return dict_of(
        info_members, sizeof(info_members) / sizeof(info_members[0]), &info);
}

/* ---- fields -------------------------------------------------------------- */

static PyObject *shape_object(const int64_t *shape, int32_t n)
{
    PyObject *tuple = PyTuple_New(n);
    for (int32_t i = 0; tuple != NULL && i < n; i++) {
        PyObject *size = PyLong_FromLongLong(shape[i]);
        if (size == NULL || PyTuple_SetItem(tuple, i, size) < 0) {
            Py_CLEAR(tuple);
        }
    }
    return tuple;
}

static PyObject *field_object(const struct forebay *stream, uint32_t i)
{
    struct forebay_field field = {.struct_size = sizeof(field)};
    (void)forebay_field(stream, i, &field);
    return Py_BuildValue("(sssNiiN)", field.name, field.source,
        fby_py_dtype_name(field.dtype), shape_object(field.shape, field.n_dims),
        (int)field.layout, (int)field.as,
        shape_object(field.dense_shape, field.n_dense_dims));
}

PyObject *fby_py_fields(const struct forebay *stream, uint32_t n)
{
    PyObject *fields = PyTuple_New(n);
    for (uint32_t i = 0; fields != NULL && i < n; i++) {
        PyObject *field = field_object(stream, i);
        if (field == NULL || PyTuple_SetItem(fields, i, field) < 0) {
            Py_CLEAR(fields);
        }
    }
    return fields;
}

PyObject *fby_py_names(PyObject *fields)
{
    Py_ssize_t n     = PyTuple_Size(fields);
    PyObject  *names = PyTuple_New(n);
    for (Py_ssize_t i = 0; names != NULL && i < n; i++) {
        PyObject *name = PyTuple_GetItem(PyTuple_GetItem(fields, i), 0);
        if (PyTuple_SetItem(names, i, Py_NewRef(name)) < 0) {
            Py_CLEAR(names);
        }
    }
    return names;
}

PyObject *fby_py_classes(const struct forebay *stream)
{
    struct forebay_info info = {.struct_size = sizeof(info)};
    (void)forebay_info(stream, &info);
    if (info.n_classes == 0) {
        Py_RETURN_NONE;
    }
    PyObject *classes = PyTuple_New(info.n_classes);
    for (uint32_t i = 0; classes != NULL && i < info.n_classes; i++) {
        PyObject *name = text_object(forebay_class_name(stream, i));
        if (name == NULL || PyTuple_SetItem(classes, i, name) < 0) {
            Py_CLEAR(classes);
        }
    }
    return classes;
}

/* ---- statistics ---------------------------------------------------------- */

static PyObject *stages_object(const struct forebay_stats *stats)
{
    PyObject *stages = PyDict_New();
    for (uint32_t i = 0; stages != NULL && i < stats->n_stages; i++) {
        if (!set(stages, stats->stages[i].name,
                PyLong_FromLongLong(stats->stages[i].busy_ns))) {
            Py_CLEAR(stages);
        }
    }
    return stages;
}

PyObject *fby_py_stats(const struct forebay_stats *stats)
{
    PyObject *dict = dict_of(
        stats_members, sizeof(stats_members) / sizeof(stats_members[0]), stats);
    if (dict != NULL && !set(dict, "stages", stages_object(stats))) {
        Py_CLEAR(dict);
    }
    return dict;
}
