/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_assembly.c - a hostile HEADER and END in the client's assembly of one
 * requested batch. The input is a byte (odd: the sums in END are corrected, so
 * that its substitutions are parsed), the size of HEADER as u16, HEADER, END.
 * The hashes of both messages are corrected. */
#include "tests/fuzz/sealed.h"
#include "trainer_client/receive/assembly.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CHUNKS = 64 };

static void fill_content(struct fby_content *content)
{
    *content = (struct fby_content){.n_fields = 3, .global_batch = 128};
    content->fields[0] = (struct fby_field_content){
        .name              = "image",
        .decode            = FBY_DECODE_RGB8,
        .wire_type         = FBY_U8,
        .shape             = {3, {224, 224, 3}},
        .as.rgb8.normalize = true,
        .as.rgb8.mean      = {0.485, 0.456, 0.406},
        .as.rgb8.std       = {0.229, 0.224, 0.225},
    };
    content->fields[1] = (struct fby_field_content){
        .name               = "label",
        .decode             = FBY_DECODE_LABEL,
        .wire_type          = FBY_U16,
        .as.label.one_hot   = true,
        .as.label.classes   = 1000,
        .as.label.smoothing = 0.1,
    };
    content->fields[2] = (struct fby_field_content){
        .name       = "words",
        .decode     = FBY_DECODE_TEXT,
        .wire_type  = FBY_U8,
        .shape      = {1, {300}},
        .max_length = 300,
    };
}

static bool decode(const void *data, size_t size, struct fby_message *out)
{
    uint8_t *frame   = sealed(data, size);
    bool     decoded = fby_message_decode(frame, size, out, NULL) == FBY_OK;
    free(frame);
    return decoded;
}

static void take_header(
    const struct fby_assembly *assembly, const void *frame, size_t size)
{
    struct fby_message      m;
    struct fby_error_detail why;
    if (!decode(frame, size, &m)) {
        return;
    }
    if (m.type == FBY_MSG_HEADER) {
        (void)!fby_assembly_check_header(assembly, &m.header, &why);
    }
    fby_message_fini(&m);
}

static void take_end(
    struct fby_assembly *assembly, bool mend, struct fby_reader r)
{
    struct fby_message      m;
    struct fby_error_detail why;
    struct fby_checksum     sums[FBY_MAX_FIELDS];
    if (!decode(r.at, r.left, &m)) {
        return;
    }
    if (m.type == FBY_MSG_END) {
        for (uint32_t f = 0; mend && f < assembly->layout.n_fields; f++) {
            sums[f] = fby_field_checksum(&assembly->layout, f,
                assembly->chunks_sent + assembly->layout.fields[f].first_chunk);
        }
        if (mend) {
            m.end.sums   = sums;
            m.end.n_sums = assembly->layout.n_fields;
        }
        (void)fby_assembly_accept_end(assembly, &m.end, &why);
        (void)fby_end_content_hash(&m.end);
    }
    fby_message_fini(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fby_content content;
    struct fby_assembly       assembly;
    struct fby_reader         r      = fby_reader(data, size);
    bool                      mend   = (fby_read_u8(&r) & 1U) != 0;
    size_t                    length = fby_read_u16(&r);
    fill_content(&content);
    const struct fby_expected_batch expected = {
        .epoch     = 2,
        .step      = 1000000,
        .first_row = 64,
        .rows      = 64,
        .content   = &content,
        .selected  = 7,
    };
    fby_assembly_init(&assembly, CHUNKS);
    if (fby_assembly_begin(&assembly, &expected, NULL) == FBY_OK) {
        const uint8_t *header = fby_read_bytes(&r, length);
        take_header(&assembly, header, header != NULL ? length : 0);
        take_end(&assembly, mend, r);
    }
    fby_assembly_fini(&assembly);
    return 0;
}
