/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.c - positional and keyword arguments of the fast calling
 * convention, and numbers. */
#include <math.h>

#include "trainer_client/python/_forebay/module.h"

static bool set_keyword(const char *function, PyObject *name, PyObject *value,
    const char *const *known, PyObject **const *to, Py_ssize_t n_known)
{
    for (Py_ssize_t i = 0; i < n_known; i++) {
        if (PyUnicode_CompareWithASCIIString(name, known[i]) == 0) {
            if (*to[i] != NULL) {
                PyErr_Format(PyExc_TypeError, "%s: %s is given twice", function,
                    known[i]);
                return false;
            }
            *to[i] = value;
            return true;
        }
    }
    PyErr_Format(
        PyExc_TypeError, "%s: there is no argument %R", function, name);
    return false;
}

bool fby_py_arguments(const char *function, PyObject *const *args,
    Py_ssize_t n_args, PyObject *names, const char *const *known,
    PyObject **const *to, Py_ssize_t n_known)
{
    if (n_args > n_known) {
        PyErr_Format(PyExc_TypeError, "%s: at most %zd arguments, not %zd",
            function, n_known, n_args);
        return false;
    }
    for (Py_ssize_t i = 0; i < n_args; i++) {
        *to[i] = args[i];
    }
    Py_ssize_t n_names = names != NULL ? PyTuple_Size(names) : 0;
    for (Py_ssize_t i = 0; i < n_names; i++) {
        if (!set_keyword(function, PyTuple_GetItem(names, i), args[n_args + i],
                known, to, n_known)) {
            return false;
        }
    }
    return true;
}

/* ---- numbers ------------------------------------------------------------- */

static bool refuse(PyObject *type, const char *name, const char *what)
{
    PyErr_Format(type, "%s: %s", name, what);
    return false;
}

bool fby_py_u64(PyObject *value, const char *name, uint64_t *out)
{
    PyObject *index = PyNumber_Index(value);
    if (index == NULL) {
        PyErr_Clear();
        return refuse(PyExc_TypeError, name, "must be an integer");
    }
    *out = PyLong_AsUnsignedLongLong(index);
    Py_DECREF(index);
    if (PyErr_Occurred() != NULL) {
        PyErr_Clear();
        return refuse(PyExc_ValueError, name, "must be from 0 to 2**64 - 1");
    }
    return true;
}

bool fby_py_seconds(PyObject *value, const char *name, int64_t *out)
{
    double seconds = PyFloat_AsDouble(value);
    if (PyErr_Occurred() != NULL) {
        PyErr_Clear();
        return refuse(PyExc_TypeError, name, "must be a number of seconds");
    }
    if (isnan(seconds)) {
        return refuse(PyExc_ValueError, name, "is not a number");
    }
    *out = seconds < 9e9 ? (int64_t)(fmax(seconds, -1) * 1e9) : INT64_MAX;
    return true;
}
