/* json.h - one value of a JSON member; for this folder alone.
 *
 * A key is a path: each dot steps into an object by the name that follows, or
 * into a list by a number from 0. The key `.` is the member's value itself. */
#ifndef FBY_WORKER_TRANSFORM_JSON_H
#define FBY_WORKER_TRANSFORM_JSON_H

#include <jansson.h>

#include "pipeline/text.h"
#include "worker/transform/field.h"

struct fby_json {
    json_t       *root;  /* owned: json_decref */
    const json_t *value; /* of it; no list where one value is wanted */
};

/* The value at the field's key; of a list one at random, where the field says
 * so: a draw of its group and the op "pick".
 *
 * Errors: FBY_BAD_SAMPLE  no JSON, too much of it, nothing at that key, a list
 *                         that nothing says what to do with, or an empty one */
FBY_CHECKED fby_err fby_json_find(
    const struct fby_field_job *job, struct fby_json *out, struct fby_why *why);

/* What a value is, in words: "null", "a list of 3", `the text "x"`. */
struct fby_json_shown {
    char text[FBY_SHOWN_SIZE + 16];
};
struct fby_json_shown fby_json_show(const json_t *value);

#endif
