/* SPDX-License-Identifier: Apache-2.0 */
/* variables.h - options of `forebay server` and `forebay worker` as variables
 * of the environment: --fetch-threads is FOREBAY_FETCH_THREADS.
 *
 * The option has precedence over the variable, and the variable over the
 * default. An empty variable is not set. The variable of an option that may be
 * repeated is a list, and that of a flag is 0 or 1. */
#ifndef FBY_CLI_VARIABLES_H
#define FBY_CLI_VARIABLES_H

#include <stdbool.h>

#include "cli/option.h"
#include "common/err.h"

enum { FBY_VARIABLE_SIZE = 64 }; /* bytes of a name, with its NUL */

#define FBY_VARIABLE_SEPARATOR "," /* between the words of a list */

#define FBY_VARIABLES_HELP                                                  \
    "The variable in brackets gives an option that is not on the command\n" \
    "line; commas separate the words of one that may be repeated.\n"

/* The options of both commands; each table ends with {0}. */
extern const struct fby_option fby_server_settings[];
extern const struct fby_option fby_worker_settings[];

/* Set `out` to the variable of the option `name`. */
void fby_variable_name(const char *name, char out[FBY_VARIABLE_SIZE]);

/* True if `entry`, "NAME=VALUE" of the environment, begins with FOREBAY_, and
 * no program of the project or of Kubernetes has such a variable. Then `out`
 * has the name, and the nearest one that is known. */
bool fby_variable_is_unknown(const char *entry, struct fby_error_detail *out);

/* Log a warning for each such entry of this process's environment. */
void fby_variables_warn_unknown(void);

#endif
