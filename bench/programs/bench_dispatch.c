/* Calls on eight float32 elements: the cost of a call besides its arithmetic. Prints lines of JSON. */
#include <stdio.h>

#include "bench/measure.h"
#include "bench/small.h"

enum { CALLS = 1000 };

typedef struct small_state {
  int which;
  nd4c_array *a, *b, *y;
} small_state;

static void body(void *argument) {
  small_state *state = argument;
  if (bench_small_calls(state->which, state->a, state->b, state->y, CALLS) < 0) {
    bench_check(nd4c_error_code(), "a small call");
  }
}

int main(void) {
  const int64_t shape = 8;
  nd4c_array *a = bench_array(ND4C_FLOAT32, 1, &shape), *b = bench_array(ND4C_FLOAT32, 1, &shape);
  nd4c_array *y = bench_array(ND4C_FLOAT32, 1, &shape);
  static const char *const names[] = {"add into an output", "add fresh", "slice view", "sum fresh"};
  enum { COUNT = sizeof names / sizeof *names };
  small_state states[COUNT];
  bench_case cases[COUNT];
  for (int i = 0; i < COUNT; i++) {
    states[i] = (small_state){.which = i, .a = a, .b = b, .y = y};
    cases[i] = (bench_case){.name = names[i], .shape = "8", .dtype = "float32", .body = body, .state = &states[i]};
  }
  bench_interleave(cases, COUNT);
  for (int i = 0; i < COUNT; i++) {
    for (int round = 0; round < BENCH_ROUNDS; round++) {
      cases[i].times[round] /= CALLS;
    }
    bench_print(&cases[i], 0);
  }
  nd4c_array_release(a);
  nd4c_array_release(b);
  nd4c_array_release(y);
  return 0;
}
