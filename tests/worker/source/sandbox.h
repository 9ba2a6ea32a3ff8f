/* sandbox.h - a directory of its own for each test: data, a root, tar files.
 *
 * `dir` holds `data`, which is the root "data", `cache`, and whatever else a
 * test puts beside them; all of it goes when the sandbox is closed. */
#ifndef FBY_TESTS_SANDBOX_H
#define FBY_TESTS_SANDBOX_H

#include <stddef.h>
#include <stdint.h>

#include "common/bytes.h"
#include "tests/says.h"
#include "worker/source/dataset.h"
#include "worker/source/roots.h"

struct sandbox {
    char              dir[64];
    struct fby_roots *roots;
    char              cache[80];
};

/* cmocka set-up and tear-down: *state is the sandbox. */
int sandbox_open(void **state);
int sandbox_close(void **state);

#define IN_SANDBOX(test) \
    cmocka_unit_test_setup_teardown(test, sandbox_open, sandbox_close)

/* The absolute path of `path` in the sandbox; valid for the next three
 * calls of any function here. */
const char *sandbox_path(const struct sandbox *sb, const char *path);

/* Make a file (and the directories it needs) below the sandbox. */
void sandbox_write(
    const struct sandbox *sb, const char *path, const void *data, size_t size);
void sandbox_write_text(
    const struct sandbox *sb, const char *path, const char *text);
void sandbox_append(
    const struct sandbox *sb, const char *path, const void *data, size_t size);
void sandbox_mkdir(const struct sandbox *sb, const char *path);
void sandbox_link(
    const struct sandbox *sb, const char *target, const char *path);
void sandbox_remove(const struct sandbox *sb, const char *path);

/* Spell tar files block by block. */
void tar_header(
    struct fby_buffer *tar, const char *name, char type, uint64_t size);
void tar_payload(struct fby_buffer *tar, const void *data, size_t size);
void tar_file(struct fby_buffer *tar, const char *name, const char *text);
void tar_pax(struct fby_buffer *tar, const char *key, const char *value);
void tar_end(struct fby_buffer *tar);
/* Sum a header's bytes again after a test changed them. */
void tar_sum(uint8_t *header);

/* Write the tar to `path` and forget it. */
void sandbox_tar(
    const struct sandbox *sb, const char *path, struct fby_buffer *tar);

/* A shard of samples first .. first + n - 1: members jpg and cls, with the
 * number in both. */
void sandbox_shard(
    const struct sandbox *sb, const char *path, unsigned first, unsigned n);

/* The source that a worker opens at "data:...", with the sandbox's cache. */
struct fby_dataset_spec sandbox_source(
    const struct sandbox *sb, enum fby_source_kind kind, const char *pattern);
struct fby_dataset_spec sandbox_shards(
    const struct sandbox *sb, const char *pattern);
struct fby_dataset_spec sandbox_folder(
    const struct sandbox *sb, const char *path);

/* Open or fail the test. */
struct fby_dataset *sandbox_dataset(const struct fby_dataset_spec *spec);

/* Opening it fails with `err` and these words. */
void sandbox_refuses(
    const struct fby_dataset_spec *spec, fby_err err, const char *words);

/* How many shards of it come from the cache. */
uint32_t sandbox_reused(const struct fby_dataset_spec *spec);

#endif
