/* SPDX-License-Identifier: Apache-2.0 */
/* Names of variables, from the tables of options and the list below. */
#include "cli/variables.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "pipeline/nearest.h"

#define PREFIX "FOREBAY_"

/* Variables that are no options, without the prefix. */
static const char *const others[] = {
    "cache-dir", "log", "simd", "bin", "time-divisor", "fault"};

/* Variables of tests and of the build. They are known, so that no warning says
 * they are unknown, but they are not suggested for a misspelt name. */
static const char *const of_tests[] = {"build", "cc", "fake-gpu", "golden",
    "require-gpu", "require-kit", "sanitize", "seed", "test-cache", "test-long",
    "test-slow", "test-soak-s", "torch-python", "wheel-cache"};

void fby_variable_name(const char *name, char out[FBY_VARIABLE_SIZE])
{
    snprintf(out, FBY_VARIABLE_SIZE, PREFIX "%s", name);
    for (char *byte = out + strlen(PREFIX); *byte != '\0'; byte++) {
        *byte = (char)(*byte == '-' ? '_' : toupper((unsigned char)*byte));
    }
}

/* Kubernetes sets such variables for a service whose name begins with
 * "forebay": FOREBAY_SERVICE_HOST, FOREBAY_PORT=tcp://..., FOREBAY_PORT_7070_TCP
 * and more. */
static bool is_of_service(const char *name, const char *value)
{
    const char *port = strstr(name, "_PORT");
    if (strstr(name, "_SERVICE_HOST") != NULL ||
        strstr(name, "_SERVICE_PORT") != NULL) {
        return true;
    }
    if (port == NULL) {
        return false;
    }
    const char *rest = port + strlen("_PORT");
    return (rest[0] == '_' && isdigit((unsigned char)rest[1])) ||
           (rest[0] == '\0' && strstr(value, "://") != NULL);
}

/* ---- Known names --------------------------------------------------------- */

enum { MAX_NAMES = 96 };

struct names {
    char   text[MAX_NAMES][FBY_VARIABLE_SIZE];
    size_t n;
};

static void add_name(struct names *names, const char *name)
{
    if (names->n < MAX_NAMES) {
        fby_variable_name(name, names->text[names->n++]);
    }
}

static void add_options(struct names *names, const struct fby_option *table)
{
    for (; table->help != NULL; table++) {
        if (fby_option_has_variable(table)) {
            add_name(names, table->name);
        }
    }
}

static bool has_name(const struct names *names, const char *name)
{
    bool found = false;
    for (size_t i = 0; i < names->n && !found; i++) {
        found = strcmp(names->text[i], name) == 0;
    }
    return found;
}

/* Names are compared without the prefix, which they all share. */
static const char *find_nearest(const struct names *names, const char *name)
{
    struct fby_nearest nearest = {.word = name + strlen(PREFIX)};
    for (size_t i = 0; i < names->n; i++) {
        fby_nearest_offer(&nearest, names->text[i] + strlen(PREFIX));
    }
    return nearest.best;
}

static void add_all(struct names *names, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        add_name(names, list[i]);
    }
}

bool fby_variable_is_unknown(const char *entry, struct fby_error_detail *out)
{
    struct names for_users = {.n = 0};
    struct names for_tests = {.n = 0};
    const char  *value     = strchr(entry, '=');
    if (value == NULL || strncmp(entry, PREFIX, strlen(PREFIX)) != 0) {
        return false;
    }
    char name[FBY_VARIABLE_SIZE];
    snprintf(name, sizeof(name), "%.*s", (int)(value - entry), entry);
    add_options(&for_users, fby_server_settings);
    add_options(&for_users, fby_worker_settings);
    add_all(&for_users, others, sizeof(others) / sizeof(others[0]));
    add_all(&for_tests, of_tests, sizeof(of_tests) / sizeof(of_tests[0]));
    if (has_name(&for_users, name) || has_name(&for_tests, name) ||
        is_of_service(name, value + 1)) {
        return false;
    }
    const char *best = find_nearest(&for_users, name);
    (void)fby_error_set(out, FBY_USAGE,
        best != NULL ? "%s is no setting of Forebay; did you mean " PREFIX "%s?"
                     : "%s is no setting of Forebay%s: see --help of server "
                       "and worker",
        name, best != NULL ? best : "");
    return true;
}

void fby_variables_warn_unknown(void)
{
    struct fby_error_detail text = {""};
    for (char **entry = environ; *entry != NULL; entry++) {
        if (fby_variable_is_unknown(*entry, &text)) {
            fby_warn("UNKNOWN-VARIABLE", "%s", text.text);
        }
    }
}
