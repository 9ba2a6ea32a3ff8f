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

#include "common/fault.h"
#include "common/mem.h"
#include "pipeline/location.h"
#include "pipeline/text.h"

/* openat2 fails with EAGAIN if a rename happens meanwhile. */
enum { MAX_TRIES = 8 };
enum { MAX_DIR_SHOWN = 150 }; /* bytes of a directory in an error */
/* O_NONBLOCK: opening a pipe must not wait for its writer. */
enum { OPEN_FLAGS = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK };

struct fby_root {
    char  name[FBY_NAME_SIZE];
    char *dir; /* absolute, links resolved */
    int   fd;  /* of dir */
    const struct fby_object_ops
                           *object_ops; /* to read its files; NULL: local */
    const struct fby_roots *all;        /* links may lead beneath any of them */
    void                   *state;      /* of object_ops */
};

struct fby_roots {
    struct fby_root **list;
    uint32_t          count; /* number of roots */
    /* NULL: links must lead beneath a root. */
    fby_roots_outside *on_outside;
    void              *arg;
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

void fby_roots_follow_outside(
    struct fby_roots *self, fby_roots_outside *fn, void *arg)
{
    self->on_outside = fn;
    self->arg        = arg;
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
    root->all             = self;
    fby_err err = fby_location_parse_root(name_and_dir, root->name, dir, why);
    if (err == FBY_OK && find_root(self, root->name) != NULL) {
        err = fby_error_set(why, FBY_USAGE,
            "two roots are named %s: give each another name", root->name);
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

void *fby_root_state(const struct fby_root *root)
{
    return root->state;
}

struct fby_root *fby_root_create_with_ops(const struct fby_root *parent,
    const struct fby_object_ops *ops, void *state)
{
    struct fby_root *self = fby_zalloc(sizeof(*self));
    memcpy(self->name, parent->name, sizeof(self->name));
    self->dir        = fby_strdup(parent->dir);
    self->fd         = -1;
    self->object_ops = ops;
    self->all        = parent->all;
    self->state      = state;
    return self;
}

void fby_root_destroy(struct fby_root **self_p)
{
    if (*self_p != NULL) {
        destroy_root(*self_p);
        *self_p = NULL;
    }
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

static bool is_beneath_any(const struct fby_roots *roots, const char *real)
{
    uint32_t i = 0;
    while (i < roots->count && !is_beneath(roots->list[i], real)) {
        i++;
    }
    return i < roots->count;
}

/* May a worker open `real`, a path without links? */
static bool is_allowed(const struct fby_roots *roots, const char *real)
{
    if (is_beneath_any(roots, real)) {
        return true;
    }
    if (roots->on_outside == NULL) {
        return false;
    }
    roots->on_outside(roots->arg, real);
    return true;
}

/* Get a handle of the target without opening it (O_PATH), ask the kernel for
 * its path, check the path, and open the target through the handle. So the file
 * that is opened is the file that was checked. `real` gets the target's path,
 * or "" if it is unknown. */
static int open_checked(
    const struct fby_root *root, const char *path, char real[PATH_MAX])
{
    char link[64]; /* the handle's link in /proc */
    int  handle = openat(root->fd, path, O_PATH | O_CLOEXEC);
    if (handle < 0) {
        return -1;
    }
    snprintf(link, sizeof(link), "/proc/self/fd/%d", handle);
    ssize_t n           = readlink(link, real, PATH_MAX - 1);
    real[n > 0 ? n : 0] = '\0';
    bool allowed        = n > 0 && is_allowed(root->all, real);
    int  fd             = allowed ? open(link, OPEN_FLAGS) : -1;
    int  error          = allowed ? errno : EXDEV; /* as openat2 does */
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

/* The error for a path that leads to `real`, beneath no root. */
static fby_err error_from_outside(const struct fby_root *root, const char *path,
    const char *real, struct fby_error_detail *why)
{
    const char *slash    = strrchr(real, '/'); /* NULL: `real` is "" */
    int         dir_size = slash == NULL || slash == real ? (int)strlen(real)
                                                          : (int)(slash - real);
    return fby_error_set(why, FBY_USAGE,
        "%s:%.100s is outside the root: a link leads to %.100s: start workers "
        "with --data links%u=%.*s ('forebay init' prints all options that the "
        "links need)",
        root->name, path, real[0] != '\0' ? real : "another directory",
        root->all->count - 1,
        real[0] == '\0' || dir_size > MAX_DIR_SHOWN ? MAX_DIR_SHOWN : dir_size,
        real[0] != '\0' ? real : "DIR");
}

static const char *const type_faults[] = {
    [FBY_WANT_FILE]   = "not a plain file",
    [FBY_WANT_DIR]    = "not a directory",
    [FBY_WANT_EITHER] = "neither a plain file nor a directory",
};

static fby_err error_from_errno(const struct fby_root *root, const char *path,
    enum fby_root_want want, struct fby_error_detail *why)
{
    fby_err     err  = FBY_IO;
    const char *when = ""; /* " now" if a later try may succeed */
    switch (errno) {
    case ENXIO: /* a socket, or a device that is not there */
    case ENODEV:
        return fby_error_set(why, FBY_NOT_FOUND, "%s:%s is %s", root->name,
            path, type_faults[want]);
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
    struct stat st;
    if (fstat(fd, &st) != 0) {
        *fault = "unreadable";
        return FBY_IO;
    }
    *fault        = type_faults[want];
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
    char        real[PATH_MAX] = "";
    const char *relative       = path[0] == '\0' ? "." : path;
    int         opened         = open_beneath(root->fd, relative);
    if (opened < 0 && may_use_open_checked(errno)) {
        opened = open_checked(root, relative, real);
    }
    if (opened >= 0 && want == FBY_WANT_FILE &&
        fby_fault_takes_effect("worker.open_error", "file")) {
        close(opened);
        opened = -1;
        errno  = (int)fby_fault_param("worker.open_error", "errno", EIO);
    }
    if (opened < 0) {
        return errno == EXDEV ? error_from_outside(root, path, real, why)
                              : error_from_errno(root, path, want, why);
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
