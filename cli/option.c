#include "cli/option.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpus.h"
#include "common/mem.h"

static bool read_digits(const char *text, char **end, uint64_t *out)
{
    if (*text < '0' || *text > '9') {
        return false;
    }
    errno = 0;
    *out  = strtoull(text, end, 10);
    return errno == 0;
}

uint64_t fby_option_u64(const struct argp_state *state, const char *name,
    const char *text, uint64_t min, uint64_t max)
{
    char    *end   = NULL;
    uint64_t value = 0;
    if (!read_digits(text, &end, &value) || *end != '\0' || value < min ||
        value > max) {
        argp_error(state, "%s: '%s' is not a whole number from %llu to %llu",
            name, text, (unsigned long long)min, (unsigned long long)max);
    }
    return value;
}

int64_t fby_option_ms(
    const struct argp_state *state, const char *name, const char *text)
{
    char  *end = NULL;
    double ms  = strtod(text, &end);
    if (end == text || *end != '\0' || !(ms >= 0 && ms <= 1e9)) {
        argp_error(
            state, "%s: '%s' is not a number of milliseconds", name, text);
    }
    return (int64_t)(ms * 1e6);
}

static int suffix_bits(const char *suffix)
{
    static const char letters[] = "KMGT";
    const char       *at = *suffix != '\0' ? strchr(letters, *suffix) : NULL;
    if (*suffix == '\0') {
        return 0;
    }
    return at != NULL && suffix[1] == '\0' ? 10 * (int)(at - letters + 1) : -1;
}

uint64_t fby_option_size(
    const struct argp_state *state, const char *name, const char *text)
{
    char    *end   = NULL;
    uint64_t value = 0;
    int      bits  = read_digits(text, &end, &value) ? suffix_bits(end) : -1;
    if (bits < 0 || value > UINT64_MAX >> (bits < 0 ? 0 : bits)) {
        argp_error(state,
            "%s: '%s' is not a size: write for example 512M or 2G", name, text);
        return 0;
    }
    return value << bits;
}

const char *fby_option_size_text(
    const struct argp_state *state, const char *name, const char *text)
{
    fby_option_size(state, name, text);
    return text;
}

uint32_t fby_option_cpus(
    const struct argp_state *state, const char *name, const char *text)
{
    cpu_set_t      set;
    struct fby_why why = {{0}};
    if (fby_cpus_usable(text, &set, &why) != FBY_OK) {
        argp_error(state, "%s %s: %s", name, text, why.text);
    }
    return (uint32_t)CPU_COUNT(&set);
}

void fby_option_unexpected(
    const struct argp_state *state, const char *word, const char *suggestion)
{
    if (suggestion != NULL) {
        argp_error(state, "unexpected argument '%s'; did you mean %s %s?", word,
            suggestion, word);
    } else {
        argp_error(state, "unexpected argument '%s'", word);
    }
}

void fby_option_parse(
    const struct argp *argp, int argc, char **argv, void *input)
{
    argp_err_exit_status = 2;
    error_t failed       = argp_parse(argp, argc, argv, 0, NULL, input);
    if (failed != 0) {
        exit(2);
    }
}

void fby_option_print_word(FILE *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-+=./:,@%";
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word != '\0'; word++) {
        if (*word == '\'') {
            fputs("'\\'", out);
        }
        fputc(*word, out);
    }
    fputc('\'', out);
}

void fby_words_add(struct fby_words *list, const char *word)
{
    size_t bytes           = (list->n + 2) * sizeof(list->words[0]);
    list->words            = fby_regrow(list->words, bytes);
    list->words[list->n++] = fby_strdup(word);
    list->words[list->n]   = NULL;
}

void fby_words_fini(struct fby_words *list)
{
    for (unsigned i = 0; i < list->n; i++) {
        free(list->words[i]);
    }
    free(list->words);
    *list = (struct fby_words){0};
}
