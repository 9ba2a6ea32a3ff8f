/* Sequences of tokens, and the lengths of the documents packed into them. */
#include <string.h>

#include "common/pipeline/derived.h"
#include "common/pipeline/settle.h"

/* The wire type that was not said is that of each split's tokens. */
fby_err fby_settle_tokens(
    const struct fby_yaml *yaml, struct draft_field *field)
{
    int64_t     wire  = field->wire.type;
    const char *from  = field->from[0];
    bool        known = strcmp(from, "input") == 0 || fby_wants_targets(from);
    if (!known || field->n_from > 1) {
        return fby_settle_wrong(yaml, field->from_at[0],
            "tokens come from input, from target: the tokens after those, or "
            "from sequence: both in one");
    }
    if (wire != 0 && wire != FBY_U16 && wire != FBY_U32) {
        return fby_settle_wrong(yaml, fby_settle_wire_place(field),
            "tokens travel as u16 or as u32");
    }
    if (field->out.dtype == 0) {
        field->out.dtype = FBY_I64;
    }
    int64_t out = field->out.dtype;
    return out == FBY_I64 || out == FBY_I32 || out == FBY_U32
               ? FBY_OK
               : fby_settle_wrong_dtype(yaml, field->out.at[OUT_DTYPE], out,
                     "is not made of tokens; use i64, i32 or u32");
}

/* What lengths of documents may become, the default first. */
static bool documents_become(int64_t as, int64_t dtype)
{
    if (as == FBY_AS_MASK) {
        return dtype == FBY_BOOL || dtype == FBY_U8 ||
               fby_settle_is_real(dtype);
    }
    return dtype == FBY_I32 || dtype == FBY_I64 ||
           (dtype == FBY_U32 && as <= FBY_AS_RAGGED);
}

static int64_t documents_default(int64_t as)
{
    static const int64_t defaults[] = {
        [FBY_AS_PADDED]     = FBY_I32,
        [FBY_AS_RAGGED]     = FBY_I32,
        [FBY_AS_CU_SEQLENS] = FBY_I32,
        [FBY_AS_POSITIONS]  = FBY_I64,
        [FBY_AS_MASK]       = FBY_BOOL,
    };
    return defaults[as];
}

/* The type on the wire, and how many there may be, are the split's. */
fby_err fby_settle_documents(
    const struct fby_yaml *yaml, struct draft_field *field)
{
    struct draft_out *out = &field->out;
    if (field->n_from > 1 || strcmp(field->from[0], "documents") != 0) {
        return fby_settle_wrong(yaml, field->from_at[0],
            "lengths of documents come from documents");
    }
    if (field->wire.type != 0) {
        return fby_settle_wrong(yaml, fby_settle_wire_place(field),
            "lengths of documents travel as the smaller of u16 and u32 that "
            "holds the length of a sequence; leave the type out");
    }
    if (out->as == 0) {
        out->as = FBY_AS_RAGGED;
    }
    if (out->as > FBY_AS_RAGGED && out->as < FBY_AS_CU_SEQLENS) {
        return fby_settle_wrong(yaml, out->at[OUT_AS],
            "dense, csr and coo are forms of sparse rows");
    }
    if (out->offsets == 0) {
        out->offsets = FBY_I32;
    }
    if (out->dtype == 0) {
        out->dtype = documents_default(out->as);
    }
    return documents_become(out->as, out->dtype)
               ? fby_settle_pad(yaml, field)
               : fby_settle_wrong_dtype(yaml, out->at[OUT_DTYPE], out->dtype,
                     out->as == FBY_AS_MASK
                         ? "is not made of a mask; use bool, u8, f32, f16 or "
                           "bf16"
                         : "is not made of documents; use i32 or i64");
}
