/* json.h - find one value in a JSON member. Internal to worker/transform.
 *
 * A key is a path: the text after each dot names a member of an object, or is
 * an index into a list, from 0. The key `.` is the whole value. */
#ifndef FBY_WORKER_TRANSFORM_JSON_H
#define FBY_WORKER_TRANSFORM_JSON_H

#include <jansson.h>

#include "pipeline/text.h"
#include "worker/transform/field.h"

struct fby_json {
    json_t       *root;  /* owned: json_decref */
    const json_t *value; /* part of `root`; a list only where one is wanted */
};

/* Find the value at the field's key. With `pick: random` choose one entry of a
 * list, by a draw of the field's group and the op "pick".
 *
 * Errors: FBY_BAD_SAMPLE  not JSON, too large, no value at that key, or a list
 *                         that is empty or not expected */
FBY_CHECKED fby_err fby_json_find(
    const struct fby_field_job *job, struct fby_json *out, struct fby_why *why);

/* A value as text for error messages. */
struct fby_json_shown {
    char text[FBY_SHOWN_SIZE + 16];
};

/* Describe a value: "null", "a list of 3", `the text "x"`. */
struct fby_json_shown fby_json_show(const json_t *value);

#endif
