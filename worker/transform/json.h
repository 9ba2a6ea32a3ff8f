/* SPDX-License-Identifier: Apache-2.0 */
/* json.h - find one value in a JSON member (one file of a sample). Internal to
 * worker/transform.
 *
 * A key is a path: the text after each dot names a member of an object, or is
 * an index into a list, from 0. The key `.` is the whole value. */
#ifndef FBY_WORKER_TRANSFORM_JSON_H
#define FBY_WORKER_TRANSFORM_JSON_H

#include <jansson.h>

#include "pipeline/text.h"
#include "worker/transform/field.h"

/* A parsed member and the value at the field's key. */
struct fby_json {
    json_t       *root;  /* owned */
    const json_t *value; /* part of `root`; a list only if the field takes
                            lists */
};

/* Parse the member and find the value at the field's key. With `pick: random`
 * choose one entry of a list by a random draw, which fields of one group share.
 * The memory of the parser is reserved until fby_json_free. After an error
 * there is nothing to free.
 *
 * Errors: FBY_BAD_SAMPLE  not JSON, too large, no value at that key, or a list
 *                         that is empty or not expected
 *         those of fby_transform_reserve */
FBY_CHECKED fby_err fby_json_find(struct fby_transform *transform,
    const struct fby_field_job *job, struct fby_json *out,
    struct fby_error_detail *why);

/* Free the parsed member, and release its memory. */
void fby_json_free(struct fby_transform *transform, struct fby_json *json);

/* The description of a value, for error messages. */
struct fby_json_description {
    char text[FBY_SHOWN_SIZE + 16]; /* room for `the text ""` around it */
};

/* Describe a value: "null", "a list of 3", `the text "x"`. */
struct fby_json_description fby_json_describe(const json_t *value);

/* Refuse the value at the field's key because it is not `wanted`, such as "a
 * number". Returns FBY_BAD_SAMPLE. */
fby_err fby_json_refuse(const struct fby_field_job *job, const json_t *value,
    const char *wanted, struct fby_error_detail *why);

#endif
