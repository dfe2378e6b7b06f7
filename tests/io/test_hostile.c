/* ONNX files that are malformed, hostile or use operators that nd4c lacks: a status and a text that names the fault and
 * its place. */
#define _DEFAULT_SOURCE /* symlink, mkdtemp, pwrite */
#define _FILE_OFFSET_BITS 64
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "model_build.h"
#include "nd4c/nd4c.h"

static const int64_t two_three[] = {2, 3};

static void expect_refusal(const char *what, const wire_bytes *model, nd4c_status status, const char *words) {
  nd4c_model *opened = NULL;
  unsigned char *exact = malloc(model->size + 1);
  assert_non_null(exact);
  memcpy(exact, model->bytes, model->size);
  nd4c_status given = nd4c_model_open_memory(exact, model->size, NULL, NULL, NULL, &opened);
  if (given != status || opened != NULL || strstr(nd4c_error_message(), words) == NULL) {
    fail_msg("%s: %s \"%s\"; expected %s \"%s\"", what, nd4c_status_name(given), nd4c_error_message(),
             nd4c_status_name(status), words);
  }
  free(exact);
}

/* -- graphs ----------------------------------------------------------------------------------------------------- */

typedef struct graph_case {
  const char *nodes;
  const char *output;
  int64_t opset;
  nd4c_status status;
  const char *words;
} graph_case;

static const graph_case graphs[] = {
    {"Add x b > a; Relu a > b", "b", 13, ND4C_FORMAT,
     "node 1 (Relu) at byte 24 reads 'a', which node 0 (Add) makes from results of the former: the graph has a cycle"},
    {"Add x y > y", "y", 13, ND4C_FORMAT, "reads 'y', which it makes itself"},
    {"Relu nope > y", "y", 13, ND4C_FORMAT, "reads 'nope', which nothing defines"},
    {"Relu x > y; Abs x > y", "y", 13, ND4C_FORMAT, "value 'y' is defined a second time"},
    {"Relu x > x", "x", 13, ND4C_FORMAT, "value 'x' is defined a second time"},
    {"Foo x > a; Bar a > b; Foo b > c; Relu c > y", "y", 13, ND4C_UNSUPPORTED,
     "needs 2 ops that nd4c lacks: 'Foo' (not known at this opset; first: node 0 (Foo)), 'Bar' (not known at this "
     "opset; first: node 1 (Bar))"},
    {"ai.onnx.ml::CastMap x > y", "y", 13, ND4C_UNSUPPORTED,
     "needs 1 op that nd4c lacks: 'ai.onnx.ml'::'CastMap' (values that are maps are not supported"},
    {"com.microsoft.nchwc::Conv x x > y", "y", 13, ND4C_UNSUPPORTED,
     "'com.microsoft.nchwc'::'Conv' (it computes on ONNX Runtime's own layout, as files have it that ONNX Runtime "
     "saved "
     "at ORT_ENABLE_ALL; save the model at ORT_ENABLE_EXTENDED, or use the original file; first: node 0 (Conv))"},
    {"Gelu x > y", "y", 13, ND4C_UNSUPPORTED, "the model (opset 13) needs 1 op that nd4c lacks: 'Gelu'"},
    {"Relu x > y", "y", 99, ND4C_UNSUPPORTED, "opset 99; nd4c knows opsets up to 28"},
    {"Relu x > y", "y", -1, ND4C_FORMAT, "opset -1, expected 1 or more"},
    {"Relu x x > y", "y", 13, ND4C_FORMAT, "node 0 (Relu) at byte 8 has 2 inputs; expected at most 1"},
    {"Add x > y", "y", 13, ND4C_FORMAT, "has 1 inputs; expected at least 2"},
    {"Add x - > y", "y", 13, ND4C_FORMAT, "input 1 is left out, but required"},
    {"Relu x >", "x", 13, ND4C_FORMAT, "node 0 (Relu) at byte 8 has no output"},
    {"Relu x > y", "z", 13, ND4C_FORMAT, "is not defined by any node"},
    {"LRN x > y i; Cast i > z", "z", 13, ND4C_UNSUPPORTED,
     "node 1 (Cast) reads 'i', output 1 of node 0 (LRN); nd4c makes the first 1"},
};

static void refuses_graphs(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof graphs / sizeof graphs[0]; i++) {
    wire_bytes graph = {0}, model = {0};
    build_nodes(&graph, graphs[i].nodes);
    build_value(&graph, 11, "x", 1, 2, two_three);
    build_value(&graph, 12, graphs[i].output, 1, 0, NULL);
    build_model(&model, &graph, graphs[i].opset);
    expect_refusal(graphs[i].nodes, &model, graphs[i].status, graphs[i].words);
  }
}

static void refuses_messages(void **state) {
  (void)state;
  wire_bytes graph = {0}, model = {0}, twice = {0}, bare = {0}, nameless = {0}, node = {0};
  expect_refusal("empty", &model, ND4C_FORMAT, "no graph in 0 bytes; expected an ONNX ModelProto");
  static const char text[] = "# nd4c\n\nA page.\n";
  wire_bytes page = {0};
  wire_raw(&page, text, sizeof text - 1);
  expect_refusal("a text", &page, ND4C_FORMAT, "not an ONNX model: byte ");
  build_nodes(&graph, "Relu x > y");
  build_value(&graph, 11, "x", 1, 2, two_three);
  build_model(&model, &graph, 13);
  expect_refusal("no outputs", &model, ND4C_FORMAT, "the graph has no outputs");
  build_value(&graph, 12, "y", 1, 0, NULL);
  build_model(&twice, &graph, 13);
  wire_message(&twice, 7, &graph);
  expect_refusal("two graphs", &twice, ND4C_FORMAT, "a second graph; expected one");
  wire_number(&bare, 1, 8);
  wire_message(&bare, 7, &graph);
  expect_refusal("no opset", &bare, ND4C_FORMAT, "no opset_import for ONNX's own domain; IR version 8 needs one");
  wire_text(&node, 1, "x");
  wire_message(&nameless, 1, &node);
  model = (wire_bytes){0};
  build_model(&model, &nameless, 13);
  expect_refusal("no op type", &model, ND4C_FORMAT, "byte 8: node '' without an op type");
  graph = (wire_bytes){0};
  model = (wire_bytes){0};
  build_value(&graph, 11, "x", 99, 2, two_three);
  build_value(&graph, 12, "x", 1, 0, NULL);
  build_model(&model, &graph, 13);
  expect_refusal("unknown type", &model, ND4C_FORMAT, "input 'x' at byte 8: element type 99 is none of ONNX's");
}

/* -- tensors ---------------------------------------------------------------------------------------------------- */

typedef struct tensor_case {
  int type;
  int rank;
  int64_t shape[3];
  size_t bytes;
  nd4c_status status;
  const char *words;
} tensor_case;

static const tensor_case tensors[] = {
    {1, 2, {2, 3}, 20, ND4C_FORMAT, "20 bytes of data; expected 24 for shape (2, 3) of FLOAT"},
    {1, 2, {2, -3}, 24, ND4C_FORMAT, "shape refused"},
    {1, 2, {INT64_MAX, 4}, 24, ND4C_FORMAT, "shape refused"},
    {1, 3, {1 << 30, 1 << 30, 1 << 10}, 24, ND4C_FORMAT, "shape refused"},
    {1, 1, {1 << 30}, 24, ND4C_FORMAT, "24 bytes of data; expected 4294967296"},
    {8, 1, {1}, 16, ND4C_FORMAT, "strings in raw data"},
#ifdef ND4C_DTYPES_LITE
    {17, 1, {1}, 1, ND4C_UNSUPPORTED, "element type FLOAT8E4M3FN is not in this build of nd4c"},
#else
    {17, 1, {2}, 1, ND4C_FORMAT, "1 bytes of data; expected 2 for shape (2,) of FLOAT8E4M3FN"},
    {22, 1, {5}, 2, ND4C_FORMAT, "2 bytes of data; expected 3 for shape (5,) of INT4"},
#endif
    {0, 1, {1}, 1, ND4C_FORMAT, "element type 0 is none of ONNX's"}};

static void refuses_tensors(void **state) {
  (void)state;
  static const unsigned char zeros[64];
  for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; i++) {
    const tensor_case *tensor = &tensors[i];
    wire_bytes graph = {0}, model = {0};
    build_initializer(&graph, "w", tensor->type, tensor->rank, tensor->shape, zeros, tensor->bytes);
    build_value(&graph, 12, "w", 1, 0, NULL);
    build_model(&model, &graph, 13);
    expect_refusal(tensor->words, &model, tensor->status, tensor->words);
    assert_non_null(strstr(nd4c_error_message(), "tensor 'w' at byte "));
  }
}

/* -- external data ------------------------------------------------------------------------------------------------ */

static void build_external(wire_bytes *model, const char *location, const char *offset, const char *length) {
  const char *pairs[3][2] = {{"location", location}, {"offset", offset}, {"length", length}};
  wire_bytes graph = {0}, tensor = {0};
  wire_number(&tensor, 1, 2);
  wire_number(&tensor, 2, 1);
  wire_text(&tensor, 8, "w");
  for (int i = 0; i < 3 && pairs[i][1] != NULL; i++) {
    wire_bytes entry = {0};
    wire_text(&entry, 1, pairs[i][0]);
    wire_text(&entry, 2, pairs[i][1]);
    wire_message(&tensor, 13, &entry);
  }
  wire_number(&tensor, 14, 1);
  wire_message(&graph, 5, &tensor);
  build_value(&graph, 12, "w", 1, 0, NULL);
  build_model(model, &graph, 13);
}

static void write_file(const char *folder, const char *name, const void *bytes, size_t size) {
  char path[512];
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

typedef struct external_case {
  const char *location, *offset, *length;
  nd4c_status status;
  const char *words;
} external_case;

static const external_case externals[] = {
    {"weights.bin", "8", "8", ND4C_OK, NULL},
    {"./weights.bin", "8", "8", ND4C_OK, NULL},
    {"weights.bin", "8", "16", ND4C_FORMAT, "offset 8 and length 16 reach outside 'weights.bin', which has 16 bytes"},
    {"weights.bin", "17", "0", ND4C_FORMAT, "reach outside"},
    {"weights.bin", "8", NULL, ND4C_OK, NULL},
    {"weights.bin", "17", NULL, ND4C_FORMAT, "external data: offset 17 lies outside 'weights.bin', which has 16 bytes"},
    {"weights.bin", "9223372036854775807", "9223372036854775807", ND4C_FORMAT, "reach outside"},
    {"weights.bin", "18446744073709551616", "8", ND4C_FORMAT, "expected a number of bytes"},
    {"weights.bin", "-8", "8", ND4C_FORMAT, "offset is '-8', expected a number of bytes"},
    {"weights.bin", "0", "4", ND4C_FORMAT, "4 bytes of data; expected 8"},
    {"../weights.bin", "0", "8", ND4C_FORMAT, "leaves the model's directory"},
    {"a/../../weights.bin", "0", "8", ND4C_FORMAT, "leaves the model's directory"},
    {"..", "0", "8", ND4C_FORMAT, "leaves the model's directory"},
    {"/etc/passwd", "0", "8", ND4C_FORMAT, "is not a relative path"},
    {"c:\\weights.bin", "0", "8", ND4C_FORMAT, "is not a relative path"},
    {"", "0", "8", ND4C_FORMAT, "is empty"},
    {"missing.bin", "0", "8", ND4C_IO, "missing.bin"},
    {"escape.bin", "0", "8", ND4C_FORMAT, "outside"},
    {".", "0", "8", ND4C_FORMAT, ""}};

static void refuses_external_data(void **state) {
  (void)state;
  char folder[] = "/tmp/nd4c_external_XXXXXX";
  char path[512];
  const float weights[4] = {0, 0, 1.5f, -2};
  assert_non_null(mkdtemp(folder));
  write_file(folder, "weights.bin", weights, sizeof weights);
  (void)snprintf(path, sizeof path, "%s/escape.bin", folder);
  assert_int_equal(symlink("/etc/passwd", path), 0);
  for (size_t i = 0; i < sizeof externals / sizeof externals[0]; i++) {
    const external_case *external = &externals[i];
    wire_bytes bytes = {0};
    nd4c_model *model = NULL;
    nd4c_array *output = NULL;
    build_external(&bytes, external->location, external->offset, external->length);
    write_file(folder, "model.onnx", bytes.bytes, bytes.size);
    (void)snprintf(path, sizeof path, "%s/model.onnx", folder);
    nd4c_status status = nd4c_model_open(path, NULL, &model);
    bool words = external->words == NULL || strstr(nd4c_error_message(), external->words) != NULL;
    if (status != external->status || !words) {
      fail_msg("'%s' %s %s: %s \"%s\"", external->location, external->offset,
               external->length != NULL ? external->length : "(no length)", nd4c_status_name(status),
               nd4c_error_message());
    }
    if (status == ND4C_OK) {
      float values[2];
      assert_int_equal(nd4c_model_run(model, NULL, NULL, NULL, 0, &output, 1), ND4C_OK);
      nd4c_model_close(model);
      assert_int_equal(nd4c_array_read(output, values, sizeof values), ND4C_OK);
      assert_true(values[0] == 1.5f && values[1] == -2);
      nd4c_array_release(output);
    }
    (void)unlink(path);
  }
  wire_bytes bytes = {0};
  build_external(&bytes, "weights.bin", "8", "8");
  expect_refusal("in memory", &bytes, ND4C_UNSUPPORTED, "a model read from memory has no directory");
  (void)snprintf(path, sizeof path, "%s/escape.bin", folder);
  (void)unlink(path);
  (void)snprintf(path, sizeof path, "%s/weights.bin", folder);
  (void)unlink(path);
  assert_int_equal(rmdir(folder), 0);
}

/* Offsets beyond 2 GiB, in a file with a hole. */
static void reads_far_external_data(void **state) {
  (void)state;
  const off_t far_away = ((off_t)1 << 31) + 4096;
  const float weights[2] = {3.5f, -1};
  char folder[] = "/tmp/nd4c_external_XXXXXX";
  char weights_path[512];
  char model_path[512];
  char offset[32];
  float values[2];
  wire_bytes bytes = {0};
  nd4c_model *model = NULL;
  nd4c_array *output = NULL;
  assert_non_null(mkdtemp(folder));
  (void)snprintf(weights_path, sizeof weights_path, "%s/weights.bin", folder);
  (void)snprintf(model_path, sizeof model_path, "%s/model.onnx", folder);
  (void)snprintf(offset, sizeof offset, "%lld", (long long)far_away);
  int file = open(weights_path, O_RDWR | O_CREAT, 0600);
  assert_true(file >= 0);
  assert_int_equal(pwrite(file, weights, sizeof weights, far_away), sizeof weights);
  assert_int_equal(close(file), 0);
  build_external(&bytes, "weights.bin", offset, "8");
  write_file(folder, "model.onnx", bytes.bytes, bytes.size);
  assert_int_equal(nd4c_model_open(model_path, NULL, &model), ND4C_OK);
  assert_int_equal(nd4c_model_run(model, NULL, NULL, NULL, 0, &output, 1), ND4C_OK);
  nd4c_model_close(model);
  assert_int_equal(nd4c_array_read(output, values, sizeof values), ND4C_OK);
  assert_memory_equal(values, weights, sizeof weights);
  nd4c_array_release(output);
  (void)unlink(weights_path);
  (void)unlink(model_path);
  assert_int_equal(rmdir(folder), 0);
}

/* A function of the model is distinguished from an unknown op. */
static void names_functions(void **state) {
  (void)state;
  wire_bytes graph = {0}, model = {0}, function = {0};
  build_nodes(&graph, "Mine x > y");
  build_value(&graph, 11, "x", 1, 2, two_three);
  build_value(&graph, 12, "y", 1, 0, NULL);
  build_model(&model, &graph, 13);
  wire_text(&function, 1, "Mine");
  wire_message(&model, 25, &function);
  expect_refusal("function", &model, ND4C_FORMAT, "node 0 (Mine) at byte 8 has 1 inputs; expected at most 0");
}

/* -- at import ---------------------------------------------------------------------------------------------------- */

typedef struct import_case {
  const char *nodes;
  int64_t opset;
  nd4c_status status;
  const char *words;
} import_case;

static const import_case imports[] = {
    /* Interpreted, because the shape is an input, whose value is wrong. */
    {"Reshape x i > y", 13, ND4C_SHAPE,
     "node 0 (Reshape) at byte 8: reshape: input x is float32 (2, 3): shape (2,) has 2 elements, expected 6"},
    {"Reshape x x > y", 13, ND4C_FORMAT, "input 'shape' is float32 of rank 2 with 6 elements"},
    {"MatMul x x > y", 13, ND4C_SHAPE, "node 0 (MatMul)"},
    {"Concat x x > y", 13, ND4C_FORMAT, "attribute 'axis' is missing"},
    {"Constant > y", 13, ND4C_FORMAT, "0 attributes; expected exactly one value"},
    {"MaxPool x > y", 13, ND4C_FORMAT, "attribute 'kernel_shape' is missing"},
    {"Identity i > y", 13, ND4C_FORMAT, "output 'y' is declared as float32, but its node gives int64"},
    {"And x x > y", 13, ND4C_DTYPE, "logical_and"},
    /* The text names the axis as in the file. */
    {"Softmax x axis=-7 > y", 12, ND4C_INDEX, "attribute 'axis' is -7; the input has rank 2: expected -2 to 1"},
    {"LogSoftmax x axis=-7 > y", 9, ND4C_INDEX, "attribute 'axis' is -7; the input has rank 2: expected -2 to 2"},
    {"Softmax x axis=3 > y", 10, ND4C_INDEX, "attribute 'axis' is 3; the input has rank 2: expected -2 to 2"},
    {"Softmax x axis=2 > y", 11, ND4C_INDEX, "attribute 'axis' is 2; the input has rank 2: expected -2 to 1"},
    {"LogSoftmax x axis=2 > y", 12, ND4C_INDEX, "attribute 'axis' is 2; the input has rank 2: expected -2 to 1"},
    {"Softmax x axis=-7 > y", 13, ND4C_INDEX, "attribute 'axis' is -7; the input has rank 2: expected -2 to 1"},
    /* ONNX promotes nothing. */
    {"Add x i > y", 13, ND4C_FORMAT,
     "node 0 (Add) at byte 8: input 'x' is float32, but input 'i' is int64; ONNX takes one dtype here"},
    {"Mul i x > y", 6, ND4C_FORMAT, "input 'i' is int64, but input 'x' is float32"},
    {"Less x i > y", 13, ND4C_FORMAT, "input 'x' is float32, but input 'i' is int64"},
    {"MatMul x i > y", 13, ND4C_FORMAT, "input 'x' is float32, but input 'i' is int64"},
    {"Pow x i > y", 11, ND4C_FORMAT, "input 'x' is float32, but input 'i' is int64; ONNX takes one dtype here"},
    {"Pow x i > y", 7, ND4C_FORMAT, "input 'x' is float32, but input 'i' is int64"},
    {"PRelu x i > y", 16, ND4C_FORMAT, "input 'x' is float32, but input 'i' is int64"},
    {"Gemm x i > y", 13, ND4C_FORMAT, "input 'x' is float32, but input 'i' is int64"},
    {"Gemm x x i > y", 13, ND4C_FORMAT, "input 'x' is float32, but input 'i' is int64"},
    {"Gemm x x - > y", 13, ND4C_SHAPE, "node 0 (Gemm)"},
    {"Max x x i > y", 13, ND4C_FORMAT, "input 'x' is float32, but input 'i' is int64"},
    {"Less x x > c; Where c x i > y", 13, ND4C_FORMAT,
     "node 1 (Where) at byte 25: input 'x' is float32, but input 'i' is int64"},
    /* Extents of x, which are free where a model begins with Shape. */
    {"Shape x > s; Concat s - axis=0 > y", 13, ND4C_NULL_ARGUMENT,
     "node 1 (Concat) at byte 23: concat: input xs[1] is missing"}};

static void refuses_at_import(void **state) {
  (void)state;
  const int64_t one[] = {1};
  nd4c_array *x = NULL;
  nd4c_array *i = NULL;
  assert_int_equal(nd4c_array_zeros(ND4C_FLOAT32, 2, two_three, NULL, &x), ND4C_OK);
  assert_int_equal(nd4c_array_zeros(ND4C_INT64, 1, one, NULL, &i), ND4C_OK);
  for (size_t n = 0; n < sizeof imports / sizeof imports[0]; n++) {
    const char *names[] = {"x", "i"};
    const nd4c_array *inputs[] = {x, i};
    wire_bytes graph = {0}, bytes = {0};
    nd4c_model *model = NULL;
    nd4c_array *output = NULL;
    build_nodes(&graph, imports[n].nodes);
    const bool is_free = strncmp(imports[n].nodes, "Shape", 5) == 0;
    build_value(&graph, 11, "x", 1, 2, is_free ? (const int64_t[]){-1, 3} : two_three);
    build_value(&graph, 11, "i", 7, 1, one);
    build_value(&graph, 12, "y", 1, 0, NULL);
    build_model(&bytes, &graph, imports[n].opset);
    assert_int_equal(nd4c_model_open_memory(bytes.bytes, bytes.size, NULL, NULL, NULL, &model), ND4C_OK);
    nd4c_status status = nd4c_model_run(model, NULL, names, inputs, 2, &output, 1);
    if (status != imports[n].status || output != NULL || strstr(nd4c_error_message(), imports[n].words) == NULL) {
      fail_msg("%s: %s \"%s\"", imports[n].nodes, nd4c_status_name(status), nd4c_error_message());
    }
    nd4c_model_close(model);
  }
  nd4c_array_release(x);
  nd4c_array_release(i);
}

/* A small file must not cause much memory or time: constants of any shape are views of one element. */
static void large_constants_cost_nothing(void **state) {
  (void)state;
  const int64_t huge[] = {1 << 20, 1 << 20};
  const int64_t two[] = {2};
  wire_bytes graph = {0}, bytes = {0};
  nd4c_model *model = NULL;
  nd4c_array *outputs[1] = {0};
  build_nodes(&graph, "ConstantOfShape s > c; Shape c > y");
  build_initializer(&graph, "s", 7, 1, two, huge, sizeof huge);
  build_value(&graph, 12, "y", 7, 0, NULL);
  build_model(&bytes, &graph, 13);
  assert_int_equal(nd4c_model_open_memory(bytes.bytes, bytes.size, NULL, NULL, NULL, &model), ND4C_OK);
  assert_int_equal(nd4c_model_run(model, NULL, NULL, NULL, 0, outputs, 1), ND4C_OK);
  int64_t shape[2];
  assert_int_equal(nd4c_array_read(outputs[0], shape, sizeof shape), ND4C_OK);
  assert_memory_equal(shape, huge, sizeof huge);
  nd4c_array_release(outputs[0]);
  nd4c_model_close(model);
}

/* What a machine could not hold is not read either: a run would take minutes. As a graph, and interpreted, as the
 * output of all values has it. */
static void large_constants_are_not_reduced(void **state) {
  (void)state;
  const int64_t huge[] = {1 << 21, 1 << 21}, two[] = {2};
  for (int interpreted = 0; interpreted < 2; interpreted++) {
    const nd4c_model_options options = {.struct_size = sizeof options, .all_intermediates = interpreted == 1};
    static const char *const ops[] = {"ConstantOfShape s > c; ReduceSum c > y",
                                      "ConstantOfShape s > c; ReduceMax c > y", "ConstantOfShape s > c; ArgMax c > y"};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
      wire_bytes graph = {0}, bytes = {0};
      nd4c_model *model = NULL;
      nd4c_array *outputs[2] = {0};
      build_nodes(&graph, ops[i]);
      build_initializer(&graph, "s", 7, 1, two, huge, sizeof huge);
      build_name(&graph, 12, "y");
      build_model(&bytes, &graph, 13);
      assert_int_equal(nd4c_model_open_memory(bytes.bytes, bytes.size, &options, NULL, NULL, &model), ND4C_OK);
      const nd4c_status status = nd4c_model_run(model, NULL, NULL, NULL, 0, outputs, nd4c_model_output_count(model));
      if (status != ND4C_MEMORY || strstr(nd4c_error_message(), "reads a constant of 17592186044416 bytes") == NULL) {
        fail_msg("%s: %s \"%s\"", ops[i], nd4c_status_name(status), nd4c_error_message());
      }
      nd4c_model_close(model);
    }
  }
}

/* Short loops in each other: 64^4 rounds in some 300 bytes, of which the import unrolls the outermost loop alone. */
static void unrolled_loops_have_few_nodes(void **state) {
  (void)state;
  wire_bytes bytes = {0}, graph = {0}, inner = {0};
  const char *const name = "x";
  nd4c_model *model = NULL;
  nd4c_array *x = NULL, *y = NULL;
  build_nodes(&inner, "Neg v > u");
  for (int i = 0; i < 4; i++) {
    wire_bytes around = {0};
    build_name(&inner, 11, "i");
    build_name(&inner, 11, "go");
    build_name(&inner, 11, "v");
    build_name(&inner, 12, "go");
    build_name(&inner, 12, "u");
    build_holder(&around, i < 3 ? "Loop n - v > u" : "Loop n - x > y", "body", &inner, NULL, NULL);
    inner = around;
  }
  build_nodes(&graph, "Constant > n value_int=64");
  wire_raw(&graph, inner.bytes, inner.size);
  build_value(&graph, 11, "x", 1, 2, two_three);
  build_name(&graph, 12, "y");
  build_model(&bytes, &graph, 16);
  assert_int_equal(nd4c_model_open_memory(bytes.bytes, bytes.size, NULL, NULL, NULL, &model), ND4C_OK);
  assert_int_equal(nd4c_array_zeros(ND4C_FLOAT32, 2, two_three, NULL, &x), ND4C_OK);
  const nd4c_array *inputs[] = {x};
  char *report = NULL;
  if (nd4c_model_run(model, NULL, &name, inputs, 1, &y, 1) != ND4C_OK) {
    fail_msg("%s", nd4c_error_message());
  }
  assert_int_equal(nd4c_model_report(model, &report), ND4C_OK);
  if (strstr(report, ": 64 nodes recorded") == NULL) {
    fail_msg("%s", report);
  }
  nd4c_free(report);
  nd4c_array_release(y);
  nd4c_array_release(x);
  nd4c_model_close(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(refuses_graphs),
                                     cmocka_unit_test(refuses_messages),
                                     cmocka_unit_test(refuses_tensors),
                                     cmocka_unit_test(refuses_external_data),
                                     cmocka_unit_test(reads_far_external_data),
                                     cmocka_unit_test(names_functions),
                                     cmocka_unit_test(refuses_at_import),
                                     cmocka_unit_test(large_constants_cost_nothing),
                                     cmocka_unit_test(large_constants_are_not_reduced),
                                     cmocka_unit_test(unrolled_loops_have_few_nodes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
