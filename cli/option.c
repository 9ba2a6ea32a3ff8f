/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/option.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/variables.h"
#include "common/cpus.h"
#include "common/mem.h"
#include "common/shell.h"
#include "common/utf8.h"
#include "worker/options.h"

enum { MESSAGE_SIZE = 1 << 16 }; /* bytes of a message of argp, at most */

/* ---- Values -------------------------------------------------------------- */

static bool read_digits(const char *text, char **end, uint64_t *out)
{
    if (*text < '0' || *text > '9') {
        return false;
    }
    errno = 0;
    *out  = strtoull(text, end, 10);
    return errno == 0;
}

/* A text to parse, and how messages name what it was given for. */
struct given {
    const struct argp_state *state;
    char                     label[FBY_VARIABLE_SIZE]; /* "--threads" or
                                                          "FOREBAY_THREADS" */
    const char              *text;
};

static uint64_t parse_u64(const struct given *given, uint64_t min, uint64_t max)
{
    char    *end   = NULL;
    uint64_t value = 0;
    if (!read_digits(given->text, &end, &value) || *end != '\0' ||
        value < min || value > max) {
        argp_error(given->state,
            "%s: '%s' is not a whole number from %llu to %llu", given->label,
            given->text, (unsigned long long)min, (unsigned long long)max);
    }
    return value;
}

static struct given given_as_option(
    const struct argp_state *state, const char *name, const char *text)
{
    struct given given = {.state = state, .text = text};
    snprintf(given.label, sizeof(given.label), "--%s", name);
    return given;
}

uint64_t fby_option_parse_u64(const struct argp_state *state, const char *name,
    const char *text, uint64_t min, uint64_t max)
{
    const struct given given = given_as_option(state, name, text);
    return parse_u64(&given, min, max);
}

/* Returns 10 for "K", 20 for "M", 30 for "G", 40 for "T", 0 for "", else -1. */
static int suffix_shift(const char *suffix)
{
    static const char letters[] = "KMGT";
    if (*suffix == '\0') {
        return 0;
    }
    const char *letter = strchr(letters, *suffix);
    bool        valid  = letter != NULL && suffix[1] == '\0';
    return valid ? 10 * (int)(letter - letters + 1) : -1;
}

static uint64_t parse_size(const struct given *given)
{
    char    *end   = NULL;
    uint64_t value = 0;
    int shift = read_digits(given->text, &end, &value) ? suffix_shift(end) : -1;
    if (shift < 0 || value > UINT64_MAX >> shift) {
        argp_error(given->state,
            "%s: '%s' is not a size: write for example 512M or 2G",
            given->label, given->text);
        return 0; /* not reached: argp_error exits */
    }
    return value << shift;
}

/* Returns false if `text` is no number from `min` to `max`. */
static bool read_decimal(const char *text, double min, double max, double *out)
{
    char *end = NULL;
    *out      = strtod(text, &end);
    return end != text && *end == '\0' && *out >= min && *out <= max;
}

static int64_t parse_ms(const struct given *given)
{
    double ms = 0;
    if (!read_decimal(given->text, 0, 1e9, &ms)) {
        argp_error(given->state, "%s: '%s' is not a number of milliseconds",
            given->label, given->text);
    }
    return (int64_t)(ms * 1e6); /* ns */
}

/* "2.5" or "2.5s". */
static int64_t parse_seconds(
    const struct fby_option *option, const struct given *given)
{
    double seconds  = 0;
    char   text[32] = "";
    size_t length   = strlen(given->text);
    if (length > 1 && given->text[length - 1] == 's') {
        length--;
    }
    if (length < sizeof(text)) {
        memcpy(text, given->text, length);
    }
    if (!read_decimal(
            text, (double)option->min, (double)option->max, &seconds)) {
        argp_error(given->state,
            "%s: '%s' is not a number of seconds from %llu to %llu",
            given->label, given->text, (unsigned long long)option->min,
            (unsigned long long)option->max);
    }
    return (int64_t)(seconds * 1e9); /* ns */
}

static void check_cpus(const struct given *given)
{
    cpu_set_t               set;
    struct fby_error_detail why = {{0}};
    if (fby_cpus_parse_usable(given->text, &set, &why) != FBY_OK) {
        argp_error(
            given->state, "%s %s: %s", given->label, given->text, why.text);
    }
}

static int parse_numa(const struct given *given)
{
    const char *text = given->text;
    if (strcmp(text, "auto") == 0) {
        return FBY_NUMA_AUTO;
    }
    if (strcmp(text, "off") == 0) {
        return FBY_NUMA_OFF;
    }
    if (text[0] == '\0' || text[strspn(text, "0123456789")] != '\0') {
        argp_error(given->state, "%s: '%s' is not auto, off or a node's number",
            given->label, text);
    }
    return (int)parse_u64(given, 0, CPU_SETSIZE - 1);
}

/* A flag as an option has no text, which means true. */
static bool parse_flag(const struct given *given)
{
    const char *text = given->text != NULL ? given->text : "1";
    if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0) {
        argp_error(
            given->state, "%s: '%s' is neither 0 nor 1", given->label, text);
    }
    return text[0] == '1';
}

static uint64_t parse_number(
    const struct fby_option *option, const struct given *given)
{
    return parse_u64(given, option->min, option->max);
}

static void store_value(
    const struct fby_option *option, const struct given *given, void *member)
{
    switch (option->kind) {
    case FBY_FLAG:
        *(bool *)member = parse_flag(given);
        return;
    case FBY_WORDS:
        fby_words_add(member, given->text);
        return;
    case FBY_NUMBER:
        if (option->size == sizeof(uint64_t)) {
            *(uint64_t *)member = parse_number(option, given);
        } else {
            *(uint32_t *)member = (uint32_t)parse_number(option, given);
        }
        return;
    case FBY_SIZE:
        *(uint64_t *)member = parse_size(given);
        return;
    case FBY_MS:
        *(int64_t *)member = parse_ms(given);
        return;
    case FBY_SECONDS:
        *(int64_t *)member = parse_seconds(option, given);
        return;
    case FBY_NUMA:
        *(int *)member = parse_numa(given);
        return;
    case FBY_SEED:
        *(struct fby_seed *)member =
            (struct fby_seed){parse_u64(given, 0, UINT64_MAX), true};
        return;
    case FBY_NUMBER_AS_TEXT:
        (void)parse_number(option, given); /* a check only */
        break;
    case FBY_SIZE_AS_TEXT:
        (void)parse_size(given); /* a check only */
        break;
    case FBY_CPUS_AS_TEXT:
        check_cpus(given);
        break;
    case FBY_TEXT:
        break;
    }
    *(const char **)member = given->text; /* the kinds that keep the text */
}

/* ---- The command line ---------------------------------------------------- */

/* argp's keys of options without a letter begin above all characters. */
enum { FIRST_KEY = 0x100 };

struct parse_input {
    const struct fby_usage *usage;
    char                   *values;
    bool                   *given; /* options[i] is on the command line */
};

static int key_of(const struct fby_usage *usage, size_t i)
{
    int letter = usage->options[i].letter;
    return letter != 0 ? letter : FIRST_KEY + (int)i;
}

/* True for an FBY_TEXT or FBY_WORDS that was not given (yet). */
static bool is_unset(
    const struct parse_input *input, const struct fby_option *option)
{
    const void *value = NULL; /* both kinds of member begin with a pointer */
    if (option->kind != FBY_TEXT && option->kind != FBY_WORDS) {
        return false;
    }
    memcpy(&value, input->values + option->offset, sizeof(value));
    return value == NULL;
}

static bool lacks_required_value(
    const struct parse_input *input, const struct fby_option *option)
{
    return option->why_required != NULL && is_unset(input, option);
}

/* Suggest the first required option without a value, else the first option. */
static void refuse_argument(const struct parse_input *input,
    const struct argp_state *state, const char *arg)
{
    const struct fby_option *option = input->usage->options;
    while (option->help != NULL && !lacks_required_value(input, option)) {
        option++;
    }
    option          = option->help != NULL ? option : input->usage->options;
    bool lacks_text = option->kind == FBY_TEXT && is_unset(input, option);
    if (lacks_text && arg[0] != '\0') {
        argp_error(state, "unexpected argument '%s'; did you mean --%s %s?",
            arg, option->name, arg);
    } else {
        argp_error(state, "unexpected argument '%s'", arg);
    }
}

static const char **operand_member(const struct parse_input *input)
{
    return (
        const char **)(void *)(input->values + input->usage->operand_offset);
}

static void store_argument(const struct parse_input *input,
    const struct argp_state *state, const char *arg)
{
    if (input->usage->operand == NULL) {
        refuse_argument(input, state, arg);
    } else if (*operand_member(input) != NULL) {
        argp_error(state, "give only one %s", input->usage->operand);
    } else {
        *operand_member(input) = arg;
    }
}

/* Store each word of the list `text`. */
static void store_list(
    const struct fby_option *option, struct given *given, void *member)
{
    char *words = fby_strdup(given->text);
    char *rest  = words;
    for (char *word = strsep(&rest, FBY_VARIABLE_SEPARATOR); word != NULL;
         word       = strsep(&rest, FBY_VARIABLE_SEPARATOR)) {
        if (word[0] != '\0') {
            given->text = word;
            store_value(option, given, member);
        }
    }
    free(words);
}

/* Take the value of an option from its variable; an empty one is not set. */
static void read_variable(const struct parse_input *input,
    const struct argp_state *state, const struct fby_option *option)
{
    struct given given  = {.state = state};
    char        *member = input->values + option->offset;
    fby_variable_name(option->name, given.label);
    given.text = getenv(given.label);
    if (given.text == NULL || given.text[0] == '\0') {
        return;
    }
    if (option->kind == FBY_WORDS) {
        store_list(option, &given, member);
    } else {
        store_value(option, &given, member);
    }
}

bool fby_option_has_variable(const struct fby_option *option)
{
    return option->name != NULL && option->help[0] != '\0';
}

static void read_variables(
    const struct parse_input *input, const struct argp_state *state)
{
    const struct fby_usage *usage = input->usage;
    if (usage->reads_variables == NULL ||
        !usage->reads_variables(input->values)) {
        return;
    }
    for (size_t i = 0; usage->options[i].help != NULL; i++) {
        if (fby_option_has_variable(&usage->options[i]) && !input->given[i]) {
            read_variable(input, state, &usage->options[i]);
        }
    }
}

static void finish_values(
    const struct parse_input *input, const struct argp_state *state)
{
    const struct fby_option *option = input->usage->options;
    for (; option->help != NULL; option++) {
        if (lacks_required_value(input, option)) {
            argp_error(state, "--%s %s is required: %s", option->name,
                option->value, option->why_required);
        }
    }
    if (input->usage->operand != NULL && *operand_member(input) == NULL) {
        argp_error(state, "%s is missing: give %s", input->usage->operand,
            input->usage->operand_meaning);
    }
    if (input->usage->finish != NULL) {
        input->usage->finish(state, input->values);
    }
}

/* NOLINTNEXTLINE(readability-non-const-parameter): argp's type */
static error_t parse_argument(int key, char *arg, struct argp_state *state)
{
    const struct parse_input *input = state->input;
    const struct fby_usage   *usage = input->usage;
    if (key == ARGP_KEY_END) {
        read_variables(input, state);
        finish_values(input, state);
        return 0;
    }
    if (key == ARGP_KEY_ARG) {
        store_argument(input, state, arg);
        return 0;
    }
    for (size_t i = 0; usage->options[i].help != NULL; i++) {
        const struct fby_option *option = &usage->options[i];
        if (option->name != NULL && key_of(usage, i) == key) {
            const struct given given =
                given_as_option(state, option->name, arg);
            store_value(option, &given, input->values + option->offset);
            input->given[i] = true;
            return 0;
        }
    }
    return ARGP_ERR_UNKNOWN;
}

void fby_option_print_escaped(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        bool is_control = (unsigned char)*text < ' ' || *text == 0x7f;
        fprintf(out, is_control ? "\\x%02x" : "%c", (unsigned char)*text);
    }
}

/* Write a message of argp to standard error with control bytes as \xNN, so that
 * an argument cannot control the terminal. Its lines end as they are: the last
 * one, and the one before argp's advice. */
static ssize_t write_escaped(void *out, const char *text, size_t size)
{
    static const char advice[] = "Try `";
    const size_t      length   = sizeof(advice) - 1;
    for (size_t i = 0; i < size; i++) {
        size_t left = size - i - 1;
        bool   ends_a_line =
            left == 0 ||
            (left >= length && memcmp(text + i + 1, advice, length) == 0);
        const char byte[] = {text[i], '\0'};
        if (text[i] == '\n' && ends_a_line) {
            fputc('\n', out);
        } else {
            fby_option_print_escaped(out, byte);
        }
    }
    return (ssize_t)size;
}

/* argp and getopt print to `stderr`, which exit() flushes as one text. */
void fby_option_parse(
    const struct argp *argp, int argc, char **argv, void *input)
{
    const cookie_io_functions_t functions = {.write = write_escaped};

    FILE *real     = stderr;
    FILE *escaping = fopencookie(stderr, "w", functions);
    if (escaping != NULL) {
        setvbuf(escaping, NULL, _IOFBF, MESSAGE_SIZE);
        stderr = escaping;
    }
    argp_err_exit_status = 2; /* wrong usage */
    if (argp_parse(argp, argc, argv, 0, NULL, input) != 0) {
        exit(2);
    }
    stderr = real;
    if (escaping != NULL) {
        fclose(escaping);
    }
}

/* Append the text of an option for --help: with its variable, if it has one. */
static void add_help(const struct fby_usage *usage,
    const struct fby_option *option, struct fby_words *out)
{
    char name[FBY_VARIABLE_SIZE];
    char help[512];
    if (usage->reads_variables == NULL || !fby_option_has_variable(option)) {
        fby_words_add(out, option->help);
        return;
    }
    fby_variable_name(option->name, name);
    snprintf(help, sizeof(help), "%s [%s]", option->help, name);
    fby_words_add(out, help);
}

/* `texts` receives the texts that `out` borrows. */
static void fill_options(const struct fby_usage *usage, size_t count,
    struct argp_option *out, struct fby_words *texts)
{
    int group = 0; /* number of titles so far */
    for (size_t i = 0; i < count; i++) {
        const struct fby_option *option = &usage->options[i];
        group += option->name == NULL; /* a title begins a group */
        add_help(usage, option, texts);
        out[i] = (struct argp_option){.name = option->name,
            .key   = option->name != NULL ? key_of(usage, i) : 0,
            .arg   = option->value,
            .flags = option->help[0] == '\0' ? OPTION_HIDDEN : 0,
            .doc   = texts->items[i],
            .group = group};
    }
}

void fby_usage_parse(
    const struct fby_usage *usage, int argc, char **argv, void *values)
{
    size_t           count = 0;
    struct fby_words texts = {0};
    while (usage->options[count].help != NULL) {
        count++;
    }
    struct argp_option *options = fby_zalloc((count + 1) * sizeof(*options));
    fill_options(usage, count, options, &texts);
    const struct argp argp = {
        options, parse_argument, usage->operand, usage->help, NULL, NULL, NULL};
    struct parse_input input = {
        usage, values, fby_zalloc((count + 1) * sizeof(bool))};
    fby_option_parse(&argp, argc, argv, &input);
    free(input.given);
    free(options);
    fby_words_fini(&texts);
}

/* ---- Words --------------------------------------------------------------- */

void fby_option_print_word(FILE *out, const char *word)
{
    size_t size   = 4 * strlen(word) + 4;
    char  *quoted = fby_zalloc(size);
    if (fby_shell_quote(word, quoted, size)) {
        fputs(quoted, out);
    }
    free(quoted);
}

void fby_words_add(struct fby_words *list, const char *word)
{
    size_t bytes           = (list->n + 2) * sizeof(list->items[0]);
    list->items            = fby_realloc(list->items, bytes);
    list->items[list->n++] = fby_strdup(word);
    list->items[list->n]   = NULL; /* not counted in n */
}

void fby_words_fini(struct fby_words *list)
{
    for (unsigned i = 0; i < list->n; i++) {
        free(list->items[i]);
    }
    free(list->items);
    *list = (struct fby_words){0};
}
