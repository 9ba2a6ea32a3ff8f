/* SPDX-License-Identifier: Apache-2.0 */
/* fake_worker.h - a worker and a server inside the test, on real sockets.
 *
 * They speak the real protocol over loopback. A value depends only on its
 * sample number, so that a test can check every delivered value:
 *     image, byte i of sample s:  (s * 31 + i) mod 256
 *     label of sample s:          s mod 10
 *     ragged rows:                fake_worker_length entries, byte i of them
 *                                 (s + i) mod 256
 *     any other byte:             (s + i) mod 256
 * A fake_behaviour makes a worker misbehave; the worker counts how often. */
#ifndef FBY_TESTS_FAKE_WORKER_H
#define FBY_TESTS_FAKE_WORKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `*_every`: on every n-th event; 0: never. */
struct fake_behaviour {
    uint32_t samples;       /* of the dataset, which has one shard */
    uint8_t  data_salt;     /* another salt: another digest of the data */
    uint8_t  print_salt;    /* another salt: another fingerprint */
    uint8_t  value_salt;    /* values differ although the digests agree */
    uint8_t  filter, codec; /* of its chunks, if they suit the field */
    uint32_t scans;         /* SCANNING messages before OPENED */
    uint32_t busy_every;    /* REQUEST: BUSY */
    uint32_t lost_every;    /* REQUEST: LOST */
    uint32_t forget_every;  /* REQUEST: HELLO_FIRST, and all opens are lost */
    uint32_t content_every; /* REQUEST: SEND_CONTENT */
    uint32_t corrupt_every; /* chunk: a bit flipped after hashing */
    uint32_t spoil_every;   /* chunk: payload changed before hashing */
    uint32_t cut_every;     /* chunk: payload a byte short before hashing */
    uint32_t twice_every;   /* chunk: sent twice */
    uint32_t skip_every;    /* chunk: not sent */
    uint32_t garbage_every; /* chunk: preceded by garbage frames */
    uint32_t long_every;    /* ragged chunk: a length too large */
    uint32_t torn_every;    /* ragged chunk: lengths disagree with its bytes */
    uint32_t sum_every;     /* END: a wrong sum */
    uint32_t header_every;  /* HEADER: wrong rows */
    uint32_t draws_every;   /* HEADER: another digest of the device ops */
    uint32_t asked_every;   /* HEADER: another hash of the REQUEST */
    uint32_t vanish_after;  /* requests; the worker stops for good then */
    uint32_t bad_row;       /* 1 + row that is substituted in each batch */
    bool     backwards;     /* chunks from the last to the first */
    bool     cannot;        /* every REQUEST: CANNOT, a bad sample */
    bool     stale;         /* every REQUEST: STALE_DATA */
    bool     unnamed;       /* with `stale`: STALE_DATA names no shard */
    bool     no_source;     /* OPEN: OPEN_FAILED, no such source */
    bool     mute;          /* OPEN: no answer */
    bool     withheld;      /* REQUEST: HEADER and nothing more */
    bool     late;          /* OPEN: also OPENED of the last OPEN, first */
    uint32_t wrong_row;     /* 1 + row whose label is not a valid class */

    const char *classes;      /* OPENED: names of classes, a NUL after each */
    size_t      classes_size; /* bytes of `classes` */
};

struct fake_worker;

/* Start a worker on a free port; returns when it listens. */
struct fake_worker *fake_worker_start(const struct fake_behaviour *behaviour);
/* Stop a worker at once, like kill -9. */
void        fake_worker_stop(struct fake_worker **self_p);
const char *fake_worker_endpoint(const struct fake_worker *self);
uint64_t    fake_worker_instance(const struct fake_worker *self);
/* The number of times that the misbehaviour took effect. */
uint32_t fake_worker_effects(struct fake_worker *self);
uint32_t fake_worker_requests(struct fake_worker *self);
/* The number of entries of a ragged row of `sample`; at most `most`. */
uint32_t fake_worker_length(uint64_t sample, uint32_t most);

struct fake_server;

struct fake_server *fake_server_start(void);
/* Restart the server on its port as a new instance without sessions. */
void        fake_server_restart(struct fake_server *self);
void        fake_server_stop(struct fake_server **self_p);
const char *fake_server_endpoint(const struct fake_server *self);
/* Add a worker; sessions get the new list when they renew. */
void fake_server_add(
    struct fake_server *self, const struct fake_worker *worker);
/* Refuse every JOIN with this code (fby_join_refused_code) and text; stop
 * refusing if the text is "". */
void fake_server_refuse(struct fake_server *self, int code, const char *text);
/* Report in JOINED that the job has the data digest made with this salt. */
void     fake_server_pin(struct fake_server *self, uint8_t data_salt);
uint32_t fake_server_joins(struct fake_server *self);
uint32_t fake_server_quits(struct fake_server *self);

#endif
