/* SPDX-License-Identifier: Apache-2.0 */
/* The ops that a device gets for a list: the stages of a field, and for each
 * row exactly the draws of its ops. */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/device_ops.h"
#include "pipeline/parse.h"
#include "pipeline/plan/beta.h"
#include "trainer_client/expand/ops_draw.h"

enum { ROWS = 19, FIRST = 32, HEIGHT = 50, WIDTH = 40 };

static struct fby_split *split_of(const char *list)
{
    static const char text[] =
        "forebay: 1\n"
        "splits: {train: {folder: photos}}\n"
        "global_batch: 64\n"
        "fields:\n"
        "  image:\n"
        "    from: jpg\n"
        "    ops: [{random_resized_crop: {size: [%d, %d]}}]\n"
        "    device: [%s]\n"
        "    out: {dtype: f32, layout: chw}\n"
        "  label: {from: folder, one_hot: {classes: 10}}\n";
    char                    yaml[1024];
    struct fby_error_detail why      = {{0}};
    struct fby_pipeline    *pipeline = NULL;
    struct fby_split       *split    = NULL;
    snprintf(yaml, sizeof(yaml), text, HEIGHT, WIDTH, list);
    struct fby_pipeline_text in = {yaml, strlen(yaml), "p.yaml", "/data"};
    if (fby_pipeline_parse(&in, &pipeline, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
    assert_ok(fby_pipeline_make_split(pipeline, NULL, &split, &why));
    fby_pipeline_destroy(&pipeline);
    return split;
}

/* ---- plans --------------------------------------------------------------- */

static void a_plan_has_the_sizes_and_the_stages_of_its_list(void **state)
{
    (void)state;
    struct fby_split *split =
        split_of("{random_erasing: {value: [0.25, 0.5, 1]}}, horizontal_flip, "
                 "{normalize: {mean: [0.1, 0.2, 0.3], std: [0.4, 0.5, 0.6]}}, "
                 "{mixup: {label: label}}");
    struct fby_ops_plan plan = fby_ops_plan_of(&split->content.fields[0]);
    assert_int_equal(plan.width, WIDTH);
    assert_int_equal(plan.height, HEIGHT);
    assert_int_equal(plan.n_stages, 2);
    assert_int_equal(plan.stages[0], FBY_OPS_ERASE);
    assert_int_equal(plan.stages[1], FBY_OPS_NORMALIZE);
    assert_int_equal(plan.plain, 0);
    assert_int_equal(plan.normalized, 1);
    const float value[] = {0.25F, 0.5F, 1.0F};
    const float mean[]  = {0.1F, 0.2F, 0.3F};
    const float std[]   = {0.4F, 0.5F, 0.6F};
    assert_memory_equal(plan.erase_value, value, sizeof(value));
    assert_memory_equal(plan.mean, mean, sizeof(mean));
    assert_memory_equal(plan.std, std, sizeof(std));
    fby_split_destroy(&split);
}

static void a_plan_is_plain_with_flips_and_normalize_alone(void **state)
{
    (void)state;
    static const struct {
        const char *list;
        uint32_t    plain, stages;
    } cases[] = {
        {"horizontal_flip, vertical_flip", 1, 0},
        {"{normalize: {mean: 0, std: 1}}, vertical_flip", 1, 1},
        {"{random_erasing: {p: 1}}, vertical_flip", 0, 1},
        {"vertical_flip, {random_erasing: {p: 1}}", 0, 1},
        {"{colour_jitter: {hue: 0.1}}", 0, 1},
        {"vertical_flip, {mixup: {label: label}}", 0, 0},
        {"{colour_jitter: {hue: 0.1}}, {random_erasing: {p: 1}}, {normalize: "
         "{mean: 0, std: 1}}",
            0, 3},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fby_split   *split = split_of(cases[i].list);
        struct fby_ops_plan plan  = fby_ops_plan_of(&split->content.fields[0]);
        assert_int_equal(plan.plain, cases[i].plain);
        assert_int_equal(plan.n_stages, cases[i].stages);
        assert_int_equal(
            plan.normalized, strstr(cases[i].list, "normalize") != NULL);
        fby_split_destroy(&split);
    }
}

/* ---- rows ---------------------------------------------------------------- */

struct drawn {
    struct fby_split  *split;
    uint64_t           samples[ROWS];
    struct fby_ops_row rows[ROWS];
};

static struct drawn draw(const char *list)
{
    struct drawn self = {.split = split_of(list)};
    for (uint64_t r = 0; r < ROWS; r++) {
        self.samples[r] = 1000 + r * r;
    }
    memset(self.rows, 0xa5, sizeof(self.rows));
    const struct fby_ops_batch batch = {.seed = 3,
        .epoch                                = 4,
        .step                                 = 5,
        .first_row                            = FIRST,
        .rows                                 = ROWS,
        .own                                  = ROWS - 1,
        .samples                              = self.samples};
    fby_ops_draw(&self.split->content.fields[0], &batch, self.rows);
    return self;
}

/* The draw of op `i` for row `r`, from fby_device_draw_plan. */
static struct fby_op_plan plan_of(
    const struct drawn *self, uint32_t i, uint32_t r)
{
    const struct fby_device_row place = {.seed = 3,
        .epoch                                 = 4,
        .step                                  = 5,
        .row                                   = FIRST + r,
        .sample                                = self->samples[r]};
    return fby_device_draw_plan(&self->split->content.fields[0], i, &place);
}

static void steps_of_jitter_keep_their_order_and_factors(void **state)
{
    (void)state;
    static const char list[] = "{colour_jitter: {brightness: 0.4, contrast: "
                               "[0.5, 2], saturation: 0.3, hue: 0.1}}";
    struct drawn      all    = draw(list);
    uint32_t          firsts = 0;
    for (uint32_t r = 0; r < ROWS; r++) {
        struct fby_op_plan        plan = plan_of(&all, 0, r);
        const struct fby_ops_row *row  = &all.rows[r];
        assert_int_equal(plan.n_steps, 4);
        assert_int_equal(row->n_jitter, 4);
        for (uint32_t k = 0; k < 4; k++) {
            double factor = (double)plan.steps[k].v[0] / 65536.0;
            assert_int_equal(row->jitter[k], plan.steps[k].kind);
            assert_true(row->factor[k] == (float)factor);
            assert_true(factor != 0.0);
        }
        firsts |= UINT32_C(1) << row->jitter[0];
        assert_int_equal(row->pair, FBY_OPS_ALONE);
        assert_int_equal(row->erase.right, 0);
    }
    assert_int_equal(firsts, 0xf0); /* each kind was the first */
    fby_split_destroy(&all.split);
}

static struct fby_ops_box box_of(const int64_t v[4])
{
    struct fby_ops_box box = {.left = (uint32_t)v[0], .top = (uint32_t)v[1]};
    box.right              = box.left + (uint32_t)v[2];
    box.bottom             = box.top + (uint32_t)v[3];
    return box;
}

static void assert_box(struct fby_ops_box got, struct fby_ops_box right)
{
    assert_int_equal(got.left, right.left);
    assert_int_equal(got.top, right.top);
    assert_int_equal(got.right, right.right);
    assert_int_equal(got.bottom, right.bottom);
}

/* Each flip turns what was erased before it, and nothing erased after it. */
static void a_box_is_turned_by_each_flip_behind_it(void **state)
{
    (void)state;
    struct drawn all  = draw("horizontal_flip, {random_erasing: {p: 0.7}}, "
                              "vertical_flip");
    uint32_t     seen = 0;
    for (uint32_t r = 0; r < ROWS; r++) {
        struct fby_op_plan erasing = plan_of(&all, 1, r);
        bool               across  = plan_of(&all, 0, r).flip;
        bool               over    = plan_of(&all, 2, r).n_steps > 0;
        struct fby_ops_box box     = {0};
        if (erasing.n_steps > 0) {
            box = box_of(erasing.steps[0].v);
        }
        if (erasing.n_steps > 0 && over) {
            uint32_t top = box.top;
            box.top      = HEIGHT - box.bottom;
            box.bottom   = HEIGHT - top;
        }
        assert_int_equal(all.rows[r].mirror_x, across);
        assert_int_equal(all.rows[r].mirror_y, over);
        assert_box(all.rows[r].erase, box);
        seen |= UINT32_C(1) << ((across ? 1U : 0U) + (over ? 2U : 0U) +
                                4 * erasing.n_steps);
    }
    assert_int_equal(seen & 0xf0, 0xf0); /* erased, in all four positions */
    assert_true((seen & 0x0f) != 0);
    fby_split_destroy(&all.split);
}

/* ---- pairs --------------------------------------------------------------- */

static void shares_of_mixup_are_those_of_its_labels(void **state)
{
    (void)state;
    struct drawn all = draw("{mixup: {alpha: 1, label: label}}");
    for (uint32_t r = 0; r < ROWS; r++) {
        const struct fby_ops_row *row    = &all.rows[r];
        int64_t                   lambda = plan_of(&all, 0, r).steps[0].v[0];
        double                    share  = (double)lambda / FBY_LAMBDA_ONE;
        assert_int_equal(row->pair, FBY_OPS_MIXUP);
        assert_true((double)row->share == share);
        assert_true((double)row->partner_share == 1.0 - share);
        assert_true((double)row->label_share == share);
        assert_true((double)row->label_partner_share == 1.0 - share);
        assert_int_equal(row->partner, fby_pair_partner(r, ROWS - 1, ROWS));
        assert_box(row->cut, (struct fby_ops_box){0});
    }
    fby_split_destroy(&all.split);
}

static void labels_of_cutmix_are_mixed_as_areas_are(void **state)
{
    (void)state;
    struct drawn all = draw("{cutmix: {label: label}}");
    for (uint32_t r = 0; r < ROWS; r++) {
        const struct fby_ops_row *row  = &all.rows[r];
        struct fby_op_plan        plan = plan_of(&all, 0, r);
        const int64_t            *v    = plan.steps[0].v;
        double rest = (double)(v[2] * v[3]) / (HEIGHT * WIDTH);
        assert_int_equal(row->pair, FBY_OPS_CUTMIX);
        assert_box(row->cut, box_of(v));
        assert_true(v[2] != v[3] && rest > 0);
        assert_true(row->label_share == (float)(1.0 - rest));
        assert_true(row->label_partner_share == (float)(1.0 - (1.0 - rest)));
        assert_int_equal(row->partner, fby_pair_partner(r, ROWS - 1, ROWS));
        assert_true(row->share == 0 && row->partner_share == 0);
    }
    fby_split_destroy(&all.split);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_has_the_sizes_and_the_stages_of_its_list),
        cmocka_unit_test(a_plan_is_plain_with_flips_and_normalize_alone),
        cmocka_unit_test(steps_of_jitter_keep_their_order_and_factors),
        cmocka_unit_test(a_box_is_turned_by_each_flip_behind_it),
        cmocka_unit_test(shares_of_mixup_are_those_of_its_labels),
        cmocka_unit_test(labels_of_cutmix_are_mixed_as_areas_are),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.ops_draw", tests, NULL, NULL);
}
