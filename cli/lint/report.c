/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - the layout of the findings, as text and as JSON. */
#include "cli/lint/report.h"

#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "common/array.h"
#include "common/plural.h"
#include "common/utf8.h"

static const char *finding_name(enum fby_finding_kind kind)
{
    static const char *const names[] = {
        [FBY_FINDING_REFUSED]     = "refused",
        [FBY_FINDING_PAIR]        = "pair",
        [FBY_FINDING_COORDINATES] = "coordinates",
        [FBY_FINDING_CLASSES]     = "classes",
        [FBY_FINDING_NO_END]      = "no-end",
        [FBY_FINDING_TOKEN_TYPE]  = "token-type",
        [FBY_FINDING_RANDOM]      = "random",
        [FBY_FINDING_CLIPPED]     = "clipped",
        [FBY_FINDING_LEVELS]      = "levels",
        [FBY_FINDING_OP_ORDER]    = "op-order",
        [FBY_FINDING_DCT_SCALE]   = "dct-scale",
        [FBY_FINDING_WIRE_TYPE]   = "wire-type",
        [FBY_FINDING_CODEC]       = "codec",
        [FBY_FINDING_CONSTANT]    = "constant",
        [FBY_FINDING_TWICE]       = "twice",
        [FBY_FINDING_SHARDS]      = "shards",
    };
    return names[kind];
}

/* The saving in percent; 0 if the finding has no saving. */
static double saving_percent(const struct fby_finding *finding)
{
    return finding->before > 0
               ? 100 * (finding->before - finding->after) / finding->before
               : 0;
}

struct amount_text {
    char text[32];
};

/* Three significant digits; all digits before the point from 100 on. */
static struct amount_text format_amount(double value)
{
    struct amount_text out;
    snprintf(out.text, sizeof(out.text), value < 100 ? "%.3g" : "%.0f", value);
    return out;
}

static void print_finding(
    const char *file, const struct fby_finding *finding, FILE *out)
{
    fprintf(
        out, "%s:%zu: %s", file, finding->line, finding_name(finding->kind));
    if (finding->field != NULL) {
        fprintf(out, " (field %s)", finding->field);
    }
    fprintf(out, "\n  found  %s\n", finding->found);
    if (finding->unit != NULL) {
        fprintf(out, "  saves  %s of %s %s (%.0f %%)\n",
            format_amount(finding->before - finding->after).text,
            format_amount(finding->before).text, finding->unit,
            saving_percent(finding));
    }
    fprintf(out, "  write  %s\n", finding->advice);
    if (finding->changes_content) {
        fputs("  note   this changes the content, and so its digest\n", out);
    }
}

void fby_lint_report_text(const struct fby_lint_report *report, FILE *out)
{
    const struct fby_shown_path file = fby_show_path(report->file);
    for (uint32_t i = 0; i < report->n; i++) {
        print_finding(file.text, &report->findings[i], out);
    }
    fprintf(out, "%s: ", file.text);
    if (report->split != NULL) {
        fprintf(out, "split %s: ", report->split);
    }
    fprintf(out, "%s, measured on %s",
        report->n == 0 ? "nothing found"
                       : fby_plural(report->n, "finding").text,
        fby_plural(report->facts->samples, "sample").text);
    if (report->facts->refused > 0) {
        fprintf(out, " (%u more %s refused)", report->facts->refused,
            report->facts->refused == 1 ? "was" : "were");
    }
    fputc('\n', out);
}

/* ---- JSON ---- */

static json_t *finding_object(
    const struct fby_finding *finding, const char *split)
{
    return json_pack(
        "{s:s, s:I, s:s?, s:s, s:s, s:s, s:s?, s:f, s:f, s:f, s:b}", "kind",
        finding_name(finding->kind), "line", (json_int_t)finding->line, "field",
        finding->field, "split", split, "found", finding->found, "write",
        finding->advice, "unit", finding->unit, "before", finding->before,
        "after", finding->after, "saving_percent", saving_percent(finding),
        "changes_content", (int)finding->changes_content);
}

json_t *fby_lint_report_begin_json(const char *file)
{
    bool is_text = fby_is_utf8(file, strlen(file));
    return json_pack("{s:s?, s:i, s:i, s:[]}", "file", is_text ? file : NULL,
        "samples", 0, "refused", 0, "findings");
}

static void add_to(json_t *root, const char *key, uint32_t number)
{
    json_t *count = json_object_get(root, key);
    json_integer_set(count, json_integer_value(count) + number);
}

void fby_lint_report_add_json(
    const struct fby_lint_report *report, json_t *root)
{
    json_t *findings = json_object_get(root, "findings");
    for (uint32_t i = 0; i < report->n; i++) {
        json_array_append_new(findings,
            finding_object(&report->findings[i], report->facts->split));
    }
    add_to(root, "samples", report->facts->samples);
    add_to(root, "refused", report->facts->refused);
}

void fby_lint_report_print_json(const json_t *root, FILE *out)
{
    json_dumpf(root, out,
        JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(6));
    fputc('\n', out);
}

/* ---- several splits ---- */

struct fby_lint_place { /* of a finding */
    enum fby_finding_kind kind;
    size_t                line;
    char                  field[FBY_NAME_SIZE]; /* "": none */
};

static bool is_at(
    const struct fby_lint_place *place, const struct fby_finding *finding)
{
    const char *field = finding->field != NULL ? finding->field : "";
    return place->kind == finding->kind && place->line == finding->line &&
           strcmp(place->field, field) == 0;
}

static bool has_place(
    const struct fby_lint_found *self, const struct fby_finding *finding)
{
    uint32_t i = 0;
    while (i < self->n && !is_at(&self->places[i], finding)) {
        i++;
    }
    return i < self->n;
}

static void add_place(
    struct fby_lint_found *self, const struct fby_finding *finding)
{
    struct fby_lint_place place = {
        .kind = finding->kind, .line = finding->line};
    if (finding->field != NULL) {
        snprintf(place.field, sizeof(place.field), "%s", finding->field);
    }
    self->places = fby_array_grow(self->places, self->n, sizeof(*self->places));
    self->places[self->n++] = place;
}

uint32_t fby_lint_found_keep_new(
    struct fby_lint_found *self, struct fby_finding *findings, uint32_t n)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (findings[i].kind == FBY_FINDING_REFUSED ||
            !has_place(self, &findings[i])) {
            findings[kept++] = findings[i];
        }
    }
    for (uint32_t i = 0; i < kept; i++) {
        add_place(self, &findings[i]);
    }
    return kept;
}

void fby_lint_found_fini(struct fby_lint_found *self)
{
    free(self->places);
    *self = (struct fby_lint_found){.n = 0};
}
