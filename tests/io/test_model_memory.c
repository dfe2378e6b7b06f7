/* The memory of models: weights that kernels read packed are in memory once, for all nodes, shapes and models; weights
 * that are not aligned, or transposed, are computed right; a closed model leaves nothing. */
#define _DEFAULT_SOURCE /* mkdtemp */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/storage/forms.h"
#include "device/storage/packed.h"
#include "model_build.h"
#include "nd4c/nd4c.h"

enum { WIDTH = 256, WEIGHTS = WIDTH * WIDTH, LAYERS = 4, BYTES = WEIGHTS * 4 };

static char folder[64], model_path[96];
static float weights[WEIGHTS];
static nd4c_device *host;

/* An initializer w in file w.bin, from byte 1 on: no address of the mapped file is aligned for floats. */
static void add_weights(wire_bytes *graph) {
  static const char *const entries[][2] = {{"location", "w.bin"}, {"offset", "1"}, {"length", "262144"}};
  wire_bytes *tensor = calloc(1, sizeof *tensor), *entry = calloc(1, sizeof *entry);
  wire_number(tensor, 1, WIDTH);
  wire_number(tensor, 1, WIDTH);
  wire_number(tensor, 2, 1);
  wire_text(tensor, 8, "w");
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    entry->size = 0;
    wire_text(entry, 1, entries[i][0]);
    wire_text(entry, 2, entries[i][1]);
    wire_message(tensor, 13, entry);
  }
  wire_number(tensor, 14, 1);
  wire_message(graph, 5, tensor);
  free(tensor);
  free(entry);
}

static void write_file(const char *name, const void *head, size_t head_size, const void *bytes, size_t size) {
  char path[96];
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(head, 1, head_size, file), head_size);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

/* y = tanh(... tanh(x w') w' ...): each product reads a transposition of its own of the same weights. */
static int make_files(void **state) {
  static wire_bytes graph, model;
  static const int64_t shape[] = {-1, WIDTH};
  char nodes[512] = "";
  (void)state;
  (void)snprintf(folder, sizeof folder, "/tmp/nd4c_model_memory_XXXXXX");
  assert_non_null(mkdtemp(folder));
  for (int i = 0; i < LAYERS; i++) {
    const size_t used = strlen(nodes);
    (void)snprintf(nodes + used, sizeof nodes - used, "Transpose w > u%d; MatMul t%d u%d > m%d; Tanh m%d > t%d;", i, i,
                   i, i, i, i + 1);
  }
  for (int i = 0; i < WEIGHTS; i++) {
    weights[i] = (float)((i * 7919 + i / WIDTH) % 1000 - 500) / 8000;
  }
  build_nodes(&graph, nodes);
  add_weights(&graph);
  build_value(&graph, 11, "t0", 1, 2, shape);
  build_value(&graph, 12, "t4", 1, 2, shape);
  build_model(&model, &graph, 13);
  write_file("m.onnx", model.bytes, model.size, "", 0);
  write_file("w.bin", "", 1, weights, sizeof weights);
  (void)snprintf(model_path, sizeof model_path, "%s/m.onnx", folder);
  assert_int_equal(nd4c_device_find("cpu:0", &host), ND4C_OK);
  return 0;
}

static int remove_files(void **state) {
  char path[96];
  (void)state;
  (void)remove(model_path);
  (void)snprintf(path, sizeof path, "%s/w.bin", folder);
  (void)remove(path);
  return rmdir(folder);
}

static nd4c_model *open_model(void) {
  nd4c_model *model = NULL;
  assert_int_equal(nd4c_model_open(model_path, NULL, &model), ND4C_OK);
  return model;
}

static nd4c_array *make_input(int64_t rows) {
  const int64_t shape[] = {rows, WIDTH};
  float *values = malloc((size_t)rows * WIDTH * sizeof *values);
  nd4c_array *x = NULL;
  for (int64_t i = 0; i < rows * WIDTH; i++) {
    values[i] = (float)((i * 31) % 200 - 100) / 100;
  }
  assert_int_equal(nd4c_array_from_data(ND4C_FLOAT32, 2, shape, values, NULL, &x), ND4C_OK);
  free(values);
  return x;
}

/* In double precision, row by row. */
static double reference_at(int64_t row, int64_t column) {
  double x[WIDTH], y[WIDTH];
  for (int64_t i = 0; i < WIDTH; i++) {
    x[i] = (float)(((row * WIDTH + i) * 31) % 200 - 100) / 100;
  }
  for (int layer = 0; layer < LAYERS; layer++) {
    for (int64_t j = 0; j < WIDTH; j++) {
      double sum = 0;
      for (int64_t i = 0; i < WIDTH; i++) {
        sum += x[i] * (double)weights[j * WIDTH + i];
      }
      y[j] = __builtin_tanh(sum);
    }
    memcpy(x, y, sizeof x);
  }
  return x[column];
}

static void run_and_check(nd4c_model *model, int64_t rows) {
  const char *name = "t0";
  nd4c_array *x = make_input(rows), *y = NULL;
  const nd4c_array *given[] = {x};
  assert_int_equal(nd4c_model_run(model, NULL, &name, given, 1, &y, 1), ND4C_OK);
  for (int64_t column = 0; column < WIDTH; column += 51) {
    double value = 0;
    const int64_t index[] = {rows - 1, column};
    assert_int_equal(nd4c_array_item(y, index, &value), ND4C_OK);
    assert_true(__builtin_fabs(value - reference_at(rows - 1, column)) < 1e-5);
  }
  nd4c_array_release(x);
  nd4c_array_release(y);
}

static int64_t live_bytes(void) {
  nd4c_memory_info info = {.struct_size = sizeof info};
  assert_int_equal(nd4c_memory_get_info(host, &info), ND4C_OK);
  return info.live_bytes;
}

static void weights_are_in_memory_once(void **state) {
  (void)state;
  const int64_t before = live_bytes(), packed = nd4c_forms_packed();
  nd4c_model *model = open_model();
  run_and_check(model, 16);
  const bool packs = nd4c_forms_packed() > packed;
  const int64_t first = live_bytes() - before;
  run_and_check(model, 48);
  const int64_t shared = nd4c_packed_shared();
  nd4c_model *other = open_model();
  run_and_check(other, 48);
  if (packs) { /* beside the packed weights, only arenas of a few rows */
    assert_int_equal(nd4c_forms_packed() - packed, 2);
    assert_int_equal(nd4c_packed_shared() - shared, 1);
    assert_true(first < BYTES + BYTES / 2);
    assert_true(live_bytes() - before < 3 * BYTES); /* three arenas take 1.5 with AVX2, where workers keep sums */
  }
  nd4c_model_close(model);
  run_and_check(other, 48); /* it does not miss the other's form */
  nd4c_model_close(other);
  assert_int_equal(live_bytes(), before);
}

/* Other open models find a little in the cache; the last one leaves neither a cache nor what vendors' libraries hold.
 */
static void a_closed_model_leaves_no_cache(void **state) {
  enum { LEFT = 1 << 20 };
  nd4c_memory_info before = {.struct_size = sizeof before}, info = {.struct_size = sizeof info};
  (void)state;
  assert_int_equal(nd4c_memory_get_info(host, &before), ND4C_OK);
  nd4c_model *model = open_model(), *other = open_model();
  run_and_check(model, 2048);
  nd4c_model_close(model);
  assert_int_equal(nd4c_memory_get_info(host, &info), ND4C_OK);
  assert_true(info.cached_bytes <= LEFT);
  run_and_check(other, 2048);
  nd4c_model_close(other);
  assert_int_equal(nd4c_memory_get_info(host, &info), ND4C_OK);
  assert_int_equal(info.cached_bytes, 0);
  assert_int_equal(info.held_bytes, before.held_bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(weights_are_in_memory_once),
                                     cmocka_unit_test(a_closed_model_leaves_no_cache)};
  return cmocka_run_group_tests(tests, make_files, remove_files);
}
