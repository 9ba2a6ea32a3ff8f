/* kind.h - the table of field kinds: all that differs by `decode:` before a
 * value is decoded.
 *
 * Each kind is one file of this folder, and one line in kind.c. Whoever needs
 * to know how a field differs from others asks its kind, not its number. */
#ifndef FBY_COMMON_PIPELINE_FIELDS_KIND_H
#define FBY_COMMON_PIPELINE_FIELDS_KIND_H

#include "common/pipeline/types.h"

struct fby_field_kind {
    enum fby_decode id;
    const char     *name; /* the word after `decode:` */
    bool is_picture;      /* decoded to pixels [h, w, channels], by ops */
    bool is_mask;         /* pixels are ids: never mixed, never coloured */
    bool is_sequence;     /* cut from token files, by a source of tokens */
    bool is_stack;        /* a sample has all members of `from`, not one */
};

/* The kind of that number; NULL when there is none. */
const struct fby_field_kind *fby_field_kind_by_id(int64_t id);

/* The kind of a field, whose decode is valid. */
const struct fby_field_kind *fby_field_kind(
    const struct fby_field_content *field);

/* All kinds, by number: fby_field_kinds[0] is NULL, as number 0 is none. */
extern const struct fby_field_kind *const fby_field_kinds[];
extern const size_t                       fby_n_field_kinds;

#endif
