/* Operators of ONNX Runtime's domain com.microsoft: what is refused, with which text, and a decoder's attention with
 * dims. tests/onnx/runtime_cases.py has their values. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_build.h"
#include "nd4c/nd4c.h"

enum { FLOAT = 1, UINT8 = 2, INT32 = 6, INT64 = 7, MOST_AXES = 4 };

static nd4c_status open_model(wire_bytes *bytes, const wire_bytes *graph, nd4c_model **model) {
  *bytes = (wire_bytes){0};
  build_domain(bytes, "com.microsoft", 1);
  build_model(bytes, graph, 17);
  return nd4c_model_open_memory(bytes->bytes, bytes->size, NULL, NULL, NULL, model);
}

/* -- refusals -------------------------------------------------------------------------------------------------------
 */

/* Nodes of x [2, 3, 8] and the constants of add_constants. */
typedef struct refusal {
  const char *node;
  nd4c_status status;
  const char *text;
} refusal;

static const refusal refusals[] = {
    {"com.microsoft::NoSuchOp x > y", ND4C_UNSUPPORTED,
     "'com.microsoft'::'NoSuchOp' (of a domain of which nd4c has other operators; a plug-in that brings op"},
    {"com.microsoft::FusedGemm m m activation=Swirl > y", ND4C_UNSUPPORTED,
     "attribute 'activation' is 'Swirl', which nd4c does not know here"},
    {"com.microsoft::BiasGelu x > y", ND4C_FORMAT, "has 1 inputs; expected at least 2"},
    {"com.microsoft::QLinearAdd codes scale - codes - - scale > y", ND4C_FORMAT, "input 4 is left out, but required"},
    {"com.microsoft::QLinearMul codes scale - codes scale - - > y", ND4C_FORMAT, "input 6 is left out, but required"},
    {"com.microsoft::QLinearConcat scale zero codes axis=0 > y", ND4C_FORMAT, "expected at least 5"},
    {"com.microsoft::QuantizeLinear x scale zero > q; com.microsoft::QLinearSoftmax q scale - scale zero axis=0 "
     "opset=11 > y",
     ND4C_UNSUPPORTED, "axis 0 with the meaning of opset 11; nd4c knows the last"},
    {"com.microsoft::MatMulNBits x codes scale N=2 K=8 block_size=16 bits=3 > y", ND4C_UNSUPPORTED,
     "weights of 3 bits; nd4c knows 2, 4 and 8"},
    {"com.microsoft::MatMulNBits x codes scale N=0 K=8 block_size=16 > y", ND4C_FORMAT, "N 0, K 8, block_size 16"},
    {"com.microsoft::MatMulNBits x codes scale N=2 K=8 block_size=4 > y", ND4C_FORMAT, "block_size 4"},
    {"com.microsoft::MatMulNBits x codes scale N=3 K=8 block_size=16 > y", ND4C_SHAPE,
     "input 'B' is uint8 with 16 elements; expected uint8 with 24"},
    {"com.microsoft::MatMulNBits x x scale N=3 K=8 block_size=16 > y", ND4C_UNSUPPORTED, "input 'B'"},
    {"com.microsoft::MatMulNBits x codes scale scale N=2 K=8 block_size=16 > y", ND4C_UNSUPPORTED,
     "input 'zero_points' is float32 with 1 elements; expected uint8 with 2"},
    {"com.microsoft::MatMulNBits x codes scale - ids N=2 K=8 block_size=16 > y", ND4C_UNSUPPORTED,
     "input 4 is given; nd4c has no order of the groups (g_idx) here"},
    {"com.microsoft::GatherBlockQuantized x ids scale > y", ND4C_UNSUPPORTED,
     "input 'data' is float32; nd4c knows int4, uint4 and uint8 here"},
    {"com.microsoft::GatherBlockQuantized codes ids scale bits=3 quantize_axis=0 > y", ND4C_FORMAT,
     "3 bits of uint8 in blocks of 128"},
    {"com.microsoft::GatherBlockQuantized codes ids scale quantize_axis=0 > y", ND4C_FORMAT,
     "codes of 4 bits in uint8 with gather_axis 0 and quantize_axis 0; expected 0 and another axis"},
    {"com.microsoft::DynamicQuantizeLSTM x codes codes hidden_size=2 > y", ND4C_FORMAT,
     "input 8 is left out, but required"},
    {"com.microsoft::DynamicQuantizeLSTM x codes codes - - - - - scale scale scale scale > y", ND4C_SHAPE,
     "input 8 has rank 0; expected [directions] or [directions, 4 * hidden]"},
    {"com.microsoft::SkipSimplifiedLayerNormalization x x v > z y", ND4C_UNSUPPORTED,
     "output 1 is read; nd4c does not make the statistics here"},
    {"com.microsoft::EmbedLayerNormalization ids ids m > y", ND4C_FORMAT, "input 3 is left out, but required"},
    {"com.microsoft::EmbedLayerNormalization ids ids m m - v v > y", ND4C_FORMAT,
     "one of segment_ids and segment_embedding is left out"},
    {"com.microsoft::Attention x w num_heads=2 do_rotary=1 > y", ND4C_UNSUPPORTED,
     "attribute 'do_rotary' is 1; nd4c knows only 0 here"},
    {"com.microsoft::Attention x m num_heads=2 > y", ND4C_SHAPE,
     "the weights give 8 features, which are not those of q, k and v"},
    {"com.microsoft::Attention x w - three num_heads=2 > y", ND4C_UNSUPPORTED,
     "a mask of rank 1 that has neither one nor two numbers a sequence"},
    {"com.microsoft::Attention x w num_heads=0 > y", ND4C_ARGUMENT, "the number of heads, which is 0"},
    {"com.microsoft::MultiHeadAttention x num_heads=2 > y", ND4C_FORMAT, "expected a query of rank 5"},
    {"com.microsoft::MultiHeadAttention x x num_heads=2 > y", ND4C_FORMAT, "expected a key of rank 5"},
    {"com.microsoft::MultiHeadAttention x x x > y", ND4C_FORMAT, "expected num_heads of at least 1"},
    {"com.microsoft::MultiHeadAttention x x x - - - cache num_heads=2 > y", ND4C_FORMAT,
     "one of past_key and past_value is left out"},
    {"com.microsoft::RotaryEmbedding x ids m m is_packed_batching=1 > y", ND4C_UNSUPPORTED, "is_packed_batching"},
    {"com.microsoft::GroupQueryAttention x x x - - ids total num_heads=2 kv_num_heads=2 local_window_size=0 > y",
     ND4C_FORMAT, "attribute 'local_window_size' is 0; expected -1, or 1 and more"},
    {"com.microsoft::GroupQueryAttention x x x - - ids total num_heads=2 kv_num_heads=2 smooth_softmax=1 > y",
     ND4C_UNSUPPORTED, "attribute 'smooth_softmax' is set"},
    {"com.microsoft::GroupQueryAttention x x x - - ids total num_heads=2 kv_num_heads=2 k_quant_type=PER_TENSOR > y",
     ND4C_UNSUPPORTED, "attribute 'k_quant_type' is 'PER_TENSOR'; nd4c knows only NONE"},
    {"com.microsoft::GroupQueryAttention x x x - - ids total num_heads=2 kv_num_heads=2 do_rotary=1 > y", ND4C_FORMAT,
     "input 7 is left out, but required"},
    {"com.microsoft::GroupQueryAttention x - - - - ids total num_heads=2 kv_num_heads=2 > y", ND4C_SHAPE,
     "a query of 8 features does not split into 6 heads"},
    {"com.microsoft::GroupQueryAttention x x x cache cache ids total num_heads=2 kv_num_heads=2 > y", ND4C_UNSUPPORTED,
     "nd4c knows no cache in one buffer"},
    {"com.microsoft::GroupQueryAttention x x x num_heads=2 kv_num_heads=2 > y", ND4C_FORMAT,
     "input 5 is left out, but required"},
};

static void add_constants(wire_bytes *graph) {
  static const float floats[192] = {0.5F};
  static const uint8_t bytes[16] = {0x12};
  static const int32_t numbers[3] = {1, 1, 1}, total = 3;
  static const struct {
    const char *name;
    int type, rank;
    int64_t shape[MOST_AXES];
    const void *data;
    size_t size;
  } all[] = {{"m", FLOAT, 2, {8, 8}, floats, 256},  {"v", FLOAT, 1, {8}, floats, 32},
             {"w", FLOAT, 2, {8, 24}, floats, 768}, {"scale", FLOAT, 0, {0}, floats, 4},
             {"zero", UINT8, 0, {0}, bytes, 1},     {"codes", UINT8, 1, {16}, bytes, 16},
             {"ids", INT32, 1, {2}, numbers, 8},    {"three", INT32, 1, {3}, numbers, 12},
             {"total", INT32, 0, {0}, &total, 4},   {"cache", FLOAT, 4, {2, 2, 3, 4}, floats, 192}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    build_initializer(graph, all[i].name, all[i].type, all[i].rank, all[i].shape, all[i].data, all[i].size);
  }
}

/* Runs nodes on x for y. An operator that is not known is refused when the model is opened, all else here. */
static nd4c_status run_nodes(const char *nodes, const nd4c_array *x, wire_bytes *bytes, nd4c_array **y) {
  static const int64_t shape[] = {2, 3, 8};
  static const char *const names[] = {"x"};
  wire_bytes graph = {0}, info = {0};
  nd4c_model *model = NULL;
  build_nodes(&graph, nodes);
  add_constants(&graph);
  build_value(&graph, 11, "x", FLOAT, 3, shape);
  wire_text(&info, 1, "y");
  wire_message(&graph, 12, &info);
  nd4c_status status = open_model(bytes, &graph, &model);
  if (status == ND4C_OK) {
    status = nd4c_model_run(model, NULL, names, &x, 1, y, 1);
  }
  nd4c_model_close(model);
  return status;
}

static nd4c_array *filled(nd4c_dtype dtype, int rank, const int64_t *shape) {
  float values[1024];
  int64_t count = 1;
  nd4c_array *array = NULL, *cast = NULL;
  for (int i = 0; i < rank; i++) {
    count *= shape[i];
  }
  assert_true(count <= 1024);
  for (int64_t i = 0; i < count; i++) {
    values[i] = dtype == ND4C_INT64 ? 1 : (float)((i * 7) % 11) / 8 - 0.5F;
  }
  assert_int_equal(nd4c_array_from_data(ND4C_FLOAT32, rank, shape, values, NULL, &array), ND4C_OK);
  assert_int_equal(nd4c_cast(array, dtype, &cast), ND4C_OK);
  nd4c_array_release(array);
  return cast;
}

static void refuses_what_it_lacks(void **state) {
  (void)state;
  static wire_bytes bytes;
  int failures = 0;
  nd4c_array *x = filled(ND4C_FLOAT32, 3, (const int64_t[]){2, 3, 8}), *y = NULL;
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    const nd4c_status status = run_nodes(refusals[i].node, x, &bytes, &y);
    if (status != refusals[i].status || strstr(nd4c_error_message(), refusals[i].text) == NULL) {
      failures++;
      print_error("%s\n  %s: %s\n  expected %s: %s\n", refusals[i].node, nd4c_status_name(status), nd4c_error_message(),
                  nd4c_status_name(refusals[i].status), refusals[i].text);
    }
  }
  assert_int_equal(failures, 0);
  nd4c_array_release(x);
}

/* -- optional outputs ------------------------------------------------------------------------------------------------
 */

static void run_made(const char *nodes, float *numbers, size_t count) {
  static wire_bytes bytes;
  nd4c_array *x = filled(ND4C_FLOAT32, 3, (const int64_t[]){2, 3, 8}), *y = NULL;
  if (run_nodes(nodes, x, &bytes, &y) != ND4C_OK) {
    fail_msg("%s: %s", nodes, nd4c_error_message());
  }
  if (numbers != NULL) {
    assert_int_equal(nd4c_array_size(y), count);
    assert_int_equal(nd4c_array_read(y, numbers, count * sizeof *numbers), ND4C_OK);
  }
  nd4c_array_release(x);
  nd4c_array_release(y);
}

/* Exporters name all outputs, also those that nothing reads. */
static void names_outputs_that_nothing_reads(void **state) {
  (void)state;
  run_made("com.microsoft::SkipLayerNormalization x x v > y mean deviation", NULL, 0);
  run_made("com.microsoft::SkipSimplifiedLayerNormalization x x v > y mean deviation", NULL, 0);
  run_made("com.microsoft::GroupQueryAttention x x x - - ids total num_heads=2 kv_num_heads=2 > y key value scores",
           NULL, 0);
}

static void gives_statistics_of_sums(void **state) {
  float given[12], x[48];
  (void)state;
  run_made("com.microsoft::SkipLayerNormalization x x v > z mean deviation; Concat mean deviation axis=-1 > y", given,
           12);
  run_made("Identity x > y", x, 48);
  for (int row = 0; row < 6; row++) {
    double mean = 0, variance = 0;
    for (int i = 0; i < 8; i++) {
      mean += 2 * (double)x[row * 8 + i] / 8;
    }
    for (int i = 0; i < 8; i++) {
      variance += (2 * (double)x[row * 8 + i] - mean) * (2 * (double)x[row * 8 + i] - mean) / 8;
    }
    assert_float_equal(given[2 * row], (float)mean, 1e-6);
    assert_float_equal(given[2 * row + 1], (float)(1 / sqrt(variance)), 1e-5);
  }
}

/* -- a decoder with dims ---------------------------------------------------------------------------------------------
 */

enum { HEADS = 2, HEAD = 4, FEATURES = HEADS * HEAD };

static void build_input(wire_bytes *graph, const char *name, int type, int rank, const int64_t *shape,
                        const char *const *symbols) {
  wire_bytes info = {0}, proto = {0}, tensor = {0}, extents = {0};
  for (int i = 0; i < rank; i++) {
    wire_bytes extent = {0};
    if (symbols[i] != NULL) {
      wire_text(&extent, 2, symbols[i]);
    } else {
      wire_number(&extent, 1, (uint64_t)shape[i]);
    }
    wire_message(&extents, 1, &extent);
  }
  wire_number(&tensor, 1, (uint64_t)type);
  wire_message(&tensor, 2, &extents);
  wire_message(&proto, 1, &tensor);
  wire_text(&info, 1, name);
  wire_message(&info, 2, &proto);
  wire_message(graph, 11, &info);
}

/* As exporters write it: the lengths are sums of the mask, the total is its extent. */
static nd4c_model *open_decoder(wire_bytes *bytes) {
  static const int64_t last = -1, one = 1, x_shape[] = {0, 0, FEATURES}, cache_shape[] = {0, HEADS, 0, HEAD};
  static const char *const x_symbols[] = {"batch", "length", NULL};
  static const char *const cache_symbols[] = {"batch", NULL, "past", NULL};
  static const char *const mask_symbols[] = {"batch", "total"};
  wire_bytes graph = {0};
  nd4c_model *model = NULL;
  build_nodes(&graph,
              "ReduceSum mask axes keepdims=0 > sums; Sub sums one > less; Cast less to=6 > lengths;"
              "Shape mask > shape; Gather shape at axis=0 > extent; Cast extent to=6 > total;"
              "com.microsoft::GroupQueryAttention x x x key value lengths total num_heads=2 kv_num_heads=2"
              " > y present_key present_value");
  build_initializer(&graph, "axes", INT64, 1, &one, &last, sizeof last);
  build_initializer(&graph, "one", INT64, 1, &one, &one, sizeof one);
  build_initializer(&graph, "at", INT64, 0, NULL, &one, sizeof one);
  build_input(&graph, "x", FLOAT, 3, x_shape, x_symbols);
  build_input(&graph, "key", FLOAT, 4, cache_shape, cache_symbols);
  build_input(&graph, "value", FLOAT, 4, cache_shape, cache_symbols);
  build_input(&graph, "mask", INT64, 2, x_shape, mask_symbols);
  build_name(&graph, 12, "y");
  build_name(&graph, 12, "present_key");
  const nd4c_status status = open_model(bytes, &graph, &model);
  if (status != ND4C_OK) {
    print_error("%s\n", nd4c_error_message());
  }
  assert_int_equal(status, ND4C_OK);
  return model;
}

/* y and the cache of the model, against those of the op attention_with_cache. */
static void check_step(nd4c_model *model, int64_t batch, int64_t length, int64_t past) {
  static const char *const names[] = {"x", "key", "value", "mask"};
  const int64_t x_shape[] = {batch, length, FEATURES}, cache_shape[] = {batch, HEADS, past, HEAD};
  const int64_t mask_shape[] = {batch, past + length};
  nd4c_array *x = filled(ND4C_FLOAT32, 3, x_shape), *key = filled(ND4C_FLOAT32, 4, cache_shape);
  nd4c_array *mask = filled(ND4C_INT64, 2, mask_shape), *given[2] = {NULL}, *wanted[4] = {NULL};
  const nd4c_array *inputs[] = {x, key, key, mask}, *operands[] = {x, x, x, NULL, key, key};
  const nd4c_attr attrs[] = {{"q_heads", {.kind = ND4C_ATTR_INT, .as.i = HEADS}},
                             {"kv_heads", {.kind = ND4C_ATTR_INT, .as.i = HEADS}},
                             {"is_causal", {.kind = ND4C_ATTR_BOOL, .as.i = 1}}};
  const nd4c_status status = nd4c_model_run(model, NULL, names, inputs, 4, given, 2);
  if (status != ND4C_OK) {
    print_error("%s\n", nd4c_error_message());
  }
  assert_int_equal(status, ND4C_OK);
  assert_int_equal(nd4c_op_call(NULL, ND4C_OP_attention_with_cache, operands, 6, attrs, 3, wanted, 4), ND4C_OK);
  for (int i = 0; i < 2; i++) {
    float left[1024], right[1024];
    const size_t count = (size_t)nd4c_array_size(wanted[i]);
    assert_int_equal(nd4c_array_size(given[i]), count);
    assert_int_equal(nd4c_array_read(given[i], left, count * sizeof *left), ND4C_OK);
    assert_int_equal(nd4c_array_read(wanted[i], right, count * sizeof *right), ND4C_OK);
    for (size_t j = 0; j < count; j++) {
      assert_float_equal(left[j], right[j], 1e-5);
    }
    nd4c_array_release(given[i]);
  }
  for (int i = 0; i < 4; i++) {
    nd4c_array_release(wanted[i]);
  }
  nd4c_array_release(x);
  nd4c_array_release(key);
  nd4c_array_release(mask);
}

/* A batch of one is imported once for all lengths; another batch, which needs the values of the lengths, for itself. */
static void decodes_with_dims(void **state) {
  (void)state;
  static wire_bytes bytes;
  nd4c_model *model = open_decoder(&bytes);
  int imports = 0;
  nd4c_model_set_progress(model, count_imports, &imports);
  check_step(model, 1, 4, 3);
  check_step(model, 1, 1, 7);
  check_step(model, 1, 1, 8);
  assert_int_equal(imports, 1);
  check_step(model, 2, 1, 5);
  assert_int_equal(imports, 2);
  nd4c_model_close(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refuses_what_it_lacks),
      cmocka_unit_test(names_outputs_that_nothing_reads),
      cmocka_unit_test(gives_statistics_of_sums),
      cmocka_unit_test(decodes_with_dims),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
