/* SPDX-License-Identifier: Apache-2.0 */
/* Pipeline files on disk, and the number of bytes that are read. */
#include "tests/test.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/mem.h"
#include "pipeline/parse.h"

static const char smallest[] =
    "forebay: 1\nsplits: {train: {folder: /data}}\n"
    "global_batch: 2\nfields: {label: {from: folder}}\n#";

/* Load a file of `size` bytes: `smallest`, and a comment to its end. */
static fby_err load_of(size_t size, struct fby_error_detail *why)
{
    char                 path[] = "/tmp/fby-parse-XXXXXX";
    int                  fd     = mkstemp(path);
    char                *text   = fby_zalloc(size);
    struct fby_pipeline *p      = NULL;
    memset(text, 'x', size);
    for (size_t i = 0; smallest[i] != '\0'; i++) {
        text[i] = smallest[i];
    }
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, size), (ssize_t)size);
    close(fd);
    fby_err err = fby_pipeline_load(path, &p, why);
    fby_pipeline_destroy(&p);
    unlink(path);
    free(text);
    if (err == FBY_OK) {
        assert_string_equal(why->text, "");
    }
    return err;
}

static void a_file_of_exactly_one_mebibyte_is_taken(void **state)
{
    (void)state;
    struct fby_error_detail why = {{0}};
    assert_ok(load_of(16384, &why)); /* as much as is read at once */
    assert_ok(load_of(16385, &why));
    assert_ok(load_of(FBY_PIPELINE_MAX_BYTES - 1, &why));
    assert_ok(load_of(FBY_PIPELINE_MAX_BYTES, &why));
    assert_int_equal(load_of(FBY_PIPELINE_MAX_BYTES + 1, &why), FBY_CONFIG);
    assert_non_null(strstr(
        why.text, ": 1048577 bytes; a pipeline file has at most 1048576"));
    assert_int_equal(
        load_of(3 * (size_t)FBY_PIPELINE_MAX_BYTES, &why), FBY_CONFIG);
    assert_non_null(
        strstr(why.text, "bytes; a pipeline file has at most 1048576"));
}

enum { ENDLESS = 8 << 20 /* bytes, more than may be read */ };

struct writer {
    int    fd;
    size_t written;
};

static void *write_endlessly(void *arg)
{
    struct writer *writer = arg;
    char           piece[4096];
    memset(piece, '#', sizeof(piece));
    while (writer->written < ENDLESS &&
           write(writer->fd, piece, sizeof(piece)) > 0) {
        writer->written += sizeof(piece);
    }
    close(writer->fd);
    return NULL;
}

static void only_the_beginning_of_an_endless_pipe_is_read(void **state)
{
    (void)state;
    struct fby_pipeline    *p   = NULL;
    struct fby_error_detail why = {{0}};
    struct writer           writer;
    pthread_t               thread;
    int                     ends[2];
    char                    path[32];
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
    writer = (struct writer){.fd = ends[1]};
    assert_int_equal(
        pthread_create(&thread, NULL, write_endlessly, &writer), 0);
    assert_int_equal(fby_pipeline_load(path, &p, &why), FBY_CONFIG);
    close(ends[0]); /* the last reader: a writer gets EPIPE from here on */
    pthread_join(thread, NULL);
    assert_in_range(writer.written, FBY_PIPELINE_MAX_BYTES + 1, ENDLESS / 2);
    assert_non_null(
        strstr(why.text, "bytes; a pipeline file has at most 1048576"));
}

static void a_file_that_cannot_be_read_is_named(void **state)
{
    (void)state;
    struct fby_pipeline    *p   = NULL;
    struct fby_error_detail why = {{0}};
    assert_int_equal(fby_pipeline_load("/", &p, &why), FBY_IO);
    assert_string_equal(
        why.text, "/: cannot read the pipeline file: Is a directory");
    assert_int_equal(fby_pipeline_load("/nowhere/p.yaml", &p, &why), FBY_IO);
    assert_string_equal(why.text,
        "/nowhere/p.yaml: cannot read the pipeline file: No such file or "
        "directory");
    assert_null(p);
}

/* The folder that a file's relative paths lie in. */
static void assert_folder(const char *path, const char *wanted)
{
    struct fby_pipeline    *p     = NULL;
    struct fby_split       *split = NULL;
    struct fby_error_detail why   = {{0}};
    char                    data[PATH_MAX + 8];
    snprintf(data, sizeof(data), "%s/x", wanted);
    assert_ok(fby_pipeline_load(path, &p, &why));
    assert_ok(fby_pipeline_make_split(p, NULL, &split, &why));
    assert_string_equal(split->location.pattern, data);
    fby_split_destroy(&split);
    fby_pipeline_destroy(&p);
}

static void a_file_s_folder_is_the_real_one(void **state)
{
    (void)state;
    static const char text[] = "forebay: 1\nsplits: {train: {folder: x}}\n"
                               "global_batch: 2\nfields: {l: {from: folder}}\n";
    char              dir[]  = "/tmp/fby-parse-XXXXXX";
    char              real[PATH_MAX];
    char              sub[PATH_MAX + 8];
    int               here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_non_null(mkdtemp(dir));
    assert_non_null(realpath(dir, real));
    assert_int_equal(chdir(dir), 0);
    FILE *file = fopen("p.yaml", "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(mkdir("sub", 0777) + symlink("../p.yaml", "sub/q.yaml") +
                         symlink("sub", "link"),
        0);
    snprintf(sub, sizeof(sub), "%s/sub", real);
    assert_folder("p.yaml", real);
    assert_folder("./p.yaml", real);
    assert_folder("sub/../p.yaml", real);
    assert_folder("sub/q.yaml", sub); /* where the link is */
    assert_folder("link/q.yaml", sub);
    assert_int_equal(
        unlink("sub/q.yaml") + unlink("link") + rmdir("sub") + unlink("p.yaml"),
        0);
    assert_int_equal(fchdir(here), 0);
    close(here);
    rmdir(dir);
}

static void a_file_without_a_folder_starts_at_the_current_one(void **state)
{
    (void)state;
    static const char    text[] = "forebay: 1\nsplits: {train: {folder: x}}\n"
                                  "global_batch: 2\nfields: {l: {from: folder}}\n";
    struct fby_pipeline *p      = NULL;
    struct fby_split    *split  = NULL;
    struct fby_error_detail why = {{0}};
    char                    data[PATH_MAX + 8];
    int                     ends[2];
    assert_non_null(getcwd(data, PATH_MAX));
    size_t used = strlen(data);
    snprintf(data + used, sizeof(data) - used, "/x");
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, strlen(text)), strlen(text));
    close(ends[1]);
    assert_ok(fby_pipeline_read(ends[0], "standard input", &p, &why));
    assert_ok(fby_pipeline_make_split(p, NULL, &split, &why));
    assert_string_equal(split->location.pattern, data);
    fby_split_destroy(&split);
    fby_pipeline_destroy(&p);
    assert_int_equal(
        fby_pipeline_read(ends[0], "standard input", &p, &why), FBY_CONFIG);
    assert_int_equal(strncmp(why.text, "standard input:", 15), 0);
    close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_of_exactly_one_mebibyte_is_taken),
        cmocka_unit_test(only_the_beginning_of_an_endless_pipe_is_read),
        cmocka_unit_test(a_file_that_cannot_be_read_is_named),
        cmocka_unit_test(a_file_s_folder_is_the_real_one),
        cmocka_unit_test(a_file_without_a_folder_starts_at_the_current_one),
    };
    return cmocka_run_group_tests_name("pipeline.load", tests, NULL, NULL);
}
