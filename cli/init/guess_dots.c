/* SPDX-License-Identifier: Apache-2.0 */
/* guess_dots.c - refuse pictures whose names have a dot before the extension,
 * such as cat.0.jpg.
 *
 * The key of a sample ends at the first dot of a name, so that 7.jpg and
 * 7.mask.png are one sample. By this rule cat.0.jpg and cat.1.jpg are one, too,
 * and 4.copy.jpg has no file with the extension jpg. */
#include <string.h>

#include "cli/init/count_folders.h"
#include "cli/init/text_state.h"
#include "common/plural.h"
#include "pipeline/text.h"

/* With more such extensions they are parts of names, not kinds of files. */
enum { MAX_EXTENSIONS = 8 };

struct dots { /* the types of pictures with a dot in their extension */
    const struct fby_file_type *first;  /* NULL: none */
    uint32_t                    n;      /* number of such types */
    bool                        digits; /* one begins with a digit */
    uint64_t n_plain; /* files that are pictures without such a dot */
};

static struct dots find_dots(const struct fby_folder_counts *counts)
{
    struct dots found = {0};
    for (uint32_t i = 0; i < counts->n_types; i++) {
        const struct fby_file_type *type = &counts->types[i];
        if (!fby_init_is_picture_suffix(type->extension)) {
            continue;
        }
        if (strchr(type->extension, '.') == NULL) {
            found.n_plain += type->n_files;
            continue;
        }
        char first   = type->extension[0];
        found.first  = found.first == NULL ? type : found.first;
        found.digits = found.digits || (first >= '0' && first <= '9');
        found.n++;
    }
    return found;
}

fby_err fby_guess_check_dots(
    const struct fby_folder_counts *counts, struct fby_error_detail *why)
{
    struct dots dots      = find_dots(counts);
    bool        are_names = dots.digits || dots.n > MAX_EXTENSIONS;
    /* The least number of samples that have no plain picture but others. */
    uint64_t n_without =
        dots.n_plain > 0 && counts->n_with_picture > dots.n_plain
            ? counts->n_with_picture - dots.n_plain
            : 0;
    if (dots.first == NULL || (!are_names && n_without == 0)) {
        return FBY_OK;
    }
    struct fby_shown file      = fby_text_show(dots.first->first);
    struct fby_shown extension = fby_text_show(dots.first->extension);
    if (!are_names && (dots.n > 1 || dots.first->n_files != n_without)) {
        return fby_error_set(why, FBY_CONFIG,
            "pictures of %s have only an extension such as %.20s (%.60s), "
            "since the key of a sample ends at the first dot of a name: add "
            "the pictures that are missing, or rename the files",
            fby_plural(n_without, "sample").text, extension.text, file.text);
    }
    const char *last = strrchr(dots.first->extension, '.') + 1; /* "jpg" */
    return fby_error_set(why, FBY_CONFIG,
        "the key of a sample ends at the first dot of a name, so that %.60s "
        "has the extension %.20s: rename such files, in this folder: (find . "
        "-name '*.*.%.8s' | while read -r f; do b=${f##*/}; mv -n \"$f\" "
        "\"${f%%/*}/$(echo \"${b%%.*}\" | tr . _).%.8s\"; done)",
        file.text, extension.text, last, last);
}
