/* SPDX-License-Identifier: Apache-2.0 */
/* list.c - the source `list`: a .csv or .jsonl file whose columns can hold
 * paths of files. */
#include <string.h>

#include "pipeline/canon.h"
#include "pipeline/record.h"
#include "pipeline/sources/sources.h"
#include "pipeline/text.h"

static const struct fby_key key = {
    FBY_TEXT("list", parsed_split, pattern, "a .csv or .jsonl file")};

/* The path of a list has no wildcards. Its directory ends at the last slash. */
static size_t directory_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

static fby_err check_path_rest(
    const char *rest, const char *pattern, struct fby_error_detail *why)
{
    if (fby_text_ends_with(rest, ".csv") ||
        fby_text_ends_with(rest, ".jsonl")) {
        return FBY_OK;
    }
    return fby_error_set(why, FBY_CONFIG,
        "'%s' is not a list: its name must end with .csv or .jsonl",
        fby_text_show(pattern).text);
}

static void fill_content(
    const struct parsed_split *parsed, struct fby_content *out)
{
    out->n_files = parsed->n_files;
    memcpy(out->files, parsed->files, sizeof(out->files));
}

/* Check that the columns that hold paths have valid, unique, sorted names. */
static fby_err check(
    const struct fby_content *content, struct fby_error_detail *why)
{
    for (size_t i = 0; i < content->n_files; i++) {
        const char *column = content->files[i];
        bool is_sorted = i == 0 || strcmp(content->files[i - 1], column) < 0;
        if (!is_sorted || !fby_text_is_extension(column) ||
            strchr(column, '.') != NULL) {
            return fby_error_set(why, FBY_CONFIG,
                "files are columns of a list, each once, in byte order: "
                "lower-case letters, digits, _ and -");
        }
    }
    return FBY_OK;
}

static void encode(const struct fby_content *content, struct fby_buffer *out)
{
    if (content->n_files > 0) {
        fby_record_put_names(
            out, FBY_CONTENT_FILES, content->files, content->n_files);
    }
}

static void decode(struct fby_record *r, struct fby_content *out)
{
    if (fby_record_next_is(r, FBY_CONTENT_FILES)) {
        out->n_files = fby_record_read_names(
            r, FBY_CONTENT_FILES, out->files, FBY_MAX_FILES);
    }
}

const struct fby_source_traits fby_source_list = {
    .id               = FBY_SOURCE_LIST,
    .key              = &key,
    .usage            = "list: FILE",
    .samples          = "rows of a list",
    .label            = "COLUMN",
    .has_paths        = true,
    .has_values       = true,
    .has_files        = true,
    .has_names        = true,
    .lists_folders    = true,
    .directory_length = directory_length,
    .check_path_rest  = check_path_rest,
    .fill_content     = fill_content,
    .check            = check,
    .encode           = encode,
    .decode           = decode,
};
