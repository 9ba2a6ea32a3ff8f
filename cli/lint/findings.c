/* SPDX-License-Identifier: Apache-2.0 */
/* findings.c - decide what to improve. Each find_* adds findings of a kind. */
#include "cli/lint/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/lint/pairs.h"
#include "cli/lint/random_ops.h"
#include "pipeline/class_names.h"
#include "pipeline/derived.h"
#include "pipeline/fields/kind.h"
#include "pipeline/op.h"
#include "pipeline/text.h"

/* Savings below these shares are noise, or not worth a change. */
static const double min_cpu_share   = 0.05;  /* of a field's CPU time */
static const double min_byte_share  = 0.125; /* of a field's raw bytes */
static const double min_codec_bytes = 64; /* raw bytes of a field per sample */
/* Two orders of ops are equivalent up to this mean difference of pixels. */
static const double rounding_levels = 1; /* of 0 to 255 */
/* A longer move is better only if it saves at least this share of CPU time. */
static const double min_move_share = 0.03;

_Static_assert((FBY_MAX_OPS + 9) * FBY_MAX_FIELDS + 5 == FBY_LINT_FINDINGS,
    "FBY_LINT_FINDINGS is the largest number of findings");

struct findings {
    const struct fby_lint_facts *facts;
    struct fby_finding          *out; /* with room for FBY_LINT_FINDINGS */
    uint32_t                     n;   /* findings written to `out` */
};

__attribute__((format(printf, 2, 3))) static void set_text(
    char out[FBY_LINT_TEXT], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(out, FBY_LINT_TEXT, format, args);
    va_end(args);
}

/* Add a finding whose advice changes the content. `field` may be NULL. */
static struct fby_finding *append(struct findings *self,
    enum fby_finding_kind kind, const struct fby_lint_field *field, size_t line)
{
    struct fby_finding *finding = &self->out[self->n++];
    *finding                    = (struct fby_finding){
                           .kind = kind, .line = line, .changes_content = true};
    finding->field = field != NULL ? field->content->name : NULL;
    return finding;
}

static void set_saving(
    struct fby_finding *finding, double before, double after, const char *unit)
{
    finding->before = before;
    finding->after  = after;
    finding->unit   = unit;
}

/* True if the saving is at least `min_share` of `before`. */
static bool is_worthwhile(double before, double after, double min_share)
{
    return before > 0 && before - after >= min_share * before;
}

static void find_refused(struct findings *self)
{
    const struct fby_lint_facts *facts = self->facts;
    if (facts->refused == 0) {
        return;
    }
    const struct fby_lint_field *field = &facts->fields[facts->refused_field];
    struct fby_finding          *finding =
        append(self, FBY_FINDING_REFUSED, field, field->lines.field);
    set_text(finding->found, "%s", facts->refusal);
    set_text(finding->advice,
        facts->substitutes
            ? "nothing, if that is intended: pull takes other samples instead "
              "(%u of %u checked are refused), up to the limit of on_bad_sample"
            : "on_bad_sample: substitute, or fix the data: pull stops at a bad "
              "sample, and %u of %u checked are bad",
        facts->refused, facts->refused + facts->samples);
    finding->changes_content = !facts->substitutes;
}

static void find_class_difference(struct findings *self)
{
    const struct fby_lint_facts *facts = self->facts;
    uint32_t                     f     = 0;
    while (f < facts->n_fields &&
           !fby_field_is_numbered_by_folders(facts->fields[f].content)) {
        f++;
    }
    if (!facts->classes.differ || f == facts->n_fields) {
        return;
    }
    struct fby_finding *finding = append(self, FBY_FINDING_CLASSES,
        &facts->fields[f], facts->fields[f].lines.field);
    fby_class_folders_describe(
        &facts->classes, finding->found, sizeof(finding->found));
    set_text(finding->advice, "nothing, but %s", fby_class_folders_advice);
    finding->changes_content = false;
}

static void find_missing_ends(struct findings *self)
{
    const struct fby_lint_ends *ends = &self->facts->ends;
    if (ends->undivided == 0) {
        return;
    }
    struct fby_finding *finding =
        append(self, FBY_FINDING_NO_END, NULL, ends->line);
    set_text(finding->found,
        "%u of %u files: each is one document, cut into sequences: token %u is "
        "not in it, or only at its end",
        ends->undivided, ends->files, ends->end);
    set_text(finding->advice,
        "nothing, if that is true; else correct 'end', the token after each "
        "document (the tokenizer's end of text), or 'type', that of the files");
}

static void find_token_type(struct findings *self)
{
    const struct fby_lint_token_type *type = &self->facts->token_type;
    if (type->found == 0) {
        return;
    }
    const char         *found = fby_type_word(type->found);
    struct fby_finding *finding =
        append(self, FBY_FINDING_TOKEN_TYPE, NULL, type->line);
    set_text(finding->found, "the files seem to have tokens of type %s: %s",
        found,
        type->found == FBY_U16
            ? "both halves of the ids are as large as ids"
            : "all ids but one of two or four are 0, or nearly so");
    set_text(finding->advice, "type: %s, unless the files really have %s",
        found, fby_type_word(type->declared));
}

/* ---- Pictures and their masks -------------------------------------------- */

/* Returns the picture that `labels` belongs to: the first one whose pixels move
 * like the labels, else the first one; NULL if there is no picture. */
static const struct fby_field_content *find_picture(
    const struct fby_lint_facts *facts, const struct fby_field_content *labels,
    enum fby_lint_pair *out)
{
    const struct fby_field_content *found = NULL;
    for (uint32_t i = 0; i < facts->n_fields; i++) {
        const struct fby_field_content *picture = facts->fields[i].content;
        if (fby_field_values(picture) != FBY_VALUES_COLOURS) {
            continue;
        }
        enum fby_lint_pair pair = fby_lint_compare_ops(picture, labels);
        if (found == NULL || pair == FBY_LINT_ALIKE) {
            found = picture;
            *out  = pair;
        }
        if (pair == FBY_LINT_ALIKE) {
            break;
        }
    }
    return found;
}

static void describe_pair(struct fby_finding *finding, enum fby_lint_pair pair,
    const struct fby_field_content *picture)
{
    const char *name   = picture->name;
    const char *reason = "";
    if (pair == FBY_LINT_OTHER_GROUP) {
        reason = "Each draws its own crops and flips: their groups differ";
        set_text(finding->advice, "group: %s", picture->group);
    } else if (pair == FBY_LINT_OTHER_OPS) {
        reason = "Their random ops that move pixels differ";
        set_text(finding->advice,
            "group: %s, and in ops the random crops, flips, rotations and "
            "policies of '%s' in their order, with its numbers",
            picture->group, name);
    } else {
        reason = "Their flips on the device differ";
        set_text(finding->advice,
            "group: %s, and in device the flips that '%s' has there, or in ops "
            "of both instead",
            picture->group, name);
    }
    set_text(finding->found, "does '%s' label the pixels of '%s'? %s",
        finding->field, name, reason);
}

static void find_pair(struct findings *self, const struct fby_lint_field *field)
{
    enum fby_lint_pair pair = FBY_LINT_ALIKE;
    if (fby_field_values(field->content) != FBY_VALUES_IDS) {
        return;
    }
    const struct fby_field_content *picture =
        find_picture(self->facts, field->content, &pair);
    if (picture == NULL || pair == FBY_LINT_ALIKE) {
        return;
    }
    struct fby_finding *finding =
        append(self, FBY_FINDING_PAIR, field, field->lines.field);
    describe_pair(finding, pair, picture);
}

/* ---- Pictures and coordinates -------------------------------------------- */

/* The first field of numbers or texts that are coordinates, by its name or that
 * of its column; NULL: none. */
static const char *find_coordinates(const struct fby_lint_facts *facts)
{
    for (uint32_t i = 0; i < facts->n_fields; i++) {
        const struct fby_field_content *field = facts->fields[i].content;
        enum fby_values                 kind  = fby_field_values(field);
        bool is_other = kind == FBY_VALUES_COLOURS || kind == FBY_VALUES_IDS ||
                        kind == FBY_VALUES_CLASSES;
        if (!is_other && (fby_text_is_coordinates(field->name) ||
                             fby_text_is_coordinates(field->from[0]))) {
            return field->name;
        }
    }
    return NULL;
}

static void find_moved_coordinates(
    struct findings *self, const struct fby_lint_field *field)
{
    const char *coordinates = find_coordinates(self->facts);
    char        names[200];
    uint32_t    first = 0;
    if (coordinates == NULL ||
        fby_field_values(field->content) != FBY_VALUES_COLOURS ||
        !fby_lint_list_moving_ops(
            field->content, names, sizeof(names), &first)) {
        return;
    }
    bool   on_worker = first < field->content->n_ops;
    size_t line      = on_worker ? field->lines.ops[first] : field->lines.field;
    struct fby_finding *finding =
        append(self, FBY_FINDING_COORDINATES, field, line);
    set_text(finding->found,
        "%s: the picture is moved or cut, but not the coordinates in '%s'",
        names, coordinates);
    set_text(finding->advice,
        "resize: {size: [HEIGHT, WIDTH]} instead, which keeps coordinates that "
        "are relative to the picture (0 to 1); nothing, if '%s' has no "
        "positions",
        coordinates);
}

/* ---- Levels -------------------------------------------------------------- */

static double largest_of(const double values[3])
{
    double largest = values[0] > values[1] ? values[0] : values[1];
    return largest > values[2] ? largest : values[2];
}

struct triple_text {
    char text[64];
};

/* Three values, divided by `divisor`, as text. */
static struct triple_text format_triple(const double values[3], double divisor)
{
    struct triple_text out;
    snprintf(out.text, sizeof(out.text), "[%.4g, %.4g, %.4g]",
        values[0] / divisor, values[1] / divisor, values[2] / divisor);
    return out;
}

/* Values above 255 of pictures in grey of 16 bits become 255. */
static void find_clipped(
    struct findings *self, const struct fby_lint_field *field)
{
    if (field->clipped == 0) {
        return;
    }
    struct fby_finding *finding =
        append(self, FBY_FINDING_CLIPPED, field, field->lines.field);
    set_text(finding->found,
        "PNG in grey of 16 bits: %u of %u pictures; values above 255 become "
        "255, so most of such pictures turn white, as with Pillow",
        field->clipped, self->facts->samples);
    set_text(finding->advice,
        "nothing: scale the files to 8 bits, for example with 'mogrify -depth "
        "8 FILE', or store them as .npy and read these with decode: array");
    finding->changes_content = false;
}

/* Pictures as floats without normalize have values of 0 to 255. Models expect
 * this rarely. */
static void find_bytes_as_floats(
    struct findings *self, const struct fby_lint_field *field)
{
    if (field->content->decode != FBY_DECODE_RGB8 || !field->is_float ||
        fby_field_is_normalized(field->content)) {
        return;
    }
    struct fby_finding *finding =
        append(self, FBY_FINDING_LEVELS, field, field->lines.out);
    set_text(finding->found,
        "the trainer gets floats of 0 to 255, as there is no normalize");
    set_text(finding->advice,
        "device: [{normalize: {mean: [0.485, 0.456, 0.406], std: [0.229, "
        "0.224, 0.225]}}], as most pretrained models expect; for 0 to 1: "
        "normalize: {mean: 0, std: 1}; nothing, if the model expects 0 to 255");
}

/* Pixel values are scaled to 0 to 1 before normalize, so a mean is at most 1
 * and a std at most 0.5. A mean above 1 is one of bytes (0 to 255). A std of 1
 * or 2 may be intended, unless the mean is of bytes. */
static void find_levels(
    struct findings *self, const struct fby_lint_field *field)
{
    const struct fby_field_content *content = field->content;
    if (!fby_field_is_normalized(content)) {
        return;
    }
    double std           = largest_of(content->as.rgb8.std);
    bool   mean_in_bytes = largest_of(content->as.rgb8.mean) > 1;
    bool   std_in_bytes  = std > 2 || (mean_in_bytes && std >= 1);
    if (!mean_in_bytes && !std_in_bytes) {
        return;
    }
    struct fby_finding *finding =
        append(self, FBY_FINDING_LEVELS, field, field->lines.normalize);
    set_text(finding->found,
        "normalize has mean %s and std %s, as of bytes of 0 to 255; levels are "
        "0 to 1",
        format_triple(content->as.rgb8.mean, 1).text,
        format_triple(content->as.rgb8.std, 1).text);
    set_text(finding->advice, "normalize: {mean: %s, std: %s}: divided by 255",
        format_triple(content->as.rgb8.mean, mean_in_bytes ? 255 : 1).text,
        format_triple(content->as.rgb8.std, std_in_bytes ? 255 : 1).text);
}

/* ---- Random ops ---------------------------------------------------------- */

/* A split for evaluation has such a name, or keeps the order of its samples. */
static void find_random_ops(
    struct findings *self, const struct fby_lint_field *field)
{
    const struct fby_lint_facts *facts = self->facts;
    char                         names[200];
    uint32_t                     first = 0;
    bool is_named = fby_text_is_evaluation_split(facts->split);
    if ((!is_named && facts->is_shuffled) ||
        !fby_lint_list_random_ops(
            field->content, names, sizeof(names), &first)) {
        return;
    }
    bool   on_worker = first < field->content->n_ops;
    size_t line      = on_worker ? field->lines.ops[first] : field->lines.field;
    struct fby_finding *finding = append(self, FBY_FINDING_RANDOM, field, line);
    set_text(finding->found, "%s in split '%s', which is %s", names,
        facts->split, is_named ? "for evaluation by its name" : "not shuffled");
    if (strcmp(facts->split, "train") == 0) {
        set_text(finding->advice,
            "shuffle: full in the split; or leave these ops out");
        return;
    }
    set_text(finding->advice,
        "only: train at each of them, and instead of a crop for example resize "
        "and center_crop with only: %s",
        facts->split);
}

/* ---- The order of ops ---------------------------------------------------- */

/* True if the changed order makes about the same values. The ids of a mask must
 * not differ at all. */
static bool is_equivalent(
    const struct fby_lint_field *field, const struct fby_lint_trial *trial)
{
    bool is_mask = fby_field_values(field->content) == FBY_VALUES_IDS;
    return trial->succeeded &&
           trial->difference <= (is_mask ? 0 : rounding_levels);
}

/* Returns the worthwhile move of op `from` with the least CPU time, or NULL. Of
 * moves with about equal times, returns the shortest. */
static const struct fby_lint_move *best_move(
    const struct fby_lint_field *field, uint32_t from)
{
    const struct fby_lint_move *best = NULL;
    for (uint32_t i = 0; i < field->n_moves; i++) {
        const struct fby_lint_move *move = &field->moves[i];
        if (move->from != from || !is_equivalent(field, &move->trial) ||
            !is_worthwhile(
                move->trial.before_ms, move->trial.after_ms, min_cpu_share)) {
            continue;
        }
        bool is_longer = best != NULL && best->to > move->to;
        if (best == NULL ||
            (is_longer && is_worthwhile(best->trial.after_ms,
                              move->trial.after_ms, min_move_share))) {
            best = move;
        }
    }
    return best;
}

static void find_op_orders(
    struct findings *self, const struct fby_lint_field *field)
{
    const struct fby_op_use *ops = field->content->ops;
    for (uint32_t i = 0; i < field->content->n_ops; i++) {
        const struct fby_lint_move *move = best_move(field, i);
        if (move == NULL) {
            continue;
        }
        struct fby_finding *finding =
            append(self, FBY_FINDING_OP_ORDER, field, field->lines.ops[i]);
        const char *moved   = ops[i].op->name;
        const char *earlier = ops[move->to].op->name;
        set_text(finding->found,
            "%s comes after %s, which works on pixels that %s then drops",
            moved, earlier, moved);
        set_text(finding->advice,
            "%s before %s; values differ by %.2g of 255 in the mean", moved,
            earlier, move->trial.difference);
        set_saving(finding, move->trial.before_ms, move->trial.after_ms,
            "CPU ms a sample");
    }
}

static void find_dct_scale(
    struct findings *self, const struct fby_lint_field *field)
{
    const struct fby_lint_trial *trial = &field->scale;
    if (!trial->succeeded ||
        !is_worthwhile(trial->before_ms, trial->after_ms, min_cpu_share)) {
        return;
    }
    struct fby_finding *finding =
        append(self, FBY_FINDING_DCT_SCALE, field, field->lines.dct_scale);
    set_text(finding->found, "dct_scale: off decodes pictures in full that are "
                             "then made much smaller");
    set_text(finding->advice,
        "dct_scale: faithful; values differ by %.2g of 255 in the mean",
        trial->difference);
    set_saving(finding, trial->before_ms, trial->after_ms, "CPU ms a sample");
}

/* ---- A narrower type ----------------------------------------------------- */

struct narrow_type { /* a wire type and its range of numbers */
    enum fby_type type;
    double        min, max;
    bool          for_labels; /* labels can be sent in this type */
};

/* The narrowest type for numbers from `min` to `max`; NULL if only i64 can hold
 * these numbers. */
static const struct narrow_type *narrowest_type(
    bool is_label, double min, double max)
{
    static const struct narrow_type types[] = {
        {FBY_U8, 0, UINT8_MAX, true},
        {FBY_U16, 0, UINT16_MAX, true},
        {FBY_I32, INT32_MIN, INT32_MAX, false},
        {FBY_U32, 0, UINT32_MAX, true},
    };
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        const struct narrow_type *type       = &types[i];
        bool                      is_allowed = type->for_labels || !is_label;
        if (is_allowed && min >= type->min && max <= type->max) {
            return type;
        }
    }
    return NULL;
}

/* The largest id of a field of classes; else, the largest measured value. */
static double largest_number(const struct fby_lint_field *field)
{
    const struct fby_field_content *content = field->content;
    if (fby_field_values(content) != FBY_VALUES_CLASSES) {
        return field->values.max;
    }
    uint32_t classes =
        field->classes > 0 ? field->classes : content->as.label.classes;
    return classes > 0 ? classes - 1.0 : field->values.max;
}

static void advise_type(const struct fby_lint_field *field,
    const struct narrow_type *type, struct fby_finding *finding)
{
    const struct fby_field_content *content = field->content;
    const char                     *name    = fby_type_word(type->type);
    bool   is_label = fby_field_values(content) == FBY_VALUES_CLASSES;
    double largest  = largest_number(field);
    if (is_label && content->as.label.classes == 0 && field->classes > 0) {
        set_text(finding->advice, "classes: %u; ids then travel as %s",
            field->classes, name);
    } else if (is_label && content->as.label.classes == 0) {
        set_text(finding->advice,
            "classes: N, the number of classes (more than %.0f); ids below "
            "%.0f travel as %s",
            largest, type->max + 1, name);
    } else if (is_label) {
        set_text(finding->advice, "wire: %s", name);
    } else if (fby_field_values(content) == FBY_VALUES_TOKENS) {
        set_text(finding->advice,
            "wire: %s, if all tokens fit: a sequence with another token is a "
            "bad sample",
            name);
    } else {
        set_text(finding->advice,
            "wire: %s, if all values fit: another value is a bad sample; the "
            "trainer gets this type too%s",
            name,
            fby_field_kind(content)->has_scale ? " without out: dtype" : "");
    }
}

static void find_wire_type(
    struct findings *self, const struct fby_lint_field *field)
{
    const struct fby_lint_values *values = &field->values;
    if (!values->are_numbers || !values->are_whole || values->constant) {
        return;
    }
    enum fby_values           kind     = fby_field_values(field->content);
    bool                      is_label = kind == FBY_VALUES_CLASSES;
    double                    largest  = largest_number(field);
    double                    width = fby_type_bytes(field->content->wire_type);
    const struct narrow_type *type =
        narrowest_type(is_label, values->min, largest);
    /* Tokens travel as u16 or u32. If all measured tokens fit u8, they are too
     * few to tell whether the others fit u16. */
    if (type == NULL || fby_type_bytes(type->type) >= width ||
        (kind == FBY_VALUES_TOKENS && type->type != FBY_U16)) {
        return;
    }
    size_t              line = is_label && field->content->as.label.classes == 0
                                   ? field->lines.classes
                                   : field->lines.type;
    struct fby_finding *finding =
        append(self, FBY_FINDING_WIRE_TYPE, field, line);
    set_text(finding->found,
        "whole numbers from %.0f to %.0f travel in %.0f bytes each",
        values->min, largest, width);
    advise_type(field, type, finding);
    set_saving(finding, field->bytes,
        field->bytes / width * fby_type_bytes(type->type), "bytes a sample");
}

static void find_codec(
    struct findings *self, const struct fby_lint_field *field)
{
    const struct fby_lint_encoding *current = &field->current;
    const struct fby_lint_encoding *best    = &field->best;
    if (field->bytes < min_codec_bytes || field->values.constant ||
        current->bytes - best->bytes < min_byte_share * field->bytes) {
        return;
    }
    struct fby_finding *finding =
        append(self, FBY_FINDING_CODEC, field, field->lines.codec);
    set_text(finding->found, "%s",
        current->coding.codec == FBY_CODEC_STORE
            ? "the bytes travel as they are"
            : "another filter or codec makes fewer bytes");
    char   cost[64] = "hardly any CPU time";
    double ms       = best->ms - current->ms;
    if (ms >= 0.005) { /* less would be printed as 0.00 */
        snprintf(cost, sizeof(cost), "%.2f CPU ms a sample", ms);
    }
    set_text(finding->advice,
        "filter: auto, codec: auto (both are the defaults); a worker then "
        "needs %s more",
        cost);
    set_saving(finding, current->bytes, best->bytes, "bytes a sample");
    finding->changes_content = false;
}

static void find_redundant(
    struct findings *self, const struct fby_lint_field *field)
{
    const struct fby_lint_facts *facts   = self->facts;
    const struct fby_lint_field *other   = &facts->fields[field->same_as];
    bool                         is_copy = other != field;
    if (facts->samples < FBY_LINT_MIN_SAMPLES ||
        (!field->values.constant && !is_copy)) {
        return;
    }
    struct fby_finding *finding;
    if (field->values.constant) {
        finding = append(self, FBY_FINDING_CONSTANT, field, field->lines.field);
        set_text(finding->found, "the value is the same in all %u samples",
            facts->samples);
        set_text(finding->advice,
            "nothing: leave the field out, the trainer can make the value");
    } else {
        finding = append(self, FBY_FINDING_TWICE, field, field->lines.field);
        set_text(finding->found,
            "the values equal those of field '%s' in all %u samples",
            other->content->name, facts->samples);
        set_text(finding->advice, "nothing: leave one of the two out");
    }
    set_saving(finding, field->current.bytes, 0, "bytes a sample");
}

/* ---- Inputs and targets -------------------------------------------------- */

/* True for sequences with this `from` that are cut and not packed. */
static bool is_cut_from(
    const struct fby_field_content *content, const char *from)
{
    return fby_field_values(content) == FBY_VALUES_TOKENS &&
           !content->as.tokens.packed && strcmp(content->from[0], from) == 0;
}

/* Targets are the inputs shifted by one token. So one field of sequences with
 * one more token can replace both fields. */
static void find_shifted_sequence(
    struct findings *self, const struct fby_lint_field *field)
{
    const struct fby_lint_facts *facts = self->facts;
    uint32_t                     input = 0;
    while (input < facts->n_fields &&
           !is_cut_from(facts->fields[input].content, "input")) {
        input++;
    }
    if (input == facts->n_fields || !is_cut_from(field->content, "target")) {
        return;
    }
    const struct fby_lint_field *inputs = &facts->fields[input];
    struct fby_finding          *finding =
        append(self, FBY_FINDING_TWICE, field, field->lines.field);
    set_text(finding->found,
        "all tokens of a row except one are also in field '%s'",
        inputs->content->name);
    set_text(finding->advice,
        "one field 'from: sequence': the inputs are all tokens of a row but "
        "the last, the targets all but the first");
    set_saving(finding, field->current.bytes + inputs->current.bytes,
        inputs->current.bytes + fby_type_bytes(field->content->wire_type),
        "bytes a sample");
}

static void find_shards(struct findings *self)
{
    const struct fby_lint_facts *facts = self->facts;
    bool                         block_helps =
        facts->block > 0 && facts->block_shards <= FBY_LINT_OPEN_SHARDS;
    if (facts->shards <= FBY_LINT_OPEN_SHARDS || !block_helps) {
        return;
    }
    struct fby_finding *finding =
        append(self, FBY_FINDING_SHARDS, NULL, facts->shuffle_line);
    set_text(finding->found,
        "a batch comes from %.0f shards, of which a worker keeps %d open",
        facts->shards, FBY_LINT_OPEN_SHARDS);
    set_text(finding->advice,
        "shuffle: {block: %u}; another order, which mixes less", facts->block);
    set_saving(finding, facts->shards, facts->block_shards, "shards a batch");
}

uint32_t fby_lint_find(const struct fby_lint_facts *facts,
    struct fby_finding                              out[FBY_LINT_FINDINGS])
{
    struct findings self = {.facts = facts, .out = out};
    find_refused(&self);
    find_class_difference(&self);
    find_missing_ends(&self);
    find_token_type(&self);
    find_shards(&self);
    for (uint32_t i = 0; i < facts->n_fields; i++) {
        const struct fby_lint_field *field = &facts->fields[i];
        find_pair(&self, field);
        find_moved_coordinates(&self, field);
        find_random_ops(&self, field);
        find_clipped(&self, field);
        find_bytes_as_floats(&self, field);
        find_levels(&self, field);
        find_redundant(&self, field);
        find_op_orders(&self, field);
        find_dct_scale(&self, field);
        find_wire_type(&self, field);
        find_codec(&self, field);
        find_shifted_sequence(&self, field);
    }
    return self.n;
}
