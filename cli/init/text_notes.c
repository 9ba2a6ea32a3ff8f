/* SPDX-License-Identifier: Apache-2.0 */
/* text_notes.c - the lines for the terminal on members that no field reads as
 * they are: pictures that are no masks, grey of 16 bits, words of classes, and
 * coordinates. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/guess_values.h"
#include "cli/init/names.h"
#include "cli/init/programs.h"
#include "cli/init/text_state.h"
#include "cli/init/words.h"
#include "common/plural.h"
#include "common/shell.h"
#include "pipeline/location.h"
#include "pipeline/sources/traits.h"
#include "pipeline/text.h"

/* Functions of the programs that change pictures in a folder of links: put(array, f)
 * replaces the link f by a picture, and find(p) lists the files with the pattern p. */
static const char pictures[] =
    "; import glob, numpy as n; from PIL import Image as I; put = lambda a, f: "
    "(os.remove(f), I.fromarray(a.astype('u1')).save(f)); find = lambda p: "
    "glob.glob(glob.escape(W) + '/**/' + p, recursive=True); ";

/* Scales the PNG files of 16 bits in grey. */
#define SCALE_GREY16                                                     \
    "[put(n.array(p) >> 8, f) for f in find('*.[pP][nN][gG]') for p in " \
    "[I.open(f)] if p.mode[0] == 'I']"

enum {
    WORD = 400, /* bytes of a path in a command */
    MASKS_SIZE =
        FBY_PATH_SIZE + 1024 /* bytes of the settings that find masks */
};

/* The bytes of a path before "/{images,masks}", or all of them. */
static size_t length_of_folder(const char *path)
{
    const char *brace = strstr(path, "/{");
    return brace != NULL ? (size_t)(brace - path) : strlen(path);
}

/* Are the splits in folders of their own: train/images and val/images? */
static bool has_split_folders(const struct fby_init_summary *data)
{
    size_t size   = length_of_folder(data->path);
    bool   differ = false;
    for (size_t i = 0; i < data->n_others; i++) {
        differ = differ || length_of_folder(data->others[i].path) != size ||
                 memcmp(data->others[i].path, data->path, size) != 0;
    }
    return differ;
}

/* Write the folder of the lists below the root of their files, "pairs", or "" for
 * that itself. Returns the bytes of the path of the root, in *root_p. */
static size_t split_list_path(const struct fby_init_summary *data,
    const char **root_p, char below[FBY_PATH_SIZE])
{
    const char *colon = strchr(data->path, ':');
    const char *slash = strrchr(data->path, '/');
    bool        is_in = data->roots.data != NULL && data->roots.data[0] != '\0';
    *root_p           = is_in ? data->roots.data : data->path;
    below[0]          = '\0';
    if (is_in && colon != NULL && slash != NULL) {
        snprintf(
            below, FBY_PATH_SIZE, "%.*s", (int)(slash - colon) - 1, colon + 1);
    }
    return is_in ? strlen(*root_p)
                 : (slash != NULL ? (size_t)(slash - data->path) : 0);
}

/* Write the folder with the files of all splits as a word of a command, and to
 * `below` that of their lists in it. Returns false if there is none. */
static bool write_folder(const struct fby_init_summary *data, char out[WORD],
    char below[FBY_PATH_SIZE])
{
    const char *path = data->path;
    char        dir[FBY_PATH_SIZE];
    size_t      size = length_of_folder(data->path);
    below[0]         = '\0';
    if (data->kind == FBY_SOURCE_LIST) {
        size = split_list_path(data, &path, below);
    } else if (data->kind != FBY_SOURCE_FOLDER &&
               data->kind != FBY_SOURCE_PARALLEL) {
        return false;
    }
    if (fby_location_zip_length(data->path, 0) > 0 ||
        (below[0] != '\0' && !fby_shell_is_plain(below))) {
        return false;
    }
    if (data->kind != FBY_SOURCE_LIST &&
        has_split_folders(data)) { /* the folder that holds them */
        do {
            size--;
        } while (size > 1 && data->path[size] != '/');
    }
    snprintf(dir, sizeof(dir), "%.*s", (int)size, path);
    return size > 1 && fby_shell_quote(dir, out, WORD);
}

/* Append the command that writes other pictures into a new folder, DIR`ending`, with
 * `settings` and `program`. It ends with the init of the folder `below` in that. */
static void append_new_folder(const char *dir, const char *settings,
    const char *program, const char *ending, const char *below,
    struct fby_buffer *out)
{
    static const char begin[] = " && " FBY_PYTHON "O = sys.argv[1]; ";
    const char *const parts[] = {"(cd ", dir, begin, fby_program_folder_begin,
        "; ", fby_program_link_tree, pictures, settings, program, "; ",
        fby_program_folder_end, "\" ", dir, ending, ") && forebay init ", dir,
        ending, below[0] != '\0' ? "/" : "", below, "\n"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        fby_init_append(out, parts[i]);
    }
}

/* Write the settings that find the masks of the member for number_colours.py. Returns
 * false if a name needs quotes, or is none of masks. */
static bool write_masks(const struct fby_init_summary *data,
    const struct fby_init_member *member, const char *below, char *out,
    size_t size)
{
    const char *extension = member->extension;
    const char *dot       = strrchr(extension, '.');
    int         n         = dot != NULL ? (int)(dot - extension) : 0;
    if (!fby_shell_is_plain(extension) || n == 0 ||
        (data->kind != FBY_SOURCE_PARALLEL &&
            !fby_init_is_partner_name(extension))) {
        return false;
    }
    if (data->kind == FBY_SOURCE_LIST) {
        snprintf(out, size, "D = '%s'; C = '%.*s'; %s; ", below, n, extension,
            fby_program_listed_files);
    } else if (data->kind == FBY_SOURCE_PARALLEL) {
        snprintf(out, size, "files = find('%.*s/**/*.png'); ", n, extension);
    } else {
        snprintf(out, size, "files = find('*.%s'); ", extension);
    }
    return true;
}

static void append_colours(const struct fby_init_summary *data,
    const struct fby_init_member *member, struct fby_buffer *out)
{
    char word[WORD];
    char below[FBY_PATH_SIZE];
    char settings[MASKS_SIZE];
    bool is_late = member->no_ids[0] != '\0';
    fby_init_printf(out,
        "left out: %s: %s%s; if it is a second picture, remove the # of its "
        "field in the file",
        member->extension, is_late ? member->no_ids : "its colours are",
        is_late ? ", so it has no class ids" : " no class ids");
    if ((is_late && strstr(member->no_ids, " has colours") == NULL) ||
        !write_folder(data, word, below) ||
        !write_masks(data, member, below, settings, sizeof(settings))) {
        fby_init_append(out, "; masks are PNG in grey or with a palette\n");
        return;
    }
    fby_init_append(out, "; to number them: ");
    append_new_folder(
        word, settings, fby_program_number_colours, "-numbered", below, out);
}

static void append_left_out(const struct fby_init_summary *data,
    const struct fby_init_member *member, struct fby_buffer *out)
{
    if (member->is_grey16) {
        fby_init_printf(out,
            "left out: %s: ids of masks have 8 bits, not 16; save other values "
            "as .npy files, and read these with decode: array\n",
            member->extension);
    } else if (fby_init_has_type(member->extension, "png")) {
        append_colours(data, member, out);
    } else if (!fby_init_is_partner_name(member->extension)) {
        fby_init_printf(out,
            "left out: %s: a second picture; if it is needed, remove the # of "
            "its field in the file (of a mask, this compression changes class "
            "ids)\n",
            member->extension);
    } else {
        fby_init_printf(out,
            "left out: %s: its compression changes class ids; save masks as "
            "PNG in grey or with a palette; if it is a second picture, remove "
            "the # of its field in the file\n",
            member->extension);
    }
}

/* Add a note on further pictures of some samples, as x.mask_1.png. */
static void append_partial(const struct fby_init_summary *data,
    const struct fby_init_member *image, const struct fby_init_member *member,
    struct fby_buffer *out)
{
    if (fby_init_is_picture(member) && !member->always &&
        !fby_source_traits(data->kind)->has_names &&
        !fby_init_is_same_image(data, image, member)) {
        fby_init_printf(out,
            "left out: %s: of only %s%s%s; write such a file for each sample, "
            "or merge it into another mask\n",
            member->extension, fby_plural(member->count, "sample").text,
            member->lacking[0] != '\0' ? ", and none of " : "",
            member->lacking);
    }
}

/* Grey of 16 bits is clipped at 255. Beside other pictures it may be depths, which
 * a command that scales them would destroy. */
static void append_grey16(
    const struct fby_init_summary *data, bool is_all, struct fby_buffer *out)
{
    char word[WORD];
    char below[FBY_PATH_SIZE];
    fby_init_printf(out,
        "note: %s grey of 16 bits: all above 255 becomes white, as Pillow's "
        "convert(\"RGB\") does; %s",
        is_all ? "the pictures are" : "some pictures are",
        is_all ? "scale them to 8 bits"
               : "scale copies of them to 8 bits, or, if they are depths, move "
                 "them out of the pictures");
    if (is_all && write_folder(data, word, below)) {
        fby_init_append(out, ": ");
        append_new_folder(word, "", SCALE_GREY16, "-8bit", below, out);
    } else {
        fby_init_append(out, "\n");
    }
}

/* True if a picture of the field of `image` may be grey of 16 bits. */
static bool has_grey16(
    const struct fby_init_summary *data, const struct fby_init_member *image)
{
    bool found = image->is_grey16;
    for (size_t i = 0; i < data->n_members; i++) {
        found =
            found || (data->members[i].has_grey16 &&
                         !fby_init_is_left_out(data, image, &data->members[i]));
    }
    return found;
}

/* Masks of 0 and 255 are probably meant as 0 and 1. */
static void append_binary_mask(const struct fby_init_member *image,
    const struct fby_init_member *member, struct fby_buffer *out)
{
    if (member != image && member->may_be_ids && member->always &&
        member->has_255 && !member->has_other_ids) {
        fby_init_printf(out,
            "note: %s: the first masks have only 0 and 255, which stay as they "
            "are; for 0 and 1 write decode: maps in place of decode: mask8\n",
            member->extension);
    }
}

/* ---- columns and keys of classes ---- */

/* The name of the column, or of the key. */
static const char *name_of(const struct fby_init_member *member)
{
    return member->key[0] != '\0' ? member->key : member->extension;
}

/* Add a note if the words are taken as classes only because they repeat. */
static void append_repeated(
    const struct fby_init_member *member, struct fby_buffer *out)
{
    bool has_key = member->key[0] != '\0';
    if (fby_init_is_named_label(member)) {
        return;
    }
    fby_init_append(out, has_key ? "note: key " : "note: column ");
    fby_init_append_key(out, name_of(member));
    fby_init_printf(out,
        " is taken as %u classes, since its texts repeat; to have the texts: "
        "{from: %s%s",
        member->words->range.n, fby_init_write_name(member->extension).text,
        has_key ? ", key: " : "");
    fby_init_append_key(out, member->key);
    fby_init_printf(out,
        ", decode: text, max_length: %u, too_long: truncate}\n",
        fby_init_text_limit(member, member->longest));
}

/* Add a note if a word is beside numbers, such as NaN. */
static void append_word_among_numbers(
    const struct fby_init_member *member, struct fby_buffer *out)
{
    const char *word      = NULL;
    uint32_t    n_numbers = 0;
    for (uint32_t i = 0; i < member->words->range.n; i++) {
        const char *other = fby_init_sorted_word(member->words, i);
        if (fby_guess_is_digits(other, strlen(other))) {
            n_numbers++;
        } else {
            word = other;
        }
    }
    if (word != NULL && n_numbers >= 2) {
        fby_init_printf(out,
            "note: '%s' of %s %s is a class beside numbers: change it, if it "
            "is none\n",
            fby_text_show(word).text, member->key[0] != '\0' ? "key" : "column",
            name_of(member));
    }
}

/* Add the notes on the words of members that are classes. */
static void append_classes(
    const struct fby_init_summary *data, struct fby_buffer *out)
{
    for (size_t i = 0; i < data->n_members; i++) {
        const struct fby_init_member *member = &data->members[i];
        if (!fby_init_are_classes(member)) {
            continue;
        }
        append_repeated(member, out);
        append_word_among_numbers(member, out);
        if (member->unknown_class[0] != '\0') {
            fby_init_printf(out,
                "note: %s, which is no class of %s in train: add it to names "
                "in the file, or it is refused there\n",
                member->unknown_class, name_of(member));
        }
    }
}

static void append_coordinates(
    const struct fby_init_summary *data, struct fby_buffer *out)
{
    char names[FBY_INIT_COORDINATES];
    if (fby_init_list_coordinates(data, names, sizeof(names))) {
        fby_init_printf(out,
            "note: no op moves %s with the picture, so it is only resized: "
            "coordinates must be relative to the picture (0 to 1); others are "
            "those of the original picture\n",
            names);
    } else if (fby_init_find_image(data) != NULL &&
               data->evaluation_split == NULL &&
               fby_init_list_flipped(data, names, sizeof(names))) {
        fby_init_printf(out,
            "note: a horizontal flip would change left and right in %s, so the "
            "picture is not flipped\n",
            names);
    }
    if (fby_init_list_maps(data, names, sizeof(names))) {
        fby_init_printf(out,
            "note: no op moves %s with the picture, whose height and width it "
            "has, so the picture is only resized\n",
            names);
    }
}

/* Add notes on columns of texts that are numbers in most rows. */
static void append_numbers(
    const struct fby_init_summary *data, struct fby_buffer *out)
{
    for (size_t i = 0; i < data->n_members; i++) {
        const struct fby_init_member *member = &data->members[i];
        bool                          is_text =
            member->value == FBY_INIT_TEXT && !fby_init_are_classes(member);
        if (is_text && member->has_huge) {
            fby_init_printf(out,
                "note: column %s has whole numbers that are too large for i64: "
                "leave it out, or read it as text\n",
                name_of(member));
        } else if (is_text && member->always && member->n_numbers > 0 &&
                   4 * member->n_numbers >= 3 * member->n_values) {
            fby_init_printf(out,
                "note: column %s is text because row %" PRIu64 " has '%s'",
                name_of(member), member->text_row, member->text_value);
            if (member->n_texts > 1) {
                fby_init_printf(
                    out, " (and %" PRIu64 " more)", member->n_texts - 1);
            }
            fby_init_append(out, "; to have numbers: write one there, as 1200.5"
                                 " or 0.03, or remove the row, and run init "
                                 "again\n");
        }
    }
}

/* Add notes on numbers of which f32, their wire type, holds no fraction. */
static void append_rounded(
    const struct fby_init_summary *data, struct fby_buffer *out)
{
    for (size_t i = 0; i < data->n_members; i++) {
        const struct fby_init_member *member = &data->members[i];
        bool is_read = member->value == FBY_INIT_NUMBER ||
                       member->value == FBY_INIT_NUMBER_LISTS;
        if (is_read && member->rounded != 0 && !member->has_wide) {
            fby_init_printf(out,
                "note: f32 rounds %s %s, as %.2f to %.0f: write whole numbers, "
                "such as milliseconds, which are read as i64, or the "
                "differences to the smallest number\n",
                member->key[0] != '\0' ? "key" : "column", name_of(member),
                member->rounded, (double)(float)member->rounded);
        }
    }
}

/* Add notes on numbers in digits that lose the zeros before them. */
static void append_padded(
    const struct fby_init_summary *data, struct fby_buffer *out)
{
    for (size_t i = 0; i < data->n_members; i++) {
        const struct fby_init_member *member = &data->members[i];
        if (member->value == FBY_INIT_DIGITS && member->padded[0] != '\0') {
            fby_init_printf(out,
                "note: column %s has numbers, and %s is read as %lu; for texts "
                "replace its field by {from: %s, decode: text, max_length: %u, "
                "too_long: truncate}\n",
                name_of(member), member->padded,
                strtoul(member->padded, NULL, 10),
                fby_init_write_name(member->extension).text,
                fby_init_round_up(member->longest));
        }
    }
}

/* Add a note on the texts of tar samples that are cut. */
static void append_long_texts(
    const struct fby_init_summary *data, struct fby_buffer *out)
{
    for (size_t i = 0; i < data->n_members; i++) {
        const struct fby_init_member *member = &data->members[i];
        if (data->kind == FBY_SOURCE_SHARDS && fby_init_is_text(member) &&
            member->longest > FBY_INIT_MAX_TEXT) {
            fby_init_printf(out,
                "note: %s: texts have up to %u bytes, and are cut after %d: "
                "for more, raise max_length in the file\n",
                member->extension, member->longest, FBY_INIT_MAX_TEXT);
        }
    }
}

void fby_init_append_notes(
    const struct fby_init_summary *data, struct fby_buffer *out)
{
    const struct fby_init_member *image =
        fby_source_traits(data->kind)->has_rows ? NULL
                                                : fby_init_find_image(data);
    for (size_t i = 0; image != NULL && i < data->n_members; i++) {
        const struct fby_init_member *member = &data->members[i];
        if (fby_init_is_left_out(data, image, member)) {
            append_left_out(data, member, out);
        }
        append_partial(data, image, member, out);
        append_binary_mask(image, member, out);
        if (fby_init_is_mask(data, image, member)) {
            fby_init_append_fit_note(out, data, image, member);
            fby_init_append_orientation_note(out, data, image, member);
        }
    }
    if (image != NULL && has_grey16(data, image)) {
        append_grey16(data, image->is_grey16, out);
    }
    if (image != NULL) {
        append_coordinates(data, out);
    }
    append_long_texts(data, out);
    append_numbers(data, out);
    append_rounded(data, out);
    append_padded(data, out);
    append_classes(data, out);
}
