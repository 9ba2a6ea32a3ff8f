/* SPDX-License-Identifier: Apache-2.0 */
/* dtype.c - names of element types, and their formats in Python's buffers. */
#include "trainer_client/python/_forebay/module.h"

_Static_assert(sizeof(long) == 8, "the format l is a number of 64 bits");

static const struct dtype {
    uint8_t     code, bits;
    const char *name;
    const char *format; /* NULL: the struct module has none */
} dtypes[] = {
    {kDLUInt, 8, "u8", "B"},
    {kDLUInt, 16, "u16", "H"},
    {kDLUInt, 32, "u32", "I"},
    {kDLInt, 32, "i32", "i"},
    {kDLInt, 64, "i64", "l"},
    {kDLFloat, 16, "f16", "e"},
    {kDLFloat, 32, "f32", "f"},
    {kDLBfloat, 16, "bf16", NULL},
    {kDLBool, 8, "bool", "?"},
};

static const struct dtype *find(DLDataType dtype)
{
    static const struct dtype unknown = {0, 0, "?", NULL};
    for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++) {
        if (dtypes[i].code == dtype.code && dtypes[i].bits == dtype.bits &&
            dtype.lanes == 1) {
            return &dtypes[i];
        }
    }
    return &unknown;
}

const char *fby_py_dtype_name(DLDataType dtype)
{
    return find(dtype)->name;
}

const char *fby_py_dtype_format(DLDataType dtype)
{
    return find(dtype)->format;
}
