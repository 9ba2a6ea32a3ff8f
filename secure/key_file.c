/* SPDX-License-Identifier: Apache-2.0 */
#include "secure/key_file.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char first_line[] = "forebay-key 1";

/* ---- roles, names, keys as text ------------------------------------------ */

static const char *const role_names[FBY_N_ROLES] = {
    [FBY_ROLE_SERVER]  = "server",
    [FBY_ROLE_WORKER]  = "worker",
    [FBY_ROLE_TRAINER] = "trainer",
};

const char *fby_role_name(enum fby_role role)
{
    return role_names[role];
}

bool fby_role_parse(const char *text, enum fby_role *out)
{
    for (int i = 0; i < FBY_N_ROLES; i++) {
        if (strcmp(text, role_names[i]) == 0) {
            *out = (enum fby_role)i;
            return true;
        }
    }
    return false;
}

bool fby_key_name_is_valid(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t            length    = strlen(name);
    return length > 0 && length < FBY_KEY_NAME_SIZE &&
           strspn(name, allowed) == length && name[0] != '.' && name[0] != '-';
}

void fby_key_write_text(const struct fby_key *key, char out[FBY_KEY_TEXT_SIZE])
{
    sodium_bin2hex(out, FBY_KEY_TEXT_SIZE, key->bytes, FBY_KEY_BYTES);
}

bool fby_key_parse_text(const char *text, struct fby_key *out)
{
    struct fby_key key;
    size_t         size = 0;
    bool           done = strlen(text) == FBY_KEY_TEXT_SIZE - 1 &&
                sodium_hex2bin(key.bytes, sizeof(key.bytes), text, strlen(text),
                    NULL, &size, NULL) == 0 &&
                size == sizeof(key.bytes);
    if (done) {
        *out = key;
    }
    return done;
}

/* ---- generate and format ------------------------------------------------- */

struct fby_key_file fby_key_file_generate(
    enum fby_role role, const char *name, const struct fby_key *server)
{
    struct fby_key_file file = {.role = role};
    snprintf(file.name, sizeof(file.name), "%s", name);
    crypto_box_keypair(file.public_key.bytes, file.secret_key.bytes);
    file.server_key = server != NULL ? *server : file.public_key;
    return file;
}

static void put_line(struct fby_buffer *out, const char *name, const char *text)
{
    fby_put_bytes(out, name, strlen(name));
    fby_put_bytes(out, " ", 1);
    fby_put_bytes(out, text, strlen(text));
    fby_put_bytes(out, "\n", 1);
}

static void put_key(
    struct fby_buffer *out, const char *name, const struct fby_key *key)
{
    char text[FBY_KEY_TEXT_SIZE];
    fby_key_write_text(key, text);
    put_line(out, name, text);
    sodium_memzero(text, sizeof(text));
}

void fby_key_file_format(
    const struct fby_key_file *file, struct fby_buffer *out)
{
    fby_put_bytes(out, first_line, strlen(first_line));
    fby_put_bytes(out, "\n", 1);
    put_line(out, "role", fby_role_name(file->role));
    put_line(out, "name", file->name);
    put_key(out, "public", &file->public_key);
    put_key(out, "secret", &file->secret_key);
    if (file->role != FBY_ROLE_SERVER) {
        put_key(out, "server", &file->server_key);
    }
}

/* ---- parse --------------------------------------------------------------- */

enum line { LINE_ROLE, LINE_NAME, LINE_PUBLIC, LINE_SECRET, LINE_SERVER };
enum { N_LINES = 5, LINE_SIZE = 128 };

static const char *const line_names[N_LINES] = {
    "role", "name", "public", "secret", "server"};

/* Returns false if the value of the line is invalid. */
static bool set_line(
    struct fby_key_file *file, enum line line, const char *value)
{
    switch (line) {
    case LINE_ROLE:
        return fby_role_parse(value, &file->role);
    case LINE_NAME:
        snprintf(file->name, sizeof(file->name), "%s", value);
        return fby_key_name_is_valid(value);
    case LINE_PUBLIC:
        return fby_key_parse_text(value, &file->public_key);
    case LINE_SECRET:
        return fby_key_parse_text(value, &file->secret_key);
    case LINE_SERVER:
    default:
        return fby_key_parse_text(value, &file->server_key);
    }
}

static int find_line(const char *name)
{
    int i = 0;
    while (i < N_LINES && strcmp(name, line_names[i]) != 0) {
        i++;
    }
    return i;
}

/* Copy the next line, without its newline; false at the end of the text. A line
 * that is too long or has a NUL is cut, and so is refused by its reader. */
static bool next_line(struct fby_reader *r, char out[LINE_SIZE])
{
    if (r->left == 0) {
        return false;
    }
    const uint8_t *newline = memchr(r->at, '\n', r->left);
    size_t         size = newline != NULL ? (size_t)(newline - r->at) : r->left;
    const uint8_t *bytes = fby_read_bytes(r, size);
    snprintf(out, LINE_SIZE, "%.*s", size < LINE_SIZE ? (int)size : LINE_SIZE,
        (const char *)bytes);
    if (newline != NULL) {
        (void)fby_read_bytes(r, 1);
    }
    return true;
}

static fby_err read_line(struct fby_key_file *file, char *line, unsigned number,
    unsigned *seen, struct fby_error_detail *why)
{
    char *value = strchr(line, ' ');
    if (value == NULL) {
        return fby_error_set(why, FBY_CONFIG,
            "line %u: not a name and a value; is the file cut?", number);
    }
    *value++ = '\0';
    int i    = find_line(line);
    if (i == N_LINES) {
        return fby_error_set(why, FBY_CONFIG,
            "line %u: '%.20s' is unknown; the lines are role, name, public, "
            "secret and server",
            number, line);
    }
    if ((*seen & 1U << i) != 0) {
        return fby_error_set(
            why, FBY_CONFIG, "line %u: a second '%s'", number, line);
    }
    *seen |= 1U << i;
    return set_line(file, (enum line)i, value)
               ? FBY_OK
               : fby_error_set(why, FBY_CONFIG,
                     "line %u: the value of '%s' is invalid; is the file cut?",
                     number, line);
}

/* Check that all lines are there, and that the keys belong together. */
static fby_err check_file(
    struct fby_key_file *file, unsigned seen, struct fby_error_detail *why)
{
    if (file->role == FBY_ROLE_SERVER && (seen & 1U << LINE_SERVER) == 0) {
        seen |= 1U << LINE_SERVER;
        file->server_key = file->public_key;
    }
    for (int i = 0; i < N_LINES; i++) {
        if ((seen & 1U << i) == 0) {
            return fby_error_set(why, FBY_CONFIG,
                "the line '%s' is missing; is the file cut?", line_names[i]);
        }
    }
    struct fby_key public_key;
    bool           matches =
        crypto_scalarmult_base(public_key.bytes, file->secret_key.bytes) == 0 &&
        sodium_memcmp(
            public_key.bytes, file->public_key.bytes, FBY_KEY_BYTES) == 0;
    return matches ? FBY_OK
                   : fby_error_set(why, FBY_CONFIG,
                         "'public' is not the key of 'secret'; is the file "
                         "damaged?");
}

fby_err fby_key_file_parse(const char *text, size_t size,
    struct fby_key_file *out, struct fby_error_detail *why)
{
    struct fby_key_file file = {0};
    struct fby_reader   r    = fby_reader(text, size);
    unsigned            seen = 0;
    unsigned            n    = 1; /* number of the line */
    char                line[LINE_SIZE];
    if (!next_line(&r, line) || strcmp(line, first_line) != 0) {
        return fby_error_set(why, FBY_CONFIG,
            "not a key file: its first line is not '%s'", first_line);
    }
    fby_err err = FBY_OK;
    while (err == FBY_OK && next_line(&r, line)) {
        err = read_line(&file, line, ++n, &seen, why);
    }
    if (err == FBY_OK) {
        err = check_file(&file, seen, why);
    }
    if (err == FBY_OK) {
        *out = file;
    }
    sodium_memzero(&file, sizeof(file));
    sodium_memzero(line, sizeof(line));
    return err;
}

/* ---- load ---------------------------------------------------------------- */

/* Read the descriptor to its end and close it. */
static fby_err read_all(
    int fd, size_t max, struct fby_buffer *out, struct fby_error_detail *why)
{
    char    bytes[1024];
    ssize_t n = 0;
    while ((n = read(fd, bytes, sizeof(bytes))) > 0 &&
           out->size + (size_t)n <= max) {
        fby_put_bytes(out, bytes, (size_t)n);
    }
    int cause = errno;
    sodium_memzero(bytes, sizeof(bytes));
    close(fd);
    if (n < 0) {
        return fby_error_set(
            why, FBY_CONFIG, "cannot read: %s", strerror(cause));
    }
    if (n > 0) {
        return fby_error_set(
            why, FBY_CONFIG, "longer than %zu bytes: not a file of keys", max);
    }
    fby_put_u8(out, 0);
    out->size--;
    return FBY_OK;
}

fby_err fby_secret_file_read(const char *path, size_t max,
    struct fby_buffer *out, struct fby_error_detail *why)
{
    struct stat info;
    int         fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        fby_err err = errno == ENOENT ? FBY_NOT_FOUND : FBY_CONFIG;
        return fby_error_set(why, err, "%s: %s", path, strerror(errno));
    }
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        close(fd);
        return fby_error_set(why, FBY_CONFIG, "%s: not a file", path);
    }
    if ((info.st_mode & (S_IROTH | S_IWOTH)) != 0) {
        close(fd);
        return fby_error_set(why, FBY_CONFIG,
            "%s: all users of this machine can read or change it; chmod o= it, "
            "and replace the key if others used the machine",
            path);
    }
    fby_err err = read_all(fd, max, out, why);
    return fby_error_prefix(why, err, "%s", path);
}

/* The key file of a trainer in a folder: the only trainer*.key. */
static fby_err find_trainer_file(const char *folder,
    char out[FBY_KEY_PATH_SIZE], struct fby_error_detail *why)
{
    char   pattern[FBY_KEY_PATH_SIZE];
    glob_t found;
    int    n = snprintf(pattern, sizeof(pattern), "%s/trainer*.key", folder);
    if (n >= (int)sizeof(pattern) || glob(pattern, 0, NULL, &found) != 0) {
        return fby_error_set(why, FBY_CONFIG,
            "%s: no trainer-NAME.key in this folder; write one with: forebay "
            "keys add DIR trainer NAME",
            folder);
    }
    fby_err err = FBY_OK;
    if (found.gl_pathc == 1) {
        snprintf(out, FBY_KEY_PATH_SIZE, "%s", found.gl_pathv[0]);
    } else {
        err = fby_error_set(why, FBY_CONFIG,
            "%s: this folder has the keys of %zu trainers; name the file of "
            "one, for example %s",
            folder, found.gl_pathc, found.gl_pathv[0]);
    }
    globfree(&found);
    return err;
}

const char *fby_key_path_of_trainer(const char *given)
{
    const char *path = given != NULL ? given : getenv("FOREBAY_KEYS");
    return path != NULL && path[0] != '\0' ? path : NULL;
}

fby_err fby_key_file_find(const char *path, enum fby_role role,
    char out[FBY_KEY_PATH_SIZE], struct fby_error_detail *why)
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) {
        snprintf(out, FBY_KEY_PATH_SIZE, "%s", path);
        return FBY_OK;
    }
    if (role == FBY_ROLE_TRAINER) {
        return find_trainer_file(path, out, why);
    }
    snprintf(out, FBY_KEY_PATH_SIZE, "%s/%s.key", path, fby_role_name(role));
    return FBY_OK;
}

static fby_err read_text(const char *path, enum fby_role role,
    struct fby_buffer *text, struct fby_error_detail *why)
{
    static const char *const commands[FBY_N_ROLES] = {
        [FBY_ROLE_SERVER]  = "init DIR",
        [FBY_ROLE_WORKER]  = "add DIR worker",
        [FBY_ROLE_TRAINER] = "add DIR trainer NAME",
    };
    char file[FBY_KEY_PATH_SIZE];
    FBY_TRY(fby_key_file_find(path, role, file, why));
    fby_err err = fby_secret_file_read(file, FBY_KEY_FILE_MAX, text, why);
    if (err == FBY_NOT_FOUND) {
        return fby_error_set(why, FBY_CONFIG,
            "%s: no such key file; write it with: forebay keys %s", file,
            commands[role]);
    }
    return err;
}

fby_err fby_key_file_load(const char *path, enum fby_role role,
    struct fby_key_file *out, struct fby_error_detail *why)
{
    struct fby_buffer   text = {0};
    struct fby_key_file file = {0};
    fby_err             err  = read_text(path, role, &text, why);
    if (err == FBY_OK) {
        err =
            fby_key_file_parse((const char *)text.data, text.size, &file, why);
        (void)fby_error_prefix(why, err, "%s", path);
    }
    if (err == FBY_OK && file.role != role) {
        err = fby_error_set(why, FBY_CONFIG,
            "%s: the key of a %s; a %s needs its own: forebay keys %s", path,
            fby_role_name(file.role), fby_role_name(role),
            role == FBY_ROLE_SERVER ? "init" : "add");
    }
    if (err == FBY_OK) {
        *out = file;
    }
    sodium_memzero(&file, sizeof(file));
    sodium_memzero(text.data, text.size);
    fby_buffer_fini(&text);
    return err;
}
