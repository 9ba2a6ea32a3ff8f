/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - read option structs of any version, and check their values. */
#include "trainer_client/setup/options.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/derived.h"

/* ---- structs of other versions ------------------------------------------- */

/* A struct_size above this multiple of our struct's size is an error. */
enum { MAX_GROWTH = 64 };

static bool is_all_zero(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != 0) {
            return false;
        }
    }
    return true;
}

/* Refuse an array that is NULL although its count is above 0. */
static fby_err check_arrays(
    const struct forebay_options *o, struct fby_error_detail *why)
{
    const struct {
        const char *name;
        const void *array;
        size_t      n;
    } arrays[] = {{"roots", o->roots, o->n_roots},
        {"fields", o->fields, o->n_fields},
        {"outputs", o->outputs, o->n_outputs}};
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
        if (arrays[i].array == NULL && arrays[i].n > 0) {
            return fby_error_set(why, FBY_USAGE, "%s is NULL, but n_%s is %zu",
                arrays[i].name, arrays[i].name, arrays[i].n);
        }
    }
    return FBY_OK;
}

fby_err fby_options_read(const struct forebay_options *from,
    struct forebay_options *out, struct fby_error_detail *why)
{
    size_t caller_size = from->struct_size;
    if (caller_size < sizeof(size_t) ||
        caller_size > MAX_GROWTH * sizeof(*out)) {
        return fby_error_set(why, FBY_USAGE,
            "struct_size is %zu; set it to sizeof(struct forebay_options)",
            caller_size);
    }
    size_t copied = caller_size < sizeof(*out) ? caller_size : sizeof(*out);
    if (!is_all_zero((const uint8_t *)from + copied, caller_size - copied)) {
        return fby_error_set(why, FBY_USAGE,
            "an option is set that this version (%s) does not know",
            FBY_VERSION);
    }
    *out = forebay_options();
    memcpy(out, from, copied); /* the members that both versions have */
    return check_arrays(out, why);
}

/* Copy element `i` of the caller's outputs. The caller's elements may be longer
 * or shorter than struct forebay_output. */
static fby_err read_output(const struct forebay_options *o, size_t i,
    struct forebay_output *out, struct fby_error_detail *why)
{
    size_t         caller_size = o->outputs->struct_size; /* of each element */
    const uint8_t *from        = (const uint8_t *)o->outputs + i * caller_size;
    size_t copied = caller_size < sizeof(*out) ? caller_size : sizeof(*out);
    if (caller_size < offsetof(struct forebay_output, as) ||
        caller_size > MAX_GROWTH * sizeof(*out)) {
        return fby_error_set(why, FBY_USAGE,
            "outputs: struct_size is %zu; begin with forebay_output()",
            caller_size);
    }
    *out = (struct forebay_output){0};
    memcpy(out, from, copied);
    if (out->struct_size != caller_size) {
        return fby_error_set(why, FBY_USAGE,
            "outputs: struct_size of element %zu is %zu, of element 0 %zu", i,
            out->struct_size, caller_size);
    }
    return is_all_zero(from + copied, caller_size - copied)
               ? FBY_OK
               : fby_error_set(why, FBY_USAGE,
                     "outputs: element %zu sets a member that this version "
                     "(%s) does not know",
                     i, FBY_VERSION);
}

/* ---- fields -------------------------------------------------------------- */

static fby_err find_field(const struct fby_content *content, const char *name,
    uint32_t *out, struct fby_error_detail *why)
{
    for (uint32_t i = 0; i < content->n_fields; i++) {
        if (name != NULL && strcmp(content->fields[i].name, name) == 0) {
            *out = i;
            return FBY_OK;
        }
    }
    char names[256] = "";
    for (uint32_t i = 0; i < content->n_fields; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof(names) - used, "%s%s", i > 0 ? ", " : "",
            content->fields[i].name);
    }
    return fby_error_set(why, FBY_USAGE, "no field %.63s; the pipeline has %s",
        name != NULL ? name : "without a name", names);
}

fby_err fby_options_select_fields(const struct forebay_options *o,
    const struct fby_content *content, uint64_t *out,
    struct fby_error_detail *why)
{
    uint64_t all_fields = content->n_fields < 64
                              ? (UINT64_C(1) << content->n_fields) - 1
                              : UINT64_MAX;
    uint64_t bits       = o->fields == NULL ? all_fields : 0;
    for (size_t i = 0; o->fields != NULL && i < o->n_fields; i++) {
        uint32_t index = 0;
        fby_err  err   = find_field(content, o->fields[i], &index, why);
        if (err != FBY_OK) {
            return err;
        }
        bits |= UINT64_C(1) << index;
    }
    *out = bits;
    return bits != 0
               ? FBY_OK
               : fby_error_set(why, FBY_USAGE, "fields: none is selected");
}

/* ---- outputs ------------------------------------------------------------- */

/* Check that enums have known values, because the application may be newer or
 * faulty. Check that padding is set only for ragged fields (those whose rows
 * differ in length). */
static fby_err check_output(const struct forebay_output *output,
    const struct fby_field_content *field, struct fby_error_detail *why)
{
    const struct {
        const char *name;
        int         value, max;
    } checks[] = {
        {"dtype", (int)output->dtype, FOREBAY_DTYPE_BOOL},
        {"layout", (int)output->layout, FOREBAY_LAYOUT_HW},
        {"as", (int)output->as, FOREBAY_AS_MASK},
        {"pad_to", (int)output->pad_to, FOREBAY_PAD_TO_LONGEST},
        {"offsets", (int)output->offsets, FOREBAY_DTYPE_BOOL},
    };
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        if (checks[i].value < 0 || checks[i].value > checks[i].max) {
            return fby_error_set(why, FBY_USAGE,
                "outputs: field %s: %s is %d, must be 0 to %d", field->name,
                checks[i].name, checks[i].value, checks[i].max);
        }
    }
    bool sets_padding =
        output->has_pad || output->pad_to != FOREBAY_PAD_TO_PIPELINE;
    if (sets_padding && fby_field_form(field) != FBY_FORM_RAGGED) {
        return fby_error_set(why, FBY_USAGE,
            "outputs: field %s: its rows have one length and need no "
            "padding",
            field->name);
    }
    return FBY_OK;
}

static void override_ragged(
    const struct forebay_output *output, struct fby_field_delivery *delivery)
{
    if (output->as != FOREBAY_AS_PIPELINE) {
        delivery->as = (enum fby_as)output->as;
    }
    if (output->pad_to != FOREBAY_PAD_TO_PIPELINE) {
        delivery->longest = output->pad_to == FOREBAY_PAD_TO_LONGEST;
    }
    if (output->offsets != FOREBAY_DTYPE_PIPELINE) {
        delivery->offsets = (enum fby_type)output->offsets;
    }
    if (output->has_pad) {
        delivery->pad = output->pad;
    }
}

static fby_err override_field(const struct forebay_output *output,
    const struct fby_content *content, struct fby_delivery *out,
    struct fby_error_detail *why)
{
    uint32_t index = 0;
    fby_err  err   = find_field(content, output->field, &index, why);
    if (err == FBY_OK) {
        err = check_output(output, &content->fields[index], why);
    }
    if (err != FBY_OK) {
        return err;
    }
    struct fby_field_delivery *delivery = &out->fields[index];
    if (output->dtype != FOREBAY_DTYPE_PIPELINE) {
        delivery->dtype = (enum fby_type)output->dtype;
    }
    if (output->layout != FOREBAY_LAYOUT_PIPELINE) {
        delivery->layout = (enum fby_layout)output->layout;
    }
    override_ragged(output, delivery);
    return FBY_OK;
}

fby_err fby_options_apply_outputs(const struct forebay_options *o,
    const struct fby_content *content, struct fby_delivery *out,
    struct fby_error_detail *why)
{
    fby_err err = FBY_OK;
    for (size_t i = 0; i < o->n_outputs && err == FBY_OK; i++) {
        struct forebay_output output = forebay_output(NULL);
        err                          = read_output(o, i, &output, why);
        if (err == FBY_OK) {
            err = override_field(&output, content, out, why);
        }
    }
    return err;
}
