#include "common/pipeline/step.h"

#include <stddef.h>

struct kind {
    const char *name;
    bool        is_geometric;
    const char *values[FBY_STEP_VALUES];
};

static const struct kind kinds[FBY_N_STEPS] = {
    [FBY_STEP_VERTICAL_FLIP] = {"vertical_flip", true, {0}},
    [FBY_STEP_PAD]           = {"pad", true,
                  {"left", "top", "right", "bottom", "fill", "mode"}},
    [FBY_STEP_GREY]          = {"grey", false, {0}},
};

static const struct kind *kind_of(enum fby_step_kind kind)
{
    static const struct kind none = {.name = ""};
    return (unsigned)kind < FBY_N_STEPS && kinds[kind].name != NULL
               ? &kinds[kind]
               : &none;
}

const char *fby_step_name(enum fby_step_kind kind)
{
    return kind_of(kind)->name;
}

const char *fby_step_value_name(enum fby_step_kind kind, unsigned i)
{
    return i < FBY_STEP_VALUES ? kind_of(kind)->values[i] : NULL;
}

bool fby_step_is_geometric(enum fby_step_kind kind)
{
    return kind_of(kind)->is_geometric;
}

struct fby_size fby_step_size(const struct fby_step *step, struct fby_size in)
{
    if (step->kind == FBY_STEP_PAD) {
        in.w += (uint32_t)(step->v[0] + step->v[2]);
        in.h += (uint32_t)(step->v[1] + step->v[3]);
    }
    return in;
}
