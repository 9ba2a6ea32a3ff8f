/* SPDX-License-Identifier: Apache-2.0 */
/* guess_json.c - JSON files beside the pictures of folders, or in parallel ones: no field reads them,
 * so a note has fields for the keys of the first file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/guess_folders.h"
#include "cli/init/guess_notes.h"
#include "cli/init/guess_values.h"
#include "cli/init/names.h"
#include "cli/init/text_state.h"
#include "cli/init/words.h"
#include "common/mem.h"

enum { MAX_BYTES = 1 << 20 /* of a file */, MAX_FIELDS = 3 /* of the note */ };

/* Add the keys of the file to `out`. */
static void read_keys(const struct fby_search *search, const char *path,
    struct fby_guess_split *out)
{
    struct fby_object object = {.ops = NULL};
    size_t            n      = MAX_BYTES;
    if (fby_object_open(search->root, path, &object, NULL) != FBY_OK) {
        return;
    }
    char   *text = fby_realloc(NULL, n);
    fby_err err  = fby_object_read_some(&object, 0, text, &n, NULL);
    if (err == FBY_OK) {
        err = fby_guess_add_json(out, "json", text, n, NULL);
    }
    (void)err; /* a file that is not read has no keys */
    free(text);
    fby_object_close(&object);
}

/* The settings of a field for values of this kind; NULL: no field has them. */
static const char *settings_for(enum fby_init_value kind)
{
    return kind == FBY_INIT_DIGITS   ? ", decode: label"
           : kind == FBY_INIT_NUMBER ? ""
           : kind == FBY_INIT_TEXT
               ? ", decode: text, max_length: 256, too_long: truncate"
               : NULL;
}

/* Append the fields of the first keys in files with that extension. Returns their
 * number. */
static uint32_t append_fields(const struct fby_guess_split *keys,
    const char *extension, struct fby_buffer *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < keys->n_members && n < MAX_FIELDS; i++) {
        const struct fby_init_member *key      = &keys->members[i];
        const char                   *settings = settings_for(key->value);
        char                          name[FBY_NAME_SIZE];
        if (settings != NULL) {
            fby_init_propose_name(key->key, name);
            fby_init_printf(out, "%s%s: {from: ", n++ > 0 ? "; " : "",
                fby_init_write_name(name).text);
            fby_init_printf(
                out, "%s, key: ", fby_init_write_name(extension).text);
            fby_init_append_key(out, key->key);
            fby_init_printf(out, "%s}", settings);
        }
    }
    return n;
}

void fby_guess_note_json(
    struct fby_search *search, const char *path, const char *extension)
{
    struct fby_guess_split *keys   = fby_zalloc(sizeof(*keys));
    struct fby_buffer       fields = {0};
    read_keys(search, path, keys);
    const char *folder = strrchr(extension, '.'); /* ends the folder's name */
    size_t      n      = folder != NULL ? (size_t)(folder - extension) : 0;
    if (append_fields(keys, extension, &fields) > 0) {
        fby_guess_note(search,
            "left out: the .json files %s%.*s; to read some of their keys, add "
            "to fields: %.*s",
            n > 0 ? "in " : "beside the pictures", (int)n, extension,
            (int)fields.size, (const char *)fields.data);
    } else if (n > 0) {
        fby_guess_note(search,
            "left out: the .json files in %.*s: they have no keys that a field "
            "can read; write what you need of them into a list with the paths "
            "of the pictures",
            (int)n, extension);
    }
    for (uint32_t i = 0; i < keys->n_members; i++) {
        fby_init_free_words(&keys->members[i]);
    }
    fby_buffer_fini(&fields);
    free(keys);
}
