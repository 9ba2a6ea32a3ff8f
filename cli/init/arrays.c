/* SPDX-License-Identifier: Apache-2.0 */
/* arrays.c - what the .npy files of samples have in common: see arrays.h. */
#include "cli/init/arrays.h"

#include <inttypes.h>
#include <string.h>

enum fby_type fby_init_wire_type(enum fby_npy_type type)
{
    static const enum fby_type wires[FBY_NPY_TYPES] = {
        [FBY_NPY_B1] = FBY_U8,
        [FBY_NPY_I1] = FBY_I32,
        [FBY_NPY_U1] = FBY_U8,
        [FBY_NPY_I2] = FBY_I32,
        [FBY_NPY_U2] = FBY_U16,
        [FBY_NPY_I4] = FBY_I32,
        [FBY_NPY_U4] = FBY_U32,
        [FBY_NPY_I8] = FBY_I64,
        [FBY_NPY_U8] = FBY_I64,
        [FBY_NPY_F2] = FBY_F16,
        [FBY_NPY_F4] = FBY_F32,
        [FBY_NPY_F8] = FBY_F32,
    };
    return wires[type];
}

static bool is_float(enum fby_type type)
{
    return type == FBY_F16 || type == FBY_F32;
}

/* A type for the values of both. */
static enum fby_type common_wire(enum fby_type a, enum fby_type b)
{
    return a == b ? a : is_float(a) || is_float(b) ? FBY_F32 : FBY_I64;
}

bool fby_init_are_alike(
    const struct fby_init_array *a, const struct fby_init_array *b)
{
    uint32_t n = a->shape.n_dims;
    return n == b->shape.n_dims &&
           (n < 2 || memcmp(a->shape.dims + 1, b->shape.dims + 1,
                         (n - 1) * sizeof(a->shape.dims[0])) == 0);
}

void fby_init_merge_arrays(
    struct fby_init_array *self, const struct fby_init_array *other)
{
    self->wire = common_wire(self->wire, other->wire);
    self->is_ragged =
        self->is_ragged || other->is_ragged ||
        (self->shape.n_dims > 0 && self->shape.dims[0] != other->shape.dims[0]);
    self->longest =
        other->longest > self->longest ? other->longest : self->longest;
}

/* Set the shape. Returns FBY_CONFIG for one that no field can have. */
static fby_err read_shape(const struct fby_npy *npy, struct fby_shape *out,
    struct fby_error_detail *why)
{
    char text[FBY_NPY_SHAPE_TEXT];
    bool fits = npy->n_dims <= FBY_MAX_DIMS;
    for (uint32_t i = 0; fits && i < npy->n_dims; i++) {
        fits = npy->dims[i] <= FBY_MAX_LENGTH && (i == 0 || npy->dims[i] > 0);
        out->dims[out->n_dims++] = (uint32_t)npy->dims[i];
    }
    return fits
               ? FBY_OK
               : fby_error_set(why, FBY_CONFIG,
                     "of shape %s: a field has at most %d dimensions, and none "
                     "of 0: reshape the arrays",
                     fby_npy_shape_text(npy->dims, npy->n_dims, text),
                     FBY_MAX_DIMS);
}

/* Check that the bytes after the header are those of the values. */
static fby_err check_size(
    const struct fby_npy *npy, uint64_t n_bytes, struct fby_error_detail *why)
{
    char     text[FBY_NPY_SHAPE_TEXT];
    uint64_t wanted = npy->n_values * fby_npy_type_bytes(npy->type);
    return n_bytes == wanted
               ? FBY_OK
               : fby_error_set(why, FBY_CONFIG,
                     "%s: it has %" PRIu64 " bytes of values, and %s of %s "
                     "are %" PRIu64 ": save it again",
                     n_bytes < wanted ? "cut" : "too long", n_bytes,
                     fby_npy_shape_text(npy->dims, npy->n_dims, text),
                     fby_npy_dtype_name(npy->type), wanted);
}

static fby_err read_array(const uint8_t *head, size_t size, uint64_t file_size,
    struct fby_init_array *out, struct fby_error_detail *why)
{
    struct fby_npy          npy;
    struct fby_error_detail fault     = {{0}};
    size_t                  head_size = 0;
    if (fby_npy_read_head(head, size, &npy, &head_size, &fault) != FBY_OK) {
        return fby_error_set(
            why, FBY_CONFIG, "no array that is read: %s", fault.text);
    }
    FBY_TRY(check_size(&npy, file_size - head_size, why));
    if (!fby_npy_is_c_order(&npy)) {
        return fby_error_set(
            why, FBY_CONFIG, "in Fortran order: save np.ascontiguousarray(x)");
    }
    *out = (struct fby_init_array){.wire = fby_init_wire_type(npy.type)};
    FBY_TRY(read_shape(&npy, &out->shape, why));
    out->longest = out->shape.n_dims > 0 ? out->shape.dims[0] : 0;
    return FBY_OK;
}

fby_err fby_init_add_array(struct fby_init_array *self, const uint8_t *head,
    size_t size, uint64_t file_size, struct fby_error_detail *why)
{
    struct fby_init_array array = {.wire = 0};
    FBY_TRY(read_array(head, size, file_size, &array, why));
    if (self->wire == 0) {
        *self = array;
    }
    if (!fby_init_are_alike(self, &array)) {
        return fby_error_set(why, FBY_CONFIG,
            "of another shape than the first (only the first dimension may "
            "differ): save arrays of one shape");
    }
    fby_init_merge_arrays(self, &array);
    return FBY_OK;
}
