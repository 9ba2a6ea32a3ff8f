/* SPDX-License-Identifier: Apache-2.0 */
/* key_file.h - key files, which `forebay keys` writes and each process reads.
 *
 * A key file is text, a name and a value on each line:
 *
 *     forebay-key 1
 *     role trainer
 *     name alice
 *     public 5c1a...   64 hexadecimal digits; of Curve25519, as CURVE uses it
 *     secret 09b2...
 *     server e4f0...   the server's public key; not in the server's own file
 *
 * A folder of keys has server.key, worker.key, trainer-NAME.key, and `allowed`
 * (allowed.h). */
#ifndef FBY_SECURE_KEY_FILE_H
#define FBY_SECURE_KEY_FILE_H

#include <stdbool.h>

#include "common/bytes.h"
#include "secure/aead.h"

enum {
    FBY_KEY_NAME_SIZE = 64,  /* bytes of a name, with its NUL */
    FBY_KEY_FILE_MAX  = 4096 /* bytes of a key file */
};

enum fby_role { FBY_ROLE_SERVER, FBY_ROLE_WORKER, FBY_ROLE_TRAINER };
enum { FBY_N_ROLES = 3 };

/* "server", "worker" or "trainer". */
const char *fby_role_name(enum fby_role role);
/* False if `text` is not the name of a role. */
bool fby_role_parse(const char *text, enum fby_role *out);

struct fby_key_file {
    enum fby_role  role;
    char           name[FBY_KEY_NAME_SIZE];
    struct fby_key public_key;
    struct fby_key secret_key; /* wipe it at the end */
    struct fby_key
        server_key; /* the server's public key; of a server its own */
};

/* A new pair of keys. `server` is the server's public key; NULL for a server. */
struct fby_key_file fby_key_file_generate(
    enum fby_role role, const char *name, const struct fby_key *server);

/* True if `name` may be the name of a key: letters, digits, '.', '_' and '-',
 * not '.' or '-' first, and not too long. */
bool fby_key_name_is_valid(const char *name);

/* Append the text of a key file. */
void fby_key_file_format(
    const struct fby_key_file *file, struct fby_buffer *out);

/* Parse the text of a key file.
 * Errors: FBY_CONFIG  `why` has the line and what is wrong. */
FBY_CHECKED fby_err fby_key_file_parse(const char *text, size_t size,
    struct fby_key_file *out, struct fby_error_detail *why);

/* Write the path of the key file of a process of `role`: `path`, or the file in
 * the folder `path`. Whether the file exists is checked only for a trainer.
 * Errors: FBY_CONFIG  not one file of a trainer in the folder. */
enum { FBY_KEY_PATH_SIZE = 4096 };
FBY_CHECKED fby_err fby_key_file_find(const char *path, enum fby_role role,
    char out[FBY_KEY_PATH_SIZE], struct fby_error_detail *why);

/* The path of a trainer's key: `given`, if it is not NULL, else the variable
 * FOREBAY_KEYS. NULL: no keys, also for "". */
const char *fby_key_path_of_trainer(const char *given);

/* Read the key of a process of `role`. `path` is a key file, or a folder with
 * one (for a trainer, with one only).
 * Errors: FBY_CONFIG  it cannot be read, all users may read it, it is
 *                     malformed, or of another role; `why` has the path and
 *                     what to do. */
FBY_CHECKED fby_err fby_key_file_load(const char *path, enum fby_role role,
    struct fby_key_file *out, struct fby_error_detail *why);

/* Read a file of at most `max` bytes that holds keys and that other users may
 * not read; a NUL is appended.
 * Errors: FBY_NOT_FOUND  there is no such file
 *         FBY_CONFIG     as above. */
FBY_CHECKED fby_err fby_secret_file_read(const char *path, size_t max,
    struct fby_buffer *out, struct fby_error_detail *why);

/* Write a key as 64 hexadecimal digits and a NUL. */
enum { FBY_KEY_TEXT_SIZE = 2 * FBY_KEY_BYTES + 1 };
void fby_key_write_text(const struct fby_key *key, char out[FBY_KEY_TEXT_SIZE]);
/* False if `text` is not 64 hexadecimal digits. */
bool fby_key_parse_text(const char *text, struct fby_key *out);

#endif
