/* folder.c - `folder`: class folders of files. */
#include <string.h>

#include "pipeline/draft.h"
#include "pipeline/sources/sources.h"

static const struct fby_key key = {.name = "folder",
    .expects                             = "a folder of class folders",
    .kind                                = FBY_KEY_TEXT,
    .offset   = offsetof(struct draft_split, pattern),
    .capacity = FBY_PATH_SIZE};

/* No letter is a wildcard: the whole path is the directory. */
static size_t cut(const char *path)
{
    return strlen(path);
}

const struct fby_source_traits fby_source_folder = {
    .id          = FBY_SOURCE_FOLDER,
    .key         = &key,
    .usage       = "folder: PATH",
    .samples     = "folders",
    .has_classes = true,
    .has_files   = true,
    .is_listed   = true,
    .cut         = cut,
};
