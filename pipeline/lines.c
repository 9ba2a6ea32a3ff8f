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

/* The position of a split; n_splits when there is none. */
static size_t split_named(const struct fby_pipeline *self, const char *name)
{
    const char *wanted = name != NULL ? name : "train";
    if (name == NULL && self->n_splits == 1) {
        return 0;
    }
    size_t i = 0;
    while (i < self->n_splits && strcmp(self->splits[i].name, wanted) != 0) {
        i++;
    }
    return i;
}

/* The first of them that stands in the file. */
static size_t first_given(const struct fby_place *const *places, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (fby_is_given(*places[i])) {
            return places[i]->line;
        }
    }
    return 0;
}

static const struct fby_place *place_of_normalize(
    const struct draft_field *field)
{
    for (uint32_t i = 0; i < field->n_device; i++) {
        if (field->device[i].use.op->id == FBY_OP_DEVICE_NORMALIZE) {
            return &field->device[i].here;
        }
    }
    return &field->here;
}

static const struct fby_place *place_of(
    const struct draft_field *field, enum fby_line_of what)
{
    switch (what) {
    case FBY_LINE_DCT_SCALE:
        return &field->at[FBY_FIELD_DCT_SCALE];
    case FBY_LINE_CLASSES:
        return &field->at[FBY_FIELD_CLASSES];
    case FBY_LINE_TYPE:
        return &field->wire.at[WIRE(TYPE)];
    case FBY_LINE_CODEC:
        return &field->wire.at[WIRE(CODEC)];
    case FBY_LINE_NORMALIZE:
        return place_of_normalize(field);
    case FBY_LINE_FIELD:
        break;
    }
    return &field->here;
}

static bool is_of_wire(enum fby_line_of what)
{
    return what == FBY_LINE_TYPE || what == FBY_LINE_CODEC;
}

size_t fby_pipeline_line(
    const struct fby_pipeline *self, const char *field, enum fby_line_of what)
{
    const struct draft_field *found = field_named(self, field);
    if (found == NULL) {
        return 0;
    }
    const struct fby_place *places[] = {
        place_of(found, what),
        is_of_wire(what) ? &found->at[FBY_FIELD_WIRE] : &found->here,
        &found->here,
    };
    return first_given(places, sizeof(places) / sizeof(places[0]));
}

size_t fby_pipeline_op_line(const struct fby_pipeline *self, const char *split,
    const char *field, uint32_t i)
{
    const struct draft_field *found = field_named(self, field);
    uint32_t                  bit   = UINT32_C(1) << split_named(self, split);
    uint32_t                  left  = i;
    for (size_t k = 0; found != NULL && k < found->n_ops; k++) {
        if ((found->ops[k].only & bit) != 0 && left-- == 0) {
            return found->ops[k].here.line;
        }
    }
    return 0;
}

static size_t split_line(const struct fby_pipeline *self, const char *split,
    const struct fby_place *(*place)(const struct draft_split *))
{
    size_t i = split_named(self, split);
    if (i == self->n_splits) {
        return 0;
    }
    const struct draft_split *found    = &self->splits[i];
    const struct fby_place   *places[] = {place(found), &found->here};
    return first_given(places, 2);
}

static const struct fby_place *place_of_shuffle(const struct draft_split *split)
{
    return &split->at[SPLIT_SHUFFLE];
}

size_t fby_pipeline_shuffle_line(
    const struct fby_pipeline *self, const char *split)
{
    return split_line(self, split, place_of_shuffle);
}

static const struct fby_place *place_of_end(const struct draft_split *split)
{
    return &split->tokens.at[TOKENS_END];
}

size_t fby_pipeline_end_line(const struct fby_pipeline *self, const char *split)
{
    return split_line(self, split, place_of_end);
}
