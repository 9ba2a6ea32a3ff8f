/* Choose the filter and codec of each field. The client may name both; for
 * `auto` the worker chooses those that saved most bytes on earlier chunks. */
#include "worker/loop/loop.h"

/* The client's choice for field `i`; `auto` if the request has no choices. */
static struct fby_coding_choice requested_choice(
    const struct fby_request *request, uint32_t i)
{
    static const struct fby_coding_choice automatic = {FBY_AUTO, FBY_AUTO};
    return request->n_choices > 0 ? request->choices[i] : automatic;
}

static bool same_choices(const struct fby_loop_encoding *encoding,
    const struct fby_request *request, uint32_t n)
{
    if (encoding->n != n || encoding->fields != request->fields ||
        !fby_digest_equal(&encoding->content, &request->content)) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct fby_coding_choice choice = requested_choice(request, i);
        if (encoding->choices[i].filter != choice.filter ||
            encoding->choices[i].codec != choice.codec) {
            return false;
        }
    }
    return true;
}

/* The request for fby_auto_init; `features` are those of the client. */
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

/* When a client changes its choices, its fields or its content, `auto` starts
 * to learn again. */
static void restart_learning(struct fby_loop_peer *peer,
    const struct fby_request *request, const struct fby_raw_layout *layout)
{
    struct fby_loop_encoding *encoding = &peer->encoding;
    encoding->content                  = request->content;
    encoding->fields                   = request->fields;
    encoding->n                        = layout->n_fields;
    for (uint32_t i = 0; i < encoding->n; i++) {
        encoding->choices[i]             = requested_choice(request, i);
        struct fby_coding_request wanted = coding_request(
            &layout->fields[i], encoding->choices[i], peer->features);
        fby_auto_init(&encoding->autos[i], &wanted);
    }
}

static bool supports(const struct fby_loop_peer *peer, struct fby_coding coding)
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
            coding_request(&layout->fields[i], choice, 0);
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
    if (!same_choices(encoding, request, layout->n_fields)) {
        restart_learning(peer, request, layout);
    }
    for (uint32_t i = 0; i < encoding->n; i++) {
        out[i] = fby_auto_next(&encoding->autos[i]);
        if (!supports(peer, out[i])) {
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
        if (!supports(peer, coding) ||
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
    if (fby_digest_equal(
            &encoding->content, &job->spec.dataset_plan->content_digest)) {
        fby_auto_record(&encoding->autos[chunk->field],
            job->coding[chunk->field], chunk->raw_bytes, chunk->wire_bytes);
    }
}
