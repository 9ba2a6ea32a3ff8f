/* SPDX-License-Identifier: Apache-2.0 */
/* guess_tar_names.c - what the names in tar shards tell about samples that are
 * pictures alone: folders that may be classes, and tar files in a tar file.
 *
 * A shard has no classes: the label of a sample is a member of its own. So the
 * user gets the command that unpacks the shards into folders. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_notes.h"
#include "cli/init/guess_tars.h"
#include "cli/init/names.h"
#include "common/shell.h"
#include "pipeline/text.h"

struct folder_name { /* the folder of a sample, in its key */
    const char *path;
    size_t      size; /* bytes, without the slash behind it */
};

struct tar_folders {                 /* of all samples of the shards */
    struct folder_name first, other; /* two that differ; other.path NULL: one */
    size_t             common; /* bytes of the path that all of them are in */
};

/* The folder of a key, without the slashes before it, which tar removes. */
static struct folder_name folder_of(const char *key)
{
    const char *path  = key + strspn(key, "/");
    const char *slash = strrchr(path, '/');
    return (struct folder_name){
        path, slash != NULL ? (size_t)(slash - path) : 0};
}

static bool is_same(struct folder_name a, struct folder_name b)
{
    return a.size == b.size && memcmp(a.path, b.path, a.size) == 0;
}

/* The bytes of whole folders, up to `size`, that both begin with. */
static size_t common_size(
    struct folder_name a, struct folder_name b, size_t size)
{
    size_t end = 0;
    for (size_t i = 0; i <= size && i <= a.size && i <= b.size; i++) {
        bool a_ends = i == a.size || a.path[i] == '/';
        bool b_ends = i == b.size || b.path[i] == '/';
        if (a_ends && b_ends) {
            end = i;
        }
        if (i == a.size || i == b.size || a.path[i] != b.path[i]) {
            break;
        }
    }
    return end;
}

static struct tar_folders find_folders(
    const struct fby_shard *shards, uint32_t n_shards)
{
    struct tar_folders out = {.first = {.path = NULL}};
    for (uint32_t i = 0; i < n_shards; i++) {
        for (uint32_t s = 0; s < shards[i].n_samples; s++) {
            struct folder_name name = folder_of(fby_shard_key(&shards[i], s));
            if (out.first.path == NULL) {
                out = (struct tar_folders){.first = name, .common = name.size};
            } else if (!is_same(out.first, name)) {
                out.common = common_size(out.first, name, out.common);
                out.other  = out.other.path == NULL ? name : out.other;
            }
        }
    }
    return out;
}

/* The last folder of the path. */
static struct fby_shown last_folder(struct folder_name folder)
{
    char        text[FBY_PATH_SIZE];
    const char *slash = NULL;
    snprintf(text, sizeof(text), "%.*s", (int)folder.size,
        folder.path != NULL ? folder.path : "");
    slash = strrchr(text, '/');
    return fby_text_show(slash != NULL ? slash + 1 : text);
}

/* False for folders that only divide many samples, such as 00017. */
static bool may_be_class(const char *name)
{
    size_t n = strspn(name, "0123456789");
    return name[0] != '\0' && (name[n] != '\0' || n < 4);
}

/* True if at least half of the samples have such a member. */
static bool is_usual(
    const struct fby_guess_split *split, const struct fby_init_member *member)
{
    return 2 * member->count >= split->samples;
}

/* True if samples are pictures, and nothing more. */
static bool has_only_pictures(const struct fby_guess_split *split)
{
    bool has_picture = false;
    for (uint32_t i = 0; i < split->n_members; i++) {
        bool is_picture = fby_init_is_picture(&split->members[i]);
        has_picture     = has_picture || is_picture;
        if (!is_picture && is_usual(split, &split->members[i])) {
            return false;
        }
    }
    return has_picture;
}

static bool has_tars(const struct fby_guess_split *split)
{
    for (uint32_t i = 0; i < split->n_members; i++) {
        if (fby_init_has_type(split->members[i].extension, "tar") &&
            is_usual(split, &split->members[i])) {
            return true;
        }
    }
    return false;
}

/* ---- the commands ---- */

/* Write the words for the shards of a split, of which `first` is one: "t.tar", or
 * "train-[0-9]*.tar" if there are several. */
static void name_shards(const struct fby_guess_split *split, const char *first,
    char *out, size_t size)
{
    const char *slash   = strrchr(first, '/');
    const char *name    = slash != NULL ? slash + 1 : first;
    const char *pattern = strrchr(split->pattern, '/');
    size_t      prefix  = strcspn(pattern != NULL ? pattern + 1 : "", "{*?");
    if (split->shards == 1) {
        snprintf(out, size, "%s", first);
    } else {
        snprintf(out, size, "%.*s[0-9]*.tar", (int)(name - first) + (int)prefix,
            first);
    }
}

/* Write the command that unpacks the shards into folders, and looks at them.
 * Without a folder that has all samples, the folder `unpacked` is made. */
static bool write_unpack(const struct fby_search *search,
    const struct fby_guess_split *split, const struct tar_folders *folders,
    const char *first, char *out, size_t size)
{
    char tars[FBY_PATH_SIZE + 8];
    char operand[FBY_OPERAND_SIZE];
    char dir[FBY_PATH_SIZE] = "unpacked";
    if (folders->common > 0) {
        snprintf(dir, sizeof(dir), "%.*s", (int)folders->common,
            folders->first.path);
    }
    name_shards(split, first, tars, sizeof(tars));
    fby_guess_write_operand(search, "", operand);
    const char *make = folders->common > 0 ? "" : "mkdir unpacked && ";
    const char *into = folders->common > 0 ? "" : " -C unpacked";
    int         n    = split->shards == 1
                           ? snprintf(out, size,
                                 "cd %s && %star -xf ./%s%s && forebay init %s", operand,
                                 make, tars, into, dir)
                           : snprintf(out, size,
                                 "cd %s && %sfor f in ./%s; do tar -xf \"$f\"%s; done; "
                                            "forebay init %s",
                                 operand, make, tars, into, dir);
    return n >= 0 && (size_t)n < size && fby_shell_is_plain(first) &&
           fby_shell_is_plain(dir);
}

/* ---- the checks ---- */

enum { COMMAND = 360 /* bytes */ };

static fby_err refuse_tars(const struct fby_search *search,
    const struct fby_shard *shard, const struct tar_folders *folders,
    struct fby_error_detail *why)
{
    char operand[FBY_OPERAND_SIZE];
    fby_guess_write_operand(search, "", operand);
    char command[COMMAND];
    char dir[FBY_PATH_SIZE];
    snprintf(dir, sizeof(dir), "%.*s%s", (int)folders->common,
        folders->first.path, folders->common > 0 ? "/" : "");
    int  n           = snprintf(command, sizeof(command),
                   ": (cd %s && mkdir classes && cd classes && tar -xf ../%s && for f in "
                              "./%s*.tar; "
                              "do d=${f%%.tar}; mkdir \"$d\" && tar -xf \"$f\" -C \"$d\" && rm "
                              "\"$f\" || exit; done)",
                   operand, shard->name, dir);
    bool has_command = n >= 0 && n < (int)sizeof(command) &&
                       fby_shell_is_plain(shard->name) &&
                       fby_shell_is_plain(dir);
    return fby_error_set(why, FBY_CONFIG,
        "%s holds tar files; unpack each into a folder of its name%s",
        fby_text_show(shard->name).text, has_command ? command : "");
}

static fby_err refuse_parallel(struct fby_shown first, struct fby_shown other,
    const char *command, struct fby_error_detail *why)
{
    return fby_error_set(why, FBY_CONFIG,
        "the files of a sample in a tar have one name up to the first dot, and "
        "folders (%s, %s) are a part of it; unpack the tar%s%s",
        first.text, other.text, command[0] != '\0' ? ": " : "", command);
}

static bool are_parallel(struct fby_shown a, struct fby_shown b)
{
    return (fby_init_is_picture_name(a.text) &&
               fby_init_is_partner_name(b.text)) ||
           (fby_init_is_picture_name(b.text) &&
               fby_init_is_partner_name(a.text));
}

/* Note that the samples have no labels, and which folders may be labels. */
static void note_folders(struct fby_search *search, struct fby_shown first,
    struct fby_shown other, const char *command)
{
    if (may_be_class(first.text) && may_be_class(other.text)) {
        fby_guess_note(search,
            "note: no labels: folders in a tar (%s, %s) are not read as "
            "classes; to "
            "use them, unpack it%s%s",
            first.text, other.text, command[0] != '\0' ? ": " : "", command);
    } else {
        fby_guess_note(search,
            "note: no labels: the samples are pictures alone, without .cls or "
            ".json");
    }
}

fby_err fby_guess_tar_names(struct fby_search *search,
    struct fby_guess_split *split, const struct fby_shard *shards, uint32_t n,
    struct fby_error_detail *why)
{
    struct tar_folders folders          = find_folders(shards, n);
    char               command[COMMAND] = "";
    if (has_tars(split)) {
        return refuse_tars(search, &shards[0], &folders, why);
    }
    if (!has_only_pictures(split)) {
        return FBY_OK;
    }
    split->only_pictures   = true;
    split->in_folder       = folders.common > 0;
    struct fby_shown first = last_folder(folders.first);
    struct fby_shown other = last_folder(folders.other);
    if (!write_unpack(search, split, &folders, shards[0].name, command,
            sizeof(command))) {
        command[0] = '\0';
    }
    if (are_parallel(first, other)) {
        return refuse_parallel(first, other, command, why);
    }
    note_folders(search, first, other, command);
    return FBY_OK;
}
