#include "pipeline/location.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/utf8.h"
#include "pipeline/sources/traits.h"
#include "pipeline/text.h"

/* ---- NAME:path ---- */

/* Letters of the NAME before a colon; 0 when there is none. */
static size_t root_length(const char *pattern)
{
    static const char others[]     = "abcdefghijklmnopqrstuvwxyz0123456789_-";
    size_t            n            = strspn(pattern, others);
    bool              letter_first = pattern[0] >= 'a' && pattern[0] <= 'z';
    return letter_first && n < FBY_NAME_SIZE && pattern[n] == ':' ? n : 0;
}

bool fby_location_is_named(const char *pattern)
{
    return root_length(pattern) > 0;
}

static bool is_component(const char *at, size_t n, const char *text)
{
    return n == strlen(text) && memcmp(at, text, n) == 0;
}

/* A path whose components are all plain names, so that it can only lead
 * downwards; `path` is without its leading slash. */
static fby_err check_components(
    const char *path, const char *pattern, struct fby_why *why)
{
    for (const char *at = path; *at != '\0';) {
        size_t n    = strcspn(at, "/");
        bool   last = at[n] == '\0';
        if (n == 0 || is_component(at, n, ".") || is_component(at, n, "..") ||
            (!last && at[n + 1] == '\0')) {
            return fby_because(why, FBY_CONFIG,
                "'%s': a location holds no '.', '..', '//' and no '/' at its "
                "end",
                fby_text_show(pattern).text);
        }
        at += last ? n : n + 1;
    }
    return FBY_OK;
}

static fby_err check_text(const char *pattern, struct fby_why *why)
{
    size_t n = strlen(pattern);
    if (n == 0 || n >= FBY_PATH_SIZE) {
        return fby_because(why, FBY_CONFIG,
            "a location has 1 to %d bytes, not %zu", FBY_PATH_SIZE - 1, n);
    }
    if (!fby_is_utf8(pattern, n)) {
        return fby_because(why, FBY_CONFIG, "a location is UTF-8 text");
    }
    return FBY_OK;
}

/* Where the file names begin in a path to shards: after the last slash before
 * the first wildcard or brace. */
static size_t rest_begins(const char *path)
{
    size_t n = strcspn(path, "*?{}");
    while (n > 0 && path[n - 1] != '/') {
        n--;
    }
    return n;
}

/* Could this component become "", "." or ".." when its braces are chosen?
 * True where nothing but dots stands outside of braces and a choice within
 * them is dots or nothing. */
static bool may_be_dots(const char *at, size_t n)
{
    bool in_brace = false;
    bool empty    = false; /* a choice of dots or nothing was seen */
    bool letters  = false; /* in this choice */
    for (size_t i = 0; i < n; i++) {
        if (!in_brace && at[i] != '{' && at[i] != '.') {
            return false;
        }
        if (at[i] == '{') {
            in_brace = true;
            letters  = false;
        } else if (at[i] == ',' || at[i] == '}') {
            empty    = empty || !letters;
            letters  = false;
            in_brace = at[i] != '}';
        } else {
            letters = letters || at[i] != '.';
        }
    }
    return empty;
}

/* Braces are chosen on the worker: what comes out must be plain names too. */
fby_err fby_braces_check(const char *rest, struct fby_why *why)
{
    for (const char *at = rest; *at != '\0';) {
        size_t n = strcspn(at, "/");
        if (may_be_dots(at, n)) {
            return fby_because(why, FBY_CONFIG,
                "'%s': a choice in braces must not leave a name of dots or "
                "nothing",
                fby_text_show(rest).text);
        }
        at += at[n] == '\0' ? n : n + 1;
    }
    return FBY_OK;
}

fby_err fby_pattern_check(
    const char *rest, const char *pattern, struct fby_why *why)
{
    uint32_t names = 0;
    if (rest[0] == '\0') {
        return fby_because(why, FBY_CONFIG, "'%s' names no shard file",
            fby_text_show(pattern).text);
    }
    fby_err err = fby_braces_count(rest, &names, why);
    return err == FBY_OK ? fby_braces_check(rest, why) : err;
}

void fby_location_side(const char *rest, uint32_t i, struct fby_side *out)
{
    size_t before = strcspn(rest, "{");
    size_t after  = strlen(strchr(rest, '}') + 1);
    fby_braces_name(rest, i, out->path);
    size_t n = strlen(out->path) - before - after;
    n        = n < FBY_NAME_SIZE ? n : 0; /* too long: none that fits */
    memset(out->name, 0, sizeof(out->name));
    memcpy(out->name, out->path + before, n);
}

fby_err fby_location_split(const char *pattern, enum fby_source_kind kind,
    struct fby_location_parts *out, struct fby_why *why)
{
    const struct fby_source_traits *source = fby_source_traits(kind);
    fby_err                         err    = check_text(pattern, why);
    if (err != FBY_OK) {
        return err;
    }
    size_t      root = root_length(pattern);
    const char *path = root > 0 ? pattern + root + 1 : pattern;
    if ((root > 0) == (path[0] == '/')) {
        return fby_because(why, FBY_CONFIG,
            "'%s' is no location: write NAME:path with a path relative to the "
            "root NAME, or an absolute path",
            fby_text_show(pattern).text);
    }
    size_t slash = root > 0 ? 0 : 1;
    err          = check_components(path + slash, pattern, why);
    size_t n     = source->cut != NULL ? source->cut(path) : rest_begins(path);
    if (err == FBY_OK && source->check_rest != NULL) {
        err = source->check_rest(path + n, pattern, why);
    }
    if (err != FBY_OK) {
        return err;
    }
    /* The slash between base and rest belongs to neither; "/" stays. */
    size_t base = path[n] != '\0' && n > slash ? n - 1 : n;
    *out        = (struct fby_location_parts){.root = ""};
    memcpy(out->root, pattern, root);
    memcpy(out->base, path, base);
    memcpy(out->rest, path + n, strlen(path + n));
    return FBY_OK;
}

/* ---- plain paths ---- */

static void drop_last_component(char *path)
{
    char *slash = strrchr(path, '/');
    *slash      = '\0'; /* "/a" becomes "", which stands for "/" here */
}

/* Append "/component" to an absolute path without slash at its end. */
static bool append(char *path, const char *component, size_t n)
{
    size_t have = strlen(path);
    if (have + 1 + n >= FBY_PATH_SIZE) {
        return false;
    }
    path[have] = '/';
    memcpy(path + have + 1, component, n);
    path[have + 1 + n] = '\0';
    return true;
}

/* One component of a plain path, taken by `out`, an absolute path. `named`
 * says that a name stood before it. */
static fby_err step(const char *at, size_t n, bool *named, char *out)
{
    if (is_component(at, n, "..")) {
        if (*named || out[0] == '\0') {
            return FBY_CONFIG;
        }
        drop_last_component(out);
    } else if (n > 0 && !is_component(at, n, ".")) {
        *named = true;
        return append(out, at, n) ? FBY_OK : FBY_FULL;
    }
    return FBY_OK;
}

/* `folder` has no symbolic link in it (the caller resolved it), so `..` may
 * be taken from the text; after a name of the pattern it may not. */
static fby_err walk(const char *pattern, char *out, struct fby_why *why)
{
    bool    named = pattern[0] == '/';
    fby_err err   = FBY_OK;
    for (const char *at = pattern; err == FBY_OK && *at != '\0';) {
        size_t n = strcspn(at, "/");
        err      = step(at, n, &named, out);
        at += at[n] == '\0' ? n : n + 1;
    }
    if (err == FBY_CONFIG) {
        fby_because(why, err,
            "'%s': '..' may stand only at the beginning of a relative path",
            fby_text_show(pattern).text);
    } else if (err == FBY_FULL) {
        err = fby_because(why, FBY_CONFIG,
            "'%s': the path is longer than %d bytes",
            fby_text_show(pattern).text, FBY_PATH_SIZE - 1);
    }
    return err;
}

fby_err fby_location_absolute(const char *pattern, const char *folder,
    char out[FBY_PATH_SIZE], struct fby_why *why)
{
    fby_err err = check_text(pattern, why);
    if (err != FBY_OK) {
        return err;
    }
    if (fby_location_is_named(pattern)) {
        memcpy(out, pattern, strlen(pattern) + 1);
        return FBY_OK;
    }
    out[0] = '\0';
    if (pattern[0] != '/') {
        err = walk(folder, out, why);
    }
    if (err == FBY_OK) {
        err = walk(pattern, out, why);
    }
    if (err == FBY_OK && out[0] == '\0') {
        memcpy(out, "/", 2);
    }
    return err;
}

/* ---- roots ---- */

fby_err fby_location_root_option(const char *option, char name[FBY_NAME_SIZE],
    char dir[FBY_PATH_SIZE], struct fby_why *why)
{
    const char *equals = strchr(option, '=');
    size_t      n      = equals != NULL ? (size_t)(equals - option) : 0;
    char        head[FBY_NAME_SIZE + 1] = {0};
    if (n > 0 && n < FBY_NAME_SIZE) {
        memcpy(head, option, n);
        head[n] = ':';
    }
    if (n == 0 || root_length(head) != n || equals[1] != '/') {
        return fby_because(why, FBY_USAGE,
            "'%s' is no root: write NAME=DIR, NAME in lower-case letters, "
            "digits, _ and -, DIR absolute",
            fby_text_show(option).text);
    }
    fby_err err = fby_location_absolute(equals + 1, "/", dir, why);
    if (err != FBY_OK) {
        return FBY_USAGE;
    }
    memcpy(name, head, n);
    name[n] = '\0';
    return FBY_OK;
}

/* What follows `dir` in `path`, without slash; NULL when it lies elsewhere. */
static const char *below(const char *path, const char *dir)
{
    size_t n = strcmp(dir, "/") == 0 ? 0 : strlen(dir);
    if (strncmp(path, dir, n) != 0 || (path[n] != '/' && path[n] != '\0')) {
        return NULL;
    }
    return path[n] == '/' ? path + n + 1 : path + n;
}

struct best_root {
    char        name[FBY_NAME_SIZE];
    const char *rest; /* of the pattern; NULL: none fits yet */
    size_t      length;
};

/* Weigh one root; a named pattern takes only the root of its name. */
static fby_err weigh(const char *pattern, const char *root,
    struct best_root *best, struct fby_why *why)
{
    char    name[FBY_NAME_SIZE];
    char    dir[FBY_PATH_SIZE];
    fby_err err = fby_location_root_option(root, name, dir, why);
    if (err != FBY_OK) {
        return err;
    }
    const char *rest   = below(pattern, dir);
    size_t      length = strlen(dir);
    size_t      named  = root_length(pattern);
    if (named > 0) {
        rest = is_component(pattern, named, name) ? pattern + named + 1 : NULL;
    }
    if (rest != NULL && (best->rest == NULL || length > best->length)) {
        memcpy(best->name, name, sizeof(name));
        best->rest   = rest;
        best->length = length;
    }
    return FBY_OK;
}

fby_err fby_location_root(const struct fby_location *plain,
    const char *const *roots, size_t n_roots, struct fby_location *out,
    struct fby_why *why)
{
    struct best_root best = {{0}, NULL, 0};
    for (size_t i = 0; i < n_roots; i++) {
        fby_err err = weigh(plain->pattern, roots[i], &best, why);
        if (err != FBY_OK) {
            return err;
        }
    }
    if (n_roots == 0 && !fby_location_is_named(plain->pattern)) {
        return fby_because(why, FBY_NOT_FOUND,
            "'%s' is a plain path, and workers know paths only below their "
            "roots; say which root it is in: options.roots",
            fby_text_show(plain->pattern).text);
    }
    if (best.rest == NULL) {
        return fby_because(why, FBY_NOT_FOUND,
            "'%s' lies below none of the %zu roots; add one to options.roots",
            fby_text_show(plain->pattern).text, n_roots);
    }
    struct fby_location rooted;

    int n = snprintf(
        rooted.pattern, sizeof(rooted.pattern), "%s:%s", best.name, best.rest);
    if (n < 0 || (size_t)n >= sizeof(rooted.pattern)) {
        return fby_because(why, FBY_CONFIG, "the location is too long");
    }
    *out = rooted;
    return FBY_OK;
}

fby_err fby_location_plain_base(const struct fby_location *plain,
    enum fby_source_kind kind, char out[FBY_PATH_SIZE], struct fby_why *why)
{
    struct fby_location_parts parts = {.root = ""};
    fby_err err = fby_location_split(plain->pattern, kind, &parts, why);
    if (err != FBY_OK) {
        return err;
    }
    if (parts.root[0] != '\0') {
        return fby_because(why, FBY_USAGE,
            "'%s' names the root '%s': say where it lies with --data %s=DIR",
            fby_text_show(plain->pattern).text, parts.root, parts.root);
    }
    memcpy(out, parts.base, sizeof(parts.base));
    return FBY_OK;
}
