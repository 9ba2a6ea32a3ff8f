/* array.c - decode a NumPy file: the shape must be the field's, and every value
 * must fit its wire type. */
#include <inttypes.h>

#include "worker/npy/convert.h"
#include "worker/transform/bits.h"
#include "worker/transform/scalar.h"

static bool is_real(const struct fby_npy *npy)
{
    return npy->type == FBY_NPY_F2 || npy->type == FBY_NPY_F4 ||
           npy->type == FBY_NPY_F8;
}

/* Compare the shape without the first dimension, which varies. */
static bool has_entries(
    const struct fby_npy *npy, const struct fby_shape *entry)
{
    bool same = npy->n_dims == entry->n_dims + 1;
    for (uint32_t i = 0; same && i < entry->n_dims; i++) {
        same = npy->dims[i + 1] == entry->dims[i];
    }
    return same;
}

static bool has_shape(const struct fby_npy *npy, const struct fby_shape *shape)
{
    bool same = npy->n_dims == shape->n_dims;
    for (uint32_t i = 0; same && i < npy->n_dims; i++) {
        same = npy->dims[i] == shape->dims[i];
    }
    return same;
}

static fby_err refuse_shape(const struct fby_npy *npy, const char *whose,
    const struct fby_shape *shape, struct fby_why *why)
{
    char     found[FBY_NPY_SHAPE_TEXT];
    char     wanted[FBY_NPY_SHAPE_TEXT];
    uint64_t dims[FBY_MAX_DIMS] = {0};
    for (uint32_t i = 0; i < shape->n_dims; i++) {
        dims[i] = shape->dims[i];
    }
    return fby_because(why, FBY_BAD_SAMPLE, "its shape is %s, %s %s",
        fby_npy_shape_text(npy->dims, npy->n_dims, found), whose,
        fby_npy_shape_text(dims, shape->n_dims, wanted));
}

static fby_err write_bits(
    const struct fby_npy *npy, uint8_t *dst, struct fby_why *why)
{
    char text[FBY_CONVERT_TEXT];
    if (is_real(npy)) {
        return fby_because(why, FBY_BAD_SAMPLE,
            "its values are %s; bits come from bools or whole numbers",
            fby_npy_dtype(npy->type));
    }
    uint64_t good = fby_bits_of_npy(npy, dst);
    return good == npy->values
               ? FBY_OK
               : fby_because(why, FBY_BAD_SAMPLE,
                     "value %" PRIu64 " is %s (%s); a bit is 0 or 1", good,
                     fby_convert_text(npy, good, text),
                     fby_npy_dtype(npy->type));
}

/* Reduce an array that is too long to its first entries, if allowed. */
static fby_err cut_to_length(
    const struct fby_field_job *job, struct fby_npy *npy, struct fby_why *why)
{
    uint32_t length = 0;
    uint64_t n      = npy->dims[0];
    fby_err  err    = fby_length_settle(job, n, &length, why);
    npy->values     = n > 0 ? npy->values / n * length : 0;
    return err;
}

fby_err fby_array_write(
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why)
{
    const struct fby_field_content *field = job->field;
    struct fby_npy                  npy;
    if (fby_type_bytes(field->wire_type) == 0) {
        return fby_because(why, FBY_USAGE, "an array needs a wire type");
    }
    fby_err err = fby_npy_read(job->bytes, job->size, &npy, why);
    if (err != FBY_OK) {
        return err;
    }
    bool ragged = fby_field_form(field) == FBY_FORM_RAGGED;
    if (ragged && !has_entries(&npy, &field->as.array.shape)) {
        return refuse_shape(
            &npy, "with entries of the field's", &field->as.array.shape, why);
    }
    const struct fby_shape *shape =
        field->as.array.maps > 0 ? &field->as.array.shape : &field->shape;
    if (!ragged && !has_shape(&npy, shape)) {
        return refuse_shape(&npy, "the field's", shape, why);
    }
    if (!fby_npy_is_c_order(&npy)) {
        return fby_because(why, FBY_BAD_SAMPLE,
            "its values are in Fortran order; save np.ascontiguousarray(x)");
    }
    if (field->as.array.maps > 0) {
        return write_bits(&npy, dst, why);
    }
    if (ragged) {
        err = cut_to_length(job, &npy, why);
    }
    if (err != FBY_OK) {
        return err;
    }
    uint64_t good = fby_convert(&npy, field->wire_type, dst);
    return good == npy.values
               ? FBY_OK
               : fby_convert_refuse(&npy, good, job->field->wire_type, why);
}
