/* SPDX-License-Identifier: Apache-2.0 */
/* module.c - the module `forebay._forebay`: its functions, types and state. */
#include "trainer_client/python/_forebay/module.h"

static PyObject *set_error_factory(PyObject *module, PyObject *factory)
{
    struct fby_py_state *state = PyModule_GetState(module);
    if (factory != Py_None && !PyCallable_Check(factory)) {
        PyErr_SetString(PyExc_TypeError,
            "set_error_factory: give a function (status, text, parts) that "
            "returns an exception, or None");
        return NULL;
    }
    PyObject *previous = fby_py_swap_factory(
        state, factory == Py_None ? NULL : Py_NewRef(factory));
    Py_XDECREF(previous);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"set_error_factory", set_error_factory, METH_O,
        "set_error_factory(f)\n--\n\n"
        "Let f(status, text, parts) make the exception of every failure."},
    {"log_lines", fby_py_log_lines, METH_NOARGS,
        "log_lines()\n--\n\n"
        "The log lines since the last call: a list of (level, line)."},
    {"exchange_api", fby_py_exchange_api, METH_O,
        "exchange_api(type)\n--\n\n"
        "The table of C functions by which Batch.values() makes tensors of "
        "this type; None if it has none that can be used."},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    if (type != NULL && PyModule_AddType(module, (PyTypeObject *)type) < 0) {
        Py_CLEAR(type);
    }
    return (PyTypeObject *)type;
}

static int execute(PyObject *module)
{
    struct fby_py_state *state = PyModule_GetState(module);
    state->stream_type         = add_type(module, &fby_py_stream_spec);
    if (state->stream_type == NULL) {
        return -1;
    }
    state->batch_type = add_type(module, &fby_py_batch_spec);
    if (state->batch_type == NULL) {
        return -1;
    }
    state->tensor_type = add_type(module, &fby_py_tensor_spec);
    if (state->tensor_type == NULL ||
        PyModule_AddStringConstant(module, "__version__", forebay_version()) <
            0) {
        return -1;
    }
    fby_py_log_start();
    return 0;
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    struct fby_py_state *state = PyModule_GetState(module);
    Py_VISIT(state->error_factory);
    Py_VISIT(state->stream_type);
    Py_VISIT(state->batch_type);
    Py_VISIT(state->tensor_type);
    return 0;
}

static int clear(PyObject *module)
{
    struct fby_py_state *state = PyModule_GetState(module);
    Py_CLEAR(state->error_factory);
    Py_CLEAR(state->stream_type);
    Py_CLEAR(state->batch_type);
    Py_CLEAR(state->tensor_type);
    return 0;
}

static void free_state(void *module)
{
    (void)clear(module);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, execute},
#if defined(Py_GIL_DISABLED) && defined(Py_mod_gil)
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name     = "forebay._forebay",
    .m_doc      = "Streams of training batches: libforebay for Python.",
    .m_size     = sizeof(struct fby_py_state),
    .m_methods  = methods,
    .m_slots    = slots,
    .m_traverse = traverse,
    .m_clear    = clear,
    .m_free     = free_state,
};

/* The name is CPython's. NOLINTBEGIN(readability-identifier-naming) */
PyMODINIT_FUNC PyInit__forebay(void);

PyMODINIT_FUNC PyInit__forebay(void)
/* NOLINTEND(readability-identifier-naming) */
{
    return PyModuleDef_Init(&definition);
}
