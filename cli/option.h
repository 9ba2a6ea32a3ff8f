/* SPDX-License-Identifier: Apache-2.0 */
/* option.h - the options of a command as a table, parsed with argp.
 *
 * An invalid value ends the program through argp_error(): it prints a message
 * and a hint at --help, and exits with code 2. */
#ifndef FBY_CLI_OPTION_H
#define FBY_CLI_OPTION_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- Lists of strings ---- */

/* A growing list of `n` strings; words[n] is NULL. Start from {0}. */
struct fby_words {
    char   **items;
    unsigned n;
};

/* Append a copy of `word`. */
void fby_words_add(struct fby_words *list, const char *word);

/* Free all strings and the list; `list` is {0} afterwards. */
void fby_words_fini(struct fby_words *list);

/* ---- Tables of options ---- */

enum fby_option_kind {  /* the member's type, and the accepted values */
    FBY_FLAG,           /* bool; the option has no value and sets true */
    FBY_TEXT,           /* const char *, borrowed from argv or environ */
    FBY_WORDS,          /* struct fby_words; the option may be repeated */
    FBY_NUMBER,         /* integer of 32 or 64 bits, from `min` to `max` */
    FBY_SIZE,           /* uint64_t in bytes; K, M, G, T are powers of 1024 */
    FBY_MS,             /* int64_t in ns; the user gives ms: "2.5" */
    FBY_SECONDS,        /* int64_t in ns, from `min` to `max` s: "2.5" */
    FBY_NUMA,           /* int: a node's number, or FBY_NUMA_AUTO or _OFF */
    FBY_SEED,           /* struct fby_seed */
    FBY_NUMBER_AS_TEXT, /* const char *, checked as FBY_NUMBER */
    FBY_SIZE_AS_TEXT,   /* const char *, checked as FBY_SIZE */
    FBY_CPUS_AS_TEXT    /* const char *, a list of usable CPUs: "0-3,8" */
};

struct fby_seed {
    uint64_t value;
    bool     given; /* false: use the seed of the pipeline file */
};

/* An option, and the member of a command's struct that receives its value. */
struct fby_option {
    const char *name;   /* without "--"; NULL: `help` is the title of a group */
    int         letter; /* of the short form; 0: none */
    const char *value;  /* placeholder of the value in --help; NULL: a flag */
    const char *help;   /* "": not listed; NULL: the end of the table */
    enum fby_option_kind kind;
    size_t               offset, size; /* of the member, in bytes */
    uint64_t             min, max;     /* limits of a number, inclusive */
    const char          *why_required; /* for the error; NULL: it is optional */
};

/* True for an option that has a name and is not hidden. */
bool fby_option_has_variable(const struct fby_option *option);

/* The initialisers of struct fby_option from `kind` to the end. `member` of
 * `type` receives the value. FBY_RANGE is for a number, FBY_REQUIRED for a
 * required FBY_TEXT or FBY_WORDS, FBY_VALUE for the other options. */
#define FBY_OPTION_INIT(kind, type, member, min, max, why) \
    kind, offsetof(type, member), sizeof(((type *)NULL)->member), min, max, why
#define FBY_VALUE(kind, type, member) \
    FBY_OPTION_INIT(kind, type, member, 0, 0, NULL)
#define FBY_RANGE(kind, type, member, min, max) \
    FBY_OPTION_INIT(kind, type, member, min, max, NULL)
#define FBY_REQUIRED(kind, type, member, why) \
    FBY_OPTION_INIT(kind, type, member, 0, 0, why)

/* The `why` of a required --pipeline. */
#define FBY_WHY_PIPELINE "'forebay init DIR' writes one"

/* The command line of a command; `values` is the struct of its options. */
struct fby_usage {
    const struct fby_option *options;
    const char *operand;         /* the argument in --help, "DIR"; NULL: none */
    const char *operand_meaning; /* for messages: "the directory to write to" */
    size_t      operand_offset;  /* of the const char * in `values` */
    const char *help; /* for --help: the text before the options, "\v", and the
                         text after them */
    /* True if options that are not given are read from variables of the
     * environment (variables.h); NULL: never. Asked after the command line. */
    bool (*reads_variables)(const void *values);
    /* Called at the end, to check and complete `values`; may be NULL. */
    void (*finish)(const struct argp_state *state, void *values);
};

/* Parse the command line into `values`; exits with code 2 on wrong usage. */
void fby_usage_parse(
    const struct fby_usage *usage, int argc, char **argv, void *values);

/* For callers with their own parser: argp_parse() that exits with code 2. */
void fby_option_parse(
    const struct argp *argp, int argc, char **argv, void *input);

/* Parse a decimal integer from `min` to `max`. Messages name the option as
 * "--" and `name`. */
uint64_t fby_option_parse_u64(const struct argp_state *state, const char *name,
    const char *text, uint64_t min, uint64_t max);

/* Print `text` with each control byte as \xNN. */
void fby_option_print_escaped(FILE *out, const char *text);

/* Print `word` so that a shell reads it as one word: quoted if needed. No
 * control byte is printed: a word with one has the form $'...' of bash and zsh.
 */
void fby_option_print_word(FILE *out, const char *word);

#endif
