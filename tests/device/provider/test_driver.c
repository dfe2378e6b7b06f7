/* Answers of a backend's and of compilers' functions: a known status with a text is passed on unchanged; an unknown
 * status and a status without a text are reported as such; a NULL handle after OK is a failure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/status.h"
#include "device/compiled.h"
#include "device/driver.h"

/* The answer of every function of the backend. */
static struct {
  nd4c_status status;
  const char *text;
  void *handle;
} next;

static nd4c_status answer(void) {
  return next.text != NULL ? nd4c_fail(next.status, "%s", next.text) : next.status;
}

/* The handle in `out`, which the caller has made NULL. */
#define ANSWER_WITH(out)  \
  do {                    \
    assert_null(*(out));  \
    *(out) = next.handle; \
    return answer();      \
  } while (0)

static nd4c_status stream_create(void *device, nd4c_stream *stream) {
  (void)device;
  ANSWER_WITH(stream);
}

static nd4c_status stream_create_with(void *device, const nd4c_stream_options *options, nd4c_stream *stream) {
  (void)device;
  (void)options;
  ANSWER_WITH(stream);
}

static nd4c_status stream_wrap(void *device, void *native, nd4c_stream *stream) {
  (void)device;
  (void)native;
  ANSWER_WITH(stream);
}

static nd4c_status fence_record(void *device, nd4c_stream stream, nd4c_fence *fence) {
  (void)device;
  (void)stream;
  ANSWER_WITH(fence);
}

static nd4c_status buffer_allocate(void *device, const nd4c_buffer_descriptor *descriptor, nd4c_buffer *buffer) {
  (void)device;
  (void)descriptor;
  ANSWER_WITH(buffer);
}

static nd4c_status import_memory(void *device, const nd4c_external *external, nd4c_buffer *buffer) {
  (void)device;
  (void)external;
  ANSWER_WITH(buffer);
}

static nd4c_status timing_end(void *device, nd4c_stream stream, nd4c_timing *timing) {
  (void)device;
  (void)stream;
  ANSWER_WITH(timing);
}

static nd4c_status capture_begin(void *device, nd4c_stream stream) {
  (void)device;
  (void)stream;
  return answer();
}

static nd4c_status capture_end(void *device, nd4c_stream stream, nd4c_recording *recording) {
  (void)device;
  (void)stream;
  ANSWER_WITH(recording);
}

static nd4c_status instantiate(void *device, nd4c_recording recording, nd4c_launchable *launchable) {
  (void)device;
  (void)recording;
  ANSWER_WITH(launchable);
}

static nd4c_status update(void *device, nd4c_launchable launchable, nd4c_recording recording) {
  (void)device;
  (void)launchable;
  (void)recording;
  return answer();
}

static nd4c_status launch(void *device, nd4c_launchable launchable, nd4c_stream stream, int64_t points) {
  (void)device;
  (void)launchable;
  (void)stream;
  (void)points;
  return answer();
}

static nd4c_status host_register(void *device, void *pointer, int64_t bytes) {
  (void)device;
  (void)pointer;
  (void)bytes;
  return answer();
}

static nd4c_status synchronize(void *device) {
  (void)device;
  return answer();
}

static nd4c_status kernel_prepare(const nd4c_call *call, void **state) {
  (void)call;
  (void)state;
  return answer();
}

static nd4c_status kernel_run(const nd4c_call *call) {
  (void)call;
  return answer();
}

static const nd4c_buffer_ops buffers = {.struct_size = sizeof buffers, .allocate = buffer_allocate};
static const nd4c_capture_ops capture = {.struct_size = sizeof capture,
                                         .begin = capture_begin,
                                         .end = capture_end,
                                         .instantiate = instantiate,
                                         .update = update,
                                         .launch = launch};
static const nd4c_timing_ops timing = {.struct_size = sizeof timing, .end = timing_end};
static const nd4c_external_ops external = {
    .struct_size = sizeof external, .import_memory = import_memory, .host_register = host_register};
static const nd4c_device_ops ops = {.struct_size = sizeof ops,
                                    .buffers = &buffers,
                                    .stream_create = stream_create,
                                    .stream_create_with = stream_create_with,
                                    .stream_wrap = stream_wrap,
                                    .fence_record = fence_record,
                                    .synchronize = synchronize,
                                    .capture = &capture,
                                    .timing = &timing,
                                    .external = &external};
static const nd4c_call kernel_call = {.struct_size = sizeof kernel_call};
static const nd4c_kernel kernel = {.struct_size = sizeof kernel, .prepare = kernel_prepare, .run = kernel_run};
static const nd4c_device device = {.ops = &ops, .name = "fake:0"};

/* Calls one of them: X(its name in texts, whether it gives a handle, the call). */
#define CALLS(X)                                                                        \
  X("stream_create", true, nd4c_driver_stream_create(&device, &stream))                 \
  X("stream_create_with", true, nd4c_driver_stream_create_with(&device, NULL, &stream)) \
  X("stream_wrap", true, nd4c_driver_stream_wrap(&device, NULL, &stream))               \
  X("fence_record", true, nd4c_driver_fence_record(&device, NULL, &fence))              \
  X("buffers.allocate", true, nd4c_driver_buffer_allocate(&device, NULL, &buffer))      \
  X("external.import_memory", true, nd4c_driver_import_memory(&device, NULL, &buffer))  \
  X("timing.end", true, nd4c_driver_timing_end(&device, NULL, &taken))                  \
  X("capture.end", true, nd4c_driver_capture_end(&device, NULL, &recording))            \
  X("capture.instantiate", true, nd4c_driver_capture_instantiate(&device, NULL, &made)) \
  X("capture.begin", false, nd4c_driver_capture_begin(&device, NULL))                   \
  X("capture.update", false, nd4c_driver_capture_update(&device, NULL, NULL))           \
  X("capture.launch", false, nd4c_driver_capture_launch(&device, NULL, NULL, 0))        \
  X("external.host_register", false, nd4c_driver_host_register(&device, NULL, 1))       \
  X("synchronize", false, nd4c_driver_synchronize(&device))                             \
  X("prepare", false, nd4c_driver_kernel_prepare(&kernel, NULL, &state))                \
  X("run", false, nd4c_driver_kernel_run(&kernel, &kernel_call))

enum { CALL_COUNT = 16 };

static nd4c_status call(int number, const char **name, bool *gives) {
  nd4c_stream stream = NULL;
  nd4c_fence fence = NULL;
  nd4c_buffer buffer = NULL;
  nd4c_timing taken = NULL;
  nd4c_recording recording = NULL;
  nd4c_launchable made = NULL;
  void *state = NULL;
  int at = 0;
#define CALL_IF(text, handle, expression) \
  if (number == at++) {                   \
    *name = text;                         \
    *gives = handle;                      \
    return expression;                    \
  }
  CALLS(CALL_IF)
#undef CALL_IF
  assert_int_equal(at, CALL_COUNT);
  return ND4C_OK;
}

/* Each function gives this answer; the thread's earlier failure does not affect it. */
static void expect(nd4c_status answered, const char *text, nd4c_status told, const char *behind_name) {
  static char handle;
  const char *name = NULL;
  bool gives = false;
  assert_int_equal(call(CALL_COUNT, &name, &gives), ND4C_OK);
  for (int i = 0; i < CALL_COUNT; i++) {
    char words[256];
    next.status = answered;
    next.text = text;
    next.handle = &handle;
    (void)nd4c_fail(answered, "an earlier failure");
    const nd4c_status status = call(i, &name, &gives);
    (void)snprintf(words, sizeof words, "%s%s", behind_name[0] == ' ' ? name : "", behind_name);
    if (status != told || strcmp(nd4c_error_message(), words) != 0) {
      fail_msg("%s: status %d, '%s', expected %d, '%s'", name, (int)status, nd4c_error_message(), (int)told, words);
    }
  }
}

static void known_statuses_are_told_as_they_are(void **state) {
  (void)state;
  expect(ND4C_DEVICE, "the driver's own words", ND4C_DEVICE, "the driver's own words");
  expect(ND4C_UNSUPPORTED, "not here", ND4C_UNSUPPORTED, "not here");
}

static void a_failure_has_a_text(void **state) {
  (void)state;
  char words[256];
  const nd4c_status statuses[] = {ND4C_DEVICE, ND4C_MEMORY, ND4C_ARGUMENT};
  for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
    (void)snprintf(words, sizeof words, " failed without a text: %s", nd4c_status_text(statuses[i]));
    expect(statuses[i], NULL, statuses[i], words);
  }
}

static void an_unknown_status_is_told(void **state) {
  (void)state;
  expect((nd4c_status)12345, NULL, ND4C_INTERNAL, " returned 12345, which is not a status of nd4c");
  expect((nd4c_status)-7, NULL, ND4C_INTERNAL, " returned -7, which is not a status of nd4c");
  expect((nd4c_status)12345, "why", ND4C_INTERNAL, " returned 12345, which is not a status of nd4c: why");
}

static void a_handle_comes_with_ok(void **state) {
  (void)state;
  static char handle;
  for (int i = 0; i < CALL_COUNT; i++) {
    char words[128];
    const char *name = NULL;
    bool gives = false;
    next.status = ND4C_OK;
    next.text = NULL;
    next.handle = &handle;
    assert_int_equal(call(i, &name, &gives), ND4C_OK);
    next.handle = NULL;
    assert_int_equal(call(i, &name, &gives), gives ? ND4C_DEVICE : ND4C_OK);
    (void)snprintf(words, sizeof words, "%s returned OK but no handle", name);
    assert_true(!gives || strcmp(nd4c_error_message(), words) == 0);
  }
}

/* -- compilers ----------------------------------------------------------------------------------------------------- */

static int32_t releases;
static nd4c_status described;

static nd4c_status compile(void *data, void *of, const nd4c_segment *piece, const nd4c_compile_options *options,
                           nd4c_executable *executable) {
  (void)data;
  (void)of;
  (void)piece;
  (void)options;
  ANSWER_WITH(executable);
}

static nd4c_status describe(void *data, nd4c_executable executable, nd4c_executable_info *info) {
  (void)data;
  (void)executable;
  (void)info;
  return described;
}

static void release(void *data, nd4c_executable executable) {
  (void)data;
  assert_ptr_equal(executable, next.handle);
  releases++;
}

/* A compiler's executable for a piece is accepted, or refused with a text and destroyed. */
static void executables_are_checked(void **state) {
  (void)state;
  static char handle;
  static const nd4c_compiler compiler = {
      .struct_size = sizeof compiler, .engine = "fake", .compile = compile, .release = release, .describe = describe};
  static const struct {
    nd4c_status status;
    const char *text;
    void *handle;
    nd4c_status described, told;
    const char *words;
    int32_t releases;
  } cases[] = {
      {ND4C_OK, NULL, &handle, ND4C_OK, ND4C_OK, "", 1},
      {ND4C_DEVICE, "why", NULL, ND4C_OK, ND4C_DEVICE, "why", 0},
      {ND4C_DEVICE, NULL, NULL, ND4C_OK, ND4C_DEVICE, "compile failed without a text: ", 0},
      {(nd4c_status)12345, NULL, NULL, ND4C_OK, ND4C_INTERNAL, "compile returned 12345, which is not a status", 0},
      {ND4C_OK, NULL, NULL, ND4C_OK, ND4C_ABI, "compiler fake gave no executable", 0},
      {ND4C_OK, NULL, &handle, ND4C_MEMORY, ND4C_MEMORY, "describe failed without a text: ", 1},
      {ND4C_OK, NULL, &handle, (nd4c_status)12345, ND4C_INTERNAL, "describe returned 12345, which is not a status", 1},
  };
  nd4c_device own = device;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const nd4c_segment piece = {.struct_size = sizeof piece};
    const nd4c_compile_options options = {.struct_size = sizeof options};
    nd4c_compiled *compiled = NULL;
    nd4c_executable_info info;
    releases = 0;
    next.status = cases[i].status;
    next.text = cases[i].text;
    next.handle = cases[i].handle;
    described = cases[i].described;
    assert_int_equal(nd4c_compiled_make(&compiler, &own, &piece, &options, NULL, &compiled, &info), cases[i].told);
    assert_true(cases[i].told == ND4C_OK || strstr(nd4c_error_message(), cases[i].words) == nd4c_error_message());
    nd4c_compiled_release(compiled);
    assert_int_equal(releases, cases[i].releases);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_statuses_are_told_as_they_are),
      cmocka_unit_test(a_failure_has_a_text),
      cmocka_unit_test(an_unknown_status_is_told),
      cmocka_unit_test(a_handle_comes_with_ok),
      cmocka_unit_test(executables_are_checked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
