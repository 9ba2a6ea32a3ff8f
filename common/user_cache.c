/* SPDX-License-Identifier: Apache-2.0 */
/* user_cache.c - the user's cache directory. */
#include "common/user_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/mem.h"

const char *fby_user_cache_dir(char *out, size_t size)
{
    const char *forebay = getenv("FOREBAY_CACHE_DIR");
    const char *xdg     = getenv("XDG_CACHE_HOME");
    const char *home    = getenv("HOME");
    int         n       = -1; /* length of the path */
    if (forebay != NULL && forebay[0] != '\0') {
        n = snprintf(out, size, "%s", forebay);
    } else if (xdg != NULL && xdg[0] == '/') {
        n = snprintf(out, size, "%s/forebay", xdg);
    } else if (home != NULL && home[0] == '/') {
        n = snprintf(out, size, "%s/.cache/forebay", home);
    }
    if (n <= 0 || (size_t)n >= size) {
        out[0] = '\0';
    }
    return out;
}

void fby_make_dirs_of(const char *file)
{
    char *path  = fby_strdup(file);
    char *slash = strchr(path + (path[0] != '\0'), '/');
    while (slash != NULL) {
        *slash = '\0';
        (void)mkdir(path, 0777);
        *slash = '/';
        slash  = strchr(slash + 1, '/');
    }
    free(path);
}
