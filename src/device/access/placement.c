/* Where arrays are, and moving them: nd4c_array_state, _migrate and _prefetch. Programs and the Python package call
 * them; device/storage/residence.c does the work. */
#include "array/array.h"
#include "base/status.h"
#include "device/context/context.h"
#include "device/storage/storage.h"
#include "device/trace/tracer.h"

char nd4c_array_state(const nd4c_array *array, const nd4c_device *device) {
  return nd4c_array_check(array, "nd4c_array_state: array") == ND4C_OK ? nd4c_storage_state(array->storage, device)
                                                                       : '-';
}

bool nd4c_array_is_ready(const nd4c_array *array, const nd4c_device *device) {
  return nd4c_array_check(array, "nd4c_array_is_ready: array") == ND4C_OK &&
         nd4c_storage_is_ready(array->storage, device);
}

/* Resolves `device`, NULL included; refuses strings on any device except the host. */
static nd4c_status find_target(const nd4c_array *array, const char *function, nd4c_device **device) {
  nd4c_device *host = NULL;
  if (*device == NULL) {
    nd4c_context *context = NULL;
    ND4C_TRY(nd4c_context_resolve(NULL, &context));
    *device = context->device;
  } else {
    ND4C_TRY(nd4c_device_check(*device, function));
  }
  ND4C_TRY(nd4c_device_host(&host));
  if (array->dtype == ND4C_UTF8 && *device != host) {
    return nd4c_fail(ND4C_DTYPE, "%s: strings live on the host, not on %s", function, (*device)->name);
  }
  return ND4C_OK;
}

static nd4c_status bring(const nd4c_array *array, const char *function, nd4c_device *device,
                         nd4c_status (*to)(nd4c_storage *storage, nd4c_device *device)) {
  ND4C_TRY(find_target(array, function, &device));
  bool traced = nd4c_tracer_is_on();
  if (traced) {
    nd4c_tracer_ask(array->storage);
  }
  nd4c_status status = to(array->storage, device);
  if (traced) {
    nd4c_tracer_ask(NULL);
  }
  return status == ND4C_OK ? status : nd4c_device_fail_prefix(status, device, "to", "%s", function);
}

nd4c_status nd4c_array_migrate(const nd4c_array *array, nd4c_device *device) {
  ND4C_TRY(nd4c_array_check(array, "nd4c_array_migrate: array"));
  ND4C_TRY(bring(array, "nd4c_array_migrate", device, nd4c_storage_migrate));
  if (nd4c_tracer_is_on()) { /* also if nothing had to be copied: it ends a round trip that an earlier copy began */
    nd4c_tracer_write(array->storage, nd4c_array_device(array));
  }
  return ND4C_OK;
}

nd4c_status nd4c_array_prefetch(const nd4c_array *array, nd4c_device *device) {
  ND4C_TRY(nd4c_array_check(array, "nd4c_array_prefetch: array"));
  return bring(array, "nd4c_array_prefetch", device, nd4c_storage_prefetch);
}
