/* Printing: the elements are brought to the host, src/array/format.c makes the text. */
#include "array/array.h"
#include "array/format.h"
#include "base/status.h"
#include "device/write.h"

nd4c_status nd4c_array_format(const nd4c_array *array, const nd4c_print_options *options, char **text) {
  ND4C_TRY(nd4c_array_check(array, "nd4c_array_format: array"));
  if (text == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_array_format: text is NULL");
  }
  if (options != NULL && options->struct_size < sizeof(nd4c_print_options)) {
    return nd4c_fail(ND4C_ARGUMENT, "struct_size is %u: set it to sizeof(nd4c_print_options)", options->struct_size);
  }
  void *address = NULL;
  ND4C_TRY(nd4c_array_host_address(array, false, &address));
  return nd4c_format_text(array, address, options, text);
}
