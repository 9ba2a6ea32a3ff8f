/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox.h - a temporary directory for each test, with data, a root and tar
 * files.
 *
 * The directory `dir` contains `data`, which is the root "data", `cache`, and
 * other files of the test. It is deleted when the sandbox is closed. */
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

/* The absolute path of `path` in the sandbox; valid during the next three calls
 * of functions of this file. */
const char *sandbox_path(const struct sandbox *sb, const char *path);

/* Make a file in the sandbox, and the directories above it. */
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

/* Append parts of a tar file. */
void tar_header(
    struct fby_buffer *tar, const char *name, char type, uint64_t size);
void tar_payload(struct fby_buffer *tar, const void *data, size_t size);
void tar_file(struct fby_buffer *tar, const char *name, const char *text);
void tar_pax(struct fby_buffer *tar, const char *key, const char *value);
void tar_end(struct fby_buffer *tar);
/* Compute the checksum of a header again after a change. */
void tar_sum(uint8_t *header);

/* Write the tar to `path` and free it. */
void sandbox_tar(
    const struct sandbox *sb, const char *path, struct fby_buffer *tar);

/* Write a shard of samples first .. first + n - 1. The members jpg and cls
 * contain the number of the sample. */
void sandbox_shard(
    const struct sandbox *sb, const char *path, unsigned first, unsigned n);

/* The source that a worker opens at "data:...", with the sandbox's cache. */
struct fby_dataset_spec sandbox_source(
    const struct sandbox *sb, enum fby_source_kind kind, const char *pattern);
struct fby_dataset_spec sandbox_shards(
    const struct sandbox *sb, const char *pattern);
struct fby_dataset_spec sandbox_folder(
    const struct sandbox *sb, const char *path);

/* Open a dataset; fails the test on an error. */
struct fby_dataset *sandbox_dataset(const struct fby_dataset_spec *spec);

/* Assert that opening fails with `err` and these words. */
void sandbox_refuses(
    const struct fby_dataset_spec *spec, fby_err err, const char *words);

/* The number of shards whose manifest comes from the cache. */
uint32_t sandbox_reused(const struct fby_dataset_spec *spec);

#endif
