/* SPDX-License-Identifier: Apache-2.0 */
/* split_json.c - names of the splits in JSON: see split_json.h. Only the begin of a
 * file is read. */
#include "cli/init/split_json.h"

#include <stdio.h>
#include <string.h>

#include "cli/init/guess_search.h"
#include "cli/init/split_names.h"

enum { BEGIN_SIZE = 1024 };

/* Skip blanks and `c`, which must follow. NULL: something else does. */
static const char *skip(const char *at, char c)
{
    if (at != NULL) {
        at += strspn(at, " \t\r\n");
    }
    return at != NULL && *at == c ? at + 1 : NULL;
}

/* Read a text in quotes. Returns what follows it; NULL: there is none. */
static const char *read_text(const char *at, char *out, size_t size)
{
    at       = skip(at, '"');
    size_t n = at != NULL ? strcspn(at, "\"\\") : 0;
    if (at == NULL || at[n] != '"' || n >= size) {
        return NULL;
    }
    memcpy(out, at, n);
    out[n] = '\0';
    return at + n + 1;
}

bool fby_split_json_read(const struct fby_root *root, const char *dir,
    const char *file, char *out, size_t size)
{
    char text[BEGIN_SIZE];
    char key[FBY_NAME_SIZE];
    if (!fby_guess_read_begin(root, dir, file, text, sizeof(text))) {
        return false;
    }
    const char *at = read_text(skip(text, '{'), key, sizeof(key));
    at             = skip(skip(at, ':'), '[');
    return at != NULL && fby_split_of_folder(key) != NULL &&
           read_text(at, out, size) != NULL;
}
