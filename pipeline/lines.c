#include "pipeline/lines.h"

#include <string.h>

#include "pipeline/draft.h"

static const struct draft_field *field_named(
    const struct fby_pipeline *self, const char *name)
{
    for (size_t i = 0; i < self->n_fields; i++) {
        if (strcmp(self->fields[i].name, name) == 0) {
            return &self->fields[i];
        }
    }
    return NULL;
}

static uint32_t index_of_normalize(const struct draft_field *field)
{
    uint32_t i = 0;
    while (i < field->n_device &&
           field->device[i].use.op->id != FBY_OP_DEVICE_NORMALIZE) {
        i++;
    }
    return i;
}

size_t fby_pipeline_line(
    const struct fby_pipeline *self, const char *field, enum fby_field_key key)
{
    const struct draft_field *found = field_named(self, field);
    struct fby_field_fault    at    = {.key = key};
    if (found == NULL) {
        return 0;
    }
    if (key == FBY_FIELD_DEVICE) {
        at.index     = index_of_normalize(found);
        at.has_index = at.index < found->n_device;
    }
    return fby_draft_place(found, &at, UINT32_MAX).line;
}

size_t fby_pipeline_op_line(const struct fby_pipeline *self, const char *split,
    const char *field, uint32_t i)
{
    const struct draft_field *found = field_named(self, field);
    const struct draft_split *of    = fby_draft_split(self, split);
    for (size_t k = 0; of != NULL && found != NULL && k < found->n_ops; k++) {
        uint32_t bit = UINT32_C(1) << (of - self->splits);
        if ((found->ops[k].only & bit) != 0 && i-- == 0) {
            return found->ops[k].here.line;
        }
    }
    return 0;
}

static size_t line_of(struct fby_place key, const struct draft_split *split)
{
    return fby_is_given(key) ? key.line : split->here.line;
}

size_t fby_pipeline_shuffle_line(
    const struct fby_pipeline *self, const char *split)
{
    const struct draft_split *found = fby_draft_split(self, split);
    return found != NULL ? line_of(found->at[SPLIT_SHUFFLE], found) : 0;
}

size_t fby_pipeline_end_line(const struct fby_pipeline *self, const char *split)
{
    const struct draft_split *found = fby_draft_split(self, split);
    return found != NULL ? line_of(found->tokens.at[TOKENS_END], found) : 0;
}
