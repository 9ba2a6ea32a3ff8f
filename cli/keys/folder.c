/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/keys/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/atomic_file.h"

enum { PATH_BYTES = 4096 };

static const char empty_list[] =
    "# The keys that the server admits; `forebay keys` writes this file.\n"
    "# PUBLIC ROLE NAME [roots=A,B] [jobs=PATTERN]\n";

/* ---- files --------------------------------------------------------------- */

static fby_err join(const char *dir, const char *file, char out[PATH_BYTES],
    struct fby_error_detail *why)
{
    return snprintf(out, PATH_BYTES, "%s/%s", dir, file) < PATH_BYTES
               ? FBY_OK
               : fby_error_set(why, FBY_CONFIG, "%s: too long a path", dir);
}

static fby_err write_file(const char *path, const struct fby_buffer *text,
    struct fby_error_detail *why)
{
    struct fby_atomic_file file;
    fby_err                err = fby_atomic_file_open(&file, path, 0600, why);
    if (err == FBY_OK) {
        fby_atomic_file_write(&file, text->data, text->size);
        err = fby_atomic_file_finish(&file, why);
        fby_atomic_file_close(&file);
    }
    return fby_error_prefix(why, err, "%s", path);
}

static fby_err write_key(const char *path, const struct fby_key_file *key,
    struct fby_error_detail *why)
{
    struct fby_buffer text = {0};
    fby_key_file_format(key, &text);
    fby_err err = write_file(path, &text, why);
    sodium_memzero(text.data, text.size);
    fby_buffer_fini(&text);
    return err;
}

static fby_err refuse_missing(const char *dir, struct fby_error_detail *why)
{
    return fby_error_set(why, FBY_CONFIG,
        "%s: no folder of keys; write one with: forebay keys init DIR", dir);
}

/* Wait until no other command changes the folder. The lock ends when the
 * returned descriptor is closed. */
static fby_err lock(const char *dir, int *fd, struct fby_error_detail *why)
{
    *fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd >= 0 && flock(*fd, LOCK_EX) == 0) {
        return FBY_OK;
    }
    if (*fd < 0 && errno == ENOENT) {
        return refuse_missing(dir, why);
    }
    fby_err err = fby_error_set(why, FBY_IO, "%s: %s", dir, strerror(errno));
    if (*fd >= 0) {
        close(*fd);
    }
    return err;
}

static fby_err refuse_missing_list(
    const char *dir, struct fby_error_detail *why)
{
    char key_path[PATH_BYTES];
    FBY_TRY(join(dir, "server.key", key_path, why));
    return access(key_path, F_OK) != 0
               ? refuse_missing(dir, why)
               : fby_error_set(why, FBY_CONFIG,
                     "%s: has server.key but not allowed, the list of admitted "
                     "keys; copy it back, or write a new folder with: forebay "
                     "keys init DIR",
                     dir);
}

/* Read the file `allowed`, and parse it into `list`. */
static fby_err read_list(const char *dir, struct fby_buffer *text,
    struct fby_allowed *list, struct fby_error_detail *why)
{
    char path[PATH_BYTES];
    FBY_TRY(join(dir, "allowed", path, why));
    fby_err err = fby_secret_file_read(path, FBY_ALLOWED_MAX_BYTES, text, why);
    if (err == FBY_NOT_FOUND) {
        return refuse_missing_list(dir, why);
    }
    if (err == FBY_OK) {
        err =
            fby_allowed_parse((const char *)text->data, text->size, list, why);
        (void)fby_error_prefix(why, err, "%s", path);
    }
    return err;
}

/* ---- init ---------------------------------------------------------------- */

static fby_err write_new_folder(const char *dir, struct fby_error_detail *why)
{
    char              key_path[PATH_BYTES];
    char              list_path[PATH_BYTES];
    struct fby_buffer list = {0};
    FBY_TRY(join(dir, "server.key", key_path, why));
    FBY_TRY(join(dir, "allowed", list_path, why));
    if (access(key_path, F_OK) == 0 || access(list_path, F_OK) == 0) {
        return fby_error_set(why, FBY_CONFIG,
            "%s: has keys already; add some with forebay keys add, or remove "
            "the folder to start again",
            dir);
    }
    struct fby_key_file key =
        fby_key_file_generate(FBY_ROLE_SERVER, "server", NULL);
    fby_put_bytes(&list, empty_list, strlen(empty_list));
    fby_err err = write_file(list_path, &list, why);
    if (err == FBY_OK) {
        err = write_key(key_path, &key, why);
    }
    sodium_memzero(&key, sizeof(key));
    fby_buffer_fini(&list);
    return err;
}

fby_err fby_keys_init(const char *dir, struct fby_error_detail *why)
{
    int fd = -1;
    if (mkdir(dir, 0700) != 0 && errno != EEXIST) {
        return fby_error_set(why, FBY_IO, "%s: %s", dir, strerror(errno));
    }
    FBY_TRY(lock(dir, &fd, why));
    fby_err err = write_new_folder(dir, why);
    close(fd);
    return err;
}

/* ---- add ----------------------------------------------------------------- */

/* Write the list with one more line, unless that line would be invalid. */
static fby_err add_line(const char *dir, struct fby_buffer *text,
    const struct fby_key_file *file, const struct fby_keys_new *key,
    struct fby_error_detail *why)
{
    struct fby_allowed list = {0};
    char               path[PATH_BYTES];
    if (text->size > 0 && text->data[text->size - 1] != '\n') {
        fby_put_u8(text, '\n');
    }
    fby_allowed_put_line(text, file, key->roots, key->jobs);
    if (fby_allowed_parse((const char *)text->data, text->size, &list, NULL) !=
        FBY_OK) {
        return fby_error_set(why, FBY_CONFIG,
            "--roots takes names, as in1k,coco; the list has at most %d keys",
            FBY_ALLOWED_MAX_KEYS);
    }
    fby_allowed_fini(&list);
    FBY_TRY(join(dir, "allowed", path, why));
    return write_file(path, text, why);
}

static bool is_one_word(const char *text)
{
    return text == NULL ||
           (text[0] != '\0' && strpbrk(text, " \t\r\n") == NULL);
}

static fby_err check_new(const struct fby_keys_new *key,
    const struct fby_allowed *list, struct fby_error_detail *why)
{
    if (!fby_key_name_is_valid(key->name)) {
        return fby_error_set(why, FBY_CONFIG,
            "'%s': a name has up to %d letters, digits, '.', '_' and '-'",
            key->name, FBY_KEY_NAME_SIZE - 1);
    }
    if (!is_one_word(key->roots) || !is_one_word(key->jobs)) {
        return fby_error_set(why, FBY_CONFIG,
            "--roots and --jobs take words without blanks, as in1k,coco and "
            "a-*");
    }
    for (size_t i = 0; i < list->n; i++) {
        if (strcmp(list->keys[i].name, key->name) == 0) {
            return fby_error_set(why, FBY_CONFIG,
                "a key '%s' is on the list already; choose another name, or "
                "remove that one first",
                key->name);
        }
    }
    return FBY_OK;
}

static fby_err add_key(const char *dir, const struct fby_keys_new *key,
    struct fby_buffer *text, char path[PATH_BYTES],
    struct fby_error_detail *why)
{
    struct fby_key_file server = {0};
    char                name[2 * FBY_KEY_NAME_SIZE];
    /* The only key of the workers is called as its role. */
    bool is_role = strcmp(key->name, fby_role_name(key->role)) == 0;
    snprintf(name, sizeof(name), "%s%s%s.key", fby_role_name(key->role),
        is_role ? "" : "-", is_role ? "" : key->name);
    FBY_TRY(join(dir, name, path, why));
    FBY_TRY(fby_key_file_load(dir, FBY_ROLE_SERVER, &server, why));
    struct fby_key_file file =
        fby_key_file_generate(key->role, key->name, &server.public_key);
    fby_err err = write_key(path, &file, why);
    if (err == FBY_OK) {
        err = add_line(dir, text, &file, key, why);
        if (err != FBY_OK) {
            (void)unlink(path);
        }
    }
    sodium_memzero(&file, sizeof(file));
    sodium_memzero(&server, sizeof(server));
    return err;
}

fby_err fby_keys_add(const char *dir, const struct fby_keys_new *key,
    char path[PATH_BYTES], struct fby_error_detail *why)
{
    struct fby_buffer  text = {0};
    struct fby_allowed list = {0};
    int                fd   = -1;
    FBY_TRY(lock(dir, &fd, why));
    fby_err err = read_list(dir, &text, &list, why);
    if (err == FBY_OK) {
        err = check_new(key, &list, why);
    }
    if (err == FBY_OK) {
        err = add_key(dir, key, &text, path, why);
    }
    close(fd);
    fby_allowed_fini(&list);
    fby_buffer_fini(&text);
    return err;
}

/* ---- remove and list ----------------------------------------------------- */

/* True if the line, of `size` bytes, is that of the key `name`. */
static bool is_line_of(const char *line, size_t size, const char *name)
{
    char found[FBY_KEY_NAME_SIZE] = "";
    char copy[256];
    snprintf(copy, sizeof(copy), "%.*s", (int)size, line);
    return line[0] != '#' && sscanf(copy, "%*s %*s %63s", found) == 1 &&
           strcmp(found, name) == 0;
}

/* Copy the list without the line of the key. */
static void copy_without(
    const struct fby_buffer *text, const char *name, struct fby_buffer *out)
{
    const char *line = (const char *)text->data;
    const char *end  = line + text->size;
    while (line < end) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        const char *next    = newline != NULL ? newline + 1 : end;
        if (!is_line_of(line, (size_t)(next - line), name)) {
            fby_put_bytes(out, line, (size_t)(next - line));
        }
        line = next;
    }
}

static fby_err remove_key(const char *dir, const struct fby_buffer *text,
    const char *name, struct fby_error_detail *why)
{
    static const char *const prefixes[] = {"worker-", "trainer-", ""};
    struct fby_buffer        shorter    = {0};
    char                     path[PATH_BYTES];
    FBY_TRY(join(dir, "allowed", path, why));
    copy_without(text, name, &shorter);
    fby_err err = write_file(path, &shorter, why);
    fby_buffer_fini(&shorter);
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        char file[2 * FBY_KEY_NAME_SIZE];
        snprintf(file, sizeof(file), "%s%s.key", prefixes[i], name);
        if (err == FBY_OK && strcmp(file, "server.key") != 0 &&
            join(dir, file, path, why) == FBY_OK) {
            (void)unlink(path); /* it may be elsewhere */
        }
    }
    return err;
}

fby_err fby_keys_remove(
    const char *dir, const char *name, struct fby_error_detail *why)
{
    struct fby_buffer  text  = {0};
    struct fby_allowed list  = {0};
    int                fd    = -1;
    bool               found = false;
    FBY_TRY(lock(dir, &fd, why));
    fby_err err = read_list(dir, &text, &list, why);
    for (size_t i = 0; i < list.n; i++) {
        found |= strcmp(list.keys[i].name, name) == 0;
    }
    if (err == FBY_OK && !found) {
        err = fby_error_set(why, FBY_NOT_FOUND,
            "%s/allowed has no key '%s'; forebay keys list %s shows all", dir,
            name, dir);
    }
    if (err == FBY_OK) {
        err = remove_key(dir, &text, name, why);
    }
    close(fd);
    fby_allowed_fini(&list);
    fby_buffer_fini(&text);
    return err;
}

fby_err fby_keys_list(
    const char *dir, struct fby_allowed *out, struct fby_error_detail *why)
{
    struct fby_buffer text = {0};
    fby_err           err  = read_list(dir, &text, out, why);
    fby_buffer_fini(&text);
    return err;
}
