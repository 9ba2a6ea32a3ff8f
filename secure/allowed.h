/* SPDX-License-Identifier: Apache-2.0 */
/* allowed.h - the list of the keys that a server admits.
 *
 * The file `allowed` of a folder of keys has a line for each key:
 *
 *     PUBLIC ROLE NAME [roots=A,B] [jobs=PATTERN]
 *
 * PUBLIC is 64 hexadecimal digits, ROLE is worker or trainer. A trainer without
 * `roots` may use all data, and without `jobs` any job; PATTERN is a pattern of
 * the shell (fnmatch). Empty lines, and lines that begin with '#', are
 * comments. */
#ifndef FBY_SECURE_ALLOWED_H
#define FBY_SECURE_ALLOWED_H

#include "common/bytes.h"
#include "secure/key_file.h"

enum { FBY_ALLOWED_MAX_KEYS = 4096, FBY_ALLOWED_MAX_BYTES = 4 << 20 };

struct fby_allowed_key {
    struct fby_key public_key;
    enum fby_role  role;
    char           name[FBY_KEY_NAME_SIZE];
    char          *roots; /* names with a NUL after each; NULL: all */
    size_t         n_roots;
    char          *jobs; /* pattern; NULL: all */
    unsigned       line; /* of the file, from 1 */
};

struct fby_allowed_ref {
    const struct fby_allowed_key *key;
};

struct fby_allowed {
    struct fby_allowed_key *keys;   /* in the order of the file */
    struct fby_allowed_ref *by_key; /* the same, by their bytes */
    size_t                  n;
};

/* Parse the text of the list. Ownership: the caller calls fby_allowed_fini.
 * Errors: FBY_CONFIG  `why` has the line and what is wrong. */
FBY_CHECKED fby_err fby_allowed_parse(const char *text, size_t size,
    struct fby_allowed *out, struct fby_error_detail *why);
/* {0} is allowed. */
void fby_allowed_fini(struct fby_allowed *self);

/* The entry of a public key; NULL: it is not admitted. The time depends on the
 * bytes of the keys, which are no secrets. */
const struct fby_allowed_key *fby_allowed_find(
    const struct fby_allowed *self, const struct fby_key *public_key);

/* True if the key may be used for a job of this name. */
bool fby_allowed_permits_job(
    const struct fby_allowed_key *key, const char *job);

/* Append the line of a key, which `roots` ("A,B" or NULL) and `jobs` (or NULL)
 * limit. */
void fby_allowed_put_line(struct fby_buffer *out,
    const struct fby_key_file *file, const char *roots, const char *jobs);

#endif
