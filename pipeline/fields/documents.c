/* SPDX-License-Identifier: Apache-2.0 */
/* documents.c - the field kind `documents`: the lengths of packed documents. */
#include "pipeline/fields/kinds.h"

/* split_field.c sets the wire type and max_length, from the source. */
static void fill_defaults(const struct parsed_field *parsed,
    struct fby_field_content *field, struct fby_field_delivery *delivery)
{
    static const enum fby_type default_dtypes[] = {
        [FBY_AS_RAGGED]     = FBY_I32,
        [FBY_AS_PADDED]     = FBY_I32,
        [FBY_AS_DENSE]      = FBY_I32, /* check_out refuses dense, csr, coo */
        [FBY_AS_CSR]        = FBY_I32,
        [FBY_AS_COO]        = FBY_I32,
        [FBY_AS_CU_SEQLENS] = FBY_I32,
        [FBY_AS_POSITIONS]  = FBY_I64,
        [FBY_AS_MASK]       = FBY_BOOL,
    };
    (void)parsed;
    fby_set_row_defaults(field, delivery, FBY_AS_RAGGED);
    fby_set_default_dtype(delivery, default_dtypes[delivery->as]);
}

/* True if the form `as` can have the dtype. */
static bool form_allows_dtype(enum fby_as as, enum fby_type dtype)
{
    if (as == FBY_AS_MASK) {
        return dtype == FBY_BOOL || dtype == FBY_U8 || fby_type_is_float(dtype);
    }
    bool are_lengths = as == FBY_AS_PADDED || as == FBY_AS_RAGGED;
    return dtype == FBY_I32 || dtype == FBY_I64 ||
           (dtype == FBY_U32 && are_lengths);
}

static fby_err check_out(const struct fby_field_check *check)
{
    enum fby_as as             = check->delivery->as;
    bool        is_sparse_form = as >= FBY_AS_DENSE && as <= FBY_AS_COO;
    FBY_REFUSE_IF(check, is_sparse_form, FBY_FIELD_OUT_AS,
        "dense, csr and coo are forms of sparse rows");
    if (!form_allows_dtype(as, check->delivery->dtype)) {
        return fby_field_error_dtype(check,
            as == FBY_AS_MASK
                ? "cannot be made from a mask; use bool, u8, f32, f16 or bf16"
                : "cannot be made from documents; use i32 or i64");
    }
    return fby_field_check_pad(check);
}

static fby_err check_lengths(const struct fby_field_check *check)
{
    const struct fby_field_content *field = check->field;
    if (field->n_from > 1 || strcmp(field->from[0], "documents") != 0) {
        return fby_field_error_at_item(check, FBY_FIELD_FROM, 0,
            "lengths of documents come from documents");
    }
    FBY_REFUSE_IF(check, field->too_long != FBY_TOO_LONG_REFUSE,
        FBY_FIELD_TOO_LONG, "the list of documents is never truncated");
    FBY_REFUSE_IF(check, fby_ragged_bytes(field) == 0, FBY_FIELD_WHOLE,
        "a sequence of %u tokens can have as many documents, but a field holds "
        "at most %d",
        field->max_length, (int)(FBY_MAX_RAGGED / sizeof(uint32_t)));
    FBY_TRY(fby_field_check_wire(
        check, fby_document_length_type(field->max_length)));
    return fby_check_is_from_file(check) ? check_out(check) : FBY_OK;
}

static fby_field_rule *const rules[] = {check_lengths, NULL};

const struct fby_field_kind fby_kind_documents = {
    .id   = FBY_DECODE_DOCUMENTS,
    .name = "documents",
    .wire_text =
        "lengths of documents travel as the smaller of u16 and u32 that "
        "holds the length of a sequence; leave the type out",
    .is_sequence   = true,
    .is_ragged     = true,
    .values        = FBY_VALUES_LENGTHS,
    .fill_defaults = fill_defaults,
    .rules         = rules,
};
