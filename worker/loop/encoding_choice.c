/* SPDX-License-Identifier: Apache-2.0 */
/* Choose how the chunks of each field are encoded: by a filter, and by a codec
 * that compresses its output. The client may name each of the two, or leave it
 * to `auto` (codec/auto.h), which learns from the sizes of earlier chunks. */
#include "worker/loop/loop.h"

/* The client's choice for field `i` of the request; `auto` if it made none. */
static struct fby_coding_choice requested_choice(
    const struct fby_request *request, uint32_t i)
{
    static const struct fby_coding_choice automatic = {FBY_AUTO, FBY_AUTO};
    return request->n_choices > 0 ? request->choices[i] : automatic;
}

/* True if what `encoding` has learned applies to `request`: the content, fields
 * and choices are the same. */
static bool is_learned_for(const struct fby_loop_encoding *encoding,
    const struct fby_request *request, uint32_t n_fields)
{
    if (encoding->n_fields != n_fields || encoding->fields != request->fields ||
        !fby_digest_equal(&encoding->content, &request->content)) {
        return false;
    }
    for (uint32_t i = 0; i < n_fields; i++) {
        struct fby_coding_choice choice = requested_choice(request, i);
        if (encoding->choices[i].filter != choice.filter ||
            encoding->choices[i].codec != choice.codec) {
            return false;
        }
    }
    return true;
}

/* The argument of fby_auto_init and fby_auto_suits. `features` are the filters
 * and codecs that the client decodes; fby_auto_suits does not read them. */
static struct fby_coding_request coding_request(
    const struct fby_raw_field *field, struct fby_coding_choice choice,
    uint64_t features)
{
    return (struct fby_coding_request){
        .filter  = choice.filter,
        .codec   = choice.codec,
        .params  = fby_layout_codec_params(field),
        .filters = FBY_FEATURED_FILTERS(features),
        .codecs  = FBY_FEATURED_CODECS(features),
    };
}

/* Start to learn again, for the new choices, fields and content of a client. */
static void restart_learning(struct fby_loop_peer *peer,
    const struct fby_request *request, const struct fby_raw_layout *layout)
{
    struct fby_loop_encoding *encoding = &peer->encoding;
    encoding->content                  = request->content;
    encoding->fields                   = request->fields;
    encoding->n_fields                 = layout->n_fields;
    for (uint32_t i = 0; i < encoding->n_fields; i++) {
        encoding->choices[i]             = requested_choice(request, i);
        struct fby_coding_request wanted = coding_request(
            &layout->fields[i], encoding->choices[i], peer->features);
        fby_auto_init(&encoding->autos[i], &wanted);
    }
}

static bool decodes(const struct fby_loop_peer *peer, struct fby_coding coding)
{
    return (peer->features & FBY_FEATURE_FILTER(coding.filter)) != 0 &&
           (peer->features & FBY_FEATURE_CODEC(coding.codec)) != 0;
}

fby_err fby_loop_encoding_check(const struct fby_request *request,
    const struct fby_raw_layout *layout, struct fby_error_detail *why)
{
    if (request->n_choices != 0 && request->n_choices != layout->n_fields) {
        return fby_error_set(why, FBY_USAGE, "%u choices for %u fields",
            request->n_choices, layout->n_fields);
    }
    for (uint32_t i = 0; i < layout->n_fields; i++) {
        struct fby_coding_choice  choice = requested_choice(request, i);
        struct fby_coding_request wanted =
            coding_request(&layout->fields[i], choice, 0 /* not read */);
        if (!fby_auto_suits(&wanted)) {
            return fby_error_set(why, FBY_USAGE,
                "filter %d and codec %d do not suit field %u of the request",
                choice.filter, choice.codec, i);
        }
    }
    return FBY_OK;
}

void fby_loop_encoding_choose(struct fby_loop_peer *peer,
    const struct fby_request *request, const struct fby_raw_layout *layout,
    struct fby_coding out[FBY_MAX_FIELDS])
{
    struct fby_loop_encoding *encoding = &peer->encoding;
    if (!is_learned_for(encoding, request, layout->n_fields)) {
        restart_learning(peer, request, layout);
    }
    for (uint32_t i = 0; i < encoding->n_fields; i++) {
        out[i] = fby_auto_next(&encoding->autos[i]);
        if (!decodes(peer, out[i])) {
            out[i] = (struct fby_coding){FBY_FILTER_NONE, FBY_CODEC_STORE};
        }
    }
}

bool fby_loop_encoding_suits(
    const struct fby_loop_peer *peer, const struct fby_job *job)
{
    for (uint32_t i = 0; i < job->layout.n_fields; i++) {
        struct fby_coding        coding = job->coding[i];
        struct fby_coding_choice choice = peer->encoding.choices[i];
        /* A choice other than `auto` must be equal to the job's. */
        if (!decodes(peer, coding) ||
            (choice.filter != FBY_AUTO && choice.filter != coding.filter) ||
            (choice.codec != FBY_AUTO && choice.codec != coding.codec)) {
            return false;
        }
    }
    return true;
}

void fby_loop_encoding_learn(
    struct fby_loop_peer *peer, const struct fby_job_chunk *chunk)
{
    struct fby_loop_encoding *encoding = &peer->encoding;
    const struct fby_job     *job      = chunk->job;
    /* `autos` has no entries for the fields of another content. */
    if (fby_digest_equal(
            &encoding->content, &job->spec.dataset_plan->content_digest)) {
        fby_auto_record(&encoding->autos[chunk->field],
            job->coding[chunk->field], chunk->raw_bytes, chunk->wire_bytes);
    }
}
