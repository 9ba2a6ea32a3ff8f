/* SPDX-License-Identifier: Apache-2.0 */
/* names.c - what names tell: see names.h. */
#include "cli/init/names.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/text.h"
#include "pipeline/unread.h"

bool fby_init_to_field_name(const char *name, char out[FBY_NAME_SIZE])
{
    size_t n = strnlen(name, FBY_NAME_SIZE - 1);
    for (size_t i = 0; i < n; i++) {
        bool upper = name[i] >= 'A' && name[i] <= 'Z';
        out[i]     = (char)(name[i] + (upper ? 'a' - 'A' : 0));
    }
    out[n]           = '\0';
    bool is_reserved = strcmp(out, "valid") == 0 || strcmp(out, "folder") == 0;
    return fby_text_is_extension(out) && fby_text_is_name(out) && !is_reserved;
}

void fby_init_propose_name(const char *name, char out[FBY_NAME_SIZE])
{
    char   lower[FBY_NAME_SIZE];
    size_t n = 0;
    if (fby_init_to_field_name(name, lower)) {
        memcpy(out, lower, sizeof(lower));
        return;
    }
    out[n++] = 'c'; /* not a digit, and no reserved name */
    out[n++] = '_';
    for (const char *c = lower; *c != '\0' && n < FBY_NAME_SIZE - 1; c++) {
        bool is_plain = (*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9');
        if (is_plain || out[n - 1] != '_') {
            out[n++] = (char)(is_plain ? *c : '_');
        }
    }
    out[n] = '\0';
    if (fby_init_to_field_name(out + 2, lower)) {
        memcpy(out, lower, sizeof(lower)); /* needs no prefix */
    }
}

/* The part of an extension after its last dot: "png" of "mask.png". */
static const char *type_of(const char *extension)
{
    const char *dot = strrchr(extension, '.');
    return dot != NULL ? dot + 1 : extension;
}

bool fby_init_has_type(const char *extension, const char *type)
{
    return strcmp(type_of(extension), type) == 0;
}

const char *const fby_init_pictures[] = {"jpg", "jpeg", "png", "webp", NULL};

bool fby_init_is_picture_suffix(const char *suffix)
{
    char lower[FBY_NAME_SIZE];
    (void)fby_init_to_field_name(suffix, lower);
    return fby_text_is_extension(lower) &&
           fby_text_is_one_of(type_of(lower), fby_init_pictures);
}

bool fby_init_is_picture(const struct fby_init_member *member)
{
    return member->value == FBY_INIT_NO_VALUE &&
           fby_text_is_extension(member->extension) &&
           fby_init_is_picture_suffix(member->extension);
}

static bool is_picture_file(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL && fby_init_is_picture_suffix(dot + 1);
}

bool fby_init_is_any_picture(const char *name)
{
    return is_picture_file(name) || fby_unread_picture(name) != NULL ||
           fby_unread_is_jpeg(name);
}

bool fby_init_is_caption_file(const char *name)
{
    return strstr(name, ".token") != NULL;
}

bool fby_init_is_colour_table(const char *name)
{
    return strcasestr(name, "class_dict") != NULL &&
           fby_text_ends_with(name, ".csv");
}

bool fby_init_has_pictures(const struct fby_listing *listing)
{
    uint32_t i = 0;
    while (i < listing->count && !is_picture_file(listing->entries[i].name)) {
        i++;
    }
    return i < listing->count;
}

bool fby_init_is_label(const struct fby_init_member *member)
{
    return member->value == FBY_INIT_NO_VALUE &&
           fby_init_has_type(member->extension, "cls") &&
           fby_text_is_extension(member->extension);
}

bool fby_init_is_text(const struct fby_init_member *member)
{
    static const char *const types[] = {"txt", "text", "caption", NULL};
    return member->value == FBY_INIT_NO_VALUE && member->key[0] == '\0' &&
           fby_text_is_extension(member->extension) &&
           fby_text_is_one_of(type_of(member->extension), types);
}

static bool contains_any(const char *name, const char *const *words, size_t n)
{
    char lower[FBY_NAME_SIZE];
    (void)fby_init_to_field_name(name, lower);
    for (size_t i = 0; i < n; i++) {
        if (strstr(lower, words[i]) != NULL) {
            return true;
        }
    }
    return false;
}

bool fby_init_is_picture_name(const char *name)
{
    static const char *const words[] = {
        "image", "img", "photo", "picture", "rgb", "input"};
    return contains_any(name, words, sizeof(words) / sizeof(words[0]));
}

bool fby_init_is_partner_name(const char *name)
{
    static const char *const words[] = {"mask", "label", "annot", "ann_dir",
        "seg", "truth", "target", "depth", "ids"};
    return contains_any(name, words, sizeof(words) / sizeof(words[0]));
}

void fby_init_add_side(struct fby_init_sides *self, const char *name)
{
    self->has_left  = self->has_left || strcasestr(name, "left") != NULL;
    self->has_right = self->has_right || strcasestr(name, "right") != NULL;
}
