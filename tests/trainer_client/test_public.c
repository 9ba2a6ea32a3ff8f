/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the public header on a stream and its batches, at the limits of
 * their arguments and for callers of other versions. */
#include "tests/trainer_client/rig.h"

#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 16, MORE = 24 };

/* ---- The heap ------------------------------------------------------------ */

/* A block of 8 MiB, far above glibc's first threshold, is not mapped by itself
 * while a stream is open. So the kernel need not clear pages for messages. It
 * must be the first test: the threshold stays for the process. */
static void blocks_as_large_as_messages_stay_on_the_heap(void **state)
{
    (void)state;
    struct rig rig;
    rig_begin(&rig, SIZE, "drop");
    rig_add(&rig, (struct fake_behaviour){0});
    rig_open(&rig);
    size_t mapped        = mallinfo2().hblks;
    void *volatile block = malloc(8 << 20);
    assert_non_null(block);
    assert_int_equal(mallinfo2().hblks, mapped);
    free(block);
    rig_end(&rig);
}

/* ---- Structs of other versions ------------------------------------------- */

typedef enum forebay_status tell_fn(const struct forebay *stream, void *out);

static enum forebay_status tell_info(const struct forebay *stream, void *out)
{
    return forebay_info(stream, out);
}

static enum forebay_status tell_stats(const struct forebay *stream, void *out)
{
    return forebay_stats(stream, out);
}

/* Into a struct of `given` bytes, what one of `size` has; the rest of it zeros,
 * and nothing behind it. */
static void check_told(
    const struct forebay *stream, tell_fn *tell, size_t size, size_t given)
{
    uint8_t *whole = calloc(1, size + MORE);
    uint8_t *part  = malloc(size + 2 * (size_t)MORE);
    size_t   both  = given < size ? given : size;
    memset(part, 0xee, size + 2 * (size_t)MORE);
    memcpy(part, &given, sizeof(given));
    memcpy(whole, &size, sizeof(size));
    assert_int_equal(tell(stream, whole), FOREBAY_OK);
    assert_int_equal(tell(stream, part), FOREBAY_OK);
    assert_memory_equal(part, &given, sizeof(given));
    assert_memory_equal(
        part + sizeof(given), whole + sizeof(given), both - sizeof(given));
    for (size_t i = both; i < size + 2 * (size_t)MORE; i++) {
        assert_int_equal(part[i], i < given ? 0 : 0xee);
    }
    free(whole);
    free(part);
}

static void a_caller_gets_as_much_as_its_struct_holds(void **state)
{
    (void)state;
    struct rig rig;
    rig_stream(&rig, SIZE);
    rig_skip(&rig, 2);
    static const struct {
        tell_fn *tell;
        size_t   size;
    } calls[]                  = {{tell_info, sizeof(struct forebay_info)},
                         {tell_stats, sizeof(struct forebay_stats)}};
    struct forebay_batch *held = rig_next(&rig); /* all is quiet behind it */
    forebay_release(&held, NULL);
    for (uint32_t i = 0; i < 2; i++) {
        size_t size = calls[i].size;
        size_t few  = sizeof(size) - 1;
        assert_int_equal(calls[i].tell(rig.stream, &few), FOREBAY_USAGE);
        check_told(rig.stream, calls[i].tell, size, sizeof(size));
        check_told(rig.stream, calls[i].tell, size, sizeof(size) + 1);
        if (i == 0) { /* numbers of the other go on */
            check_told(rig.stream, calls[i].tell, size, size - 1);
            check_told(rig.stream, calls[i].tell, size, size);
            check_told(rig.stream, calls[i].tell, size, size + 1);
            check_told(rig.stream, calls[i].tell, size, size + MORE);
        }
    }
    rig_end(&rig);
}

static void held_batches_and_bytes_are_counted(void **state)
{
    (void)state;
    struct rig            rig;
    struct forebay_batch *held[3];
    uint64_t              bytes = 0;
    rig_stream(&rig, SIZE);
    for (uint32_t i = 0; i < 3; i++) {
        held[i]                    = rig_next(&rig);
        struct forebay_stats stats = rig_stats(&rig);
        bytes                      = i == 0 ? stats.held_bytes : bytes;
        assert_int_equal(stats.batches_held, i + 1);
        assert_int_equal(stats.held_bytes, (i + 1) * bytes);
        assert_int_equal(stats.overflow_batches, 0);
    }
    assert_true(bytes >= (uint64_t)RIG_BATCH * (SIZE * SIZE * 3 + 8));
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(forebay_release(&held[i], NULL), FOREBAY_OK);
        assert_null(held[i]);
        assert_int_equal(rig_stats(&rig).batches_held, 2 - i);
        assert_int_equal(forebay_release(&held[i], NULL), FOREBAY_OK);
    }
    rig_end(&rig);
}

static struct forebay_field field_of(const struct rig *rig, uint32_t i)
{
    struct forebay_field field = {.struct_size = sizeof(field)};
    assert_int_equal(forebay_field(rig->stream, i, &field), FOREBAY_OK);
    return field;
}

/* Compare the fields of the open stream with the tensors of its batches. */
static void assert_fields_are_those_of(
    const struct rig *rig, const struct forebay_batch *batch)
{
    for (uint32_t i = 0; i < forebay_batch_n_fields(batch); i++) {
        struct forebay_field field  = field_of(rig, i);
        const DLTensor      *tensor = forebay_batch_tensor(batch, i);
        assert_string_equal(field.name, forebay_batch_field_name(batch, i));
        assert_memory_equal(&field.dtype, &tensor->dtype, sizeof(field.dtype));
        assert_int_equal(field.n_dims, tensor->ndim);
        for (int32_t d = 0; d < field.n_dims; d++) {
            if (field.shape[d] != -1) {
                assert_int_equal(field.shape[d], tensor->shape[d]);
            }
        }
    }
}

static void the_fields_are_known_before_the_first_batch(void **state)
{
    (void)state;
    static const char *const last[] = {"pad", "drop", "short"};
    for (int i = 0; i < 3; i++) {
        struct rig rig;
        rig_begin(&rig, SIZE, last[i]);
        rig_add(&rig, (struct fake_behaviour){0});
        rig_open(&rig);
        struct forebay_field image = field_of(&rig, 0);
        assert_string_equal(image.source, "image");
        assert_int_equal(image.layout, FOREBAY_LAYOUT_HWC);
        assert_int_equal(image.as, 0);
        assert_int_equal(image.shape[0], i == 2 ? -1 : RIG_BATCH);
        assert_int_equal(image.shape[1], SIZE);
        assert_int_equal(field_of(&rig, 1).layout, 0);
        if (i == 0) {
            assert_string_equal(field_of(&rig, 2).name, "valid");
            assert_string_equal(field_of(&rig, 2).source, "");
        }
        assert_int_equal(
            forebay_field(rig.stream, i == 0 ? 3 : 2, &image), FOREBAY_USAGE);
        struct forebay_batch *batch = rig_next(&rig);
        assert_fields_are_those_of(&rig, batch);
        forebay_release(&batch, NULL);
        rig_end(&rig);
    }
}

static struct forebay_failure failure_of(const struct rig *rig)
{
    struct forebay_failure failure = {.struct_size = sizeof(failure)};
    assert_int_equal(forebay_failure(rig->stream, &failure), FOREBAY_OK);
    return failure;
}

static void a_failure_names_the_sample_and_the_worker(void **state)
{
    (void)state;
    struct rig rig;
    rig_begin(&rig, SIZE, "drop");
    rig_add(&rig, (struct fake_behaviour){.cannot = true});
    rig_open(&rig);
    assert_int_equal(failure_of(&rig).status, FOREBAY_OK);
    const char            *text    = rig_assert_next(&rig, FOREBAY_DATA);
    struct forebay_failure failure = failure_of(&rig);
    assert_int_equal(failure.status, FOREBAY_DATA);
    assert_string_equal(failure.text, text);
    assert_string_equal(failure.shard, "train-0.tar");
    assert_true(failure.has_sample);
    assert_int_equal(failure.sample, 7);
    assert_int_equal(failure.offset, 512);
    assert_non_null(strstr(failure.worker, "tcp://127.0.0.1:"));
    assert_string_equal(failure.file, "");
    rig_end(&rig);
}

static void a_failure_to_open_names_line_and_column_of_the_file(void **state)
{
    (void)state;
    struct rig             rig;
    struct forebay_failure failure = {.struct_size = sizeof(failure)};
    rig_begin(&rig, SIZE, "drop");
    rig.options.failure       = &failure;
    rig.options.pipeline_text = "forebay: 1\nglobal_batch: none\n";
    assert_int_equal(rig_try_open(&rig), FOREBAY_CONFIG);
    assert_int_equal(failure.status, FOREBAY_CONFIG);
    assert_string_equal(failure.text, rig.error);
    assert_string_equal(failure.file, "pipeline");
    assert_int_equal(failure.line, 2);
    assert_int_equal(failure.column, 15);
    rig.options.pipeline_text = rig.text;
    rig.options.rank          = 9; /* wrong, but not in the file */
    assert_int_equal(rig_try_open(&rig), FOREBAY_USAGE);
    assert_string_equal(failure.file, "");
    assert_int_equal(failure.line, 0);
    rig_end(&rig);
}

/* A struct of 0.1 ends where its sizeof says, with padding. */
static void members_of_0_2_are_behind_the_structs_of_0_1(void **state)
{
    (void)state;
    if (sizeof(void *) == 8) { /* sizes of 0.1 where pointers have 64 bits */
        assert_true(offsetof(struct forebay_options, caller_memory) >= 272);
        assert_true(offsetof(struct forebay_info, batch_bytes) >= 520);
        assert_true(offsetof(struct forebay_stats, batches_ready) >= 704);
    }
}

static void what_follows_the_options_of_a_caller_of_0_1_is_not_read(
    void **state)
{
    (void)state;
    struct rig             rig;
    struct forebay_failure behind = {.struct_size = sizeof(behind)};
    rig_begin(&rig, SIZE, "drop");
    rig.options.struct_size   = offsetof(struct forebay_options, caller_memory);
    rig.options.caller_memory = true;
    rig.options.failure       = &behind;
    rig.options.rank          = 9;
    assert_int_equal(rig_try_open(&rig), FOREBAY_USAGE);
    assert_int_equal(behind.status, FOREBAY_OK);
    assert_string_equal(behind.text, "");
    rig_end(&rig);
}

static uint32_t class_count(const struct rig *rig)
{
    struct forebay_info info = {.struct_size = sizeof(info)};
    assert_int_equal(forebay_info(rig->stream, &info), FOREBAY_OK);
    return info.n_classes;
}

static void classes_have_names_where_the_worker_sends_them(void **state)
{
    (void)state;
    static const char names[] = "ant\0b\xc3\xa9\0cow";
    struct rig        rig;
    rig_begin(&rig, SIZE, "drop");
    rig_add(&rig, (struct fake_behaviour){
                      .classes = names, .classes_size = sizeof(names)});
    for (uint32_t i = 0; i < 2; i++) { /* opened, and opened again */
        rig_open(&rig);
        assert_int_equal(class_count(&rig), 3);
        const char *first = forebay_class_name(rig.stream, 0);
        rig_skip(&rig, 2);
        assert_string_equal(first, "ant");
        assert_string_equal(forebay_class_name(rig.stream, 1), "b\xc3\xa9");
        assert_string_equal(forebay_class_name(rig.stream, 2), "cow");
        assert_null(forebay_class_name(rig.stream, 3));
        assert_null(forebay_class_name(rig.stream, UINT32_MAX));
        forebay_close(&rig.stream);
    }
    rig_end(&rig);
    rig_stream(&rig, SIZE); /* of a worker that sends none */
    assert_int_equal(class_count(&rig), 0);
    assert_null(forebay_class_name(rig.stream, 0));
    rig_end(&rig);
}

static void a_child_process_learns_no_name_of_a_class(void **state)
{
    (void)state;
    struct rig rig;
    int        status = 0;
    rig_begin(&rig, SIZE, "drop");
    rig_add(&rig, (struct fake_behaviour){.classes = "a", .classes_size = 2});
    rig_open(&rig);
    pid_t pid = fork();
    if (pid == 0) {
        _exit(forebay_class_name(rig.stream, 0) == NULL ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_string_equal(forebay_class_name(rig.stream, 0), "a");
    rig_end(&rig);
}

static void every_status_has_its_words(void **state)
{
    (void)state;
    static const char *const         words[] = {"ok", "ended", "nothing yet",
                "not allowed", "do not fit", "cannot be delivered", "too many",
                "child process", "refused", "ended the wait"};
    static const enum forebay_status all[]   = {FOREBAY_OK, FOREBAY_END,
          FOREBAY_TIMEOUT, FOREBAY_USAGE, FOREBAY_CONFIG, FOREBAY_DATA,
          FOREBAY_FULL, FOREBAY_FORKED, FOREBAY_SYSTEM, FOREBAY_INTERRUPTED};
    for (uint32_t i = 0; i < 10; i++) {
        assert_non_null(strstr(forebay_status_text(all[i]), words[i]));
    }
    assert_string_equal(
        forebay_status_text((enum forebay_status)(FOREBAY_INTERRUPTED + 1)),
        "unknown status");
    assert_string_equal(
        forebay_status_text((enum forebay_status) - 1), "unknown status");
}

static void the_error_of_open_fits_the_callers_buffer(void **state)
{
    (void)state;
    struct rig      rig;
    struct forebay *none = NULL;
    char            whole[512];
    char            few[8];
    char            kept = 'k';
    rig_begin(&rig, SIZE, "drop");
    rig.options.rank  = 5; /* of one */
    rig.options.world = 1;
    for (uint32_t i = 0; i < 4; i++) {
        char  *rooms[] = {whole, few, NULL, &kept};
        size_t sizes[] = {sizeof(whole), sizeof(few), 100, 0};
        none           = (struct forebay *)(void *)&rig;
        assert_int_equal(forebay_open(&rig.options, rooms[i], sizes[i], &none),
            FOREBAY_USAGE);
        assert_null(none);
    }
    assert_true(strlen(whole) > sizeof(few));
    assert_memory_equal(few, whole, sizeof(few) - 1);
    assert_int_equal(few[sizeof(few) - 1], '\0');
    assert_int_equal(kept, 'k');
    forebay_close(&none); /* none */
    rig_end(&rig);
}

/* ---- Tensors ------------------------------------------------------------- */

static void calls_beyond_the_last_find_nothing(void **state)
{
    (void)state;
    struct rig rig;
    uint8_t    digest[16];
    rig_begin(&rig, SIZE, "drop");
    rig.options.digests = false;
    rig_add(&rig, (struct fake_behaviour){.bad_row = 2});
    rig_open(&rig);
    struct forebay_batch *batch = rig_next(&rig);
    uint32_t              n     = forebay_batch_n_fields(batch);
    assert_int_equal(n, 2);
    assert_string_equal(forebay_batch_field_name(batch, n - 1), "label");
    assert_null(forebay_batch_field_name(batch, n));
    assert_non_null(forebay_batch_tensor(batch, n - 1));
    assert_null(forebay_batch_tensor(batch, n));
    assert_int_equal(forebay_batch_field(batch, "image"), 0);
    assert_int_equal(forebay_batch_field(batch, "label"), 1);
    assert_int_equal(forebay_batch_field(batch, "labels"), -1);
    assert_int_equal(forebay_batch_n_substitutions(batch), 1);
    assert_non_null(forebay_batch_substitution(batch, 0));
    assert_null(forebay_batch_substitution(batch, 1));
    assert_null(forebay_batch_digest(batch));
    assert_null(forebay_batch_sample_digests(batch));
    assert_int_equal(forebay_stream_digest(rig.stream, digest), FOREBAY_USAGE);
    forebay_release(&batch, NULL);
    rig_end(&rig);
}

static void check_view(const DLTensor *exported, const DLTensor *view)
{
    assert_ptr_equal(exported->data, view->data);
    assert_int_equal(exported->ndim, view->ndim);
    assert_int_equal(exported->dtype.code, view->dtype.code);
    assert_int_equal(exported->dtype.bits, view->dtype.bits);
    assert_int_equal(exported->dtype.lanes, 1);
    assert_int_equal(exported->byte_offset, 0);
    assert_ptr_equal(exported->shape, view->shape);
    assert_ptr_equal(exported->strides, view->strides);
}

static void tensors_are_exported_to_callers_that_know_the_version(void **state)
{
    (void)state;
    struct rig                rig;
    DLManagedTensorVersioned *tensor = NULL;
    DLManagedTensor          *legacy = NULL;
    rig_stream(&rig, SIZE);
    struct forebay_batch *batch = rig_next(&rig);
    assert_int_equal(
        forebay_batch_export(batch, 2, DLPACK_MAJOR_VERSION, &tensor),
        FOREBAY_USAGE);
    assert_int_equal(
        forebay_batch_export(batch, 1, DLPACK_MAJOR_VERSION - 1, &tensor),
        FOREBAY_USAGE);
    assert_int_equal(
        forebay_batch_export_legacy(batch, 2, &legacy), FOREBAY_USAGE);
    assert_true(tensor == NULL && legacy == NULL);
    for (uint32_t i = 0; i < 2; i++) {
        const DLTensor *view = forebay_batch_tensor(batch, i);
        assert_int_equal(
            forebay_batch_export(batch, i, DLPACK_MAJOR_VERSION + i, &tensor),
            FOREBAY_OK);
        assert_int_equal(
            forebay_batch_export_legacy(batch, i, &legacy), FOREBAY_OK);
        assert_int_equal(tensor->version.major, DLPACK_MAJOR_VERSION);
        assert_int_equal(tensor->version.minor, DLPACK_MINOR_VERSION);
        assert_int_equal(tensor->flags, 0);
        check_view(&tensor->dl_tensor, view);
        check_view(&legacy->dl_tensor, view);
        tensor->deleter(tensor);
        legacy->deleter(legacy);
    }
    assert_int_equal(rig_stats(&rig).batches_held, 1);
    assert_int_equal(forebay_batch_await(batch, NULL), FOREBAY_OK);
    forebay_release(&batch, NULL);
    assert_int_equal(rig_stats(&rig).batches_held, 0);
    rig_end(&rig);
}

/* A child's copies of its parent's tensors go without the batch. */
static void a_forked_child_may_drop_its_tensors(void **state)
{
    (void)state;
    struct rig                rig;
    int                       status = 0;
    DLManagedTensorVersioned *tensor = NULL;
    DLManagedTensor          *legacy = NULL;
    DLManagedTensor          *other  = NULL;
    rig_stream(&rig, SIZE);
    struct forebay_batch *batch = rig_next(&rig);
    assert_int_equal(forebay_batch_export(batch, 0, 1, &tensor), FOREBAY_OK);
    assert_int_equal(
        forebay_batch_export_legacy(batch, 0, &legacy), FOREBAY_OK);
    pid_t pid = fork();
    if (pid == 0) {
        bool told =
            forebay_batch_await(batch, NULL) == FOREBAY_FORKED &&
            forebay_batch_export_legacy(batch, 0, &other) == FOREBAY_FORKED;
        tensor->deleter(tensor);
        legacy->deleter(legacy);
        _exit(told && other == NULL ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    tensor->deleter(tensor);
    legacy->deleter(legacy);
    forebay_release(&batch, NULL);
    rig_end(&rig);
}

/* ---- DLPack types -------------------------------------------------------- */

static const struct {
    const char *dtype;
    uint8_t     code, bits;
} dtypes[] = {{"u8", kDLUInt, 8}, {"u16", kDLUInt, 16}, {"u32", kDLUInt, 32},
    {"i32", kDLInt, 32}, {"i64", kDLInt, 64}, {"f16", kDLFloat, 16},
    {"bf16", kDLBfloat, 16}, {"f32", kDLFloat, 32}, {"bool", kDLBool, 8}};

static void put_field_of_each_dtype(struct rig *rig)
{
    char *end   = strstr(rig->text, "fields:");
    char *limit = rig->text + sizeof(rig->text);
    end += snprintf(end, (size_t)(limit - end), "fields:\n");
    for (uint32_t i = 0; i < 9; i++) {
        end += snprintf(end, (size_t)(limit - end),
            "  %s: {from: %c.npy, decode: array, shape: [2, 3], wire: %s, "
            "out: {dtype: %s}}\n",
            dtypes[i].dtype, (char)('a' + i), i == 8 ? "bits" : "u8",
            dtypes[i].dtype);
    }
}

static void every_dtype_has_its_dlpack_name(void **state)
{
    (void)state;
    struct rig rig;
    rig_begin(&rig, SIZE, "pad");
    put_field_of_each_dtype(&rig);
    rig_add(&rig, (struct fake_behaviour){0});
    rig_open(&rig);
    struct forebay_batch *batch = rig_next(&rig);
    assert_int_equal(forebay_batch_n_fields(batch), 10);
    for (uint32_t i = 0; i < 10; i++) {
        bool    valid = i == 9;
        int32_t at =
            forebay_batch_field(batch, valid ? "valid" : dtypes[i].dtype);
        assert_true(at >= 0);
        const DLTensor *tensor = forebay_batch_tensor(batch, (uint32_t)at);
        assert_int_equal(tensor->dtype.code, dtypes[valid ? 8 : i].code);
        assert_int_equal(tensor->dtype.bits, dtypes[valid ? 8 : i].bits);
        assert_int_equal(tensor->dtype.lanes, 1);
        assert_int_equal(tensor->device.device_type, kDLCPU);
        assert_int_equal(tensor->device.device_id, 0);
        assert_int_equal(tensor->ndim, valid ? 1 : 3);
        assert_int_equal(tensor->shape[0], RIG_BATCH);
        assert_int_equal(tensor->strides[0], valid ? 1 : 6);
    }
    forebay_release(&batch, NULL);
    rig_end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_as_large_as_messages_stay_on_the_heap),
        cmocka_unit_test(a_caller_gets_as_much_as_its_struct_holds),
        cmocka_unit_test(held_batches_and_bytes_are_counted),
        cmocka_unit_test(the_fields_are_known_before_the_first_batch),
        cmocka_unit_test(a_failure_names_the_sample_and_the_worker),
        cmocka_unit_test(a_failure_to_open_names_line_and_column_of_the_file),
        cmocka_unit_test(members_of_0_2_are_behind_the_structs_of_0_1),
        cmocka_unit_test(
            what_follows_the_options_of_a_caller_of_0_1_is_not_read),
        cmocka_unit_test(classes_have_names_where_the_worker_sends_them),
        cmocka_unit_test(a_child_process_learns_no_name_of_a_class),
        cmocka_unit_test(every_status_has_its_words),
        cmocka_unit_test(the_error_of_open_fits_the_callers_buffer),
        cmocka_unit_test(calls_beyond_the_last_find_nothing),
        cmocka_unit_test(tensors_are_exported_to_callers_that_know_the_version),
        cmocka_unit_test(a_forked_child_may_drop_its_tensors),
        cmocka_unit_test(every_dtype_has_its_dlpack_name),
    };
    setenv("FOREBAY_TIME_DIVISOR", "10", 1);
    return cmocka_run_group_tests_name(
        "trainer_client.public", tests, NULL, NULL);
}
