/* SPDX-License-Identifier: Apache-2.0 */
/* number.c - write a number of a JSON member, or a list of numbers, in a wire
 * type. The numbers are converted like those of NumPy files
 * (worker/npy/convert.h). */
#include "pipeline/derived.h"
#include "worker/npy/convert.h"
#include "worker/transform/decoders.h"
#include "worker/transform/json.h"

/* Write one number. It is converted as a NumPy array of one value. */
static fby_err store_number(const struct fby_field_job *job,
    const json_t *number, uint8_t *dst, struct fby_error_detail *why)
{
    if (!json_is_number(number)) {
        return fby_json_refuse(job, number, "a number", why);
    }
    enum fby_type  type    = job->field->wire_type;
    bool           is_real = json_is_real(number);
    int64_t        integer = json_integer_value(number);
    double         real    = json_real_value(number);
    struct fby_npy value   = {.type = FBY_NPY_I8, .n_values = 1};
    value.data             = (const uint8_t *)&integer;
    if (is_real) {
        value.type = FBY_NPY_F8;
        value.data = (const uint8_t *)&real;
    }
    return fby_convert(&value, type, dst) == 1
               ? FBY_OK
               : fby_error_set(why, FBY_BAD_SAMPLE,
                     "JSON '%s' is %s, which wire type %s cannot hold%s",
                     fby_field_json(job->field)->key,
                     fby_json_describe(number).text, fby_type_word(type),
                     fby_type_is_float(type) && !is_real ? " exactly" : "");
}

static fby_err store_list(const struct fby_field_job *job, const json_t *list,
    uint8_t *dst, struct fby_error_detail *why)
{
    size_t width = fby_type_bytes(job->field->wire_type);
    if (!json_is_array(list)) {
        return fby_json_refuse(job, list, "a list of numbers", why);
    }
    /* This sets *job->length. */
    fby_err err = fby_length_resolve(job, json_array_size(list), why);
    for (uint32_t i = 0; err == FBY_OK && i < *job->length; i++) {
        err = store_number(job, json_array_get(list, i), dst + i * width, why);
        if (err != FBY_OK) {
            return fby_error_prefix(why, err, "entry %u", i);
        }
    }
    return err;
}

fby_err fby_number_write(struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *dst, struct fby_error_detail *why)
{
    struct fby_json json;
    fby_err         err = fby_json_find(transform, job, &json, why);
    if (err != FBY_OK) {
        return err;
    }
    err = fby_field_form(job->field) == FBY_FORM_RAGGED
              ? store_list(job, json.value, dst, why)
              : store_number(job, json.value, dst, why);
    fby_json_free(transform, &json);
    return err;
}
