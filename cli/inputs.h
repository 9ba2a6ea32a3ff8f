/* SPDX-License-Identifier: Apache-2.0 */
/* inputs.h - refuse an output that is a file which the command reads.
 *
 * Two paths name one file if device and inode are equal, so links are seen too.
 * An output that does not exist, and one that is no regular file, is none of
 * the inputs. `output` may be NULL: there is no output. All errors are
 * FBY_USAGE. */
#ifndef FBY_CLI_INPUTS_H
#define FBY_CLI_INPUTS_H

#include "cli/option.h"
#include "common/err.h"
#include "worker/source/dataset.h"

/* Refuse an output that is the file `input`. */
FBY_CHECKED fby_err fby_inputs_check_file(
    const char *output, const char *input, struct fby_error_detail *why);

/* Refuse an output that is a file which `pattern`, a plain location of data,
 * names: one of its files, or the zip archive in it. */
FBY_CHECKED fby_err fby_inputs_check_pattern(
    const char *output, const char *pattern, struct fby_error_detail *why);

/* Refuse an output that is the pipeline file `path` or one that the locations
 * of its splits name. `roots` has the "NAME=DIR" for locations NAME:path; those
 * without their root are not checked. The lists of the key `exclude` are inputs
 * in fby_inputs_check_all only.
 * Errors: also those of fby_pipeline_load and fby_pipeline_make_split. */
FBY_CHECKED fby_err fby_inputs_check_all(const char *output, const char *path,
    const struct fby_words *roots, struct fby_error_detail *why);
FBY_CHECKED fby_err fby_inputs_check_pipeline(const char *output,
    const char *path, const struct fby_words *roots,
    struct fby_error_detail *why);

/* Refuse an output that is a file of the dataset. */
FBY_CHECKED fby_err fby_inputs_check_dataset(const char *output,
    const struct fby_dataset *dataset, struct fby_error_detail *why);

#endif
