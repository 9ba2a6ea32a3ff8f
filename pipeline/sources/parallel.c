/* parallel.c - `parallel`: folders whose files are paired by name. */
#include <string.h>

#include "pipeline/draft.h"
#include "pipeline/location.h"
#include "pipeline/sources/sources.h"
#include "pipeline/text.h"

static const struct fby_key key = {.name = "parallel",
    .expects  = "folders in braces: data/{images,masks}",
    .kind     = FBY_KEY_TEXT,
    .offset   = offsetof(struct draft_split, pattern),
    .capacity = FBY_PATH_SIZE};

static fby_err check_names(
    const char *rest, uint32_t n, const char *pattern, struct fby_why *why)
{
    struct fby_side sides[FBY_MAX_SIDES];
    for (uint32_t i = 0; i < n; i++) {
        fby_location_side(rest, i, &sides[i]);
        bool good = fby_text_is_extension(sides[i].name) &&
                    strchr(sides[i].name, '.') == NULL;
        for (uint32_t k = 0; good && k < i; k++) {
            good = strcmp(sides[k].name, sides[i].name) != 0;
        }
        if (!good) {
            return fby_because(why, FBY_CONFIG,
                "'%s': the names in the brace are different ones, of "
                "lower-case letters, digits, _ and -",
                fby_text_show(pattern).text);
        }
    }
    return FBY_OK;
}

/* One brace, no wildcard, and each choice a name that fields can say. */
static fby_err check_rest(
    const char *rest, const char *pattern, struct fby_why *why)
{
    uint32_t    n     = 0;
    const char *brace = strchr(rest, '{');
    fby_err     err   = fby_braces_count(rest, &n, why);
    if (err != FBY_OK) {
        return err;
    }
    if (brace == NULL || strchr(brace + 1, '{') != NULL || fby_glob_has(rest) ||
        n < 2 || n > FBY_MAX_SIDES) {
        return fby_because(why, FBY_CONFIG,
            "'%s': parallel folders are 2 to %d names in one brace, as in "
            "data/{images,masks}, without wildcards",
            fby_text_show(pattern).text, FBY_MAX_SIDES);
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
