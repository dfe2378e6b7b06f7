/* Refusals of a plug-in's ops: each row breaks one field of a sound op. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "device/provider/provider_check.h"
#include "nd4c/nd4c.h"

static nd4c_status infer(nd4c_inference *inference) {
  (void)inference;
  return ND4C_OK;
}

static nd4c_status run(const nd4c_call *call) {
  (void)call;
  return ND4C_OK;
}

static bool never(const nd4c_call *call, char *reason, size_t reason_size) {
  (void)call;
  (void)reason;
  (void)reason_size;
  return false;
}

/* A sound op with its tables; make() sets all of it again. */
typedef struct sound {
  nd4c_plugin_op op;
  nd4c_kernel kernel;
  nd4c_op_input inputs[3];
  nd4c_op_attr attrs[2];
} sound;

static void make(sound *s) {
  *s = (sound){
      .op = {.struct_size = ND4C_SIZE_OF(nd4c_plugin_op),
             .version = 1,
             .name = "acme.op",
             .category = ND4C_CATEGORY_NN,
             .dtypes = ND4C_DTYPE_BIT(ND4C_FLOAT32),
             .input_count = 3,
             .attr_count = 2,
             .output_count = 1,
             .inputs = s->inputs,
             .attrs = s->attrs,
             .infer = infer,
             .reference = &s->kernel},
      .kernel = {.struct_size = ND4C_SIZE_OF(nd4c_kernel),
                 .op_version = 1,
                 .op = "acme.op",
                 .engine = "reference",
                 .name = "acme.op.reference",
                 .dtypes = ND4C_DTYPE_BIT(ND4C_FLOAT32),
                 .run = run},
      .inputs = {{"x", false, false}, {"y", false, false}, {"z", true, false}},
      .attrs = {{"axes", {ND4C_ATTR_INTS, 0, {.ints = NULL}}}, {"mode", {ND4C_ATTR_STRING, 0, {.string = ""}}}}};
}

static nd4c_status check(const sound *s) {
  const nd4c_plugin_op *const ops[] = {&s->op};
  return nd4c_provider_check_ops("x.so", ops, 1);
}

/* X(text of the refusal, the change that breaks the op) */
#define SPOILT(X)                                                                            \
  X("struct_size of op 0 is 40, which is too short", s.op.struct_size = 40)                  \
  X("has no name of at most 63 bytes", s.op.name = NULL)                                     \
  X("has no name of at most 63 bytes", s.op.name = "")                                       \
  X("has no name of at most 63 bytes", s.op.name = "add")                                    \
  X("has no name of at most 63 bytes", s.op.name = ".add")                                   \
  X("has no name of at most 63 bytes", s.op.name = "acme.")                                  \
  X("has no name of at most 63 bytes", s.op.name = "acme..op")                               \
  X("has no name of at most 63 bytes", s.op.name = "acme.2")                                 \
  X("has no name of at most 63 bytes", s.op.name = "acme.op@2")                              \
  X("has no name of at most 63 bytes", s.op.name = "acme.o p")                               \
  X("has no name of at most 63 bytes", s.op.name = "acme.op\n")                              \
  X("has no name of at most 63 bytes", s.op.name = "acme.\xc3\xa4")                          \
  X("has no name of at most 63 bytes",                                                       \
    s.op.name = "acme.a123456789a123456789a123456789a123456789a123456789a123456789")         \
  X("the namespaces nd4c and ai.onnx are reserved", s.op.name = "ai.onnx.Add")               \
  X("the namespaces nd4c and ai.onnx are reserved", s.op.name = "nd4c.op")                   \
  X("version is 0, expected 1 to", s.op.version = 0)                                         \
  X("category is 0, expected 1 to", s.op.category = ND4C_CATEGORY_NONE)                      \
  X("category is 4711, expected 1 to", s.op.category = (nd4c_category)4711)                  \
  X("input_count is -1, expected 0 to 16", s.op.input_count = -1)                            \
  X("input_count is 17, expected 0 to 16", s.op.input_count = 17)                            \
  X("attr_count is 33, expected 0 to 32", s.op.attr_count = 33)                              \
  X("attr_count is -2147483648, expected", s.op.attr_count = INT32_MIN)                      \
  X("output_count is 0, expected 1 to 8", s.op.output_count = 0)                             \
  X("output_count is 9, expected 1 to 8", s.op.output_count = 9)                             \
  X("flags are 0x10", s.op.flags = 16)                                                       \
  X("dtypes is 0x0", s.op.dtypes = 0)                                                        \
  X("dtypes has utf8", s.op.dtypes |= ND4C_DTYPE_BIT(ND4C_UTF8))                             \
  X("dtypes has int4", s.op.dtypes |= ND4C_DTYPE_BIT(ND4C_INT4))                             \
  X("expected a set of nd4c's dtypes", s.op.dtypes |= UINT64_C(1) << 63)                     \
  X("expected a set of nd4c's dtypes", s.op.dtypes |= 1)                                     \
  X("inputs is NULL", s.op.inputs = NULL)                                                    \
  X("attrs is NULL", s.op.attrs = NULL)                                                      \
  X("input 1 has no name of its own", s.inputs[1].name = NULL)                               \
  X("input 1 has no name of its own", s.inputs[1].name = "x")                                \
  X("input 2 has no name of its own", s.inputs[2].name = "a-b")                              \
  X("input 0 has no name of its own", s.inputs[0].name = "a123456789a123456789a123456789ab") \
  X("input y is required, but comes after an optional one", s.inputs[0].optional = true)     \
  X("input y is variadic", s.inputs[1].variadic = true)                                      \
  X("input z is variadic", s.inputs[2].variadic = true)                                      \
  X("attribute 1 has no name of its own", s.attrs[1].name = "axes")                          \
  X("attribute 0 has no name of its own", s.attrs[0].name = "")                              \
  X("attribute 1 has no name of its own", s.attrs[1].name = "x")                             \
  X("attribute axes: its kind is not one", s.attrs[0].preset.kind = ND4C_ATTR_UNSET)         \
  X("attribute axes: its kind is not one", s.attrs[0].preset.kind = ND4C_ATTR_GRAPH)         \
  X("attribute axes: its kind is not one", s.attrs[0].preset.kind = (nd4c_attr_kind)99)      \
  X("attribute axes: the preset of a list is NULL", s.attrs[0].preset.count = 3)             \
  X("attribute mode: its preset is not a line", s.attrs[1].preset.as.string = NULL)          \
  X("attribute mode: its preset is not a line", s.attrs[1].preset.as.string = "a\nb")        \
  X("attribute mode: its preset is not a line", s.attrs[1].preset.as.string = "\xff")        \
  X("attribute axes: its preset is neither 0 nor 1",                                         \
    s.attrs[0].preset = ((nd4c_attr_value){ND4C_ATTR_BOOL, 0, {.i = 2}}))                    \
  X("attribute axes: its preset is not a dtype",                                             \
    s.attrs[0].preset = ((nd4c_attr_value){ND4C_ATTR_DTYPE, 0, {.i = 99}}))                  \
  X("infer is NULL", s.op.infer = NULL)                                                      \
  X("reference kernel is required", s.op.reference = NULL)                                   \
  X("reference kernel is required", s.kernel.run = NULL)                                     \
  X("reference kernel is required", s.kernel.name = NULL)                                    \
  X("struct_size of the reference kernel of op acme.op is 16", s.kernel.struct_size = 16)    \
  X("reference kernel is of another op", s.kernel.op = "acme.other")                         \
  X("reference kernel is of another op", s.kernel.op = NULL)                                 \
  X("reference kernel is of another op", s.kernel.op_version = 2)                            \
  X("is not of engine reference with priority 0", s.kernel.engine = "acme")                  \
  X("is not of engine reference with priority 0", s.kernel.engine = NULL)                    \
  X("is not of engine reference with priority 0", s.kernel.priority = 1)                     \
  X("lacks a dtype", s.kernel.dtypes = ND4C_DTYPE_BIT(ND4C_INT32))                           \
  X("has `usable`", s.kernel.usable = never)

static int refuse(const sound *s, const char *words) {
  const nd4c_status status = check(s);
  if (status != ND4C_ABI || strstr(nd4c_error_message(), words) == NULL ||
      strstr(nd4c_error_message(), "plug-in x.so") == NULL) {
    print_error("expected ABI with \"%s\", got %s: %s\n", words, nd4c_status_name(status), nd4c_error_message());
    return 1;
  }
  return 0;
}

static void refuses_what_is_spoilt(void **state) {
  (void)state;
  int failures = 0;
#define ROW(words, spoil)          \
  {                                \
    sound s;                       \
    make(&s);                      \
    spoil;                         \
    failures += refuse(&s, words); \
  }
  SPOILT(ROW)
#undef ROW
  assert_int_equal(failures, 0);
}

static void accepts_what_is_sound(void **state) {
  (void)state;
  static const char *const names[] = {"acme.op", "com.acme-2.Op_3", "a.b", "ai.onnxruntime.X",
                                      "acme.a123456789a123456789a123456789a123456789a123456789a1234567"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    sound s;
    make(&s);
    s.op.name = s.kernel.op = names[i];
    assert_int_equal(check(&s), ND4C_OK);
  }
  sound s;
  make(&s);
  s.op.input_count = s.op.attr_count = 0;
  s.op.inputs = NULL;
  s.op.attrs = NULL;
  assert_int_equal(check(&s), ND4C_OK);
}

static void refuses_a_list_with_holes_and_twins(void **state) {
  (void)state;
  sound s;
  make(&s);
  const nd4c_plugin_op *const holes[] = {&s.op, NULL}, *const twins[] = {&s.op, &s.op};
  assert_int_equal(nd4c_provider_check_ops("x.so", holes, 2), ND4C_ABI);
  assert_non_null(strstr(nd4c_error_message(), "op 1 is NULL"));
  assert_int_equal(nd4c_provider_check_ops("x.so", twins, 2), ND4C_ABI);
  assert_non_null(strstr(nd4c_error_message(), "ops 0 and 1 are both version 1 of acme.op"));
}

static void refuses_counts_of_providers(void **state) {
  (void)state;
  sound s;
  make(&s);
  const nd4c_plugin_op *const ops[] = {&s.op};
  nd4c_provider provider = {.struct_size = ND4C_SIZE_OF(nd4c_provider),
                            .abi_major = ND4C_PLUGIN_ABI_MAJOR,
                            .name = "acme",
                            .op_count = 1,
                            .ops = ops};
  assert_int_equal(nd4c_provider_check("x.so", &provider), ND4C_OK);
  const struct {
    int32_t count;
    const nd4c_plugin_op *const *ops;
    const char *words;
  } rows[] = {{-1, ops, "op_count is -1"},
              {1, NULL, "op_count is 1, but the table is NULL"},
              {65537, ops, "op_count is 65537"},
              {0, ops, "neither a backend nor a contribution nor an op"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    provider.op_count = rows[i].count;
    provider.ops = rows[i].ops;
    assert_int_equal(nd4c_provider_check("x.so", &provider), ND4C_ABI);
    assert_non_null(strstr(nd4c_error_message(), rows[i].words));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(refuses_what_is_spoilt), cmocka_unit_test(accepts_what_is_sound),
                                     cmocka_unit_test(refuses_a_list_with_holes_and_twins),
                                     cmocka_unit_test(refuses_counts_of_providers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
