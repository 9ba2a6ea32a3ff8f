/* fake_worker.h - a worker and a server inside the test, on real sockets.
 *
 * They speak the real protocol over loopback. A value depends on its sample
 * number alone, so that a test knows what every delivered value must be:
 *     image, byte i of sample s:  (s * 31 + i) mod 256
 *     label of sample s:          s mod 10
 *     rows that vary in length:   fake_worker_length entries, byte i of them
 *                                 (s + i) mod 256
 *     any other byte:             (s + i) mod 256
 * A behaviour makes a worker misbehave in one way, and counts how often. */
#ifndef FBY_TESTS_FAKE_WORKER_H
#define FBY_TESTS_FAKE_WORKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Every n-th event; 0: never. */
struct fake_behaviour {
    uint32_t samples;       /* of its dataset; one shard */
    uint8_t  data_salt;     /* workers with other salts have other data */
    uint8_t  print_salt;    /* likewise: fingerprint */
    uint8_t  value_salt;    /* values differ, though the digests agree */
    uint8_t  filter, codec; /* of its chunks, where they suit */
    uint32_t scans;         /* SCANNING messages before OPENED */
    uint32_t busy_every;    /* REQUEST: BUSY */
    uint32_t lost_every;    /* REQUEST: LOST */
    uint32_t forget_every;  /* REQUEST: HELLO_FIRST, and nothing is open */
    uint32_t content_every; /* REQUEST: SEND_CONTENT */
    uint32_t corrupt_every; /* chunk: one bit of its payload, anywhere, flipped
                               after hashing */
    uint32_t spoil_every;   /* chunk: payload changed before hashing */
    uint32_t cut_every;     /* chunk: payload a byte short before hashing */
    uint32_t twice_every;   /* chunk: sent twice */
    uint32_t skip_every;    /* chunk: not sent */
    uint32_t garbage_every; /* chunk: preceded by garbage frames */
    uint32_t long_every;    /* chunk of rows that vary: a length too large */
    uint32_t torn_every;    /* likewise: lengths that are not its bytes */
    uint32_t sum_every;     /* END: a wrong sum */
    uint32_t header_every;  /* HEADER: wrong rows */
    uint32_t draws_every;   /* HEADER: the device's ops draw otherwise */
    uint32_t asked_every;   /* HEADER: of another REQUEST, as if damaged */
    uint32_t vanish_after;  /* requests, then it stops for good */
    uint32_t bad_row;       /* 1 + row that each batch substitutes */
    bool     backwards;     /* chunks from the last to the first */
    bool     cannot;        /* every REQUEST: CANNOT, a bad sample */
    bool     stale;         /* every REQUEST: STALE_DATA */
    bool     unnamed;       /* likewise, naming no shard */
    bool     no_source;     /* OPEN: OPEN_FAILED, nothing there */
    bool     mute;          /* OPEN: no answer at all */
    bool     late;          /* OPEN: first OPENED of the one before, if any */
    uint32_t wrong_row;     /* 1 + row whose label is beyond the classes */
};

struct fake_worker;

/* Starts on a port of its own and returns when it listens. */
struct fake_worker *fake_worker_start(const struct fake_behaviour *behaviour);
/* Stops it at once, like kill -9. */
void        fake_worker_stop(struct fake_worker **self_p);
const char *fake_worker_endpoint(const struct fake_worker *self);
uint64_t    fake_worker_instance(const struct fake_worker *self);
/* How often a behaviour took effect. */
uint32_t fake_worker_effects(struct fake_worker *self);
uint32_t fake_worker_requests(struct fake_worker *self);
/* Entries of a row of `sample` where it has at most `most`. */
uint32_t fake_worker_length(uint64_t sample, uint32_t most);

struct fake_server;

struct fake_server *fake_server_start(void);
/* Restart it on its port as another instance, which knows only the workers. */
void        fake_server_restart(struct fake_server *self);
void        fake_server_stop(struct fake_server **self_p);
const char *fake_server_endpoint(const struct fake_server *self);
/* Sessions get the list of workers when they renew. */
void fake_server_add(
    struct fake_server *self, const struct fake_worker *worker);
/* Every JOIN is refused with this code (of fby_join_refused_code) and text;
 * "": none is any more. */
void fake_server_refuse(struct fake_server *self, int code, const char *text);
/* Digests it says the job has, made with these salts. */
void     fake_server_pin(struct fake_server *self, uint8_t data_salt);
uint32_t fake_server_joins(struct fake_server *self);
uint32_t fake_server_quits(struct fake_server *self);

#endif
