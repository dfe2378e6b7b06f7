/* The digits network: every logit against ONNX Runtime's, in one batch and image by image. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "nd4c/nd4c.h"

#define EXAMPLE ND4C_TEST_SOURCE_DIR "/examples/digits/"

enum { IMAGES = 360, CLASSES = 10 };

static nd4c_array *read_array(const char *path) {
  nd4c_array *array = NULL;
  if (nd4c_npy_read(path, &array) != ND4C_OK) {
    fail_msg("%s: %s", path, nd4c_error_message());
  }
  return array;
}

/* Prints and counts logits that differ by more than 1e-4 relative (absolute below 1). */
static int differences(const nd4c_array *ours, const float *theirs, int64_t first, int64_t count) {
  const void *data = NULL;
  int wrong = 0;
  assert_int_equal(nd4c_array_data(ours, &data), ND4C_OK);
  assert_true(nd4c_array_is_contiguous(ours));
  for (int64_t i = 0; i < count * CLASSES; i++) {
    const float a = ((const float *)data)[i], b = theirs[first * CLASSES + i];
    if (!(fabsf(a - b) <= 1e-4f * fmaxf(1.0f, fabsf(b)))) {
      print_error("image %lld, digit %lld: %.8g, ONNX Runtime has %.8g\n", (long long)(first + i / CLASSES),
                  (long long)(i % CLASSES), (double)a, (double)b);
      wrong++;
    }
  }
  return wrong;
}

static void logits_match(void **state) {
  (void)state;
  nd4c_model *model = NULL;
  if (nd4c_model_open(EXAMPLE "digits.onnx", NULL, &model) != ND4C_OK) {
    fail_msg("%s", nd4c_error_message());
  }
  nd4c_array *images = read_array(EXAMPLE "digits_images.npy");
  nd4c_array *expected = read_array(ND4C_TEST_SOURCE_DIR "/tests/data/digits_logits.npy");
  static float theirs[IMAGES * CLASSES];
  assert_int_equal(nd4c_array_read(expected, theirs, sizeof theirs), ND4C_OK);
  const char *const names[] = {"image"};
  int wrong = 0;
  /* Batches of all images, and of one and three, because other shapes use other kernels. */
  const int64_t batches[] = {IMAGES, 1, 3};
  for (int b = 0; b < 3; b++) {
    const int64_t starts[] = {IMAGES - batches[b], 0, 0, 0}, stops[] = {IMAGES, 1, 8, 8};
    nd4c_array *part = NULL, *logits = NULL;
    assert_int_equal(nd4c_array_slice(images, starts, stops, NULL, &part), ND4C_OK);
    const nd4c_array *const inputs[] = {part};
    if (nd4c_model_run(model, NULL, names, inputs, 1, &logits, 1) != ND4C_OK) {
      fail_msg("batch of %lld: %s", (long long)batches[b], nd4c_error_message());
    }
    assert_int_equal(nd4c_array_shape(logits)[0], batches[b]);
    assert_int_equal(nd4c_array_shape(logits)[1], CLASSES);
    wrong += differences(logits, theirs, starts[0], batches[b]);
    nd4c_array_release(logits);
    nd4c_array_release(part);
  }
  assert_int_equal(wrong, 0);
  nd4c_array_release(expected);
  nd4c_array_release(images);
  nd4c_model_close(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(logits_match)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
