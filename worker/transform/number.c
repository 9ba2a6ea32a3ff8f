/* number.c - write a number of a JSON object, or a list of them, in a wire
 * type.
 *
 * An integer must fit. For an integer type a real must be an integer, and for a
 * real type an integer must be exact. Reals are rounded to the wire type by
 * integer arithmetic on their bits, so that the compiler does not matter. */
#include <string.h>

#include "common/bytes.h"
#include "pipeline/derived.h"
#include "worker/transform/json.h"
#include "worker/transform/scalar.h"

/* ---- reals into a wire type ---- */

struct real_form {
    unsigned fraction_bits; /* 0: not a real type */
    unsigned exponent_bits;
};

static struct real_form real_form_of(enum fby_type type)
{
    if (type == FBY_F16) {
        return (struct real_form){10, 5};
    }
    if (type == FBY_BF16) {
        return (struct real_form){7, 8};
    }
    return type == FBY_F32 ? (struct real_form){23, 8} : (struct real_form){0};
}

static size_t real_bytes(struct real_form form)
{
    return (1 + form.fraction_bits + form.exponent_bits) / 8;
}

static uint64_t shift_to_nearest_even(uint64_t value, unsigned shift)
{
    uint64_t half = UINT64_C(1) << (shift - 1);
    uint64_t kept = value >> shift;
    uint64_t rest = value & (2 * half - 1);
    return kept + (rest > half || (rest == half && (kept & 1) != 0));
}

/* Round to the nearest number of `form`, ties to even. Returns false if that is
 * infinite. */
static bool round_real(double value, struct real_form form, uint64_t *out)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    unsigned f        = form.fraction_bits;
    uint64_t infinite = ((UINT64_C(1) << form.exponent_bits) - 1) << f;
    uint64_t sign     = bits >> 63 << (f + form.exponent_bits);
    int      bias     = (1 << (form.exponent_bits - 1)) - 1;
    int      exponent = (int)(bits >> 52 & 0x7ff) - 1023 + bias;
    uint64_t whole    = (bits & (UINT64_MAX >> 12)) | UINT64_C(1) << 52;
    unsigned shift    = 52 - f;
    uint64_t implied  = UINT64_C(1) << f; /* the leading 1, not stored */
    if (exponent <= 0) {                  /* subnormal: no implied bit */
        unsigned deeper = (unsigned)(1 - exponent);
        shift += deeper < 54 ? deeper : 54;
        exponent = 0;
        implied  = 0;
    }
    uint64_t fraction = shift > 62 ? 0 : shift_to_nearest_even(whole, shift);
    uint64_t result   = ((uint64_t)exponent << f) + fraction - implied;
    *out              = sign | result;
    return result < infinite;
}

/* Does an integer have few enough significant bits to be exact? */
static bool whole_is_exact(int64_t value, struct real_form form)
{
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    while (size != 0 && (size & 1) == 0) {
        size >>= 1;
    }
    return size < UINT64_C(2) << form.fraction_bits;
}

/* ---- numbers of JSON ---- */

static fby_err store_whole(const struct fby_field_job *job, int64_t value,
    uint8_t *dst, struct fby_why *why)
{
    struct fby_whole_type type = fby_whole_type_of(job->field->wire_type);
    if (value < type.least || (value > 0 && (uint64_t)value > type.most)) {
        return fby_because(why, FBY_BAD_SAMPLE,
            "JSON '%s' is %lld; %lld to %llu fit its wire type",
            fby_field_json(job->field)->key, (long long)value,
            (long long)type.least, (unsigned long long)type.most);
    }
    fby_store_le(dst, (uint64_t)value, type.bytes);
    return FBY_OK;
}

static fby_err store_real(const struct fby_field_job *job, double value,
    uint8_t *dst, struct fby_why *why)
{
    struct real_form form = real_form_of(job->field->wire_type);
    uint64_t         bits = 0;
    if (!round_real(value, form, &bits)) {
        return fby_because(why, FBY_BAD_SAMPLE,
            "JSON '%s' is %g, too large for its wire type",
            fby_field_json(job->field)->key, value);
    }
    fby_store_le(dst, bits, real_bytes(form));
    return FBY_OK;
}

static fby_err store_json_whole(const struct fby_field_job *job, int64_t value,
    uint8_t *dst, struct fby_why *why)
{
    struct real_form form = real_form_of(job->field->wire_type);
    if (form.fraction_bits == 0) {
        return store_whole(job, value, dst, why);
    }
    if (!whole_is_exact(value, form)) {
        return fby_because(why, FBY_BAD_SAMPLE,
            "JSON '%s' is %lld, which wire type %s cannot hold exactly",
            fby_field_json(job->field)->key, (long long)value,
            fby_type_word(job->field->wire_type));
    }
    return store_real(job, (double)value, dst, why);
}

static fby_err store_json_real(const struct fby_field_job *job, double value,
    uint8_t *dst, struct fby_why *why)
{
    if (real_form_of(job->field->wire_type).fraction_bits != 0) {
        return store_real(job, value, dst, why);
    }
    if (!(value >= -0x1p63 && value < 0x1p63) ||
        value != (double)(int64_t)value) {
        return fby_because(why, FBY_BAD_SAMPLE,
            "JSON '%s' is %g; its wire type takes whole numbers of 64 bits",
            fby_field_json(job->field)->key, value);
    }
    return store_whole(job, (int64_t)value, dst, why);
}

static fby_err store_number(const struct fby_field_job *job,
    const json_t *member, uint8_t *dst, struct fby_why *why)
{
    if (json_is_integer(member)) {
        return store_json_whole(job, json_integer_value(member), dst, why);
    }
    return json_is_real(member)
               ? store_json_real(job, json_real_value(member), dst, why)
               : fby_because(why, FBY_BAD_SAMPLE,
                     "JSON '%s' is not a number: it is %s",
                     fby_field_json(job->field)->key,
                     fby_json_show(member).text);
}

static fby_err store_list(const struct fby_field_job *job, const json_t *member,
    uint8_t *dst, struct fby_why *why)
{
    uint32_t width  = fby_type_bytes(job->field->wire_type);
    uint32_t length = 0;
    if (!json_is_array(member)) {
        return fby_because(why, FBY_BAD_SAMPLE,
            "JSON '%s' is not a list of numbers: it is %s",
            fby_field_json(job->field)->key, fby_json_show(member).text);
    }
    fby_err err = fby_length_settle(job, json_array_size(member), &length, why);
    for (uint32_t i = 0; i < length && err == FBY_OK; i++) {
        err = store_number(
            job, json_array_get(member, i), dst + (size_t)i * width, why);
        if (err != FBY_OK) {
            return fby_because_in(why, err, "entry %u", i);
        }
    }
    return err;
}

fby_err fby_number_write(
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why)
{
    struct fby_json json;
    fby_err         err = fby_json_find(job, &json, why);
    if (err != FBY_OK) {
        return err;
    }
    if (fby_field_form(job->field) == FBY_FORM_RAGGED) {
        err = store_list(job, json.value, dst, why);
    } else {
        err = store_number(job, json.value, dst, why);
    }
    json_decref(json.root);
    return err;
}
