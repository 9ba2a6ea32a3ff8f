/* END is believed only if it is of the batch that was asked for. */
#include "trainer_client/assembly.h"

#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "tests/test.h"

enum { ROWS = 3 };

static const uint64_t numbers[ROWS] = {70, 7, 700};

struct answer {
    struct fby_content *content;
    struct fby_assembly assembly;
    struct fby_sum      sum;
    struct fby_end      end;
};

/* All chunks of three labels are there, and END is on its way. */
static void begin(struct answer *a, uint32_t n_bounds)
{
    struct fby_why why = {{0}};
    *a = (struct answer){.content = fby_zalloc(sizeof(*a->content))};
    a->content->n_fields            = 1;
    a->content->global_batch        = 8;
    a->content->bucket_by.n_bounds  = n_bounds;
    a->content->fields[0].decode    = FBY_DECODE_LABEL;
    a->content->fields[0].wire_type = FBY_U16;
    strcpy(a->content->fields[0].name, "label");
    const struct fby_wanted wanted = {
        .rows = ROWS, .content = a->content, .selected = 1};
    fby_assembly_init(&a->assembly, 1);
    assert_ok(fby_assembly_begin(&a->assembly, &wanted, &why));
    a->sum = fby_field_sum(&a->assembly.layout, 0, a->assembly.sent);
    a->end = (struct fby_end){.sums = &a->sum, .n_sums = 1};
}

static void done(struct answer *a)
{
    fby_assembly_fini(&a->assembly);
    free(a->content);
}

static void with_buckets_end_says_which_samples_the_rows_are(void **state)
{
    (void)state;
    struct answer  a;
    struct fby_why why = {{0}};
    begin(&a, 1);
    for (size_t n = 0; n < ROWS; n++) {
        a.end.samples   = numbers;
        a.end.n_samples = n;
        assert_false(fby_assembly_end(&a.assembly, &a.end, &why));
    }
    assert_string_equal(why.text, "END: 2 samples named, but they are 3");
    a.end.n_samples = ROWS;
    assert_true(fby_assembly_end(&a.assembly, &a.end, &why));
    assert_memory_equal(a.assembly.samples, numbers, sizeof(numbers));
    done(&a);
}

static void without_buckets_it_must_not(void **state)
{
    (void)state;
    struct answer  a;
    struct fby_why why = {{0}};
    begin(&a, 0);
    a.end.samples   = numbers;
    a.end.n_samples = ROWS;
    assert_false(fby_assembly_end(&a.assembly, &a.end, &why));
    a.end.n_samples = 0;
    assert_true(fby_assembly_end(&a.assembly, &a.end, &why));
    assert_null(a.assembly.samples);
    done(&a);
}

/* Two workers that plan other rows do not pass for equal. */
static void the_samples_are_part_of_what_two_answers_are_compared_by(
    void **state)
{
    (void)state;
    struct answer  a;
    const uint64_t others[ROWS] = {70, 7, 701};
    begin(&a, 1);
    a.end.n_samples    = ROWS;
    a.end.samples      = numbers;
    struct fby_sum one = fby_end_content(&a.end);
    a.end.samples      = others;
    struct fby_sum two = fby_end_content(&a.end);
    assert_memory_not_equal(&one, &two, sizeof(one));
    done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_buckets_end_says_which_samples_the_rows_are),
        cmocka_unit_test(without_buckets_it_must_not),
        cmocka_unit_test(
            the_samples_are_part_of_what_two_answers_are_compared_by),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
