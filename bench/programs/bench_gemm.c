/* Matrix products of every class: nd4c beside OpenBLAS and oneDNN called directly, in turns. Prints lines of JSON; the
 * limit is the peak of multiply-adds on all cores or, if reading the operands takes longer, the peak of reading. */
#include <stdio.h>

#include "bench/limits.h"
#include "bench/measure.h"
#include "bench/vendor.h"

typedef struct product_class {
  const char *name;
  nd4c_dtype dtype;
  int64_t batch, m, k, n;
} product_class;

static const product_class classes[] = {
    {"small", ND4C_FLOAT32, 1, 64, 64, 64},           {"small", ND4C_FLOAT64, 1, 64, 64, 64},
    {"square", ND4C_FLOAT32, 1, 256, 256, 256},       {"square", ND4C_FLOAT64, 1, 256, 256, 256},
    {"square", ND4C_FLOAT32, 1, 1024, 1024, 1024},    {"square", ND4C_FLOAT64, 1, 1024, 1024, 1024},
    {"batched", ND4C_FLOAT32, 64, 128, 128, 128},     {"batched", ND4C_FLOAT64, 64, 128, 128, 128},
    {"vector", ND4C_FLOAT32, 1, 4096, 4096, 1},       {"vector", ND4C_FLOAT64, 1, 4096, 4096, 1},
    {"row", ND4C_FLOAT32, 1, 1, 4096, 4096},          {"row", ND4C_FLOAT64, 1, 1, 4096, 4096},
    {"skinny", ND4C_FLOAT32, 1, 1, 768, 3072},        {"skinny", ND4C_FLOAT32, 1, 8, 768, 3072},
    {"bfloat16", ND4C_BFLOAT16, 1, 1024, 1024, 1024}, {"bfloat16", ND4C_BFLOAT16, 1, 1, 768, 3072},
    {"int8", ND4C_INT8, 1, 1024, 1024, 1024},         {"int8", ND4C_INT8, 1, 1, 768, 3072},
};

typedef struct gemm_state {
  bool integer;
  nd4c_array *a, *b, *c;
} gemm_state;

static void run_ours(void *argument) {
  gemm_state *state = argument;
  bench_check(state->integer ? nd4c_matmul_integer(state->a, state->b, NULL, NULL, &state->c)
                             : nd4c_matmul(state->a, state->b, &state->c),
              "a product");
}

static void run_vendor(void *argument) {
  if (!bench_product_run(argument)) {
    fprintf(stderr, "error: a direct call failed\n");
  }
}

/* Nanoseconds that the class takes at best. */
static double limit_of(const product_class *c, double flops, int width) {
  double peak = bench_limit_gflops(c->dtype, width), each = (double)nd4c_dtype_size(c->dtype);
  double bytes = each * (double)c->batch * ((double)c->m * (double)c->k + (double)c->k * (double)c->n), best = 1e30;
  const int64_t shape = (int64_t)bytes / 4;
  nd4c_array *read = bench_array(ND4C_FLOAT32, 1, &shape);
  const void *data;
  bench_check(nd4c_array_data(read, &data), "nd4c_array_data");
  for (int attempt = 0; attempt < 10; attempt++) {
    double begin = bench_now(), sum = bench_limit_read(data, (size_t)bytes, width), took = bench_now() - begin;
    best = took < best && sum != 0 ? took : best;
  }
  nd4c_array_release(read);
  double compute = peak > 0 ? flops / peak : 0;
  return compute > best ? compute : best;
}

static void measure(const product_class *c, int width) {
  const int64_t a_shape[3] = {c->batch, c->m, c->k}, b_shape[3] = {c->batch, c->k, c->n},
                y_shape[3] = {c->batch, c->m, c->n};
  int32_t skipped = c->batch == 1, rank = 3 - skipped;
  nd4c_dtype result = c->dtype == ND4C_INT8 ? ND4C_INT32 : c->dtype;
  gemm_state ours = {.integer = c->dtype == ND4C_INT8};
  ours.a = bench_array(c->dtype, rank, a_shape + skipped);
  ours.b = bench_array(c->dtype, rank, b_shape + skipped);
  ours.c = bench_array(result, rank, y_shape + skipped);
  nd4c_array *other = bench_array(result, rank, y_shape + skipped);
  const void *a, *b;
  void *y;
  bench_check(nd4c_array_data(ours.a, &a), "nd4c_array_data");
  bench_check(nd4c_array_data(ours.b, &b), "nd4c_array_data");
  bench_check(nd4c_array_data_mutable(other, &y), "nd4c_array_data_mutable");
  char text[64], name[48];
  snprintf(text, sizeof text, "%lld of %lldx%lldx%lld", (long long)c->batch, (long long)c->m, (long long)c->k,
           (long long)c->n);
  snprintf(name, sizeof name, "nd4c, %s", c->name);
  double flops = 2.0 * (double)c->batch * (double)c->m * (double)c->n * (double)c->k;
  bench_case cases[4] = {{.name = name, .body = run_ours, .state = &ours}};
  int count = 1;
  for (int vendor = BENCH_OPENBLAS; vendor <= BENCH_ONEDNN_MATMUL && c->batch == 1; vendor++) {
    bench_product *product = bench_product_make(vendor, c->dtype, c->m, c->k, c->n, a, b, y);
    if (product != NULL) {
      cases[count++] = (bench_case){.name = bench_vendor_name(vendor, c->dtype), .body = run_vendor, .state = product};
    }
  }
  for (int i = 0; i < count; i++) {
    cases[i].shape = text;
    cases[i].dtype = nd4c_dtype_name(c->dtype);
    cases[i].flops = flops;
  }
  bench_interleave(cases, count);
  double limit = limit_of(c, flops, width);
  for (int i = 0; i < count; i++) {
    bench_print(&cases[i], limit);
    if (i > 0) {
      printf("{\"name\": \"%s / nd4c\", \"shape\": \"%s\", \"dtype\": \"%s\", \"ratio\": %.3f}\n", cases[i].name, text,
             nd4c_dtype_name(c->dtype), bench_ratio(&cases[i], &cases[0]));
      bench_product_free(cases[i].state);
    }
  }
  nd4c_array *all[] = {ours.a, ours.b, ours.c, other};
  for (int i = 0; i < 4; i++) {
    nd4c_array_release(all[i]);
  }
}

int main(void) {
  nd4c_machine_info machine = {.struct_size = sizeof machine};
  bench_check(nd4c_machine_get_info(&machine), "nd4c_machine_get_info");
  for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
    measure(&classes[i], machine.width);
  }
  return 0;
}
