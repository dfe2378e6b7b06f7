/* The ICD loader, opened at run time by platform.c, with its functions in one list; the names of error codes, for every
 * file of the folder that reports a failure. */
#include <stdio.h>
#include <string.h>

#include "backends/opencl/runtime/device.h"

nd4c_cl_api nd4c_cl;

static nd4c_host_lock lock; /* guards the table until it is filled */
static bool opened;

enum { LIBRARY_SIZE = 512 };

static void library_name(char *name) {
  (void)nd4c_cl_host->config("nd4c.opencl.library", name, LIBRARY_SIZE);
  if (name[0] == '\0') {
    (void)snprintf(name, LIBRARY_SIZE, "libOpenCL.so.1");
  }
}

static nd4c_status fill_table(void *library, const char *name) {
  nd4c_cl_api table;
#define FIND(result, function, parameters)                                                    \
  {                                                                                           \
    void *symbol = nd4c_cl_host->library_symbol(library, #function);                          \
    if (symbol == NULL) {                                                                     \
      return nd4c_cl_host->fail(ND4C_SYMBOL, "opencl: %s lacks the symbol " #function, name); \
    }                                                                                         \
    memcpy(&table.function, &symbol, sizeof symbol);                                          \
  }
  ND4C_CL_SYMBOLS(FIND)
#undef FIND
#define LOOK_FOR(result, function, parameters)                       \
  {                                                                  \
    void *symbol = nd4c_cl_host->library_symbol(library, #function); \
    memcpy(&table.function, &symbol, sizeof symbol);                 \
  }
  ND4C_CL_OPTIONAL_SYMBOLS(LOOK_FOR)
#undef LOOK_FOR
  nd4c_cl = table;
  return ND4C_OK;
}

nd4c_status nd4c_cl_loader_open(void) {
  nd4c_cl_lock(&lock);
  nd4c_status status = ND4C_OK;
  if (!opened) {
    void *library = NULL;
    char name[LIBRARY_SIZE];
    library_name(name);
    status = nd4c_cl_host->library_open(name, &library);
    status = status == ND4C_OK ? fill_table(library, name) : status;
    opened = status == ND4C_OK; /* and stays loaded, because drivers crash when they are unloaded */
  }
  nd4c_cl_unlock(&lock);
  return status;
}

bool nd4c_cl_loader_find(char *text, size_t text_size) {
  char path[512] = "", name[LIBRARY_SIZE];
  library_name(name);
  if (!nd4c_cl_host->library_find(name, path, sizeof path)) {
    (void)snprintf(text, text_size,
                   "%s, OpenCL's ICD loader, is neither in nd4c.library.path nor where the system's loader looks",
                   name);
    return false;
  }
  (void)snprintf(text, text_size, "OpenCL's loader is %s", path);
  return true;
}

const char *nd4c_cl_error_name(cl_int code) {
  switch (code) {
    case CL_SUCCESS:
      return "CL_SUCCESS";
#define CASE(name, number) \
  case number:             \
    return #name;
      ND4C_CL_ERRORS(CASE)
#undef CASE
    default:
      return "(no code of OpenCL's)";
  }
}

nd4c_status nd4c_cl_fail(const nd4c_cl_device *device, const char *call, cl_int code) {
  nd4c_status status = code == CL_DEVICE_NOT_AVAILABLE ? ND4C_DEVICE_LOST
                       : code == CL_OUT_OF_HOST_MEMORY ? ND4C_MEMORY
                                                       : ND4C_DEVICE;
  return nd4c_cl_host->fail(status, "%s: %s: %d %s", device->name, call, (int)code, nd4c_cl_error_name(code));
}

nd4c_status nd4c_cl_fail_opening(const nd4c_cl_device *device, const char *call, cl_int code) {
  nd4c_status status = nd4c_cl_fail(device, call, code);
  return code == CL_OUT_OF_RESOURCES ? nd4c_cl_host->fail(ND4C_MEMORY, "%s", nd4c_cl_host->error_message()) : status;
}

nd4c_status nd4c_cl_fail_allocation(const nd4c_cl_device *device, const char *call, cl_int code, int64_t bytes) {
  bool memory = code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_RESOURCES ||
                code == CL_OUT_OF_HOST_MEMORY || code == CL_INVALID_BUFFER_SIZE;
  if (!memory) {
    return nd4c_cl_fail(device, call, code);
  }
  return nd4c_cl_host->fail(ND4C_MEMORY, "%s: %s of %lld bytes: %d %s", device->name, call, (long long)bytes, (int)code,
                            nd4c_cl_error_name(code));
}

nd4c_status nd4c_cl_fail_nothing(const nd4c_cl_device *device, const char *call, const char *what) {
  return nd4c_cl_host->fail(ND4C_DEVICE, "%s: %s: the driver says 0 CL_SUCCESS and gives %s", device->name, call, what);
}
