/* SPDX-License-Identifier: Apache-2.0 */
/* guess_links.c - note where links lead that leave the searched directory.
 *
 * A worker follows a link only beneath its roots, so each such directory must
 * be one more root. Directories in the same directory are noted as that one:
 * a/1 and a/2 become a. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_search.h"

/* Remove the last component of an absolute path; "/" stays as it is. */
static void cut_last(char *path)
{
    char *slash                  = strrchr(path, '/');
    slash[slash == path ? 1 : 0] = '\0';
}

static bool is_beneath(const char *dir, const char *path)
{
    size_t n = strcmp(dir, "/") == 0 ? 0 : strlen(dir);
    return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

/* Shorten `a` to the directory that it and `b` are in, as few components as
 * needed. */
static void cut_to_common(char *a, const char *b)
{
    while (!is_beneath(a, b)) {
        cut_last(a);
    }
}

/* Are both in the same directory, other than "/"? */
static bool are_siblings(const char *a, const char *b)
{
    size_t n = (size_t)(strrchr(a, '/') - a);
    return n > 0 && n == (size_t)(strrchr(b, '/') - b) && memcmp(a, b, n) == 0;
}

/* The entry with which `dir` is to be merged; out->n_linked: none. */
static uint32_t find_entry(const struct fby_guess *out, const char *dir)
{
    uint32_t i = 0;
    while (i < out->n_linked && !is_beneath(out->linked[i], dir) &&
           !is_beneath(dir, out->linked[i]) &&
           !are_siblings(out->linked[i], dir)) {
        i++;
    }
    return i == FBY_GUESS_LINKED ? i - 1 : i;
}

static void add_dir(struct fby_guess *out, const char *dir)
{
    uint32_t i = find_entry(out, dir);
    if (i == out->n_linked) {
        memcpy(out->linked[i], dir, strlen(dir) + 1);
        out->n_linked++;
    } else {
        cut_to_common(out->linked[i], dir);
    }
}

void fby_guess_note_link(void *arg, const char *target)
{
    struct fby_search *search = arg;
    char               dir[FBY_PATH_SIZE];
    if (search->ignores_links) {
        return;
    }
    snprintf(dir, sizeof(dir), "%s", target);
    if (strrchr(dir, '/') != dir) { /* never propose "/" for a folder in it */
        cut_last(dir);
    }
    pthread_mutex_lock(&search->lock);
    add_dir(search->out, dir);
    pthread_mutex_unlock(&search->lock);
}
