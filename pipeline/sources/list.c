/* list.c - `list`: rows of a .csv or .jsonl file, some of whose columns may be
 * paths. */
#include <string.h>

#include "pipeline/canon.h"
#include "pipeline/draft.h"
#include "pipeline/record.h"
#include "pipeline/sources/sources.h"
#include "pipeline/text.h"

static const struct fby_key key = {.name = "list",
    .expects                             = "a .csv or .jsonl file",
    .kind                                = FBY_KEY_TEXT,
    .offset   = offsetof(struct draft_split, pattern),
    .capacity = FBY_PATH_SIZE};

/* No letter is a wildcard: the directory ends at the last slash. */
static size_t cut(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

static fby_err check_rest(
    const char *rest, const char *pattern, struct fby_why *why)
{
    return fby_text_ends_with(rest, ".csv") ||
                   fby_text_ends_with(rest, ".jsonl")
               ? FBY_OK
               : fby_because(why, FBY_CONFIG,
                     "'%s' is no list: a name that ends with .csv or .jsonl",
                     fby_text_show(pattern).text);
}

static void resolve(const struct draft_split *said, struct fby_content *out)
{
    out->n_files = said->n_files;
    memcpy(out->files, said->files, sizeof(out->files));
}

/* A name once, in one spelling, and in one order. */
static fby_err check(const struct fby_content *content, struct fby_why *why)
{
    for (size_t i = 0; i < content->n_files; i++) {
        const char *name = content->files[i];
        if (!fby_text_is_extension(name) || strchr(name, '.') != NULL ||
            (i > 0 && strcmp(content->files[i - 1], name) >= 0)) {
            return fby_because(why, FBY_CONFIG,
                "files are columns of a list, each once, in byte order: "
                "lower-case letters, digits, _ and -");
        }
    }
    return FBY_OK;
}

static void encode(const struct fby_content *content, struct fby_buffer *out)
{
    if (content->n_files == 0) {
        return;
    }
    size_t mark = fby_record_open(out, FBY_CONTENT_FILES);
    for (size_t i = 0; i < content->n_files; i++) {
        fby_record_put_text(out, (uint16_t)(i + 1), content->files[i]);
    }
    fby_record_close(out, mark);
}

static void decode(struct fby_record *r, struct fby_content *out)
{
    if (!fby_record_has(r, FBY_CONTENT_FILES)) {
        return;
    }
    struct fby_record list = fby_record_nested(r, FBY_CONTENT_FILES);
    while (fby_record_more(&list) && out->n_files < FBY_MAX_FILES) {
        fby_record_text(&list, (uint16_t)(out->n_files + 1),
            out->files[out->n_files], FBY_NAME_SIZE);
        out->n_files++;
    }
    fby_record_leave(r, &list);
}

const struct fby_source_traits fby_source_list = {
    .id         = FBY_SOURCE_LIST,
    .key        = &key,
    .usage      = "list: FILE",
    .samples    = "rows of a list",
    .label      = "COLUMN",
    .has_paths  = true,
    .has_values = true,
    .has_files  = true,
    .has_names  = true,
    .is_listed  = true,
    .cut        = cut,
    .check_rest = check_rest,
    .resolve    = resolve,
    .check      = check,
    .encode     = encode,
    .decode     = decode,
};
