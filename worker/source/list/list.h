/* list.h - the rows of a CSV or JSON-lines file as samples.
 *
 * A row is a sample, its key the number of the line it begins in. A column is a
 * member: of the columns that hold paths the file of that name, its suffix
 * COLUMN.EXTENSION; of the others the value itself, its suffix COLUMN. A row
 * lacks what is empty or null. Columns that no field could name are passed
 * over. Texts are trusted in nothing. */
#ifndef FBY_WORKER_SOURCE_LIST_H
#define FBY_WORKER_SOURCE_LIST_H

#include "worker/source/parts.h"

enum {
    FBY_LIST_MAX_BYTES   = 1 << 30, /* of the file */
    FBY_LIST_MAX_ROW     = 1 << 20, /* bytes of one row */
    FBY_LIST_MAX_COLUMNS = 256
};

struct fby_list_cell {
    const char *column; /* as spelled */
    const char *text;   /* UTF-8 */
    size_t      size;   /* bytes */
};

struct fby_list_row {
    uint64_t                    line; /* it begins in, from 1 */
    uint32_t                    n;
    const struct fby_list_cell *cells;
};

/* Who takes the rows; cells live for the call. */
struct fby_list_sink {
    fby_err (*row)(
        void *arg, const struct fby_list_row *row, struct fby_why *why);
    void *arg;
};

/* RFC 4180 with a header, in UTF-8: fields in quotes or without any, lines that
 * end with LF or CRLF; a byte order mark and empty lines are passed over.
 * Errors: FBY_CONFIG, "line 17: ..." in `why`; the sink's. */
FBY_CHECKED fby_err fby_list_csv(const char *text, size_t size,
    const struct fby_list_sink *sink, struct fby_why *why);

/* An object a line. Numbers, objects and lists are their text in the line, the
 * latter without blanks between tokens; true is 1, false 0. Errors: as above.
 */
FBY_CHECKED fby_err fby_list_json(const char *text, size_t size,
    const struct fby_list_sink *sink, struct fby_why *why);

struct fby_list {
    const char *text;
    size_t      size;
    bool        json;                   /* else CSV */
    const char (*files)[FBY_NAME_SIZE]; /* columns of paths, lower case */
    uint32_t n_files;
};

/* The samples of a list; sizes and stamps of files are not known yet. The
 * shards are the caller's, also after an error. Pure.
 * Errors: FBY_CONFIG, `why` names the line and column. */
FBY_CHECKED fby_err fby_list_parts(
    const struct fby_list *list, struct fby_parts *out, struct fby_why *why);

#endif
