/* location.h - where data lies, as text: NAME:path, wildcards, brace ranges.
 *
 * A worker opens only what lies below its roots, so over the wire a location
 * is `NAME:path`, the path relative, without `.` or `..`. This file knows the
 * text only; opening beneath a root is the source's. Patterns, for shards:
 *     {0000..1023}  each number, with as many digits as written
 *     {a,b}         each alternative
 *     * and ?       any letters, any one letter, within one path component
 * proto/PROTOCOL.md, "Pipeline location", is the definition. */
#ifndef FBY_PIPELINE_LOCATION_H
#define FBY_PIPELINE_LOCATION_H

#include "common/err.h"
#include "pipeline/types.h"

enum { FBY_MAX_EXPANSION = 1000000 }; /* names of one pattern's braces */

struct fby_location_parts {
    char root[FBY_NAME_SIZE]; /* NAME; empty for a plain path */
    char base[FBY_PATH_SIZE]; /* directory; empty: the root itself */
    char rest[FBY_PATH_SIZE]; /* below base, with the wildcards; folder: "";
                                 list: the file's name */
};

/* True for NAME:path, false for a plain path. NAME is a lower-case letter,
 * then lower-case letters, digits, `_` and `-`, at most 63 bytes. */
bool fby_location_is_named(const char *pattern);

/* Check a location and cut it: a folder is base alone; of shards, base is the
 * last directory before the first wildcard or brace, or that of the one file.
 * Plain paths must be absolute. In folders and lists no letter is a wildcard.
 * Of a list base is its directory. Parallel folders are cut as shards are, and
 * have one brace of two names or more.
 * Errors: FBY_CONFIG. */
FBY_CHECKED fby_err fby_location_split(const char *pattern,
    enum fby_source_kind kind, struct fby_location_parts *out,
    struct fby_why *why);

/* Make a plain path absolute: below `folder` (absolute) when it is relative;
 * `.`, doubled and trailing slashes go, `..` is resolved at the start only.
 * NAME:path stays as it is. Errors: FBY_CONFIG. */
FBY_CHECKED fby_err fby_location_absolute(const char *pattern,
    const char *folder, char out[FBY_PATH_SIZE], struct fby_why *why);

/* Turn a plain absolute pattern into NAME:rest by the longest DIR of `roots`
 * ("NAME=DIR" each, absolute) that holds its base. NAME:path passes when a
 * root has that name. Errors: FBY_CONFIG, FBY_NOT_FOUND when no root fits. */
FBY_CHECKED fby_err fby_location_root(const struct fby_location *plain,
    const char *const *roots, size_t n_roots, struct fby_location *out,
    struct fby_why *why);

/* The directory that an embedded cluster must serve for a plain location.
 * Errors: FBY_CONFIG; FBY_USAGE when it is NAME:path. */
FBY_CHECKED fby_err fby_location_plain_base(const struct fby_location *plain,
    enum fby_source_kind kind, char out[FBY_PATH_SIZE], struct fby_why *why);

/* Cut "NAME=DIR" (an argument of --data); DIR must be absolute.
 * Errors: FBY_USAGE. */
FBY_CHECKED fby_err fby_location_root_option(const char *option,
    char name[FBY_NAME_SIZE], char dir[FBY_PATH_SIZE], struct fby_why *why);

/* How many names the braces of `rest` make (1 without braces).
 * Errors: FBY_CONFIG for wrong braces or more than FBY_MAX_EXPANSION. */
FBY_CHECKED fby_err fby_braces_count(
    const char *rest, uint32_t *out, struct fby_why *why);

/* No choice in the braces of `rest`, which has passed fby_braces_count, may
 * leave a name of dots or nothing. Errors: FBY_CONFIG. */
FBY_CHECKED fby_err fby_braces_check(const char *rest, struct fby_why *why);

/* A `rest` with wildcards and braces that names files; `pattern` is the whole
 * location, for errors. Errors: FBY_CONFIG. */
FBY_CHECKED fby_err fby_pattern_check(
    const char *rest, const char *pattern, struct fby_why *why);

/* The i-th of them (the last brace runs fastest), wildcards untouched. `rest`
 * has passed fby_braces_count. */
void fby_braces_name(const char *rest, uint32_t i, char out[FBY_PATH_SIZE]);

/* One of parallel folders: what the brace of a checked `rest` says i-th; i is
 * below fby_braces_count. */
struct fby_side {
    char name[FBY_NAME_SIZE]; /* what stands in the brace */
    char path[FBY_PATH_SIZE]; /* below the base */
};
void fby_location_side(const char *rest, uint32_t i, struct fby_side *out);

/* True when `text` holds * or ?. */
bool fby_glob_has(const char *text);

/* One path component against one pattern of * and ?; a leading dot is matched
 * only by a dot, and ? takes one UTF-8 letter. */
bool fby_glob_match(const char *pattern, const char *name);

#endif
