#include "cli/position.h"

#include <inttypes.h>

#include "common/plural.h"

enum option_key { KEY_EPOCH = 'e', KEY_STEP = 'n', KEY_SEED = 0x100 };

static const struct argp_option options[] = {
    {"epoch", KEY_EPOCH, "E", 0, "The epoch, from 0 (default 0)", 0},
    {"step", KEY_STEP, "S", 0, "The step in it, from 0 (default 0)", 0},
    {"seed", KEY_SEED, "X", 0, "Another seed than the file's", 0},
    {0},
};

/* NOLINTNEXTLINE(readability-non-const-parameter): argp's type */
static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct fby_position *o = state->input;
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
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp fby_position_argp = {
    options, parse_option, NULL, NULL, NULL, NULL, NULL};

fby_err fby_position_find(struct fby_position *position,
    const struct fby_local *local, struct fby_order **out, struct fby_why *why)
{
    if (!position->has_seed) {
        position->seed = fby_pipeline_seed(local->pipeline);
    }
    struct fby_order_spec spec = fby_order_spec_of(
        &local->split->content, position->seed, position->epoch);
    spec.samples       = fby_dataset_samples(local->dataset);
    spec.shard_samples = fby_dataset_shard_samples(local->dataset);
    spec.n_shards      = fby_dataset_shards(local->dataset);
    spec.buckets       = local->buckets;
    fby_err err        = fby_order_create(&spec, out, why);
    if (err == FBY_OK && position->step >= fby_order_steps(*out)) {
        err = fby_because(why, FBY_USAGE,
            "--step %" PRIu64 ": an epoch has %s, from 0", position->step,
            fby_plural(fby_order_steps(*out), "step").text);
        fby_order_destroy(out);
    }
    return err;
}
