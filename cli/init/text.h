/* text.h - the text of a first pipeline file, from what a look at the data
 * found. Pure: the look itself is the source's. */
#ifndef FBY_CLI_INIT_TEXT_H
#define FBY_CLI_INIT_TEXT_H

#include "common/bytes.h"
#include "common/err.h"
#include "pipeline/types.h"

struct fby_init_column {
    char             name[FBY_NAME_SIZE];
    enum fby_type    wire;       /* 0: no field can be made of it */
    struct fby_shape row;        /* of a ragged one: of an entry */
    uint32_t         max_length; /* a guess; 0: rows are of one shape */
    bool             sparse;     /* `row` is that of a dense one */
};

/* What the values of a list's column are; up to texts each may also be the ones
 * above it. */
enum fby_init_value {
    FBY_INIT_NO_VALUE = 0, /* members are files */
    FBY_INIT_WHOLE    = 1, /* digits alone, as class ids */
    FBY_INIT_NUMBER   = 2,
    FBY_INIT_TEXT     = 3,
    FBY_INIT_NUMBERS  = 4, /* JSON lists of numbers, or empty ones */
    FBY_INIT_TEXTS    = 5, /* JSON lists of texts, none empty */
    FBY_INIT_LISTS    = 6, /* other JSON lists */
    FBY_INIT_OBJECT   = 7, /* JSON objects */
    FBY_INIT_MIXED    = 8  /* several of these */
};

/* Members of one extension; of lists and parallel folders it begins with the
 * name of the column or folder. */
struct fby_init_member {
    char                extension[FBY_NAME_SIZE]; /* lower case */
    uint64_t            count;                    /* samples that have one */
    bool                always; /* that is all that were looked at */
    bool                looked; /* into the first one, if it is a PNG file: */
    bool                ids;    /* it is grey, or has a palette, as masks */
    enum fby_init_value value;
    uint32_t            longest; /* bytes, of values */
    uint32_t            most;    /* of lists: entries, of texts bytes of one */
    char                inside[128]; /* of an object: keys, ", " between them */
    enum fby_init_value first; /* number, text or mixed: at the first key */
};

struct fby_init_summary {
    enum fby_source_kind          kind;
    const char                   *path;    /* folder, list or pattern */
    uint64_t                      samples; /* 0: not counted; then: */
    uint64_t                      about;   /* as many, if shards are alike */
    uint32_t                      shards;  /* tars, tables or token files */
    uint32_t                      classes; /* class folders; 0: not known */
    const struct fby_init_member *members; /* found, the commonest first */
    size_t                        n_members;
    const struct fby_init_column *columns; /* of a source of columns */
    size_t                        n_columns;
    const char (*files)[FBY_NAME_SIZE]; /* of a list: columns of paths */
    size_t                   n_files;
    const struct fby_tokens *tokens; /* of token files */
};

/* Append a commented pipeline file that works at once: split `train`, batches
 * of 64 (one short one of fewer samples), random_resized_crop 224, flip,
 * labels, normalised f32 in CHW; masks that each sample has follow their
 * picture, and values of a list are fields as they are. Of columns each is a
 * field, as it is; batches are of 4,096. Token files give tokens and targets.
 * Errors: FBY_CONFIG when no extension is one of JPEG or PNG (and no value of a
 *         list can be a field), or no column can be a field. */
FBY_CHECKED fby_err fby_init_text(const struct fby_init_summary *summary,
    struct fby_buffer *out, struct fby_why *why);

/* Do people give that name, or one that holds it, to pictures ("images"), or to
 * what lies beside them ("masks")? */
bool fby_init_names_pictures(const char *name);
bool fby_init_names_partners(const char *name);

#endif
