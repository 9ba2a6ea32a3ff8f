/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_data_sets.c - refuse the folders of well-known data sets that are not
 * read as they are: COCO, CIFAR-100, Oxford-IIIT Pets, nnU-Net, ImageNet of Kaggle,
 * Pascal VOC, DAVIS, Cityscapes and DIV2K.
 *
 * Each error names what was seen and a command that makes something that is
 * read. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_notes.h"
#include "cli/init/names.h"
#include "cli/init/programs.h"
#include "cli/init/refuse_layouts.h"
#include "pipeline/text.h"

static fby_err list_below(const struct fby_checked_dir *layout, const char *dir,
    struct fby_listing *out, struct fby_error_detail *why)
{
    return fby_refuse_list_below(layout->search, layout->path, dir, out, why);
}

/* Refuse the layout with a command that writes lists into its folder. It does
 * not overwrite files. */
static fby_err refuse(const struct fby_checked_dir *layout, const char *reason,
    const char *command, struct fby_error_detail *why)
{
    fby_guess_set_command(
        layout->search, layout->path, "set -C && %s", command);
    return fby_error_set(why, FBY_CONFIG,
        "%s; write a list, and run init %s:", reason,
        layout->path[0] != '\0' ? "on that folder" : "again");
}

/* ---- Oxford-IIIT Pets: lists and masks in annotations/ ---- */

static fby_err check_pets(
    const struct fby_checked_dir *layout, struct fby_error_detail *why)
{
    const struct fby_entry *images =
        fby_listing_find(layout->listing, "images");
    struct fby_listing within = {0};
    if (images == NULL || !fby_guess_has_file(layout->search->root,
                              layout->path, "annotations/list.txt")) {
        return FBY_OK;
    }
    fby_err err = list_below(layout, "annotations", &within, why);
    if (err == FBY_OK && fby_listing_find(&within, "trimaps") != NULL) {
        bool has_splits = fby_guess_has_file(layout->search->root, layout->path,
                              "annotations/trainval.txt") &&
                          fby_guess_has_file(layout->search->root, layout->path,
                              "annotations/test.txt");
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
    const struct fby_checked_dir *layout, struct fby_error_detail *why)
{
    static const char  masks[] = "labelsTr";
    struct fby_listing within  = {0};
    if (fby_listing_find(layout->listing, "imagesTr") == NULL ||
        fby_listing_find(layout->listing, masks) == NULL) {
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
    const struct fby_checked_dir *layout, struct fby_error_detail *why)
{
    struct fby_listing within = {0};
    if (!fby_guess_has_file(
            layout->search->root, layout->path, "LOC_val_solution.csv") ||
        list_below(layout, ILSVRC_DATA "/val", &within, NULL) != FBY_OK ||
        !fby_init_has_pictures(&within)) {
        fby_listing_fini(&within);
        return FBY_OK;
    }
    fby_listing_fini(&within);
    if (fby_guess_set_renames(layout->search, layout->path, FBY_PYTHON "%s\"",
            ilsvrc_command)[0] != '\0') {
        char  *command = layout->search->out->command;
        size_t used    = strlen(command);
        snprintf(command + used, FBY_GUESS_COMMAND - used, "/%s%s" ILSVRC_DATA,
            layout->path, layout->path[0] != '\0' ? "/" : "");
    }
    return fby_error_set(why, FBY_CONFIG,
        "LOC_val_solution.csv has the classes of the pictures in val: move "
        "them into class folders:");
}

/* ---- Pascal VOC, and DAVIS, which calls its folders so ---- */

/* Are the masks in a folder for each video, as the pictures? */
static bool is_davis(const struct fby_checked_dir *layout)
{
    struct fby_listing within = {0};
    bool               has_folders =
        fby_listing_find(layout->listing, "Annotations") != NULL &&
        list_below(layout, "Annotations", &within, NULL) == FBY_OK &&
        fby_listing_has_dirs(&within);
    fby_listing_fini(&within);
    return has_folders;
}

/* Add the command for the masks, which the lists of boxes do not have. */
static void advise_voc_masks(const struct fby_checked_dir *layout)
{
    char program[FBY_GUESS_COMMAND];
    if (fby_listing_find(layout->listing, "SegmentationClass") != NULL) {
        snprintf(program, sizeof(program),
            "L = [('train', 'JPEGImages', 'SegmentationClass', '.png')]; %s; "
            "%s",
            fby_program_pairs_masks, fby_program_write_lists);
        fby_guess_advise(layout->search, layout->path,
            "for the masks in SegmentationClass instead, a list in pairs/: ",
            program);
    }
}

static fby_err check_voc(
    const struct fby_checked_dir *layout, struct fby_error_detail *why)
{
    if (fby_listing_find(layout->listing, "JPEGImages") == NULL) {
        return FBY_OK;
    }
    if (fby_guess_has_file(layout->search->root, layout->path,
            "ImageSets/Segmentation/train.txt")) {
        (void)refuse(layout,
            "Pascal VOC's ImageSets/ and Annotations/ are not read (the list "
            "here has the masks)",
            "for s in train val; do [ ! -e ImageSets/Segmentation/$s.txt ] || "
            "(echo image,mask; sed "
            "'s|.*|JPEGImages/&.jpg,SegmentationClass/&.png|' "
            "ImageSets/Segmentation/$s.txt) > $s.csv; done",
            why);
        fby_advise_voc_boxes(
            layout->search, layout->path, "for boxes instead: ");
        return FBY_CONFIG;
    }
    fby_err err = fby_refuse_voc(layout->search, layout->path, why);
    if (err != FBY_OK) {
        advise_voc_masks(layout);
        return err;
    }
    if (is_davis(layout)) {
        char command[FBY_GUESS_COMMAND];
        snprintf(command, sizeof(command), FBY_PYTHON "%s; %s\"",
            fby_program_davis_lists, fby_program_write_lists);
        return refuse(layout,
            "the videos of JPEGImages/ and the masks of Annotations/ are not "
            "read as they are",
            command, why);
    }
    return FBY_OK;
}

/* ---- layouts that two of their folders tell ---- */

static const struct {
    const char *folders[2];
    const char *reason;
    const char *command;
} known[] = {
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
    const struct fby_checked_dir *layout, struct fby_error_detail *why)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (fby_listing_find(layout->listing, known[i].folders[0]) != NULL &&
            fby_listing_find(layout->listing, known[i].folders[1]) != NULL) {
            return refuse(layout, known[i].reason, known[i].command, why);
        }
    }
    return FBY_OK;
}

fby_err fby_refuse_data_sets(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    const struct fby_checked_dir layout = {search, path, listing};
    FBY_TRY(fby_refuse_coco(search, path, why));
    FBY_TRY(fby_refuse_cifar100(search, path, why));
    FBY_TRY(check_pets(&layout, why));
    FBY_TRY(check_nnunet(&layout, why));
    FBY_TRY(check_ilsvrc(&layout, why));
    FBY_TRY(check_voc(&layout, why));
    return check_known(&layout, why);
}
