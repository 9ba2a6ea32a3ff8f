/* SPDX-License-Identifier: Apache-2.0 */
/* label.c - the field kind `label`: class ids from the number of the class
 * folder, from decimal text, from JSON, or from names. */
#include "pipeline/fields/kinds.h"
#include "pipeline/sources/traits.h"

/* "folder" is the number of the class folder that holds the sample. */
static const char *const extensions[] = {"folder", "cls", NULL};

static void fill_defaults(const struct parsed_field *parsed,
    struct fby_field_content *field, struct fby_field_delivery *delivery)
{
    int64_t classes = parsed->names.n;
    if (parsed->classes != 0) {
        classes = parsed->classes;
    } else if (parsed->one_hot.classes != 0) {
        classes = parsed->one_hot.classes;
    }
    field->as.label.names   = parsed->names;
    field->as.label.json    = fby_parsed_json_selector(parsed);
    field->as.label.classes = (uint32_t)classes;
    field->wire_type        = fby_label_type((uint32_t)classes);
    fby_set_default_dtype(delivery, FBY_I64);
}

static fby_err check_classes(const struct fby_field_check *check)
{
    const struct fby_label_field *label = &check->field->as.label;
    FBY_REFUSE_IF(check, label->classes > FBY_MAX_CLASSES, FBY_FIELD_CLASSES,
        "classes is more than %d", FBY_MAX_CLASSES);
    FBY_REFUSE_IF(check, label->one_hot && label->classes == 0,
        FBY_FIELD_ONE_HOT, "one_hot needs 'classes': an integer, 1 to %d",
        FBY_MAX_ONE_HOT);
    FBY_REFUSE_IF(check, label->one_hot && label->classes > FBY_MAX_ONE_HOT,
        FBY_FIELD_CLASSES, "one_hot has at most %d classes", FBY_MAX_ONE_HOT);
    FBY_REFUSE_IF(check, !label->one_hot && label->smoothing != 0,
        FBY_FIELD_WHOLE, "holds a value that its decoder does not use");
    FBY_REFUSE_IF(check, !(label->smoothing >= 0 && label->smoothing < 1),
        FBY_FIELD_ONE_HOT_SMOOTHING, "smoothing is not at least 0 and below 1");
    return FBY_OK;
}

static fby_err check_label_names(const struct fby_field_check *check)
{
    const struct fby_label_field *label = &check->field->as.label;
    FBY_REFUSE_IF(check, label->names.n > 0 && label->classes < label->names.n,
        fby_field_has_key(check, FBY_FIELD_CLASSES) ? FBY_FIELD_CLASSES
                                                    : FBY_FIELD_ONE_HOT_CLASSES,
        "classes is %u, and there are %u names; raise it, or leave it out",
        label->classes, label->names.n);
    FBY_REFUSE_IF(check,
        label->names.n > 0 && fby_source_traits(check->source)->has_rows,
        FBY_FIELD_NAMES, "names are for text; a column of NumPy has ids");
    return FBY_OK;
}

static fby_err check_one_hot_dtype(const struct fby_field_check *check)
{
    enum fby_type dtype = check->delivery->dtype;
    FBY_REFUSE_IF(check,
        dtype == FBY_U8 && check->field->as.label.smoothing > 0,
        FBY_FIELD_ONE_HOT_DTYPE,
        "dtype u8 cannot hold smoothed values; use f32, f16 or bf16");
    FBY_REFUSE_IF(check, dtype != FBY_U8 && !fby_type_is_float(dtype),
        FBY_FIELD_ONE_HOT_DTYPE,
        "dtype %s cannot be made by one_hot; use u8, f32, f16 or bf16",
        fby_type_word(dtype));
    return FBY_OK;
}

static fby_err check_id_dtype(const struct fby_field_check *check)
{
    uint32_t classes = check->field->as.label.classes;
    int64_t  n_ids   = classes != 0 ? classes : FBY_MAX_CLASSES;
    int64_t  largest = fby_type_largest(check->delivery->dtype);
    if (largest == 0) { /* bool or floating-point */
        return fby_field_error_dtype(check,
            "cannot be made from labels; use i64, i32, u8, u16 or u32, "
            "or one_hot");
    }
    return largest >= n_ids - 1
               ? FBY_OK
               : fby_field_error_dtype(check,
                     "is too small for the labels; use i64, or say classes");
}

static fby_err check_dtype(const struct fby_field_check *check)
{
    if (!fby_check_is_from_file(check)) {
        return FBY_OK;
    }
    return check->field->as.label.one_hot ? check_one_hot_dtype(check)
                                          : check_id_dtype(check);
}

static fby_err check_folder_key(const struct fby_field_check *check)
{
    bool has_key = check->field->as.label.json.key[0] != '\0';
    FBY_REFUSE_IF(check, has_key && fby_field_is_folder_id(check->field),
        FBY_FIELD_KEY, "a class folder's number has no key");
    return FBY_OK;
}

static fby_err check_wire(const struct fby_field_check *check)
{
    return fby_field_check_wire(
        check, fby_label_type(check->field->as.label.classes));
}

static fby_field_rule *const rules[] = {check_folder_key, fby_field_check_pick,
    check_classes, check_label_names, check_wire, check_dtype, NULL};

static const struct fby_canon_entry entries[] = {
    {FBY_ENTRY(JSON_KEY, TEXT, as.label.json.key)},
    {FBY_ENTRY(CLASSES, U32, as.label.classes), .max = UINT32_MAX},
    {FBY_ENTRY(ONE_HOT, BOOL, as.label.one_hot)},
    {FBY_ENTRY(SMOOTHING, REALS, as.label.smoothing), .count = 1},
    /* Only `pick: random` is written. */
    {FBY_ENTRY(PICK, U32, as.label.json.pick), .min = FBY_PICK_RANDOM,
        .max = FBY_PICK_RANDOM},
    {FBY_ENTRY(NAMES, LIST, as.label.names.n), .min = 1},
    {0},
};

const struct fby_field_kind fby_kind_label = {
    .id         = FBY_DECODE_LABEL,
    .name       = "label",
    .extensions = extensions,
    .keys       = FBY_FIELD_BIT(FBY_FIELD_CLASSES) |
            FBY_FIELD_BIT(FBY_FIELD_ONE_HOT) | FBY_FIELD_BIT(FBY_FIELD_KEY) |
            FBY_FIELD_BIT(FBY_FIELD_PICK) | FBY_FIELD_BIT(FBY_FIELD_NAMES),
    .wire_text =
        "a label travels as the smallest of u8, u16 and u32 that holds "
        "'classes' (u32 without 'classes'); leave its type out",
    .can_be_column = true,
    .values        = FBY_VALUES_CLASSES,
    .entries       = entries,
    .json_offset   = offsetof(struct fby_field_content, as.label.json),
    .fill_defaults = fill_defaults,
    .rules         = rules,
};
