/* option.h - strict parsing of option values, on top of argp.
 *
 * An invalid value ends the program through argp_error(): it prints a message
 * and a hint at --help, and exits with code 2. */
#ifndef FBY_CLI_OPTION_H
#define FBY_CLI_OPTION_H

#include <argp.h>
#include <stdint.h>
#include <stdio.h>

/* Parse a decimal integer from `min` to `max`; `name` is the option's. */
uint64_t fby_option_u64(const struct argp_state *state, const char *name,
    const char *text, uint64_t min, uint64_t max);

/* Parse milliseconds such as 2.5; returns nanoseconds. */
int64_t fby_option_ms(
    const struct argp_state *state, const char *name, const char *text);

/* Parse a size such as 512M or 2G (powers of 1024); returns bytes. */
uint64_t fby_option_size(
    const struct argp_state *state, const char *name, const char *text);

/* Check a size that is passed on to a child process; returns `text`. */
const char *fby_option_size_text(
    const struct argp_state *state, const char *name, const char *text);

/* Check a list of CPUs, "0-3,8", that this process may use; returns their
 * number. */
uint32_t fby_option_cpus(
    const struct argp_state *state, const char *name, const char *text);

/* End the program because of the unexpected argument `word`. `suggestion` is
 * the option that it may be meant for, "--pipeline"; NULL: none. */
void fby_option_unexpected(
    const struct argp_state *state, const char *word, const char *suggestion);

/* Parse the command line with argp; exits with code 2 on wrong usage. */
void fby_option_parse(
    const struct argp *argp, int argc, char **argv, void *input);

/* Print one word of a shell command, quoted where the shell needs it. */
void fby_option_print_word(FILE *out, const char *word);

/* A growing list of strings; `words` ends with NULL. Start from {0}. */
struct fby_words {
    char   **words;
    unsigned n;
};

/* Append a copy of `word`. */
void fby_words_add(struct fby_words *list, const char *word);

/* Free all strings and the list; `list` is {0} afterwards. */
void fby_words_fini(struct fby_words *list);

#endif
