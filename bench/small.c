/* The loops of small.h over calls on small arrays. bench_dispatch.c and bench_routing.c call them directly,
 * bench/ours.py through ctypes. */
#include "small.h"

#include "measure.h"

static nd4c_status call_into(const nd4c_array *a, const nd4c_array *b, nd4c_array *y) {
  return nd4c_add(a, b, &y);
}

static nd4c_status call_fresh(const nd4c_array *a, const nd4c_array *b, nd4c_array *y) {
  y = NULL;
  nd4c_status status = nd4c_add(a, b, &y);
  nd4c_array_release(y);
  return status;
}

static nd4c_status call_view(const nd4c_array *a, const nd4c_array *b, nd4c_array *y) {
  const int64_t start = 1, stop = ND4C_SLICE_NONE;
  (void)b;
  y = NULL;
  nd4c_status status = nd4c_array_slice(a, &start, &stop, NULL, &y);
  nd4c_array_release(y);
  return status;
}

static nd4c_status call_sum(const nd4c_array *a, const nd4c_array *b, nd4c_array *y) {
  (void)b;
  y = NULL;
  nd4c_status status = nd4c_sum(a, NULL, 0, false, ND4C_DTYPE_NONE, &y);
  nd4c_array_release(y);
  return status;
}

double bench_small_calls(int which, const nd4c_array *a, const nd4c_array *b, nd4c_array *y, int64_t calls) {
  nd4c_status (*const bodies[])(const nd4c_array *, const nd4c_array *, nd4c_array *) = {call_into, call_fresh,
                                                                                         call_view, call_sum};
  if (which < 0 || which > BENCH_SMALL_SUM) {
    return -1;
  }
  nd4c_status (*const body)(const nd4c_array *, const nd4c_array *, nd4c_array *) = bodies[which];
  nd4c_status status = ND4C_OK;
  double begin = bench_now();
  for (int64_t i = 0; i < calls; i++) {
    status |= body(a, b, y);
  }
  return status == ND4C_OK ? (bench_now() - begin) / (double)calls : -1;
}
