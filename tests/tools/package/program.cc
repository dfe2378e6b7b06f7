// The public headers in C++: every one of them, calls that link, and the initialisers of options structs.
#include <nd4c/dlpack.h>
#include <nd4c/nd4c.h>
#include <nd4c/plugin.h>

#include <cstdint>
#include <cstdio>

int main() {
  nd4c_array *a = nullptr;
  if (nd4c_array_full(ND4C_FLOAT32, 0, nullptr, 3.0, nullptr, &a) != ND4C_OK) {
    std::printf("%s\n", nd4c_error_message());
    return 1;
  }
  const std::int64_t shape[] = {1, 1, 1}, first[] = {0, 0, 0};
  nd4c_array *x = nullptr, *y = nullptr;
  nd4c_conv_options conv = ND4C_CONV_DEFAULTS;
  conv.activation = ND4C_ACTIVATION_RELU;
  const nd4c_resize_options resize = ND4C_RESIZE_DEFAULTS;
  const nd4c_lstm_options lstm = ND4C_LSTM_DEFAULTS;
  double value = 0;
  const bool done = nd4c_reshape(a, shape, 3, &x) == ND4C_OK && nd4c_conv(x, x, &conv, &y) == ND4C_OK &&
                    nd4c_array_item(y, first, &value) == ND4C_OK;
  if (!done) {
    std::printf("%s\n", nd4c_error_message());
  }
  nd4c_array_release(a);
  nd4c_array_release(x);
  nd4c_array_release(y);
  return done && value == 9.0 && resize.cubic_a == -0.75 && !lstm.input_forget ? 0 : 1;
}
