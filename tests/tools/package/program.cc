// The public headers in C++: every one of them, and a call that links.
#include <nd4c/dlpack.h>
#include <nd4c/nd4c.h>
#include <nd4c/plugin.h>

#include <cstdio>

int main() {
  nd4c_array *a = nullptr;
  if (nd4c_array_full(ND4C_FLOAT32, 0, nullptr, 3.0, nullptr, &a) != ND4C_OK) {
    std::printf("%s\n", nd4c_error_message());
    return 1;
  }
  double value = 0;
  const nd4c_status status = nd4c_array_item(a, nullptr, &value);
  nd4c_array_release(a);
  return status == ND4C_OK && value == 3.0 ? 0 : 1;
}
