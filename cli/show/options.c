#include "cli/show/options.h"

#include "pipeline/text.h"

enum option_key { KEY_OUTPUT = 'o', KEY_ROWS = 0x100 };

static const struct argp_option options[] = {
    {"output", KEY_OUTPUT, "FILE", 0, "FILE.png or FILE.npz (required)", 0},
    {"rows", KEY_ROWS, "R", 0, "Only the first R (default: .png 64, .npz all)",
        0},
    {0},
};

static void check_output(struct argp_state *state, struct fby_show_options *o)
{
    if (o->output == NULL) {
        argp_error(state, "-o FILE.png or -o FILE.npz is required");
    } else {
        o->is_sheet = fby_text_ends_with(o->output, ".png");
        if (!o->is_sheet && !fby_text_ends_with(o->output, ".npz")) {
            argp_error(state,
                "-o %s: the name must end with .png (a contact sheet) or "
                ".npz (the arrays)",
                o->output);
        }
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct fby_show_options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->local;
        state->child_inputs[1] = &o->position;
        return 0;
    case KEY_OUTPUT:
        o->output = arg;
        return 0;
    case KEY_ROWS:
        o->rows = fby_option_u64(state, "--rows", arg, 1, FBY_MAX_BATCH);
        return 0;
    case ARGP_KEY_ARG:
        fby_option_unexpected(
            state, arg, o->local.pipeline == NULL ? "--pipeline" : "-o");
        return 0;
    case ARGP_KEY_END:
        check_output(state, o);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&fby_local_argp, 0, NULL, 0}, {&fby_position_argp, 0, NULL, 0}, {0}};

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
    children, NULL, NULL};

void fby_show_parse(int argc, char **argv, struct fby_show_options *out)
{
    *out = (struct fby_show_options){0};
    fby_option_parse(&argp, argc, argv, out);
}
