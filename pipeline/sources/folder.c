/* SPDX-License-Identifier: Apache-2.0 */
/* folder.c - the source `folder`: a folder with a folder for each class. */
#include <string.h>

#include "pipeline/sources/sources.h"

static const struct fby_key key = {
    FBY_TEXT("folder", parsed_split, pattern, "a folder of class folders")};

/* The path of a folder has no wildcards: the whole path is the directory. */
static size_t directory_length(const char *path)
{
    return strlen(path);
}

const struct fby_source_traits fby_source_folder = {
    .id               = FBY_SOURCE_FOLDER,
    .key              = &key,
    .usage            = "folder: PATH",
    .samples          = "folders",
    .has_classes      = true,
    .has_files        = true,
    .lists_folders    = true,
    .directory_length = directory_length,
};
