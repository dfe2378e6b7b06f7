/* Models whose inputs leave extents free: imported once into a graph with dims. Each case runs at several sizes, and at
 * each the results are those of a model that is imported for that size alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_build.h"
#include "nd4c/nd4c.h"

enum { FLOAT = 1, INT64 = 7, MOST = 4096, SIZES = 5 };

/* A model of x [n, ...] and y; constants that all have are zero, one, two, three (0-d), v0, v1, v2, v3, v_1, v_2, and
 * the least and greatest numbers of 64 and 32 bits ([1]), and scales.
 */
typedef struct dims_case {
  const char *nodes;
  int64_t shape[3]; /* of x; -1: n, 0: no more axes */
  int64_t sizes[SIZES];
  int64_t opset;
  const char *alone;  /* part of the report at the size `refused`; NULL: none */
  int64_t refused;    /* -1: all sizes */
  const char *guards; /* part of the graph's guards, NULL: none are checked */
} dims_case;

static const dims_case cases[] = {
    /* shapes from shapes */
    {"Shape x > s; Gather s zero > b; Unsqueeze b v0 > u; Concat u v_1 axis=0 > t; Reshape x t > y",
     {-1, 2, 3},
     {2, 1, 5, 7},
     13,
     NULL,
     0,
     NULL},
    {"Shape x > s; Slice s v0 v1 > b; Mul b v3 > m; Concat m v2 axis=0 > t; Reshape x t > y",
     {-1, 6},
     {2, 9, 1},
     13,
     NULL,
     0,
     NULL},
    {"Size x > c; Div c two > h; Unsqueeze h v0 > u; Concat v2 u axis=0 > t; Reshape x t > y",
     {-1, 4},
     {3, 1, 8},
     13,
     NULL,
     0,
     NULL},
    {"Shape x > s; ReduceProd s keepdims=1 > p; Concat p v1 axis=0 > t; Reshape x t > y",
     {-1, 3},
     {4, 1},
     13,
     NULL,
     0,
     NULL},
    {"Shape x > s; Gather s zero > b; Cast b to=1 > f; Cast two to=1 > g; Mul f g > h; Floor h > i; Cast i to=7 > j; "
     "Unsqueeze j v0 > u; Concat u v2 axis=0 > t; Reshape x t > y",
     {-1, 4},
     {3, 5},
     13,
     NULL,
     0,
     "multiply: 8388608 >= n"},
    {"Shape x > s; Equal s v_1 > e; Where e v1 s > t; ConstantOfShape t > z; Add x z > y",
     {-1, 3},
     {2, 6},
     13,
     NULL,
     0,
     NULL},
    {"Shape x > s; Gather s zero > b; Mod b two > r; Sub b r > k; Unsqueeze k v0 > u; Slice x v0 u > y",
     {-1, 3},
     {5, 8, 3},
     13,
     NULL,
     0,
     NULL},
    {"Shape x > s; Gather s zero > b; Min b two > m; Max m one > k; Unsqueeze k v0 > u; Slice x v0 u > y",
     {-1, 3},
     {1, 2, 9},
     13,
     NULL,
     0,
     NULL},
    {"Shape x > s; Expand two s > y", {-1, 3}, {1, 4}, 13, NULL, 0, NULL},
    {"Shape x > s; Gather s zero > b; Unsqueeze b v0 > u; Concat u v2 axis=0 > t; Tile x t > y",
     {-1, 2},
     {1, 3},
     13,
     NULL,
     0,
     NULL},
    {"Split x axis=0 > y z", {-1, 2}, {4, 6, 7}, 18, "is a multiple of 2", 7, NULL},
    {"Shape x > s; Slice s v0 v1 > b; Div b v2 > h; Sub b h > r; Concat h r axis=0 > t; Split x t axis=0 > z y",
     {-1, 2},
     {4, 7, 1},
     13,
     NULL,
     0,
     NULL},
    /* extents as data */
    {"Shape x > s; Gather s zero > b; Cast b to=1 > f; Sqrt f > g; Div x g > y", {-1, 3}, {2, 5, 1}, 13, NULL, 0, NULL},
    {"Shape x > s; Gather s zero > b; Range zero b one > p; Unsqueeze p v1 > q; Cast q to=1 > f; Mul x f > y",
     {-1, 3},
     {3, 1, 6},
     13,
     NULL,
     0,
     NULL},
    {"Shape x > s; Cast s to=1 > f; Add f f > y", {-1, 3}, {3, 8}, 13, NULL, 0, NULL},
    /* what dims cannot express */
    /* the report names an extent that is not known, not the number that stands for it */
    {"DFT x > y", {1, 4, -1}, {2, 1, 2, 1, 2}, 17, "a last axis of n; expected [..., 1] or [..., 2]", -1, NULL},
    {"Shape x > s; Gather s zero > b; HannWindow b > y",
     {-1, 3},
     {3},
     17,
     "the window's size is computed from extents of the model's inputs; this op takes only numbers here",
     -1,
     NULL},
    {"Mul x x > y", {-1, 3}, {2, 0, 4}, 13, "dim 'n' is 0", 0, NULL},
    /* numbers from shapes */
    {"Shape x > s; Gather s zero > b; Sub b two > k; Trilu x k > y", {-1, 3}, {2, 3, 8}, 14, NULL, 0, NULL},
    {"Shape x > s; Gather s zero > b; Range zero b one > r; Concat v0 v1 axis=0 > p; OneHot r b p > h; Cast h to=1 > "
     "f; "
     "MatMul f x > y",
     {-1, 3},
     {3, 1, 6},
     13,
     NULL,
     0,
     NULL},
    /* ranges of floats */
    {"Shape x > s; Gather s zero > b; Cast b to=1 > f; Cast zero to=1 > z; Cast one to=1 > o; Range z f o > p; "
     "Unsqueeze p v1 > q; Mul x q > y",
     {-1, 3},
     {3, 1, 6},
     13,
     NULL,
     0,
     "cast: 16777216 >= n"},
    {"Shape x > s; Gather s zero > b; Cast b to=11 > f; Cast one to=11 > o; Cast two to=11 > t; Mul f t > e; "
     "Range o e t > p; Cast p to=1 > q; Unsqueeze q v1 > r; Mul x r > y",
     {-1, 3},
     {3, 1, 6},
     13,
     NULL,
     0,
     NULL},
    {"Shape x > s; Gather s zero > b; Cast b to=1 > f; Cast two to=1 > t; Div f t > h; Cast zero to=1 > z; "
     "Cast one to=1 > o; Range z h o > p; ReduceSum p keepdims=0 > q; Mul x q > y",
     {-1, 3},
     {3, 4},
     13,
     "Range",
     -1,
     NULL},
    /* axes that are turned round, as exporters write them */
    {"Slice x v_1 min v0 v_1 > y", {-1, 3}, {3, 1, 6}, 13, NULL, 0, NULL},
    {"Slice x v_1 least v0 v_1 > z; Add x z > y", {-1, 3}, {3, 1, 6}, 13, NULL, 0, NULL},
    {"Slice x v_1 min32 v0 v_1 > z; Add x z > y", {-1, 3}, {3, 1, 6}, 13, NULL, 0, "2147483647 >= n"},
    {"Slice x v1 max32 v0 v1 > y", {-1, 3}, {3, 1, 6}, 13, NULL, 0, "2147483647 >= n"},
    {"Slice x min v2 v0 v1 > y", {-1, 3}, {3, 1, 6}, 13, NULL, 0, NULL},
    /* backward from before the first element */
    {"Slice x v_2 least v0 v_1 > y", {-1, 3}, {3, 2, 6, 1}, 13, "n >= 2", 1, "Slice: n >= 2"},
    {"Slice x min32 least v0 v_1 > y", {-1, 3}, {3, 1, 6}, 13, NULL, 0, "Slice: 2147483648 >= n"},
    {"Slice x min least v0 v_1 > y", {-1, 3}, {3, 1, 6}, 13, NULL, 0, NULL},
    /* sizes that are products with fractions, and quotients; fractions as data */
    {"Shape x > s; Gather s zero > b; Cast b to=1 > f; Gather scales zero > k; Mul f k > g; Floor g > i; Cast i to=7 > "
     "j;"
     "Unsqueeze j v0 > u; Slice s v1 v3 > r; Concat u r axis=0 > t; Resize x - - t mode=linear > y",
     {-1, 8, 3},
     {3, 2, 7, 6},
     13,
     NULL,
     0,
     "multiply: 16777216 >= 3*n"},
    {"Shape x > s; Gather s zero > b; Cast b to=1 > f; Cast two to=1 > k; Div f k > g; Ceil g > i; Cast i to=7 > j;"
     "Unsqueeze j v0 > u; Slice s v1 v3 > r; Concat u r axis=0 > t; Resize x - - t mode=linear > y",
     {-1, 8, 3},
     {3, 2, 7, 6},
     13,
     NULL,
     0,
     "cast: 16777216 >= n"},
    {"Shape x > s; Gather s v0 > b; Cast b to=1 > f; Gather scales v0 > k; Mul f k > g; Cast two to=1 > h; Div g h > q;"
     "Concat q q axis=0 > d; Slice d v0 v1 v0 > e; Mul x e > z; Cast q to=7 > w; Expand z w > y",
     {-1, 1},
     {3, 2, 7, 6},
     13,
     NULL,
     0,
     "multiply: 16777216 >= 3*n"},
    /* scales that are fractions: 2^24 / 3 */
    {"Resize x - scales mode=linear > y", {-1, 8, 3}, {3, 2, 7, 6}, 13, NULL, 0, "resize: 5592405 >= n"},
};

static void add_constants(wire_bytes *graph) {
  static const char *const scalars[] = {"zero", "one", "two", "three"}, *const lists[] = {"v0", "v1",  "v2",
                                                                                          "v3", "v_1", "v_2"};
  static const int64_t one = 1, values[] = {0, 1, 2, 3, -1, -2};
  static const char *const bounds[] = {"min", "least", "min32", "max32"};
  static const int64_t numbers[] = {INT64_MIN, -INT64_MAX, INT32_MIN, INT32_MAX}, axes = 3;
  static const float scales[] = {1.5F, 0.375F, 1};
  build_initializer(graph, "scales", FLOAT, 1, &axes, scales, sizeof scales);
  for (int i = 0; i < 4; i++) {
    build_initializer(graph, scalars[i], INT64, 0, NULL, &values[i], sizeof *values);
  }
  for (int i = 0; i < 6; i++) {
    build_initializer(graph, lists[i], INT64, 1, &one, &values[i], sizeof *values);
  }
  for (int i = 0; i < 4; i++) {
    build_initializer(graph, bounds[i], INT64, 1, &one, &numbers[i], sizeof *numbers);
  }
}

static int rank_of(const dims_case *one) {
  int rank = 0;
  while (rank < 3 && one->shape[rank] != 0) {
    rank++;
  }
  return rank;
}

/* y is declared without a dtype of its own: the declaration of an integer result would differ. */
static nd4c_model *open_case(const dims_case *one, wire_bytes *bytes) {
  wire_bytes graph = {0}, info = {0};
  nd4c_model *model = NULL;
  *bytes = (wire_bytes){0};
  build_nodes(&graph, one->nodes);
  add_constants(&graph);
  build_value(&graph, 11, "x", FLOAT, rank_of(one), one->shape);
  wire_text(&info, 1, "y");
  wire_message(&graph, 12, &info);
  build_model(bytes, &graph, one->opset);
  const nd4c_status status = nd4c_model_open_memory(bytes->bytes, bytes->size, NULL, NULL, NULL, &model);
  if (status != ND4C_OK) {
    print_error("%s: %s\n", one->nodes, nd4c_error_message());
  }
  assert_int_equal(status, ND4C_OK);
  return model;
}

static nd4c_array *input_of(const dims_case *one, int64_t size) {
  float values[MOST];
  int64_t shape[3], count = 1;
  nd4c_array *array = NULL;
  for (int i = 0; i < rank_of(one); i++) {
    shape[i] = one->shape[i] < 0 ? size : one->shape[i];
    count *= shape[i];
  }
  assert_true(count <= MOST);
  for (int64_t i = 0; i < count; i++) {
    values[i] = (float)(i % 17) - 3;
  }
  assert_int_equal(nd4c_array_from_data(ND4C_FLOAT32, rank_of(one), shape, values, NULL, &array), ND4C_OK);
  return array;
}

static nd4c_array *run(nd4c_model *model, const dims_case *one, int64_t size) {
  static const char *const names[] = {"x"};
  nd4c_array *x = input_of(one, size), *y = NULL;
  const nd4c_array *inputs[] = {x};
  const nd4c_status status = nd4c_model_run(model, NULL, names, inputs, 1, &y, 1);
  if (status != ND4C_OK) {
    print_error("%s at %lld: %s\n", one->nodes, (long long)size, nd4c_error_message());
  }
  assert_int_equal(status, ND4C_OK);
  nd4c_array_release(x);
  return y;
}

static void same(const nd4c_array *given, const nd4c_array *wanted) {
  char left[8 * MOST], right[8 * MOST];
  const int64_t bytes = nd4c_dtype_bytes(nd4c_array_dtype(wanted), nd4c_array_size(wanted));
  assert_int_equal(nd4c_array_dtype(given), nd4c_array_dtype(wanted));
  assert_int_equal(nd4c_array_rank(given), nd4c_array_rank(wanted));
  for (int i = 0; i < nd4c_array_rank(wanted); i++) {
    assert_int_equal(nd4c_array_shape(given)[i], nd4c_array_shape(wanted)[i]);
  }
  assert_true(bytes <= (int64_t)sizeof left);
  assert_int_equal(nd4c_array_read(given, left, (size_t)bytes), ND4C_OK);
  assert_int_equal(nd4c_array_read(wanted, right, (size_t)bytes), ND4C_OK);
  assert_memory_equal(left, right, (size_t)bytes);
}

static void check_report(const nd4c_model *model, const dims_case *one, int64_t size) {
  static const char line[] = "imported for these shapes alone: ";
  char *report = NULL;
  assert_int_equal(nd4c_model_report(model, &report), ND4C_OK);
  const bool refused = one->alone != NULL && (one->refused < 0 || one->refused == size);
  const char *found = strstr(report, line);
  if ((found != NULL) != refused || (refused && strstr(found, one->alone) == NULL)) {
    print_error("%s at %lld: %s\n", one->nodes, (long long)size, found != NULL ? found : report);
  }
  assert_int_equal(found != NULL, refused);
  assert_true(!refused || strstr(found, one->alone) != NULL);
  nd4c_free(report);
}

static void check_guards(nd4c_model *model, const dims_case *one) {
  nd4c_graph *graph = NULL;
  char *guards = NULL;
  assert_int_equal(nd4c_model_graph(model, NULL, NULL, NULL, &graph), ND4C_OK);
  assert_int_equal(nd4c_graph_guards(graph, &guards), ND4C_OK);
  if (strstr(guards, one->guards) == NULL) {
    print_error("%s: %s\n", one->nodes, guards);
  }
  assert_non_null(strstr(guards, one->guards));
  nd4c_free(guards);
  nd4c_graph_destroy(graph);
}

static void gives_what_an_import_for_the_shapes_gives(void **state) {
  (void)state;
  static wire_bytes bytes, other;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    nd4c_model *model = open_case(&cases[i], &bytes);
    for (int j = 0; j < SIZES && (j == 0 || cases[i].sizes[j] != 0 || cases[i].sizes[j + 1 < SIZES ? j + 1 : j] != 0);
         j++) {
      nd4c_array *given = run(model, &cases[i], cases[i].sizes[j]);
      check_report(model, &cases[i], cases[i].sizes[j]);
      assert_int_equal(nd4c_config_set("nd4c.model.dims", "none"), ND4C_OK);
      nd4c_model *alone = open_case(&cases[i], &other);
      nd4c_array *wanted = run(alone, &cases[i], cases[i].sizes[j]);
      assert_int_equal(nd4c_config_set("nd4c.model.dims", NULL), ND4C_OK);
      same(given, wanted);
      nd4c_array_release(given);
      nd4c_array_release(wanted);
      nd4c_model_close(alone);
    }
    if (cases[i].guards != NULL) {
      check_guards(model, &cases[i]);
    }
    nd4c_model_close(model);
  }
}

/* As ONNX and ONNX Runtime have it: backward from before the axis, a cut begins at the first element. */
static void cuts_backward_from_before_the_axis(void **state) {
  (void)state;
  static wire_bytes bytes;
  static const struct {
    const char *nodes;
    int64_t rows, size;
    float first;
  } cuts[] = {
      {"Slice x min least v0 v_1 > y", 3, 2, -3},  {"Slice x min32 least v0 v_1 > y", 3, 2, -3},
      {"Slice x v_2 least v0 v_1 > y", 1, 2, -3},  {"Slice x v_2 least v0 v_1 > y", 2, 2, -3},
      {"Slice x v_2 least v0 v_1 > y", 3, 4, -1},  {"Slice x v_2 v0 v0 v_1 > y", 1, 0, 0},
      {"Slice x v_2 v_1 v0 v_1 > y", 1, 0, 0},     {"Slice x v_2 least v0 v_2 > y", 1, 2, -3},
      {"Slice x min least v_2 v_1 > y", 3, 2, -3}, {"Slice x v_1 least v0 v_1 > y", 1, 2, -3},
  };
  for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
    for (int fixed = 0; fixed < 2; fixed++) {
      const dims_case one = {cuts[i].nodes, {fixed ? cuts[i].rows : -1, 2}, {0}, 13, NULL, 0, NULL};
      float values[8] = {0};
      nd4c_model *model = open_case(&one, &bytes);
      nd4c_array *y = run(model, &one, cuts[i].rows);
      if (nd4c_array_size(y) != cuts[i].size) {
        print_error("%s of %lld rows\n", cuts[i].nodes, (long long)cuts[i].rows);
      }
      assert_int_equal(nd4c_array_size(y), cuts[i].size);
      assert_int_equal(nd4c_array_read(y, values, (size_t)cuts[i].size * sizeof *values), ND4C_OK);
      assert_true(values[0] == cuts[i].first);
      nd4c_array_release(y);
      nd4c_model_close(model);
    }
  }
}

static void imports_once(void **state) {
  (void)state;
  static wire_bytes bytes;
  nd4c_model *model = open_case(&cases[0], &bytes);
  int imports = 0;
  nd4c_model_set_progress(model, count_imports, &imports);
  for (int64_t size = 1; size < 6; size++) {
    nd4c_array_release(run(model, &cases[0], size));
  }
  assert_int_equal(imports, 1);
  nd4c_model_close(model);
}

static void names_dims_of_its_graph(void **state) {
  (void)state;
  static wire_bytes bytes;
  nd4c_model *model = open_case(&cases[0], &bytes);
  nd4c_graph *graph = NULL;
  nd4c_dtype dtype;
  int32_t rank = 0;
  const int64_t *shape = NULL;
  char *text = NULL;
  assert_int_equal(nd4c_model_graph(model, NULL, NULL, NULL, &graph), ND4C_OK);
  nd4c_model_close(model); /* the graph outlives it */
  assert_int_equal(nd4c_graph_dim_count(graph), 1);
  assert_string_equal(nd4c_graph_dim_name(graph, 0), "n");
  assert_int_equal(nd4c_graph_value_info(graph, nd4c_graph_output_value(graph, 0), &dtype, &rank, &shape), ND4C_OK);
  assert_int_equal(rank, 2);
  assert_int_equal(nd4c_graph_extent_text(graph, shape[0], &text), ND4C_OK);
  assert_string_equal(text, "n");
  assert_int_equal(shape[1], 6);
  nd4c_free(text);
  nd4c_graph_destroy(graph);
  model = open_case(&cases[15], &bytes);
  graph = NULL;
  assert_int_equal(nd4c_model_graph(model, NULL, NULL, NULL, &graph), ND4C_UNSUPPORTED);
  assert_non_null(strstr(nd4c_error_message(), "the model is no graph with dims, give shapes: "));
  assert_null(graph);
  nd4c_model_close(model);
}

static void frees_every_extent_if_asked(void **state) {
  (void)state;
  static wire_bytes bytes;
  const dims_case fixed = {"Mul x x > y", {2, 3}, {2}, 13, NULL, 0, NULL};
  assert_int_equal(nd4c_config_set("nd4c.model.dims", "some"), ND4C_CONFIG);
  assert_int_equal(nd4c_config_set("nd4c.model.dims", "all"), ND4C_OK);
  nd4c_model *model = open_case(&fixed, &bytes);
  int imports = 0;
  nd4c_model_set_progress(model, count_imports, &imports);
  nd4c_array_release(run(model, &fixed, 2));
  check_report(model, &fixed, 2);
  assert_int_equal(imports, 1);
  nd4c_model_close(model);
  assert_int_equal(nd4c_config_set("nd4c.model.dims", NULL), ND4C_OK);
}

/* A cancelled run says nothing about the model: later runs use the graph with dims. Before the first run, the import is
 * stopped, where it computes a constant; later, the plan for a new size. */
static void cancelled_runs_keep_dims(void **state) {
  (void)state;
  static wire_bytes bytes;
  static const char *const names[] = {"x"};
  const dims_case one = {
      "Cast two to=1 > f; Cast three to=1 > g; Add f g > h; Mul x h > y", {-1, 2}, {3}, 13, NULL, 0, NULL};
  for (int earlier = 0; earlier < 2; earlier++) {
    nd4c_model *model = open_case(&one, &bytes);
    nd4c_cancellation *cancellation = NULL;
    nd4c_array *x = input_of(&one, 3), *y = NULL;
    if (earlier == 1) {
      nd4c_array_release(run(model, &one, 2));
    }
    assert_int_equal(nd4c_cancellation_create(&cancellation), ND4C_OK);
    assert_int_equal(nd4c_cancellation_enter(cancellation), ND4C_OK);
    assert_int_equal(nd4c_cancellation_request(cancellation), ND4C_OK);
    assert_int_equal(nd4c_model_run(model, NULL, names, (const nd4c_array *const[]){x}, 1, &y, 1), ND4C_CANCELLED);
    assert_null(y);
    assert_int_equal(nd4c_cancellation_leave(cancellation), ND4C_OK);
    nd4c_cancellation_destroy(cancellation);
    nd4c_array_release(x);
    nd4c_array_release(run(model, &one, 3));
    check_report(model, &one, 3);
    nd4c_model_close(model);
  }
}

/* -- no plan with dims ----------------------------------------------------------------------------------------------
 */

enum { MANY = 9, AXES = 8 }; /* inputs, and axes of each: more dims than a plan takes */

static void add_many_inputs(wire_bytes *graph) {
  for (int i = 0; i < MANY; i++) {
    char name[16];
    wire_bytes info = {0}, proto = {0}, tensor = {0}, extents = {0};
    for (int j = 0; j < AXES; j++) {
      wire_bytes extent = {0};
      (void)snprintf(name, sizeof name, "d%d", AXES * i + j);
      wire_text(&extent, 2, name);
      wire_message(&extents, 1, &extent);
    }
    wire_number(&tensor, 1, FLOAT);
    wire_message(&tensor, 2, &extents);
    wire_message(&proto, 1, &tensor);
    (void)snprintf(name, sizeof name, "x%d", i);
    wire_text(&info, 1, name);
    wire_message(&info, 2, &proto);
    wire_message(graph, 11, &info);
  }
}

static void assert_reported(const nd4c_model *model, const char *words) {
  char *report = NULL;
  assert_int_equal(nd4c_model_report(model, &report), ND4C_OK);
  if (strstr(report, words) == NULL) {
    print_error("%s is not in:\n%s", words, report);
  }
  assert_non_null(strstr(report, words));
  nd4c_free(report);
}

static void run_many(nd4c_model *model, int64_t size) {
  static const char *const names[MANY] = {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8"};
  const int64_t shape[AXES] = {size, 1, 1, 1, 1, 1, 1, 1};
  nd4c_array *x = NULL, *y = NULL;
  const nd4c_array *inputs[MANY];
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, AXES, shape, -1, NULL, &x), ND4C_OK);
  for (int i = 0; i < MANY; i++) {
    inputs[i] = x;
  }
  assert_int_equal(nd4c_model_run(model, NULL, names, inputs, MANY, &y, 1), ND4C_OK);
  assert_int_equal(nd4c_array_shape(y)[0], size);
  nd4c_array_release(x);
  nd4c_array_release(y);
}

/* The graph has dims, but its plan is refused: each combination of shapes has a plan, whose report says why. */
static void says_why_no_plan_has_dims(void **state) {
  (void)state;
  static wire_bytes bytes;
  wire_bytes graph = {0}, info = {0};
  nd4c_model *model = NULL;
  build_nodes(&graph, "Relu x0 > y");
  add_many_inputs(&graph);
  wire_text(&info, 1, "y");
  wire_message(&graph, 12, &info);
  bytes = (wire_bytes){0};
  build_model(&bytes, &graph, 13);
  assert_int_equal(nd4c_model_open_memory(bytes.bytes, bytes.size, NULL, NULL, NULL, &model), ND4C_OK);
  for (int64_t size = 1; size < 4; size++) {
    run_many(model, size);
    assert_reported(model, "\nplanned for these shapes alone, of the graph with dims: ");
    assert_reported(model, "72 dims");
  }
  nd4c_model_close(model);
}

static void says_that_a_placement_takes_no_dims(void **state) {
  (void)state;
  static wire_bytes bytes;
  nd4c_device *device = NULL;
  nd4c_model *model = NULL;
  assert_int_equal(nd4c_device_find("cpu", &device), ND4C_OK);
  const nd4c_placement placement = {.struct_size = sizeof placement, .devices = &device, .device_count = 1};
  const nd4c_model_options options = {.struct_size = sizeof options, .placement = &placement};
  nd4c_model_close(open_case(&cases[0], &bytes));
  assert_int_equal(nd4c_model_open_memory(bytes.bytes, bytes.size, &options, NULL, NULL, &model), ND4C_OK);
  nd4c_array_release(run(model, &cases[0], 2));
  assert_reported(model,
                  "\nplanned for these shapes alone, of the graph with dims: a plan with dims takes no placement\n");
  nd4c_model_close(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gives_what_an_import_for_the_shapes_gives),
      cmocka_unit_test(cuts_backward_from_before_the_axis),
      cmocka_unit_test(imports_once),
      cmocka_unit_test(names_dims_of_its_graph),
      cmocka_unit_test(frees_every_extent_if_asked),
      cmocka_unit_test(cancelled_runs_keep_dims),
      cmocka_unit_test(says_why_no_plan_has_dims),
      cmocka_unit_test(says_that_a_placement_takes_no_dims),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
