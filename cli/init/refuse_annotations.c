/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_annotations.c - refuse the boxes of COCO and of Pascal VOC, with the
 * command that writes lists from them.
 *
 * All lists of boxes that `init` advises are alike, as YOLO has them: five
 * numbers for each box, its class, and its centre and size from 0 to 1. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_folders.h"
#include "cli/init/guess_notes.h"
#include "cli/init/programs.h"
#include "cli/init/refuse_layouts.h"
#include "cli/init/refuse_lists.h"
#include "pipeline/text.h"

#define BOXES                                                                 \
    " are not read. In a list, a box is five numbers: class, and centre and " \
    "size from 0 to 1"

/* ---- COCO ---- */

struct json_names { /* of the files in annotations/ */
    struct fby_search *search;
    const char        *dir;                  /* annotations/, below the root */
    char               first[FBY_NAME_SIZE]; /* "": none */
    bool               has_instances; /* files that are called after boxes */
    bool               has_boxes;     /* so are these, or others */
};

/* Has the file COCO's boxes? */
static bool has_boxes(const struct json_names *self, const char *name)
{
    char path[FBY_PATH_SIZE];
    char program[FBY_JQ_SIZE];
    char picture[FBY_VALUE_SIZE];
    return strncmp(name, "captions", strlen("captions")) != 0 &&
           fby_path_join(self->dir, name, path, NULL) == FBY_OK &&
           fby_guess_write_jq(self->search, path, program, picture) &&
           strcmp(program, FBY_COCO_BOXES) == 0;
}

static fby_err add_json_name(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    static const char  instances[] = "instances_";
    struct json_names *self        = arg;
    (void)why;
    if (entry->is_dir || !fby_text_ends_with(entry->name, ".json")) {
        return FBY_OK;
    }
    bool is_first = strncmp(entry->name, instances, strlen(instances)) == 0 &&
                    !self->has_instances;
    bool is_one =
        is_first || (!self->has_boxes && has_boxes(self, entry->name));
    if (self->first[0] == '\0' || is_one) {
        snprintf(self->first, sizeof(self->first), "%.60s", entry->name);
    }
    self->has_instances = self->has_instances || is_first;
    self->has_boxes     = self->has_boxes || is_one;
    return FBY_OK;
}

static fby_err refuse_coco(struct fby_search *search, const char *path,
    const struct json_names *names, struct fby_error_detail *why)
{
    struct fby_shown first        = fby_text_show(names->first);
    bool             has_captions = strncmp(names->first, "captions_", 9) == 0;
    if ((!names->has_boxes && !has_captions) || search->in_zip) {
        return fby_error_set(why, FBY_CONFIG,
            "COCO's annotations (annotations/%s) are not read: write a list "
            "with a line for each picture into the same folder, train.jsonl: "
            "{\"image\": \"train2017/1.jpg\", \"caption\": \"a cat\", "
            "\"boxes\": [3, 0.5, 0.5, 0.2, 0.2, 7, 0.1, 0.1, 0.2, 0.2]}, two "
            "boxes of five numbers, or [] for none; or give a folder of the "
            "pictures alone",
            first.text);
    }
    fby_guess_set_command(search, path, FBY_PYTHON "%s; %s; %s; %s\"",
        fby_program_coco_lists, fby_program_boxes_upright,
        fby_program_boxes_coco, fby_program_write_lists);
    if (!names->has_boxes) {
        return fby_error_set(why, FBY_CONFIG,
            "COCO's captions (annotations/%s) are not read: give init a folder "
            "of the pictures alone, or write lists and run it again:",
            first.text);
    }
    return fby_error_set(why, FBY_CONFIG,
        "COCO's annotations (annotations/%s)" BOXES
        ". Give init a folder of the pictures alone, or write lists and run it "
        "again:",
        first.text);
}

static bool is_labelme(struct fby_search *search, const char *dir)
{
    enum fby_boxes_kind kind = fby_guess_find_boxes(search, dir, false);
    return kind == FBY_BOXES_LABELME || kind == FBY_BOXES_POLYGONS;
}

fby_err fby_refuse_coco(
    struct fby_search *search, const char *path, struct fby_error_detail *why)
{
    static const char roboflow[] = "_annotations.coco.json";
    char              dir[FBY_PATH_SIZE];
    struct json_names names = {.search = search, .dir = dir};
    if (fby_guess_has_file(search->root, path, roboflow)) {
        fby_guess_set_renames(search, "", FBY_PYTHON "%s; %s; %s; %s; %s\"",
            fby_program_roboflow_lists, fby_program_boxes_upright,
            fby_program_boxes_coco, fby_program_write_lists,
            fby_program_roboflow_names);
        return fby_error_set(why, FBY_CONFIG,
            "COCO's annotations (%s)" BOXES
            ". Write lists (and _ for dots in names of pictures):",
            roboflow);
    }
    FBY_TRY(fby_path_join(path, "annotations", dir, why));
    fby_err err = fby_guess_visit_dir(
        search, dir, NULL, add_json_name, &names, NULL, why);
    if (err == FBY_OK && names.first[0] != '\0' && !is_labelme(search, dir)) {
        return refuse_coco(search, path, &names, why);
    }
    return err == FBY_NOT_FOUND || err == FBY_CONFIG ? FBY_OK : err;
}

/* ---- Pascal VOC ---- */

bool fby_advise_voc_boxes(
    struct fby_search *search, const char *path, const char *lead)
{
    char program[FBY_GUESS_COMMAND];
    if (search->in_zip ||
        !fby_guess_has_file(search->root, path, "ImageSets/Main/train.txt")) {
        return false;
    }
    snprintf(program, sizeof(program), "%s; %s; %s; %s; %s",
        fby_program_voc_lists, fby_program_boxes_voc, fby_program_boxes_upright,
        fby_program_boxes_objects, fby_program_write_lists);
    fby_guess_advise(search, path, lead, program);
    return true;
}

fby_err fby_refuse_voc(
    struct fby_search *search, const char *path, struct fby_error_detail *why)
{
    if (!fby_advise_voc_boxes(search, path, "")) {
        return FBY_OK;
    }
    char operand[FBY_OPERAND_SIZE];
    fby_guess_write_operand(search, path, operand);
    return fby_error_set(why, FBY_CONFIG,
        "Pascal VOC's ImageSets/ and Annotations/" BOXES
        ". Write lists, then: forebay init %s; the command prints the classes:",
        operand);
}
