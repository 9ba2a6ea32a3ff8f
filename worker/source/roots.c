/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/roots.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/mem.h"
#include "pipeline/location.h"
#include "pipeline/text.h"
#include "worker/source/object.h"

/* openat2 fails with EAGAIN if a rename happens meanwhile. */
enum { MAX_TRIES = 8 };
/* O_NONBLOCK: opening a pipe must not wait for its writer. */
enum { OPEN_FLAGS = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK };

struct fby_root {
    char                         name[FBY_NAME_SIZE];
    char                        *dir;        /* absolute, links resolved */
    int                          fd;         /* of dir */
    const struct fby_object_ops *object_ops; /* functions to read its files */
};

struct fby_roots {
    struct fby_root **list;
    uint32_t          count; /* number of roots */
};

struct fby_roots *fby_roots_create(void)
{
    return fby_zalloc(sizeof(struct fby_roots));
}

static void destroy_root(struct fby_root *root)
{
    if (root->fd >= 0) {
        close(root->fd);
    }
    free(root->dir);
    free(root);
}

void fby_roots_destroy(struct fby_roots **self_p)
{
    struct fby_roots *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    for (uint32_t i = 0; i < self->count; i++) {
        destroy_root(self->list[i]);
    }
    free(self->list);
    free(self);
}

static const struct fby_root *find_root(
    const struct fby_roots *self, const char *name)
{
    for (uint32_t i = 0; i < self->count; i++) {
        if (strcmp(self->list[i]->name, name) == 0) {
            return self->list[i];
        }
    }
    return NULL;
}

static fby_err open_dir(
    struct fby_root *root, const char *dir, struct fby_error_detail *why)
{
    root->fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root->fd < 0) {
        return fby_error_set(why, FBY_CONFIG,
            "root %s: cannot open the directory %s: %s", root->name, dir,
            strerror(errno));
    }
    root->dir = realpath(dir, NULL);
    if (root->dir == NULL) {
        return fby_error_set(why, FBY_CONFIG, "root %s: cannot resolve %s: %s",
            root->name, dir, strerror(errno));
    }
    return FBY_OK;
}

fby_err fby_roots_add(struct fby_roots *self, const char *name_and_dir,
    struct fby_error_detail *why)
{
    char             dir[FBY_PATH_SIZE];
    struct fby_root *root = fby_zalloc(sizeof(*root));
    root->fd              = -1;
    root->object_ops      = &fby_local_file_ops;
    fby_err err = fby_location_parse_root(name_and_dir, root->name, dir, why);
    if (err == FBY_OK && find_root(self, root->name) != NULL) {
        err = fby_error_set(why, FBY_USAGE,
            "two roots are named %s; each needs a name of its own", root->name);
    }
    if (err == FBY_OK) {
        err = open_dir(root, dir, why);
    }
    if (err != FBY_OK) {
        destroy_root(root);
        return err;
    }
    self->list =
        fby_realloc(self->list, (self->count + 1) * sizeof(struct fby_root *));
    self->list[self->count++] = root;
    return FBY_OK;
}

uint32_t fby_roots_count(const struct fby_roots *self)
{
    return self->count;
}

const char *fby_roots_name(const struct fby_roots *self, uint32_t i)
{
    return self->list[i]->name;
}

fby_err fby_roots_find(const struct fby_roots *self, const char *name,
    const struct fby_root **root, struct fby_error_detail *why)
{
    *root = find_root(self, name);
    if (*root != NULL) {
        return FBY_OK;
    }
    char names[256] = "";
    for (uint32_t i = 0; i < self->count; i++) {
        fby_text_append_name(names, sizeof(names), self->list[i]->name);
    }
    return fby_error_set(why, FBY_USAGE,
        "this worker has no root named %s; it was started with: %s",
        fby_text_show(name).text, self->count > 0 ? names : "none");
}

const char *fby_root_name(const struct fby_root *root)
{
    return root->name;
}

const char *fby_root_dir(const struct fby_root *root)
{
    return root->dir;
}

const struct fby_object_ops *fby_root_object_ops(const struct fby_root *root)
{
    return root->object_ops;
}

/* Is the path relative, with no component `..`? */
static bool is_relative_without_dotdot(const char *path)
{
    if (path[0] == '/') {
        return false;
    }
    while (*path != '\0') {
        size_t n = strcspn(path, "/"); /* bytes of the first component */
        if (n == 2 && path[0] == '.' && path[1] == '.') {
            return false;
        }
        path += n;
        path += strspn(path, "/");
    }
    return true;
}

/* Let the kernel resolve the path (openat2). This fails for an absolute link,
 * even if its target is beneath the root, and on old kernels. In both cases
 * open_checked() resolves the path. */
static int open_beneath(int root_fd, const char *path)
{
    struct open_how how = {
        .flags   = (uint64_t)OPEN_FLAGS,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
    };
    long fd = -1;
    for (int tries = 0; tries < MAX_TRIES; tries++) {
        fd = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
        if (fd >= 0 || errno != EAGAIN) {
            break;
        }
    }
    return (int)fd;
}

/* Is `real`, a path without links, the directory of the root or beneath it? */
static bool is_beneath(const struct fby_root *root, const char *real)
{
    /* Only "/" ends with a slash, which is not counted. So in a path beneath
     * the root, a slash follows the bytes of the root. */
    size_t size = strcmp(root->dir, "/") == 0 ? 0 : strlen(root->dir);
    return strncmp(real, root->dir, size) == 0 &&
           (real[size] == '/' || real[size] == '\0');
}

/* Get a handle of the target without opening it (O_PATH), ask the kernel for
 * its path, check the path, and open the target through the handle. So the file
 * that is opened is the file that was checked. */
static int open_checked(const struct fby_root *root, const char *path)
{
    char link[64]; /* the handle's link in /proc */
    char real[PATH_MAX];
    int  handle = openat(root->fd, path, O_PATH | O_CLOEXEC);
    if (handle < 0) {
        return -1;
    }
    snprintf(link, sizeof(link), "/proc/self/fd/%d", handle);
    ssize_t n           = readlink(link, real, sizeof(real) - 1);
    real[n > 0 ? n : 0] = '\0';
    bool beneath        = n > 0 && is_beneath(root, real);
    int  fd             = beneath ? open(link, OPEN_FLAGS) : -1;
    int  error          = beneath ? errno : EXDEV; /* as openat2 does */
    close(handle);
    errno = error;
    return fd;
}

/* May open_checked() try the path, after openat2 failed with `error`? */
static bool may_use_open_checked(int error)
{
    bool has_no_openat2 = /* an old kernel, or a sandbox refuses the call */
        error == ENOSYS || error == EPERM || error == EINVAL;
    bool may_be_link = error == EXDEV; /* absolute; or the path leads out */
    return has_no_openat2 || may_be_link || error == EAGAIN;
}

static fby_err error_from_errno(
    const struct fby_root *root, const char *path, struct fby_error_detail *why)
{
    fby_err     err  = FBY_IO;
    const char *when = ""; /* " now" if a later try may succeed */
    switch (errno) {
    case EXDEV:
        return fby_error_set(why, FBY_USAGE,
            "%s:%s leads out of the root; a worker reads only what lies "
            "beneath it",
            root->name, path);
    case ENOENT:
    case ENOTDIR:
        return fby_error_set(
            why, FBY_NOT_FOUND, "%s:%s is not there", root->name, path);
    case ELOOP:
        return fby_error_set(
            why, FBY_USAGE, "%s:%s is a loop of links", root->name, path);
    case EACCES:
    case ENAMETOOLONG:
        err = FBY_CONFIG;
        break;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
        err  = FBY_AGAIN;
        when = " now";
        break;
    default:
        break;
    }
    return fby_error_set(why, err, "cannot open %s:%s%s: %s", root->name, path,
        when, strerror(errno));
}

/* Check the type of an open file; *fault says what is wrong with it. */
static fby_err check_type(int fd, enum fby_root_want want, const char **fault)
{
    static const char *const faults[] = {
        [FBY_WANT_FILE]   = "not a plain file",
        [FBY_WANT_DIR]    = "not a directory",
        [FBY_WANT_EITHER] = "neither a plain file nor a directory",
    };
    struct stat st;
    if (fstat(fd, &st) != 0) {
        *fault = "unreadable";
        return FBY_IO;
    }
    *fault        = faults[want];
    bool has_type = (want != FBY_WANT_DIR && S_ISREG(st.st_mode)) ||
                    (want != FBY_WANT_FILE && S_ISDIR(st.st_mode));
    return has_type ? FBY_OK : FBY_NOT_FOUND;
}

fby_err fby_root_open(const struct fby_root *root, const char *path,
    enum fby_root_want want, int *fd, struct fby_error_detail *why)
{
    if (!is_relative_without_dotdot(path)) {
        return fby_error_set(why, FBY_USAGE,
            "%s:%s: a path is relative to its root and has no `..` in it",
            root->name, path);
    }
    const char *relative = path[0] == '\0' ? "." : path;
    int         opened   = open_beneath(root->fd, relative);
    if (opened < 0 && may_use_open_checked(errno)) {
        opened = open_checked(root, relative);
    }
    if (opened < 0) {
        return error_from_errno(root, path, why);
    }
    const char *fault = NULL;
    fby_err     err   = check_type(opened, want, &fault);
    if (err != FBY_OK) {
        close(opened);
        return fby_error_set(why, err, "%s:%s is %s", root->name, path, fault);
    }
    *fd = opened;
    return FBY_OK;
}
