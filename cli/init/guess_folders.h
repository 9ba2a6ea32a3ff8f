/* SPDX-License-Identifier: Apache-2.0 */
/* guess_folders.h - recognise folders of pictures: class folders, a folder
 * without classes, and parallel folders such as images and masks. */
#ifndef FBY_CLI_INIT_GUESS_FOLDERS_H
#define FBY_CLI_INIT_GUESS_FOLDERS_H

#include "cli/init/guess_search.h"
#include "worker/source/folder/folder.h"

/* Add a split for the class folders `depth` levels below `path`, or, with depth
 * 0, for the files in `path` without classes.
 * Errors: those of reading the folders; FBY_CONFIG for a folder whose files are
 *         no samples, and for `path` one level too high. */
FBY_CHECKED fby_err fby_guess_class_folders(struct fby_search *search,
    const char *path, uint32_t depth, const char *name,
    struct fby_error_detail *why);

/* Add a split for each set of parallel folders, such as images and masks.
 * Errors: those of listing; FBY_CONFIG for an invalid folder name. */
FBY_CHECKED fby_err fby_guess_parallel(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* True if the first split was found, and has no class folders: then a folder
 * such as images in another split has its pictures, and those beside it are
 * left out. */
bool fby_guess_has_no_classes(const struct fby_search *search);

/* Write to `out` the path, below `path`, of a folder of pictures that is alone
 * in the listing; "": it is not alone, has no pictures, or is a class of split
 * train (guess_only.c).
 * Errors: those of listing; FBY_CONFIG for pictures beside it, and for folders
 *         several levels below. */
FBY_CHECKED fby_err fby_guess_only_folder(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    char out[FBY_PATH_SIZE], struct fby_error_detail *why);

/* Add the note that the folder is read without classes. */
void fby_guess_note_only_folder(struct fby_search *search, const char *folder);

/* Refuse class folders in the listing of `path` whose files have the same names,
 * so that they are pairs; add a note if they may be classes (guess_pairs.c). The
 * listing of the first split decides for all.
 * Errors: FBY_CONFIG. */
FBY_CHECKED fby_err fby_refuse_same_names(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* The same for the folders in `folder`, the first of several in `path` that
 * have the same folders. `lists` are those that the command writes, in Python;
 * NULL: pairs.csv.
 * Errors: FBY_CONFIG. */
FBY_CHECKED fby_err fby_refuse_pairs_below(struct fby_search *search,
    const char *path, const char *folder, const char *lists,
    struct fby_error_detail *why);

/* Is the name of a folder usual for one picture of a pair, as hr and lr
 * (guess_pairs.c)? */
bool fby_guess_is_role_name(const char *name);

/* Refuse class folders of one name in two Unicode normal forms, among `classes` and
 * those of train (refuse_unicode_forms.c).
 * Errors: FBY_CONFIG: what to do. */
FBY_CHECKED fby_err fby_refuse_unicode_forms(struct fby_search *search,
    const struct fby_folder *classes, uint32_t n, struct fby_error_detail *why);

/* Write why `folder`, the only one of the split at `path`, is no class of train,
 * and what to do (guess_lone_class.c). */
void fby_guess_explain_lone_folder(struct fby_search *search, const char *path,
    const char *folder, char *out, size_t size);

/* The same for the split at `path`, whose pictures have no class folders as those of
 * train, if a .csv beside its folder has their labels. */
void fby_guess_explain_flat_folder(
    struct fby_search *search, const char *path, char *out, size_t size);

/* The files of boxes in a folder, and in no other form than these. */
enum fby_boxes_kind {
    FBY_BOXES_NONE  = 0, /* files of other types, too */
    FBY_BOXES_TEXT  = 1, /* numbers, as YOLO's */
    FBY_BOXES_VOC   = 2, /* XML with objects, as Pascal VOC's */
    FBY_BOXES_XML   = 3, /* other XML */
    FBY_BOXES_KITTI = 4, /* the class in words, and 14 numbers or 15 */
    FBY_BOXES_OTHER = 5, /* a class and more numbers than those of a box: YOLO's
                            polygons, keypoints or boxes by their corners */
    FBY_BOXES_CLASS = 6, /* one word: the class of the picture */
    FBY_BOXES_LABELME  = 7, /* LabelMe's JSON with rectangles */
    FBY_BOXES_POLYGONS = 8  /* the same with other shapes alone */
};

/* The kind of the files in the folder, or in those in it (guess_boxes.c).
 * `is_beside`: pictures beside them are the samples. Else they are masks, and XML
 * files tell nothing. */
enum fby_boxes_kind fby_guess_find_boxes(
    struct fby_search *search, const char *path, bool is_beside);

/* The word of messages for what files of a kind have, such as "boxes". */
const char *fby_guess_boxes_word(enum fby_boxes_kind kind);

/* The extension of the files of a kind: "xml". */
const char *fby_guess_boxes_type(enum fby_boxes_kind kind);

/* Write the program of Python that writes lists of pictures and boxes, below the
 * folder where it runs. Pictures are in folders called `pictures`, and the files
 * in those called `boxes`. NULL: the files are beside the pictures, and `boxes` is
 * the folder of the split (guess_box_lists.c). Returns false if the kind is not
 * read, or a name needs quotes. */
bool fby_guess_write_boxes(const char *pictures, const char *boxes,
    enum fby_boxes_kind kind, char out[FBY_GUESS_COMMAND]);

/* The same for the rows that split_pairs.py finds, without writing the lists. */
bool fby_guess_write_boxes_of_pairs(
    enum fby_boxes_kind kind, char out[FBY_GUESS_COMMAND]);

/* Add a note on the folder `boxes` beside the folder `pictures`. */
void fby_guess_note_boxes(struct fby_search *search, const char *pictures,
    const char *boxes, enum fby_boxes_kind kind);

/* Add a note on the files of boxes beside the pictures of the split in `path`. */
void fby_guess_note_boxes_beside(
    struct fby_search *search, const char *path, enum fby_boxes_kind kind);

/* True if the folders in the listing of `path` are shards of img2dataset, no
 * classes: 00000 with 000000001.jpg. Then a note is added. */
bool fby_guess_are_img2dataset(struct fby_search *search, const char *path,
    const struct fby_listing *listing);

/* Add a note if a list or texts of splits in the folder above have the pictures of the
 * only split (guess_above.c). */
void fby_guess_note_above(struct fby_search *search);

/* Add a note if the first split, which is one for evaluation, numbers classes by
 * their names, and train is not there to do so (guess_above.c). */
void fby_guess_note_numbering(struct fby_search *search);

/* Add notes of files in the folder `path` that may have labels of the pictures in
 * its folders (guess_files_beside.c). */
void fby_guess_note_files_beside(struct fby_search *search, const char *path);

/* The same for files among the pictures of the split in `path`. */
void fby_guess_note_files_among(struct fby_search *search, const char *path,
    const struct fby_guess_split *pictures);

/* Add notes of files in the folder `path` that may number its class folders, or
 * those of the splits in it. */
void fby_guess_note_class_files(struct fby_search *search, const char *path);

/* Add a note with fields for the first keys of the JSON file at `path`. The
 * extension is "json" for files beside pictures, of which those without keys are
 * not told, and begins with the folder for those in parallel folders. */
void fby_guess_note_json(
    struct fby_search *search, const char *path, const char *extension);

/* Is one of the first files with that extension grey of 16 bits, in the folder of
 * `file` or in the first of the `n` folders in `path`? */
bool fby_guess_has_grey16(struct fby_search *search, const char *path,
    const struct fby_folder *folders, uint32_t n, const char *file,
    const char *extension);

#endif
