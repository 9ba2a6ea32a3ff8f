/* SPDX-License-Identifier: Apache-2.0 */
/* array.c - decode a NumPy file: the shape must be the field's, and every value
 * must fit its wire type. */
#include <inttypes.h>

#include "pipeline/derived.h"
#include "worker/npy/convert.h"
#include "worker/transform/bits.h"
#include "worker/transform/decoders.h"

/* True if the array's dimensions from `first` on are those of `shape`. */
static bool has_shape(
    const struct fby_npy *npy, uint32_t first, const struct fby_shape *shape)
{
    bool same = npy->n_dims == first + shape->n_dims;
    for (uint32_t i = 0; same && i < shape->n_dims; i++) {
        same = npy->dims[first + i] == shape->dims[i];
    }
    return same;
}

/* `whose` names the owner of `shape` in the message, such as "the field's". */
static fby_err refuse_shape(const struct fby_npy *npy, const char *whose,
    const struct fby_shape *shape, struct fby_error_detail *why)
{
    char     found[FBY_NPY_SHAPE_TEXT];
    char     wanted[FBY_NPY_SHAPE_TEXT];
    uint64_t dims[FBY_MAX_DIMS] = {0};
    for (uint32_t i = 0; i < shape->n_dims; i++) {
        dims[i] = shape->dims[i];
    }
    return fby_error_set(why, FBY_BAD_SAMPLE, "its shape is %s, %s %s",
        fby_npy_shape_text(npy->dims, npy->n_dims, found), whose,
        fby_npy_shape_text(dims, shape->n_dims, wanted));
}

static fby_err write_bits(
    const struct fby_npy *npy, uint8_t *dst, struct fby_error_detail *why)
{
    char text[FBY_CONVERT_TEXT];
    if (npy->type >= FBY_NPY_F2) { /* floats are the last types of the enum */
        return fby_error_set(why, FBY_BAD_SAMPLE,
            "its values are %s; bits come from bools or whole numbers",
            fby_npy_dtype_name(npy->type));
    }
    uint64_t n_good = fby_bits_pack_npy(npy, dst);
    return n_good == npy->n_values
               ? FBY_OK
               : fby_error_set(why, FBY_BAD_SAMPLE,
                     "value %" PRIu64 " is %s (%s); a bit is 0 or 1", n_good,
                     fby_convert_text(npy, n_good, text),
                     fby_npy_dtype_name(npy->type));
}

/* Check that the file has the field's shape. For a ragged field,
 * `as.array.shape` is the shape of one entry, and the file's first dimension
 * counts the entries. For values that are packed to bits (maps > 0), it is the
 * shape before packing. */
static fby_err check_shape(const struct fby_field_content *field,
    const struct fby_npy *npy, struct fby_error_detail *why)
{
    bool is_ragged    = fby_field_form(field) == FBY_FORM_RAGGED;
    bool becomes_bits = field->as.array.n_bits > 0;

    const struct fby_shape *shape =
        is_ragged || becomes_bits ? &field->as.array.shape : &field->shape;
    if (!has_shape(npy, is_ragged ? 1 : 0, shape)) {
        return refuse_shape(npy,
            is_ragged ? "that of the field's entries" : "the field's", shape,
            why);
    }
    return fby_npy_is_c_order(npy)
               ? FBY_OK
               : fby_error_set(why, FBY_BAD_SAMPLE,
                     "its values are in Fortran order; save "
                     "np.ascontiguousarray(x)");
}

/* If the array has more than max_length entries, keep only the first ones, or
 * refuse it, as the field says. Set *job->length to the entries kept. */
static fby_err cut_to_length(const struct fby_field_job *job,
    struct fby_npy *npy, struct fby_error_detail *why)
{
    uint64_t entries = npy->dims[0];
    fby_err  err     = fby_length_resolve(job, entries, why);
    if (err == FBY_OK) {
        uint64_t entry_values = entries > 0 ? npy->n_values / entries : 0;
        npy->n_values         = entry_values * *job->length;
    }
    return err;
}

fby_err fby_array_write(struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *dst, struct fby_error_detail *why)
{
    const struct fby_field_content *field = job->field;
    struct fby_npy                  npy;
    (void)transform;
    if (fby_type_bytes(field->wire_type) == 0) {
        return fby_error_set(why, FBY_USAGE, "an array needs a wire type");
    }
    fby_err err = fby_npy_read(job->bytes, job->size, &npy, why);
    if (err == FBY_OK) {
        err = check_shape(field, &npy, why);
    }
    if (err == FBY_OK && field->as.array.n_bits > 0) {
        return write_bits(&npy, dst, why);
    }
    if (err == FBY_OK && fby_field_form(field) == FBY_FORM_RAGGED) {
        err = cut_to_length(job, &npy, why);
    }
    return err == FBY_OK ? fby_convert_all(&npy, field->wire_type, dst, why)
                         : err;
}
