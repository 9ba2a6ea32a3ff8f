/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_npy.c - hostile NumPy files: refused, or read by their header, converted
 * to every wire type and packed to bits, never beyond the file. For a complete
 * file, the header alone gives the same result. */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/demand.h"
#include "worker/npy/convert.h"
#include "worker/transform/bits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_VALUES = 1 << 16 };

static void convert(const struct fby_npy *npy, enum fby_type to)
{
    char     text[FBY_CONVERT_TEXT];
    uint8_t *out  = malloc(npy->n_values * fby_type_bytes(to) + 1);
    uint64_t good = fby_convert(npy, to, out);
    demand(good <= npy->n_values);
    if (good < npy->n_values) {
        demand(fby_convert_text(npy, good, text)[0] != '\0');
    }
    free(out);
}

static void pack(const struct fby_npy *npy)
{
    uint8_t *out = malloc(npy->n_values + 1);
    demand(fby_bits_pack_npy(npy, out) <= npy->n_values);
    free(out);
}

/* Parse the first bytes, as the index does to find lengths. */
static void read_head(
    const uint8_t *data, size_t size, const struct fby_npy *whole)
{
    struct fby_npy npy;
    size_t         head = 0;
    size_t         n    = size < FBY_NPY_HEAD ? size : FBY_NPY_HEAD;
    fby_err        err  = fby_npy_read_head(data, n, &npy, &head, NULL);
    demand(head <= n);
    if (whole != NULL) {
        demand(err == FBY_OK && npy.n_dims == whole->n_dims &&
               npy.n_values == whole->n_values &&
               memcmp(npy.dims, whole->dims, sizeof(npy.dims)) == 0 &&
               data + head == whole->data);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fby_npy          npy;
    struct fby_error_detail why = {{0}};
    fby_err                 err = fby_npy_read(data, size, &npy, &why);
    demand(err == FBY_OK || err == FBY_BAD_SAMPLE);
    demand((err == FBY_OK) == (why.text[0] == '\0'));
    read_head(data, size, err == FBY_OK ? &npy : NULL);
    if (err != FBY_OK || npy.n_values > MOST_VALUES) {
        return 0;
    }
    demand(
        npy.data + npy.n_values * fby_npy_type_bytes(npy.type) == data + size);
    for (int to = FBY_U8; to <= FBY_U32; to++) {
        convert(&npy, (enum fby_type)to);
    }
    if (npy.n_dims > 0) {
        pack(&npy);
    }
    return 0;
}
