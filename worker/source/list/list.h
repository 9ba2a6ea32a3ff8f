/* SPDX-License-Identifier: Apache-2.0 */
/* list.h - the rows of a CSV or JSON lines file as samples.
 *
 * Each row is a sample; its key is the number of the line where it begins. Each
 * cell of a row is a member, unless it is empty or null. In a column of paths
 * the member is the file at this path, with the suffix COLUMN.EXTENSION. In any
 * other column the member is the value of the cell, with the suffix COLUMN. If
 * the name of a column is no valid suffix, the column is skipped, because no
 * field can select it. The text is untrusted. */
#ifndef FBY_WORKER_SOURCE_LIST_H
#define FBY_WORKER_SOURCE_LIST_H

#include "worker/source/shard_builder.h"

enum {
    FBY_LIST_MAX_BYTES   = 1 << 30, /* bytes of the file */
    FBY_LIST_MAX_ROW     = 1 << 20, /* bytes of one row */
    FBY_LIST_MAX_COLUMNS = 256
};

/* Faults in the text of an error, after "line 17: ", for callers that know what
 * to do about one. */
#define FBY_LIST_NOT_UTF8  "is not UTF-8 text"
#define FBY_LIST_NUL_BYTE  "a NUL byte; a list is UTF-8 text"
#define FBY_LIST_NO_COMMA  "it has no comma, but "
#define FBY_LIST_TOO_WIDE  "more than 256 columns"
#define FBY_LIST_NO_NAME   "a column without a name"
#define FBY_LIST_NO_FIELD  "no column has a name that a field can have"
#define FBY_LIST_NO_OBJECT "a list where an object is needed"
#define FBY_LIST_OF_HEADER "but the header has "
#define FBY_LIST_CUT_JSON  "the line ends within its JSON"

struct fby_list_cell {
    const char *column; /* name, as spelled in the file */
    const char *text;   /* UTF-8 */
    size_t      size;   /* bytes */
};

struct fby_list_row {
    uint64_t line; /* number of the row's first line, from 1 */
    uint32_t n_cells;
    const struct fby_list_cell *cells;
};

/* A reader calls receive(arg, ...) for each row, in order. The row is valid
 * only during the call. */
struct fby_list_sink {
    fby_err (*receive)(void *arg, const struct fby_list_row *row,
        struct fby_error_detail *why);
    void *arg;
};

/* Read CSV (RFC 4180) with a header: UTF-8, quoted and plain fields, lines that
 * end with LF or CRLF. Empty lines are skipped.
 * Errors: FBY_CONFIG with "line 17: ..."; those of the sink. */
FBY_CHECKED fby_err fby_list_csv(const char *text, size_t size,
    const struct fby_list_sink *sink, struct fby_error_detail *why);

/* Read only the first row of CSV, usually its header. Its cells may have any
 * texts; their columns are "".
 * Errors: FBY_NOT_FOUND if there is no row; those of fby_list_csv. */
FBY_CHECKED fby_err fby_list_csv_first_row(const char *text, size_t size,
    const struct fby_list_sink *sink, struct fby_error_detail *why);

/* Read JSON lines: one object a line. The text of a cell is 1 for `true`, 0 for
 * `false`, and the content of a string. The text of any other value is copied
 * from the line, without blanks between tokens. A NUL must follow `text`.
 * Errors: those of fby_list_csv. */
FBY_CHECKED fby_err fby_list_json(const char *text, size_t size,
    const struct fby_list_sink *sink, struct fby_error_detail *why);

/* Set `why` to "line LINE: FAULT". Returns FBY_CONFIG. */
fby_err fby_list_refuse(
    uint64_t line, const char *fault, struct fby_error_detail *why);

struct fby_list { /* the content of a list file, and its columns of paths */
    const char *text;
    size_t      size;                   /* bytes */
    bool        json;                   /* true: JSON lines; false: CSV */
    const char (*files)[FBY_NAME_SIZE]; /* columns of paths, lower case */
    uint32_t    n_files;                /* number of these columns */
    const char *base;     /* the list's folder below its root; NULL: the root */
    const char *root_dir; /* of absolute paths; NULL: they are refused */
};

/* Build the samples of a list, in virtual shards (shard_builder.h). The sizes
 * and stamps of the files that it names are not set. A byte order mark is
 * skipped. The caller owns the shards, also after an error.
 * Errors: FBY_CONFIG, with the line and column. */
FBY_CHECKED fby_err fby_list_build_shards(const struct fby_list *list,
    struct fby_shard_builder *out, struct fby_error_detail *why);

#endif
