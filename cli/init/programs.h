/* SPDX-License-Identifier: Apache-2.0 */
/* programs.h - the programs of Python in programs/, each as one line for a command:
 * FBY_PYTHON "SETTINGS; PROGRAM\"". The head of each file says which settings it
 * needs. */
#ifndef FBY_CLI_INIT_PROGRAMS_H
#define FBY_CLI_INIT_PROGRAMS_H

/* Begins a command, up to its program. The program runs in the user's folder, where
 * Python would take a file csv.py for its module csv: it would run what came with the
 * data. */
#define FBY_PYTHON \
    "python3 -c \"import sys; sys.path[:] = filter(None, sys.path); "

/* They write new lists: begin, csv or json, one of the others, end, write_lists. */
extern const char fby_program_list_begin[];
extern const char fby_program_list_csv[];
extern const char fby_program_list_json[];
extern const char fby_program_list_paths[];
extern const char fby_program_list_dots[];
extern const char fby_program_list_found[];
extern const char fby_program_list_numbers[];
extern const char fby_program_list_labels[];
extern const char fby_program_list_end[];
extern const char fby_program_write_lists[];
/* Before write_lists. */
extern const char fby_program_join_lists[];
extern const char fby_program_join_files[];
extern const char fby_program_join_rows[];
extern const char fby_program_box_rows[];
extern const char fby_program_box_lines[];

/* They write lists of boxes: the lists of pictures and files (*_lists,
 * boxes_in_folders, boxes_beside), then boxes_upright and boxes_coco, or boxes_text, or
 * boxes_classes, or boxes_voc or boxes_kitti or boxes_labelme, boxes_upright and
 * boxes_objects, then write_lists. */
extern const char fby_program_coco_lists[];
extern const char fby_program_roboflow_lists[];
extern const char fby_program_voc_lists[];
extern const char fby_program_boxes_in_folders[];
extern const char fby_program_boxes_beside[];
extern const char fby_program_boxes_upright[];
extern const char fby_program_boxes_coco[];
extern const char fby_program_boxes_text[];
extern const char fby_program_boxes_classes[];
extern const char fby_program_boxes_voc[];
extern const char fby_program_boxes_kitti[];
extern const char fby_program_boxes_labelme[];
extern const char fby_program_boxes_objects[];
extern const char fby_program_roboflow_names[];
extern const char fby_program_boxes_members[]; /* then write_lists */

/* They make lists of others; then write_lists. */
extern const char fby_program_read_rows[];
extern const char fby_program_names_csv[];
extern const char fby_program_names_json[];
extern const char fby_program_blanks_csv[];
extern const char fby_program_blanks_json[];

/* It writes lists of texts with rows of columns. */
extern const char fby_program_list_rows[];

/* They make lists of texts whose lines are no rows; then write_lists. */
extern const char fby_program_text_pairs[];
extern const char fby_program_sentences[];
extern const char fby_program_label_lines[];

extern const char fby_program_sparse_lines[];

/* It writes a list of the lines of a text; then write_lists. */
extern const char fby_program_tab_lines[];
extern const char fby_program_text_lines[];

/* They write tables of texts of numbers, and of files of floats. */
extern const char fby_program_number_texts[];
extern const char fby_program_float_files[];

/* It writes tables of series in class folders. */
extern const char fby_program_class_series[];

/* They write a list of each split from texts; then write_lists. */
extern const char fby_program_split_texts[];
extern const char fby_program_split_rest[]; /* after split_texts */
extern const char fby_program_split_numbers[];
extern const char fby_program_split_cub[];
extern const char fby_program_split_names[];
extern const char fby_program_split_words[];

/* They write a list of each split from a list; then rename_list, write_lists. */
extern const char fby_program_split_csv[];
extern const char fby_program_split_folders[]; /* after split_csv */
extern const char fby_program_split_json[];
extern const char fby_program_split_joined[];
extern const char fby_program_rename_list[];

/* They write lists of the pictures in folders; then write_lists. */
extern const char fby_program_common_names[];
extern const char fby_program_davis_lists[];
extern const char fby_program_class_folders[];
extern const char fby_program_pairs_objects[];
extern const char fby_program_pairs_masks[];
extern const char fby_program_pairs_folders[];
extern const char fby_program_picture_texts[];
extern const char fby_program_class_texts[];

/* It writes a list of folders that are samples; then write_lists. */
extern const char fby_program_sample_folders[];

/* It writes a table of folders that are samples of arrays. */
extern const char fby_program_sample_arrays[];

/* They write lists of parallel folders: split_pairs, pairs_csv or pairs_boxes and
 * what writes lists of boxes, then write_lists. */
extern const char fby_program_split_pairs[];
extern const char fby_program_pairs_csv[];
extern const char fby_program_pairs_boxes[];

/* They write a new folder: folder_begin, the others, folder_end. split_of_name is
 * before arrow_rows, and arrow_files after it. */
extern const char fby_program_folder_begin[];
extern const char fby_program_arrow_rows[];
extern const char fby_program_arrow_files[];
extern const char fby_program_idx_arrays[];
extern const char fby_program_cifar_arrays[];
extern const char fby_program_npz_stored[];
extern const char fby_program_link_tree[];
extern const char fby_program_wide_list[];
extern const char fby_program_sparse_lines[];
extern const char fby_program_class_series[];
extern const char fby_program_folder_end[];

extern const char fby_program_merge_masks[];
/* For pictures in a folder of links (text_notes.c). */
extern const char fby_program_listed_files[];
extern const char fby_program_number_colours[];
extern const char fby_program_tar_pictures[];

/* They sort arrays and tables into folders of splits: split_of_name, then one of
 * the others. */
extern const char fby_program_split_of_name[];
extern const char fby_program_sort_arrays[];
extern const char fby_program_sort_npz[];
extern const char fby_program_sort_tables[];

extern const char fby_program_csv_arrays[];

extern const char fby_program_rename_masks[];
extern const char fby_program_composed_names[];
/* Before write_lists. */
extern const char fby_program_caption_texts[];

#endif
