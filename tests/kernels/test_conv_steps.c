/* bfloat16 convolutions that oneDNN cannot be trusted with (backends/cpu/onednn/window_conv.c): steps that divide the
 * filter's extent, as those that cut an image into patches, and windows that see padding alone. The kernel computes
 * them right or declines them. */
#include "nd4c/dtype.h"

#define CONV_DTYPE ND4C_BFLOAT16

#include "conv_call.h"

static conv_case case_of(int32_t rank, int64_t channels, int64_t extent, int64_t step, int64_t begin) {
  conv_case c = {.rank = rank, .x = {2, channels}, .w = {24, channels}, .order = CHANNELS_LAST};
  for (int32_t i = 0; i < rank - 2; i++) {
    c.x[i + 2] = 2 * step + extent;
    c.w[i + 2] = extent;
    c.strides[i] = step;
    c.dilations[i] = 1;
    c.pads[i] = begin;
    c.pads[rank - 2 + i] = 1;
  }
  return c;
}

/* Whether the kernel takes the call, whose result then is right. */
static bool check_case(const nd4c_kernel *kernel, const conv_case *c, char *reason) {
  call_frame frame = {.output.rank = 0};
  make_conv(c, &frame);
  const bool usable = kernel->usable(&frame.call, reason, TEXT_SIZE);
  release(&frame);
  const double error = usable ? conv_error(c, kernel) : 0;
  if (!(error <= 0.01)) {
    fail_msg("%d axes, %lld channels, extent %lld, step %lld, begin %lld: error %.3g", (int)c->rank, (long long)c->x[1],
             (long long)c->w[c->rank - 1], (long long)c->strides[0], (long long)c->pads[0], error);
  }
  return usable;
}

static void test_steps_that_divide_the_filter(void **state) {
  static const int64_t sizes[][2] = {{2, 2}, {4, 4}, {4, 2}, {8, 8}, {8, 4}, {3, 2}, {3, 1}};
  static const int64_t channels[] = {3, 8, 12, 16, 24, 32, 48, 80, 96};
  const nd4c_kernel *kernel = named_kernel("conv", "onednn.conv");
  const conv_case usual = case_of(4, 32, 3, 1, 1);
  char reason[TEXT_SIZE] = "";
  int declined = 0;
  (void)state;
  if (kernel == NULL || !check_case(kernel, &usual, reason)) {
    skip();
  }
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes * (sizeof channels / sizeof *channels) * 2; i++) {
    const int64_t *size = sizes[i / 2 % (sizeof sizes / sizeof *sizes)];
    const int64_t count = channels[i / 2 / (sizeof sizes / sizeof *sizes)], begin = (int64_t)(i % 2);
    for (int32_t rank = 3; rank <= 5 && (rank < 5 || size[0] <= 4); rank++) {
      const conv_case c = case_of(rank, count, size[0], size[1], begin);
      if (!check_case(kernel, &c, reason)) {
        assert_string_equal(reason, "oneDNN miscomputes steps that divide the filter in bfloat16");
        assert_true(size[1] > 1 && size[0] % size[1] == 0 && count % 32 != 0 && begin == 0);
        assert_true(count * size[1] % 32 == 0 && count * size[1] > 32);
        declined++;
      }
    }
  }
  assert_true(declined > 0);
}

/* Without the check oneDNN ends the process in the first two; the last has a window with a cell. */
static void test_windows_of_padding(void **state) {
  static const struct {
    conv_case c;
    bool declined;
  } cases[] = {{{.rank = 4,
                 .x = {7, 7, 1, 6},
                 .w = {5, 7, 3, 4},
                 .strides = {1, 1},
                 .dilations = {3, 1},
                 .pads = {4, 0, 2, 3},
                 .order = CHANNELS_LAST},
                true},
               {{.rank = 4,
                 .x = {7, 16, 1, 3},
                 .w = {33, 16, 4, 3},
                 .strides = {2, 1},
                 .dilations = {2, 2},
                 .pads = {5, 4, 1, 4},
                 .order = CHANNELS_LAST},
                true},
               {{.rank = 4,
                 .x = {7, 7, 1, 6},
                 .w = {5, 7, 3, 4},
                 .strides = {1, 1},
                 .dilations = {3, 1},
                 .pads = {4, 0, 3, 3},
                 .order = CHANNELS_LAST},
                false}};
  const nd4c_kernel *kernel = named_kernel("conv", "onednn.conv");
  const conv_case usual = case_of(4, 32, 3, 1, 1);
  char reason[TEXT_SIZE] = "";
  (void)state;
  if (kernel == NULL || !check_case(kernel, &usual, reason)) {
    skip();
  }
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(check_case(kernel, &cases[i].c, reason), !cases[i].declined);
    assert_true(!cases[i].declined || strcmp(reason, "windows see padding alone") == 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_steps_that_divide_the_filter),
                                     cmocka_unit_test(test_windows_of_padding)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
