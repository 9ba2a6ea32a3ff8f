/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_layouts.h - refuse directories whose folders are no classes. */
#ifndef FBY_CLI_INIT_REFUSE_LAYOUTS_H
#define FBY_CLI_INIT_REFUSE_LAYOUTS_H

#include "cli/init/guess_search.h"

struct fby_checked_dir {
    struct fby_search        *search;
    const char               *path; /* below the root */
    const struct fby_listing *listing;
};

/* Refuse a layout by the listing of `path`, in which no lists, tables, tar or
 * token files were found, and by the folders below that are alone at their level.
 * Errors: FBY_CONFIG for layouts of well-known data sets that are not read
 *         (COCO, Pascal VOC, Cityscapes), for masks whose names are not those
 *         of their pictures, and those of fby_refuse_unused_lists: what to
 *         do. */
FBY_CHECKED fby_err fby_refuse_layout(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* List the folder `dir` in `path`, as fby_guess_list_dir does. The error is not
 * FBY_CONFIG, which is that of a layout that is refused. */
FBY_CHECKED fby_err fby_refuse_list_below(struct fby_search *search,
    const char *path, const char *dir, struct fby_listing *out,
    struct fby_error_detail *why);

/* Refuse the folders of a well-known data set (refuse_data_sets.c).
 * Errors: FBY_CONFIG: what to do;  those of listing. */
FBY_CHECKED fby_err fby_refuse_data_sets(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* Refuse masks in folders of the listing of `path`, or in `path` itself, whose
 * names are not those of their pictures (refuse_mask_names.c).
 * Errors: FBY_CONFIG: what to do;  those of listing. */
FBY_CHECKED fby_err fby_refuse_mask_names(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* Refuse a folder of masks in the listing of `path` beside another that may have the
 * masks, too (refuse_two_masks.c). Sets out->command to one that writes lists.
 * Errors: FBY_CONFIG: what to do. */
FBY_CHECKED fby_err fby_refuse_two_masks(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* Refuse masks beside their pictures, in `path` or in the first folder of the
 * listing, that differ from these in a word of the name (refuse_mask_words.c).
 * Errors: FBY_CONFIG: what to do;  those of listing. */
FBY_CHECKED fby_err fby_refuse_mask_words(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* Refuse folders, if they are few, in the listing of `path` (refuse_roles.c).
 * Errors: FBY_CONFIG for folders that look like splits or hold splits, and for
 *         several of which only one has pictures: what to do. */
FBY_CHECKED fby_err fby_refuse_roles(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* Refuse the folder `pictures` in `path` if texts in `path`, or in one of the
 * folders `dirs` there, have the names of the pictures of several splits
 * (refuse_split_texts.c). `pictures` "": those in class folders in `path`, of which a
 * text of one split is enough. Sets out->command to one that writes lists.
 * Errors: FBY_CONFIG: what to do;  those of listing. */
FBY_CHECKED fby_err fby_refuse_split_texts(struct fby_search *search,
    const char *path, const char *pictures, const char *const *dirs,
    uint32_t n_dirs, struct fby_error_detail *why);

/* The same for a text with the split of each picture as a number, as CelebA's;
 * fby_refuse_split_texts calls this. `pictures` may be a path below `path`. */
FBY_CHECKED fby_err fby_refuse_split_numbers(struct fby_search *search,
    const char *path, const char *pictures, const char *const *dirs,
    uint32_t n_dirs, struct fby_error_detail *why);

/* Refuse a text of splits, as list_eval_partition.txt, which is the searched file or
 * alone in the searched folder, if init knows it in the folder that has the pictures
 * (guess_above.c).
 * Errors: FBY_CONFIG: the init to run. */
FBY_CHECKED fby_err fby_refuse_split_text_alone(struct fby_search *search,
    const struct fby_listing *listing, struct fby_error_detail *why);

/* The same for texts with the split of each picture as a word; fby_refuse_split_texts
 * calls this (refuse_split_words.c). */
FBY_CHECKED fby_err fby_refuse_split_words(struct fby_search *search,
    const char *path, const char *pictures, const char *const *dirs,
    uint32_t n_dirs, struct fby_error_detail *why);

/* Refuse masks in `mask_dir` with another prefix than `picture`, a file of
 * `picture_dir` without a mask (refuse_partners.c).
 * Errors: FBY_CONFIG for mask_1.png of img_1.jpg: what to do;  FBY_IO. */
FBY_CHECKED fby_err fby_refuse_prefixes(struct fby_search *search,
    const char *picture_dir, const char *mask_dir, const char *picture,
    struct fby_error_detail *why);

/* Refuse the file `name` in `path` if its format is not read (refuse_unread.c). Sets
 * out->command to one that converts it, if there is one.
 * Errors: FBY_CONFIG: what to do. */
FBY_CHECKED fby_err fby_refuse_unread(const struct fby_search *search,
    const char *path, const char *name, struct fby_error_detail *why);

/* Refuse folders in the listing of `path` with files of Parquet or Arrow, which are
 * configurations of Hugging Face's, with the command for the first. If the first folder
 * has none, the others are not looked at.
 * Errors: FBY_CONFIG: what to do. */
FBY_CHECKED fby_err fby_refuse_configurations(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* The same for the files train, test and meta of CIFAR-100 in `path`. */
FBY_CHECKED fby_err fby_refuse_cifar100(const struct fby_search *search,
    const char *path, struct fby_error_detail *why);

/* Write to an error of a compressed .npz file the command that writes others.
 * Returns FBY_CONFIG. */
FBY_CHECKED fby_err fby_refuse_compressed_npz(
    const struct fby_search *search, struct fby_error_detail *why);

struct fby_pairs_dir { /* parallel folders, or pictures and their boxes */
    struct fby_search *search;
    const char        *path; /* of the folder that has them, below the root */
    const char *const *folders; /* their names, first that of the pictures */
    uint32_t           n_folders;
    const char *boxes; /* the program for these in folders[1]; NULL: none */
    const char *const *dirs; /* the other folders in `path` */
    uint32_t           n_dirs;
};

/* Refuse the folders if texts or lists beside them, or in one of the other folders,
 * have the names of the pictures of several splits (refuse_split_pairs.c). Sets
 * out->command to one that writes lists.
 * Errors: FBY_CONFIG: what to do. */
FBY_CHECKED fby_err fby_refuse_split_pairs(
    const struct fby_pairs_dir *at, struct fby_error_detail *why);

/* Add to an error of the folders `names` in `path`, if it says that files are
 * missing, the command that moves the others away. `below` is the pattern of the
 * folders. Returns FBY_CONFIG (refuse_partners.c). */
FBY_CHECKED fby_err fby_guess_explain_missing(struct fby_search *search,
    const char *path, const char *const names[2], const char *below,
    struct fby_error_detail *why);

/* Refuse folders of masks in the listing of `path` that are called after those of
 * their pictures, unless they are read as parallel folders (refuse_pairs.c). Sets
 * out->command to one that writes lists.
 * Errors: FBY_CONFIG: what to do. */
FBY_CHECKED fby_err fby_refuse_pairs(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* Refuse folders in the listing of `path` if each has pictures and their masks, or
 * one picture and masks of its objects (refuse_objects.c). Sets out->command to
 * one that writes a list, or merges the masks.
 * Errors: FBY_CONFIG: what to do. */
FBY_CHECKED fby_err fby_refuse_objects(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* Refuse arrays in the listing of `path` that are those of samples, and no columns
 * (refuse_sample_arrays.c). Sets out->command to one that writes a table.
 * Errors: FBY_CONFIG: what to do. */
FBY_CHECKED fby_err fby_refuse_sample_arrays(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* Refuse folders in the listing of `path` that have the same few files each, so that
 * they are samples (refuse_samples.c). The listing of the first split decides for
 * all. Sets out->command to one that writes lists.
 * Errors: FBY_CONFIG: what to do. */
FBY_CHECKED fby_err fby_refuse_samples(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* Refuse texts of numbers in the listing of `path` that are called after
 * splits, and no pictures are beside (refuse_numbers.c). Sets out->command to
 * one that makes tables of them.
 * Errors: FBY_CONFIG: what to do;  those of listing. */
FBY_CHECKED fby_err fby_refuse_numbers(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* Refuse texts in `path` that are the same in two languages (refuse_languages.c).
 * `only`: the only file; NULL: all. Sets out->command to one that writes lists.
 * Errors: FBY_CONFIG: what to do;  those of listing. */
FBY_CHECKED fby_err fby_refuse_languages(struct fby_search *search,
    const char *path, const char *only, struct fby_error_detail *why);

/* Refuse texts in `path`, beside neither folders nor pictures, that are sentences of
 * words with tags, index:value pairs, labels with texts, or the same texts in two
 * languages (refuse_text_lines.c). Sets out->command to one that writes lists or a
 * table.
 * Errors: FBY_CONFIG: what to do;  those of listing. */
FBY_CHECKED fby_err fby_refuse_text_lines(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* Refuse the first split, if it has class folders of texts
 * (refuse_class_texts.c). Sets out->command to one that writes lists.
 * Errors: FBY_CONFIG: what to do. */
FBY_CHECKED fby_err fby_refuse_class_texts(
    struct fby_search *search, struct fby_error_detail *why);

/* These functions set out->command to one that writes lists.
 *
 * Refuse COCO's JSON in annotations/, or beside the pictures in `path`
 * (refuse_annotations.c).
 * Errors: FBY_CONFIG  there is some;  those of listing. */
FBY_CHECKED fby_err fby_refuse_coco(
    struct fby_search *search, const char *path, struct fby_error_detail *why);

/* Refuse Pascal VOC's files in `path`, which have no masks.
 * Errors: FBY_CONFIG  there are boxes. */
FBY_CHECKED fby_err fby_refuse_voc(
    struct fby_search *search, const char *path, struct fby_error_detail *why);

/* Set the command to the one for the boxes of Pascal VOC; `lead` is that of
 * fby_guess_advise(). Returns false if there are none. */
bool fby_advise_voc_boxes(
    struct fby_search *search, const char *path, const char *lead);

#endif
