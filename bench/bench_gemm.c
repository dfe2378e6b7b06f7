/* Square matrix products: nd4c beside OpenBLAS and oneDNN called directly, in turns. Prints lines of JSON; the
 * fraction of the limit is of the multiply-adds that all cores do at best. */
#include <stdio.h>

#include "limits.h"
#include "measure.h"
#include "vendor.h"

typedef struct gemm_state {
  nd4c_array *a, *b, *c;
} gemm_state;

static void run_ours(void *argument) {
  gemm_state *state = argument;
  bench_check(nd4c_matmul(state->a, state->b, &state->c), "nd4c_matmul");
}

static void run_vendor(void *argument) {
  if (!bench_product_run(argument)) {
    fprintf(stderr, "error: a direct call failed\n");
  }
}

static void measure(nd4c_dtype dtype, int64_t n, double peak) {
  const int64_t shape[2] = {n, n};
  gemm_state ours = {.a = bench_array(dtype, 2, shape), .b = bench_array(dtype, 2, shape)};
  ours.c = bench_array(dtype, 2, shape);
  nd4c_array *other = bench_array(dtype, 2, shape);
  const void *a, *b;
  void *c;
  bench_check(nd4c_array_data(ours.a, &a), "nd4c_array_data");
  bench_check(nd4c_array_data(ours.b, &b), "nd4c_array_data");
  bench_check(nd4c_array_data_mutable(other, &c), "nd4c_array_data_mutable");
  char text[32];
  snprintf(text, sizeof text, "%lldx%lldx%lld", (long long)n, (long long)n, (long long)n);
  double flops = 2.0 * (double)n * (double)n * (double)n;
  bench_case cases[4] = {{.name = "nd4c matmul", .body = run_ours, .state = &ours}};
  int count = 1;
  for (int vendor = BENCH_OPENBLAS; vendor <= BENCH_ONEDNN_MATMUL; ++vendor) {
    bench_product *product = bench_product_make(vendor, dtype, n, a, b, c);
    if (product != NULL) {
      cases[count++] = (bench_case){.name = bench_vendor_name(vendor, dtype), .body = run_vendor, .state = product};
    }
  }
  for (int i = 0; i < count; ++i) {
    cases[i].shape = text;
    cases[i].dtype = nd4c_dtype_name(dtype);
    cases[i].flops = flops;
  }
  bench_interleave(cases, count);
  for (int i = 0; i < count; ++i) {
    bench_print(&cases[i], peak > 0 ? flops / peak : 0);
    if (i > 0) {
      printf("{\"name\": \"%s / nd4c\", \"shape\": \"%s\", \"dtype\": \"%s\", \"ratio\": %.3f}\n", cases[i].name, text,
             nd4c_dtype_name(dtype), bench_ratio(&cases[i], &cases[0]));
      bench_product_free(cases[i].state);
    }
  }
  nd4c_array *all[] = {ours.a, ours.b, ours.c, other};
  for (int i = 0; i < 4; ++i) {
    nd4c_array_release(all[i]);
  }
}

int main(void) {
  nd4c_machine_info machine = {.struct_size = sizeof machine};
  bench_check(nd4c_machine_get_info(&machine), "nd4c_machine_get_info");
  static const nd4c_dtype dtypes[] = {ND4C_FLOAT32, ND4C_FLOAT64};
  for (int i = 0; i < 2; ++i) {
    double peak = bench_limit_gflops(dtypes[i], machine.width);
    measure(dtypes[i], 512, peak);
    measure(dtypes[i], 1024, peak);
  }
  return 0;
}
