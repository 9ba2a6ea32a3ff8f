/* command.c - `forebay photos`: write a small data set of JPEG files.
 *
 * It is for the demo and the tests: photo-like pictures in class folders. Tests
 * can verify them, because their pixels encode number and label. */
#include "cli/photos/photos.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/option.h"
#include "cli/progress.h"

enum option_key { KEY_NUMBER = 'n', KEY_CLASSES = 'c', KEY_SIDE = 's' };

struct photos_options {
    const char *dir;
    uint64_t    number;
    uint64_t    classes;
    uint64_t    side;
};

static const struct argp_option options[] = {
    {"number", KEY_NUMBER, "N", 0, "How many pictures (default 600)", 0},
    {"classes", KEY_CLASSES, "N", 0, "In how many classes (default 6)", 0},
    {"side", KEY_SIDE, "N", 0,
        "Width in pixels, the height three quarters of it (default: several "
        "sizes from 160 to 640)",
        0},
    {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct photos_options *o = state->input;
    switch (key) {
    case KEY_NUMBER:
        o->number =
            fby_option_u64(state, "--number", arg, 1, FBY_PHOTO_NUMBERS - 1);
        return 0;
    case KEY_CLASSES:
        o->classes =
            fby_option_u64(state, "--classes", arg, 1, FBY_PHOTO_LABELS);
        return 0;
    case KEY_SIDE:
        o->side = fby_option_u64(state, "--side", arg, 64, 4096);
        return 0;
    case ARGP_KEY_ARG:
        if (o->dir != NULL) {
            argp_error(state, "one directory only");
        }
        o->dir = arg;
        return 0;
    case ARGP_KEY_END:
        if (o->dir == NULL) {
            argp_error(state, "name the directory to write to");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {options, parse_option, "DIR",
    "Write photo-like JPEG files into class folders of DIR, to try and test "
    "with.\v"
    "Examples:\n"
    "  forebay photos /tmp/photos\n"
    "  forebay photos /tmp/few --number 48 --classes 3\n"
    "Every tenth file is progressive; the same options make the same files.",
    NULL, NULL, NULL};

static fby_err make_dir(const char *path, struct fby_why *why)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST
               ? FBY_OK
               : fby_because(why, FBY_IO, "%s: %s", path, strerror(errno));
}

static fby_err write_photo(const struct photos_options *o, uint32_t number,
    uint32_t label, struct fby_buffer *jpeg, struct fby_why *why)
{
    char             path[4096];
    struct fby_photo photo = {
        .number      = number,
        .label       = label,
        .width       = (uint32_t)o->side,
        .height      = (uint32_t)o->side * 3 / 4,
        .progressive = number % 10 == 9,
    };
    jpeg->size  = 0;
    fby_err err = fby_photo_write(&photo, jpeg);
    if (err != FBY_OK) {
        return fby_because(why, err, "picture %u", number);
    }
    snprintf(
        path, sizeof(path), "%s/c%02u/%06u.jpg", o->dir, photo.label, number);
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        return fby_because(why, FBY_IO, "%s: %s", path, strerror(errno));
    }
    bool written = fwrite(jpeg->data, 1, jpeg->size, file) == jpeg->size;
    return fclose(file) == 0 && written
               ? FBY_OK
               : fby_because(why, FBY_IO, "%s: %s", path, strerror(errno));
}

static fby_err make_dirs(const struct photos_options *o, struct fby_why *why)
{
    char    path[4096];
    fby_err err = make_dir(o->dir, why);
    for (unsigned i = 0; i < o->classes && err == FBY_OK; i++) {
        snprintf(path, sizeof(path), "%s/c%02u", o->dir, i);
        err = make_dir(path, why);
    }
    return err;
}

static fby_err write_all(const struct photos_options *o, struct fby_why *why)
{
    struct fby_buffer        jpeg = {0};
    struct fby_progress_line line = fby_progress_begin();
    fby_err                  err  = make_dirs(o, why);
    for (uint32_t i = 0, label = 0; i < o->number && err == FBY_OK; i++) {
        err   = write_photo(o, i, label, &jpeg, why);
        label = label + 1 < o->classes ? label + 1 : 0;
        fby_progress_count(&line, "writing pictures", i + 1, o->number);
    }
    fby_progress_end(&line);
    fby_buffer_fini(&jpeg);
    return err;
}

static int run(int argc, char **argv)
{
    struct photos_options o   = {.number = 600, .classes = 6};
    struct fby_why        why = {{0}};
    fby_option_parse(&argp, argc, argv, &o);
    return fby_command_end("photos", write_all(&o, &why), &why);
}

const struct fby_command fby_command_photos = {
    .name    = "photos",
    .summary = "write photo-like JPEG files to try it with",
    .run     = run,
};
