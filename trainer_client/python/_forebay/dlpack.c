/* SPDX-License-Identifier: Apache-2.0 */
/* dlpack.c - a Tensor as a DLPack capsule, as the Python array API standard
 * says. A capsule owns its own export of the tensor, so it outlives the Tensor,
 * the batch and the stream. Destructors and deleters are C: consumers may call
 * the latter from threads that Python does not know. */
#include <stdlib.h>

#include "trainer_client/python/_forebay/module.h"

#define LEGACY    "dltensor"
#define VERSIONED "dltensor_versioned"

enum { ALIGNMENT = 64 };

struct request { /* what the consumer asks for */
    bool  versioned;
    bool  copy;
    bool  sync; /* `stream` has to wait for the values */
    void *stream;
};

/* ---- capsules ------------------------------------------------------------ */

/* A consumer renames the capsule of a tensor that it has taken. */
static void delete_legacy(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, LEGACY)) {
        DLManagedTensor *managed = PyCapsule_GetPointer(capsule, LEGACY);
        managed->deleter(managed);
    }
}

static void delete_versioned(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, VERSIONED)) {
        DLManagedTensorVersioned *managed =
            PyCapsule_GetPointer(capsule, VERSIONED);
        managed->deleter(managed);
    }
}

static PyObject *versioned_capsule(DLManagedTensorVersioned *managed)
{
    PyObject *capsule = PyCapsule_New(managed, VERSIONED, delete_versioned);
    if (capsule == NULL) {
        managed->deleter(managed);
    }
    return capsule;
}

static PyObject *legacy_capsule(DLManagedTensor *managed)
{
    PyObject *capsule = PyCapsule_New(managed, LEGACY, delete_legacy);
    if (capsule == NULL) {
        managed->deleter(managed);
    }
    return capsule;
}

static PyObject *export_versioned(struct fby_py_tensor *self)
{
    DLManagedTensorVersioned *managed = NULL;
    enum forebay_status       status  = forebay_batch_export(
               self->batch, self->index, DLPACK_MAJOR_VERSION, &managed);
    if (status != FOREBAY_OK) {
        return fby_py_raise_text(fby_py_state_of(&self->ob_base), status,
            forebay_status_text(status));
    }
    return versioned_capsule(managed);
}

PyObject *fby_py_capsule(struct fby_py_state *state,
    const struct forebay_batch *batch, uint32_t index)
{
    DLManagedTensor    *managed = NULL;
    enum forebay_status status =
        forebay_batch_export_legacy(batch, index, &managed);
    if (status != FOREBAY_OK) {
        return fby_py_raise_text(state, status, forebay_status_text(status));
    }
    return legacy_capsule(managed);
}

/* ---- copies on the host -------------------------------------------------- */

struct host_copy {
    DLManagedTensorVersioned versioned; /* one of the two is used */
    DLManagedTensor          legacy;
    int64_t                  shape[8];
    int64_t                  strides[8];
    void                    *data;
};

static void free_copy(struct host_copy *copy)
{
    free(copy->data);
    free(copy);
}

static void delete_versioned_copy(DLManagedTensorVersioned *managed)
{
    free_copy(managed->manager_ctx);
}

static void delete_legacy_copy(DLManagedTensor *managed)
{
    free_copy(managed->manager_ctx);
}

/* Copy the values and the strides. Returns NULL without memory. */
static struct host_copy *copy_host(const DLTensor *from)
{
    size_t            bytes = fby_py_span(from) * fby_py_item_bytes(from);
    size_t            room  = (bytes / ALIGNMENT + 1) * ALIGNMENT;
    struct host_copy *copy  = calloc(1, sizeof(*copy));
    void             *data  = aligned_alloc(ALIGNMENT, room);
    if (copy == NULL || data == NULL) {
        free(data);
        free(copy);
        return NULL;
    }
    if (bytes > 0) {
        memcpy(data, (const uint8_t *)from->data + from->byte_offset, bytes);
    }
    size_t dims_bytes = (size_t)from->ndim * sizeof(int64_t);
    copy->data        = data;
    memcpy(copy->shape, from->shape, dims_bytes);
    memcpy(copy->strides, from->strides, dims_bytes);
    DLTensor view             = *from;
    view.data                 = data;
    view.byte_offset          = 0;
    view.shape                = copy->shape;
    view.strides              = copy->strides;
    copy->versioned.dl_tensor = view;
    copy->legacy.dl_tensor    = view;
    return copy;
}

static PyObject *export_copy(struct fby_py_tensor *self, bool versioned)
{
    const DLTensor   *view = &self->managed->dl_tensor;
    struct host_copy *copy = NULL;
    if (view->device.device_type != kDLCPU) {
        PyErr_SetString(PyExc_BufferError,
            "a tensor on a GPU is exported without a copy only: copy it in "
            "the framework, as tensor.clone() does");
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    copy = copy_host(view);
    Py_END_ALLOW_THREADS;
    if (copy == NULL) {
        return PyErr_NoMemory();
    }
    copy->versioned.version =
        (DLPackVersion){DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    copy->versioned.flags       = DLPACK_FLAG_BITMASK_IS_COPIED;
    copy->versioned.manager_ctx = copy;
    copy->versioned.deleter     = delete_versioned_copy;
    copy->legacy.manager_ctx    = copy;
    copy->legacy.deleter        = delete_legacy_copy;
    return versioned ? versioned_capsule(&copy->versioned)
                     : legacy_capsule(&copy->legacy);
}

/* ---- arguments ----------------------------------------------------------- */

/* A tuple of two integers. */
static bool read_pair(
    PyObject *value, const char *name, long *first, long *second)
{
    if (!PyTuple_Check(value) || PyTuple_Size(value) != 2) {
        PyErr_Format(
            PyExc_TypeError, "%s: must be a tuple of two integers", name);
        return false;
    }
    *first  = PyLong_AsLong(PyTuple_GetItem(value, 0));
    *second = PyLong_AsLong(PyTuple_GetItem(value, 1));
    return PyErr_Occurred() == NULL;
}

static bool check_device(const DLDevice *device, PyObject *wanted)
{
    long type   = 0;
    long number = 0;
    if (!read_pair(wanted, "dl_device", &type, &number)) {
        return false;
    }
    if (type != (long)device->device_type ||
        (type != kDLCPU && number != device->device_id)) {
        PyErr_Format(PyExc_BufferError,
            "the tensor is on device (%d, %d) and is not copied to (%ld, %ld): "
            "copy it in the framework, as tensor.to() does",
            (int)device->device_type, (int)device->device_id, type, number);
        return false;
    }
    return true;
}

/* On the host only None is a stream; -1 asks for no synchronisation. On CUDA
 * None is the legacy default stream, and 0 is not allowed. */
static bool read_stream(
    const DLDevice *device, PyObject *value, struct request *out)
{
    bool      on_host = device->device_type == kDLCPU;
    long long number  = 0;
    if (value == Py_None) {
        out->sync = !on_host;
        return true;
    }
    number = PyLong_AsLongLong(value);
    if (number == -1 && PyErr_Occurred() != NULL) {
        return false;
    }
    if (number < -1 || (on_host && number != -1) || number == 0) {
        PyErr_SetString(PyExc_ValueError,
            on_host ? "stream: a tensor on the host has no stream: give None"
                    : "stream: give None, -1, 1, 2 or a stream's handle");
        return false;
    }
    out->sync   = number != -1;
    out->stream = fby_py_pointer((uint64_t)number);
    return true;
}

static bool read_copy(PyObject *value, struct request *out)
{
    int truth = value == Py_None ? 0 : PyObject_IsTrue(value);
    out->copy = truth > 0;
    return truth >= 0;
}

static bool read_version(PyObject *value, struct request *out)
{
    long major = 0;
    long minor = 0;
    if (value != Py_None && !read_pair(value, "max_version", &major, &minor)) {
        return false;
    }
    out->versioned = major >= DLPACK_MAJOR_VERSION;
    return true;
}

static bool read_request(const DLDevice *device, PyObject *const *args,
    Py_ssize_t n_args, PyObject *names, struct request *out)
{
    static const char *const known[] = {
        "stream", "max_version", "dl_device", "copy"};
    PyObject        *stream  = NULL;
    PyObject        *version = NULL;
    PyObject        *wanted  = NULL;
    PyObject        *copy    = NULL;
    PyObject **const to[]    = {&stream, &version, &wanted, &copy};
    if (n_args > 0) {
        PyErr_SetString(
            PyExc_TypeError, "__dlpack__ takes keyword arguments only");
        return false;
    }
    out->sync = device->device_type != kDLCPU;
    return fby_py_arguments("__dlpack__", args, 0, names, known, to, 4) &&
           (stream == NULL || read_stream(device, stream, out)) &&
           (version == NULL || read_version(version, out)) &&
           (wanted == NULL || wanted == Py_None ||
               check_device(device, wanted)) &&
           (copy == NULL || read_copy(copy, out));
}

/* ---- methods ------------------------------------------------------------- */

/* Let `stream` wait for the values, and the memory's reuse for `stream`. */
static bool synchronize(struct fby_py_tensor *self, void *stream)
{
    enum forebay_status status = FOREBAY_OK;
    Py_BEGIN_ALLOW_THREADS;
    status = forebay_batch_await(self->batch, stream);
    Py_END_ALLOW_THREADS;
    fby_py_batch_set_stream(self->owner, stream);
    if (status != FOREBAY_OK) {
        (void)fby_py_raise_text(fby_py_state_of(&self->ob_base), status,
            forebay_status_text(status));
    }
    return status == FOREBAY_OK;
}

PyObject *fby_py_dlpack(
    PyObject *object, PyObject *const *args, Py_ssize_t n_args, PyObject *names)
{
    struct fby_py_tensor *self    = (struct fby_py_tensor *)object;
    struct request        request = {0};
    const DLDevice       *device  = &self->managed->dl_tensor.device;
    if (!read_request(device, args, n_args, names, &request) ||
        (request.sync && !synchronize(self, request.stream))) {
        return NULL;
    }
    if (request.copy) {
        return export_copy(self, request.versioned);
    }
    return request.versioned ? export_versioned(self)
                             : fby_py_capsule(fby_py_state_of(object),
                                   self->batch, self->index);
}

PyObject *fby_py_dlpack_device(PyObject *self, PyObject *unused)
{
    (void)unused;
    const DLDevice *device =
        &((struct fby_py_tensor *)self)->managed->dl_tensor.device;
    return Py_BuildValue(
        "(ii)", (int)device->device_type, (int)device->device_id);
}
