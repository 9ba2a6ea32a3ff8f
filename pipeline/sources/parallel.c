/* SPDX-License-Identifier: Apache-2.0 */
/* parallel.c - the source `parallel`: several folders. Files with the same name
 * belong to one sample. */
#include <string.h>

#include "pipeline/sources/sources.h"
#include "pipeline/text.h"

static const struct fby_key key = {FBY_TEXT("parallel", parsed_split, pattern,
    "folders in braces: data/{images,masks}")};

/* Check that the `n_names` names in the brace are different, and valid in
 * `from:`, which selects a folder by its name. */
static fby_err check_names(const char *rest, uint32_t n_names,
    const char *pattern, struct fby_error_detail *why)
{
    struct fby_parallel_folder folders[FBY_MAX_PARALLEL];
    for (uint32_t i = 0; i < n_names; i++) {
        fby_location_parallel_folder(rest, i, &folders[i]);
        bool is_valid = fby_text_is_extension(folders[i].name) &&
                        strchr(folders[i].name, '.') == NULL;
        for (uint32_t k = 0; is_valid && k < i; k++) {
            is_valid = strcmp(folders[k].name, folders[i].name) != 0;
        }
        if (!is_valid) {
            return fby_error_set(why, FBY_CONFIG,
                "'%s': the names in the brace are different ones, of "
                "lower-case letters, digits, _ and -",
                fby_text_show(pattern).text);
        }
    }
    return FBY_OK;
}

/* Check that `rest`, the path after its directory, has one brace of valid names
 * and no wildcards. */
static fby_err check_path_rest(
    const char *rest, const char *pattern, struct fby_error_detail *why)
{
    uint32_t    n_names = 0;
    const char *brace   = strchr(rest, '{');
    FBY_TRY(fby_braces_count(rest, &n_names, why));
    bool has_one_brace = brace != NULL && strchr(brace + 1, '{') == NULL;
    if (!has_one_brace || fby_has_wildcards(rest) || n_names < 2 ||
        n_names > FBY_MAX_PARALLEL) {
        return fby_error_set(why, FBY_CONFIG,
            "'%s': parallel folders are 2 to %d names in one brace, as in "
            "data/{images,masks}, without wildcards",
            fby_text_show(pattern).text, FBY_MAX_PARALLEL);
    }
    FBY_TRY(fby_braces_check(rest, why));
    return check_names(rest, n_names, pattern, why);
}

const struct fby_source_traits fby_source_parallel = {
    .id              = FBY_SOURCE_PARALLEL,
    .key             = &key,
    .usage           = "parallel: PATTERN",
    .samples         = "parallel folders",
    .label           = "cls",
    .has_files       = true,
    .has_names       = true,
    .lists_folders   = true,
    .reads_zip       = true,
    .check_path_rest = check_path_rest,
};
