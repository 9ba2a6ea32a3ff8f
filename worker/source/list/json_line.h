/* SPDX-License-Identifier: Apache-2.0 */
/* json_line.h - the values of a JSON object, as they are written in the line.
 *
 * A list must keep the text of numbers, but a JSON parser converts them, and
 * refuses large ones. So the parser reads a copy of the line in which every
 * number is 0, and fby_json_copy_next_value() copies the text of each value
 * from the line itself. The bytes of a line are untrusted. */
#ifndef FBY_WORKER_SOURCE_LIST_JSON_LINE_H
#define FBY_WORKER_SOURCE_LIST_JSON_LINE_H

#include <stddef.h>

/* Overwrite each valid number with 0 and blanks. Invalid numbers are kept, so
 * that valid JSON remains valid and invalid JSON remains invalid. */
void fby_json_zero_numbers(char *text, size_t size);

/* A reader of the values of an object, one after the other. The object must be
 * valid JSON. Begin with `at` at or before its '{'. */
struct fby_json_values {
    const char *at;  /* next byte to read */
    const char *end; /* of the object's line */
};

/* Write the text of the next value to `out`, without blanks between tokens.
 * `out` must have as many bytes as the object. Returns the size in bytes. */
size_t fby_json_copy_next_value(struct fby_json_values *self, char *out);

#endif
