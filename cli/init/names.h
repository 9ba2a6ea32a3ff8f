/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - what the names of files, folders and members tell: types, pictures,
 * and the fields that can be called so. The functions are pure. */
#ifndef FBY_CLI_INIT_NAMES_H
#define FBY_CLI_INIT_NAMES_H

#include "cli/init/member.h"
#include "worker/source/listing.h"

/* Write `name` in lower case, as it stands in a field's `from`. Returns true if
 * the result is also a valid name of a field. */
bool fby_init_to_field_name(const char *name, char out[FBY_NAME_SIZE]);

/* Write a valid name of a field that resembles `name`: "my age" gives my_age. */
void fby_init_propose_name(const char *name, char out[FBY_NAME_SIZE]);

/* True if the extension is `type` or ends with a dot and `type`. */
bool fby_init_has_type(const char *extension, const char *type);

/* The types of pictures that can be decoded, in lower case; ends with NULL. */
extern const char *const fby_init_pictures[];

/* True for the suffixes of pictures that can be decoded, such as "seg.PNG". */
bool fby_init_is_picture_suffix(const char *suffix);

/* True for the file of a picture that can be decoded. */
bool fby_init_is_picture(const struct fby_init_member *member);

/* Is the name that of a picture, decoded or not? */
bool fby_init_is_any_picture(const char *name);

/* Is a file in the listing a picture that can be decoded, by its name? */
bool fby_init_has_pictures(const struct fby_listing *listing);

/* True for a file with the label, as in WebDataset: "cls". A column of a list may
 * have this name, too. */
bool fby_init_is_label(const struct fby_init_member *member);

/* True for a file of text, such as a caption: "txt". */
bool fby_init_is_text(const struct fby_init_member *member);

/* True for a file with the captions of pictures, as Flickr8k.token.txt. */
bool fby_init_is_caption_file(const char *name);

/* True for class_dict.csv and its like, which have the colours of masks by class. */
bool fby_init_is_colour_table(const char *name);

/* True for names that are usual for pictures ("images"). */
bool fby_init_is_picture_name(const char *name);

/* The sides in names of classes, which a horizontal flip swaps. */
struct fby_init_sides {
    bool has_left, has_right;
};

/* Note the side in the name of a class, as in turn_left. */
void fby_init_add_side(struct fby_init_sides *self, const char *name);

/* True for names that are usual for the partners of pictures ("masks"). */
bool fby_init_is_partner_name(const char *name);

#endif
