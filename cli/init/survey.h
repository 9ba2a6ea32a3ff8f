/* SPDX-License-Identifier: Apache-2.0 */
/* survey.h - look into a few folders before they are taken for classes.
 *
 * A survey stops at the first picture of a folder and after some thousand
 * entries, so that it costs little beside the counting of all files. */
#ifndef FBY_CLI_INIT_SURVEY_H
#define FBY_CLI_INIT_SURVEY_H

#include "cli/init/guess_search.h"

enum { FBY_SURVEY_FOLDERS = 32 }; /* more folders are taken for classes */

struct fby_survey_folder {
    const char *name;      /* borrowed from the listing */
    bool        has_train; /* a folder train is in it */
    bool        is_empty;  /* no entry is in it */
    bool        has_files; /* a file is directly in it */
    bool        has_dirs;  /* a folder is directly in it */
    bool        is_whole;  /* all was looked at, or a picture was found */
    /* A picture in it or below, also one that is not decoded, as .gif: its path
     * relative to the folder. NULL: none was found. */
    char *picture;
};

struct fby_survey {
    struct fby_survey_folder folders[FBY_SURVEY_FOLDERS];
    uint32_t                 n; /* 0 if the listing has more */
};

/* Look into the folders in the listing of `path`. Folders that cannot be read
 * are not whole. Release `out` with fini. */
void fby_survey_folders(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_survey *out);
void fby_survey_fini(struct fby_survey *self);

#endif
