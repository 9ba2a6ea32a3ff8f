/* `bucket_by` of a split: which field, and where one bucket ends. */
#include "pipeline/draft.h"

static const char bounds_expected[] =
    "a list of 1 to 63 integers, 1 to 1099511627776, ascending, such as [64, "
    "128, 256]";

static fby_err read_bounds(
    struct fby_yaml *yaml, yaml_node_t *node, void *target)
{
    struct draft_bucket *bucket = target;
    size_t               n = fby_yaml_is_list(node) ? fby_yaml_length(node) : 0;
    if (n < 1 || n > FBY_MAX_BOUNDS) {
        return fby_yaml_expected(yaml, node, bounds_expected);
    }
    for (size_t i = 0; i < n; i++) {
        yaml_node_t *item  = fby_yaml_item(yaml, node, i);
        int64_t      least = i == 0 ? 1 : bucket->by.bounds[i - 1] + 1;
        if (!fby_yaml_integer(item, &bucket->by.bounds[i]) ||
            bucket->by.bounds[i] < least ||
            bucket->by.bounds[i] > FBY_MAX_BOUND) {
            return fby_yaml_expected(yaml, item, bounds_expected);
        }
    }
    bucket->by.n_bounds = (uint32_t)n;
    return FBY_OK;
}

static const struct fby_key keys[BUCKET_KEYS] = {
    [BUCKET_FIELD]  = {.name = "field",
         .expects            = "a field whose members have lengths",
         .kind               = FBY_KEY_TEXT,
         .required           = true,
         .offset             = offsetof(struct draft_bucket, by.field),
         .capacity           = FBY_NAME_SIZE},
    [BUCKET_BOUNDS] = {.name = "bounds",
        .expects             = bounds_expected,
        .kind                = FBY_KEY_OWN,
        .required            = true,
        .read                = read_bounds},
};
static const struct fby_schema schema = {
    "{field: NAME, bounds: [64, 128, 256]}", keys, BUCKET_KEYS};

fby_err fby_draft_bucket(struct fby_yaml *yaml, yaml_node_t *node, void *split)
{
    struct draft_bucket *bucket = &((struct draft_split *)split)->bucket;
    return fby_schema_read(yaml, node, &schema, bucket);
}
