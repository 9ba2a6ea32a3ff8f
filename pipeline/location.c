/* SPDX-License-Identifier: Apache-2.0 */
/* location.c - check and split the locations of data: NAME:path, where NAME is
 * a root directory of the workers, or a plain path. glob.c has the braces. */
#include "pipeline/location.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/utf8.h"
#include "pipeline/sources/traits.h"
#include "pipeline/text.h"
#include "pipeline/unread.h"

/* ---- NAME:path ---- */

/* The length of NAME in NAME:path; 0 for a plain path. */
static size_t root_length(const char *pattern)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
    size_t            length    = strspn(pattern, allowed);
    bool starts_with_letter     = pattern[0] >= 'a' && pattern[0] <= 'z';
    bool is_name                = starts_with_letter && length < FBY_NAME_SIZE;
    return is_name && pattern[length] == ':' ? length : 0;
}

bool fby_location_is_named(const char *pattern)
{
    return root_length(pattern) > 0;
}

/* True if the `length` characters at `start` are `text`. */
static bool equals_text(const char *start, size_t length, const char *text)
{
    return length == strlen(text) && memcmp(start, text, length) == 0;
}

/* Check that no component of a path is "", "." or "..", so that the path cannot
 * leave its directory. `path` has no leading slash. */
static fby_err check_components(
    const char *path, const char *pattern, struct fby_error_detail *why)
{
    for (const char *component = path; *component != '\0';) {
        size_t length          = strcspn(component, "/");
        bool   is_last         = component[length] == '\0';
        bool   ends_with_slash = !is_last && component[length + 1] == '\0';
        if (length == 0 || equals_text(component, length, ".") ||
            equals_text(component, length, "..") || ends_with_slash) {
            return fby_error_set(why, FBY_CONFIG,
                "'%s': a location must not contain '.', '..' or '//', nor end "
                "with '/'",
                fby_text_show(pattern).text);
        }
        component += is_last ? length : length + 1;
    }
    return FBY_OK;
}

static fby_err check_text(const char *pattern, struct fby_error_detail *why)
{
    size_t length = strlen(pattern);
    if (length == 0 || length >= FBY_PATH_SIZE) {
        return fby_error_set(why, FBY_CONFIG,
            "a location has 1 to %d bytes, not %zu", FBY_PATH_SIZE - 1, length);
    }
    if (!fby_is_utf8(pattern, length)) {
        return fby_error_set(why, FBY_CONFIG, "a location is UTF-8 text");
    }
    return FBY_OK;
}

/* The length of the directory in a path with wildcards: up to and including the
 * last slash before the first wildcard or brace. */
static size_t length_before_wildcard(const char *path)
{
    size_t length = strcspn(path, "*?{}");
    while (length > 0 && path[length - 1] != '/') {
        length--;
    }
    return length;
}

/* True if the component has only dots outside of braces, and a choice in braces
 * is empty or has only dots. Such a choice could make it "", "." or "..". */
static bool may_be_dots(const char *component, size_t length)
{
    bool in_brace          = false;
    bool has_dots_choice   = false;
    bool choice_has_others = false; /* characters other than dots */
    for (size_t i = 0; i < length; i++) {
        if (!in_brace && component[i] != '{' && component[i] != '.') {
            return false;
        }
        if (component[i] == '{') {
            in_brace          = true;
            choice_has_others = false;
        } else if (component[i] == ',' || component[i] == '}') {
            has_dots_choice   = has_dots_choice || !choice_has_others;
            choice_has_others = false;
            in_brace          = component[i] != '}';
        } else {
            choice_has_others = choice_has_others || component[i] != '.';
        }
    }
    return has_dots_choice;
}

fby_err fby_braces_check(const char *rest, struct fby_error_detail *why)
{
    for (const char *component = rest; *component != '\0';) {
        size_t length = strcspn(component, "/");
        if (may_be_dots(component, length)) {
            return fby_error_set(why, FBY_CONFIG,
                "'%s': a choice in braces must not make a name that is empty "
                "or only dots",
                fby_text_show(rest).text);
        }
        component += component[length] == '\0' ? length : length + 1;
    }
    return FBY_OK;
}

fby_err fby_pattern_check(
    const char *rest, const char *pattern, struct fby_error_detail *why)
{
    uint32_t names = 0;
    if (rest[0] == '\0') {
        return fby_error_set(why, FBY_CONFIG, "'%s' names no shard file",
            fby_text_show(pattern).text);
    }
    FBY_TRY(fby_braces_count(rest, &names, why));
    return fby_braces_check(rest, why);
}

void fby_location_parallel_folder(
    const char *rest, uint32_t i, struct fby_parallel_folder *out)
{
    size_t prefix_length = strcspn(rest, "{");
    size_t suffix_length = strlen(strchr(rest, '}') + 1);
    fby_braces_write_name(rest, i, out->path);
    size_t choice_length = strlen(out->path) - prefix_length - suffix_length;
    bool fits = choice_length < FBY_NAME_SIZE; /* else the caller refuses "" */
    memset(out->name, 0, sizeof(out->name));
    memcpy(out->name, out->path + prefix_length, fits ? choice_length : 0);
}

fby_err fby_location_split(const char *pattern, enum fby_source_kind kind,
    struct fby_location_parts *out, struct fby_error_detail *why)
{
    const struct fby_source_traits *source = fby_source_traits(kind);
    FBY_TRY(check_text(pattern, why));
    size_t            name_length = root_length(pattern);
    bool              is_plain    = name_length == 0;
    const char       *path = is_plain ? pattern : pattern + name_length + 1;
    struct fby_unread unread;
    if (is_plain != (path[0] == '/') && fby_unread_url(pattern, &unread)) {
        return fby_error_set(why, FBY_CONFIG, "%s", unread.text);
    }
    if (is_plain != (path[0] == '/')) {
        return fby_error_set(why, FBY_CONFIG,
            "'%s' is not a location: write NAME:path with a path relative to "
            "the root NAME, or an absolute path",
            fby_text_show(pattern).text);
    }
    size_t slash_length = is_plain ? 1 : 0; /* the leading slash */
    FBY_TRY(check_components(path + slash_length, pattern, why));
    size_t      dir_length = source->directory_length != NULL
                                 ? source->directory_length(path)
                                 : length_before_wildcard(path);
    const char *rest       = path + dir_length;
    if (source->check_path_rest != NULL) {
        FBY_TRY(source->check_path_rest(rest, pattern, why));
    }
    /* The slash between base and rest is in neither, unless base is "/". */
    bool drops_slash = rest[0] != '\0' && dir_length > slash_length;
    *out             = (struct fby_location_parts){.root = ""};
    memcpy(out->root, pattern, name_length);
    memcpy(out->base, path, drops_slash ? dir_length - 1 : dir_length);
    memcpy(out->rest, rest, strlen(rest));
    return FBY_OK;
}

/* ---- plain paths ---- */

/* Append the components of `path` to `out`, an absolute path without a slash at
 * its end and without links. `..` at the start of `path` removes a component of
 * `out`. After a name `..` is refused, because the name may be a link. */
static fby_err append_path(
    const char *path, char out[FBY_PATH_SIZE], struct fby_error_detail *why)
{
    bool after_name = path[0] == '/'; /* from then on `..` is refused */
    for (const char *component = path; *component != '\0';) {
        size_t length     = strcspn(component, "/");
        size_t out_length = strlen(out);
        if (equals_text(component, length, "..")) {
            if (after_name || out_length == 0) {
                return fby_error_set(why, FBY_CONFIG,
                    "'%s': '..' is allowed only at the beginning of a relative "
                    "path",
                    fby_text_show(path).text);
            }
            *strrchr(out, '/') = '\0'; /* remove the last component */
        } else if (length > 0 && !equals_text(component, length, ".")) {
            if (out_length + 1 + length >= FBY_PATH_SIZE) {
                return fby_error_set(why, FBY_CONFIG,
                    "'%s': the path is longer than %d bytes",
                    fby_text_show(path).text, FBY_PATH_SIZE - 1);
            }
            after_name      = true;
            out[out_length] = '/';
            memcpy(out + out_length + 1, component, length);
            out[out_length + 1 + length] = '\0';
        }
        component += component[length] == '\0' ? length : length + 1;
    }
    return FBY_OK;
}

fby_err fby_location_make_absolute(const char *pattern, const char *folder,
    char out[FBY_PATH_SIZE], struct fby_error_detail *why)
{
    FBY_TRY(check_text(pattern, why));
    if (fby_location_is_named(pattern)) {
        memcpy(out, pattern, strlen(pattern) + 1);
        return FBY_OK;
    }
    out[0] = '\0';
    if (pattern[0] != '/') {
        FBY_TRY(append_path(folder, out, why));
    }
    FBY_TRY(append_path(pattern, out, why));
    if (out[0] == '\0') {
        memcpy(out, "/", 2);
    }
    return FBY_OK;
}

/* ---- roots ---- */

fby_err fby_location_parse_root(const char *option, char name[FBY_NAME_SIZE],
    char dir[FBY_PATH_SIZE], struct fby_error_detail *why)
{
    const char *equals      = strchr(option, '=');
    size_t      name_length = equals != NULL ? (size_t)(equals - option) : 0;
    char        prefix[FBY_NAME_SIZE + 1] = {0}; /* "NAME:" for root_length */
    if (name_length > 0 && name_length < FBY_NAME_SIZE) {
        memcpy(prefix, option, name_length);
        prefix[name_length] = ':';
    }
    if (name_length == 0 || root_length(prefix) != name_length ||
        equals[1] != '/') {
        return fby_error_set(why, FBY_USAGE,
            "'%s' is not a root: write NAME=DIR, NAME in lower-case letters, "
            "digits, _ and -, DIR absolute",
            fby_text_show(option).text);
    }
    if (fby_location_make_absolute(equals + 1, "/", dir, why) != FBY_OK) {
        return FBY_USAGE; /* a wrong option, not a wrong file (FBY_CONFIG) */
    }
    memcpy(name, prefix, name_length);
    name[name_length] = '\0';
    return FBY_OK;
}

/* `path` relative to `dir` ("" for `dir` itself); NULL if not below it. */
static const char *relative_path(const char *path, const char *dir)
{
    size_t n = strcmp(dir, "/") == 0 ? 0 : strlen(dir); /* without end slash */
    if (strncmp(path, dir, n) != 0 || (path[n] != '/' && path[n] != '\0')) {
        return NULL;
    }
    return path[n] == '/' ? path + n + 1 : path + n;
}

struct best_root {
    char        name[FBY_NAME_SIZE];
    const char *rest; /* the pattern below the root; NULL: no root fits yet */
    size_t      dir_length; /* bytes of the root's directory */
};

/* Set *best to `root` ("NAME=DIR") if the pattern is below DIR and no DIR
 * before was longer. A pattern NAME:path fits only the root called NAME. */
static fby_err consider_root(const char *pattern, const char *root,
    struct best_root *best, struct fby_error_detail *why)
{
    char name[FBY_NAME_SIZE];
    char dir[FBY_PATH_SIZE];
    FBY_TRY(fby_location_parse_root(root, name, dir, why));
    const char *rest        = relative_path(pattern, dir);
    size_t      dir_length  = strlen(dir);
    size_t      name_length = root_length(pattern);
    if (name_length > 0) {
        rest = equals_text(pattern, name_length, name)
                   ? pattern + name_length + 1
                   : NULL;
    }
    if (rest != NULL && (best->rest == NULL || dir_length > best->dir_length)) {
        memcpy(best->name, name, sizeof(name));
        best->rest       = rest;
        best->dir_length = dir_length;
    }
    return FBY_OK;
}

fby_err fby_location_find_root(const struct fby_location *location,
    const char *const *roots, size_t n_roots, struct fby_location *out,
    struct fby_error_detail *why)
{
    struct best_root best = {{0}, NULL, 0};
    for (size_t i = 0; i < n_roots; i++) {
        FBY_TRY(consider_root(location->pattern, roots[i], &best, why));
    }
    if (n_roots == 0 && !fby_location_is_named(location->pattern)) {
        return fby_error_set(why, FBY_NOT_FOUND,
            "'%s' is a plain path, and workers know paths only below their "
            "roots; say which root it is in: options.roots",
            fby_text_show(location->pattern).text);
    }
    if (best.rest == NULL) {
        return fby_error_set(why, FBY_NOT_FOUND,
            "'%s' is not below any of the roots; add one to options.roots",
            fby_text_show(location->pattern).text);
    }
    struct fby_location rooted;

    int n = snprintf(
        rooted.pattern, sizeof(rooted.pattern), "%s:%s", best.name, best.rest);
    if (n < 0 || (size_t)n >= sizeof(rooted.pattern)) {
        return fby_error_set(why, FBY_CONFIG, "the location is too long");
    }
    *out = rooted;
    return FBY_OK;
}

size_t fby_location_zip_length(const char *path, size_t from)
{
    static const char ending[]   = ".zip";
    size_t            ending_len = sizeof(ending) - 1;
    while (path[from] != '\0') {
        from += strspn(path + from, "/");
        size_t end = from + strcspn(path + from, "/");
        bool   is_zip =
            end - from > ending_len &&
            strncasecmp(path + end - ending_len, ending, ending_len) == 0;
        if (is_zip) {
            return end;
        }
        from = end;
    }
    return 0;
}

/* If the absolute path leads to what may be an archive, or into it, cut it to
 * the directory of the archive. */
static void cut_to_directory_of_zip(char *path)
{
    size_t length = fby_location_zip_length(path, 0);
    if (length > 0) {
        path[length]                 = '\0';
        char *slash                  = strrchr(path, '/');
        slash[slash == path ? 1 : 0] = '\0'; /* keep "/" itself */
    }
}

fby_err fby_location_plain_base(const struct fby_location *plain,
    enum fby_source_kind kind, char out[FBY_PATH_SIZE],
    struct fby_error_detail *why)
{
    struct fby_location_parts parts = {.root = ""};
    FBY_TRY(fby_location_split(plain->pattern, kind, &parts, why));
    if (parts.root[0] != '\0') {
        return fby_error_set(why, FBY_USAGE,
            "'%s' names the root '%s': name its directory with --data %s=DIR",
            fby_text_show(plain->pattern).text, parts.root, parts.root);
    }
    if (fby_source_traits(kind)->reads_zip) {
        cut_to_directory_of_zip(parts.base);
    }
    memcpy(out, parts.base, sizeof(parts.base));
    return FBY_OK;
}
