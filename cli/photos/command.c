/* SPDX-License-Identifier: Apache-2.0 */
/* command.c - `forebay photos`: write a small data set of JPEG files.
 *
 * The data set is for the demo and the tests: photo-like pictures in class
 * folders. The pixels of a picture encode its number and its label (the class),
 * so tests can verify pictures. */
#include "cli/photos/photos.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/option.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/signals.h"

struct photos_options {
    const char *dir;
    uint32_t    n_pictures;
    uint32_t    classes;
    uint32_t    width; /* in pixels, from --side; 0: several sizes */
};

#define NUMBER(member, min, max) \
    FBY_RANGE(FBY_NUMBER, struct photos_options, member, min, max)

static const struct fby_option options[] = {
    {"number", 'n', "N", "How many pictures (default 600)",
        NUMBER(n_pictures, 1, FBY_PHOTO_NUMBERS - 1)},
    {"classes", 'c', "N", "In how many classes (default 6)",
        NUMBER(classes, 1, FBY_PHOTO_LABELS)},
    {"side", 's', "N",
        "Width in pixels, the height three quarters of it (default: several "
        "sizes from 160 to 640)",
        NUMBER(width, 64, 4096)},
    {0},
};

static const char about[] =
    "Write photo-like JPEG files into class folders of DIR, to try forebay and "
    "test it.\v"
    "Examples:\n"
    "  forebay photos /tmp/photos\n"
    "  forebay photos /tmp/few --number 48 --classes 3\n"
    "Every tenth file is progressive; the same options make the same files.";

static const struct fby_usage usage = {.options = options,
    .operand                                    = "DIR",
    .operand_meaning                            = "the directory to write to",
    .operand_offset = offsetof(struct photos_options, dir),
    .help           = about};

static fby_err make_dir(const char *path, struct fby_error_detail *why)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST
               ? FBY_OK
               : fby_error_set(why, FBY_IO, "%s: %s", path, strerror(errno));
}

/* Files of an earlier run are replaced. What a link leads to, a pipe or a
 * device is not: the user gave only the name of the directory. */
static fby_err write_file(const char *path, const struct fby_buffer *jpeg,
    struct fby_error_detail *why)
{
    struct stat       st;
    struct fby_output output;
    if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        return fby_error_set(why, FBY_IO, "%s exists and is no file", path);
    }
    FBY_TRY(fby_output_open(&output, path, why));
    fby_output_write(&output, jpeg->data, jpeg->size);
    return fby_output_finish(&output, why);
}

static fby_err write_photo(const struct photos_options *o, uint32_t number,
    uint32_t label, struct fby_buffer *jpeg, struct fby_error_detail *why)
{
    char             path[4096];
    struct fby_photo photo = {
        .number      = number,
        .label       = label,
        .width       = o->width,
        .height      = o->width * 3 / 4,
        .progressive = number % 10 == 9,
    };
    jpeg->size  = 0;
    fby_err err = fby_photo_write(&photo, jpeg);
    if (err != FBY_OK) {
        return fby_error_set(why, err, "picture %u", number);
    }
    snprintf(
        path, sizeof(path), "%s/c%02u/%06u.jpg", o->dir, photo.label, number);
    return write_file(path, jpeg, why);
}

static fby_err make_dirs(
    const struct photos_options *o, struct fby_error_detail *why)
{
    char    path[4096];
    fby_err err = make_dir(o->dir, why);
    for (unsigned i = 0; i < o->classes && err == FBY_OK; i++) {
        snprintf(path, sizeof(path), "%s/c%02u", o->dir, i);
        err = make_dir(path, why);
    }
    return err;
}

static fby_err write_all(
    const struct photos_options *o, struct fby_error_detail *why)
{
    struct fby_buffer        jpeg = {0};
    struct fby_progress_line line = fby_progress_begin();
    fby_err                  err  = make_dirs(o, why);
    for (uint32_t i = 0, label = 0; i < o->n_pictures && err == FBY_OK; i++) {
        err = fby_signals_check(why);
        if (err == FBY_OK) {
            err = write_photo(o, i, label, &jpeg, why);
        }
        label = label + 1 < o->classes ? label + 1 : 0;
        fby_progress_show_count(
            &line, "writing pictures", i + 1, o->n_pictures);
    }
    fby_progress_end(&line);
    fby_buffer_fini(&jpeg);
    return err;
}

static int run(int argc, char **argv)
{
    struct photos_options   o   = {.n_pictures = 600, .classes = 6};
    struct fby_error_detail why = {{0}};
    fby_usage_parse(&usage, argc, argv, &o);
    fby_signals_catch(); /* no file stays half written */
    int code = fby_command_end("photos", write_all(&o, &why), &why);
    return fby_signals_caught() != 0 ? 128 + fby_signals_caught() : code;
}

const struct fby_command fby_command_photos = {
    .name    = "photos",
    .summary = "write photo-like JPEG files to try forebay with",
    .run     = run,
};
