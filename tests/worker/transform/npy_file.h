/* SPDX-License-Identifier: Apache-2.0 */
/* npy_file.h - headers of NumPy files for tests. */
#ifndef FBY_TESTS_WORKER_TRANSFORM_NPY_FILE_H
#define FBY_TESTS_WORKER_TRANSFORM_NPY_FILE_H

#include <stdio.h>
#include <string.h>

#include "common/bytes.h"

/* Append magic, version and `text` with its length; no blanks are added. */
static inline void put_npy_text(
    struct fby_buffer *out, uint8_t major, const char *text)
{
    fby_put_bytes(out, "\x93NUMPY", 6);
    fby_put_u8(out, major);
    fby_put_u8(out, 0);
    if (major == 1) {
        fby_put_u16(out, (uint16_t)strlen(text));
    } else {
        fby_put_u32(out, (uint32_t)strlen(text));
    }
    fby_put_bytes(out, text, strlen(text));
}

/* A header as NumPy writes it, from a dtype ("<f4") and a shape ("(3, 4)"). */
static inline void put_npy_header(
    struct fby_buffer *out, const char *descr, const char *shape)
{
    char text[256];
    int  n      = snprintf(text, sizeof(text),
              "{'descr': '%s', 'fortran_order': False, "
                    "'shape': %s, }",
              descr, shape);
    int  blanks = 63 - (10 + n) % 64;
    snprintf(text + n, sizeof(text) - (size_t)n, "%*s\n", blanks, "");
    put_npy_text(out, 1, text);
}

#endif
