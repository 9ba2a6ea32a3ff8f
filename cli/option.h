/* option.h - strict reading of option values, on top of argp.
 *
 * A value that is not wholly what it should be ends the program through
 * argp_error(): a message, the way to --help, and exit code 2. */
#ifndef FBY_CLI_OPTION_H
#define FBY_CLI_OPTION_H

#include <argp.h>
#include <stdint.h>
#include <stdio.h>

/* A whole decimal number from `min` to `max`; `name` is the option's. */
uint64_t fby_option_u64(const struct argp_state *state, const char *name,
    const char *text, uint64_t min, uint64_t max);

/* A number of milliseconds such as 2.5, as nanoseconds. */
int64_t fby_option_ms(
    const struct argp_state *state, const char *name, const char *text);

/* A size such as 512M or 2G (powers of 1024), in bytes. */
uint64_t fby_option_size(
    const struct argp_state *state, const char *name, const char *text);

/* The same, for a program that it is passed on to: `text` itself. */
const char *fby_option_size_text(
    const struct argp_state *state, const char *name, const char *text);

/* Check a list of CPUs, "0-3,8", that this process may use; returns how many.
 */
uint32_t fby_option_cpus(
    const struct argp_state *state, const char *name, const char *text);

/* End the program: `word` belongs to no option. `meant` is the option that it
 * was perhaps for, "--pipeline"; NULL: none. */
void fby_option_stray(
    const struct argp_state *state, const char *word, const char *meant);

/* Parse with argp the way all commands do. */
void fby_option_parse(
    const struct argp *argp, int argc, char **argv, void *input);

/* Print a word of a command that people paste into a shell: quoted if need be.
 */
void fby_option_print_word(FILE *out, const char *word);

/* A list of copied words that grows; `words` ends with NULL. Start from {0}. */
struct fby_words {
    char   **words;
    unsigned n;
};
void fby_words_add(struct fby_words *list, const char *word);
void fby_words_fini(struct fby_words *list);

#endif
