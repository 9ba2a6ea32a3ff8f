#include "common/fault.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"

enum { MAX_POINTS = 16, MAX_PARAMS = 6, WORD_SIZE = 40 };

struct param {
    char    key[WORD_SIZE];
    int64_t value;
};

struct point {
    char             name[WORD_SIZE];
    struct param     params[MAX_PARAMS];
    unsigned         n_params;
    _Atomic uint64_t events;
};

static struct {
    struct point     points[MAX_POINTS];
    unsigned         n_points;
    _Atomic uint64_t effects;
} faults;

static pthread_once_t parsed = PTHREAD_ONCE_INIT;

static void parse_param(struct point *point, const char *text)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL || point->n_params == MAX_PARAMS) {
        fby_warn("FAULT", "%s: cannot use '%s'", point->name, text);
        return;
    }
    struct param *param = &point->params[point->n_params++];
    snprintf(
        param->key, sizeof(param->key), "%.*s", (int)(equals - text), text);
    param->value = strtoll(equals + 1, NULL, 10);
}

static void parse_point(char *text)
{
    if (faults.n_points == MAX_POINTS) {
        fby_warn("FAULT", "more than %d points", MAX_POINTS);
        return;
    }
    struct point *point = &faults.points[faults.n_points++];
    char         *rest  = NULL;
    snprintf(
        point->name, sizeof(point->name), "%s", strtok_r(text, ":", &rest));
    for (char *word = strtok_r(NULL, ":", &rest); word != NULL;
         word       = strtok_r(NULL, ":", &rest)) {
        parse_param(point, word);
    }
}

static void parse_environment(void)
{
    const char *text = getenv("FOREBAY_FAULT");
    char       *copy = text != NULL ? strdup(text) : NULL;
    char       *rest = NULL;
    if (copy == NULL) {
        return;
    }
    for (char *word = strtok_r(copy, ",", &rest); word != NULL;
         word       = strtok_r(NULL, ",", &rest)) {
        parse_point(word);
    }
    free(copy);
}

static struct point *find_point(const char *name)
{
    pthread_once(&parsed, parse_environment);
    for (unsigned i = 0; i < faults.n_points; i++) {
        if (strcmp(faults.points[i].name, name) == 0) {
            return &faults.points[i];
        }
    }
    return NULL;
}

static int64_t param_of(
    const struct point *point, const char *key, int64_t fallback)
{
    for (unsigned i = 0; i < point->n_params; i++) {
        if (strcmp(point->params[i].key, key) == 0) {
            return point->params[i].value;
        }
    }
    return fallback;
}

int64_t fby_fault_param(const char *point, const char *key, int64_t fallback)
{
    const struct point *found = find_point(point);
    return found != NULL ? param_of(found, key, fallback) : fallback;
}

static bool counts_events(const struct point *point)
{
    for (unsigned i = 0; i < point->n_params; i++) {
        if (strncmp(point->params[i].key, "after_", 6) == 0 ||
            strncmp(point->params[i].key, "every_", 6) == 0) {
            return true;
        }
    }
    return false;
}

/* Is the fault due at the `n`-th event of this kind, counted from 1? */
static bool is_due(const struct point *point, const char *event, int64_t n)
{
    char key[2 * WORD_SIZE];
    snprintf(key, sizeof(key), "after_%s", event);
    int64_t after = param_of(point, key, 0);
    if (after > 0) {
        return n >= after && n < after + param_of(point, "times", 1);
    }
    snprintf(key, sizeof(key), "every_%s", event);
    int64_t every = param_of(point, key, 0);
    return every > 0 && n % every == 0;
}

static bool names_event(const struct point *point, const char *event)
{
    char key[2 * WORD_SIZE];
    snprintf(key, sizeof(key), "after_%s", event);
    if (param_of(point, key, 0) > 0) {
        return true;
    }
    snprintf(key, sizeof(key), "every_%s", event);
    return param_of(point, key, 0) > 0;
}

bool fby_fault(const char *name, const char *event)
{
    struct point *point = find_point(name);
    if (point == NULL) {
        return false;
    }
    if (counts_events(point)) {
        if (!names_event(point, event)) {
            return false;
        }
        int64_t n = (int64_t)atomic_fetch_add(&point->events, 1) + 1;
        if (!is_due(point, event, n)) {
            return false;
        }
    }
    atomic_fetch_add(&faults.effects, 1);
    fby_warn("FAULT", "%s takes effect at %s", name, event);
    return true;
}

uint64_t fby_fault_count(void)
{
    return atomic_load(&faults.effects);
}
