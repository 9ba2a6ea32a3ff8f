/* traits.h - the table of sources: all that differs by the kind of a source
 * before a file is opened.
 *
 * Each kind is one file of this folder, and one line in traits.c. Code that
 * depends on the source of a split asks its traits, not its number. How a worker
 * indexes and reads a source is in worker/source/ops.h. */
#ifndef FBY_PIPELINE_SOURCES_TRAITS_H
#define FBY_PIPELINE_SOURCES_TRAITS_H

#include "common/bytes.h"
#include "common/err.h"
#include "pipeline/types.h"

struct draft_split; /* a split as a pipeline file says it: draft.h */
struct fby_key;     /* schema.h */
struct fby_record;  /* record.h */

struct fby_source_traits {
    enum fby_source_kind id;
    /* The key of a split that names the source: "folder: PATH". It sets
     * draft_split.pattern. */
    const struct fby_key *key;
    const char           *usage; /* "folder: PATH" */

    const char *samples; /* what error messages call its samples */
    const char *label;   /* what `from:` of a label says; NULL: class folders */

    bool has_classes;   /* class folders: a label needs no file */
    bool has_rows;      /* samples are rows of columns, not members */
    bool has_sequences; /* samples are sequences of tokens */
    bool has_paths;     /* some columns are paths: the key `files` */
    bool has_values;    /* a member may be a value, in no file */
    bool has_files;     /* each member is a file of its own */
    bool has_names;     /* a suffix begins with the member's column or folder */
    bool is_listed;     /* its files are listed at each open */

    /* The length of the directory in `path`, a location without its root; what
     * follows is `rest`. NULL: the rest begins after the last slash before the
     * first wildcard or brace. */
    size_t (*cut)(const char *path);
    /* The rules for `rest`; NULL: there are none. Errors: FBY_CONFIG. */
    fby_err (*check_rest)(
        const char *rest, const char *pattern, struct fby_why *why);

    /* What else the content of a split has; each NULL if nothing: filled in
     * from the pipeline file, checked, and its entries in canonical bytes, whose
     * keys (canon.h) follow those of the buckets. */
    void (*resolve)(const struct draft_split *said, struct fby_content *out);
    fby_err (*check)(const struct fby_content *content, struct fby_why *why);
    void (*encode)(const struct fby_content *content, struct fby_buffer *out);
    void (*decode)(struct fby_record *r, struct fby_content *out);
};

/* The traits of that kind; NULL when there is none. */
const struct fby_source_traits *fby_source_traits_by_id(int64_t id);

/* The traits of a kind that is valid. */
const struct fby_source_traits *fby_source_traits(enum fby_source_kind kind);

#endif
