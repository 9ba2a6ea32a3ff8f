/* SPDX-License-Identifier: Apache-2.0 */
/* exchange.c - tensors of a batch as values of a framework, by the table of C
 * functions that its array type has (DLPack's C exchange API, from 1.2). This
 * avoids a capsule and a Python call per tensor. */
#include "trainer_client/python/_forebay/module.h"

#define ATTRIBUTE "__dlpack_c_exchange_api__"
#define CAPSULE   "dlpack_exchange_api"

/* DLPackExchangeAPI. The layout is the same in all versions with our major
 * number. Functions that are not called here have no parameters. */
struct table_head {
    DLPackVersion            version;
    const struct table_head *previous; /* of an older version; or NULL */
};
struct table {
    struct table_head head;
    void (*allocate)(void);
    void (*from_object)(void);
    /* Takes the tensor, also on failure. Returns 0, or -1 with an exception. */
    int (*to_object)(DLManagedTensorVersioned *tensor, void **out);
};

/* Find the table with our major version. Returns NULL, without an exception, if
 * there is none. */
static const struct table *find_table(PyObject *capsule)
{
    const struct table_head *head = PyCapsule_IsValid(capsule, CAPSULE)
                                        ? PyCapsule_GetPointer(capsule, CAPSULE)
                                        : NULL;
    while (head != NULL && head->version.major > DLPACK_MAJOR_VERSION) {
        head = head->previous;
    }
    const struct table *table = NULL;
    if (head != NULL && head->version.major == DLPACK_MAJOR_VERSION) {
        table = (const struct table *)head;
    }
    return table != NULL && table->to_object != NULL ? table : NULL;
}

PyObject *fby_py_exchange_api(PyObject *module, PyObject *type)
{
    (void)module;
    PyObject *capsule = PyObject_GetAttrString(type, ATTRIBUTE);
    if (capsule == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) {
            return NULL;
        }
        PyErr_Clear();
    } else if (find_table(capsule) != NULL) {
        return capsule;
    }
    Py_XDECREF(capsule);
    Py_RETURN_NONE;
}

/* Set a key to tensor `number` of `batch`. */
static bool add_value(PyObject *values, const struct table *table,
    PyObject *batch, PyObject *name, PyObject *number)
{
    void                     *value = NULL;
    DLManagedTensorVersioned *managed =
        fby_py_batch_export_number(batch, number);
    if (managed == NULL || table->to_object(managed, &value) != 0 ||
        value == NULL) {
        return false;
    }
    bool added = PyDict_SetItem(values, name, value) == 0;
    Py_DECREF((PyObject *)value);
    return added;
}

static bool is_pair(PyObject *value)
{
    return PyTuple_Check(value) && PyTuple_Size(value) == 2;
}

static bool add_values(PyObject *values, const struct table *table,
    PyObject *batch, PyObject *numbers)
{
    Py_ssize_t n = PyTuple_Size(numbers);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *pair = PyTuple_GetItem(numbers, i);
        if (!is_pair(pair)) {
            PyErr_SetString(PyExc_TypeError,
                "values: the numbers must be tuples (name, number)");
            return false;
        }
        if (!add_value(values, table, batch, PyTuple_GetItem(pair, 0),
                PyTuple_GetItem(pair, 1))) {
            return false;
        }
    }
    return true;
}

PyObject *fby_py_batch_values(
    PyObject *batch, PyObject *const *args, Py_ssize_t n_args)
{
    const struct table *table = n_args == 2 ? find_table(args[0]) : NULL;
    if (table == NULL || !PyTuple_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError,
            "values: give a table of exchange_api(), and a tuple of tuples "
            "(name, number)");
        return NULL;
    }
    PyObject *values = PyDict_New();
    if (values != NULL && !add_values(values, table, batch, args[1])) {
        Py_CLEAR(values);
    }
    return values;
}
