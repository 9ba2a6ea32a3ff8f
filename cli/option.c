/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/option.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpus.h"
#include "common/mem.h"
#include "common/shell.h"
#include "common/utf8.h"

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

uint64_t fby_option_parse_u64(const struct argp_state *state, const char *name,
    const char *text, uint64_t min, uint64_t max)
{
    char    *end   = NULL;
    uint64_t value = 0;
    if (!read_digits(text, &end, &value) || *end != '\0' || value < min ||
        value > max) {
        argp_error(state, "--%s: '%s' is not a whole number from %llu to %llu",
            name, text, (unsigned long long)min, (unsigned long long)max);
    }
    return value;
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

static uint64_t parse_size(
    const struct argp_state *state, const char *name, const char *text)
{
    char    *end   = NULL;
    uint64_t value = 0;
    int      shift = read_digits(text, &end, &value) ? suffix_shift(end) : -1;
    if (shift < 0 || value > UINT64_MAX >> shift) {
        argp_error(state,
            "--%s: '%s' is not a size: write for example 512M or 2G", name,
            text);
        return 0; /* not reached: argp_error exits */
    }
    return value << shift;
}

static int64_t parse_ms(
    const struct argp_state *state, const char *name, const char *text)
{
    char  *end      = NULL;
    double ms       = strtod(text, &end);
    bool   in_range = ms >= 0 && ms <= 1e9; /* false for NaN */
    if (end == text || *end != '\0' || !in_range) {
        argp_error(
            state, "--%s: '%s' is not a number of milliseconds", name, text);
    }
    return (int64_t)(ms * 1e6); /* ns */
}

static void check_cpus(
    const struct argp_state *state, const char *name, const char *text)
{
    cpu_set_t               set;
    struct fby_error_detail why = {{0}};
    if (fby_cpus_parse_usable(text, &set, &why) != FBY_OK) {
        argp_error(state, "--%s %s: %s", name, text, why.text);
    }
}

static uint64_t parse_number(const struct fby_option *option,
    const struct argp_state *state, const char *text)
{
    return fby_option_parse_u64(
        state, option->name, text, option->min, option->max);
}

static void store_value(const struct fby_option *option,
    const struct argp_state *state, const char *arg, void *member)
{
    switch (option->kind) {
    case FBY_FLAG:
        *(bool *)member = true;
        return;
    case FBY_WORDS:
        fby_words_add(member, arg);
        return;
    case FBY_NUMBER:
        if (option->size == sizeof(uint64_t)) {
            *(uint64_t *)member = parse_number(option, state, arg);
        } else {
            *(uint32_t *)member = (uint32_t)parse_number(option, state, arg);
        }
        return;
    case FBY_SIZE:
        *(uint64_t *)member = parse_size(state, option->name, arg);
        return;
    case FBY_MS:
        *(int64_t *)member = parse_ms(state, option->name, arg);
        return;
    case FBY_SEED:
        *(struct fby_seed *)member = (struct fby_seed){
            fby_option_parse_u64(state, option->name, arg, 0, UINT64_MAX),
            true};
        return;
    case FBY_NUMBER_AS_TEXT:
        (void)parse_number(option, state, arg); /* a check only */
        break;
    case FBY_SIZE_AS_TEXT:
        (void)parse_size(state, option->name, arg); /* a check only */
        break;
    case FBY_CPUS_AS_TEXT:
        check_cpus(state, option->name, arg);
        break;
    case FBY_TEXT:
        break;
    }
    *(const char **)member = arg; /* the kinds that keep the text */
}

/* ---- The command line ---------------------------------------------------- */

/* argp's keys of options without a letter begin above all characters. */
enum { FIRST_KEY = 0x100 };

struct parse_input {
    const struct fby_usage *usage;
    char                   *values;
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
            store_value(option, state, arg, input->values + option->offset);
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

void fby_usage_parse(
    const struct fby_usage *usage, int argc, char **argv, void *values)
{
    size_t count = 0;
    int    group = 0; /* number of titles so far */
    while (usage->options[count].help != NULL) {
        count++;
    }
    struct argp_option *options = fby_zalloc((count + 1) * sizeof(*options));
    for (size_t i = 0; i < count; i++) {
        const struct fby_option *option = &usage->options[i];
        group += option->name == NULL; /* a title begins a group */
        options[i] = (struct argp_option){.name = option->name,
            .key   = option->name != NULL ? key_of(usage, i) : 0,
            .arg   = option->value,
            .flags = option->help[0] == '\0' ? OPTION_HIDDEN : 0,
            .doc   = option->help,
            .group = group};
    }
    const struct argp argp = {
        options, parse_argument, usage->operand, usage->help, NULL, NULL, NULL};
    struct parse_input input = {usage, values};
    fby_option_parse(&argp, argc, argv, &input);
    free(options);
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
