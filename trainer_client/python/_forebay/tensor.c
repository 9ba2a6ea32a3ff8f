/* SPDX-License-Identifier: Apache-2.0 */
/* tensor.c - the type Tensor: one tensor of a batch, by the buffer protocol and
 * by DLPack (dlpack.c). Views and capsules are on the library's memory, which
 * the caller may write. */
#include "trainer_client/python/_forebay/module.h"

enum { MAX_DIMS = 8 };

size_t fby_py_item_bytes(const DLTensor *tensor)
{
    return (size_t)(tensor->dtype.bits / 8) * tensor->dtype.lanes;
}

size_t fby_py_span(const DLTensor *tensor)
{
    int64_t last = 0;
    for (int32_t i = 0; i < tensor->ndim; i++) {
        if (tensor->shape[i] == 0) {
            return 0;
        }
        last += (tensor->shape[i] - 1) * tensor->strides[i];
    }
    return (size_t)last + 1;
}

/* ---- life ---------------------------------------------------------------- */

static bool is_c_contiguous(const DLTensor *tensor)
{
    int64_t step = 1;
    for (int32_t i = tensor->ndim - 1; i >= 0; i--) {
        if (tensor->shape[i] != 1 && tensor->strides[i] != step &&
            tensor->shape[i] != 0) {
            return false;
        }
        step *= tensor->shape[i];
    }
    return true;
}

static void note_shape(struct fby_py_tensor *self)
{
    const DLTensor *view       = &self->managed->dl_tensor;
    Py_ssize_t      item_bytes = (Py_ssize_t)fby_py_item_bytes(view);
    self->c_contiguous         = is_c_contiguous(view);
    for (int32_t i = 0; i < view->ndim; i++) {
        self->shape[i]   = (Py_ssize_t)view->shape[i];
        self->strides[i] = (Py_ssize_t)view->strides[i] * item_bytes;
    }
}

PyObject *fby_py_tensor_new(PyObject *owner, struct forebay_batch *batch,
    uint32_t index, PyObject *name)
{
    struct fby_py_state      *state   = fby_py_state_of(owner);
    DLManagedTensorVersioned *managed = NULL;
    enum forebay_status       status =
        forebay_batch_export(batch, index, DLPACK_MAJOR_VERSION, &managed);
    if (status != FOREBAY_OK) {
        return fby_py_raise_text(state, status, forebay_status_text(status));
    }
    struct fby_py_tensor *self = NULL;
    if (managed->dl_tensor.ndim > MAX_DIMS) {
        PyErr_SetString(
            PyExc_SystemError, "a tensor of more than 8 dimensions");
    } else {
        self =
            (struct fby_py_tensor *)PyType_GenericAlloc(state->tensor_type, 0);
    }
    if (self == NULL) {
        managed->deleter(managed);
        return NULL;
    }
    self->batch   = batch;
    self->managed = managed;
    self->index   = index;
    self->owner   = Py_NewRef(owner);
    self->name    = Py_NewRef(name);
    note_shape(self);
    return &self->ob_base;
}

static void tensor_dealloc(PyObject *object)
{
    struct fby_py_tensor *self = (struct fby_py_tensor *)object;
    PyTypeObject         *type = Py_TYPE(object);
    self->managed->deleter(self->managed);
    Py_XDECREF(self->owner);
    Py_XDECREF(self->name);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* ---- attributes ---------------------------------------------------------- */

static PyObject *tensor_name(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef(((struct fby_py_tensor *)self)->name);
}

static PyObject *tensor_dtype(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(fby_py_dtype_name(
        ((struct fby_py_tensor *)self)->managed->dl_tensor.dtype));
}

static PyObject *tensor_shape(PyObject *object, void *unused)
{
    (void)unused;
    struct fby_py_tensor *self  = (struct fby_py_tensor *)object;
    int32_t               n     = self->managed->dl_tensor.ndim;
    PyObject             *shape = PyTuple_New(n);
    for (int32_t i = 0; shape != NULL && i < n; i++) {
        PyObject *size = PyLong_FromSsize_t(self->shape[i]);
        if (size == NULL || PyTuple_SetItem(shape, i, size) < 0) {
            Py_CLEAR(shape);
        }
    }
    return shape;
}

/* ---- buffer protocol ----------------------------------------------------- */

static bool refuse(struct fby_py_tensor *self, const char *why)
{
    PyErr_Format(PyExc_BufferError, "%U: %s", self->name, why);
    return false;
}

static bool wants(int flags, int bits)
{
    return (flags & bits) == bits;
}

static bool check_buffer(struct fby_py_tensor *self, int flags)
{
    const DLTensor *view = &self->managed->dl_tensor;
    if (view->device.device_type != kDLCPU) {
        return refuse(self,
            "the tensor is on a GPU, and buffers are on the host: take it by "
            "DLPack, as torch.from_dlpack does");
    }
    if (fby_py_dtype_format(view->dtype) == NULL) {
        return refuse(self,
            "buffers and NumPy have no bf16: take the tensor by DLPack, as "
            "torch.from_dlpack does, or ask for dtype f32 or f16 in the output "
            "of the field");
    }
    bool needs_order = !wants(flags, PyBUF_STRIDES) ||
                       wants(flags, PyBUF_C_CONTIGUOUS) ||
                       wants(flags, PyBUF_ANY_CONTIGUOUS);
    if (needs_order && !self->c_contiguous) {
        return refuse(self,
            "the tensor is not contiguous (layout channels_last), and this "
            "use of it needs it so");
    }
    if (wants(flags, PyBUF_F_CONTIGUOUS) && view->ndim > 1) {
        return refuse(self, "the tensor is not in Fortran's order");
    }
    return true;
}

static int tensor_getbuffer(PyObject *object, Py_buffer *out, int flags)
{
    static uint8_t        nothing; /* for a batch of no rows */
    struct fby_py_tensor *self = (struct fby_py_tensor *)object;
    out->obj                   = NULL;
    if (!check_buffer(self, flags)) {
        return -1;
    }
    const DLTensor *view = &self->managed->dl_tensor;
    uint8_t        *data = view->data;
    out->itemsize        = (Py_ssize_t)fby_py_item_bytes(view);
    out->len             = out->itemsize;
    for (int32_t i = 0; i < view->ndim; i++) {
        out->len *= self->shape[i];
    }
    out->buf        = data != NULL ? data + view->byte_offset : &nothing;
    out->readonly   = 0;
    out->ndim       = view->ndim;
    out->shape      = wants(flags, PyBUF_ND) ? self->shape : NULL;
    out->strides    = wants(flags, PyBUF_STRIDES) ? self->strides : NULL;
    out->suboffsets = NULL;
    out->internal   = NULL;
    out->obj        = Py_NewRef(object);
    union { /* the member is not const, but no consumer writes to it */
        const char *text;
        char       *format;
    } cast      = {.text = fby_py_dtype_format(view->dtype)};
    out->format = wants(flags, PyBUF_FORMAT) ? cast.format : NULL;
    return 0;
}

/* ---- type ---------------------------------------------------------------- */

static PyMethodDef methods[] = {
    {"__dlpack__", FBY_PY_FAST(fby_py_dlpack), METH_FASTCALL | METH_KEYWORDS,
        "__dlpack__(*, stream=None, max_version=None, dl_device=None, "
        "copy=None)\n--\n\nA DLPack capsule, as the array API standard says."},
    {"__dlpack_device__", fby_py_dlpack_device, METH_NOARGS,
        "__dlpack_device__()\n--\n\nThe tuple (device type, device number)."},
    {"__reduce__", fby_py_refuse_pickle, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getters[] = {
    {"name", tensor_name, NULL, NULL, NULL},
    {"dtype", tensor_dtype, NULL,
        "u8, u16, u32, i32, i64, f16, bf16, f32, bool", NULL},
    {"shape", tensor_shape, NULL, "sizes in elements", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static char doc[] =
    "A tensor of a batch. It keeps the memory while referenced.";

static PyType_Slot slots[] = {
    {Py_tp_doc, doc},
    {Py_tp_dealloc, tensor_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, getters},
    {Py_bf_getbuffer, tensor_getbuffer},
    {0, NULL},
};

PyType_Spec fby_py_tensor_spec = {
    .name      = "forebay._forebay.Tensor",
    .basicsize = sizeof(struct fby_py_tensor),
    .flags     = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
