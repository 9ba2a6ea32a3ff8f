#include "cli/show_options.h"

#include <string.h>

enum option_key {
    KEY_PIPELINE = 'p',
    KEY_SPLIT    = 's',
    KEY_DATA     = 'd',
    KEY_EPOCH    = 'e',
    KEY_STEP     = 'n',
    KEY_OUTPUT   = 'o',
    KEY_SEED     = 0x100,
    KEY_ROWS
};

static const struct argp_option options[] = {
    {"pipeline", KEY_PIPELINE, "FILE", 0, "The pipeline file (required)", 0},
    {"output", KEY_OUTPUT, "FILE", 0, "FILE.png or FILE.npz (required)", 0},
    {"split", KEY_SPLIT, "NAME", 0, "The split, where the file has several", 0},
    {"epoch", KEY_EPOCH, "E", 0, "The epoch, from 0 (default 0)", 0},
    {"step", KEY_STEP, "N", 0, "The step in it, from 0 (default 0)", 0},
    {"seed", KEY_SEED, "X", 0, "Another seed than the file's", 0},
    {"rows", KEY_ROWS, "R", 0,
        "Only the first R rows (default: .png 64, .npz all)", 0},
    {"data", KEY_DATA, "NAME=DIR", 0,
        "Where NAME: of the pipeline is on this host (repeatable)", 0},
    {0},
};

static bool has_suffix(const char *path, const char *suffix)
{
    size_t n    = strlen(path);
    size_t tail = strlen(suffix);
    return n > tail && strcmp(path + n - tail, suffix) == 0;
}

static void check_options(struct argp_state *state, struct fby_show_options *o)
{
    if (o->local.pipeline == NULL) {
        argp_error(state, "--pipeline FILE is required");
    }
    if (o->output == NULL) {
        argp_error(state, "-o FILE.png or -o FILE.npz is required");
    } else {
        o->is_sheet = has_suffix(o->output, ".png");
        if (!o->is_sheet && !has_suffix(o->output, ".npz")) {
            argp_error(state,
                "-o %s: the name says what is written: .png is a contact "
                "sheet, .npz are the arrays",
                o->output);
        }
    }
}

static error_t parse_name(int key, char *arg, struct fby_show_options *o)
{
    switch (key) {
    case KEY_PIPELINE:
        o->local.pipeline = arg;
        return 0;
    case KEY_SPLIT:
        o->local.split = arg;
        return 0;
    case KEY_OUTPUT:
        o->output = arg;
        return 0;
    case KEY_DATA:
        fby_words_add(&o->local.data, arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct fby_show_options *o = state->input;
    switch (key) {
    case KEY_EPOCH:
        o->epoch = fby_option_u64(state, "--epoch", arg, 0, UINT32_MAX);
        return 0;
    case KEY_STEP:
        o->step = fby_option_u64(state, "--step", arg, 0, INT64_MAX);
        return 0;
    case KEY_SEED:
        o->seed     = fby_option_u64(state, "--seed", arg, 0, UINT64_MAX);
        o->has_seed = true;
        return 0;
    case KEY_ROWS:
        o->rows = fby_option_u64(state, "--rows", arg, 1, FBY_MAX_BATCH);
        return 0;
    case ARGP_KEY_ARG:
        fby_option_stray(
            state, arg, o->local.pipeline == NULL ? "--pipeline" : "-o");
        return 0;
    case ARGP_KEY_END:
        check_options(state, o);
        return 0;
    default:
        return parse_name(key, arg, o);
    }
}

static const struct argp argp = {options, parse_option, NULL,
    "Show one batch as the model will see it.\v"
    "FILE.png is a contact sheet: the pictures as they were made (without the "
    "normalisation), under each its row, sample and key, its labels, and its "
    "ops with what was drawn for them.\n"
    "FILE.npz holds the arrays as they are delivered, for numpy.load: one of "
    "each field, then 'samples' and 'valid'. numpy has no bf16: such an array "
    "is of u2, the upper halves of f32, and (a.astype('u4') << 16).view('f4') "
    "has its values. An array channels_last has the shape n, c, h, w.\n\n"
    "Examples:\n"
    "  forebay show --pipeline p.yaml -o batch.png\n"
    "  forebay show --pipeline p.yaml --epoch 3 --step 12 --rows 16 -o b.png\n"
    "  forebay show --pipeline p.yaml --split val -o batch.npz",
    NULL, NULL, NULL};

void fby_show_parse(int argc, char **argv, struct fby_show_options *out)
{
    *out = (struct fby_show_options){0};
    fby_option_parse(&argp, argc, argv, out);
}
