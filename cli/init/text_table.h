/* SPDX-License-Identifier: Apache-2.0 */
/* text_table.h - tell a text with rows of columns, as iris.data, from other texts by
 * its first lines. The functions are pure. */
#ifndef FBY_CLI_INIT_TEXT_TABLE_H
#define FBY_CLI_INIT_TEXT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fby_text_table {
    const char *separator;  /* " ": any blanks */
    uint32_t    n_columns;  /* 2 or more */
    bool        has_quotes; /* around cells; else quotes mean themselves */
    bool        has_header; /* the first row has the names of the columns */
    bool has_count;   /* before the header, a line has the number of rows */
    bool lacks_name;  /* the header lacks the name of the first column */
    bool has_numbers; /* a column has only numbers, but for a header */
    bool is_prose;    /* the rows seem to be sentences, of as many words */
};

/* Look at the first `size` bytes of a text, which `is_cut` if it goes on. `text` is
 * changed, and text[size] is NUL. Returns false if that is no table: the lines have
 * different numbers of columns, or it has less than two lines. */
bool fby_text_table_find(
    char *text, size_t size, bool is_cut, struct fby_text_table *out);

#endif
