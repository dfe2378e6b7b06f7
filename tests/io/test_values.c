/* Data (nd4c_datum): making, queries, files; models that take and give them. */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "model_build.h"
#include "nd4c/nd4c.h"

static void expect_status(nd4c_status given, nd4c_status expected, const char *words) {
  if (given != expected || (expected != ND4C_OK && strstr(nd4c_error_message(), words) == NULL)) {
    fail_msg("%s \"%s\"; expected %s \"%s\"", nd4c_status_name(given), nd4c_error_message(), nd4c_status_name(expected),
             words);
  }
}

static nd4c_datum *array_datum(double value) {
  nd4c_array *array = NULL;
  nd4c_datum *datum = NULL;
  expect_status(nd4c_array_full(ND4C_FLOAT32, 1, (const int64_t[]){2}, value, NULL, &array), ND4C_OK, "");
  expect_status(nd4c_datum_of_array(array, &datum), ND4C_OK, "");
  nd4c_array_release(array);
  return datum;
}

static nd4c_datum *sequence_datum(int32_t count) {
  nd4c_datum *items[8] = {0};
  nd4c_datum *sequence = NULL;
  for (int32_t i = 0; i < count; i++) {
    items[i] = array_datum(i + 1);
  }
  expect_status(nd4c_datum_of_sequence(ND4C_FLOAT32, items, count, &sequence), ND4C_OK, "");
  for (int32_t i = 0; i < count; i++) {
    nd4c_datum_release(items[i]);
  }
  return sequence;
}

static double first_of(const nd4c_datum *datum) {
  double value = 0;
  assert_int_equal(nd4c_datum_get_kind(datum), ND4C_DATUM_ARRAY);
  expect_status(nd4c_array_item(nd4c_datum_array(datum), (const int64_t[]){0}, &value), ND4C_OK, "");
  return value;
}

/* -- making --------------------------------------------------------------------------------------------------- */

static void holds_what_it_is_given(void **state) {
  (void)state;
  nd4c_datum *sequence = sequence_datum(3);
  nd4c_datum *optional = NULL;
  nd4c_datum *empty = NULL;
  expect_status(nd4c_datum_of_optional(sequence, &optional), ND4C_OK, "");
  expect_status(nd4c_datum_of_optional(NULL, &empty), ND4C_OK, "");
  nd4c_datum_release(sequence);
  assert_int_equal(nd4c_datum_get_kind(optional), ND4C_DATUM_OPTIONAL);
  assert_int_equal(nd4c_datum_count(optional), 1);
  assert_int_equal(nd4c_datum_dtype(optional), ND4C_FLOAT32);
  assert_int_equal(nd4c_datum_count(nd4c_datum_item(optional, 0)), 3);
  assert_true(first_of(nd4c_datum_item(nd4c_datum_item(optional, 0), 2)) == 3);
  assert_null(nd4c_datum_item(optional, 1));
  assert_null(nd4c_datum_array(optional));
  assert_int_equal(nd4c_datum_count(empty), 0);
  assert_int_equal(nd4c_datum_dtype(empty), ND4C_DTYPE_NONE);
  assert_int_equal(nd4c_datum_get_kind(NULL), ND4C_DATUM_NONE);
  nd4c_datum_release(nd4c_datum_retain(empty));
  nd4c_datum_release(empty);
  nd4c_datum_release(optional);
  nd4c_datum_release(NULL);
}

/* Many items, and another datum behind: each keeps its own. */
static void holds_many_items(void **state) {
  enum { MANY = 500 };
  static nd4c_datum *items[MANY];
  nd4c_datum *both[2] = {NULL};
  (void)state;
  for (int i = 0; i < MANY; i++) {
    items[i] = array_datum((float)i);
  }
  for (int k = 0; k < 2; k++) {
    expect_status(nd4c_datum_of_sequence(ND4C_FLOAT32, items, MANY, &both[k]), ND4C_OK, "");
  }
  for (int k = 0; k < 2; k++) {
    assert_int_equal(nd4c_datum_count(both[k]), MANY);
    for (int i = 0; i < MANY; i++) {
      assert_ptr_equal(nd4c_datum_item(both[k], i), items[i]);
    }
  }
  for (int i = 0; i < MANY; i++) {
    nd4c_datum_release(items[i]);
  }
  nd4c_datum_release(both[0]);
  nd4c_datum_release(both[1]);
}

static void refuses_misuse(void **state) {
  (void)state;
  nd4c_datum *made = NULL;
  nd4c_datum *one = array_datum(1);
  nd4c_datum *sequence = sequence_datum(1);
  nd4c_datum *optional = NULL;
  nd4c_datum *mixed[] = {one, sequence};
  nd4c_datum *missing[] = {one, NULL};
  expect_status(nd4c_datum_of_array(NULL, &made), ND4C_NULL_ARGUMENT, "array");
  expect_status(nd4c_datum_of_sequence(ND4C_FLOAT32, mixed, 2, &made), ND4C_ARGUMENT, "item 1 is of another kind");
  expect_status(nd4c_datum_of_sequence(ND4C_INT32, mixed, 1, &made), ND4C_DTYPE, "item 0 is float32, expected int32");
  expect_status(nd4c_datum_of_sequence(ND4C_FLOAT32, missing, 2, &made), ND4C_NULL_ARGUMENT, "an item is NULL");
  expect_status(nd4c_datum_of_sequence(ND4C_FLOAT32, NULL, 2, &made), ND4C_NULL_ARGUMENT, "items is NULL");
  expect_status(nd4c_datum_of_sequence(ND4C_FLOAT32, mixed, -1, &made), ND4C_ARGUMENT, "-1 items");
  expect_status(nd4c_datum_of_optional(one, NULL), ND4C_NULL_ARGUMENT, "out is NULL");
  expect_status(nd4c_datum_of_optional(one, &optional), ND4C_OK, "");
  expect_status(nd4c_datum_of_optional(optional, &made), ND4C_ARGUMENT, "item is an optional");
  expect_status(nd4c_datum_read("/nosuch", (nd4c_datum_kind)9, &made), ND4C_ARGUMENT, "no kind of datum");
  expect_status(nd4c_datum_read("/nosuch", ND4C_DATUM_SEQUENCE, &made), ND4C_IO, "nosuch");
  expect_status(nd4c_datum_write("/tmp/x", NULL, NULL), ND4C_NULL_ARGUMENT, "datum");
  assert_null(made);
  /* Nesting ends at 8. */
  nd4c_datum *deep = nd4c_datum_retain(sequence);
  nd4c_status status = ND4C_OK;
  int levels = 2;
  while (status == ND4C_OK && levels < 100) {
    nd4c_datum *deeper = NULL;
    status = nd4c_datum_of_sequence(ND4C_FLOAT32, &deep, 1, &deeper);
    if (status == ND4C_OK) {
      nd4c_datum_release(deep);
      deep = deeper;
      levels++;
    }
  }
  expect_status(status, ND4C_ARGUMENT, "more than 8 deep");
  assert_int_equal(levels, 8);
  nd4c_datum_release(deep);
  nd4c_datum_release(optional);
  nd4c_datum_release(sequence);
  nd4c_datum_release(one);
}

/* -- files ---------------------------------------------------------------------------------------------------- */

enum { FILE_SIZE = 4096 };

static size_t write_and_load(const nd4c_datum *datum, unsigned char *bytes) {
  char path[] = "/tmp/nd4c_values_XXXXXX";
  int descriptor = mkstemp(path);
  assert_true(descriptor >= 0);
  (void)close(descriptor);
  expect_status(nd4c_datum_write(path, datum, "name"), ND4C_OK, "");
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  size_t size = fread(bytes, 1, FILE_SIZE, file);
  (void)fclose(file);
  (void)unlink(path);
  return size;
}

static void files_keep_everything(void **state) {
  (void)state;
  unsigned char bytes[FILE_SIZE];
  nd4c_datum *sequence = sequence_datum(3);
  nd4c_datum *optional = NULL;
  nd4c_datum *back = NULL;
  expect_status(nd4c_datum_of_optional(sequence, &optional), ND4C_OK, "");
  size_t size = write_and_load(optional, bytes);
  expect_status(nd4c_datum_read_memory(bytes, size, ND4C_DATUM_OPTIONAL, &back), ND4C_OK, "");
  assert_int_equal(nd4c_datum_get_kind(back), ND4C_DATUM_OPTIONAL);
  assert_int_equal(nd4c_datum_count(nd4c_datum_item(back, 0)), 3);
  assert_true(first_of(nd4c_datum_item(nd4c_datum_item(back, 0), 1)) == 2);
  nd4c_datum_release(back);
  nd4c_datum_release(optional);
  nd4c_datum_release(sequence);
}

/* The number that a file gives for what a sequence or an optional holds (SequenceProto.DataType and
 * OptionalProto.DataType of ONNX). */
static int type_of_items(const nd4c_datum *datum) {
  static const unsigned char name[] = {0x0a, 4, 'n', 'a', 'm', 'e', 0x10};
  unsigned char bytes[FILE_SIZE];
  assert_true(write_and_load(datum, bytes) > sizeof name);
  assert_memory_equal(bytes, name, sizeof name);
  return bytes[sizeof name];
}

static void files_tell_the_type_of_items(void **state) {
  (void)state;
  enum { TENSOR = 1, SEQUENCE = 3, OPTIONAL = 5 };
  nd4c_datum *sequence = sequence_datum(2), *empty = sequence_datum(0), *one = array_datum(1);
  nd4c_datum *nested = NULL, *optionals = NULL, *of_array = NULL, *of_sequence = NULL;
  expect_status(nd4c_datum_of_sequence(ND4C_FLOAT32, &sequence, 1, &nested), ND4C_OK, "");
  expect_status(nd4c_datum_of_optional(one, &of_array), ND4C_OK, "");
  expect_status(nd4c_datum_of_optional(sequence, &of_sequence), ND4C_OK, "");
  expect_status(nd4c_datum_of_sequence(ND4C_FLOAT32, &of_array, 1, &optionals), ND4C_OK, "");
  assert_int_equal(type_of_items(sequence), TENSOR);
  assert_int_equal(type_of_items(empty), TENSOR);
  assert_int_equal(type_of_items(nested), SEQUENCE);
  assert_int_equal(type_of_items(optionals), OPTIONAL);
  assert_int_equal(type_of_items(of_array), TENSOR);
  assert_int_equal(type_of_items(of_sequence), SEQUENCE);
  nd4c_datum *const made[] = {nested, optionals, of_array, of_sequence, sequence, empty, one};
  for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
    nd4c_datum_release(made[i]);
  }
}

/* Every prefix of a file, and the file with each byte changed, is read or refused. */
static void reads_or_refuses_anything(void **state) {
  (void)state;
  unsigned char bytes[FILE_SIZE];
  nd4c_datum *sequence = sequence_datum(2);
  size_t size = write_and_load(sequence, bytes);
  nd4c_datum_release(sequence);
  for (size_t i = 0; i < 2 * size; i++) {
    unsigned char *exact = malloc(size + 1);
    nd4c_datum *back = NULL;
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    size_t length = i < size ? i : size;
    if (i >= size) {
      exact[i - size] ^= (unsigned char)(1 + i % 255);
    }
    unsigned char *cut = malloc(length + 1);
    assert_non_null(cut);
    memcpy(cut, exact, length);
    if (nd4c_datum_read_memory(cut, length, ND4C_DATUM_SEQUENCE, &back) == ND4C_OK) {
      nd4c_datum_release(back);
    }
    free(cut);
    free(exact);
  }
}

static void refuses_bad_files(void **state) {
  (void)state;
  wire_bytes sequence = {0}, optional = {0}, nested = {0}, map = {0};
  nd4c_datum *made = NULL;
  wire_text(&optional, 5, "");
  wire_text(&optional, 5, "");
  expect_status(nd4c_datum_read_memory(optional.bytes, optional.size, ND4C_DATUM_OPTIONAL, &made), ND4C_FORMAT,
                "an optional with 2 values");
  wire_text(&map, 6, "");
  expect_status(nd4c_datum_read_memory(map.bytes, map.size, ND4C_DATUM_SEQUENCE, &made), ND4C_UNSUPPORTED, "a map");
  wire_text(&sequence, 3, "");
  expect_status(nd4c_datum_read_memory(sequence.bytes, sequence.size, ND4C_DATUM_SEQUENCE, &made), ND4C_FORMAT,
                "no element type");
  for (int i = 0; i < 160; i++) {
    wire_bytes *outer = calloc(1, sizeof *outer);
    assert_non_null(outer);
    wire_message(outer, 5, &nested);
    memcpy(&nested, outer, sizeof nested);
    free(outer);
  }
  expect_status(nd4c_datum_read_memory(nested.bytes, nested.size, ND4C_DATUM_SEQUENCE, &made), ND4C_FORMAT,
                "nested deeper than");
  assert_null(made);
}

/* -- models --------------------------------------------------------------------------------------------------- */

/* A ValueInfoProto of a sequence of float32. */
static void build_sequence(wire_bytes *graph, uint32_t field, const char *name) {
  wire_bytes info = {0}, outer = {0}, sequence = {0}, inner = {0}, tensor = {0};
  wire_number(&tensor, 1, 1);
  wire_message(&inner, 1, &tensor);
  wire_message(&sequence, 1, &inner);
  wire_message(&outer, 4, &sequence);
  wire_text(&info, 1, name);
  wire_message(&info, 2, &outer);
  wire_message(graph, field, &info);
}

static nd4c_model *open_sequence_model(wire_bytes *model) {
  wire_bytes graph = {0};
  nd4c_model *opened = NULL;
  build_nodes(&graph, "SequenceLength s > n; SequenceInsert s x > t");
  build_sequence(&graph, 11, "s");
  build_value(&graph, 11, "x", 1, 1, (const int64_t[]){2});
  build_value(&graph, 12, "n", 7, 0, NULL);
  build_sequence(&graph, 12, "t");
  build_model(model, &graph, 13);
  expect_status(nd4c_model_open_memory(model->bytes, model->size, NULL, NULL, NULL, &opened), ND4C_OK, "");
  return opened;
}

static void models_take_and_give_sequences(void **state) {
  (void)state;
  wire_bytes bytes = {0};
  nd4c_model *model = open_sequence_model(&bytes);
  nd4c_model_value value = {.struct_size = sizeof value};
  const char *names[] = {"x", "s"};
  nd4c_datum *x = array_datum(7);
  nd4c_datum *s = sequence_datum(2);
  const nd4c_datum *inputs[] = {x, s};
  const nd4c_datum *wrong[] = {s, x};
  nd4c_datum *outputs[2] = {0};
  char *report = NULL;
  expect_status(nd4c_model_input(model, 0, &value), ND4C_OK, "");
  assert_int_equal(value.kind_count, 2);
  assert_int_equal(value.kinds[0], ND4C_DATUM_SEQUENCE);
  assert_int_equal(value.dtype, ND4C_FLOAT32);
  expect_status(nd4c_model_run_data(model, NULL, names, inputs, 2, outputs, 2), ND4C_OK, "");
  assert_true(nd4c_datum_count(outputs[1]) == 3 && first_of(nd4c_datum_item(outputs[1], 2)) == 7);
  nd4c_datum_release(outputs[0]);
  nd4c_datum_release(outputs[1]);
  expect_status(nd4c_model_report(model, &report), ND4C_OK, "");
  assert_non_null(strstr(report, "interpreted, node after node: 's' is a sequence"));
  nd4c_free(report);
  outputs[0] = outputs[1] = NULL;
  expect_status(nd4c_model_run_data(model, NULL, names, wrong, 2, outputs, 2), ND4C_ARGUMENT,
                "input 's' is or holds an array, expected a sequence");
  expect_status(nd4c_model_run_data(model, NULL, names, inputs, 1, outputs, 2), ND4C_NAME, "'s' of the model is not");
  nd4c_array *arrays[2] = {0};
  const nd4c_array *given[] = {nd4c_datum_array(x), nd4c_datum_array(x)};
  expect_status(nd4c_model_run(model, NULL, names, given, 2, arrays, 2), ND4C_ARGUMENT, "use nd4c_model_run_data");
  assert_true(outputs[0] == NULL && outputs[1] == NULL && arrays[0] == NULL);
  nd4c_datum_release(x);
  nd4c_datum_release(s);
  nd4c_model_close(model);
}

/* The caller owns the output, although the node passed on its input. */
static void outputs_share_nothing(void **state) {
  (void)state;
  wire_bytes bytes = {0};
  nd4c_model *model = open_sequence_model(&bytes);
  const char *names[] = {"x", "s"};
  nd4c_datum *x = array_datum(7);
  nd4c_datum *s = sequence_datum(1);
  const nd4c_datum *inputs[] = {x, s};
  nd4c_datum *outputs[2] = {0};
  expect_status(nd4c_model_run_data(model, NULL, names, inputs, 2, outputs, 2), ND4C_OK, "");
  void *data = NULL;
  expect_status(nd4c_array_data_mutable(nd4c_datum_array(nd4c_datum_item(outputs[1], 1)), &data), ND4C_OK, "");
  *(float *)data = -1;
  assert_true(first_of(x) == 7);
  nd4c_datum_release(outputs[0]);
  nd4c_datum_release(outputs[1]);
  nd4c_datum_release(x);
  nd4c_datum_release(s);
  nd4c_model_close(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(holds_what_it_is_given),
                                     cmocka_unit_test(holds_many_items),
                                     cmocka_unit_test(refuses_misuse),
                                     cmocka_unit_test(files_keep_everything),
                                     cmocka_unit_test(files_tell_the_type_of_items),
                                     cmocka_unit_test(reads_or_refuses_anything),
                                     cmocka_unit_test(refuses_bad_files),
                                     cmocka_unit_test(models_take_and_give_sequences),
                                     cmocka_unit_test(outputs_share_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
