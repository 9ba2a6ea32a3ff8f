#include "cli/lint/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/lint/pairs.h"
#include "cli/lint/types.h"
#include "pipeline/fields/kind.h"
#include "pipeline/op.h"

/* Below these a saving is noise, or not worth a change. */
static const double worth_cpu   = 0.05; /* of a field's CPU time */
static const double worth_bytes = 0.125;
static const double tiny_bytes  = 64; /* a sample: codecs work on batches */
/* Up to this mean difference, in levels, an order means the same. */
static const double rounding = 1;
/* A longer way must save so much more than a shorter one. */
static const double worth_going_on = 0.03;

_Static_assert((FBY_MAX_OPS + 7) * FBY_MAX_FIELDS + 4 == FBY_LINT_FINDINGS,
    "room for all findings there can be");

struct findings {
    const struct fby_lint_facts *facts;
    struct fby_finding          *at;
    uint32_t                     n;
};

static struct fby_finding *add(struct findings *self,
    enum fby_finding_kind kind, const struct fby_lint_field *field, size_t line)
{
    struct fby_finding *finding = &self->at[self->n++];
    *finding = (struct fby_finding){.kind = kind, .line = line};
    if (field != NULL) {
        finding->field = field->content->name;
    }
    return finding;
}

static void saves(
    struct fby_finding *finding, double before, double after, const char *unit)
{
    finding->before = before;
    finding->after  = after;
    finding->unit   = unit;
}

static void say(char out[FBY_LINT_TEXT], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(char out[FBY_LINT_TEXT], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(out, FBY_LINT_TEXT, format, args);
    va_end(args);
}

static bool is_worth(double before, double after, double share)
{
    return before > 0 && before - after >= share * before;
}

/* ---- samples that are refused -------------------------------------------- */

static void find_refused(struct findings *self)
{
    const struct fby_lint_facts *facts = self->facts;
    if (facts->refused == 0) {
        return;
    }
    const struct fby_lint_field *field = &facts->fields[facts->refused_field];
    struct fby_finding          *finding =
        add(self, FBY_FINDING_REFUSED, field, field->lines.field);
    say(finding->what, "%s", facts->refusal);
    if (facts->substitutes) {
        say(finding->instead,
            "nothing if it may be so: pull takes other samples instead (%u of "
            "%u looked at are refused), up to the limit of on_bad_sample",
            facts->refused, facts->refused + facts->samples);
    } else {
        say(finding->instead,
            "on_bad_sample: substitute, or mend the data: pull stops at such a "
            "sample, and %u of %u looked at are refused",
            facts->refused, facts->refused + facts->samples);
    }
    finding->changes_content = !facts->substitutes;
}

/* ---- class folders ------------------------------------------------------- */

static void find_classes(struct findings *self)
{
    const struct fby_lint_facts *facts = self->facts;
    uint32_t                     f     = 0;
    char                         text[FBY_CLASS_FOLDERS_TEXT];
    while (f < facts->n_fields &&
           !fby_field_is_of_folder(facts->fields[f].content)) {
        f++;
    }
    if (!facts->classes.differ || f == facts->n_fields) {
        return;
    }
    struct fby_finding *finding = add(self, FBY_FINDING_CLASSES,
        &facts->fields[f], facts->fields[f].lines.field);
    fby_class_folders_describe(&facts->classes, text);
    say(finding->what, "%s", text);
    say(finding->instead, "nothing, but %s", fby_class_folders_advice);
}

/* ---- documents that do not end ------------------------------------------- */

static void find_ends(struct findings *self)
{
    const struct fby_lint_ends *ends = &self->facts->ends;
    if (ends->undivided == 0) {
        return;
    }
    struct fby_finding *finding =
        add(self, FBY_FINDING_NO_END, NULL, ends->line);
    say(finding->what,
        "%u of %u files are one document each, cut into sequences: token %u is "
        "nowhere in them, or the last one",
        ends->undivided, ends->files, ends->end);
    say(finding->instead,
        "nothing if it is so; else end: the token behind each document (the "
        "tokenizer's end of text), and type: that of the files");
    finding->changes_content = true;
}

/* ---- a picture and its labels -------------------------------------------- */

/* The picture that it goes with: the first that moves as it does, else the
 * first there is, if any. */
static const struct fby_field_content *picture_of(
    const struct fby_lint_facts *facts, const struct fby_field_content *labels,
    enum fby_lint_pair *how)
{
    const struct fby_field_content *first = NULL;
    for (uint32_t i = 0; i < facts->n_fields; i++) {
        const struct fby_field_content *picture = facts->fields[i].content;
        if (fby_field_values(picture) != FBY_VALUES_COLOURS) {
            continue;
        }
        enum fby_lint_pair pair = fby_lint_pair(picture, labels);
        if (first == NULL || pair == FBY_LINT_ALIKE) {
            first = picture;
            *how  = pair;
        }
        if (pair == FBY_LINT_ALIKE) {
            break;
        }
    }
    return first;
}

static void say_pair(struct fby_finding *finding, enum fby_lint_pair how,
    const struct fby_field_content *picture)
{
    const char *name = picture->name;
    if (how == FBY_LINT_OTHER_GROUP) {
        say(finding->what,
            "does '%s' label the pixels of '%s'? Each draws its own crops and "
            "flips: their groups differ",
            finding->field, name);
        say(finding->instead, "group: %s", picture->group);
    } else if (how == FBY_LINT_OTHER_OPS) {
        say(finding->what,
            "does '%s' label the pixels of '%s'? Its ops that draw where "
            "pixels go are not the same",
            finding->field, name);
        say(finding->instead,
            "group: %s, and in ops the random crops, flips, rotations and "
            "policies of '%s' in their order, with its numbers",
            picture->group, name);
    } else {
        say(finding->what,
            "does '%s' label the pixels of '%s'? Not both are flipped on the "
            "device",
            finding->field, name);
        say(finding->instead,
            "group: %s, and in device the flips that '%s' has there, or in "
            "ops of both instead",
            picture->group, name);
    }
}

static void find_pair(struct findings *self, const struct fby_lint_field *field)
{
    enum fby_lint_pair how = FBY_LINT_ALIKE;
    if (!fby_lint_labels_pixels(field->content)) {
        return;
    }
    const struct fby_field_content *picture =
        picture_of(self->facts, field->content, &how);
    if (picture == NULL || how == FBY_LINT_ALIKE) {
        return;
    }
    struct fby_finding *finding =
        add(self, FBY_FINDING_PAIR, field, field->lines.field);
    say_pair(finding, how, picture);
    finding->changes_content = true;
}

/* ---- levels -------------------------------------------------------------- */

static double largest_of(const double *values)
{
    double most = values[0] > values[1] ? values[0] : values[1];
    return most > values[2] ? most : values[2];
}

struct three {
    char text[64];
};

/* As they are, or of 0 to 255 as of 0 to 1. */
static struct three three(const double *values, bool bytes)
{
    double       by = bytes ? 255 : 1;
    struct three out;
    snprintf(out.text, sizeof(out.text), "[%.4g, %.4g, %.4g]", values[0] / by,
        values[1] / by, values[2] / by);
    return out;
}

/* No mean of levels is above 1, no std above a half; but a std of 1 or 2 may be
 * meant. Beside a mean of bytes it is one of bytes, too. */
static void find_levels(
    struct findings *self, const struct fby_lint_field *field)
{
    const struct fby_field_content *content = field->content;
    if (!content->normalize) {
        return;
    }
    double std   = largest_of(content->std);
    bool   mean  = largest_of(content->mean) > 1;
    bool   bytes = std > 2 || (mean && std >= 1);
    if (!mean && !bytes) {
        return;
    }
    struct fby_finding *finding =
        add(self, FBY_FINDING_LEVELS, field, field->lines.normalize);
    say(finding->what,
        "normalize has mean %s and std %s, as of bytes of 0 to 255; levels "
        "are 0 to 1",
        three(content->mean, false).text, three(content->std, false).text);
    say(finding->instead, "normalize: {mean: %s, std: %s}: divided by 255",
        three(content->mean, mean).text, three(content->std, bytes).text);
    finding->changes_content = true;
}

/* ---- another order of ops ------------------------------------------------ */

/* Ids of a mask are no levels: each counts. */
static bool means_the_same(
    const struct fby_lint_field *field, const struct fby_lint_trial *trial)
{
    bool mask = fby_field_values(field->content) == FBY_VALUES_IDS;
    return trial->made && trial->difference <= (mask ? 0 : rounding);
}

/* The place where op `from` costs least; the nearest one of about equals. */
static const struct fby_lint_move *best_move(
    const struct fby_lint_field *field, uint32_t from)
{
    const struct fby_lint_move *best = NULL;
    for (uint32_t i = 0; i < field->n_moves; i++) {
        const struct fby_lint_move *move = &field->moves[i];
        if (move->from != from || !means_the_same(field, &move->trial) ||
            !is_worth(move->trial.before_ms, move->trial.after_ms, worth_cpu)) {
            continue;
        }
        if (best == NULL || (best->to > move->to &&
                                is_worth(best->trial.after_ms,
                                    move->trial.after_ms, worth_going_on))) {
            best = move;
        }
    }
    return best;
}

static void find_orders(
    struct findings *self, const struct fby_lint_field *field)
{
    const struct fby_op_use *ops = field->content->ops;
    for (uint32_t i = 0; i < field->content->n_ops; i++) {
        const struct fby_lint_move *move = best_move(field, i);
        if (move == NULL) {
            continue;
        }
        struct fby_finding *finding =
            add(self, FBY_FINDING_OP_ORDER, field, field->lines.ops[i]);
        const char *moved = ops[i].op->name;
        const char *first = ops[move->to].op->name;
        say(finding->what,
            "%s comes after %s: work on pixels that it then drops", moved,
            first);
        say(finding->instead,
            "%s before %s; values differ by %.2g of 255 in the mean", moved,
            first, move->trial.difference);
        saves(finding, move->trial.before_ms, move->trial.after_ms,
            "CPU ms a sample");
        finding->changes_content = true;
    }
}

/* ---- decoding smaller ---------------------------------------------------- */

static void find_scale(
    struct findings *self, const struct fby_lint_field *field)
{
    const struct fby_lint_trial *trial = &field->scale;
    if (!trial->made ||
        !is_worth(trial->before_ms, trial->after_ms, worth_cpu)) {
        return;
    }
    struct fby_finding *finding =
        add(self, FBY_FINDING_DCT_SCALE, field, field->lines.dct_scale);
    say(finding->what, "dct_scale: off decodes pictures in full that are then "
                       "made much smaller");
    say(finding->instead,
        "dct_scale: faithful; other values by %.2g of 255 in the mean",
        trial->difference);
    saves(finding, trial->before_ms, trial->after_ms, "CPU ms a sample");
    finding->changes_content = true;
}

/* ---- a narrower type ----------------------------------------------------- */

/* The largest id there can be; of folders it is known. */
static double largest(const struct fby_lint_field *field)
{
    const struct fby_field_content *content = field->content;
    if (fby_field_values(content) != FBY_VALUES_CLASSES) {
        return field->values.most;
    }
    uint32_t classes = field->classes > 0 ? field->classes : content->classes;
    return classes > 0 ? classes - 1.0 : field->values.most;
}

/* Bytes of one value. */
static double width_of(const struct fby_lint_field *field)
{
    return fby_type_bytes(field->content->wire_type);
}

static void advise_type(const struct fby_lint_field *field,
    const struct fby_narrow_type *type, struct fby_finding *finding)
{
    const struct fby_field_content *content = field->content;
    bool   label = fby_field_values(content) == FBY_VALUES_CLASSES;
    double most  = largest(field);
    if (label && content->classes == 0 && field->classes > 0) {
        say(finding->instead, "classes: %u; ids then travel as %s",
            field->classes, type->name);
    } else if (label && content->classes == 0) {
        say(finding->instead,
            "classes: N, how many there are (more than %.0f); ids below %.0f "
            "travel as %s",
            most, type->most + 1, type->name);
    } else if (label) {
        say(finding->instead, "wire: %s", type->name);
    } else if (fby_field_values(content) == FBY_VALUES_TOKENS) {
        say(finding->instead,
            "wire: %s, if all fit: a sequence with one that does not is a bad "
            "sample",
            type->name);
    } else {
        say(finding->instead,
            "wire: %s, if all fit: one that does not is a bad sample; it is "
            "also what the trainer gets%s",
            type->name,
            fby_field_kind(content)->has_scale ? " without out: dtype" : "");
    }
}

static void find_type(struct findings *self, const struct fby_lint_field *field)
{
    const struct fby_lint_values *values = &field->values;
    if (!values->numbers || !values->whole || values->constant) {
        return;
    }
    bool   label = fby_field_values(field->content) == FBY_VALUES_CLASSES;
    double most  = largest(field);
    double width = width_of(field);
    const struct fby_narrow_type *type =
        fby_narrowest_type(label, values->least, most);
    bool tokens = fby_field_values(field->content) == FBY_VALUES_TOKENS;
    if (type == NULL || fby_type_bytes(type->type) >= width ||
        (tokens && type->type != FBY_U16)) {
        return;
    }
    size_t line = label && field->content->classes == 0 ? field->lines.classes
                                                        : field->lines.type;
    struct fby_finding *finding = add(self, FBY_FINDING_WIRE_TYPE, field, line);
    say(finding->what,
        "whole numbers from %.0f to %.0f travel in %.0f bytes each",
        values->least, most, width);
    advise_type(field, type, finding);
    saves(finding, field->bytes,
        field->bytes / width * fby_type_bytes(type->type), "bytes a sample");
    finding->changes_content = true;
}

/* ---- a codec ------------------------------------------------------------- */

static void find_codec(
    struct findings *self, const struct fby_lint_field *field)
{
    const struct fby_lint_coding *coded = &field->coded;
    const struct fby_lint_coding *best  = &field->best;
    if (field->bytes < tiny_bytes || field->values.constant ||
        coded->bytes - best->bytes < worth_bytes * field->bytes) {
        return;
    }
    struct fby_finding *finding =
        add(self, FBY_FINDING_CODEC, field, field->lines.codec);
    say(finding->what, "%s",
        coded->coding.codec == FBY_CODEC_STORE
            ? "the bytes travel as they are"
            : "another filter or codec makes fewer bytes");
    char   cost[64] = "hardly any CPU time";
    double ms       = best->ms - coded->ms;
    if (ms >= 0.005) {
        snprintf(cost, sizeof(cost), "%.2f CPU ms a sample", ms);
    }
    say(finding->instead,
        "filter: auto, codec: auto (both are the defaults); a worker then "
        "needs %s more",
        cost);
    saves(finding, coded->bytes, best->bytes, "bytes a sample");
}

/* ---- fields that say nothing --------------------------------------------- */

static void find_nothing_new(
    struct findings *self, const struct fby_lint_field *field)
{
    const struct fby_lint_facts *facts = self->facts;
    const struct fby_lint_field *other = &facts->fields[field->same_as];
    if (facts->samples < FBY_LINT_FEW ||
        (!field->values.constant && other == field)) {
        return;
    }
    bool                constant = field->values.constant;
    struct fby_finding *finding =
        add(self, constant ? FBY_FINDING_CONSTANT : FBY_FINDING_TWICE, field,
            field->lines.field);
    if (constant) {
        say(finding->what, "its value is the same in all %u samples",
            facts->samples);
        say(finding->instead, "nothing: leave it out, the trainer can make it");
    } else {
        say(finding->what,
            "its values are those of field '%s' in all %u "
            "samples",
            other->content->name, facts->samples);
        say(finding->instead, "nothing: leave one of the two out");
    }
    saves(finding, field->coded.bytes, 0, "bytes a sample");
    finding->changes_content = true;
}

/* ---- inputs and targets -------------------------------------------------- */

static bool is_cut_from(
    const struct fby_field_content *content, const char *from)
{
    return fby_field_values(content) == FBY_VALUES_TOKENS && !content->packed &&
           strcmp(content->from[0], from) == 0;
}

/* Targets are the inputs one token on: both are in one sequence. */
static void find_sequence(
    struct findings *self, const struct fby_lint_field *field)
{
    const struct fby_lint_facts *facts = self->facts;
    uint32_t                     i     = 0;
    while (i < facts->n_fields &&
           !is_cut_from(facts->fields[i].content, "input")) {
        i++;
    }
    if (i == facts->n_fields || !is_cut_from(field->content, "target")) {
        return;
    }
    const struct fby_lint_field *inputs = &facts->fields[i];
    struct fby_finding          *finding =
        add(self, FBY_FINDING_TWICE, field, field->lines.field);
    say(finding->what,
        "all its tokens but one in a row are those of field '%s' too",
        inputs->content->name);
    say(finding->instead,
        "one field from: sequence for both; its tokens but the last in a row "
        "are the inputs, but the first the targets");
    saves(finding, field->coded.bytes + inputs->coded.bytes,
        inputs->coded.bytes + width_of(field), "bytes a sample");
    finding->changes_content = true;
}

/* ---- shards -------------------------------------------------------------- */

static void find_shards(struct findings *self)
{
    const struct fby_lint_facts *facts = self->facts;
    if (facts->shards <= FBY_LINT_OPEN || facts->block == 0 ||
        facts->shards_block > FBY_LINT_OPEN) {
        return;
    }
    struct fby_finding *finding =
        add(self, FBY_FINDING_SHARDS, NULL, facts->shuffle_line);
    say(finding->what,
        "a batch comes from %.0f shards, of which a worker keeps %d open",
        facts->shards, FBY_LINT_OPEN);
    say(finding->instead,
        "shuffle: {block: %u}; another order, which mixes less", facts->block);
    saves(finding, facts->shards, facts->shards_block, "shards a batch");
    finding->changes_content = true;
}

/* ---- all ----------------------------------------------------------------- */

uint32_t fby_lint_find(const struct fby_lint_facts *facts,
    struct fby_finding                              out[FBY_LINT_FINDINGS])
{
    struct findings self = {.facts = facts, .at = out};
    find_refused(&self);
    find_classes(&self);
    find_ends(&self);
    find_shards(&self);
    for (uint32_t i = 0; i < facts->n_fields; i++) {
        const struct fby_lint_field *field = &facts->fields[i];
        find_pair(&self, field);
        find_levels(&self, field);
        find_nothing_new(&self, field);
        find_orders(&self, field);
        find_scale(&self, field);
        find_type(&self, field);
        find_codec(&self, field);
        find_sequence(&self, field);
    }
    return self.n;
}
