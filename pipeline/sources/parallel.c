/* parallel.c - the source `parallel`: folders with files paired by name. */
#include <string.h>

#include "pipeline/sources/sources.h"
#include "pipeline/text.h"

static const struct fby_key key = {FBY_TEXT("parallel", parsed_split, pattern,
    "folders in braces: data/{images,masks}")};

/* Check that the choices in the brace are different and valid names. */
static fby_err check_names(const char *rest, uint32_t n, const char *pattern,
    struct fby_error_detail *why)
{
    struct fby_parallel_folder folders[FBY_MAX_PARALLEL];
    for (uint32_t i = 0; i < n; i++) {
        fby_location_parallel_folder(rest, i, &folders[i]);
        bool ok = fby_text_is_extension(folders[i].name) &&
                  strchr(folders[i].name, '.') == NULL;
        for (uint32_t k = 0; ok && k < i; k++) {
            ok = strcmp(folders[k].name, folders[i].name) != 0;
        }
        if (!ok) {
            return fby_error_set(why, FBY_CONFIG,
                "'%s': the names in the brace are different ones, of "
                "lower-case letters, digits, _ and -",
                fby_text_show(pattern).text);
        }
    }
    return FBY_OK;
}

/* Check that `rest` has one brace of valid names, and no wildcards. */
static fby_err check_rest(
    const char *rest, const char *pattern, struct fby_error_detail *why)
{
    uint32_t    n     = 0;
    const char *brace = strchr(rest, '{');
    fby_err     err   = fby_braces_count(rest, &n, why);
    if (err != FBY_OK) {
        return err;
    }
    if (brace == NULL || strchr(brace + 1, '{') != NULL ||
        fby_has_wildcards(rest) || n < 2 || n > FBY_MAX_PARALLEL) {
        return fby_error_set(why, FBY_CONFIG,
            "'%s': parallel folders are 2 to %d names in one brace, as in "
            "data/{images,masks}, without wildcards",
            fby_text_show(pattern).text, FBY_MAX_PARALLEL);
    }
    err = fby_braces_check(rest, why);
    return err == FBY_OK ? check_names(rest, n, pattern, why) : err;
}

const struct fby_source_traits fby_source_parallel = {
    .id         = FBY_SOURCE_PARALLEL,
    .key        = &key,
    .usage      = "parallel: PATTERN",
    .samples    = "parallel folders",
    .label      = "cls",
    .has_files  = true,
    .has_names  = true,
    .is_listed  = true,
    .check_rest = check_rest,
};
