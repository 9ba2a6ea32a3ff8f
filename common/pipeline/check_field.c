/* What every field obeys, whatever its decoder: its name, where it comes from,
 * its ops, and that it holds nothing that it does not use (check.h). */
#include "common/pipeline/check.h"

#include <string.h>

#include "common/pipeline/derived.h"
#include "common/pipeline/op.h"
#include "common/pipeline/text.h"

/* ---- ops ---- */

static bool within(
    const struct fby_param *param, const struct fby_value *value, size_t k)
{
    double number = param->real ? value->r[k] : (double)value->i[k];
    return number >= param->min && number <= param->max;
}

static bool param_fits(
    const struct fby_param *param, const struct fby_value *value)
{
    if (value->n == 0) {
        return param->min_n == 0;
    }
    uint32_t at_least = param->spread ? param->max_n : param->min_n;
    bool     fits     = value->n >= at_least && value->n <= param->max_n &&
                value->real == param->real;
    for (size_t k = 0; fits && k < value->n; k++) {
        fits = within(param, value, k);
    }
    return fits;
}

static fby_err check_op(const struct fby_op_use *use, struct fby_why *why)
{
    for (size_t i = 0; i < use->op->n_params; i++) {
        if (!param_fits(&use->op->params[i], &use->params[i])) {
            return fby_because(why, FBY_CONFIG, "%s: %s is not %s",
                use->op->name, use->op->params[i].name,
                use->op->params[i].expects);
        }
    }
    return fby_op_check(use, why);
}

/* Normalize's are the field's, see check_normalize. */
static fby_err check_device(
    const struct fby_field_content *field, struct fby_why *why)
{
    fby_err  err        = FBY_OK;
    uint32_t normalizes = 0;
    for (size_t i = 0; i < field->n_device && err == FBY_OK; i++) {
        const struct fby_op_use *use = &field->device[i];
        if (use->op->id == FBY_OP_DEVICE_NORMALIZE) {
            normalizes++;
        } else {
            err = check_op(use, why);
        }
    }
    if (err == FBY_OK && field->n_device > 0 &&
        ((normalizes > 0) != field->normalize ||
            field->n_device == normalizes)) {
        err = fby_because(why, FBY_CONFIG,
            "the list under device is not that of a normalised picture");
    }
    return err;
}

static fby_err check_ops(
    const struct fby_field_content *field, struct fby_why *why)
{
    for (size_t i = 0; i < field->n_ops; i++) {
        fby_err err = check_op(&field->ops[i], why);
        if (err != FBY_OK) {
            return err;
        }
    }
    return check_device(field, why);
}

/* ---- where it comes from ---- */

static bool stands_before(const struct fby_field_content *field, size_t i)
{
    size_t k = 0;
    while (k < i && strcmp(field->from[i], field->from[k]) != 0) {
        k++;
    }
    return k < i;
}

static bool can_be_from(const struct fby_field_content *field,
    enum fby_source_kind source, size_t i)
{
    const char *from    = field->from[i];
    bool        folder  = strcmp(from, "folder") == 0;
    bool        picture = field->decode == FBY_DECODE_RGB8;
    bool        mask =
        field->decode == FBY_DECODE_MASK8 || field->decode == FBY_DECODE_MAPS;
    bool array  = field->decode == FBY_DECODE_ARRAY;
    bool sparse = field->decode == FBY_DECODE_SPARSE;
    bool column = source == FBY_SOURCE_COLUMNS;
    return fby_text_is_extension(from) && !stands_before(field, i) &&
           (!folder || field->n_from == 1) &&
           (!picture || fby_undecoded_picture(from) == NULL) &&
           (!mask || strcmp(fby_extension_kind(from), "png") == 0) &&
           (!sparse || column ||
               strcmp(fby_extension_kind(from), "npz") == 0) &&
           (!array || column || strcmp(fby_extension_kind(from), "npy") == 0);
}

static fby_err check_from(const struct fby_field_content *field,
    enum fby_source_kind source, struct fby_why *why)
{
    for (size_t i = 0; i < field->n_from; i++) {
        if (!can_be_from(field, source, i)) {
            return fby_because(why, FBY_CONFIG,
                "from: '%s' is no extension to look for here",
                fby_text_show(field->from[i]).text);
        }
    }
    uint32_t most =
        field->decode == FBY_DECODE_MAPS ? FBY_MAX_MAPS : FBY_MAX_FROM;
    return field->n_from > 0 && field->n_from <= most
               ? FBY_OK
               : fby_because(why, FBY_CONFIG, "from is not 1 to %u extensions",
                     (unsigned)most);
}

/* What a row of a column can be. */
static bool fits_source(
    const struct fby_field_content *field, enum fby_source_kind source)
{
    bool right = field->decode == FBY_DECODE_ARRAY ||
                 field->decode == FBY_DECODE_LABEL ||
                 field->decode == FBY_DECODE_NUMBER ||
                 field->decode == FBY_DECODE_SPARSE;
    bool length = field->max_length == 0 || field->decode == FBY_DECODE_ARRAY ||
                  field->decode == FBY_DECODE_SPARSE;
    return source != FBY_SOURCE_COLUMNS ||
           (right && length && field->json_key[0] == '\0');
}

/* ---- all of it ---- */

static bool has_array(const struct fby_field_content *field)
{
    static const struct fby_shape none;
    return memcmp(&field->array, &none, sizeof(none)) != 0;
}

/* Keys of other decoders are left at what stands for "none", so that they
 * cannot make two digests of one meaning. */
static bool strangers_are_none(const struct fby_field_content *f)
{
    bool image = f->decode == FBY_DECODE_RGB8;
    bool label = f->decode == FBY_DECODE_LABEL;
    bool json =
        f->decode == FBY_DECODE_NUMBER || f->decode == FBY_DECODE_TEXT || label;
    bool array  = f->decode == FBY_DECODE_ARRAY;
    bool shaped = array || f->decode == FBY_DECODE_SPARSE;
    bool maps   = f->decode == FBY_DECODE_MAPS;
    bool mask   = f->decode == FBY_DECODE_MASK8 || maps;
    bool plain =
        f->n_ops == 0 && f->n_device == 0 && strcmp(f->group, f->name) == 0;
    return (image || mask || plain) &&
           (image || (!f->normalize && f->dct_scale == 0 && !f->yuv420)) &&
           (label || (f->classes == 0 && !f->one_hot)) &&
           (f->one_hot || f->smoothing == 0) &&
           (json || f->json_key[0] == '\0') &&
           (f->json_key[0] != '\0' || f->pick == FBY_PICK_NONE) &&
           (f->decode == FBY_DECODE_BYTES || f->decode == FBY_DECODE_TOKENS ||
               f->length == 0) &&
           (shaped || !has_array(f)) && (array || maps || f->maps == 0);
}

static bool shape_is_right(const struct fby_field_content *field)
{
    struct fby_shape right = fby_field_shape(field);
    return memcmp(&right, &field->shape, sizeof(right)) == 0;
}

fby_err fby_check_field(const struct fby_field_content *field,
    enum fby_source_kind source, struct fby_why *why)
{
    if (!fby_text_is_name(field->name) || !fby_text_is_name(field->group) ||
        strcmp(field->name, "valid") == 0) {
        return fby_because(why, FBY_CONFIG, "is no name for a field or group");
    }
    if (!strangers_are_none(field)) {
        return fby_because(
            why, FBY_CONFIG, "holds a value that its decoder does not use");
    }
    if (!fits_source(field, source)) {
        return fby_because(why, FBY_CONFIG,
            "comes from a column: an array, a label, a number or a sparse row");
    }
    fby_err err = check_from(field, source, why);
    if (err == FBY_OK) {
        err = check_ops(field, why);
    }
    if (err == FBY_OK && !shape_is_right(field)) {
        err =
            fby_because(why, FBY_CONFIG, "its shape is not what its ops make");
    }
    if (err == FBY_OK) {
        err = fby_check_varying(field, why);
    }
    return err == FBY_OK ? fby_check_decoded(field, source, why) : err;
}
