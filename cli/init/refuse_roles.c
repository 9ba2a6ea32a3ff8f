/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_roles.c - refuse folders that are no classes: splits, and folders of
 * lists beside the one of the pictures.
 *
 * Without these checks each would be taken for a class. The errors end with a
 * command that can be copied. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/init/guess_folders.h"
#include "cli/init/guess_notes.h"
#include "cli/init/names.h"
#include "cli/init/refuse_layouts.h"
#include "cli/init/split_names.h"
#include "cli/init/survey.h"
#include "common/shell.h"
#include "pipeline/text.h"

enum { MAX_NAMED = 3 /* folders that a message names */ };

/* Write the operand of a command for the folder `name` in `path`. */
static void write_operand(const struct fby_search *search, const char *path,
    const char *name, char out[FBY_OPERAND_SIZE])
{
    char below[FBY_PATH_SIZE];
    if (fby_path_join(path, name, below, NULL) != FBY_OK) {
        snprintf(below, sizeof(below), "%s", name);
    }
    fby_guess_write_operand(search, below, out);
}

/* Write the first names: "a, b, c, ...". */
static void list_names(
    const char *const *names, uint32_t n, char *out, size_t size)
{
    out[0] = '\0';
    for (uint32_t i = 0; i < n && i <= MAX_NAMED; i++) {
        struct fby_shown name =
            fby_text_show_begin(i == MAX_NAMED ? "..." : names[i], 40);
        fby_text_append_name(out, size, name.text);
    }
}

/* Refuse pairs in the folders of splits, as our485/low and our485/high beside
 * eval15/low and eval15/high. */
static fby_err refuse_pairs_of_splits(struct fby_search *search,
    const char *path, const char *const *splits, uint32_t n, const char *train,
    struct fby_error_detail *why)
{
    char     lists[480] = "[";
    size_t   used       = 1;
    unsigned seen       = 0;
    for (uint32_t i = 0; i < n; i++) {
        const char *word = fby_split_word(splits[i]);
        unsigned    k    = 0;
        word             = splits[i] == train || word == NULL ? "train" : word;
        while (strcmp(fby_known_splits[k], word) != 0) {
            k++;
        }
        if ((seen >> k & 1) == 1 || !fby_shell_is_plain(splits[i]) ||
            strlen(splits[i]) > 40) {
            return FBY_OK;
        }
        seen |= 1U << k;
        used += (size_t)snprintf(lists + used, sizeof(lists) - used,
            "%s('', '%s.csv', ['%s/'])", i > 0 ? ", " : "", word, splits[i]);
    }
    memcpy(lists + used, "]", 2);
    return fby_refuse_pairs_below(search, path, train, lists, why);
}

static fby_err refuse_splits(struct fby_search *search, const char *path,
    const char *const *names, uint32_t n, const char *train,
    struct fby_error_detail *why)
{
    const char *splits[FBY_SURVEY_FOLDERS];
    uint32_t    n_splits = 0;
    char        operand[FBY_OPERAND_SIZE];
    char        list[160];
    for (uint32_t i = 0; i < n; i++) {
        if (names[i] == train || fby_is_split_name(names[i])) {
            splits[n_splits++] = names[i];
        }
    }
    FBY_TRY(refuse_pairs_of_splits(search, path, splits, n_splits, train, why));
    write_operand(search, path, train, operand);
    list_names(splits, n_splits, list, sizeof(list));
    return fby_error_set(why, FBY_CONFIG,
        "the folders %s look like splits, not classes: write a pipeline for "
        "each: forebay init %s; if files of one name in two folders are "
        "pairs, name the folders images and masks; if all are classes, add "
        "--class-depth 1",
        list, operand);
}

/* Refuse the folders `names` with a sentence after "the folders A, B", and a
 * command for the first one. */
static fby_err refuse_each(const struct fby_search *search, const char *path,
    const char *const *names, uint32_t n, const char *sentence,
    struct fby_error_detail *why)
{
    char operand[FBY_OPERAND_SIZE];
    char list[160];
    write_operand(search, path, names[0], operand);
    list_names(names, n, list, sizeof(list));
    return fby_error_set(why, FBY_CONFIG,
        "the folders %s %s: forebay init %s; if they are classes, add "
        "--class-depth 1",
        list, sentence, operand);
}

/* Find the only folder with pictures beside folders without. NULL: there are
 * others, or it is not certain. */
static const struct fby_survey_folder *find_only_pictures(
    const struct fby_survey *survey)
{
    const struct fby_survey_folder *found = NULL;
    for (uint32_t i = 0; i < survey->n; i++) {
        const struct fby_survey_folder *folder = &survey->folders[i];
        if (!folder->is_whole || folder->is_empty ||
            (folder->picture != NULL && found != NULL)) {
            return NULL;
        }
        found = folder->picture != NULL ? folder : found;
    }
    return survey->n > 1 ? found : NULL;
}

/* True if another folder has a file of the picture's sample: parallel folders,
 * as labels/a.txt beside images/a.jpg. */
static bool has_partner(struct fby_search *search, const char *path,
    const struct fby_survey *survey, const struct fby_survey_folder *pictures)
{
    char               partners[FBY_PATH_SIZE];
    char               dir[FBY_PATH_SIZE];
    char               glob[FBY_PATH_SIZE];
    const char        *slash = strrchr(pictures->picture, '/');
    const char        *file  = slash != NULL ? slash + 1 : pictures->picture;
    struct fby_listing found = {0};
    snprintf(glob, sizeof(glob), "%.*s.*", (int)strcspn(file, "."), file);
    for (uint32_t i = 0; i < survey->n && found.count == 0; i++) {
        const struct fby_survey_folder *other = &survey->folders[i];
        snprintf(partners, sizeof(partners), "%s/%.*s", other->name,
            (int)(file - pictures->picture), pictures->picture);
        if (other == pictures ||
            fby_path_join(path, partners, dir, NULL) != FBY_OK) {
            continue;
        }
        dir[strlen(dir) - 1] = '\0'; /* the slash at its end */
        if (fby_listing_read(search->root, dir, glob, &found, NULL) != FBY_OK) {
            fby_listing_fini(&found);
        }
    }
    bool has_any = found.count > 0;
    fby_listing_fini(&found);
    return has_any;
}

/* Do the names look like those of parallel folders, as images and masks? */
static bool are_parallel_names(const char *const *names, uint32_t n)
{
    bool has_pictures = false;
    bool has_partners = false;
    for (uint32_t i = 0; i < n; i++) {
        bool is_pictures = fby_init_is_picture_name(names[i]);
        has_pictures     = has_pictures || is_pictures;
        has_partners     = has_partners ||
                       (!is_pictures && fby_init_is_partner_name(names[i]));
    }
    return has_pictures && has_partners;
}

/* Refuse a folder with files beside one of folders: their classes are not at one
 * level. */
static fby_err check_levels(const struct fby_search *search, const char *path,
    const struct fby_survey *survey, struct fby_error_detail *why)
{
    const char *files   = NULL;
    const char *folders = NULL;
    char        operand[FBY_OPERAND_SIZE];
    for (uint32_t i = 0; i < survey->n; i++) {
        const struct fby_survey_folder *folder = &survey->folders[i];
        if (folder->picture != NULL && !folder->has_dirs) {
            files = files == NULL ? folder->name : files;
        } else if (folder->picture != NULL && !folder->has_files) {
            folders = folders == NULL ? folder->name : folders;
        }
    }
    if (files == NULL || folders == NULL) {
        return FBY_OK;
    }
    write_operand(search, path, folders, operand);
    return fby_error_set(why, FBY_CONFIG,
        "the folder %.60s holds only files, and %.60s only folders, so they do "
        "not look like classes: write a pipeline for each: forebay init %s; if "
        "they are classes, add --class-depth 1",
        fby_text_show(files).text, fby_text_show(folders).text, operand);
}

/* True for fold0, fold_1, Fold-2: the folds of cross-validation. */
static bool is_fold(const char *name)
{
    static const char word[] = "fold";
    size_t            n      = strlen(word);
    return strncasecmp(name, word, n) == 0 &&
           strspn(name + n, "_- 0123456789") == strlen(name + n) &&
           strpbrk(name + n, "0123456789") != NULL;
}

static bool are_folds(const char *const *names, uint32_t n)
{
    uint32_t i = 0;
    while (i < n && is_fold(names[i])) {
        i++;
    }
    return n >= 2 && i == n;
}

/* Writes train.csv and val.csv. %s is the fold of val. */
#define WRITE_FOLDS                                                         \
    "import csv, glob; W = {s: csv.writer(open(s + '.csv', 'x')) for s in " \
    "('train', 'val')}; [w.writerow(['image', 'label']) for w in "          \
    "W.values()]; "                                                         \
    "[W['val' if f.split('/')[0] == '%s' else 'train'].writerow([f, "       \
    "f.split('/')[1]]) for f in sorted(glob.glob('*/*/**/*.*', "            \
    "recursive=True)) if f.lower().endswith(('.jpg', '.jpeg', '.png', "     \
    "'.webp'))]"

/* Refuse the folds of cross-validation, which may have class folders. */
static fby_err refuse_folds(struct fby_search *search, const char *path,
    const struct fby_survey *survey, const char *const *names,
    struct fby_error_detail *why)
{
    const char *picture = survey->folders[0].picture;
    char        list[160];
    char        operand[FBY_OPERAND_SIZE];
    char        program[640];
    list_names(names, survey->n, list, sizeof(list));
    if (picture == NULL || strchr(picture, '/') == NULL) {
        fby_guess_write_operand(search, path, operand);
        return fby_error_set(why, FBY_CONFIG,
            "the folders %s are folds, not classes: to read all of them: "
            "forebay init %s --class-depth 0",
            list, operand);
    }
    write_operand(search, path, names[0], operand);
    if (search->in_zip) {
        return fby_error_set(why, FBY_CONFIG,
            "the folders %s are folds, not classes: for one of them: forebay "
            "init %s",
            list, operand);
    }
    snprintf(program, sizeof(program), WRITE_FOLDS, names[0]);
    fby_guess_advise(search, path, "", program);
    return fby_error_set(why, FBY_CONFIG,
        "the folders %s are folds, not classes: for one of them: forebay init "
        "%s; for all of them write lists, with %.40s as val, and run init %s:",
        list, operand, names[0], path[0] != '\0' ? "on that folder" : "again");
}

/* ---- folders of the same classes ---- */

/* Writes a list of all pictures. */
#define WRITE_GROUPS                                                          \
    "import csv, glob; w = csv.writer(open('train.csv', 'x')); "              \
    "w.writerow(['image', 'label', 'folder_name']); [w.writerow([f, "         \
    "f.split('/')[1], f.split('/')[0]]) for f in sorted(glob.glob("           \
    "'*/*/**/*.*', recursive=True)) if f.lower().endswith(('.jpg', '.jpeg', " \
    "'.png', '.webp'))]"

/* Write the folders in `name` as "a/b/". Returns their number; 0 if there are
 * pictures beside them, or names of parallel folders. */
static uint32_t list_inner_folders(struct fby_search *search, const char *path,
    const char *name, char *out, size_t size)
{
    struct fby_listing listing = {0};
    const char        *names[FBY_SURVEY_FOLDERS];
    uint32_t           n    = 0;
    size_t             used = 0;
    out[0]                  = '\0';
    if (fby_refuse_list_below(search, path, name, &listing, NULL) == FBY_OK &&
        !fby_init_has_pictures(&listing)) {
        for (uint32_t i = 0; i < listing.count && used < size; i++) {
            const char *inner = listing.entries[i].name;
            if (listing.entries[i].is_dir) {
                used += (size_t)snprintf(out + used, size - used, "%s/", inner);
                names[n < FBY_SURVEY_FOLDERS ? n : 0] = inner;
                n++;
            }
        }
    }
    bool is_parallel = n <= FBY_SURVEY_FOLDERS && are_parallel_names(names, n);
    fby_listing_fini(&listing);
    return used < size && !is_parallel ? n : 0;
}

/* Are the folders, as "a1/a2/", called by one word with numbers? */
static bool are_numbered(const char *folders)
{
    static const char digits[] = "0123456789";
    size_t            word     = strcspn(folders, "0123456789/");
    const char       *at       = folders;
    while (word > 0 && strncmp(at, folders, word) == 0 &&
           strspn(at + word, digits) > 0) {
        at += word + strspn(at + word, digits);
        at += *at == '/' ? 1 : 0;
    }
    return word > 0 && *at == '\0';
}

/* Are the lists of folders the same? Of numbered ones, one may have more. */
static bool are_same_folders(const char *folders, const char *others)
{
    size_t n = strlen(folders);
    size_t k = strlen(others);
    return are_numbered(folders) && are_numbered(others)
               ? strncmp(folders, others, n < k ? n : k) == 0
               : strcmp(folders, others) == 0;
}

/* Have all folders the same folders, of which there are several? */
static bool have_same_folders(struct fby_search *search, const char *path,
    const char *const *names, uint32_t n, char *first, size_t size)
{
    char other[FBY_GUESS_NOTES];
    bool are_same =
        n > 1 && list_inner_folders(search, path, names[0], first, size) > 1;
    for (uint32_t i = 1; are_same && i < n; i++) {
        are_same = list_inner_folders(
                       search, path, names[i], other, sizeof(other)) > 1 &&
                   are_same_folders(first, other);
    }
    return are_same;
}

static fby_err refuse_groups(struct fby_search *search, const char *path,
    const char *const *names, uint32_t n, const char *classes,
    struct fby_error_detail *why)
{
    char list[160];
    char operand[FBY_OPERAND_SIZE];
    char class[100];
    snprintf(class, sizeof(class), "%.40s/%.*s",
        fby_text_show_begin(names[0], 40).text, (int)strcspn(classes, "/"),
        fby_text_show(classes).text);
    list_names(names, n, list, sizeof(list));
    if (are_numbered(classes)) {
        fby_guess_write_operand(search, path, operand);
        return fby_error_set(why, FBY_CONFIG,
            "the folders %s have the same folders (%.40s), whose names are "
            "only numbered: if each is a class of its own, as %s: forebay init "
            "%s --class-depth 2; if the outer ones are classes, add "
            "--class-depth 1",
            list, fby_text_show(classes).text, class, operand);
    }
    write_operand(search, path, names[0], operand);
    fby_guess_advise(search, path, "", WRITE_GROUPS);
    return fby_error_set(why, FBY_CONFIG,
        "the folders %s have the same folders (%.40s), which seem to be the "
        "classes: for one of them: forebay init %s; if the outer ones are "
        "classes, add --class-depth 1, or 2 if each is one, as %s%s",
        list, fby_text_show(classes).text, operand, class,
        search->in_zip ? ""
                       : "; for all of them write a list, and run init "
                         "again:");
}

/* ---- folders of which one has pictures ---- */

/* Writes a list of the pictures in a folder and their texts in another. */
#define WRITE_TEXTS                                                           \
    "import json, os; open('train.jsonl', 'x').write(''.join(json.dumps("     \
    "{'image': '%s/' + f, 'text': open(t, encoding='utf-8').read().strip()})" \
    " + '\\n' for f in sorted(os.listdir('%s')) for t in ['%s/' + "           \
    "os.path.splitext(f)[0] + '.txt'] if os.path.exists(t)))"

/* Has the folder a text with the name of the picture? Numbers may be boxes. */
static bool has_text_of(struct fby_search *search, const char *path,
    const char *folder, const char *picture)
{
    char        dir[FBY_PATH_SIZE];
    char        file[FBY_PATH_SIZE];
    char        text[FBY_PATH_SIZE];
    const char *dot = strrchr(picture, '.');
    if (dot == NULL || strchr(picture, '/') != NULL || search->in_zip) {
        return false;
    }
    snprintf(file, sizeof(file), "%.*s.txt", (int)(dot - picture), picture);
    return fby_path_join(path, folder, dir, NULL) == FBY_OK &&
           fby_path_join(dir, file, text, NULL) == FBY_OK &&
           fby_object_exists(search->root, text) &&
           fby_guess_find_boxes(search, dir, false) == FBY_BOXES_NONE;
}

static fby_err refuse_texts(struct fby_search *search, const char *path,
    const char *pictures, const char *texts, struct fby_error_detail *why)
{
    char program[640];
    int  n = snprintf(
         program, sizeof(program), WRITE_TEXTS, pictures, pictures, texts);
    if (n < 0 || (size_t)n >= sizeof(program)) {
        return FBY_OK;
    }
    fby_guess_advise(search, path, "", program);
    return fby_error_set(why, FBY_CONFIG,
        "%.60s has texts of the pictures in %.60s: write a list of both, and "
        "run init %s:",
        texts, pictures, path[0] != '\0' ? "on that folder" : "again");
}

/* Refuse a folder of boxes beside the one of the pictures. Returns FBY_OK if it has
 * none. */
static fby_err refuse_boxes(struct fby_search *search, const char *path,
    const char *pictures, const char *boxes, struct fby_error_detail *why)
{
    char                dir[FBY_PATH_SIZE];
    char                program[FBY_GUESS_COMMAND];
    enum fby_boxes_kind kind = FBY_BOXES_NONE;
    if (!search->in_zip && fby_path_join(path, boxes, dir, NULL) == FBY_OK) {
        kind = fby_guess_find_boxes(search, dir, false);
    }
    if (!fby_guess_write_boxes(pictures, boxes, kind, program)) {
        return FBY_OK;
    }
    fby_guess_advise(search, path, "", program);
    return fby_error_set(why, FBY_CONFIG,
        "%.60s has boxes of the pictures in %.60s: write lists of both, and "
        "run "
        "init %s:",
        boxes, pictures, path[0] != '\0' ? "on that folder" : "again");
}

/* Refuse folders of which only `only` has pictures. */
static fby_err refuse_all_but(struct fby_search *search, const char *path,
    const struct fby_survey *survey, const struct fby_survey_folder *only,
    struct fby_error_detail *why)
{
    const char *others[FBY_SURVEY_FOLDERS];
    uint32_t    n = 0;
    char        operand[FBY_OPERAND_SIZE];
    char        list[160];
    fby_err     err = FBY_OK;
    for (uint32_t i = 0; err == FBY_OK && i < survey->n; i++) {
        const char *name = survey->folders[i].name;
        if (&survey->folders[i] == only) {
            continue;
        }
        others[n++] = name;
        err         = refuse_boxes(search, path, only->name, name, why);
        if (err == FBY_OK && fby_shell_is_plain(name) &&
            fby_shell_is_plain(only->name) &&
            has_text_of(search, path, name, only->picture)) {
            err = refuse_texts(search, path, only->name, name, why);
        }
    }
    if (err != FBY_OK) {
        return err;
    }
    write_operand(search, path, only->name, operand);
    list_names(others, n, list, sizeof(list));
    return fby_error_set(why, FBY_CONFIG,
        "only the folder %.60s has pictures (left out: %s): forebay init %s",
        fby_text_show(only->name).text, list, operand);
}

static fby_err check_survey(struct fby_search *search, const char *path,
    const struct fby_survey *survey, const char *const *names,
    struct fby_error_detail *why)
{
    bool     is_parallel = are_parallel_names(names, survey->n);
    uint32_t n_train     = 0;
    char     classes[FBY_GUESS_NOTES];
    for (uint32_t i = 0; i < survey->n; i++) {
        n_train += survey->folders[i].has_train ? 1 : 0;
    }
    if (n_train == survey->n && survey->n > 1 && !is_parallel) {
        return refuse_each(search, path, names, survey->n,
            "hold a folder train each: write a pipeline for each", why);
    }
    if (!is_parallel) {
        FBY_TRY(check_levels(search, path, survey, why));
    }
    if (are_folds(names, survey->n)) {
        return refuse_folds(search, path, survey, names, why);
    }
    if (!is_parallel && have_same_folders(search, path, names, survey->n,
                            classes, sizeof(classes))) {
        FBY_TRY(fby_refuse_pairs_below(search, path, names[0], NULL, why));
        return refuse_groups(search, path, names, survey->n, classes, why);
    }
    const struct fby_survey_folder *only = find_only_pictures(survey);
    if (only == NULL ||
        (is_parallel && has_partner(search, path, survey, only)) ||
        (fby_guess_has_no_classes(search) &&
            fby_init_is_picture_name(only->name))) {
        return FBY_OK;
    }
    return refuse_all_but(search, path, survey, only, why);
}

/* True if all folders are splits for evaluation, as val and test. */
static bool are_without_train(const char *const *names, uint32_t n)
{
    uint32_t i = 0;
    while (i < n && fby_split_of_folder(names[i]) != NULL) {
        i++;
    }
    return n >= 2 && i == n;
}

fby_err fby_refuse_roles(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    const char       *names[FBY_SURVEY_FOLDERS];
    struct fby_survey survey;
    uint32_t          train;
    if (fby_find_split_folder(listing, "train") != NULL) {
        return FBY_OK; /* folders of splits, as they are read */
    }
    fby_survey_folders(search, path, listing, &survey);
    for (uint32_t i = 0; i < survey.n; i++) {
        names[i] = survey.folders[i].name;
    }
    fby_err err = FBY_OK;
    if (are_without_train(names, survey.n)) {
        err = refuse_each(search, path, names, survey.n,
            "are splits, and none is called train: rename the one for training "
            "to train; to stream one by itself",
            why);
    } else if (fby_are_split_names(names, survey.n, &train)) {
        err = refuse_splits(search, path, names, survey.n, names[train], why);
    } else {
        err = check_survey(search, path, &survey, names, why);
    }
    fby_survey_fini(&survey);
    return err;
}
