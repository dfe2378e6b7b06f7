/* Runs a model from one thread and from several at once, each with width 1 and inputs of its own: usage bench_callers
 * MODEL.onnx THREADS. Prints lines of JSON: runs a second, and their ratio to those of one thread. Free dimensions are
 * taken as 1. */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench/measure.h"

enum { MAX_VALUES = 16, MAX_THREADS = 64, ROUNDS = 5, ROUND_MS = 400 };

typedef struct caller {
  pthread_t thread;
  nd4c_model *model;
  const char *names[MAX_VALUES];
  nd4c_array *inputs[MAX_VALUES];
  int32_t input_count, output_count;
  _Atomic int *ready, *phase; /* callers that wait for the start; 0: wait, 1: run, 2: end */
  int64_t runs;               /* in the latest round */
} caller;

static void run_once(const caller *c, nd4c_context *context) {
  const nd4c_array *inputs[MAX_VALUES];
  nd4c_array *outputs[MAX_VALUES] = {0};
  for (int32_t i = 0; i < c->input_count; i++) {
    inputs[i] = c->inputs[i];
  }
  bench_check(nd4c_model_run(c->model, context, c->names, inputs, c->input_count, outputs, c->output_count),
              "nd4c_model_run");
  for (int32_t i = 0; i < c->output_count; i++) {
    nd4c_array_release(outputs[i]);
  }
}

static void *call(void *argument) {
  caller *c = argument;
  nd4c_context *context = NULL;
  const nd4c_context_options options = {.struct_size = sizeof options, .width = 1};
  bench_check(nd4c_context_create(&options, &context), "nd4c_context_create");
  run_once(c, context);
  atomic_fetch_add(c->ready, 1);
  while (atomic_load(c->phase) == 0) {
  }
  for (c->runs = 0; atomic_load(c->phase) == 1; c->runs++) {
    run_once(c, context);
  }
  nd4c_context_destroy(context);
  return NULL;
}

static void prepare(caller *c, nd4c_model *model, int number) {
  *c = (caller){
      .model = model, .input_count = nd4c_model_input_count(model), .output_count = nd4c_model_output_count(model)};
  if (c->input_count > MAX_VALUES || c->output_count > MAX_VALUES) {
    fprintf(stderr, "error: more than %d inputs or outputs\n", (int)MAX_VALUES);
    exit(1);
  }
  for (int32_t i = 0; i < c->input_count; i++) {
    nd4c_model_value value = {.struct_size = sizeof value};
    int64_t shape[ND4C_MAX_RANK];
    bench_check(nd4c_model_input(model, i, &value), "nd4c_model_input");
    for (int32_t axis = 0; axis < value.rank; axis++) {
      shape[axis] = value.shape[axis] < 0 ? 1 : value.shape[axis];
    }
    c->names[i] = value.name;
    bench_check(nd4c_array_full(value.dtype, value.rank < 0 ? 0 : value.rank, shape, number % 2, NULL, &c->inputs[i]),
                "nd4c_array_full");
  }
}

/* Runs a second of so many threads together. */
static double measure(caller *callers, int threads) {
  _Atomic int ready = 0, phase = 0;
  int64_t runs = 0;
  for (int i = 0; i < threads; i++) {
    callers[i].ready = &ready;
    callers[i].phase = &phase;
    if (pthread_create(&callers[i].thread, NULL, call, &callers[i]) != 0) {
      fprintf(stderr, "error: no thread\n");
      exit(1);
    }
  }
  const struct timespec moment = {.tv_nsec = 1000000}, round = {.tv_nsec = ROUND_MS * 1000000L};
  while (atomic_load(&ready) < threads) {
    (void)nanosleep(&moment, NULL);
  }
  const double begin = bench_now();
  atomic_store(&phase, 1);
  (void)nanosleep(&round, NULL);
  atomic_store(&phase, 2);
  for (int i = 0; i < threads; i++) {
    (void)pthread_join(callers[i].thread, NULL);
    runs += callers[i].runs;
  }
  return (double)runs * 1e9 / (bench_now() - begin);
}

int main(int count, char **arguments) {
  static caller callers[MAX_THREADS];
  const long threads = count == 3 ? strtol(arguments[2], NULL, 10) : 0;
  nd4c_model *model = NULL;
  double one = 0, several = 0;
  if (threads < 2 || threads > MAX_THREADS) {
    fprintf(stderr, "usage: %s MODEL.onnx THREADS (2 to %d)\n", arguments[0], (int)MAX_THREADS);
    return 2;
  }
  bench_check(nd4c_model_open(arguments[1], NULL, &model), arguments[1]);
  for (int i = 0; i < threads; i++) {
    prepare(&callers[i], model, i);
  }
  for (int round = 0; round < ROUNDS; round++) { /* in turn, so that both see the same machine */
    const double alone = measure(callers, 1), together = measure(callers, (int)threads);
    one = alone > one ? alone : one;
    several = together > several ? together : several;
  }
  printf("{\"model\": \"%s\", \"threads\": %ld, \"one_per_s\": %.1f, \"several_per_s\": %.1f, \"ratio\": %.2f}\n",
         arguments[1], threads, one, several, several / one);
  for (int i = 0; i < threads; i++) {
    for (int32_t k = 0; k < callers[i].input_count; k++) {
      nd4c_array_release(callers[i].inputs[k]);
    }
  }
  nd4c_model_close(model);
  return 0;
}
