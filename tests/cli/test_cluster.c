/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster whose children are this program. Each child writes its arguments
 * to a pipe, and a line when it ends in order. */
#include "tests/test.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cluster.h"
#include "common/clock.h"
#include "common/cores.h"
#include "common/log.h"
#include "secure/allowed.h"

enum { PATIENCE_MS = 20000, LINE_SIZE = 512 };

#define S FBY_NS_PER_S

/* ---- The children -------------------------------------------------------- */

static int children_fd; /* the pipe of all children */

static void write_line(const char *text)
{
    char line[LINE_SIZE];
    int  n = snprintf(line, sizeof(line), "%d %s\n", (int)getpid(), text);
    if (write(children_fd, line, (size_t)n) != n) {
        _exit(8);
    }
}

static void write_endpoint(int fd, const char *kind)
{
    char endless[600];
    memset(endless, 'x', sizeof(endless));
    if (strcmp(kind, "server") == 0 || strcmp(kind, "worker") == 0) {
        dprintf(fd, "tcp://127.0.0.1");
        dprintf(fd, ":4242\n");
    } else if (strcmp(kind, "endless") == 0) {
        dprintf(fd, "%.*s", (int)sizeof(endless), endless);
    }
}

static int number(const char *text)
{
    return text != NULL ? (int)strtol(text, NULL, 10) : -1;
}

/* Returns the argument, or what the inherited file that it names is. */
static const char *describe(const char *argument, const char *role_name)
{
    enum fby_role           role;
    struct fby_key_file     key;
    struct fby_allowed      list = {0};
    struct fby_buffer       text = {0};
    struct fby_error_detail why;
    if (strncmp(argument, "/proc/self/fd/", 14) != 0) {
        return argument;
    }
    if (fby_role_parse(role_name, &role) &&
        fby_key_file_load(argument, role, &key, &why) == FBY_OK) {
        return "(own key)";
    }
    bool is_list =
        fby_secret_file_read(argument, 4096, &text, &why) == FBY_OK &&
        fby_allowed_parse((const char *)text.data, text.size, &list, &why) ==
            FBY_OK &&
        list.n == 2 && list.keys[0].role == FBY_ROLE_WORKER &&
        list.keys[1].role == FBY_ROLE_TRAINER;
    fby_allowed_fini(&list);
    fby_buffer_fini(&text);
    return is_list ? "(own list)" : "(unreadable)";
}

/* The last four are --ready-fd N --parent PID. */
static int child_main(int argc, char **argv)
{
    char     words[LINE_SIZE - 16] = "";
    int      signal                = 0;
    sigset_t set;
    children_fd = number(getenv("FBY_TEST_TELL"));
    for (int i = 1; i < argc - 4; i++) {
        size_t used = strlen(words);
        snprintf(words + used, sizeof(words) - used, "%s%s", i > 1 ? " " : "",
            describe(argv[i], argv[1]));
    }
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    if (strcmp(argv[argc - 4], "--ready-fd") != 0 ||
        strcmp(argv[argc - 2], "--parent") != 0 ||
        fby_child_end_with_parent(number(argv[argc - 1])) != FBY_OK ||
        fby_child_end_with_parent(getpid()) != FBY_GONE) {
        return 7;
    }
    write_line(words);
    if (strcmp(argv[1], "tells") == 0) {
        const struct fby_error_detail why = {"no room: make some"};
        const struct fby_parent_pipe  pipe =
            fby_parent_pipe(number(argv[argc - 1]), number(argv[argc - 3]));
        return fby_child_end(&pipe, "worker", FBY_SYS, &why);
    }
    if (strcmp(argv[1], "short") == 0 || getenv("FBY_TEST_SHORT") != NULL) {
        return 3;
    }
    write_endpoint(number(argv[argc - 3]), argv[1]);
    do {
        sigwait(&set, &signal);
    } while (strcmp(argv[1], "stubborn") == 0 &&
             getppid() == number(argv[argc - 1]));
    write_line("ends");
    return 0;
}

/* ---- Their lines --------------------------------------------------------- */

static int told_fd;

/* The next line, without the pid before it. */
static pid_t read_pid(const char *expected)
{
    char          line[LINE_SIZE] = "";
    char         *text            = NULL;
    struct pollfd wait            = {.fd = told_fd, .events = POLLIN};
    for (size_t n = 0; n == 0 || line[n - 1] != '\n'; n++) {
        assert_int_equal(poll(&wait, 1, PATIENCE_MS), 1);
        assert_int_equal(read(told_fd, line + n, 1), 1);
    }
    line[strlen(line) - 1] = '\0';
    pid_t pid              = (pid_t)strtol(line, &text, 10);
    assert_string_equal(text + 1, expected);
    return pid;
}

static void expect_silence(void)
{
    struct pollfd wait = {.fd = told_fd, .events = POLLIN};
    assert_int_equal(poll(&wait, 1, 0), 0);
}

static int open_pipe(void **state)
{
    int  ends[2];
    char text[16];
    assert_int_equal(pipe(ends), 0); /* inherited by children */
    snprintf(text, sizeof(text), "%d", ends[1]);
    setenv("FBY_TEST_TELL", text, 1);
    told_fd     = ends[0];
    children_fd = ends[1];
    *state      = NULL;
    return 0;
}

static int close_pipe(void **state)
{
    (void)state;
    close(told_fd);
    close(children_fd);
    return 0;
}

/* ---- One child ----------------------------------------------------------- */

static struct fby_child start(const char *word)
{
    struct fby_child         child;
    struct fby_child_program program = {.inherited = {-1, -1}};
    struct fby_error_detail  why     = {{0}};
    fby_words_add(&program.args, word);
    assert_ok(fby_child_start(&child, "worker 7", &program, &why));
    fby_words_fini(&program.args);
    assert_int_equal(read_pid(word), child.pid);
    return child;
}

static void fails_to_start(
    const char *word, int64_t patience_ns, fby_err err, const char *text)
{
    struct fby_child        child = start(word);
    struct fby_error_detail why   = {{0}};
    assert_int_equal(
        fby_child_wait_ready(&child, fby_now_ns() + patience_ns, &why), err);
    assert_string_equal(why.text, text);
    assert_int_equal(child.ready_fd, -1);
    fby_children_stop(&child, 1, 60 * S);
    assert_int_equal(child.pid, 0);
}

static void a_child_that_writes_no_endpoint_is_named(void **state)
{
    (void)state;
    fails_to_start(
        "mute", FBY_NS_PER_MS, FBY_TIMEOUT, "worker 7 did not start in time");
    read_pid("ends");
    fails_to_start("short", 60 * S, FBY_GONE,
        "worker 7 ended while it started; see its message above");
    fails_to_start("tells", 60 * S, FBY_GONE, "worker 7: no room: make some");
    fails_to_start("endless", 60 * S, FBY_PROTO,
        "worker 7 has too long an endpoint; use a shorter --listen");
    read_pid("ends");
    expect_silence();
}

static void an_ended_child_leaves_its_cause(void **state)
{
    (void)state;
    struct fby_child        child = start("tells");
    struct fby_error_detail cause;
    assert_int_equal(waitpid(child.pid, &child.status, 0), child.pid);
    child.pid = 0;
    fby_child_read_cause(&child, &cause);
    assert_string_equal(cause.text, "no room: make some");
    assert_int_equal(child.ready_fd, -1);
    fby_child_read_cause(&child, &cause);
    assert_string_equal(cause.text, "");
}

static void a_child_that_does_not_end_is_killed(void **state)
{
    (void)state;
    struct fby_child        stubborn = start("stubborn");
    struct fby_child        worker   = start("worker");
    struct fby_error_detail why      = {{0}};
    assert_ok(fby_child_wait_ready(&worker, fby_now_ns() + 60 * S, &why));
    assert_string_equal(worker.endpoint, "tcp://127.0.0.1:4242");
    assert_false(fby_child_reap(&worker));
    fby_children_stop(&worker, 1, 60 * S);
    assert_int_equal(worker.pid, 0);
    assert_int_equal(worker.status, 0);
    read_pid("ends");
    fby_children_stop(&stubborn, 1, FBY_NS_PER_MS);
    assert_int_equal(stubborn.pid, 0);
    assert_int_equal(stubborn.ready_fd, -1);
    assert_true(WIFSIGNALED(stubborn.status));
    assert_int_equal(WTERMSIG(stubborn.status), SIGKILL);
    expect_silence();
}

/* ---- A cluster ----------------------------------------------------------- */

#define OWN_SERVER_KEYS " --keys (own key) --allowed (own list) --secure auth"
#define OWN_WORKER_KEY  " --keys (own key)"

static const char server_at_first[] =
    "server --listen tcp://127.0.0.1:*" OWN_SERVER_KEYS;
static const char server_again[] =
    "server --listen tcp://127.0.0.1:4242" OWN_SERVER_KEYS;
static const char plain_worker[] =
    "worker --server tcp://127.0.0.1:4242 --listen tcp://127.0.0.1:* "
    "--threads 3" OWN_WORKER_KEY;

static void options_are_passed_to_the_workers(void **state)
{
    char *roots[] = {(char[]){"a=/x"}, (char[]){"b=/y"}, NULL};
    const struct fby_cluster_options options = {.listen = "tcp://127.0.0.1:9",
        .keys                                           = "/k",
        .workers                                        = 2,
        .threads                                        = 5,
        .memory                                         = "1G",
        .cache                                          = "/c",
        .cpus                                           = "0-1",
        .nice                                           = "7",
        .roots                                          = roots};
    struct fby_cluster              *cluster = NULL;
    struct fby_error_detail          why     = {{0}};
    static const char                worker[] =
        "worker --server tcp://127.0.0.1:4242 --listen tcp://127.0.0.1:* "
        "--threads 5 --cpus 0-1 --nice 7 --memory 1G --cache /c --keys /k "
        "--data a=/x --data b=/y";
    (void)state;
    assert_ok(fby_cluster_start(&options, &cluster, &why));
    assert_string_equal(
        fby_cluster_server_endpoint(cluster), "tcp://127.0.0.1:4242");
    assert_string_equal(fby_cluster_keys(cluster), "/k");
    assert_string_equal(fby_cluster_keys_by_pid(cluster), "/k");
    pid_t server =
        read_pid("server --listen tcp://127.0.0.1:9 --keys /k --secure auth");
    read_pid(worker);
    read_pid(worker);
    fby_cluster_stop(&cluster);
    assert_null(cluster);
    fby_cluster_stop(&cluster);
    assert_int_not_equal(read_pid("ends"), server);
    assert_int_not_equal(read_pid("ends"), server);
    assert_int_equal(read_pid("ends"), server); /* the last */
    expect_silence();
}

static void starts_with_threads(
    struct fby_cluster_options options, uint32_t threads, const char *more)
{
    struct fby_cluster     *cluster = NULL;
    struct fby_error_detail why     = {{0}};
    char                   *none    = NULL;
    char                    text[LINE_SIZE];
    options.roots = &none;
    assert_ok(fby_cluster_start(&options, &cluster, &why));
    read_pid(server_at_first);
    snprintf(text, sizeof(text),
        "worker --server tcp://127.0.0.1:4242 --listen tcp://127.0.0.1:* "
        "--threads %u%s" OWN_WORKER_KEY,
        threads, more);
    for (unsigned i = 0; i < options.workers; i++) {
        read_pid(text);
    }
    fby_cluster_stop(&cluster);
    for (unsigned i = 0; i < options.workers + 1; i++) {
        read_pid("ends");
    }
}

static void workers_share_the_cores(void **state)
{
    uint32_t cores = fby_usable_cores();
    (void)state;
    starts_with_threads((struct fby_cluster_options){.workers = 1}, cores, "");
    starts_with_threads((struct fby_cluster_options){.workers = 2},
        cores > 1 ? cores / 2 : 1, "");
    starts_with_threads((struct fby_cluster_options){.workers = 1, .cpus = "0"},
        1, " --cpus 0");
    starts_with_threads((struct fby_cluster_options){.workers = 2, .cpus = "0"},
        1, " --cpus 0");
}

static void loads_the_trainers_key(const char *path)
{
    struct fby_key_file     key;
    struct fby_error_detail why = {""};
    assert_ok(fby_key_file_load(path, FBY_ROLE_TRAINER, &key, &why));
}

static void a_trainer_finds_its_key_until_the_stop(void **state)
{
    char                             keys[64];
    char                            *none    = NULL;
    const struct fby_cluster_options options = {.roots = &none};
    struct fby_cluster              *cluster = NULL;
    struct fby_error_detail          why     = {""};
    (void)state;
    assert_ok(fby_cluster_start(&options, &cluster, &why));
    read_pid(server_at_first);
    loads_the_trainers_key(fby_cluster_keys(cluster));
    snprintf(keys, sizeof(keys), "%s", fby_cluster_keys_by_pid(cluster));
    loads_the_trainers_key(keys);
    fby_cluster_stop(&cluster);
    assert_int_equal(access(keys, F_OK), -1);
    read_pid("ends");
}

static void insecure_children_have_no_keys(void **state)
{
    char                            *none    = NULL;
    const struct fby_cluster_options options = {
        .is_insecure = true, .listen = "tcp://10.0.0.1:7", .roots = &none};
    struct fby_cluster     *cluster = NULL;
    struct fby_error_detail why     = {""};
    (void)state;
    assert_ok(fby_cluster_start(&options, &cluster, &why));
    read_pid("server --listen tcp://10.0.0.1:7 --insecure");
    assert_string_equal(fby_cluster_keys(cluster), "");
    fby_cluster_stop(&cluster);
    read_pid("ends");
}

static struct fby_cluster *start_plain(pid_t *server, pid_t *worker)
{
    char                            *none    = NULL;
    const struct fby_cluster_options options = {
        .workers = 1, .threads = 3, .roots = &none};
    struct fby_cluster     *cluster = NULL;
    struct fby_error_detail why     = {{0}};
    assert_ok(fby_cluster_start(&options, &cluster, &why));
    *server = read_pid(server_at_first);
    *worker = read_pid(plain_worker);
    return cluster;
}

/* Wait until the child has ended. */
static void kill_child(pid_t pid)
{
    siginfo_t info;
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

static void note_delay(void *arg, enum fby_log_level level, const char *line)
{
    (void)level;
    snprintf(arg, LINE_SIZE, "%s", line);
}

static void a_worker_is_started_again_later_each_time(void **state)
{
    static const int    delays[] = {1, 2, 4, 8, 16, 30, 30};
    char                said[LINE_SIZE];
    char                text[LINE_SIZE];
    pid_t               server  = 0;
    pid_t               worker  = 0;
    int64_t             now_ns  = 100 * S;
    struct fby_cluster *cluster = start_plain(&server, &worker);
    (void)state;
    fby_log_redirect(FBY_LOG_WARN, note_delay, said);
    for (size_t i = 0; i < sizeof(delays) / sizeof(delays[0]); i++) {
        said[0] = '\0';
        fby_cluster_tick(cluster, now_ns);
        assert_string_equal(said, "");
        kill_child(worker);
        fby_cluster_tick(cluster, now_ns);
        snprintf(text, sizeof(text),
            "CHILD-ENDED worker 1 was killed by signal 9; started again in "
            "%d s",
            delays[i]);
        assert_string_equal(said, text);
        now_ns += delays[i] * S;
        fby_cluster_tick(cluster, now_ns - 1);
        expect_silence();
        fby_cluster_tick(cluster, now_ns);
        worker = read_pid(plain_worker);
    }
    fby_log_redirect(FBY_LOG_WARN, NULL, NULL);
    fby_cluster_stop(&cluster);
    assert_int_equal(read_pid("ends"), worker);
    assert_int_equal(read_pid("ends"), server);
}

static void of_too_many_workers_the_one_that_ended_is_given_up(void **state)
{
    char                      *roots[] = {NULL};
    struct fby_cluster_options options = {
        .workers = 3, .most_workers = 4, .threads = 3, .roots = roots};
    struct fby_error_detail why;
    struct fby_cluster     *cluster = NULL;
    pid_t                   workers[4];
    (void)state;
    fby_log_redirect(FBY_LOG_ERROR, NULL, NULL);
    assert_ok(fby_cluster_start(&options, &cluster, &why));
    pid_t server = read_pid(server_at_first);
    for (int i = 0; i < 3; i++) {
        workers[i] = read_pid(plain_worker);
    }
    kill_child(workers[0]);
    fby_cluster_tick(cluster, 100 * S); /* it is to be started again in 1 s */
    fby_cluster_set_workers(cluster, 2);
    fby_cluster_tick(cluster, 100 * S + S / 2);
    expect_silence(); /* no other ends, and it is not started */
    fby_cluster_set_workers(cluster, 9); /* at most 4: two more */
    fby_cluster_tick(cluster, 103 * S);
    workers[0] = read_pid(plain_worker);
    workers[3] = read_pid(plain_worker);
    fby_cluster_set_workers(cluster, 1);
    fby_cluster_tick(cluster, 104 * S);
    for (int i = 0; i < 3; i++) {
        assert_int_not_equal(read_pid("ends"), server);
    }
    fby_cluster_stop(&cluster);
    assert_int_not_equal(read_pid("ends"), server);
    assert_int_equal(read_pid("ends"), server);
}

static bool spawn_fails;
static int  spawn_error = ENOMEM;

/* NOLINTBEGIN(readability-identifier-naming): the linker's names */
int __real_posix_spawn(pid_t *pid, const char *path,
    const posix_spawn_file_actions_t *actions,
    const posix_spawnattr_t *attributes, char *const argv[],
    char *const environment[]);
int __wrap_posix_spawn(pid_t *pid, const char *path,
    const posix_spawn_file_actions_t *actions,
    const posix_spawnattr_t *attributes, char *const argv[],
    char *const environment[]);

int __wrap_posix_spawn(pid_t *pid, const char *path,
    const posix_spawn_file_actions_t *actions,
    const posix_spawnattr_t *attributes, char *const argv[],
    char *const environment[])
{
    return spawn_fails ? spawn_error
                       : __real_posix_spawn(
                             pid, path, actions, attributes, argv, environment);
}
/* NOLINTEND(readability-identifier-naming) */

static void a_restart_that_fails_is_tried_again(void **state)
{
    char                said[LINE_SIZE] = "";
    pid_t               server          = 0;
    pid_t               worker          = 0;
    struct fby_cluster *cluster         = start_plain(&server, &worker);
    (void)state;
    fby_log_redirect(FBY_LOG_WARN, note_delay, said);
    kill_child(worker);
    fby_cluster_tick(cluster, 5 * S);
    spawn_fails = true;
    fby_cluster_tick(cluster, 6 * S);
    assert_string_equal(said,
        "CHILD-LOST cannot start worker 1: Cannot allocate memory; started "
        "again in 2 s");
    spawn_fails = false;
    said[0]     = '\0';
    fby_cluster_tick(cluster, 8 * S - 1);
    expect_silence();
    fby_cluster_tick(cluster, 8 * S);
    fby_log_redirect(FBY_LOG_WARN, NULL, NULL);
    assert_string_equal(said, "");
    worker = read_pid(plain_worker);
    fby_cluster_stop(&cluster);
    assert_int_equal(read_pid("ends"), worker);
    assert_int_equal(read_pid("ends"), server);
}

static void a_server_is_started_again_where_it_was(void **state)
{
    char                said[LINE_SIZE] = "";
    pid_t               server          = 0;
    pid_t               worker          = 0;
    struct fby_cluster *cluster         = start_plain(&server, &worker);
    (void)state;
    fby_log_redirect(FBY_LOG_WARN, note_delay, said);
    kill_child(server);
    fby_cluster_tick(cluster, 5 * S);
    assert_string_equal(said,
        "CHILD-ENDED the server was killed by signal 9; started again in 1 s");
    fby_cluster_tick(cluster, 6 * S);
    fby_log_redirect(FBY_LOG_WARN, NULL, NULL);
    assert_int_not_equal(read_pid(server_again), server);
    assert_string_equal(
        fby_cluster_server_endpoint(cluster), "tcp://127.0.0.1:4242");
    fby_cluster_stop(&cluster);
    assert_int_equal(read_pid("ends"), worker);
    read_pid("ends");
}

static void a_start_beyond_the_limit_on_processes_names_it(void **state)
{
    (void)state;
    struct rlimit            before;
    struct fby_child_program program = {.inherited = {-1, -1}};
    struct fby_child         child;
    struct fby_error_detail  why = {{0}};
    fby_words_add(&program.args, "short");
    assert_int_equal(getrlimit(RLIMIT_NPROC, &before), 0);
    const struct rlimit lower = {1000, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NPROC, &lower), 0);
    spawn_fails = true;
    spawn_error = EAGAIN;
    assert_int_equal(
        fby_child_start(&child, "worker 1", &program, &why), FBY_SYS);
    spawn_fails = false;
    spawn_error = ENOMEM;
    assert_int_equal(setrlimit(RLIMIT_NPROC, &before), 0);
    assert_string_equal(why.text,
        "cannot start worker 1: Resource temporarily unavailable: the limit on "
        "processes is 1000; raise it (ulimit -u)");
    fby_children_stop(&child, 1, S);
    fby_words_fini(&program.args);
}

static void a_cluster_that_cannot_start_leaves_nothing(void **state)
{
    char                            *none    = NULL;
    const struct fby_cluster_options options = {.workers = 1, .roots = &none};
    struct fby_cluster              *cluster = NULL;
    struct fby_error_detail          why     = {{0}};
    (void)state;
    setenv("FBY_TEST_SHORT", "1", 1);
    assert_int_equal(fby_cluster_start(&options, &cluster, &why), FBY_GONE);
    unsetenv("FBY_TEST_SHORT");
    assert_null(cluster);
    assert_string_equal(
        why.text, "the server ended while it started; see its message above");
    read_pid(server_at_first);
    expect_silence();
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
}

#define WITH_PIPE(test) \
    cmocka_unit_test_setup_teardown(test, open_pipe, close_pipe)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        WITH_PIPE(a_child_that_writes_no_endpoint_is_named),
        WITH_PIPE(an_ended_child_leaves_its_cause),
        WITH_PIPE(a_child_that_does_not_end_is_killed),
        WITH_PIPE(options_are_passed_to_the_workers),
        WITH_PIPE(a_trainer_finds_its_key_until_the_stop),
        WITH_PIPE(insecure_children_have_no_keys),
        WITH_PIPE(workers_share_the_cores),
        WITH_PIPE(a_worker_is_started_again_later_each_time),
        WITH_PIPE(of_too_many_workers_the_one_that_ended_is_given_up),
        WITH_PIPE(a_restart_that_fails_is_tried_again),
        WITH_PIPE(a_server_is_started_again_where_it_was),
        cmocka_unit_test(a_start_beyond_the_limit_on_processes_names_it),
        WITH_PIPE(a_cluster_that_cannot_start_leaves_nothing),
    };
    if (argc > 1) {
        return child_main(argc, argv);
    }
    return cmocka_run_group_tests_name("cli.cluster", tests, NULL, NULL);
}
