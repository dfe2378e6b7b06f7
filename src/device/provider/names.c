/* Names of the kinds that the backend ABI numbers: types of devices, kinds of external memory. Programs call these
 * functions; provider_check.c, device/access and device/storage name the kinds in error texts. */
#include <stddef.h>

#include "base/text.h"
#include "device/device.h"
#include "nd4c/plugin.h"

static const struct {
  nd4c_device_type type;
  const char *name;
} types[] = {
#define TYPE_ROW(NAME, number, name, priority) {ND4C_DEVICE_##NAME, name},
    ND4C_DEVICE_TYPE_TABLE(TYPE_ROW)
#undef TYPE_ROW
};

const char *nd4c_device_type_name(nd4c_device_type type) {
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    if (types[i].type == type) {
      return types[i].name;
    }
  }
  return "?";
}

nd4c_device_type nd4c_device_type_find(const char *name) {
  for (size_t i = 0; name != NULL && i < sizeof types / sizeof types[0]; i++) {
    if (nd4c_text_equals_any_case(types[i].name, name)) {
      return types[i].type;
    }
  }
  return ND4C_DEVICE_NONE;
}

const char *nd4c_external_kind_name(nd4c_external_kind kind) {
  switch (kind) {
    case ND4C_EXTERNAL_HOST_POINTER:
      return "host pointer";
    case ND4C_EXTERNAL_DEVICE_POINTER:
      return "device pointer";
    case ND4C_EXTERNAL_DESCRIPTOR:
      return "descriptor";
    case ND4C_EXTERNAL_NATIVE:
      return "native handle";
    default:
      return "?";
  }
}
