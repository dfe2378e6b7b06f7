/* Files of executables: written entries are read back, and other files are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device/provider/executables.h"
#include "nd4c/nd4c.h"

/* A compiler whose executable is a text, written in two pieces. */
static nd4c_status write_text(void *data, nd4c_executable executable, nd4c_sink *sink) {
  const char *text = (const char *)executable;
  const int64_t size = (int64_t)strlen(text), half = size / 2;
  nd4c_status status = data != NULL ? *(const nd4c_status *)data : sink->write(sink, text, half);
  return status == ND4C_OK ? sink->write(sink, text + half, size - half) : status;
}

static const nd4c_compiler compiler = {
    .struct_size = ND4C_SIZE_OF(nd4c_compiler), .engine = "texts", .serialise = write_text};

static nd4c_executable executable_of(const char *text) {
  nd4c_executable executable = NULL;
  memcpy(&executable, &text, sizeof text);
  return executable;
}

static const nd4c_digest first = {{1, 2, 3}}, second = {{4}};

/* A file with two entries, in a block of its own; the caller frees it. */
static uint8_t *make_file(int64_t *size) {
  nd4c_executables_writer writer;
  const void *bytes = NULL;
  nd4c_executables_begin(&writer, 4096);
  assert_int_equal(nd4c_executables_add(&writer, &first, &compiler, "texts 1", executable_of("one piece")), ND4C_OK);
  assert_int_equal(nd4c_executables_add(&writer, &second, &compiler, "texts 2", executable_of("")), ND4C_OK);
  assert_int_equal(nd4c_executables_end(&writer, &bytes, size), ND4C_OK);
  uint8_t *copy = malloc((size_t)*size);
  assert_non_null(copy);
  memcpy(copy, bytes, (size_t)*size);
  nd4c_executables_free(&writer);
  return copy;
}

static void what_was_written_is_read(void **state) {
  (void)state;
  int64_t size = 0, at = 0;
  uint8_t *file = make_file(&size);
  nd4c_executable_entry entry;
  assert_int_equal(nd4c_executables_check(file, size), ND4C_OK);
  assert_true(nd4c_executables_next(file, size, &at, &entry));
  assert_memory_equal(entry.identity.bytes, first.bytes, sizeof first.bytes);
  assert_string_equal(entry.engine, "texts");
  assert_string_equal(entry.fingerprint, "texts 1");
  assert_int_equal(entry.size, 9);
  assert_memory_equal(entry.bytes, "one piece", 9);
  assert_int_equal(((const uint8_t *)entry.bytes - file) % 16, 0);
  assert_true(nd4c_executables_next(file, size, &at, &entry));
  assert_string_equal(entry.fingerprint, "texts 2");
  assert_int_equal(entry.size, 0);
  assert_false(nd4c_executables_next(file, size, &at, &entry));
  free(file);
}

static void parts_and_altered_files_are_refused(void **state) {
  (void)state;
  int64_t size = 0;
  uint8_t *file = make_file(&size);
  for (int64_t length = 0; length < size; length++) {
    uint8_t *cut = malloc((size_t)length + 1);
    assert_non_null(cut);
    memcpy(cut, file, (size_t)length);
    assert_int_equal(nd4c_executables_check(cut, length), ND4C_FORMAT);
    free(cut);
  }
  for (int64_t bit = 0; bit < 8 * size; bit++) {
    file[bit / 8] ^= (uint8_t)(1 << (bit % 8));
    assert_int_equal(nd4c_executables_check(file, size), ND4C_FORMAT);
    file[bit / 8] ^= (uint8_t)(1 << (bit % 8));
  }
  assert_int_equal(nd4c_executables_check(file, size), ND4C_OK);
  free(file);
}

static void a_writer_holds_its_limit(void **state) {
  (void)state;
  static const nd4c_status failure = ND4C_IO;
  const void *bytes = NULL;
  int64_t size = 0, at = 0;
  nd4c_compiler failing = compiler;
  nd4c_executables_writer writer;
  nd4c_executable_entry entry;
  failing.data = (void *)(uintptr_t)&failure;
  nd4c_executables_begin(&writer, 192);
  assert_int_equal(nd4c_executables_end(&writer, &bytes, &size), ND4C_INTERNAL);
  assert_int_equal(nd4c_executables_add(&writer, &first, &compiler, "texts 1", executable_of("one")), ND4C_OK);
  assert_int_equal(nd4c_executables_add(&writer, &second, &compiler, "texts 1", executable_of("two")), ND4C_OVERFLOW);
  assert_non_null(strstr(nd4c_error_message(), "more than the 192 bytes of a file"));
  assert_int_equal(nd4c_executables_add(&writer, &second, &failing, "texts 1", executable_of("two")), ND4C_OVERFLOW);
  nd4c_executables_free(&writer);
  nd4c_executables_begin(&writer, 4096);
  assert_int_equal(nd4c_executables_add(&writer, &first, &compiler, "texts 1", executable_of("one")), ND4C_OK);
  assert_int_equal(nd4c_executables_add(&writer, &second, &failing, "texts 1", executable_of("two")), ND4C_IO);
  assert_int_equal(nd4c_executables_end(&writer, &bytes, &size), ND4C_OK); /* the failed call has left nothing */
  assert_int_equal(nd4c_executables_check(bytes, size), ND4C_OK);
  assert_true(nd4c_executables_next(bytes, size, &at, &entry));
  assert_false(nd4c_executables_next(bytes, size, &at, &entry));
  nd4c_executables_free(&writer);
}

/* Continues to write after its sink has refused, and returns OK. */
static nd4c_status write_regardless(void *data, nd4c_executable executable, nd4c_sink *sink) {
  const char *text = (const char *)executable;
  const int64_t *sizes = data;
  for (int i = 0; i < 3; i++) {
    (void)sink->write(sink, sizes[i] == 0 ? NULL : text, sizes[i] == 0 ? 4 : sizes[i]);
  }
  return ND4C_OK;
}

static void a_refusal_of_the_sink_is_the_writers(void **state) {
  (void)state;
  static const struct {
    int64_t sizes[3]; /* 0: NULL with a size */
    nd4c_status status;
  } rows[] = {{{2, 4000, 2}, ND4C_OVERFLOW}, {{2, -1, 2}, ND4C_ARGUMENT}, {{2, 2, 0}, ND4C_NULL_ARGUMENT}};
  static char text[4096];
  nd4c_executables_writer writer;
  const void *bytes = NULL;
  int64_t size = 0;
  nd4c_executables_begin(&writer, 4096);
  assert_int_equal(nd4c_executables_add(&writer, &first, &compiler, "texts 1", executable_of("one piece")), ND4C_OK);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    int64_t sizes[3];
    memcpy(sizes, rows[i].sizes, sizeof sizes);
    const nd4c_compiler careless = {
        .struct_size = ND4C_SIZE_OF(nd4c_compiler), .engine = "careless", .data = sizes, .serialise = write_regardless};
    assert_int_equal(nd4c_executables_add(&writer, &second, &careless, "careless 1", executable_of(text)),
                     rows[i].status);
    assert_non_null(strstr(nd4c_error_message(), "serialise of careless went on after its sink had refused bytes"));
  }
  assert_int_equal(nd4c_executables_add(&writer, &second, &compiler, "texts 2", executable_of("two")), ND4C_OK);
  assert_int_equal(nd4c_executables_end(&writer, &bytes, &size), ND4C_OK);
  assert_int_equal(nd4c_executables_check(bytes, size), ND4C_OK);
  nd4c_executable_entry entry;
  int64_t at = 0;
  assert_true(nd4c_executables_next(bytes, size, &at, &entry));
  assert_true(nd4c_executables_next(bytes, size, &at, &entry));
  assert_string_equal(entry.fingerprint, "texts 2");
  assert_false(nd4c_executables_next(bytes, size, &at, &entry));
  nd4c_executables_free(&writer);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_was_written_is_read), cmocka_unit_test(parts_and_altered_files_are_refused),
      cmocka_unit_test(a_writer_holds_its_limit), cmocka_unit_test(a_refusal_of_the_sink_is_the_writers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
