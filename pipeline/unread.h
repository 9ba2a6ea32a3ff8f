/* SPDX-License-Identifier: Apache-2.0 */
/* unread.h - formats of data that are not read yet, and how to convert them.
 *
 * Formats are recognised by the name of a file. */
#ifndef FBY_PIPELINE_UNREAD_H
#define FBY_PIPELINE_UNREAD_H

#include <stdbool.h>

struct fby_unread {
    char text[400]; /* a sentence: what is not read, and what to do */
};

/* True if the format of a file with this name is not read: archives, Parquet,
 * videos and so on. Then `out` says how to convert the file. */
bool fby_unread_file(const char *name, struct fby_unread *out);

/* The format of a picture that is not decoded ("TIFF"), by the name of its file;
 * NULL: it is none. fby_unread_file() is true for these, too. */
const char *fby_unread_picture(const char *name);

/* True for the name of a JPEG file that needs another name, as x.jfif.
 * fby_unread_file() is true for these, too. */
bool fby_unread_is_jpeg(const char *name);

/* The rest of a command that begins with `find` and gives JPEG files a second name. It
 * names those whose name another picture has: of x.jfif and x.jpe only one is x.jpg. */
#define FBY_UNREAD_LINK                                                   \
    "sh -c 'for f; do t=\"${f%.*}.jpg\"; [ -e \"$t\" ] || ln \"$f\" "     \
    "\"$t\" || cp \"$f\" \"$t\"; [ \"$f\" -ef \"$t\" ] || cmp -s \"$f\" " \
    "\"$t\" || echo \"left out: $f, since $t is there\"; done' sh {} +"

/* The same for other pictures, which are converted to PNG; a picture that is there
 * already is kept, and named. */
#define FBY_UNREAD_CONVERT                                                   \
    "sh -c 'for f; do t=\"${f%.*}.png\"; if [ -e \"$t\" ]; then echo \"not " \
    "converted: $f, since $t is there\"; else mogrify -format png \"$f\"; "  \
    "fi; done' sh {} +"

/* True for the URL of an object store or a web server, as s3://bucket/a.tar.
 * Then `out` says what to do. */
bool fby_unread_url(const char *path, struct fby_unread *out);

#endif
