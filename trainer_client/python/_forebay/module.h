/* SPDX-License-Identifier: Apache-2.0 */
/* module.h - what the files of the extension `forebay._forebay` share.
 *
 * The extension wraps the public C library in Python types on CPython's limited
 * API of 3.11. Waits, copies and closes run without the GIL. No thread of the
 * library calls Python: its log lines go to a queue in C (log.c), and deleters
 * of tensors are the library's. All types are heap types, and what belongs to
 * one interpreter is in the module's state. A function that returns NULL or
 * false has set a Python exception, unless its comment says otherwise. */
#ifndef FBY_PYTHON_MODULE_H
#define FBY_PYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "forebay/forebay.h"

/* An object's lock where there is no GIL. With the GIL nothing is needed: the
 * code between them does not release it. */
#if defined(Py_GIL_DISABLED) && !defined(Py_LIMITED_API)
#define FBY_PY_LOCK(object) Py_BEGIN_CRITICAL_SECTION(object)
#define FBY_PY_UNLOCK()     Py_END_CRITICAL_SECTION()
#else
#define FBY_PY_LOCK(object) {
#define FBY_PY_UNLOCK()     }
#endif

struct fby_py_state {
    PyObject     *error_factory; /* read and set by functions of error.c */
    PyTypeObject *stream_type;
    PyTypeObject *batch_type;
    PyTypeObject *tensor_type;
};

/* The state of the module that the type of `self` belongs to. */
static inline struct fby_py_state *fby_py_state_of(PyObject *self)
{
    return PyType_GetModuleState(Py_TYPE(self));
}

/* A function of the limited API's fast calling convention as a PyCFunction. */
#define FBY_PY_FAST(function) ((PyCFunction)(void (*)(void))(function))

/* ---- errors (error.c) ---------------------------------------------------- */

/* Set the error factory, whose reference is taken; NULL: RuntimeError. Returns
 * a reference to the previous one. */
PyObject *fby_py_swap_factory(struct fby_py_state *state, PyObject *factory);
/* Set the exception that the error factory makes. Returns NULL. */
PyObject *fby_py_raise(
    struct fby_py_state *state, const struct forebay_failure *failure);
/* The same for an error without parts. */
PyObject *fby_py_raise_text(
    struct fby_py_state *state, enum forebay_status status, const char *text);
/* A method that refuses to pickle its object. */
PyObject *fby_py_refuse_pickle(PyObject *self, PyObject *unused);

/* ---- log (log.c) --------------------------------------------------------- */

/* Send the library's log to the queue. Call once or more in a process. */
void fby_py_log_start(void);
/* log_lines() of the module. */
PyObject *fby_py_log_lines(PyObject *module, PyObject *unused);

/* ---- arguments (arguments.c) --------------------------------------------- */

/* Point *to[i], which is NULL, to the argument known[i] if it is given. `names`
 * has the keywords, whose values follow the `n_args` other arguments. */
bool fby_py_arguments(const char *function, PyObject *const *args,
    Py_ssize_t n_args, PyObject *names, const char *const *known,
    PyObject **const *to, Py_ssize_t n_known);

/* Convert an integer; `name` is for the exception. */
bool fby_py_u64(PyObject *value, const char *name, uint64_t *out);
/* Convert seconds to nanoseconds; values too large become INT64_MAX. */
bool fby_py_seconds(PyObject *value, const char *name, int64_t *out);
/* An address, or a CUDA stream's number, as a pointer. */
static inline void *fby_py_pointer(uint64_t address)
{
    void *pointer = NULL;
    memcpy(&pointer, &address, sizeof(pointer));
    return pointer;
}

/* ---- arguments of Stream (options.c) ------------------------------------- */

/* The options of a stream. Their strings are borrowed from `keep`. */
struct fby_py_options {
    struct forebay_options options;
    struct forebay_failure failure;
    PyObject              *keep;    /* list of what is borrowed from */
    PyObject              *on_scan; /* borrowed from `keep`; or NULL */
    const char           **fields;
    struct forebay_output *outputs;
    struct forebay_root   *roots;
};

/* Fill `out` from the keywords of Stream(), a dict or NULL. Call
 * fby_py_options_fini() also after a failure. */
bool fby_py_options_init(struct fby_py_options *out, PyObject *keywords);
void fby_py_options_fini(struct fby_py_options *self);

/* ---- descriptions (describe.c) ------------------------------------------- */

/* These functions call the library while holding the GIL; it only copies. */
PyObject *fby_py_info(const struct forebay *stream);
PyObject *fby_py_fields(const struct forebay *stream, uint32_t n);
PyObject *fby_py_names(PyObject *fields);
PyObject *fby_py_classes(const struct forebay *stream);
PyObject *fby_py_stats(const struct forebay_stats *stats);

/* ---- element types (dtype.c) --------------------------------------------- */

/* "u8", "bf16" ...; "?" for a type that Forebay does not have. */
const char *fby_py_dtype_name(DLDataType dtype);
/* The format of the struct module; NULL if it has none for the type. */
const char *fby_py_dtype_format(DLDataType dtype);

/* ---- batches and tensors ------------------------------------------------- */

/* Batch(): takes *batch_p, which becomes NULL also on failure. `stream` is the
 * CUDA stream that was given for its values. */
PyObject *fby_py_batch_new(struct fby_py_state *state,
    struct forebay_batch **batch_p, void *stream, PyObject *names);
/* Export a tensor of a Batch, by its number. */
DLManagedTensorVersioned *fby_py_batch_export_number(
    PyObject *batch, PyObject *number);
/* Note that `stream` is the last one given for the values of a Batch. */
void fby_py_batch_set_stream(PyObject *batch, void *stream);

/* A view of one tensor. It holds an export of the tensor, which keeps the
 * memory and the library's batch, so `batch` is valid after its release too. */
struct fby_py_tensor {
    PyObject                  ob_base;
    struct forebay_batch     *batch;
    DLManagedTensorVersioned *managed;
    PyObject                 *owner; /* the Batch, which notes the stream */
    PyObject                 *name;
    uint32_t                  index;
    bool                      c_contiguous;
    Py_ssize_t                shape[8];
    Py_ssize_t                strides[8]; /* in bytes */
};

/* Tensor `index` of a Batch, with its library's batch and the tensor's name. */
PyObject *fby_py_tensor_new(PyObject *owner, struct forebay_batch *batch,
    uint32_t index, PyObject *name);
/* Tensor `index` of a batch as a DLPack capsule of the version before 1.0. */
PyObject *fby_py_capsule(struct fby_py_state *state,
    const struct forebay_batch *batch, uint32_t index);
/* exchange_api() of the module, and values() of Batch (exchange.c). */
PyObject *fby_py_batch_values(
    PyObject *batch, PyObject *const *args, Py_ssize_t n_args);
PyObject *fby_py_exchange_api(PyObject *module, PyObject *type);
/* The methods of Tensor for DLPack (dlpack.c). */
PyObject *fby_py_dlpack(PyObject *object, PyObject *const *args,
    Py_ssize_t n_args, PyObject *names);
PyObject *fby_py_dlpack_device(PyObject *self, PyObject *unused);
/* Bytes of an element, and elements from the first to behind the last. */
size_t fby_py_item_bytes(const DLTensor *tensor);
size_t fby_py_span(const DLTensor *tensor);

/* Specifications of the types. */
extern PyType_Spec fby_py_stream_spec;
extern PyType_Spec fby_py_batch_spec;
extern PyType_Spec fby_py_tensor_spec;

#endif
