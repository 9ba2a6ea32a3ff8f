/* SPDX-License-Identifier: Apache-2.0 */
/* op_hint.c - a table of names of torchvision and albumentations. A name is
 * compared without its prefix, underscores and the case of letters, so that
 * RandomRotation and random_rotation are equal. */
#include "pipeline/op_hint.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "pipeline/types.h"

#define NOT_YET  "there is no such op yet"
#define NO_BLUR  NOT_YET "; use `gaussian_blur: {kernel: 9}`, which is similar"
#define NO_BOXES "leave it out: no op moves boxes; `resize` keeps relative ones"
#define IN_POLICY                                                             \
    "there is no separate op yet; `trivial_augment_wide` and `rand_augment` " \
    "include it"

struct hint {
    const char *name; /* letters and digits only, in lower case */
    const char *text;
};

/* clang-format off */
static const struct hint hints[] = {
    /* Ops that exist, by their names here and elsewhere. */
    {"randomresizedcrop", "here `random_resized_crop: {size: 224}`"},
    {"randomsizedcrop", "here `random_resized_crop: {size: 224}`"},
    {"resize", "here `resize: {shorter: 256}` or `resize: {size: 224}`"},
    {"smallestmaxsize", "here `resize: {shorter: 256}`"},
    {"centercrop", "here `center_crop: {size: 224}`"},
    {"randomcrop", "here `random_crop: {size: 224}`"},
    {"randomhorizontalflip", "here `horizontal_flip: {p: 0.5}`"},
    {"horizontalflip", "here `horizontal_flip: {p: 0.5}`"},
    {"randomverticalflip", "here `vertical_flip: {p: 0.5}`"},
    {"verticalflip", "here `vertical_flip: {p: 0.5}`"},
    {"flip", "here `horizontal_flip: {p: 0.5}` and `vertical_flip: {p: 0.5}`"},
    {"pad", "here `pad: {padding: 4}`"},
    {"grayscale", "here `grayscale`"},
    {"randomgrayscale", "here `random_grayscale: {p: 0.1}`"},
    {"togray", "here `random_grayscale: {p: 0.5}`"},
    {"colorjitter", "here `colour_jitter: {brightness: 0.4, contrast: 0.4}`"},
    {"randombrightnesscontrast",
        "here `colour_jitter: {brightness: 0.2, contrast: 0.2}`"},
    {"randombrightness", "here `colour_jitter: {brightness: 0.2}`"},
    {"randomcontrast", "here `colour_jitter: {contrast: 0.2}`"},
    {"huesaturationvalue", "here `colour_jitter: {saturation: 0.3, hue: 0.1}`"},
    {"gaussianblur", "here `gaussian_blur: {kernel: 9}`"},
    {"randomerasing", "here `random_erasing`"},
    {"erasing", "here `random_erasing`"},
    {"coarsedropout", "here `random_erasing`, which erases one box"},
    {"cutout", "here `random_erasing`, which erases one box"},
    {"randomrotation", "here `rotate: {degrees: 15}`"},
    {"saferotate", "here `rotate: {degrees: 15}`"},
    {"rotate", "here `rotate: {degrees: 15}`"},
    {"randomaffine", "here `affine: {degrees: 10}`"},
    {"affine", "here `affine: {degrees: 10}`"},
    {"shiftscalerotate",
        "here `affine: {degrees: 45, translate: [0.06, 0.06], "
        "scale: [0.9, 1.1]}`"},
    {"trivialaugmentwide", "here `trivial_augment_wide`"},
    {"randaugment", "here `rand_augment`"},
    {"normalize",
        "here `normalize: {mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, "
        "0.225]}` under 'device'"},
    {"mixup", "here `mixup` under 'device'"},
    {"cutmix", "here `cutmix` under 'device'"},
    /* Ops that are settings here. */
    {"totensor", "leave it out: `out: {dtype: f32, layout: chw}` says it"},
    {"totensorv2", "leave it out: `out: {dtype: f32, layout: chw}` says it"},
    {"toimage", "leave it out: `decode: rgb8` says it"},
    {"topilimage", "leave it out: `decode: rgb8` says it"},
    {"piltotensor", "leave it out: `out: {dtype: u8, layout: chw}` says it"},
    {"todtype", "leave it out: `out: {dtype: f32}` says it"},
    {"tofloat", "leave it out: `out: {dtype: f32}` says it"},
    {"convertimagedtype", "leave it out: `out: {dtype: f32}` says it"},
    {"compose", "leave it out: the ops of the list run in order"},
    {"rgb", "leave it out: `decode: rgb8` says it"},
    {"torgb", "leave it out: `decode: rgb8` says it"},
    {"identity", "leave it out: it changes nothing"},
    {"noop", "leave it out: it changes nothing"},
    {"topuretensor", "leave it out: it changes nothing"},
    {"fromfloat", "leave it out: `out: {dtype: u8}` says it"},
    {"sanitizeboundingboxes", NO_BOXES},
    {"clampboundingboxes", NO_BOXES},
    {"sanitizekeypoints", NO_BOXES}, {"clampkeypoints", NO_BOXES},
    {"convertboundingboxformat", NO_BOXES},
    /* Ops of policies. */
    {"randomposterize", IN_POLICY}, {"posterize", IN_POLICY},
    {"randomsolarize", IN_POLICY}, {"solarize", IN_POLICY},
    {"randomequalize", IN_POLICY}, {"equalize", IN_POLICY},
    {"randomautocontrast", IN_POLICY}, {"autocontrast", IN_POLICY},
    {"randomadjustsharpness", IN_POLICY}, {"sharpen", IN_POLICY},
    /* Ops that do not exist. */
    {"autoaugment", NOT_YET "; use `trivial_augment_wide`, which is similar"},
    {"augmix", NOT_YET "; use `trivial_augment_wide`, which is similar"},
    {"blur", NO_BLUR},
    {"motionblur", NO_BLUR},
    {"medianblur", NO_BLUR},
    {"advancedblur", NO_BLUR}, {"defocus", NO_BLUR},
    {"glassblur", NO_BLUR}, {"zoomblur", NO_BLUR},
    {"padifneeded", NOT_YET "; `pad: {padding: 4}` pads always"},
    {"randomapply", NOT_YET "; ops such as horizontal_flip have a `p`"},
    {"oneof", NOT_YET}, {"someof", NOT_YET}, {"sequential", NOT_YET},
    {"randomchoice", NOT_YET}, {"randomorder", NOT_YET}, {"lambda", NOT_YET},
    {"randomperspective", NOT_YET}, {"perspective", NOT_YET},
    {"elastictransform", NOT_YET}, {"elastic", NOT_YET},
    {"griddistortion", NOT_YET}, {"opticaldistortion", NOT_YET},
    {"randominvert", NOT_YET}, {"invertimg", NOT_YET}, {"invert", NOT_YET},
    {"randomrotate90", NOT_YET}, {"transpose", NOT_YET}, {"d4", NOT_YET},
    {"fivecrop", NOT_YET}, {"tencrop", NOT_YET}, {"longestmaxsize", NOT_YET},
    {"randomscale", NOT_YET}, {"scalejitter", NOT_YET},
    {"randomresize", NOT_YET}, {"randomshortestsize", NOT_YET},
    {"randomzoomout", NOT_YET}, {"randomioucrop", NOT_YET},
    {"randomphotometricdistort", NOT_YET}, {"clahe", NOT_YET},
    {"gaussnoise", NOT_YET}, {"gaussiannoise", NOT_YET}, {"isonoise", NOT_YET},
    {"jpeg", NOT_YET}, {"jpegcompression", NOT_YET},
    {"imagecompression", NOT_YET}, {"channelshuffle", NOT_YET},
    {"randomchannelpermutation", NOT_YET}, {"channeldropout", NOT_YET},
    {"griddropout", NOT_YET}, {"randomgamma", NOT_YET}, {"rgbshift", NOT_YET},
    {"lineartransformation", NOT_YET}, {"downscale", NOT_YET},
    {"mosaic", NOT_YET}, {"copypaste", NOT_YET},
    {"emboss", NOT_YET},
    /* Others of albumentations. */
    {"additivenoise", NOT_YET}, {"atleastonebboxrandomcrop", NOT_YET},
    {"bboxsaferandomcrop", NOT_YET}, {"chromaticaberration", NOT_YET},
    {"constrainedcoarsedropout", NOT_YET}, {"crop", NOT_YET},
    {"cropandpad", NOT_YET}, {"cropnonemptymaskifexists", NOT_YET},
    {"fancypca", NOT_YET},
    {"fda", NOT_YET}, {"gridelasticdeform", NOT_YET}, {"hestain", NOT_YET},
    {"histogrammatching", NOT_YET}, {"illumination", NOT_YET},
    {"maskdropout", NOT_YET}, {"morphological", NOT_YET},
    {"multiplicativenoise", NOT_YET}, {"oneorother", NOT_YET},
    {"overlayelements", NOT_YET}, {"piecewiseaffine", NOT_YET},
    {"pixeldistributionadaptation", NOT_YET}, {"pixeldropout", NOT_YET},
    {"planckianjitter", NOT_YET}, {"plasmabrightnesscontrast", NOT_YET},
    {"plasmashadow", NOT_YET}, {"randomcropfromborders", NOT_YET},
    {"randomcropnearbbox", NOT_YET}, {"randomfog", NOT_YET},
    {"randomgravel", NOT_YET}, {"randomgridshuffle", NOT_YET},
    {"randomrain", NOT_YET}, {"randomshadow", NOT_YET},
    {"randomsizedbboxsafecrop", NOT_YET}, {"randomsnow", NOT_YET},
    {"randomsunflare", NOT_YET}, {"randomtonecurve", NOT_YET},
    {"ringingovershoot", NOT_YET}, {"saltandpepper", NOT_YET},
    {"shotnoise", NOT_YET}, {"spatter", NOT_YET},
    {"squaresymmetry", NOT_YET}, {"superpixels", NOT_YET},
    {"templatetransform", NOT_YET}, {"textimage", NOT_YET},
    {"thinplatespline", NOT_YET}, {"tosepia", NOT_YET},
    {"unsharpmask", NOT_YET}, {"xymasking", NOT_YET},
    {"frequencymasking", NOT_YET}, {"timemasking", NOT_YET},
};
/* clang-format on */

/* Write the letters and digits after the last dot, in lower case. */
static void reduce(const char *name, char out[FBY_NAME_SIZE])
{
    const char *dot    = strrchr(name, '.');
    size_t      length = 0;
    for (const char *c = dot != NULL ? dot + 1 : name;
         *c != '\0' && length + 1 < FBY_NAME_SIZE; c++) {
        if (isalnum((unsigned char)*c) != 0) {
            out[length++] = (char)tolower((unsigned char)*c);
        }
    }
    out[length] = '\0';
}

const char *fby_op_hint(const char *name)
{
    char reduced[FBY_NAME_SIZE];
    reduce(name, reduced);
    for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
        if (strcmp(hints[i].name, reduced) == 0) {
            return hints[i].text;
        }
    }
    return NULL;
}
