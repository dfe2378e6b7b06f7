/* The engines that call vendors' libraries, in difficult situations: several threads on one prepared state, a fork, no
 * memory. */
#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/config/config.h"
#include "base/os.h"
#include "base/threads/parallel.h"
#include "base/threads/pool.h"
#include "kernels/kernel_call.h"

typedef struct subject {
  const char *op, *engine;
  nd4c_dtype dtype;
  int64_t shapes[3][4];
  int32_t ranks[3];
} subject;

static const subject subjects[] = {
    {"conv", "onednn", ND4C_FLOAT32, {{1, 16, 20, 20}, {32, 16, 3, 3}, {32}}, {4, 4, 1}},
    {"conv", "simd", ND4C_FLOAT32, {{1, 16, 20, 20}, {32, 16, 3, 3}, {32}}, {4, 4, 1}},
    {"linear", "onednn", ND4C_FLOAT32, {{64, 64}, {64, 96}, {96}}, {2, 2, 1}},
    {"linear", "openblas", ND4C_FLOAT64, {{64, 64}, {64, 96}, {96}}, {2, 2, 1}},
    {"linear", "simd", ND4C_FLOAT64, {{64, 64}, {64, 96}, {96}}, {2, 2, 1}},
    {"matmul", "openblas", ND4C_FLOAT64, {{200, 200}, {200, 200}}, {2, 2, 0}},
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static void make(const subject *s, call_frame *frame) {
  memset(frame, 0, sizeof *frame);
  int32_t inputs = 0;
  for (; inputs < 3 && s->ranks[inputs] > 0; inputs++) {
    operand *op = &frame->operands[inputs];
    op->dtype = s->dtype;
    op->rank = s->ranks[inputs];
    memcpy(op->shape, s->shapes[inputs], sizeof s->shapes[inputs]);
    lay_out(op, C_ORDER);
    fill(op, (uint64_t)inputs + 3, -1);
  }
  const nd4c_op_info *info = NULL;
  assert_int_equal(nd4c_op_find(s->op, &info), ND4C_OK);
  nd4c_attr_value values[MAX_ATTRS];
  assert_int_equal(nd4c_op_resolve_attrs(info, NULL, 0, values), ND4C_OK);
  ready(frame, s->op, inputs, values, C_ORDER);
  for (int32_t i = 1; i < inputs; i++) {
    frame->inputs[i].flags = ND4C_TENSOR_CONSTANT;
  }
}

/* The kernel, or NULL if its engine cannot be used on this machine. */
static const nd4c_kernel *usable_kernel(const subject *s, const call_frame *frame) {
  const nd4c_kernel *kernel = engine_kernel(s->op, s->engine);
  char reason[TEXT_SIZE] = "";
  if (kernel != NULL && kernel->usable(&frame->call, reason, sizeof reason)) {
    return kernel;
  }
  print_message("%s on %s: %s\n", s->op, s->engine, reason);
  return NULL;
}

static void prepare(const nd4c_kernel *kernel, nd4c_call *call) {
  call->state = NULL;
  if (kernel->prepare != NULL) {
    assert_int_equal(kernel->prepare(call, &call->state), ND4C_OK);
  }
}

static void unprepare(const nd4c_kernel *kernel, nd4c_call *call) {
  if (kernel->unprepare != NULL) {
    kernel->unprepare(call->state);
  }
}

/* Runs into separate memory and compares with the frame's result, bit by bit. */
static bool run_agrees(const nd4c_kernel *kernel, const call_frame *frame) {
  nd4c_call call = frame->call;
  nd4c_tensor output = frame->output;
  int64_t bytes = kernel->scratch_bytes != NULL ? kernel->scratch_bytes(&call) : 0;
  call.scratch = aligned_alloc(64, (size_t)(bytes + 64) / 64 * 64);
  output.data = aligned_alloc(64, (frame->result.bytes + 63) / 64 * 64);
  call.outputs = &output;
  bool agrees = kernel->run(&call) == ND4C_OK && memcmp(output.data, frame->result.memory, frame->result.bytes) == 0;
  free(call.scratch);
  free(output.data);
  return agrees;
}

static void run_first(const nd4c_kernel *kernel, call_frame *frame) {
  int64_t bytes = kernel->scratch_bytes != NULL ? kernel->scratch_bytes(&frame->call) : 0;
  frame->call.scratch = aligned_alloc(64, (size_t)(bytes + 64) / 64 * 64);
  assert_int_equal(kernel->run(&frame->call), ND4C_OK);
  free(frame->call.scratch);
  frame->call.scratch = NULL;
}

static int threads_of_process(void) {
  DIR *folder = opendir("/proc/self/task");
  int count = 0;
  assert_non_null(folder);
  while (readdir(folder) != NULL) {
    count++;
  }
  closedir(folder);
  return count;
}

/* Little work opens no team. Must run first: the pool keeps the threads of a team. */
static void test_small_work_stays_on_the_thread(void **state) {
  (void)state;
  static const subject small[] = {
      {"linear", "onednn", ND4C_FLOAT32, {{64, 64}, {64, 64}, {64}}, {2, 2, 1}},
      {"conv", "onednn", ND4C_FLOAT32, {{1, 16, 14, 14}, {16, 16, 3, 3}, {16}}, {4, 4, 1}},
      {"svdvals", "openblas", ND4C_FLOAT64, {{100, 100}}, {2}},
      {"svdvals", "openblas", ND4C_FLOAT64, {{300, 300}}, {2}},
      {"eigvalsh", "openblas", ND4C_FLOAT64, {{300, 300}}, {2}},
      {"inv", "openblas", ND4C_FLOAT64, {{500, 500}}, {2}},
      {"solve", "openblas", ND4C_FLOAT64, {{500, 500}, {500}}, {2, 1}},
      {"cholesky", "openblas", ND4C_FLOAT64, {{500, 500}}, {2}}, /* definite: see below */
      {"power", "simd", ND4C_FLOAT32, {{5000}, {1}}, {1, 1}},    /* squares */
  };
  const int before = threads_of_process();
  for (size_t s = 0; s < sizeof small / sizeof *small; s++) {
    call_frame frame;
    make(&small[s], &frame);
    frame.call.width = 2;
    if (strcmp(small[s].op, "power") == 0) {
      *(float *)(void *)frame.operands[1].memory = 2;
    }
    for (int64_t i = 0; strcmp(small[s].op, "cholesky") == 0 && i < 500; i++) {
      ((double *)frame.operands[0].memory)[i * 501] = 1000;
    }
    const nd4c_kernel *kernel = usable_kernel(&small[s], &frame);
    if (kernel != NULL) {
      prepare(kernel, &frame.call);
      run_first(kernel, &frame);
      assert_int_equal(threads_of_process(), before);
      unprepare(kernel, &frame.call);
    }
    release(&frame);
  }
}

/* Jobs of the pool that a call of width 2 makes; -1 if the engine cannot be used on this machine. */
static int64_t jobs_of(const subject *s) {
  call_frame frame;
  make(s, &frame);
  frame.call.width = 2;
  const nd4c_kernel *kernel = usable_kernel(s, &frame);
  int64_t jobs = -1;
  if (kernel != NULL) {
    prepare(kernel, &frame.call);
    const uint32_t before = nd4c_pool_published();
    run_first(kernel, &frame);
    jobs = nd4c_pool_published() - before;
    unprepare(kernel, &frame.call);
  }
  release(&frame);
  return jobs;
}

/* Each thread factorises matrices of its own: one job, where LAPACK would make one for each of its steps. */
static void test_batch_is_shared_by_matrices(void **state) {
  (void)state;
  assert_int_equal(nd4c_config_set("nd4c.width", "2"), ND4C_OK);
  static const subject batches[] = {
      {"inv", "openblas", ND4C_FLOAT64, {{4, 200, 200}}, {3}},
      {"svdvals", "openblas", ND4C_FLOAT32, {{2, 200, 200}}, {3}},
  };
  for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
    const int64_t jobs = jobs_of(&batches[i]);
    assert_true(jobs == 1 || jobs == -1);
  }
  /* A substitution has few regions, so two threads work on one. */
  const subject substitution = {"triangular_solve", "openblas", ND4C_FLOAT64, {{400, 400}, {400, 400}}, {2, 2}};
  assert_int_not_equal(jobs_of(&substitution), 0);
  assert_int_equal(nd4c_config_set("nd4c.width", NULL), ND4C_OK);
}

typedef struct worker {
  const nd4c_kernel *kernel;
  const call_frame *frame;
  int wrong;
} worker;

static void *work(void *pointer) {
  worker *w = pointer;
  for (int i = 0; i < 30; i++) {
    w->wrong += !run_agrees(w->kernel, w->frame);
  }
  return NULL;
}

static void test_threads_share_a_state(void **state) {
  (void)state;
  for (int s = 0; s < SUBJECTS; s++) {
    call_frame frame;
    make(&subjects[s], &frame);
    const nd4c_kernel *kernel = usable_kernel(&subjects[s], &frame);
    if (kernel != NULL) {
      prepare(kernel, &frame.call);
      run_first(kernel, &frame);
      pthread_t threads[4];
      worker workers[4];
      for (int t = 0; t < 4; t++) {
        workers[t] = (worker){kernel, &frame, 0};
        assert_int_equal(pthread_create(&threads[t], NULL, work, &workers[t]), 0);
      }
      for (int t = 0; t < 4; t++) {
        pthread_join(threads[t], NULL);
        if (workers[t].wrong != 0) {
          fail_msg("%s: %d of 30 runs beside other threads differ", kernel->name, workers[t].wrong);
        }
      }
      unprepare(kernel, &frame.call);
    }
    release(&frame);
  }
}

static _Atomic int held, may_end;

static void hold(void *user, int64_t begin, int64_t end, int32_t number) {
  (void)user;
  (void)begin;
  (void)end;
  (void)number;
  atomic_fetch_add(&held, 1);
  while (!atomic_load(&may_end)) {
    nd4c_os_sleep(100000);
  }
}

static void *hold_pool(void *argument) {
  nd4c_parallel_for(2, 1, 2, hold, argument);
  return NULL;
}

/* The only helper is busy for as long as another caller likes: the caller computes a product alone. */
static void test_product_waits_for_no_helper(void **state) {
  static const subject products[] = {
      {"matmul", "openblas", ND4C_FLOAT64, {{200, 200}, {200, 200}}, {2, 2, 0}},
      {"matmul", "openblas", ND4C_FLOAT64, {{40, 200}, {200, 400}}, {2, 2, 0}},
      {"matmul", "openblas", ND4C_FLOAT64, {{100, 3000}, {3000, 100}}, {2, 2, 0}},
      {"matmul", "openblas", ND4C_FLOAT64, {{20, 3000}, {3000, 90}}, {2, 2, 0}},
      {"matmul", "openblas", ND4C_FLOAT64, {{40, 20000}, {20000, 40}}, {2, 2, 0}},
      {"inner", "openblas", ND4C_FLOAT64, {{100, 3000}, {100, 3000}}, {2, 2, 0}},
      {"inner", "openblas", ND4C_FLOAT64, {{20, 3000}, {300, 3000}}, {2, 2, 0}},
      {"inner", "openblas", ND4C_FLOAT64, {{200, 200}, {200, 200}}, {2, 2, 0}},
      {"linear", "openblas", ND4C_FLOAT32, {{200, 200}, {200, 200}, {200}}, {2, 2, 1}},
      {"matrix_power", "openblas", ND4C_FLOAT64, {{300, 300}}, {2}},
      {"expm", "openblas", ND4C_FLOAT64, {{300, 300}}, {2}},
      {"expm", "openblas", ND4C_COMPLEX128, {{200, 200}}, {2}},
  };
  (void)state;
  pthread_t holder;
  assert_int_equal(nd4c_config_set("nd4c.width", "2"), ND4C_OK);
  assert_int_equal(pthread_create(&holder, NULL, hold_pool, NULL), 0);
  while (atomic_load(&held) < 2) {
    nd4c_os_sleep(100000);
  }
  (void)alarm(20); /* it ends a program that waits for the helper */
  for (size_t s = 0; s < sizeof products / sizeof *products; s++) {
    call_frame frame;
    make(&products[s], &frame);
    frame.call.width = 2;
    const nd4c_kernel *kernel = usable_kernel(&products[s], &frame);
    if (kernel != NULL) {
      prepare(kernel, &frame.call);
      run_first(kernel, &frame);
      unprepare(kernel, &frame.call);
    }
    release(&frame);
  }
  (void)alarm(0);
  atomic_store(&may_end, 1);
  assert_int_equal(pthread_join(holder, NULL), 0);
  assert_int_equal(nd4c_config_set("nd4c.width", NULL), ND4C_OK);
}

static void test_child_after_fork_runs(void **state) {
  (void)state;
#if defined(ND4C_THREAD_SANITIZER)
  print_message("ThreadSanitizer forbids threads in the child of a process that had some\n");
  skip();
#endif
  for (int s = 0; s < SUBJECTS; s++) {
    call_frame frame;
    make(&subjects[s], &frame);
    const nd4c_kernel *kernel = usable_kernel(&subjects[s], &frame);
    if (kernel != NULL) {
      prepare(kernel, &frame.call);
      run_first(kernel, &frame);
      pid_t child = fork();
      assert_true(child >= 0);
      if (child == 0) {
        alarm(20); /* the alarm ends a child that waits for threads of the parent */
        const double *expected = result_numbers(&frame);
        run_first(kernel, &frame);
        const double *got = result_numbers(&frame);
        bool close = true;
        for (int64_t i = 0; i < frame.output.size; i++) {
          close = close && fabs(got[i] - expected[i]) < 1e-4;
        }
        _exit(close ? 0 : 1);
      }
      int status = 0;
      assert_int_equal(waitpid(child, &status, 0), child);
      if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fail_msg("%s in a forked child: %s %d", kernel->name, WIFSIGNALED(status) ? "signal" : "exit",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
      }
      unprepare(kernel, &frame.call);
    }
    release(&frame);
  }
}

/* Every allocation of prepare fails once: a status, and nothing left behind (the leak checker looks). */
static void test_failing_allocations(void **state) {
  (void)state;
  for (int s = 0; s < SUBJECTS; s++) {
    call_frame frame;
    make(&subjects[s], &frame);
    const nd4c_kernel *kernel = usable_kernel(&subjects[s], &frame);
    for (int64_t skip = 0; kernel != NULL && kernel->prepare != NULL && skip < 100; skip++) {
      frame.call.state = NULL;
      nd4c_allocation_fail_at(skip);
      nd4c_status status = kernel->prepare(&frame.call, &frame.call.state);
      nd4c_allocation_fail_at(-1);
      if (status == ND4C_OK) {
        unprepare(kernel, &frame.call);
        assert_true(skip > 0);
        break;
      }
      assert_int_equal(status, ND4C_MEMORY);
    }
    release(&frame);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_small_work_stays_on_the_thread), cmocka_unit_test(test_product_waits_for_no_helper),
      cmocka_unit_test(test_batch_is_shared_by_matrices),    cmocka_unit_test(test_threads_share_a_state),
      cmocka_unit_test(test_child_after_fork_runs),          cmocka_unit_test(test_failing_allocations)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
