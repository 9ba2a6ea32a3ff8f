/* SPDX-License-Identifier: Apache-2.0 */
/* FOREBAY_FAULT lists points, and says when the fault of each takes effect. */
#include "common/fault.h"

#include <pthread.h>
#include <signal.h>
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
    char         name[WORD_SIZE];
    const char  *event; /* name of the events to count, the end of a key
                           in `params`; NULL: every event has an effect */
    int64_t      after; /* number of the first event with an effect, from
                           1; 0: not set */
    int64_t      every; /* each `every`-th event has an effect; 0: not set */
    struct param params[MAX_PARAMS];
    unsigned     n_params;
    _Atomic uint64_t n_events; /* reports of `event` so far */
};

static struct {
    struct point     points[MAX_POINTS];
    unsigned         n_points;
    _Atomic uint64_t n_effects; /* sum over all points */
} faults;

static pthread_once_t parse_once = PTHREAD_ONCE_INIT;

/* ---- Parsing FOREBAY_FAULT ----------------------------------------------- */

static bool parse_param(const char *text, struct param *out)
{
    const char *equals = strchr(text, '=');
    char       *end    = NULL;
    if (equals == NULL || equals - text >= WORD_SIZE) {
        return false;
    }
    snprintf(out->key, sizeof(out->key), "%.*s", (int)(equals - text), text);
    out->value = strtoll(equals + 1, &end, 10);
    return end != equals + 1 && *end == '\0' && out->value >= 0;
}

/* If the key of `param` is "after_EVENT" or "every_EVENT", its value selects
 * the events that have an effect. */
static void set_trigger(struct point *point, const struct param *param)
{
    const size_t prefix_length = strlen("after_"); /* or of "every_" */
    bool         after = strncmp(param->key, "after_", prefix_length) == 0;
    bool         every = strncmp(param->key, "every_", prefix_length) == 0;
    if (param->value > 0 && (after || every)) {
        int64_t *trigger = after ? &point->after : &point->every;
        *trigger         = param->value;
        point->event     = param->key + prefix_length;
    }
}

static bool add_param(struct point *point, const char *text)
{
    struct param param;
    if (point->n_params == MAX_PARAMS || !parse_param(text, &param)) {
        return false;
    }
    struct param *added = &point->params[point->n_params++];
    *added              = param;
    set_trigger(point, added);
    return true;
}

/* Parse "NAME:KEY=NUMBER:...". A point that cannot be parsed is ignored. */
static void parse_point(char *text)
{
    char *state = NULL;
    char *name  = strtok_r(text, ":", &state);
    if (name == NULL || faults.n_points == MAX_POINTS) {
        fby_warn("FAULT-UNUSABLE", "a point without a name, or more than %d",
            MAX_POINTS);
        return;
    }
    struct point *point = &faults.points[faults.n_points];
    snprintf(point->name, sizeof(point->name), "%s", name);
    for (char *word = strtok_r(NULL, ":", &state); word != NULL;
         word       = strtok_r(NULL, ":", &state)) {
        if (!add_param(point, word)) {
            fby_warn("FAULT-UNUSABLE",
                "%s: '%s' is not KEY=NUMBER, or there are more than %d", name,
                word, MAX_PARAMS);
            *point = (struct point){0};
            return;
        }
    }
    faults.n_points++;
}

static void parse_environment(void)
{
    const char *text  = getenv("FOREBAY_FAULT");
    char       *copy  = text != NULL ? strdup(text) : NULL;
    char       *state = NULL;
    if (copy == NULL) {
        return;
    }
    for (char *word = strtok_r(copy, ",", &state); word != NULL;
         word       = strtok_r(NULL, ",", &state)) {
        parse_point(word);
    }
    free(copy);
}

/* ---- Points -------------------------------------------------------------- */

static struct point *find_point(const char *name)
{
    pthread_once(&parse_once, parse_environment);
    for (unsigned i = 0; i < faults.n_points; i++) {
        if (strcmp(faults.points[i].name, name) == 0) {
            return &faults.points[i];
        }
    }
    return NULL;
}

static int64_t param_value(
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
    return found != NULL ? param_value(found, key, fallback) : fallback;
}

/* Count the event; true when the fault takes effect at this event. */
static bool count_event(struct point *point, const char *event)
{
    if (point->event == NULL) {
        return true;
    }
    if (strcmp(point->event, event) != 0) {
        return false;
    }
    int64_t count = (int64_t)atomic_fetch_add(&point->n_events, 1) + 1;
    if (point->after > 0) {
        return count >= point->after &&
               count < point->after + param_value(point, "times", 1);
    }
    return count % point->every == 0;
}

bool fby_fault_takes_effect(const char *name, const char *event)
{
    struct point *point = find_point(name);
    if (point == NULL || !count_event(point, event)) {
        return false;
    }
    atomic_fetch_add(&faults.n_effects, 1);
    fby_warn("FAULT", "%s takes effect at %s", name, event);
    return true;
}

void fby_fault_kill_or_stop(
    const char *exit, const char *stop, const char *event)
{
    if (fby_fault_takes_effect(exit, event)) {
        raise(SIGKILL);
    }
    if (fby_fault_takes_effect(stop, event)) {
        raise(SIGSTOP);
    }
}

uint64_t fby_fault_count(void)
{
    return atomic_load(&faults.n_effects);
}
