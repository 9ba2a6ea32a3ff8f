/* SPDX-License-Identifier: Apache-2.0 */
/* The table at the end of a pull. */
#include "cli/pull/report.h"

#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

static struct fby_report example(void)
{
    struct fby_report report = {
        .stats =
            {
                .images     = 600,
                .steps      = 10,
                .raw_bytes  = 90000000,
                .wire_bytes = 63000000,
                .wait_ns    = 500000000,
                .n_stages   = 3,
                .stages =
                    {
                        {"worker.transform", 3000000000},
                        {"worker.wait", 9000000000},
                        {"client.expand", 1000000000},
                    },
            },
        .noun    = "image",
        .seconds = 2,
        .digest  = "00112233445566778899aabbccddeeff",
        .token   = "fby1-x",
    };
    return report;
}

static char *text_of(const struct fby_report *report,
    void (*print)(const struct fby_report *, FILE *))
{
    char  *text = NULL;
    size_t size = 0;
    FILE  *out  = open_memstream(&text, &size);
    assert_non_null(out);
    print(report, out);
    assert_int_equal(fclose(out), 0);
    return text;
}

static char *table_of(const struct fby_report *report)
{
    return text_of(report, fby_report_table);
}

static char *json_of(const struct fby_report *report)
{
    return text_of(report, fby_report_json);
}

static void assert_has(const char *text, const char *line)
{
    if (strstr(text, line) == NULL) {
        fail_msg("no '%s' in\n%s", line, text);
    }
}

static void rates_are_of_the_run_and_sizes_of_an_image(void **state)
{
    (void)state;
    struct fby_report report = example();
    char             *text   = table_of(&report);
    assert_has(text, "300.0 images/s\n");
    assert_has(text, "45.0 MB/s     150000 bytes per image\n");
    assert_has(text, "31.5 MB/s     105000 bytes per image, 70 %\n");
    assert_has(text,
        "0.50 s            25 % of the time: no model runs (see --step-ms)\n");
    free(text);
    report.has_model = true;
    text             = table_of(&report);
    assert_has(text, "25 % of the time\n");
    free(text);
}

static void the_noun_is_that_of_the_samples(void **state)
{
    (void)state;
    struct fby_report report = example();
    report.noun              = "sequence";
    report.stats.images      = 1;
    char *text               = table_of(&report);
    assert_has(text, "delivered          1 sequence in 10 steps, 2.00 s\n");
    assert_has(text, "0.5 sequences/s\n");
    assert_has(text, "bytes per sequence\n");
    assert_null(strstr(text, "image"));
    free(text);
}

static void one_byte_is_in_the_singular(void **state)
{
    (void)state;
    struct fby_report report = example();
    report.stats.raw_bytes   = report.stats.images;
    report.stats.wire_bytes  = report.stats.images;
    char *text               = table_of(&report);
    assert_has(text, " 1 byte per image\n");
    assert_has(text, " 1 byte per image, 100 %\n");
    free(text);
}

static void waiting_is_no_share_of_the_work(void **state)
{
    (void)state;
    struct fby_report report = example();
    char             *text   = table_of(&report);
    assert_has(text, "4.00 s, by stage:\n");
    assert_has(text, "3.00 s            75 %\n");
    assert_has(text, "1.00 s            25 %\n");
    assert_has(text, "9.00 s that batches spent queued\n");
    free(text);
}

static void a_gpu_is_named_and_has_no_digest_that_was_not_asked_for(
    void **state)
{
    (void)state;
    struct fby_report report = example();
    report.device            = (DLDevice){kDLCUDA, 1};
    report.digest[0]         = '\0';
    char *text               = table_of(&report);
    char *json               = json_of(&report);
    assert_has(text, "device             cuda:1\n");
    assert_has(
        text, "digest             not computed; --digests FILE computes it\n");
    assert_has(json, "\"device\": \"cuda:1\"");
    assert_has(json, "\"digest\": null");
    free(text);
    free(json);
}

static void the_host_is_named_to_programs_alone(void **state)
{
    (void)state;
    struct fby_report report = example();
    report.device            = (DLDevice){kDLCPU, 0};
    char *text               = table_of(&report);
    char *json               = json_of(&report);
    assert_null(strstr(text, "device"));
    assert_has(json, "\"device\": \"host\"");
    assert_has(json, "\"digest\": \"00112233445566778899aabbccddeeff\"");
    free(text);
    free(json);
}

static void audits_are_named_where_there_are_any(void **state)
{
    (void)state;
    struct fby_report report = example();
    char             *text   = table_of(&report);
    assert_null(strstr(text, "audited"));
    free(text);
    report.stats.audits         = 7;
    report.stats.audits_skipped = 2;
    text                        = table_of(&report);
    assert_has(text, "audited            7 steps, 2 skipped\n");
    free(text);
}

static void a_run_without_a_batch_divides_by_nothing(void **state)
{
    (void)state;
    struct fby_report report = {.noun = "image", .token = ""};
    char             *text   = table_of(&report);
    assert_has(text, "0.0 images/s\n");
    assert_null(strstr(text, "nan"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_are_of_the_run_and_sizes_of_an_image),
        cmocka_unit_test(the_noun_is_that_of_the_samples),
        cmocka_unit_test(one_byte_is_in_the_singular),
        cmocka_unit_test(waiting_is_no_share_of_the_work),
        cmocka_unit_test(
            a_gpu_is_named_and_has_no_digest_that_was_not_asked_for),
        cmocka_unit_test(the_host_is_named_to_programs_alone),
        cmocka_unit_test(audits_are_named_where_there_are_any),
        cmocka_unit_test(a_run_without_a_batch_divides_by_nothing),
    };
    return cmocka_run_group_tests_name("cli.report", tests, NULL, NULL);
}
