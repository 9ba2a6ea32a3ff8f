/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/npy_reader.h"

#include <stdlib.h>

#include "common/mem.h"

enum { FIRST_READ = 256 /* bytes; the header of most files has 128 */ };

/* If the first, short read does not have the whole header, read it again. */
fby_err fby_npy_file_read_head(const struct fby_object *object,
    struct fby_extent extent, struct fby_npy *out, size_t *head_size,
    struct fby_error_detail *why)
{
    uint8_t first[FIRST_READ];
    size_t  n = extent.size < FIRST_READ ? extent.size : FIRST_READ;
    FBY_TRY(fby_object_read(object, extent.offset, first, n, why));
    fby_err err = fby_npy_read_head(first, n, out, head_size, why);
    if (err == FBY_OK || n == extent.size) {
        return err;
    }
    n              = extent.size < FBY_NPY_HEAD ? extent.size : FBY_NPY_HEAD;
    uint8_t *bytes = fby_zalloc(n);
    err            = fby_object_read(object, extent.offset, bytes, n, why);
    if (err == FBY_OK) {
        err = fby_npy_read_head(bytes, n, out, head_size, why);
    }
    free(bytes);
    return err;
}
