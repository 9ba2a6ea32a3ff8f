/* SPDX-License-Identifier: Apache-2.0 */
/* lines.c - find a field of a parsed pipeline file, and the line numbers of
 * keys for advice to the user. */
#include "pipeline/lines.h"

#include <string.h>

#include "pipeline/nearest.h"
#include "pipeline/parse_state.h"

const struct parsed_field *fby_parsed_find_field(
    const struct fby_pipeline *self, const char *name,
    struct fby_nearest *nearest)
{
    for (size_t i = 0; i < self->n_fields; i++) {
        if (strcmp(self->fields[i].name, name) == 0) {
            return &self->fields[i];
        }
        if (nearest != NULL) {
            fby_nearest_offer(nearest, self->fields[i].name);
        }
    }
    return NULL;
}

size_t fby_pipeline_line(
    const struct fby_pipeline *self, const char *field, enum fby_field_key key)
{
    const struct parsed_field *found = fby_parsed_find_field(self, field, NULL);
    struct fby_field_fault     fault = {.key = key}; /* to look up its line */
    if (found == NULL) {
        return 0;
    }
    if (key == FBY_FIELD_DEVICE) {
        while (
            fault.index < found->n_device &&
            found->device[fault.index].use.op->id != FBY_OP_DEVICE_NORMALIZE) {
            fault.index++;
        }
        fault.has_index = fault.index < found->n_device;
    }
    return fby_parsed_fault_pos(found, &fault, ALL_SPLITS).line;
}

size_t fby_pipeline_op_line(const struct fby_pipeline *self, const char *split,
    const char *field, uint32_t i)
{
    const struct parsed_field *found = fby_parsed_find_field(self, field, NULL);
    const struct parsed_split *in_split = fby_parsed_find_split(self, split);
    if (found == NULL || in_split == NULL) {
        return 0;
    }
    struct fby_field_fault fault = {
        .key = FBY_FIELD_OPS, .index = i, .has_index = true};
    return fby_parsed_fault_pos(
        found, &fault, fby_parsed_split_bit(self, in_split))
        .line;
}

/* The line of `pos`. If the file does not have the key, the split's line. */
static size_t line_of_key(
    struct fby_source_pos pos, const struct parsed_split *split)
{
    return fby_pos_is_given(pos) ? pos.line : split->name_pos.line;
}

size_t fby_pipeline_shuffle_line(
    const struct fby_pipeline *self, const char *split)
{
    const struct parsed_split *found = fby_parsed_find_split(self, split);
    return found != NULL ? line_of_key(found->key_pos[SPLIT_SHUFFLE], found)
                         : 0;
}

size_t fby_pipeline_tokens_end_line(
    const struct fby_pipeline *self, const char *split)
{
    const struct parsed_split *found = fby_parsed_find_split(self, split);
    return found != NULL ? line_of_key(found->tokens.key_pos[TOKENS_END], found)
                         : 0;
}

size_t fby_pipeline_tokens_type_line(
    const struct fby_pipeline *self, const char *split)
{
    const struct parsed_split *found = fby_parsed_find_split(self, split);
    return found != NULL
               ? line_of_key(found->tokens.key_pos[TOKENS_TYPE], found)
               : 0;
}
