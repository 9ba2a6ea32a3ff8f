/* SPDX-License-Identifier: Apache-2.0 */
/* location.h - locations of data as text: NAME:path, wildcards, braces.
 *
 * A worker opens only files below its roots. A root is a directory with a NAME.
 * On the wire a location is `NAME:path`, with a relative path without `.` or
 * `..`. A plain path is a path without NAME. These functions only process text;
 * worker/source/ opens the files. The pattern of a location may have
 *     {0000..1023}  each number, with as many digits as written
 *     {a,b}         each alternative
 *     *             any characters of one path component
 *     ?             any one character of a path component
 * proto/PROTOCOL.md, "Pipeline location", is the definition. */
#ifndef FBY_PIPELINE_LOCATION_H
#define FBY_PIPELINE_LOCATION_H

#include "common/err.h"
#include "pipeline/types.h"

/* The most names that the braces of a pattern may stand for. */
enum { FBY_MAX_PATTERN_NAMES = 1000000 };

struct fby_location_parts {
    char root[FBY_NAME_SIZE]; /* NAME; empty for a plain path */
    char base[FBY_PATH_SIZE]; /* directory; empty: the root itself */
    char rest[FBY_PATH_SIZE]; /* pattern below base; folder: "" */
};

/* True for NAME:path, false for a plain path. NAME is a lower-case letter,
 * then lower-case letters, digits, `_` and `-`, at most 63 bytes. */
bool fby_location_is_named(const char *pattern);

/* Check a location and split it. `base` is the whole path of a folder, the
 * directory of a list, or else the path up to the last slash before the first
 * wildcard or brace. Paths of folders and lists have no wildcards. Parallel
 * folders have one brace of two or more names. Plain paths must be absolute.
 * Errors: FBY_CONFIG. */
FBY_CHECKED fby_err fby_location_split(const char *pattern,
    enum fby_source_kind kind, struct fby_location_parts *out,
    struct fby_error_detail *why);

/* Make a plain path absolute, and copy a NAME:path. A relative path starts at
 * `folder`, which is absolute and has no links. `.` and surplus slashes are
 * removed; `..` is allowed at the start only. Errors: FBY_CONFIG. */
FBY_CHECKED fby_err fby_location_make_absolute(const char *pattern,
    const char *folder, char out[FBY_PATH_SIZE], struct fby_error_detail *why);

/* Turn a plain absolute pattern into NAME:path. Each root is "NAME=DIR"; of the
 * roots whose DIR contains the pattern, the longest DIR is used. A NAME:path is
 * copied if one of the roots has the NAME.
 * Errors: FBY_CONFIG; FBY_NOT_FOUND if no root fits. */
FBY_CHECKED fby_err fby_location_find_root(const struct fby_location *location,
    const char *const *roots, size_t n_roots, struct fby_location *out,
    struct fby_error_detail *why);

/* The length of the first component of `path`, and those before it, that ends
 * with ".zip" in any case: it may be an archive. 0: there is none. `path` may
 * begin with such components, of which `from` is the length. */
size_t fby_location_zip_length(const char *path, size_t from);

/* Set `out` to the base of a plain location: the directory that workers on this
 * machine must serve. For a folder that may be a zip archive, or in one, it is
 * the directory of the archive. Errors: FBY_CONFIG; FBY_USAGE for NAME:path. */
FBY_CHECKED fby_err fby_location_plain_base(const struct fby_location *plain,
    enum fby_source_kind kind, char out[FBY_PATH_SIZE],
    struct fby_error_detail *why);

/* Split a root "NAME=DIR"; DIR must be absolute. Errors: FBY_USAGE. */
FBY_CHECKED fby_err fby_location_parse_root(const char *option,
    char name[FBY_NAME_SIZE], char dir[FBY_PATH_SIZE],
    struct fby_error_detail *why);

/* Set *out to the number of names that the braces of `rest` stand for, 1 if it
 * has no braces.
 * Errors: FBY_CONFIG for wrong braces or more than FBY_MAX_PATTERN_NAMES. */
FBY_CHECKED fby_err fby_braces_count(
    const char *rest, uint32_t *out, struct fby_error_detail *why);

/* Check that no choice in the braces of `rest` can make a path component "",
 * "." or "..". `rest` must have passed fby_braces_count. Errors: FBY_CONFIG. */
FBY_CHECKED fby_err fby_braces_check(
    const char *rest, struct fby_error_detail *why);

/* Check the wildcards and braces of `rest`. `pattern` is the whole location,
 * for errors. Errors: FBY_CONFIG. */
FBY_CHECKED fby_err fby_pattern_check(
    const char *rest, const char *pattern, struct fby_error_detail *why);

/* Write name `i` of those that the braces of `rest` stand for. Wildcards are
 * copied. The last brace changes fastest. `rest` passed fby_braces_count. */
void fby_braces_write_name(
    const char *rest, uint32_t i, char out[FBY_PATH_SIZE]);

/* One of the folders of a source `parallel`, whose files are paired by name. */
struct fby_parallel_folder {
    char name[FBY_NAME_SIZE]; /* the choice in the brace */
    char path[FBY_PATH_SIZE]; /* relative to the base */
};
/* Set *out to folder `i` of those that the checked `rest` stands for. */
void fby_location_parallel_folder(
    const char *rest, uint32_t i, struct fby_parallel_folder *out);

/* True if `text` has * or ?. */
bool fby_has_wildcards(const char *text);

/* True if `name`, a path component, matches a pattern with * and ?. A leading
 * dot is matched only by a dot. A ? matches one UTF-8 character. */
bool fby_glob_match(const char *pattern, const char *name);

#endif
