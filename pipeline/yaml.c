#include "pipeline/yaml.h"

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

/* The end of a long file name says more than its beginning. */
static const char *short_name(const char *file)
{
    enum { SHOWN = 160 };
    size_t n = strlen(file);
    return n > SHOWN ? file + n - SHOWN : file;
}

__attribute__((format(printf, 4, 0))) static fby_err wrong(struct fby_why *why,
    const char *file, struct fby_place at, const char *format, va_list args)
{
    if (why == NULL) {
        return FBY_CONFIG;
    }
    char text[sizeof(why->text)];
    vsnprintf(text, sizeof(text), format, args);
    return fby_because(why, FBY_CONFIG, "%s:%zu:%zu: %s", short_name(file),
        at.line, at.column, text);
}

fby_err fby_yaml_wrong(struct fby_why *why, const char *file,
    struct fby_place at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fby_err err = wrong(why, file, at, format, args);
    va_end(args);
    return err;
}

fby_err fby_yaml_error(const struct fby_yaml *self, const yaml_node_t *node,
    const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fby_err err =
        wrong(self->why, self->file, fby_yaml_place(node), format, args);
    va_end(args);
    return err;
}

fby_err fby_yaml_expected(
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
        return fby_yaml_error(self, node, "expected %s, not nothing", what);
    }
    bool quoted = node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    return fby_yaml_error(self, node, "expected %s, not %s'%s'", what,
        quoted ? "the text " : "", fby_text_show(fby_yaml_text(node)).text);
}

static struct fby_place place(yaml_mark_t mark)
{
    return (struct fby_place){.line = mark.line + 1, .column = mark.column + 1};
}

struct fby_place fby_yaml_place(const yaml_node_t *node)
{
    return place(node->start_mark);
}

/* ---- opening ----
 * The text is parsed twice: once as events, which still show anchors, tags and
 * documents, and then into nodes. */

struct guard {
    const struct fby_yaml_input *input;
    struct fby_why              *why;
    unsigned                     depth;
    unsigned                     documents;
};

static fby_err refuse(
    const struct guard *g, const yaml_event_t *event, const char *text)
{
    return fby_yaml_wrong(
        g->why, g->input->file, place(event->start_mark), "%s", text);
}

static fby_err check_decoration(const struct guard *g,
    const yaml_event_t *event, const yaml_char_t *anchor,
    const yaml_char_t *tag)
{
    if (anchor != NULL) {
        return refuse(g, event, "anchors (&name) are not read here");
    }
    return tag == NULL ? FBY_OK
                       : refuse(g, event, "tags (!name) are not read here");
}

static fby_err check_document(struct guard *g, const yaml_event_t *event)
{
    if (event->data.document_start.version_directive != NULL ||
        event->data.document_start.tag_directives.start !=
            event->data.document_start.tag_directives.end) {
        return refuse(g, event, "directives (%...) are not read here");
    }
    return ++g->documents == 1
               ? FBY_OK
               : refuse(g, event, "a second document; a pipeline file has one");
}

static fby_err check_scalar(const struct guard *g, const yaml_event_t *event)
{
    if (memchr(event->data.scalar.value, 0, event->data.scalar.length)) {
        return refuse(g, event, "a text must not hold NUL");
    }
    return check_decoration(
        g, event, event->data.scalar.anchor, event->data.scalar.tag);
}

static fby_err go_deeper(struct guard *g, const yaml_event_t *event)
{
    return ++g->depth <= FBY_YAML_MAX_DEPTH
               ? FBY_OK
               : refuse(g, event, "lists and mappings are nested too deeply");
}

static fby_err check_event(struct guard *g, const yaml_event_t *event)
{
    fby_err err = FBY_OK;
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return check_document(g, event);
    case YAML_ALIAS_EVENT:
        return refuse(g, event, "aliases (*name) are not read here");
    case YAML_SCALAR_EVENT:
        return check_scalar(g, event);
    case YAML_SEQUENCE_START_EVENT:
        err = go_deeper(g, event);
        return err != FBY_OK ? err
                             : check_decoration(g, event,
                                   event->data.sequence_start.anchor,
                                   event->data.sequence_start.tag);
    case YAML_MAPPING_START_EVENT:
        err = go_deeper(g, event);
        return err != FBY_OK ? err
                             : check_decoration(g, event,
                                   event->data.mapping_start.anchor,
                                   event->data.mapping_start.tag);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        g->depth--;
        return FBY_OK;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        return FBY_OK;
    }
    return FBY_OK;
}

static fby_err syntax_error(const struct guard *g, const yaml_parser_t *parser)
{
    const char *problem =
        parser->problem != NULL ? parser->problem : "this is no YAML";
    const char *context = parser->context != NULL ? parser->context : "";
    bool        block   = strstr(context, "block") != NULL;
    return fby_yaml_wrong(g->why, g->input->file, place(parser->problem_mark),
        "%s%s%s%s", problem, context[0] != '\0' ? " " : "", context,
        block ? "; do the lines of one level begin in the same column?" : "");
}

static const char empty_file[] = "the file is empty";

static void start_parser(
    yaml_parser_t *parser, const struct fby_yaml_input *input)
{
    static const char mark[] = "\xef\xbb\xbf"; /* some editors begin with it */
    size_t            skip   = sizeof(mark) - 1;
    if (input->size < skip || memcmp(input->text, mark, skip) != 0) {
        skip = 0;
    }
    if (!yaml_parser_initialize(parser)) {
        abort(); /* as common/mem.h: out of memory */
    }
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(
        parser, (const unsigned char *)input->text + skip, input->size - skip);
}

static fby_err check_events(struct guard *g, yaml_parser_t *parser)
{
    for (bool more = true; more;) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event)) {
            return syntax_error(g, parser);
        }
        fby_err err = check_event(g, &event);
        more        = event.type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
        if (err != FBY_OK) {
            return err;
        }
    }
    return FBY_OK;
}

static fby_err check_text(
    const struct fby_yaml_input *input, struct fby_why *why)
{
    struct fby_place at = {1, 1};
    for (size_t from = 0, n = 0; from < input->size; from += n) {
        const char *line = input->text + from;
        const char *end  = memchr(line, '\n', input->size - from);
        n = end != NULL ? (size_t)(end - line) + 1 : input->size - from;
        if (!fby_is_utf8(line, n)) {
            return fby_yaml_wrong(why, input->file, at,
                "this line is not UTF-8 text without NUL");
        }
        at.line++;
    }
    return FBY_OK;
}

static fby_err check_guarded(
    const struct fby_yaml_input *input, struct fby_why *why)
{
    struct guard  g = {.input = input, .why = why};
    yaml_parser_t parser;
    start_parser(&parser, input);
    fby_err err = check_events(&g, &parser);
    yaml_parser_delete(&parser);
    if (err == FBY_OK && g.documents == 0) {
        err = fby_yaml_wrong(
            why, input->file, (struct fby_place){1, 1}, "%s", empty_file);
    }
    return err;
}

fby_err fby_yaml_open(const struct fby_yaml_input *input, struct fby_yaml *out,
    struct fby_why *why)
{
    fby_err err = input->size > 0
                      ? check_text(input, why)
                      : fby_yaml_wrong(why, input->file,
                            (struct fby_place){1, 1}, "%s", empty_file);
    if (err == FBY_OK) {
        err = check_guarded(input, why);
    }
    if (err != FBY_OK) {
        return err;
    }
    yaml_parser_t parser;
    start_parser(&parser, input);
    out->file = input->file;
    out->why  = why;
    if (!yaml_parser_load(&parser, &out->document)) {
        struct guard g = {.input = input, .why = why};
        err            = syntax_error(&g, &parser);
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

/* Letters of "-12": an integer without leading zero; 0 for anything else. */
static size_t integer_length(const char *text)
{
    size_t sign   = text[0] == '-' ? 1 : 0;
    size_t digits = strspn(text + sign, "0123456789");
    if (digits == 0 || (digits > 1 && text[sign] == '0')) {
        return 0;
    }
    return sign + digits;
}

bool fby_yaml_integer(const yaml_node_t *node, int64_t *out)
{
    const char *text = fby_yaml_text(node);
    size_t      n    = integer_length(text);
    if (!is_plain(node) || n == 0 || text[n] != '\0') {
        return false;
    }
    errno = 0;
    *out  = strtoll(text, NULL, 10);
    return errno == 0;
}

/* Letters of ".5" or "e-3" at `at`: a mark, then digits. */
static size_t tail_length(const char *at, const char *marks, bool sign)
{
    if (*at == '\0' || strchr(marks, *at) == NULL) {
        return 0;
    }
    bool   signed_n = sign && (at[1] == '-' || at[1] == '+');
    size_t n        = signed_n ? 2 : 1;
    size_t digits   = strspn(at + n, "0123456789");
    return digits > 0 ? n + digits : 0;
}

bool fby_yaml_real(const yaml_node_t *node, double *out)
{
    const char *text = fby_yaml_text(node);
    size_t      n    = integer_length(text);
    if (!is_plain(node) || n == 0) {
        return false;
    }
    n += tail_length(text + n, ".", false);
    n += tail_length(text + n, "eE", true);
    if (text[n] != '\0') {
        return false;
    }
    /* The process's own locale may want a comma. */
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (c == (locale_t)0) {
        abort(); /* out of memory: the C locale is always there */
    }
    double value = strtod_l(text, NULL, c);
    freelocale(c);
    *out = value == 0 ? 0 : value; /* -0 is 0 */
    return isfinite(value);
}

/* ---- lists and mappings ---- */

size_t fby_yaml_length(const yaml_node_t *list)
{
    return (size_t)(list->data.sequence.items.top -
                    list->data.sequence.items.start);
}

yaml_node_t *fby_yaml_item(
    struct fby_yaml *self, const yaml_node_t *list, size_t i)
{
    return yaml_document_get_node(
        &self->document, list->data.sequence.items.start[i]);
}

static fby_err unknown_key(const struct fby_yaml *self, const yaml_node_t *key,
    const struct fby_yaml_map *map)
{
    const char *text = fby_yaml_text(key);
    const char *near = fby_nearest_of(text, map->names, map->n_names);
    if (near != NULL) {
        return fby_yaml_error(self, key,
            "key '%s' is not known here; did you mean '%s'?",
            fby_text_show(text).text, near);
    }
    char known[256] = "";
    for (size_t i = 0; i < map->n_names; i++) {
        fby_text_list(known, sizeof(known), map->names[i]);
    }
    return fby_yaml_error(self, key, "key '%s' is not known here; known: %s",
        fby_text_show(text).text, known);
}

/* The fby_yaml_entry of a mapping with known keys. */
static fby_err read_known(
    struct fby_yaml *self, yaml_node_t *key, yaml_node_t *value, void *target)
{
    struct fby_yaml_map *map  = target;
    const char          *text = fby_yaml_text(key);
    size_t               i    = 0;
    while (i < map->n_names && strcmp(map->names[i], text) != 0) {
        i++;
    }
    if (i == map->n_names) {
        return unknown_key(self, key, map);
    }
    if (fby_is_given(map->places[i])) {
        return fby_yaml_error(self, key,
            "key '%s' stands here a second time (first in line %zu)", text,
            map->places[i].line);
    }
    map->places[i] = fby_yaml_place(value);
    return map->read(self, value, i, map->target);
}

fby_err fby_yaml_read_map(struct fby_yaml *self, yaml_node_t *node,
    const char *what, struct fby_yaml_map *map)
{
    return fby_yaml_read_entries(self, node, what, read_known, map);
}

fby_err fby_yaml_read_entries(struct fby_yaml *self, yaml_node_t *node,
    const char *what, fby_yaml_entry *read, void *target)
{
    if (!fby_yaml_is_map(node)) {
        return fby_yaml_expected(self, node, what);
    }
    fby_err err = FBY_OK;
    for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         err == FBY_OK && pair < node->data.mapping.pairs.top; pair++) {
        yaml_node_t *key = yaml_document_get_node(&self->document, pair->key);
        yaml_node_t *value =
            yaml_document_get_node(&self->document, pair->value);
        err = fby_yaml_is_scalar(key) ? read(self, key, value, target)
                                      : fby_yaml_expected(self, key, "a key");
    }
    return err;
}
