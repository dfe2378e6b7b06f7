/* nd4c_machine_get_info: the host as nd4c sees and uses it. Programs call it: the Python package, `nd4c info`, the
 * benchmarks. */
#include <stddef.h>
#include <string.h>

#include "base/os.h"
#include "base/status.h"
#include "base/threads/cpu.h"
#include "base/threads/parallel.h"
#include "nd4c/device.h"

nd4c_status nd4c_machine_get_info(nd4c_machine_info *info) {
  if (info == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "machine_get_info: info is NULL");
  }
  if (info->struct_size < sizeof info->struct_size) {
    return nd4c_fail(ND4C_ARGUMENT, "machine_get_info: struct_size is %u, expected sizeof(nd4c_machine_info)",
                     (unsigned)info->struct_size);
  }
  const uint32_t size = info->struct_size;
  nd4c_machine_info full = {
      .struct_size = size,
      .cpu_model = nd4c_cpu_model(),
      .cpu_features = nd4c_cpu_features(),
      .cpu_level = nd4c_cpu_level_name(nd4c_cpu_get_level()),
      .level_reason = nd4c_cpu_level_reason(),
      .cache_bytes = nd4c_cpu_cache_bytes(),
      .memory_bytes = nd4c_os_memory_bytes(),
      .width = nd4c_parallel_width(),
      .pool = nd4c_parallel_pool_name(),
  };
  /* A caller that was compiled with an older header gets the fields that it knows. */
  memcpy(info, &full, size < sizeof full ? size : sizeof full);
  return ND4C_OK;
}
