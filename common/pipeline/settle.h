/* settle.h - what the keys of a field are together, by what it is decoded as.
 *
 * A key that was not said has the value 0 until it is settled; then it has that
 * which stands for it. What cannot be is refused at the place of the key that
 * is wrong: every function with a `yaml` returns FBY_OK or FBY_CONFIG, with the
 * text in yaml->why. Private to field_rules.c, which chooses the kind, and to
 * the files named here. */
#ifndef FBY_COMMON_PIPELINE_SETTLE_H
#define FBY_COMMON_PIPELINE_SETTLE_H

#include "common/pipeline/draft.h"

/* ---- a field of each kind ---- */

/* settle_picture.c */
FBY_CHECKED fby_err fby_settle_picture(
    const struct fby_yaml *yaml, struct draft_field *field);
FBY_CHECKED fby_err fby_settle_mask(
    const struct fby_yaml *yaml, struct draft_field *field);
FBY_CHECKED fby_err fby_settle_maps(
    const struct fby_yaml *yaml, struct draft_field *field);

/* settle_value.c */
FBY_CHECKED fby_err fby_settle_label(
    const struct fby_yaml *yaml, struct draft_field *field);
FBY_CHECKED fby_err fby_settle_number(
    const struct fby_yaml *yaml, struct draft_field *field);
FBY_CHECKED fby_err fby_settle_bytes(
    const struct fby_yaml *yaml, struct draft_field *field);
FBY_CHECKED fby_err fby_settle_text(
    const struct fby_yaml *yaml, struct draft_field *field);

/* settle_rows.c */
FBY_CHECKED fby_err fby_settle_array(
    const struct fby_yaml *yaml, struct draft_field *field);
FBY_CHECKED fby_err fby_settle_sparse(
    const struct fby_yaml *yaml, struct draft_field *field);

/* settle_tokens.c */
FBY_CHECKED fby_err fby_settle_tokens(
    const struct fby_yaml *yaml, struct draft_field *field);
FBY_CHECKED fby_err fby_settle_documents(
    const struct fby_yaml *yaml, struct draft_field *field);

/* ---- what several kinds ask (settle.c) ---- */

bool fby_draft_is_column(const struct draft_field *field);

/* Does it travel as bits? */
bool fby_draft_is_bits(const struct draft_field *field);

/* Where its wire type was said: in the mapping, or as the plain word. */
struct fby_place fby_settle_wire_place(const struct draft_field *field);

/* Refuse: with `text`, or with "dtype u8 TEXT". */
fby_err fby_settle_wrong(
    const struct fby_yaml *yaml, struct fby_place at, const char *text);
fby_err fby_settle_wrong_dtype(const struct fby_yaml *yaml, struct fby_place at,
    int64_t dtype, const char *text);

/* The one wire type that there is; another is refused with `text`. */
FBY_CHECKED fby_err fby_settle_wire(const struct fby_yaml *yaml,
    struct draft_field *field, enum fby_type right, const char *text);

/* The dtype, which holds all values of the wire type: that, if not said. */
FBY_CHECKED fby_err fby_settle_dtype(
    const struct fby_yaml *yaml, struct draft_field *field);

/* Of bits, `maps` of them along the last dimension: they travel in bytes, and
 * become numbers that are 0 or 1. */
FBY_CHECKED fby_err fby_settle_bits(
    const struct fby_yaml *yaml, struct draft_field *field, uint32_t maps);

bool fby_settle_is_real(int64_t type);

/* The largest of a type of whole numbers; 0 of other types. */
int64_t fby_settle_largest(int64_t type);

/* ---- rows that vary in length (settle_rows.c) ---- */

/* Form, offsets and dtype of a field with a max_length. */
FBY_CHECKED fby_err fby_settle_varying(
    const struct fby_yaml *yaml, struct draft_field *field);

/* `to`, `pad` and `offsets` go with the form, and the pad is a value of the
 * dtype. */
FBY_CHECKED fby_err fby_settle_pad(
    const struct fby_yaml *yaml, const struct draft_field *field);

#endif
