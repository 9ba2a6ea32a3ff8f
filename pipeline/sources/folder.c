/* SPDX-License-Identifier: Apache-2.0 */
/* folder.c - the source `folder`: a folder with a folder for each class. */
#include <string.h>

#include "pipeline/canon.h"
#include "pipeline/parse_state.h"
#include "pipeline/record.h"
#include "pipeline/sources/sources.h"
#include "pipeline/text.h"

static const struct fby_key key = {FBY_TEXT("folder", parsed_split, pattern,
    "one folder of class folders (files that belong together in several "
    "folders: parallel: data/{images,masks})")};

/* The path of a folder has no wildcards: the whole path is the directory. */
static size_t directory_length(const char *path)
{
    return strlen(path);
}

static void fill_content(
    const struct parsed_split *parsed, struct fby_content *out)
{
    out->flat = parsed->class_depth == 0;
    out->class_depth =
        parsed->class_depth > 1 ? (uint32_t)parsed->class_depth : 0;
}

static fby_err check(
    const struct fby_content *content, struct fby_error_detail *why)
{
    uint32_t depth = content->class_depth;
    if (depth == 1 || depth > FBY_MAX_CLASS_DEPTH ||
        (content->flat && depth > 0)) {
        return fby_error_set(why, FBY_CONFIG,
            "class_depth is not within 0 to %d", FBY_MAX_CLASS_DEPTH);
    }
    for (uint32_t i = 0; content->flat && i < content->n_fields; i++) {
        if (fby_field_is_folder_id(&content->fields[i])) {
            return fby_error_set(why, FBY_CONFIG,
                "class_depth: 0 means no classes, but field '%s' is from: "
                "folder; remove the field or use another class_depth",
                content->fields[i].name);
        }
    }
    return FBY_OK;
}

static void encode(const struct fby_content *content, struct fby_buffer *out)
{
    if (content->flat || content->class_depth > 0) {
        fby_record_put_i64(out, FBY_CONTENT_CLASS_DEPTH, content->class_depth);
    }
}

static void decode(struct fby_record *r, struct fby_content *out)
{
    if (fby_record_next_is(r, FBY_CONTENT_CLASS_DEPTH)) {
        out->class_depth = fby_record_read_u32(r, FBY_CONTENT_CLASS_DEPTH);
        out->flat        = out->class_depth == 0;
    }
}

/* Refuse braces, which other sources expand. `rest` is empty. */
static fby_err check_path_rest(
    const char *rest, const char *pattern, struct fby_error_detail *why)
{
    const char *open  = strchr(pattern, '{');
    const char *close = open != NULL ? strchr(open, '}') : NULL;
    const char *comma = open != NULL ? strchr(open, ',') : NULL;
    (void)rest;
    if (close == NULL || comma == NULL || comma > close) {
        return FBY_OK;
    }
    return fby_error_set(why, FBY_CONFIG,
        "'%s': folder is one folder; write a split for each, or for files "
        "that belong together parallel: data/{images,masks}",
        fby_text_show(pattern).text);
}

const struct fby_source_traits fby_source_folder = {
    .id               = FBY_SOURCE_FOLDER,
    .key              = &key,
    .usage            = "folder: PATH",
    .samples          = "folders",
    .has_classes      = true,
    .has_files        = true,
    .lists_folders    = true,
    .reads_zip        = true,
    .directory_length = directory_length,
    .check_path_rest  = check_path_rest,
    .fill_content     = fill_content,
    .check            = check,
    .encode           = encode,
    .decode           = decode,
};
