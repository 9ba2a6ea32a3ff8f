/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - the layout of the findings, as text and as JSON. */
#include "cli/lint/report.h"

#include <jansson.h>
#include <string.h>

#include "cli/output.h"
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
    fprintf(out, "%s: %s, measured on %s", file.text,
        report->n == 0 ? "nothing found"
                       : fby_plural(report->n, "finding").text,
        fby_plural(report->facts->samples, "sample").text);
    if (report->facts->refused > 0) {
        fprintf(out, " (%u more %s refused)", report->facts->refused,
            report->facts->refused == 1 ? "was" : "were");
    }
    fputc('\n', out);
}

static json_t *finding_object(const struct fby_finding *finding)
{
    return json_pack("{s:s, s:I, s:s?, s:s, s:s, s:s?, s:f, s:f, s:f, s:b}",
        "kind", finding_name(finding->kind), "line", (json_int_t)finding->line,
        "field", finding->field, "found", finding->found, "write",
        finding->advice, "unit", finding->unit, "before", finding->before,
        "after", finding->after, "saving_percent", saving_percent(finding),
        "changes_content", (int)finding->changes_content);
}

void fby_lint_report_json(const struct fby_lint_report *report, FILE *out)
{
    bool    is_text  = fby_is_utf8(report->file, strlen(report->file));
    json_t *findings = json_array();
    for (uint32_t i = 0; i < report->n; i++) {
        json_array_append_new(findings, finding_object(&report->findings[i]));
    }
    json_t *root = json_pack("{s:s?, s:I, s:I, s:o}", "file",
        is_text ? report->file : NULL, "samples",
        (json_int_t)report->facts->samples, "refused",
        (json_int_t)report->facts->refused, "findings", findings);
    json_dumpf(root, out,
        JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(6));
    fputc('\n', out);
    json_decref(root);
}
