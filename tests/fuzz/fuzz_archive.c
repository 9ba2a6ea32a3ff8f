/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_archive.c - any bytes as a zip archive of files: an error, or files that
 * can be listed and read, all of them or a part.
 *
 * The bytes are a file of a root, so that all steps run: the directory, its
 * checks, listing, headers of entries, inflating. */
#include <string.h>

#include "tests/fuzz/input_file.h"
#include "worker/source/listing.h"
#include "worker/source/object.h"
#include "worker/source/zip/archive.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_READ = 1 << 20, MAX_DEPTH = 4, MAX_FILES = 64 };

static uint8_t  whole[MAX_READ];
static uint8_t  part[MAX_READ];
static unsigned n_files;

/* Read a file whole, and from its middle on: the same bytes, unless the sum is
 * wrong, which only a whole read checks. */
static void read_file(const struct fby_root *root, const char *path,
    const struct fby_stamp *listed)
{
    struct fby_object object;
    struct fby_stamp  stamp;
    demand(
        fby_object_open_stamped(root, path, &object, &stamp, NULL) == FBY_OK);
    demand(fby_stamps_equal(&stamp, listed, 1));
    size_t  n   = sizeof(whole);
    fby_err err = fby_object_read_some(&object, 0, whole, &n, NULL);
    demand(err == FBY_OK || err == FBY_BAD_SAMPLE);
    if (err == FBY_OK) {
        demand(n == sizeof(whole) || n == stamp.size);
        size_t left = n - n / 2;
        demand(fby_object_read(&object, n / 2, part, left, NULL) == FBY_OK);
        demand(memcmp(part, whole + n / 2, left) == 0);
    }
    fby_object_close(&object);
}

static void visit(const struct fby_root *root, const char *path, unsigned depth)
{
    struct fby_listing listing = {0};
    fby_err            err = fby_listing_read(root, path, NULL, &listing, NULL);
    demand(err == FBY_OK || err == FBY_CONFIG || depth == 0);
    for (uint32_t i = 0; err == FBY_OK && i < listing.count; i++) {
        const struct fby_entry *entry = &listing.entries[i];
        char                    below[FBY_PATH_SIZE];
        demand(strchr(entry->name, '/') == NULL && entry->name[0] != '.');
        if (fby_path_join(path, entry->name, below, NULL) != FBY_OK) {
            continue; /* a long name beneath the name of the archive */
        }
        if (entry->is_dir && depth < MAX_DEPTH) {
            visit(root, below, depth + 1);
        } else if (!entry->is_dir && n_files++ < MAX_FILES) {
            read_file(root, below, &entry->stamp);
        }
    }
    fby_listing_fini(&listing);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct fby_root  *root    = set_input_file("a.zip", data, size);
    struct fby_archive     *archive = NULL;
    struct fby_error_detail why     = {{0}};
    fby_err err = fby_archive_open(root, "a.zip", NULL, &archive, &why);
    demand((err == FBY_OK) == (why.text[0] == '\0'));
    demand((err == FBY_OK) == (archive != NULL));
    n_files = 0;
    if (err == FBY_OK) {
        visit(fby_archive_root(archive), "a.zip", 0);
    }
    fby_archive_destroy(&archive);
    return 0;
}
