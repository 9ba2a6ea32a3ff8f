/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include "tests/worker/worker_thread.h"

#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void *run_worker(void *opaque)
{
    struct worker_thread *rig = opaque;
    rig->result               = fby_worker_run(&rig->options, &rig->why);
    return NULL;
}

static void read_endpoint(struct worker_thread *rig, int fd)
{
    FILE *file = fdopen(fd, "r");
    assert_non_null(fgets(rig->endpoint, sizeof(rig->endpoint), file));
    rig->endpoint[strcspn(rig->endpoint, "\n")] = '\0';
    fclose(file);
}

void worker_thread_prepare(struct worker_thread *rig, void **state)
{
    struct sandbox *sandbox = *state;
    *rig                    = (struct worker_thread){.result = FBY_SYS};
    kit_open(&rig->kit, sandbox, "", "");
    snprintf(
        rig->root, sizeof(rig->root), "data=%s", sandbox_path(sandbox, "data"));
    rig->roots[0]                  = rig->root;
    rig->options                   = fby_worker_defaults();
    rig->options.roots             = rig->roots;
    rig->options.n_roots           = 1;
    rig->options.cache_dir         = "";
    rig->options.memory_bytes      = 64 << 20;
    rig->options.stop_fd           = eventfd(0, 0);
    rig->options.transform_threads = 2;
    rig->options.fetch_threads     = 2;
}

void worker_thread_start(struct worker_thread *rig)
{
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    rig->options.ready_fd = ready[1];
    pthread_create(&rig->thread, NULL, run_worker, rig);
    read_endpoint(rig, ready[0]);
    client_open(&rig->client, rig->endpoint);
}

void worker_thread_ask_to_stop(struct worker_thread *rig)
{
    const uint64_t one = 1;
    assert_int_equal(
        write(rig->options.stop_fd, &one, sizeof(one)), sizeof(one));
}

void worker_thread_finish(struct worker_thread *rig)
{
    worker_thread_ask_to_stop(rig);
    pthread_join(rig->thread, NULL);
    if (rig->result != FBY_OK) {
        fail_msg("%s", rig->why.text);
    }
    client_close(&rig->client);
    close(rig->options.stop_fd);
    kit_close(&rig->kit);
}

void worker_thread_open(struct worker_thread *rig)
{
    worker_thread_start(rig);
    client_hello(&rig->client);
    client_content(&rig->client, &rig->kit);
}

void worker_thread_start_opened(struct worker_thread *rig, void **state)
{
    worker_thread_prepare(rig, state);
    worker_thread_open(rig);
}

struct fby_job_spec worker_thread_spec(
    const struct worker_thread *rig, uint64_t step)
{
    return (struct fby_job_spec){.dataset_plan = rig->kit.dataset_plan,
        .seed                                  = 11,
        .epoch                                 = 2,
        .step                                  = step,
        .rows                                  = KIT_BATCH};
}
