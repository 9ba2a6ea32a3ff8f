/* SPDX-License-Identifier: Apache-2.0 */
/* yaml.c - strict reading of a YAML file with libyaml: see yaml.h. */
#include "pipeline/yaml.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/utf8.h"
#include "pipeline/nearest.h"
#include "pipeline/text.h"

/* ---- errors ---- */

/* The last 160 bytes of a file name, so that the message fits its buffer. */
static const char *short_name(const char *file)
{
    enum { SHOWN = 160 };
    size_t length = strlen(file);
    return length > SHOWN ? file + length - SHOWN : file;
}

fby_err fby_yaml_set_error(struct fby_error_detail *why, const char *file,
    struct fby_source_pos pos, const char *format, ...)
{
    char    text[sizeof(why->text)];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return fby_error_set(why, FBY_CONFIG, "%s:%zu:%zu: %s", short_name(file),
        pos.line, pos.column, text);
}

/* Read ":NUMBER" at *text_p, and move *text_p behind it. */
static bool read_number(const char **text_p, size_t *out)
{
    char *end = NULL;
    if ((*text_p)[0] != ':' || !isdigit((unsigned char)(*text_p)[1])) {
        return false;
    }
    *out    = strtoul(*text_p + 1, &end, 10);
    *text_p = end;
    return true;
}

bool fby_yaml_error_pos(const struct fby_error_detail *why, const char *file,
    struct fby_source_pos *out)
{
    const char *name = short_name(file);
    const char *rest = why->text + strlen(name);
    return strncmp(why->text, name, strlen(name)) == 0 &&
           read_number(&rest, &out->line) && read_number(&rest, &out->column) &&
           strncmp(rest, ": ", 2) == 0;
}

fby_err fby_yaml_error_expected(
    const struct fby_yaml *self, const yaml_node_t *node, const char *what)
{
    if (fby_yaml_is_map(node)) {
        return fby_yaml_error(
            self, node, "expected %s, not a mapping {...}", what);
    }
    if (fby_yaml_is_list(node)) {
        return fby_yaml_error(self, node, "expected %s, not a list of %zu",
            what, fby_yaml_length(node));
    }
    if (!fby_yaml_is_given(node)) {
        return fby_yaml_error(
            self, node, "expected %s, not an empty value", what);
    }
    bool quoted = node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    return fby_yaml_error(self, node, "expected %s, not %s'%s'", what,
        quoted ? "the text " : "", fby_text_show(fby_yaml_text(node)).text);
}

static struct fby_source_pos pos_of_mark(yaml_mark_t mark)
{
    return (struct fby_source_pos){
        .line = mark.line + 1, .column = mark.column + 1};
}

struct fby_source_pos fby_yaml_pos(const yaml_node_t *node)
{
    return pos_of_mark(node->start_mark);
}

/* ---- opening ----
 * The text is parsed twice: into events, because only they show anchors, tags,
 * directives and further documents, and then into nodes. */

struct event_check { /* the state of the first parse */
    const struct fby_yaml_input *input;
    struct fby_error_detail     *why;
    unsigned                     depth;     /* lists and mappings now open */
    unsigned                     documents; /* documents begun so far */
};

/* Set the error `text` at the position of the event. */
static fby_err refuse(const struct event_check *check,
    const yaml_event_t *event, const char *text)
{
    return fby_yaml_set_error(check->why, check->input->file,
        pos_of_mark(event->start_mark), "%s", text);
}

static fby_err check_document(
    struct event_check *check, const yaml_event_t *event)
{
    if (event->data.document_start.version_directive != NULL ||
        event->data.document_start.tag_directives.start !=
            event->data.document_start.tag_directives.end) {
        return refuse(check, event, "directives (%...) are not supported");
    }
    check->documents++;
    return check->documents == 1
               ? FBY_OK
               : refuse(check, event,
                     "a second document; a pipeline file has one");
}

/* Refuse an event that a pipeline file must not have. */
static fby_err check_event(struct event_check *check, const yaml_event_t *event)
{
    const yaml_char_t *anchor = NULL;
    const yaml_char_t *tag    = NULL;
    if (event->type == YAML_DOCUMENT_START_EVENT) {
        return check_document(check, event);
    }
    if (event->type == YAML_ALIAS_EVENT) {
        return refuse(check, event, "aliases (*name) are not supported");
    }
    if (event->type == YAML_SCALAR_EVENT) {
        if (memchr(event->data.scalar.value, 0, event->data.scalar.length)) {
            return refuse(check, event, "a text must not hold NUL");
        }
        anchor = event->data.scalar.anchor;
        tag    = event->data.scalar.tag;
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        check->depth++;
        anchor = event->data.sequence_start.anchor;
        tag    = event->data.sequence_start.tag;
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        check->depth++;
        anchor = event->data.mapping_start.anchor;
        tag    = event->data.mapping_start.tag;
    } else if (event->type == YAML_SEQUENCE_END_EVENT ||
               event->type == YAML_MAPPING_END_EVENT) {
        check->depth--;
    }
    return check->depth > FBY_YAML_MAX_DEPTH
               ? refuse(
                     check, event, "lists and mappings are nested too deeply")
           : anchor != NULL
               ? refuse(check, event, "anchors (&name) are not supported")
           : tag != NULL
               ? refuse(check, event, "tags (!name) are not supported")
               : FBY_OK;
}

static fby_err syntax_error(
    const struct event_check *check, const yaml_parser_t *parser)
{
    const char *problem =
        parser->problem != NULL ? parser->problem : "this is not valid YAML";
    const char *context = parser->context != NULL ? parser->context : "";
    /* "while parsing a block mapping": often bad indentation */
    bool in_block = strstr(context, "block") != NULL;
    return fby_yaml_set_error(check->why, check->input->file,
        pos_of_mark(parser->problem_mark), "%s%s%s%s", problem,
        context[0] != '\0' ? " " : "", context,
        in_block ? "; do the lines of one level begin in the same column?"
                 : "");
}

static void start_parser(
    yaml_parser_t *parser, const struct fby_yaml_input *input)
{
    static const char bom[] = "\xef\xbb\xbf"; /* byte order mark in UTF-8 */
    const char       *text  = input->size > 0 ? input->text : "";
    size_t            skip  = sizeof(bom) - 1; /* bytes skipped at the start */
    if (input->size < skip || memcmp(text, bom, skip) != 0) {
        skip = 0;
    }
    if (!yaml_parser_initialize(parser)) {
        abort(); /* out of memory, as in common/mem.h */
    }
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(
        parser, (const unsigned char *)text + skip, input->size - skip);
}

static fby_err check_events(struct event_check *check, yaml_parser_t *parser)
{
    for (bool has_more = true; has_more;) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event)) {
            return syntax_error(check, parser);
        }
        fby_err err = check_event(check, &event);
        has_more    = event.type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
        FBY_TRY(err);
    }
    return check->documents > 0
               ? FBY_OK
               : fby_yaml_set_error(check->why, check->input->file,
                     (struct fby_source_pos){1, 1}, "the file is empty");
}

/* Check that each line is UTF-8 without NUL. */
static fby_err check_utf8(
    const struct fby_yaml_input *input, struct fby_error_detail *why)
{
    struct fby_source_pos pos = {1, 1};
    for (size_t offset = 0, length = 0; offset < input->size;
         offset += length) {
        const char *line = input->text + offset;
        const char *end  = memchr(line, '\n', input->size - offset);
        length = end != NULL ? (size_t)(end - line) + 1 : input->size - offset;
        if (!fby_is_utf8(line, length)) {
            return fby_yaml_set_error(why, input->file, pos,
                "this line is not UTF-8 text without NUL");
        }
        pos.line++;
    }
    return FBY_OK;
}

fby_err fby_yaml_open(const struct fby_yaml_input *input, struct fby_yaml *out,
    struct fby_error_detail *why)
{
    struct event_check check = {.input = input, .why = why};
    yaml_parser_t      parser;
    FBY_TRY(check_utf8(input, why));
    start_parser(&parser, input);
    fby_err err = check_events(&check, &parser);
    yaml_parser_delete(&parser);
    FBY_TRY(err);
    start_parser(&parser, input);
    out->file = input->file;
    out->why  = why;
    if (!yaml_parser_load(&parser, &out->document)) {
        err = syntax_error(&check, &parser);
    }
    yaml_parser_delete(&parser);
    return err;
}

void fby_yaml_close(struct fby_yaml *self)
{
    yaml_document_delete(&self->document);
}

/* ---- scalars ---- */

const char *fby_yaml_text(const yaml_node_t *node)
{
    return fby_yaml_is_scalar(node) ? (const char *)node->data.scalar.value
                                    : "";
}

static bool is_plain(const yaml_node_t *node)
{
    return fby_yaml_is_scalar(node) &&
           node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

bool fby_yaml_is_given(const yaml_node_t *node)
{
    const char *text = fby_yaml_text(node);
    if (is_plain(node) &&
        (strcmp(text, "~") == 0 || strcmp(text, "null") == 0)) {
        return false;
    }
    return text[0] != '\0';
}

/* The length of the integer at the start of `text`, such as "-12"; 0 if there
 * is no integer or it has a leading zero. */
static size_t integer_length(const char *text)
{
    size_t sign   = text[0] == '-' ? 1 : 0;
    size_t digits = strspn(text + sign, "0123456789");
    if (digits == 0 || (digits > 1 && text[sign] == '0')) {
        return 0;
    }
    return sign + digits;
}

bool fby_yaml_read_integer(const yaml_node_t *node, int64_t *out)
{
    const char *text   = fby_yaml_text(node);
    size_t      length = integer_length(text);
    if (!is_plain(node) || length == 0 || text[length] != '\0') {
        return false;
    }
    errno = 0;
    *out  = strtoll(text, NULL, 10);
    return errno == 0;
}

/* The length of a fraction such as ".5" at `text`; 0 if there is none. */
static size_t fraction_length(const char *text)
{
    size_t digits = text[0] == '.' ? strspn(text + 1, "0123456789") : 0;
    return digits > 0 ? 1 + digits : 0;
}

/* The length of an exponent such as "e-3" at `text`; 0 if there is none. */
static size_t exponent_length(const char *text)
{
    if (text[0] != 'e' && text[0] != 'E') {
        return 0;
    }
    size_t prefix = text[1] == '-' || text[1] == '+' ? 2 : 1;
    size_t digits = strspn(text + prefix, "0123456789");
    return digits > 0 ? prefix + digits : 0;
}

bool fby_yaml_read_real(const yaml_node_t *node, double *out)
{
    const char *text   = fby_yaml_text(node);
    size_t      length = integer_length(text);
    if (!is_plain(node) || length == 0) {
        return false;
    }
    length += fraction_length(text + length);
    length += exponent_length(text + length);
    if (text[length] != '\0') {
        return false;
    }
    /* strtod() would use the decimal point of the process's locale. */
    locale_t c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0) {
        abort(); /* out of memory: the C locale is always there */
    }
    double value = strtod_l(text, NULL, c_locale);
    freelocale(c_locale);
    *out = value == 0 ? 0 : value; /* -0 becomes 0 */
    return isfinite(value);
}

/* ---- lists and mappings ---- */

size_t fby_yaml_length(const yaml_node_t *node)
{
    return fby_yaml_is_list(node) ? (size_t)(node->data.sequence.items.top -
                                             node->data.sequence.items.start)
                                  : 1;
}

yaml_node_t *fby_yaml_item(struct fby_yaml *self, yaml_node_t *node, size_t i)
{
    return fby_yaml_is_list(node) ? yaml_document_get_node(&self->document,
                                        node->data.sequence.items.start[i])
                                  : node;
}

static fby_err error_unknown_key(const struct fby_yaml *self,
    const yaml_node_t *key, const struct fby_yaml_map *map)
{
    const char        *text    = fby_yaml_text(key);
    struct fby_nearest nearest = {.word = text};
    for (size_t i = 0; i < map->n_names; i++) {
        fby_nearest_offer(&nearest, map->names[i]);
    }
    return fby_yaml_error(self, key, "key '%s' is not known here%s",
        fby_text_show(text).text, fby_nearest_hint(&nearest, "known:").text);
}

/* Read one entry of a mapping; `target` is its struct fby_yaml_map. */
static fby_err read_known_entry(
    struct fby_yaml *self, yaml_node_t *key, yaml_node_t *value, void *target)
{
    struct fby_yaml_map *map  = target;
    const char          *text = fby_yaml_text(key);
    size_t               i    = 0;
    while (i < map->n_names && strcmp(map->names[i], text) != 0) {
        i++;
    }
    if (i == map->n_names) {
        return error_unknown_key(self, key, map);
    }
    if (fby_pos_is_given(map->key_pos[i])) {
        return fby_yaml_error(self, key,
            "key '%s' is given twice (first in line %zu)", text,
            map->key_pos[i].line);
    }
    map->key_pos[i] = fby_yaml_pos(value);
    return map->read(self, value, i, map->target);
}

fby_err fby_yaml_read_map(struct fby_yaml *self, yaml_node_t *node,
    const char *what, struct fby_yaml_map *map)
{
    return fby_yaml_read_entries(self, node, what, read_known_entry, map);
}

fby_err fby_yaml_read_entries(struct fby_yaml *self, yaml_node_t *node,
    const char *what, fby_yaml_entry *read, void *target)
{
    if (!fby_yaml_is_map(node)) {
        return fby_yaml_error_expected(self, node, what);
    }
    fby_err err = FBY_OK;
    for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         err == FBY_OK && pair < node->data.mapping.pairs.top; pair++) {
        yaml_node_t *key = yaml_document_get_node(&self->document, pair->key);
        yaml_node_t *value =
            yaml_document_get_node(&self->document, pair->value);
        err = fby_yaml_is_scalar(key)
                  ? read(self, key, value, target)
                  : fby_yaml_error_expected(self, key, "a key");
    }
    return err;
}
