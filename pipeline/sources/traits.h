/* SPDX-License-Identifier: Apache-2.0 */
/* traits.h - the traits (keys, rules and properties) of each kind of source.
 *
 * Each kind is one file of this folder and one line in sources.c. Other code
 * tests the traits of a source, not its number, so that a new kind needs few
 * changes. worker/source/ops.h has the functions that index and read data. */
#ifndef FBY_PIPELINE_SOURCES_TRAITS_H
#define FBY_PIPELINE_SOURCES_TRAITS_H

#include "common/bytes.h"
#include "common/err.h"
#include "pipeline/types.h"

struct parsed_split; /* a split of a pipeline file: parse_state.h */
struct fby_key;      /* schema.h */
struct fby_record;   /* record.h */

struct fby_source_traits {
    enum fby_source_kind id;
    /* The key that selects this kind; it sets parsed_split.pattern. */
    const struct fby_key *key;
    const char           *usage; /* for errors: "folder: PATH" */

    const char *samples; /* the noun for its samples, for errors */
    const char *label;   /* the value of `from:` that errors suggest for a
                            label; NULL if has_classes */

    bool has_classes;   /* has class folders, from which a label can come */
    bool has_rows;      /* a sample is a row of columns and has no members */
    bool has_sequences; /* a sample is a sequence of tokens */
    bool has_paths;     /* the key `files` names columns that hold paths */
    bool has_values;    /* a member can be a value without a file */
    bool has_files;     /* each member is a file of its own */
    bool has_names;     /* extensions begin with a column or folder name */
    bool lists_folders; /* at each open the worker lists the source's folders */
    bool reads_zip;     /* its folder may be a zip archive, or in one */

    /* The length of the directory at the start of `path`. NULL: the directory
     * ends at the last slash before the first wildcard or brace. */
    size_t (*directory_length)(const char *path);
    /* Check `rest`, the path after the directory; `pattern` is the whole
     * location, for the error. NULL: no rules. Errors: FBY_CONFIG. */
    fby_err (*check_path_rest)(
        const char *rest, const char *pattern, struct fby_error_detail *why);

    /* Functions for the members of struct fby_content that only this kind uses;
     * NULL: there are none. They fill the members from the pipeline file, check
     * them, and write and read them as the last entries of the canonical bytes
     * (pipeline/canon.h). */
    void (*fill_content)(
        const struct parsed_split *parsed, struct fby_content *out);
    fby_err (*check)(
        const struct fby_content *content, struct fby_error_detail *why);
    void (*encode)(const struct fby_content *content, struct fby_buffer *out);
    void (*decode)(struct fby_record *r, struct fby_content *out);
};

/* The traits of the kind with number `id`; NULL if there is none. */
const struct fby_source_traits *fby_source_traits_by_id(int64_t id);

/* The traits of a kind, which must be valid. */
const struct fby_source_traits *fby_source_traits(enum fby_source_kind kind);

#endif
