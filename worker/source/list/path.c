/* SPDX-License-Identifier: Apache-2.0 */
/* path.c - resolve the paths of files in a list: see path.h. */
#include "worker/source/list/path.h"

#include <string.h>

#include "common/utf8.h"

static const char out_of_root[] =
    "a path outside the list's root; add a root that contains both (--data "
    "NAME=DIR), and write the list as NAME:PATH";

/* The length of `dir` if `path` is below it, with the slash; 0: it is not. */
static size_t length_of_dir(const char *dir, const char *path, size_t size)
{
    size_t n = strlen(dir);
    while (n > 0 && dir[n - 1] == '/') {
        n--; /* the root "/" itself */
    }
    bool is_below = size > n && memcmp(path, dir, n) == 0 && path[n] == '/';
    return is_below ? n + 1 : 0;
}

static bool append_component(
    const char *name, size_t n, char out[FBY_PATH_SIZE], size_t *length)
{
    size_t slash = *length > 0 ? 1 : 0;
    if (*length + slash + n + 1 > FBY_PATH_SIZE) {
        return false;
    }
    memcpy(out + *length, "/", slash);
    memcpy(out + *length + slash, name, n);
    *length += slash + n;
    return true;
}

static bool remove_component(const char out[FBY_PATH_SIZE], size_t *length)
{
    if (*length == 0) {
        return false;
    }
    do {
        --*length;
    } while (*length > 0 && out[*length] != '/');
    return true;
}

/* Append the components of `path` to `out`, of *length bytes. Returns false if
 * `..` leads above the start of `out`, or if `out` is full. */
static bool append_components(
    const char *path, size_t size, char out[FBY_PATH_SIZE], size_t *length)
{
    for (size_t begin = 0; begin < size;) {
        const char *slash      = memchr(path + begin, '/', size - begin);
        size_t      end        = slash != NULL ? (size_t)(slash - path) : size;
        size_t      n          = end - begin;
        bool        is_up      = n == 2 && memcmp(path + begin, "..", 2) == 0;
        bool        is_nothing = n == 0 || (n == 1 && path[begin] == '.');
        bool        done       = is_nothing ||
                    (is_up ? remove_component(out, length)
                           : append_component(path + begin, n, out, length));
        if (!done) {
            return false;
        }
        begin = end + 1;
    }
    return true;
}

/* Write the resolved path `from_root` relative to `base`, else to the root. */
static void make_relative(
    const char *base, const char *from_root, char out[FBY_PATH_SIZE])
{
    size_t length = strlen(from_root);
    size_t below = base[0] != '\0' ? length_of_dir(base, from_root, length) : 0;
    if (base[0] != '\0' && below == 0) {
        *out++ = '/';
    }
    memcpy(out, from_root + below, length - below + 1);
}

const char *fby_list_resolve_path(const char *base, const char *root_dir,
    const char *path, size_t size, char out[FBY_PATH_SIZE])
{
    char   from_root[FBY_PATH_SIZE];
    size_t length = 0;
    if (size >= FBY_PATH_SIZE) {
        return "a path of more than 4095 bytes";
    }
    for (size_t i = 0; i < size; i++) {
        if (fby_is_control(path[i])) {
            return "a path with a control character in it";
        }
    }
    if (size == 0 || path[size - 1] == '/') {
        return "a path without the name of a file";
    }
    bool   is_absolute = path[0] == '/';
    size_t skip        = is_absolute ? length_of_dir(root_dir, path, size) : 0;
    bool   is_below    = is_absolute && root_dir[0] != '\0' && skip > 0;
    if (!is_absolute) {
        is_below = append_components(base, strlen(base), from_root, &length);
    }
    if (!is_below ||
        !append_components(path + skip, size - skip, from_root, &length) ||
        length == 0 || length + (base[0] != '\0') >= FBY_PATH_SIZE) {
        return out_of_root;
    }
    from_root[length] = '\0';
    make_relative(base, from_root, out);
    return NULL;
}
