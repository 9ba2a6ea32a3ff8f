#include "cli/lint/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/lint/pairs.h"
#include "pipeline/derived.h"
#include "pipeline/fields/kind.h"
#include "pipeline/op.h"

/* Savings below these shares are noise, or not worth a change. */
static const double worth_cpu   = 0.05; /* of a field's CPU time */
static const double worth_bytes = 0.125;
static const double tiny_bytes  = 64; /* per sample */
/* Two orders with at most this mean difference, in levels, are equivalent. */
static const double rounding = 1;
/* A longer move must save at least this share more than a shorter one. */
static const double worth_longer_move = 0.03;

_Static_assert((FBY_MAX_OPS + 7) * FBY_MAX_FIELDS + 4 == FBY_LINT_FINDINGS,
    "FBY_LINT_FINDINGS is the largest number of findings");

struct findings {
    const struct fby_lint_facts *facts;
    struct fby_finding          *at;
    uint32_t                     n;
};

static void set_text(char out[FBY_LINT_TEXT], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void set_text(char out[FBY_LINT_TEXT], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(out, FBY_LINT_TEXT, format, args);
    va_end(args);
}

/* Add a finding whose advice changes the content. `field` may be NULL. */
static struct fby_finding *add(struct findings *self,
    enum fby_finding_kind kind, const struct fby_lint_field *field, size_t line)
{
    struct fby_finding *finding = &self->at[self->n++];
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

static bool is_worthwhile(double before, double after, double share)
{
    return before > 0 && before - after >= share * before;
}

static void find_refused(struct findings *self)
{
    const struct fby_lint_facts *facts = self->facts;
    if (facts->refused == 0) {
        return;
    }
    const struct fby_lint_field *field = &facts->fields[facts->refused_field];
    struct fby_finding          *finding =
        add(self, FBY_FINDING_REFUSED, field, field->lines.field);
    set_text(finding->found, "%s", facts->refusal);
    set_text(finding->advice,
        facts->substitutes
            ? "nothing, if that is intended: pull takes other samples instead "
              "(%u of %u checked are refused), up to the limit of on_bad_sample"
            : "on_bad_sample: substitute, or fix the data: pull stops at such "
              "a sample, and %u of %u checked are refused",
        facts->refused, facts->refused + facts->samples);
    finding->changes_content = !facts->substitutes;
}

static void find_classes(struct findings *self)
{
    const struct fby_lint_facts *facts = self->facts;
    uint32_t                     f     = 0;
    while (f < facts->n_fields &&
           !fby_field_is_folder_id(facts->fields[f].content)) {
        f++;
    }
    if (!facts->classes.differ || f == facts->n_fields) {
        return;
    }
    struct fby_finding *finding = add(self, FBY_FINDING_CLASSES,
        &facts->fields[f], facts->fields[f].lines.field);
    fby_class_folders_describe(
        &facts->classes, finding->found, sizeof(finding->found));
    set_text(finding->advice, "nothing, but %s", fby_class_folders_advice);
    finding->changes_content = false;
}

static void find_ends(struct findings *self)
{
    const struct fby_lint_ends *ends = &self->facts->ends;
    if (ends->undivided == 0) {
        return;
    }
    struct fby_finding *finding =
        add(self, FBY_FINDING_NO_END, NULL, ends->line);
    set_text(finding->found,
        "%u of %u files are one document each, cut into sequences: token %u is "
        "not in them, or only at their end",
        ends->undivided, ends->files, ends->end);
    set_text(finding->advice,
        "nothing, if that is true; else end: the token after each document "
        "(the tokenizer's end of text), and type: that of the files");
}

/* ---- Pictures and their masks -------------------------------------------- */

/* The picture that `labels` belongs to: the first one whose pixels move alike,
 * else the first picture; NULL: there is none. */
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

static void describe_pair(struct fby_finding *finding, enum fby_lint_pair how,
    const struct fby_field_content *picture)
{
    const char *name  = picture->name;
    const char *found = "";
    if (how == FBY_LINT_OTHER_GROUP) {
        found = "Each draws its own crops and flips: their groups differ";
        set_text(finding->advice, "group: %s", picture->group);
    } else if (how == FBY_LINT_OTHER_OPS) {
        found = "Their random ops that move pixels differ";
        set_text(finding->advice,
            "group: %s, and in ops the random crops, flips, rotations and "
            "policies of '%s' in their order, with its numbers",
            picture->group, name);
    } else {
        found = "Their flips on the device differ";
        set_text(finding->advice,
            "group: %s, and in device the flips that '%s' has there, or in ops "
            "of both instead",
            picture->group, name);
    }
    set_text(finding->found, "does '%s' label the pixels of '%s'? %s",
        finding->field, name, found);
}

static void find_pair(struct findings *self, const struct fby_lint_field *field)
{
    enum fby_lint_pair how = FBY_LINT_ALIKE;
    if (fby_field_values(field->content) != FBY_VALUES_IDS) {
        return;
    }
    const struct fby_field_content *picture =
        picture_of(self->facts, field->content, &how);
    if (picture == NULL || how == FBY_LINT_ALIKE) {
        return;
    }
    struct fby_finding *finding =
        add(self, FBY_FINDING_PAIR, field, field->lines.field);
    describe_pair(finding, how, picture);
}

/* ---- Levels -------------------------------------------------------------- */

static double largest_of(const double *values)
{
    double most = values[0] > values[1] ? values[0] : values[1];
    return most > values[2] ? most : values[2];
}

struct triple_text {
    char text[64];
};

/* Three values as text; `bytes`: divided by 255. */
static struct triple_text show_triple(const double *values, bool bytes)
{
    double             by = bytes ? 255 : 1;
    struct triple_text out;
    snprintf(out.text, sizeof(out.text), "[%.4g, %.4g, %.4g]", values[0] / by,
        values[1] / by, values[2] / by);
    return out;
}

/* Levels have a mean of at most 1 and a std of at most 0.5. A std of 1 or 2 may
 * be intended, unless the mean is in bytes: then the std is in bytes, too. */
static void find_levels(
    struct findings *self, const struct fby_lint_field *field)
{
    const struct fby_field_content *content = field->content;
    if (!fby_field_is_normalized(content)) {
        return;
    }
    double std   = largest_of(content->as.rgb8.std);
    bool   mean  = largest_of(content->as.rgb8.mean) > 1;
    bool   bytes = std > 2 || (mean && std >= 1);
    if (!mean && !bytes) {
        return;
    }
    struct fby_finding *finding =
        add(self, FBY_FINDING_LEVELS, field, field->lines.normalize);
    set_text(finding->found,
        "normalize has mean %s and std %s, as of bytes of 0 to 255; levels are "
        "0 to 1",
        show_triple(content->as.rgb8.mean, false).text,
        show_triple(content->as.rgb8.std, false).text);
    set_text(finding->advice, "normalize: {mean: %s, std: %s}: divided by 255",
        show_triple(content->as.rgb8.mean, mean).text,
        show_triple(content->as.rgb8.std, bytes).text);
}

/* ---- The order of ops ---------------------------------------------------- */

/* Every difference between ids of a mask counts: they are not levels. */
static bool is_equivalent(
    const struct fby_lint_field *field, const struct fby_lint_trial *trial)
{
    bool mask = fby_field_values(field->content) == FBY_VALUES_IDS;
    return trial->made && trial->difference <= (mask ? 0 : rounding);
}

/* The move of op `from` with the lowest cost; of moves with about equal cost,
 * the shortest. */
static const struct fby_lint_move *best_move(
    const struct fby_lint_field *field, uint32_t from)
{
    const struct fby_lint_move *best = NULL;
    for (uint32_t i = 0; i < field->n_moves; i++) {
        const struct fby_lint_move *move = &field->moves[i];
        if (move->from != from || !is_equivalent(field, &move->trial) ||
            !is_worthwhile(
                move->trial.before_ms, move->trial.after_ms, worth_cpu)) {
            continue;
        }
        if (best == NULL || (best->to > move->to &&
                                is_worthwhile(best->trial.after_ms,
                                    move->trial.after_ms, worth_longer_move))) {
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
        set_text(finding->found,
            "%s comes after %s, which works on pixels that %s then drops",
            moved, first, moved);
        set_text(finding->advice,
            "%s before %s; values differ by %.2g of 255 in the mean", moved,
            first, move->trial.difference);
        set_saving(finding, move->trial.before_ms, move->trial.after_ms,
            "CPU ms a sample");
    }
}

static void find_scale(
    struct findings *self, const struct fby_lint_field *field)
{
    const struct fby_lint_trial *trial = &field->scale;
    if (!trial->made ||
        !is_worthwhile(trial->before_ms, trial->after_ms, worth_cpu)) {
        return;
    }
    struct fby_finding *finding =
        add(self, FBY_FINDING_DCT_SCALE, field, field->lines.dct_scale);
    set_text(finding->found, "dct_scale: off decodes pictures in full that are "
                             "then made much smaller");
    set_text(finding->advice,
        "dct_scale: faithful; values differ by %.2g of 255 in the mean",
        trial->difference);
    set_saving(finding, trial->before_ms, trial->after_ms, "CPU ms a sample");
}

/* ---- A narrower type ----------------------------------------------------- */

struct narrow_type { /* a wire type and the numbers that fit */
    enum fby_type type;
    double        least, most;
    bool          for_labels; /* labels can be sent in this type */
};

/* The narrowest type for numbers from `least` to `most`; NULL if only i64 holds
 * them. */
static const struct narrow_type *narrowest_type(
    bool label, double least, double most)
{
    static const struct narrow_type types[] = {
        {FBY_U8, 0, UINT8_MAX, true},
        {FBY_U16, 0, UINT16_MAX, true},
        {FBY_I32, INT32_MIN, INT32_MAX, false},
        {FBY_U32, 0, UINT32_MAX, true},
    };
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        const struct narrow_type *type = &types[i];
        if ((type->for_labels || !label) && least >= type->least &&
            most <= type->most) {
            return type;
        }
    }
    return NULL;
}

/* The largest possible id, or the largest value that was measured. */
static double largest_id(const struct fby_lint_field *field)
{
    const struct fby_field_content *content = field->content;
    if (fby_field_values(content) != FBY_VALUES_CLASSES) {
        return field->values.most;
    }
    uint32_t classes =
        field->classes > 0 ? field->classes : content->as.label.classes;
    return classes > 0 ? classes - 1.0 : field->values.most;
}

static void advise_type(const struct fby_lint_field *field,
    const struct narrow_type *type, struct fby_finding *finding)
{
    const struct fby_field_content *content = field->content;
    const char                     *name    = fby_type_word(type->type);
    bool   label = fby_field_values(content) == FBY_VALUES_CLASSES;
    double most  = largest_id(field);
    if (label && content->as.label.classes == 0 && field->classes > 0) {
        set_text(finding->advice, "classes: %u; ids then travel as %s",
            field->classes, name);
    } else if (label && content->as.label.classes == 0) {
        set_text(finding->advice,
            "classes: N, the number of classes (more than %.0f); ids below "
            "%.0f travel as %s",
            most, type->most + 1, name);
    } else if (label) {
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

static void find_type(struct findings *self, const struct fby_lint_field *field)
{
    const struct fby_lint_values *values = &field->values;
    if (!values->numbers || !values->whole || values->constant) {
        return;
    }
    bool   label = fby_field_values(field->content) == FBY_VALUES_CLASSES;
    double most  = largest_id(field);
    double width = fby_type_bytes(field->content->wire_type);
    const struct narrow_type *type = narrowest_type(label, values->least, most);
    bool tokens = fby_field_values(field->content) == FBY_VALUES_TOKENS;
    if (type == NULL || fby_type_bytes(type->type) >= width ||
        (tokens && type->type != FBY_U16)) {
        return;
    }
    size_t              line    = label && field->content->as.label.classes == 0
                                      ? field->lines.classes
                                      : field->lines.type;
    struct fby_finding *finding = add(self, FBY_FINDING_WIRE_TYPE, field, line);
    set_text(finding->found,
        "whole numbers from %.0f to %.0f travel in %.0f bytes each",
        values->least, most, width);
    advise_type(field, type, finding);
    set_saving(finding, field->bytes,
        field->bytes / width * fby_type_bytes(type->type), "bytes a sample");
}

static void find_codec(
    struct findings *self, const struct fby_lint_field *field)
{
    const struct fby_lint_encoding *current = &field->current;
    const struct fby_lint_encoding *best    = &field->best;
    if (field->bytes < tiny_bytes || field->values.constant ||
        current->bytes - best->bytes < worth_bytes * field->bytes) {
        return;
    }
    struct fby_finding *finding =
        add(self, FBY_FINDING_CODEC, field, field->lines.codec);
    set_text(finding->found, "%s",
        current->coding.codec == FBY_CODEC_STORE
            ? "the bytes travel as they are"
            : "another filter or codec makes fewer bytes");
    char   cost[64] = "hardly any CPU time";
    double ms       = best->ms - current->ms;
    if (ms >= 0.005) {
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
    const struct fby_lint_facts *facts = self->facts;
    const struct fby_lint_field *other = &facts->fields[field->same_as];
    if (facts->samples < FBY_LINT_FEW ||
        (!field->values.constant && other == field)) {
        return;
    }
    struct fby_finding *finding;
    if (field->values.constant) {
        finding = add(self, FBY_FINDING_CONSTANT, field, field->lines.field);
        set_text(finding->found, "the value is the same in all %u samples",
            facts->samples);
        set_text(finding->advice,
            "nothing: leave the field out, the trainer can make the value");
    } else {
        finding = add(self, FBY_FINDING_TWICE, field, field->lines.field);
        set_text(finding->found,
            "the values equal those of field '%s' in all %u samples",
            other->content->name, facts->samples);
        set_text(finding->advice, "nothing: leave one of the two out");
    }
    set_saving(finding, field->current.bytes, 0, "bytes a sample");
}

/* ---- Inputs and targets -------------------------------------------------- */

static bool is_cut_from(
    const struct fby_field_content *content, const char *from)
{
    return fby_field_values(content) == FBY_VALUES_TOKENS &&
           !content->as.tokens.packed && strcmp(content->from[0], from) == 0;
}

/* Targets are the inputs shifted by one token, so one sequence has both. */
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
    set_text(finding->found,
        "all tokens of a row except one are also in field '%s'",
        inputs->content->name);
    set_text(finding->advice,
        "one field from: sequence for both; its tokens but the last in a row "
        "are the inputs, but the first the targets");
    set_saving(finding, field->current.bytes + inputs->current.bytes,
        inputs->current.bytes + fby_type_bytes(field->content->wire_type),
        "bytes a sample");
}

static void find_shards(struct findings *self)
{
    const struct fby_lint_facts *facts = self->facts;
    if (facts->shards <= FBY_LINT_OPEN || facts->block == 0 ||
        facts->shards_block > FBY_LINT_OPEN) {
        return;
    }
    struct fby_finding *finding =
        add(self, FBY_FINDING_SHARDS, NULL, facts->shuffle_line);
    set_text(finding->found,
        "a batch comes from %.0f shards, of which a worker keeps %d open",
        facts->shards, FBY_LINT_OPEN);
    set_text(finding->advice,
        "shuffle: {block: %u}; another order, which mixes less", facts->block);
    set_saving(finding, facts->shards, facts->shards_block, "shards a batch");
}

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
        find_redundant(&self, field);
        find_orders(&self, field);
        find_scale(&self, field);
        find_type(&self, field);
        find_codec(&self, field);
        find_sequence(&self, field);
    }
    return self.n;
}
