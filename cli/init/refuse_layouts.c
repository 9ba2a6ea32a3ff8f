/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_layouts.c - refuse layouts of well-known data sets that are not read as
 * they are: COCO, Oxford-IIIT Pets, nnU-Net, Pascal VOC, Cityscapes, DIV2K, masks
 * with other names than their pictures.
 *
 * Without this check their folders would be taken for classes. Each error names
 * what was seen and a command that makes something that is read. */
#include "cli/init/refuse_layouts.h"

#include <stdio.h>
#include <string.h>

#include "cli/init/guess_notes.h"
#include "cli/init/guess_zip.h"
#include "cli/init/names.h"
#include "cli/init/refuse_lists.h"
#include "common/shell.h"
#include "pipeline/text.h"
#include "pipeline/unread.h"

enum { MAX_DEPTH = 3 }; /* levels of single folders, as in VOCdevkit/VOC2012 */

struct layout { /* a directory that is checked */
    struct fby_search        *search;
    const char               *path; /* below the root */
    const struct fby_listing *listing;
};

static const struct fby_entry *find_entry(
    const struct fby_listing *listing, const char *name)
{
    for (uint32_t i = 0; i < listing->count; i++) {
        if (strcmp(listing->entries[i].name, name) == 0) {
            return &listing->entries[i];
        }
    }
    return NULL;
}

/* The error of a folder that cannot be listed. FBY_CONFIG is for a layout that is
 * refused. */
static fby_err listing_error(fby_err err)
{
    return err == FBY_CONFIG ? FBY_IO : err;
}

static fby_err list_below(const struct layout *layout, const char *dir,
    struct fby_listing *out, struct fby_error_detail *why)
{
    char path[FBY_PATH_SIZE];
    FBY_TRY(fby_path_join(layout->path, dir, path, why));
    return listing_error(
        fby_guess_list_dir(layout->search, path, NULL, out, why));
}

static fby_err visit_dir(const struct layout *layout, const char *path,
    fby_listing_visit_fn *visit, void *arg, struct fby_error_detail *why)
{
    return listing_error(
        fby_guess_visit_dir(layout->search, path, NULL, visit, arg, NULL, why));
}

/* Refuse the layout with a command that writes lists into its folder. It does
 * not overwrite files. */
static fby_err refuse(const struct layout *layout, const char *reason,
    const char *command, struct fby_error_detail *why)
{
    char operand[FBY_OPERAND_SIZE];
    fby_guess_write_operand(layout->search, layout->path, operand);
    return fby_error_set(why, FBY_CONFIG,
        "%s; write a list, and run init %s: (set -C; cd %s && %s)", reason,
        layout->path[0] != '\0' ? "on that folder" : "again", operand, command);
}

/* ---- Oxford-IIIT Pets: lists and masks in annotations/ ---- */

static bool has_file(const struct layout *layout, const char *file)
{
    char path[FBY_PATH_SIZE];
    return fby_path_join(layout->path, file, path, NULL) == FBY_OK &&
           fby_object_exists(layout->search->root, path);
}

static fby_err check_pets(
    const struct layout *layout, struct fby_error_detail *why)
{
    const struct fby_entry *images = find_entry(layout->listing, "images");
    struct fby_listing      within = {0};
    if (images == NULL || !has_file(layout, "annotations/list.txt")) {
        return FBY_OK;
    }
    fby_err err = list_below(layout, "annotations", &within, why);
    if (err == FBY_OK && find_entry(&within, "trimaps") != NULL) {
        bool has_splits = has_file(layout, "annotations/trainval.txt") &&
                          has_file(layout, "annotations/test.txt");
        char command[256];
        snprintf(command, sizeof(command),
            "for s in %s; do (echo image,label,mask; awk '!/^#/ {print "
            "\"images/\" $1 \".jpg,\" $2 \",annotations/trimaps/\" $1 "
            "\".png\"}' annotations/$s.txt) > $s.csv; done",
            has_splits ? "trainval test" : "list");
        err = refuse(layout, "the annotations of Oxford-IIIT Pets are not read",
            command, why);
    }
    fby_listing_fini(&within);
    return err;
}

/* ---- nnU-Net: labelsTr/x.png of imagesTr/x_0000.png ---- */

static fby_err check_nnunet(
    const struct layout *layout, struct fby_error_detail *why)
{
    static const char  masks[] = "labelsTr";
    struct fby_listing within  = {0};
    if (find_entry(layout->listing, "imagesTr") == NULL ||
        find_entry(layout->listing, masks) == NULL) {
        return FBY_OK;
    }
    fby_err err = list_below(layout, masks, &within, why);
    if (err == FBY_OK && fby_guess_find_file(&within, ".png") != NULL) {
        err =
            refuse(layout, "nnU-Net's pictures and masks have different names",
                "(echo image,mask; ls labelsTr | sed "
                "'s|\\(.*\\)\\.png$|imagesTr/\\1_0000.png,labelsTr/&|') > "
                "train.csv",
                why);
    } else if (err == FBY_OK) {
        err = fby_error_set(why, FBY_CONFIG,
            "nnU-Net's volumes (imagesTr, labelsTr) are not read: save each "
            "slice as a PNG, images/CASE-001.png and masks/CASE-001.png, for "
            "example with nibabel and Pillow, and give that folder to init");
    }
    fby_listing_fini(&within);
    return err;
}

/* ---- ImageNet of Kaggle: val without class folders ---- */

#define ILSVRC_DATA "ILSVRC/Data/CLS-LOC"

static const char ilsvrc_command[] =
    "import csv, os; d = '" ILSVRC_DATA "/val/'; [(os.makedirs(d + c, "
    "exist_ok=True), os.rename(d + f, t)) for r in "
    "csv.DictReader(open('LOC_val_solution.csv')) for c in "
    "[r['PredictionString'].split()[0]] for f in [r['ImageId'] + '.JPEG'] for "
    "t in [d + c + '/' + f] if os.path.exists(d + f) and not "
    "os.path.exists(t)]";

static fby_err check_ilsvrc(
    const struct layout *layout, struct fby_error_detail *why)
{
    struct fby_listing within = {0};
    char               operand[FBY_OPERAND_SIZE];
    char               below[FBY_PATH_SIZE];
    if (!has_file(layout, "LOC_val_solution.csv") ||
        list_below(layout, ILSVRC_DATA "/val", &within, NULL) != FBY_OK ||
        !fby_init_has_pictures(&within)) {
        fby_listing_fini(&within);
        return FBY_OK;
    }
    fby_listing_fini(&within);
    FBY_TRY(fby_path_join(layout->path, ILSVRC_DATA, below, why));
    fby_guess_write_operand(layout->search, below, operand);
    fby_guess_advise(layout->search, layout->path, "", ilsvrc_command);
    return fby_error_set(why, FBY_CONFIG,
        "LOC_val_solution.csv has the classes of the pictures in val: move "
        "them into class folders, then: forebay init %s:",
        operand);
}

/* ---- layouts that two of their folders tell ---- */

static const struct {
    const char *folders[2];
    const char *reason;
    const char *command;
} known[] = {
    {{"JPEGImages", "ImageSets"},
        "Pascal VOC's ImageSets/ and Annotations/ are not read (the list here "
        "has the masks)",
        "for s in train val; do [ ! -e ImageSets/Segmentation/$s.txt ] || "
        "(echo "
        "image,mask; sed 's|.*|JPEGImages/&.jpg,SegmentationClass/&.png|' "
        "ImageSets/Segmentation/$s.txt) > $s.csv; done"},
    {{"leftImg8bit", "gtFine"},
        "Cityscapes' pictures and masks have different names",
        "for s in train val; do [ ! -d gtFine/$s ] || (echo image,mask; ls "
        "leftImg8bit/$s/*/*.png | sed 's|.*|&,&|; "
        "s|,leftImg8bit\\(.*\\)_leftImg8bit|,gtFine\\1_gtFine_labelIds|') > "
        "$s.csv; done"},
    {{"DIV2K_train_HR", "DIV2K_train_LR_bicubic"},
        "DIV2K's pictures of two sizes have different names",
        "for s in train valid; do [ ! -d DIV2K_${s}_HR ] || (echo hr,lr; for f "
        "in DIV2K_${s}_HR/*.png; do b=${f##*/}; set -- "
        "DIV2K_${s}_LR_bicubic/*/${b%.png}x*.png; echo $f,$1; done) > $s.csv; "
        "done"},
};

static fby_err check_known(
    const struct layout *layout, struct fby_error_detail *why)
{
    if (find_entry(layout->listing, "JPEGImages") != NULL) {
        FBY_TRY(fby_refuse_voc(layout->search, layout->path, why));
    }
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (find_entry(layout->listing, known[i].folders[0]) != NULL &&
            find_entry(layout->listing, known[i].folders[1]) != NULL) {
            return refuse(layout, known[i].reason, known[i].command, why);
        }
    }
    return FBY_OK;
}

/* ---- masks/x_mask.png of images/x.png ---- */

/* A search for the mask of a picture in a folder that may be very large. */
struct mask_search {
    const char *picture;
    size_t      stem;     /* the length of its name up to the first dot */
    bool        has_same; /* a file has the same name up to the dot */
    char        longer[FBY_NAME_SIZE]; /* a file whose name continues that, as
                                 * x_mask.png does x.png; "": none */
};

static fby_err match_mask_name(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    struct mask_search *self = arg;
    (void)why;
    if (entry->is_dir || strncmp(entry->name, self->picture, self->stem) != 0) {
        return FBY_OK;
    }
    char next = entry->name[self->stem];
    if (next == '.') {
        self->has_same = true;
    } else if ((next == '_' || next == '-') &&
               strchr(entry->name, '.') != NULL &&
               strlen(entry->name) < sizeof(self->longer)) {
        snprintf(self->longer, sizeof(self->longer), "%s", entry->name);
    }
    return FBY_OK;
}

static fby_err find_mask(const struct layout *layout, const char *dir,
    struct mask_search *out, struct fby_error_detail *why)
{
    char path[FBY_PATH_SIZE];
    FBY_TRY(fby_path_join(layout->path, dir, path, why));
    return visit_dir(layout, path, match_mask_name, out, why);
}

/* Write the command that renames the masks. Returns false if it does not fit,
 * or the end of the names would need quotes. */
static bool write_command(const struct layout *layout, const char *mask_dir,
    const struct mask_search *found, char *out, size_t size)
{
    const char *end = found->longer + found->stem; /* "_mask.png" */
    char        path[FBY_PATH_SIZE];
    char        operand[FBY_OPERAND_SIZE];
    if (fby_path_join(layout->path, mask_dir, path, NULL) != FBY_OK ||
        !fby_shell_is_plain(end + 1)) {
        return false;
    }
    fby_guess_write_operand(layout->search, path, operand);
    int n = snprintf(out, size,
        "(cd %s && for f in ./*%s; do mv -n \"$f\" \"${f%%%s}%s\"; done)",
        operand, end, end, strrchr(end, '.'));
    return n >= 0 && (size_t)n < size;
}

static fby_err compare_names(const struct layout *layout,
    const char *picture_dir, const char *mask_dir, const char *picture,
    struct fby_error_detail *why)
{
    struct mask_search found = {
        .picture = picture, .stem = strcspn(picture, ".")};
    FBY_TRY(find_mask(layout, mask_dir, &found, why));
    char pictures[FBY_PATH_SIZE];
    char masks[FBY_PATH_SIZE];
    char ending[FBY_NAME_SIZE];
    FBY_TRY(fby_path_join(layout->path, picture_dir, pictures, why));
    FBY_TRY(fby_path_join(layout->path, mask_dir, masks, why));
    if (!found.has_same && found.longer[0] == '\0') {
        return fby_refuse_prefixes(
            layout->search, pictures, masks, picture, why);
    }
    if (found.has_same ||
        fby_guess_find_picture(layout->search->root, pictures, found.longer,
            strcspn(found.longer, "."), ending)) { /* of another picture */
        return FBY_OK;
    }
    char command[288];
    bool has_command =
        write_command(layout, mask_dir, &found, command, sizeof(command));
    return fby_error_set(why, FBY_CONFIG,
        "%s/%s seems to be the mask of %s/%s, but files of a "
        "sample have one name up to the first dot: rename the masks%s%s",
        fby_text_show_begin(mask_dir, 40).text,
        fby_text_show_begin(found.longer, 40).text,
        fby_text_show_begin(picture_dir, 40).text,
        fby_text_show_begin(picture, 40).text, has_command ? ": " : "",
        has_command ? command : "");
}

static fby_err check_mask_names(
    const struct layout *layout, struct fby_error_detail *why)
{
    const char        *pictures = NULL;
    const char        *masks    = NULL;
    struct fby_listing files    = {0};
    for (uint32_t i = 0; i < layout->listing->count; i++) {
        const struct fby_entry *entry = &layout->listing->entries[i];
        if (entry->is_dir && fby_init_is_picture_name(entry->name)) {
            pictures = entry->name;
        } else if (entry->is_dir && fby_init_is_partner_name(entry->name)) {
            masks = entry->name;
        }
    }
    if (pictures == NULL || masks == NULL) {
        return FBY_OK;
    }
    fby_err     err = list_below(layout, pictures, &files, why);
    const char *picture =
        err == FBY_OK ? fby_guess_find_file(&files, "") : NULL;
    if (picture != NULL) {
        err = compare_names(layout, pictures, masks, picture, why);
    }
    fby_listing_fini(&files);
    return err;
}

/* ---- x_mask.png beside x.png ---- */

static const char mask_word[] = "_mask";

/* Keep the first name such as x_mask.png in `arg`, a char[FBY_NAME_SIZE]. */
static fby_err keep_mask_name(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    char  *name = arg;
    size_t word = strlen(mask_word);
    size_t stem = strcspn(entry->name, ".");
    (void)why;
    if (name[0] == '\0' && !entry->is_dir && stem > word &&
        strncmp(entry->name + stem - word, mask_word, word) == 0 &&
        strlen(entry->name) < FBY_NAME_SIZE && entry->name[stem] == '.') {
        snprintf(name, FBY_NAME_SIZE, "%s", entry->name);
    }
    return FBY_OK;
}

/* A picture beside a mask: x_sat.jpg beside x_mask.png. */
struct beside_search {
    const char *mask;
    size_t      stem;                 /* the length of "x" */
    char        found[FBY_NAME_SIZE]; /* "": none */
};

static fby_err match_beside(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    static const char     letters[] = "abcdefghijklmnopqrstuvwxyz"
                                      "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    struct beside_search *self      = arg;
    const char           *name      = entry->name;
    (void)why;
    if (entry->is_dir || strcmp(name, self->mask) == 0 ||
        strlen(name) >= sizeof(self->found) ||
        strncmp(name, self->mask, self->stem) != 0 ||
        (name[self->stem] != '_' && name[self->stem] != '-')) {
        return FBY_OK;
    }
    const char *word = name + self->stem + 1;
    size_t      n    = strspn(word, letters);
    if (n > 0 && word[n] == '.' && fby_init_is_picture_suffix(word + n + 1)) {
        snprintf(self->found, sizeof(self->found), "%s", name);
    }
    return FBY_OK;
}

/* Write the loops that rename the masks, also further ones of a picture such as
 * x_mask_1.png, and the pictures if they have an end of their own. Returns false
 * if the ends need quotes. */
static bool write_loops(const struct beside_search *beside, const char *dirs,
    char *out, size_t size)
{
    const char *type    = strchr(beside->mask, '.') + 1; /* "png" */
    const char *picture = beside->found + beside->stem;
    int         used    = snprintf(out, size,
                   "for f in ./%s*_mask[._]*%.30s; do mv -n \"$f\" "
                              "\"${f%%_mask[._]*}.mask${f##*_mask}\"; done",
                   dirs, type);
    if (beside->found[0] == '\0') {
        return fby_shell_is_plain(type) && strlen(type) <= 30;
    }
    snprintf(out + used, size - (size_t)used,
        "; for f in ./%s*%.30s; do mv -n \"$f\" \"${f%%%.30s}%.30s\"; done",
        dirs, picture, picture, strchr(picture, '.'));
    return fby_shell_is_plain(type) && fby_shell_is_plain(picture + 1) &&
           strlen(type) <= 30 && strlen(picture) <= 30;
}

static fby_err refuse_mask_beside(const struct layout *layout,
    const struct beside_search *beside, const char *dirs,
    struct fby_error_detail *why)
{
    char        loops[400] = "";
    char        operand[FBY_OPERAND_SIZE];
    bool        is_plain = write_loops(beside, dirs, loops, sizeof(loops));
    const char *both     = beside->found[0] != '\0' ? "both" : "the masks";
    fby_guess_write_operand(layout->search, layout->path, operand);
    return fby_error_set(why, FBY_CONFIG,
        "%.60s seems to be the mask of the picture beside it; files of a "
        "sample have one name up to the first dot, so rename %s%s%s%s%s%s",
        fby_text_show(beside->mask).text, both, is_plain ? ": (cd " : "",
        is_plain ? operand : "", is_plain ? " && " : "", is_plain ? loops : "",
        is_plain ? ")" : "");
}

/* The folder whose files are looked at: "" for the one of the listing, if it has
 * pictures, else the first in it; NULL: none. */
static const char *find_folder_of_files(const struct layout *layout)
{
    uint32_t i = 0;
    if (fby_init_has_pictures(layout->listing)) {
        return "";
    }
    while (i < layout->listing->count && !layout->listing->entries[i].is_dir) {
        i++;
    }
    return i < layout->listing->count ? layout->listing->entries[i].name : NULL;
}

/* Refuse masks that would be samples of their own. */
static fby_err check_masks_beside(
    const struct layout *layout, struct fby_error_detail *why)
{
    const char *folder              = find_folder_of_files(layout);
    char        mask[FBY_NAME_SIZE] = "";
    char        dir[FBY_PATH_SIZE];
    if (folder == NULL) {
        return FBY_OK;
    }
    FBY_TRY(fby_path_join(layout->path, folder, dir, why));
    FBY_TRY(visit_dir(layout, dir, keep_mask_name, mask, why));
    if (mask[0] == '\0') {
        return FBY_OK;
    }
    struct beside_search beside = {
        .mask = mask, .stem = strcspn(mask, ".") - strlen(mask_word)};
    char ending[FBY_NAME_SIZE];
    bool has_own = fby_guess_find_picture(
        layout->search->root, dir, mask, beside.stem, ending);
    if (!has_own) {
        FBY_TRY(visit_dir(layout, dir, match_beside, &beside, why));
    }
    return has_own || beside.found[0] != '\0'
               ? refuse_mask_beside(
                     layout, &beside, folder[0] == '\0' ? "" : "*/", why)
               : FBY_OK;
}

/* ---- the checks of a directory ---- */

/* Refuse a folder without pictures and folders if it has a file of a format
 * that is not read, as MNIST/raw. Zip archives are looked at elsewhere, and
 * pictures that are not decoded may lie beside tables. */
static fby_err check_unread(
    const struct layout *layout, struct fby_error_detail *why)
{
    const struct fby_listing *listing = layout->listing;
    struct fby_unread         unread;
    bool                      has_known =
        fby_init_has_pictures(listing) || fby_listing_has_dirs(listing);
    for (uint32_t i = 0; !has_known && i < listing->count; i++) {
        const char *name = listing->entries[i].name;
        if (!fby_guess_is_zip_path(name) && fby_unread_picture(name) == NULL &&
            fby_unread_file(name, &unread)) {
            return fby_error_set(why, FBY_CONFIG, "%s", unread.text);
        }
    }
    return FBY_OK;
}

static fby_err check_folders(
    const struct layout *layout, struct fby_error_detail *why)
{
    FBY_TRY(fby_refuse_sample_arrays(
        layout->search, layout->path, layout->listing, why));
    FBY_TRY(fby_refuse_coco(layout->search, layout->path, why));
    FBY_TRY(check_pets(layout, why));
    FBY_TRY(check_nnunet(layout, why));
    FBY_TRY(check_ilsvrc(layout, why));
    FBY_TRY(check_known(layout, why));
    FBY_TRY(
        fby_refuse_pairs(layout->search, layout->path, layout->listing, why));
    FBY_TRY(
        fby_refuse_objects(layout->search, layout->path, layout->listing, why));
    FBY_TRY(check_mask_names(layout, why));
    return check_masks_beside(layout, why);
}

/* Refuse a directory below that has a list beside its folders: a list is looked
 * for only in the directory that the user gives. */
static fby_err check_lists_below(
    const struct layout *layout, struct fby_error_detail *why)
{
    const struct fby_listing *listing = layout->listing;
    char                      operand[FBY_OPERAND_SIZE];
    uint32_t                  i = 0;
    while (i < listing->count &&
           (listing->entries[i].is_dir ||
               !(fby_text_ends_with(listing->entries[i].name, ".csv") ||
                   fby_text_ends_with(listing->entries[i].name, ".jsonl")))) {
        i++;
    }
    if (i == listing->count || layout->search->in_zip ||
        !fby_listing_has_dirs(listing)) {
        return FBY_OK;
    }
    fby_guess_write_operand(layout->search, layout->path, operand);
    return fby_error_set(why, FBY_CONFIG,
        "the list %.60s is in this folder: give init the folder itself: "
        "forebay init %s",
        fby_text_show(listing->entries[i].name).text, operand);
}

/* Check the directories below, as long as each is alone at its level. */
static fby_err check_below(
    const struct layout *outer, unsigned depth, struct fby_error_detail *why)
{
    const char        *dir     = fby_guess_find_only_dir(outer->listing);
    struct fby_listing listing = {0};
    char               path[FBY_PATH_SIZE];
    if (dir == NULL || depth == 0) {
        return FBY_OK;
    }
    struct layout layout = {.search = outer->search, .path = path};
    FBY_TRY(fby_path_join(outer->path, dir, path, why));
    fby_err err    = list_below(outer, dir, &listing, why);
    layout.listing = &listing;
    if (err == FBY_OK) {
        err = check_folders(&layout, why);
    }
    if (err == FBY_OK) {
        err = check_unread(&layout, why);
    }
    err = fby_guess_unpack_first(outer->search, err, why);
    if (err == FBY_OK) {
        err = check_lists_below(&layout, why);
    }
    if (err == FBY_OK) {
        err = fby_refuse_roles(outer->search, path, &listing, why);
    }
    if (err == FBY_CONFIG) {
        fby_error_prefix(why, err, "in %s", fby_text_show(path).text);
    } else if (err == FBY_OK) {
        err = check_below(&layout, depth - 1, why);
    }
    fby_listing_fini(&listing);
    return err;
}

fby_err fby_refuse_layout(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    const struct layout layout = {
        .search = search, .path = path, .listing = listing};
    if (search->class_depth != FBY_GUESS_ANY_DEPTH) {
        return FBY_OK; /* the user knows that they are class folders */
    }
    fby_err err = check_folders(&layout, why);
    if (err == FBY_OK) {
        err = check_unread(&layout, why);
    }
    err = fby_guess_unpack_first(search, err, why);
    if (err == FBY_OK) {
        err = fby_refuse_unused_lists(search, path, listing, why);
    }
    if (err == FBY_OK) {
        err = fby_refuse_roles(search, path, listing, why);
    }
    return err == FBY_OK ? check_below(&layout, MAX_DEPTH, why) : err;
}
