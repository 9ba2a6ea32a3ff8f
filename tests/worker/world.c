#include "tests/test.h"

#include "tests/worker/world.h"

#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void *run_worker(void *opaque)
{
    struct world *world = opaque;
    world->result       = fby_worker_run(&world->options, &world->why);
    return NULL;
}

static void read_endpoint(struct world *world, int fd)
{
    FILE *file = fdopen(fd, "r");
    assert_non_null(fgets(world->endpoint, sizeof(world->endpoint), file));
    world->endpoint[strcspn(world->endpoint, "\n")] = '\0';
    fclose(file);
}

void world_prepare(struct world *world, void **state)
{
    struct sandbox *sandbox = *state;
    *world                  = (struct world){.result = FBY_SYS};
    kit_open(&world->kit, sandbox, "", "");
    snprintf(world->root, sizeof(world->root), "data=%s",
        sandbox_path(sandbox, "data"));
    world->roots[0]                  = world->root;
    world->options                   = fby_worker_defaults();
    world->options.roots             = world->roots;
    world->options.n_roots           = 1;
    world->options.cache_dir         = "";
    world->options.memory_bytes      = 64 << 20;
    world->options.stop_fd           = eventfd(0, 0);
    world->options.transform_threads = 2;
    world->options.fetch_threads     = 2;
}

void world_start(struct world *world)
{
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    world->options.ready_fd = ready[1];
    pthread_create(&world->thread, NULL, run_worker, world);
    read_endpoint(world, ready[0]);
    client_open(&world->client, world->endpoint);
}

void world_ask_to_stop(struct world *world)
{
    const uint64_t one = 1;
    assert_int_equal(
        write(world->options.stop_fd, &one, sizeof(one)), sizeof(one));
}

void world_finish(struct world *world)
{
    world_ask_to_stop(world);
    pthread_join(world->thread, NULL);
    if (world->result != FBY_OK) {
        fail_msg("%s", world->why.text);
    }
    client_close(&world->client);
    close(world->options.stop_fd);
    kit_close(&world->kit);
}

void world_open(struct world *world)
{
    world_start(world);
    client_hello(&world->client);
    client_content(&world->client, &world->kit);
}

void world_start_opened(struct world *world, void **state)
{
    world_prepare(world, state);
    world_open(world);
}

struct fby_job_spec world_spec(const struct world *world, uint64_t step)
{
    return (struct fby_job_spec){.dataset_plan = world->kit.dataset_plan,
        .seed                                  = 11,
        .epoch                                 = 2,
        .step                                  = step,
        .rows                                  = KIT_BATCH};
}
