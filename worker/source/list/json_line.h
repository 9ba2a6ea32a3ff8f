/* json_line.h - the texts of a JSON object's values, as they stand in it.
 *
 * A parser makes numbers of numbers, and refuses those beyond its types; a list
 * keeps their text. So it parses a copy in which every number is 0, and what
 * the values are the line itself says. Pure functions over bytes that nobody
 * vouches for. */
#ifndef FBY_WORKER_SOURCE_LIST_JSON_LINE_H
#define FBY_WORKER_SOURCE_LIST_JSON_LINE_H

#include <stddef.h>

/* Overwrite each number with 0 and blanks, so that the text is JSON just where
 * it was. What is no number by the rules of JSON stays. */
void fby_json_zero_numbers(char *text, size_t size);

struct fby_json_values {
    const char *at; /* of an object that was parsed: its bytes, from '{' on */
    const char *end;
};

/* The text of its next value, in the order of its keys, without the blanks
 * between tokens, into `out`; its bytes, at most those that it has there. */
size_t fby_json_next(struct fby_json_values *self, char *out);

#endif
