/* SPDX-License-Identifier: Apache-2.0 */
/* guess_search.h - the state of one search for data, shared by guess_*.c.
 *
 * A search looks for data of each kind in a directory, and adds the splits that
 * it finds to the guess. Most kinds have a file of their own. */
#ifndef FBY_CLI_INIT_GUESS_SEARCH_H
#define FBY_CLI_INIT_GUESS_SEARCH_H

#include <pthread.h>

#include "cli/init/guess.h"
#include "worker/source/index.h"
#include "worker/source/listing.h"
#include "worker/source/object.h"
#include "worker/source/roots.h"

enum { FBY_GUESS_ENOUGH_FILES = 20000 }; /* of tar shards: then none is read */

struct fby_search {
    struct fby_roots      *roots;  /* contains only `root` */
    const struct fby_root *root;   /* the directory that is searched */
    char only_file[FBY_PATH_SIZE]; /* name of the only file to look at, or "" */
    enum fby_type       token_type;   /* of flat files; 0: unknown */
    uint32_t            class_depth;  /* of fby_source_guess_at_depth() */
    const char         *default_name; /* of a split without a split word */
    struct fby_progress progress;     /* of fby_source_guess_at_depth() */
    struct fby_guess   *out;
    /* The class folders of split train, without their files; NULL: none. */
    struct fby_folder *train;
    uint32_t           n_train;
    pthread_mutex_t    lock; /* of out->linked, while links are followed */
    bool               ignores_links; /* only listing: links may be unrelated */
    bool               in_zip;        /* `root` reads a zip archive */
};

/* A function of fby_roots_follow_outside(), with a struct fby_search: note the
 * directory of a link's target, unless search->ignores_links. */
void fby_guess_note_link(void *arg, const char *target);

/* Add a split to the guess. If the guess already has FBY_GUESS_SPLITS, only
 * count the split (n_left_out) and return NULL. */
struct fby_guess_split *fby_guess_add_split(
    struct fby_search *search, const char *name);

/* The number of splits found so far, with those that are only counted. */
static inline uint32_t fby_guess_n_splits(const struct fby_search *search)
{
    return search->out->n_splits + search->out->n_left_out;
}

/* Choose an unused name for a split whose files begin with `stem`: the split
 * word in `stem`, else `stem` without its end ("in1k-a-" gives "in1k-a"), else
 * "split" and a number. */
void fby_guess_name_of_split(
    const struct fby_search *search, const char *stem, char out[FBY_NAME_SIZE]);

/* The split word in a name ("in1k-train-" gives "train"); NULL: none. */
const char *fby_guess_split_word(const char *name);

/* The split of a folder with a usual name, in any case ("Training" gives
 * "train"); NULL: none. */
const char *fby_guess_split_of_folder(const char *name);

/* The folder of the split train in a listing; NULL: none. */
const char *fby_guess_find_train(const struct fby_listing *listing);

/* True if the guess has a split of that name. */
bool fby_guess_has_split(const struct fby_search *search, const char *name);

/* Errors: FBY_CONFIG if a name has special characters of patterns. */
FBY_CHECKED fby_err fby_guess_check_name(
    const char *name, struct fby_error_detail *why);

/* Set the pattern of a split to `below`, a path below the root's directory.
 * Errors: FBY_CONFIG if the pattern is too long. */
FBY_CHECKED fby_err fby_guess_set_pattern(const struct fby_search *search,
    const char *below, struct fby_guess_split *split,
    struct fby_error_detail *why);

/* Visit the entries of a directory, in which links may have nothing to do with
 * the data. n_dangling counts links that lead to no file; NULL: not needed.
 * Errors: those of fby_listing_visit(). */
FBY_CHECKED fby_err fby_guess_visit_dir(struct fby_search *search,
    const char *path, const char *glob, fby_listing_visit_fn *visit, void *arg,
    uint32_t *n_dangling, struct fby_error_detail *why);

/* List a directory, in which links may have nothing to do with the data. Of the
 * types of files that may be very many (jpg, txt, json and so on), the listing
 * has any one.
 * Errors: those of fby_listing_visit(). */
FBY_CHECKED fby_err fby_guess_list_dir(struct fby_search *search,
    const char *path, const char *glob, struct fby_listing *out,
    struct fby_error_detail *why);

/* Index the source at the path `below` in the root. The caller sets the kind,
 * tokens and files of `spec`; this function sets the rest.
 * Call fby_index_fini on `out` also after an error.
 * Errors: those of fby_index_build. */
FBY_CHECKED fby_err fby_guess_index(const struct fby_search *search,
    struct fby_dataset_spec *spec, const char *below, struct fby_index *out,
    struct fby_error_detail *why);

/* ---- members: the files or values of a sample (guess_members.c) ---- */

/* The entry of split->members for that suffix; NULL: none. */
struct fby_init_member *fby_guess_find_member(
    struct fby_guess_split *split, const char *suffix);

/* Add the samples and members of a shard to the counts of the split. */
void fby_guess_count_members(
    struct fby_guess_split *split, const struct fby_shard *shard);

/* An open file that contains a member. */
struct fby_member_file {
    struct fby_object object;
    uint64_t          offset; /* of the member in the file, in bytes */
};

/* A function that opens the file with a member of a shard, and its argument. It
 * sets out->offset only if this is not 0. */
struct fby_member_opener {
    fby_err (*open)(const void *arg, const struct fby_shard *shard,
        uint32_t member, struct fby_member_file *out,
        struct fby_error_detail *why);
    const void *arg;
};

/* For each extension of PNG files without `header_read`: read the header of its
 * first file in `shard`. Call this after fby_guess_count_members.
 * Errors: those of opening; FBY_IO. */
FBY_CHECKED fby_err fby_guess_read_pngs(struct fby_guess_split *split,
    const struct fby_shard *shard, const struct fby_member_opener *opener,
    struct fby_error_detail *why);

/* True if the split has pictures that may be masks, and others. */
bool fby_guess_has_masks(const struct fby_guess_split *split);

/* If the split has masks: measure the pictures of the first samples of `shard`,
 * once for a split (guess_sizes.c). A file that cannot be read or decoded has
 * no size. */
void fby_guess_read_sizes(struct fby_guess_split *split,
    const struct fby_shard *shard, const struct fby_member_opener *opener);

/* Sort the members, the most frequent first, and set `always`. Call this after
 * the last fby_guess_count_members. */
void fby_guess_sort_members(struct fby_guess_split *split);

/* Count the members of all shards of an index, read PNG headers, and sort the
 * members. Sets split->counted_all.
 * Errors: those of fby_guess_read_pngs. */
FBY_CHECKED fby_err fby_guess_count_index(struct fby_guess_split *split,
    const struct fby_index *index, struct fby_error_detail *why);

/* ---- values (guess_values.c) ---- */

/* Update the kind and the lengths of a list's column with one more value. */
void fby_guess_add_value(
    struct fby_init_member *member, const char *text, size_t size);

/* The kind of a column of kind `a` after a value of kind `b`. */
enum fby_init_value fby_guess_merge_values(
    enum fby_init_value a, enum fby_init_value b);

/* Count the keys of a JSON file `extension`, also those of objects in it: each
 * is a member of the split with that `key`. Text that is no JSON object has no
 * keys. */
void fby_guess_add_json(struct fby_guess_split *split, const char *extension,
    const char *text, size_t size);

/* True for 1 to 9 digits, which fit 32 bits. */
bool fby_guess_is_digits(const char *text, size_t size);

/* ---- columns (guess_columns.c) ---- */

/* The tables (shards of columns) of a directory. A table is a folder of .npy
 * files or of sparse matrices of SciPy, or an .npz file of NumPy. */
struct fby_guess_tables {
    uint32_t shards;   /* number of tables */
    bool     is_table; /* the directory is a table: it has .npy files */
    char     first[FBY_PATH_SIZE];     /* path of the first, below the root */
    char     pattern[FBY_PATH_SIZE];   /* pattern of all, below the root */
    char     misplaced[FBY_PATH_SIZE]; /* a matrix beside tables; "": none */
};

/* Find the tables in the listing of `path`.
 * Errors: those of listing and reading them. */
FBY_CHECKED fby_err fby_guess_find_tables(const struct fby_root *root,
    const char *path, const struct fby_listing *listing,
    struct fby_guess_tables *out, struct fby_error_detail *why);

/* Read the headers of the first table into `split`.
 * Errors: those of fby_columns_scan, with the path; FBY_CONFIG if a matrix is
 *         misplaced. */
FBY_CHECKED fby_err fby_guess_scan_columns(const struct fby_search *search,
    const struct fby_guess_tables *found, struct fby_guess_split *split,
    struct fby_error_detail *why);

/* ---- arrays that are no table (guess_arrays.c) ---- */

/* Check the columns of the first table. `err` and `why` are the result of the
 * scan; after an error, `columns` are those before it.
 * Errors: `err`; FBY_CONFIG for arrays of several splits, and for a file for each
 *         sample: what to do. */
FBY_CHECKED fby_err fby_guess_explain_arrays(const struct fby_search *search,
    const struct fby_guess_tables *found, const struct fby_column *columns,
    uint32_t n, fby_err err, struct fby_error_detail *why);

/* ---- .npy files beside pictures (guess_npy.c) ---- */

/* Has a picture in `path` the name of the first .npy file in its listing? */
bool fby_guess_is_npy_paired(const struct fby_root *root, const char *path,
    const struct fby_listing *listing);

/* Add a note on how a field reads the .npy files of a split of folders, if any. */
void fby_guess_note_npy(
    struct fby_search *search, const struct fby_guess_split *split);

/* ---- JSON files beside pictures (guess_json.c) ---- */

/* Add a note with fields for the first keys of the JSON file at `path`, if it has
 * keys that a field can read. */
void fby_guess_note_json(struct fby_search *search, const char *path);

/* ---- grey of 16 bits among other pictures (guess_grey16.c) ---- */

/* True if the PNG file at `path` is grey of 16 bits (guess_members.c). */
bool fby_guess_is_grey16(const struct fby_root *root, const char *path);

/* Is one of the first files with that extension grey of 16 bits, in the folder of
 * `file`? */
bool fby_guess_has_grey16(
    struct fby_search *search, const char *file, const char *extension);

/* ---- tar shards (guess_shards.c) ---- */

/* Check the `n` shards of a split that were read.
 * Errors: FBY_CONFIG if the files of a sample are in two shards, or if some
 *         shards have pictures and others none. */
FBY_CHECKED fby_err fby_guess_check_shards(
    const struct fby_shard *shards, uint32_t n, struct fby_error_detail *why);

/* Refuse pictures whose keys would end within their names, such as cat.0.jpg.
 * The members of the split are those of the `n` shards in `path`, also of one
 * whose scan failed.
 * Errors: FBY_CONFIG: the command that writes tars with other names. */
FBY_CHECKED fby_err fby_guess_check_shard_names(const struct fby_search *search,
    const char *path, const struct fby_guess_split *split,
    const struct fby_shard *shards, uint32_t n, struct fby_error_detail *why);

/* ---- names in tar shards (guess_tar_names.c) ---- */

/* Look at the names in the `n` shards of a split that were read. If its samples
 * are pictures alone, without labels, set split->only_pictures and in_folder, and
 * add a note, which has a command if the samples are in several folders.
 * Errors: FBY_CONFIG for tar files in a tar file, and for folders such as images
 *         and masks: what to do. */
FBY_CHECKED fby_err fby_guess_check_tar_names(struct fby_search *search,
    struct fby_guess_split *split, const struct fby_shard *shards, uint32_t n,
    struct fby_error_detail *why);

/* ---- a directory of tar files (guess_tar_files.c) ---- */

/* Check the `n` tar files of `path`, of which the splits from `first_split` on
 * were made.
 * Errors: FBY_CONFIG if each may be a class: what to do. */
FBY_CHECKED fby_err fby_guess_check_class_tars(const struct fby_search *search,
    const char *path, const struct fby_entry *tars, uint32_t n,
    uint32_t first_split, struct fby_error_detail *why);

/* Add a note of the types of the files behind the tar files of a listing, and of
 * the folders there. */
void fby_guess_note_beside_tars(struct fby_search *search,
    const struct fby_listing *listing, uint32_t n_tars);

/* ---- layouts that are not read as they are (guess_layouts.c) ---- */

/* Check the listing of `path`, in which no lists, tables, tar or token files
 * were found, and the folders below that are alone at their level.
 * Errors: FBY_CONFIG for layouts of well-known data sets that are not read
 *         (COCO, Pascal VOC, Cityscapes), for masks whose names are not those
 *         of their pictures, and those of fby_guess_check_unused_lists: what to
 *         do. */
FBY_CHECKED fby_err fby_guess_check_layout(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* ---- parallel folders with other names (guess_partners.c) ---- */

/* Check that the masks in `mask_dir` have no other prefix than `picture`, a file
 * of `picture_dir` without a mask.
 * Errors: FBY_CONFIG for mask_1.png of img_1.jpg: what to do;  FBY_IO. */
FBY_CHECKED fby_err fby_guess_check_prefixes(struct fby_search *search,
    const char *picture_dir, const char *mask_dir, const char *picture,
    struct fby_error_detail *why);

/* Add to an error of the folders `names` in `path`, if it says that files are
 * missing, the command that moves the others away. `below` is the pattern of the
 * folders. Returns FBY_CONFIG. */
FBY_CHECKED fby_err fby_guess_explain_missing(const struct fby_search *search,
    const char *path, const char *const names[2], const char *below,
    struct fby_error_detail *why);
/* ---- annotations of boxes (guess_annotations.c) ---- */

/* Both functions set out->command to one that writes lists.
 *
 * Check for COCO's JSON in annotations/, or beside the pictures in `path`.
 * Errors: FBY_CONFIG  there is some;  those of listing. */
FBY_CHECKED fby_err fby_guess_check_coco(
    struct fby_search *search, const char *path, struct fby_error_detail *why);

/* Check Pascal VOC's files in `path`.
 * Errors: FBY_CONFIG  there are boxes and no masks. */
FBY_CHECKED fby_err fby_guess_check_voc(
    struct fby_search *search, const char *path, struct fby_error_detail *why);

/* ---- boxes as text (guess_boxes.c) ---- */

/* Has the folder, or one in it, text files of boxes, as YOLO's? */
bool fby_guess_has_boxes(struct fby_search *search, const char *path);

/* Add a note on the folder `boxes` beside the folder `pictures`. */
void fby_guess_note_boxes(
    struct fby_search *search, const char *pictures, const char *boxes);

/* ---- folders that are no classes ---- */

/* Check a few folders in the listing of `path` (guess_roles.c).
 * Errors: FBY_CONFIG for folders that look like splits or hold splits, and for
 *         several of which only one has pictures: what to do. */
FBY_CHECKED fby_err fby_guess_check_roles(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

enum { FBY_OPERAND_SIZE = 160 }; /* bytes of a path in a command, with NUL */

/* Write the path `below` in the root as the operand of a command, with quotes if
 * it needs them; "DIR" for one that is too long (guess_roles.c). */
void fby_guess_write_operand(const struct fby_search *search, const char *below,
    char out[FBY_OPERAND_SIZE]);

/* Append "; then: forebay init PATH" of a file in `dir` to an error, without the
 * path if it does not fit (guess_roles.c). */
void fby_guess_append_then(const struct fby_search *search, const char *dir,
    const char *file, struct fby_error_detail *why);

/* Write to `out` the path, below `path`, of a folder of pictures that is alone
 * in the listing; "": it is not alone, has no pictures, or is a class of split
 * train (guess_only.c).
 * Errors: those of listing; FBY_CONFIG for pictures beside it, and for folders
 *         several levels below. */
FBY_CHECKED fby_err fby_guess_only_folder(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    char out[FBY_PATH_SIZE], struct fby_error_detail *why);

/* True if the folders in the listing of `path` are shards of img2dataset, no
 * classes: 00000 with 000000001.jpg. Then a note is added. */
bool fby_guess_are_img2dataset(struct fby_search *search, const char *path,
    const struct fby_listing *listing);

/* Add the note that the folder is read without classes. */
void fby_guess_note_only_folder(struct fby_search *search, const char *folder);

/* Add a note of files beside the folder that may have labels of its pictures. */
void fby_guess_note_files_beside(
    struct fby_search *search, const struct fby_listing *listing);

/* If the class folders in the listing of `path` have the same file names, add a
 * note on how they are read as pairs (guess_pairs.c). */
void fby_guess_note_pairs(struct fby_search *search, const char *path,
    const struct fby_listing *listing);

/* Write why `folder`, the only one of the split at `path`, is no class of train,
 * and what to do (guess_lone_class.c). */
void fby_guess_explain_lone_folder(struct fby_search *search, const char *path,
    const char *folder, char *out, size_t size);

/* ---- lists that are not used (guess_unused_lists.c) ---- */

/* Check the lists in the listing of `path`, if nothing else there can be data
 * than folders of their pictures.
 * Errors: FBY_CONFIG for an invalid list, for one that names files without
 *         their paths, and for one in another format (.json, .tsv). */
FBY_CHECKED fby_err fby_guess_check_unused_lists(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* A value of a list that is the name of a file. */
struct fby_named_file {
    const char *column;
    char        folder[FBY_PATH_SIZE];
    char        name[FBY_NAME_SIZE]; /* the value */
    const char *ending;              /* what the value lacks: ".jpg", or "" */
};

/* Refuse a list in `dir` that names files without their path.
 * Errors: FBY_CONFIG  always: the command that writes a list of paths. */
fby_err fby_guess_refuse_names(const struct fby_search *search, const char *dir,
    const char *list, const struct fby_named_file *file,
    struct fby_error_detail *why);

enum { FBY_JQ_SIZE = 160 /* bytes of a program of jq, with NUL */ };

/* Write the folder that has the file of that name, as "images/", or "". */
typedef void fby_guess_find_folder_fn(
    const void *arg, const char *name, char out[FBY_NAME_SIZE]);

/* Write the program of jq that makes lines of the .json file at `path`
 * (guess_json_lists.c). Returns false if the file has none of the known forms, or
 * cannot be read. */
bool fby_guess_write_jq(const struct fby_search *search, const char *path,
    fby_guess_find_folder_fn *find, const void *arg, char out[FBY_JQ_SIZE]);

/* If the first split, the folder `dir`, has no classes: check the lists beside
 * it, in the listing of the root.
 * Errors: FBY_CONFIG for a list that names files of `dir` without a path. */
FBY_CHECKED fby_err fby_guess_check_lists_of_train(struct fby_search *search,
    const struct fby_listing *listing, const char *dir,
    struct fby_error_detail *why);

/* ---- what the user is told (guess_notes.c) ---- */

/* Add a line to the notes of the guess, unless it has that line. One that does
 * not fit is left out. */
__attribute__((format(printf, 2, 3))) void fby_guess_note(
    struct fby_search *search, const char *format, ...);

/* Write in an error "DIR/PATH" for "data:PATH", a path in the root `dir`, or, if
 * that is the searched directory, "PATH". */
void fby_guess_replace_root(
    const char *dir, bool is_searched, struct fby_error_detail *why);

#define FBY_SPLIT_NAMES \
    "a split is called train, val, valid, validation or test"

/* Folders of a directory that no split has. */
struct fby_unused_folders {
    char        names[160]; /* of the first: "a, b" */
    const char *first;      /* the name of the first; borrowed */
    uint32_t    n;
};

void fby_guess_add_unused(
    struct fby_unused_folders *self, const struct fby_entry *entry);

/* Add a note of the folders in `path`, if there are any. `reason` says what
 * would be read. */
void fby_guess_note_unused(struct fby_search *search, const char *path,
    const struct fby_unused_folders *folders, const char *reason);

/* Is a file in the listing a picture that can be decoded, by its name? */
bool fby_guess_has_pictures(const struct fby_listing *listing);

/* ---- other kinds ---- */

/* Add a split for the class folders `depth` levels below `path`, or, with depth
 * 0, for the files in `path` without classes.
 * Errors: those of reading the folders; FBY_CONFIG for a folder whose files are
 *         no samples, and for `path` one level too high. */
FBY_CHECKED fby_err fby_guess_class_folders(struct fby_search *search,
    const char *path, uint32_t depth, const char *name,
    struct fby_error_detail *why);

/* Add a split for each group of tar files in the listing of `path` whose names
 * differ in a number. Moves the tar files to the front of the listing.
 * Errors: those of reading; FBY_CONFIG for invalid files. */
FBY_CHECKED fby_err fby_guess_tars(struct fby_search *search, const char *path,
    struct fby_listing *listing, struct fby_error_detail *why);

/* Add a split for each list (.csv, .jsonl) in the listing of `path`.
 * Errors: those of reading; FBY_CONFIG for an invalid list. */
FBY_CHECKED fby_err fby_guess_lists(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why);

/* True if `text`, in a list of the directory `base` below the root, is the path
 * of an existing file. */
bool fby_guess_is_path_of_file(const struct fby_search *search,
    const char *base, const char *text, size_t size);

/* Check a list that has no column of paths; `base` is its folder below the root,
 * and `shard` has its first rows (guess_list_paths.c).
 * Errors: FBY_CONFIG  a column has only paths of pictures that lead to no file:
 *                     the command that changes them. */
FBY_CHECKED fby_err fby_guess_check_lost_paths(struct fby_search *search,
    const char *list_path, const char *base, const struct fby_shard *shard,
    struct fby_error_detail *why);

/* Write how rows without their files are left out of a list to a new error of
 * `why`, which has the error for one of them (guess_missing_files.c). Returns
 * FBY_CONFIG. */
fby_err fby_guess_explain_missing_files(const struct fby_search *search,
    const char *list_path, const struct fby_guess_split *split,
    struct fby_error_detail *why);

/* If the error of reading a CSV file has a known remedy, append the command that
 * writes a valid file (guess_invalid_lists.c). Returns false if it has none. */
bool fby_guess_explain_invalid_list(const struct fby_search *search,
    const char *list_path, struct fby_error_detail *why);

/* Check the first split, if it is a list (guess_split_column.c). Call this after
 * train was moved there.
 * Errors: FBY_CONFIG  a column has the split of each row: the command that
 *                     writes a list for each. */
FBY_CHECKED fby_err fby_guess_check_split_column(
    const struct fby_search *search, struct fby_error_detail *why);

/* Check that a column of the list has a picture in each row, if one has pictures
 * at all (guess_missing_files.c).
 * Errors: FBY_CONFIG  the rows that have none, and what to do. */
FBY_CHECKED fby_err fby_guess_check_files(const struct fby_search *search,
    const char *list_path, const struct fby_guess_split *split,
    struct fby_error_detail *why);

/* True if the column, in lower case, is in split->file_columns. */
bool fby_guess_is_file_column(
    const struct fby_guess_split *split, const char *column);

/* Check that the first row of the list is a header, and the names of columns
 * with paths (guess_header.c). Of a list that cannot be read, nothing is said.
 * Sets *names_files if a cell of the first two rows is the path of a file.
 * Errors: FBY_CONFIG  the first row has values, or no field can have the name of
 *                     a column with paths: the command that changes the row. */
FBY_CHECKED fby_err fby_guess_check_header(const struct fby_search *search,
    const char *list_path, bool *names_files, struct fby_error_detail *why);

/* Add the columns in the first row of the list that have no member yet, since
 * their names are invalid or they have no values: members with a count of 0. */
void fby_guess_add_other_columns(const struct fby_search *search,
    const char *list_path, struct fby_guess_split *split);

/* Write the patterns of all splits as data:PATH if the guess has a data root.
 * Errors: FBY_CONFIG for a path that is too long. */
FBY_CHECKED fby_err fby_guess_use_data_root(
    struct fby_guess *guess, struct fby_error_detail *why);

/* Add a split for each set of parallel folders, such as images and masks.
 * Errors: those of listing; FBY_CONFIG for an invalid folder name. */
FBY_CHECKED fby_err fby_guess_parallel(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* Add a split for each group of token files.
 * Errors: those of reading; FBY_CONFIG for invalid files. */
FBY_CHECKED fby_err fby_guess_tokens(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* ---- tokens that are not read (guess_unused_tokens.c) ---- */

/* Refuse NumPy files in `path` where the user gave the type of tokens, and no token files
 * were found.
 * Errors: FBY_CONFIG  what to do. */
FBY_CHECKED fby_err fby_guess_check_token_arrays(
    const struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why);

/* Refuse .bin files whose type is not given, if nothing else there is data.
 * Errors: FBY_CONFIG  the option that is needed;  FBY_IO. */
FBY_CHECKED fby_err fby_guess_check_untyped_tokens(
    const struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why);

/* ---- zip archives that are not read (guess_archives.c) ---- */

/* Check the zip archive at `path`.
 * Errors: FBY_CONFIG if it is a part of a split archive: what to do. */
FBY_CHECKED fby_err fby_guess_check_zip_parts(const struct fby_search *search,
    const char *path, struct fby_error_detail *why);

/* Refuse a zip archive without pictures. `path` is in it, with this listing.
 * Errors: FBY_CONFIG  always: what to do. */
FBY_CHECKED fby_err fby_guess_refuse_zip(const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why);

/* ---- zip archives (guess_zip.c) ---- */

/* Does the path lead to a zip archive or into it, by its name? */
bool fby_guess_is_zip_path(const char *path);

/* Like realpath(). If the path leads into a zip archive, returns the path of
 * the archive, and *within is the rest, which begins with a slash; else "". */
char *fby_guess_resolve(const char *path, const char **within);

/* Add the splits in a zip archive. `path` is that of the archive or of a folder
 * in it. A split that is alone gets the name `name`.
 * Errors: those of opening the archive, and of fby_guess_splits_below. */
FBY_CHECKED fby_err fby_guess_zip(struct fby_search *search, const char *path,
    const char *name, struct fby_error_detail *why);

/* Do so for the zip archives in the listing of `path`: the only one, or of
 * several those for each split, if train is one of them. */
FBY_CHECKED fby_err fby_guess_zips(struct fby_search *search, const char *path,
    const char *name, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* Add the data of the folders train, val and so on in the folder `path`; if
 * there is no folder train, the data of the folder itself (guess.c). */
FBY_CHECKED fby_err fby_guess_splits_below(struct fby_search *search,
    const char *path, const char *name, struct fby_error_detail *why);

#endif
