/* The interface of the OpenCL backend's core for its kernel families: devices, programs, launches, walks. families/ and
 * support/ include it. */
#ifndef ND4C_BACKENDS_OPENCL_RUNTIME_OPENCL_H
#define ND4C_BACKENDS_OPENCL_RUNTIME_OPENCL_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "backends/reading.h"
#include "nd4c/dtype.h"
#include "nd4c/plugin.h"

/* Host table given to the entry function. */
extern const nd4c_host *nd4c_cl_host;

typedef struct nd4c_cl_device nd4c_cl_device; /* call->device; device.h has its body */
typedef struct nd4c_cl_kernel nd4c_cl_kernel;

/* Properties of a device for families. */
typedef struct nd4c_cl_limits {
  bool has_fp64, is_cpu;
  int64_t group_size;  /* work items of a group at most */
  int64_t local_bytes; /* local memory of a group */
  int32_t compute_units;
  int64_t buffer_bytes; /* largest buffer */
} nd4c_cl_limits;
const nd4c_cl_limits *nd4c_cl_device_limits(const void *device);

/* True if kernels on the device can load and store the dtype (float64 needs cl_khr_fp64; float16 and bfloat16 are
 * loaded into float everywhere; complex, packed and float8 dtypes and strings: no), else the reason. */
bool nd4c_cl_dtype_usable(const void *device, nd4c_dtype dtype, char *reason, size_t reason_size);
/* "float32", "none" for no dtype. Static. */
const char *nd4c_cl_dtype_name(nd4c_dtype dtype);
/* nd4c_cl_dtype_usable of all given operands of a call. */
bool nd4c_cl_call_usable(const nd4c_call *call, char *reason, size_t reason_size);
/* The same of an op that is computed in float64, whatever its operands. */
bool nd4c_cl_fp64_usable(const void *device, char *reason, size_t reason_size);

/* -- calls --------------------------------------------------------------------------------------------------------- */

enum { ND4C_CL_MAX_RANK = 32 }; /* of a tensor */

/* Input at a position of the schema; NULL if it was left out. */
static inline const nd4c_tensor *nd4c_cl_input(const nd4c_call *call, int32_t position) {
  return position < call->input_count && call->inputs[position].dtype != ND4C_DTYPE_NONE ? &call->inputs[position]
                                                                                         : NULL;
}

/* Dtype of an operand that may be left out, and its stride; 0 where it is. */
static inline nd4c_dtype nd4c_cl_dtype_of(const nd4c_tensor *tensor, nd4c_dtype otherwise) {
  return tensor != NULL ? tensor->dtype : otherwise;
}
static inline int64_t nd4c_cl_stride_of(const nd4c_tensor *tensor, int32_t axis) {
  return tensor != NULL ? tensor->strides[axis] : 0;
}

/* -- programs ------------------------------------------------------------------------------------------------------ */

/* Text of options, "-D TYPE_A=float32 -D OP=sqrt". */
typedef struct nd4c_cl_options {
  char text[512];
} nd4c_cl_options;
/* Appends " -D NAME=VALUE", printed. A text too long makes nd4c_cl_kernel_get fail (INTERNAL). */
void nd4c_cl_define(nd4c_cl_options *options, const char *name, const char *format, ...) ND4C_PRINTF(3, 4);
/* Appends " -D TYPE_<operand>=<dtype's name>": common.cl then has LOAD, SAVE and STORAGE of it. */
void nd4c_cl_define_type(nd4c_cl_options *options, char operand, nd4c_dtype dtype);
/* Appends " -D NAME=1" where a condition holds. */
void nd4c_cl_define_if(nd4c_cl_options *options, bool holds, const char *name);
/* The same of several: ND4C_CL_TYPES(&options, "AY", x->dtype, y->dtype). */
void nd4c_cl_define_types(nd4c_cl_options *options, const char *operands, const nd4c_dtype *dtypes);
#define ND4C_CL_TYPES(options, operands, ...) \
  nd4c_cl_define_types((options), (operands), (const nd4c_dtype[]){__VA_ARGS__})
/* Appends " -D INDEX=uint" if all operands of the call lie within 2^31 elements of their buffers' starts, else ulong.
 */
void nd4c_cl_define_index(nd4c_cl_options *options, const nd4c_call *call);

/* The kernel `function` of kernels/opencl/<source>.cl (behind common.cl), built for the device `handle` with
 * `options`; `source` may name several files, one put behind the other: "special+elementwise". From the process's
 * cache, the disk's, or the compiler. Borrowed, lives as long as the device. Any thread. DEVICE with the build log's
 * first lines. */
nd4c_status nd4c_cl_kernel_get(void *handle, const char *source, const char *function, const nd4c_cl_options *options,
                               nd4c_cl_kernel **kernel);
/* `group`, a power of two, halved until the kernel takes it: drivers grant kernels of many registers fewer work items
 * than the device's limits say. */
int64_t nd4c_cl_kernel_fit(const nd4c_cl_kernel *kernel, int64_t group);

/* -- launches ------------------------------------------------------------------------------------------------------ */

typedef enum nd4c_cl_access { ND4C_CL_READ, ND4C_CL_WRITE, ND4C_CL_READ_WRITE } nd4c_cl_access;

enum { ND4C_CL_ARGS = 40, ND4C_CL_ARG_BYTES = 1024 };

/* One launch under construction, on the caller's stack. Arguments are given in the kernel's order; values are copied.
 */
typedef struct nd4c_cl_launch {
  const nd4c_call *call;
  nd4c_cl_kernel *kernel;
  int64_t group; /* work items of a group, where ND4C_CL_LOCAL_EACH asks for memory by them */
  int32_t count;
  bool overflow; /* more than fits: run fails with INTERNAL */
  struct nd4c_cl_arg {
    size_t size;
    int32_t at;         /* in bytes[], or what else it is (launch.c) */
    nd4c_buffer buffer; /* not NULL: the buffer, with its access */
    nd4c_cl_access access;
  } args[ND4C_CL_ARGS];
  size_t used;
  _Alignas(8) unsigned char bytes[ND4C_CL_ARG_BYTES];
} nd4c_cl_launch;

/* Begins a launch of the kernel that nd4c_cl_kernel_get gives; nothing has begun where it fails. */
nd4c_status nd4c_cl_begin(nd4c_cl_launch *launch, const nd4c_call *call, const char *source, const char *function,
                          const nd4c_cl_options *options);
/* Enqueues on the call's stream. local NULL: any group size. In either case global is rounded up to whole groups:
 * kernels check their range. An extent of 0 enqueues nothing. */
nd4c_status nd4c_cl_launch_run(nd4c_cl_launch *launch, int32_t dims, const int64_t *global, const int64_t *local);
/* Waits for the stream and copies from a buffer to the host; fails if earlier work on the stream has failed. Only for
 * ops whose output shape depends on data, and ops that check their inputs' values before they continue (README.md lists
 * them). No other op may wait. */
nd4c_status nd4c_cl_read_back(const nd4c_call *call, nd4c_buffer buffer, int64_t offset, void *to, int64_t bytes);
/* Enqueues: bytes of a buffer set to a repeated pattern of 1, 2, 4 or 8 bytes. */
nd4c_status nd4c_cl_fill(const nd4c_call *call, nd4c_buffer buffer, int64_t offset, int64_t bytes, const void *pattern,
                         int32_t pattern_bytes);

/* -- real numbers -------------------------------------------------------------------------------------------------- */

/* The type in which real numbers are computed where results are rounded once: double, where the device has it. */
static inline bool nd4c_cl_wide(const nd4c_call *call) {
  return nd4c_cl_device_limits(call->device)->has_fp64;
}
/* -D REAL=double or float. */
static inline void nd4c_cl_define_real(nd4c_cl_options *options, const nd4c_call *call) {
  nd4c_cl_define(options, "REAL", "%s", nd4c_cl_wide(call) ? "double" : "float");
}
/* The same of kernels that are written in the names of real.cl: REAL is a pair of floats where there is no float64.
 * Their source begins with ND4C_CL_BY_PAIRS. */
static inline void nd4c_cl_define_pair(nd4c_cl_options *options, const nd4c_call *call) {
  if (nd4c_cl_wide(call)) {
    nd4c_cl_define(options, "REAL", "double");
  } else {
    nd4c_cl_define(options, "PAIRS", "1");
  }
}
#define ND4C_CL_BY_PAIRS(call, source) (nd4c_cl_wide(call) ? "real+" source : "wide+real+" source)
static inline void nd4c_cl_pair_of(double value, float *parts) {
  parts[0] = (float)value;
  parts[1] = isfinite(parts[0]) ? (float)(value - (double)parts[0]) : 0;
}

#include "backends/opencl/runtime/arguments.h"

/* -- kernels ------------------------------------------------------------------------------------------------------- */

/* Dtypes of a kernel's first input. */
#define ND4C_CL_FLOATS                                                                           \
  (ND4C_DTYPE_BIT(ND4C_FLOAT16) | ND4C_DTYPE_BIT(ND4C_BFLOAT16) | ND4C_DTYPE_BIT(ND4C_FLOAT32) | \
   ND4C_DTYPE_BIT(ND4C_FLOAT64))
#define ND4C_CL_INTS                                                                                                  \
  (ND4C_DTYPE_BIT(ND4C_INT8) | ND4C_DTYPE_BIT(ND4C_INT16) | ND4C_DTYPE_BIT(ND4C_INT32) | ND4C_DTYPE_BIT(ND4C_INT64) | \
   ND4C_DTYPE_BIT(ND4C_UINT8) | ND4C_DTYPE_BIT(ND4C_UINT16) | ND4C_DTYPE_BIT(ND4C_UINT32) |                           \
   ND4C_DTYPE_BIT(ND4C_UINT64))
#define ND4C_CL_REALS (ND4C_CL_FLOATS | ND4C_CL_INTS)
#define ND4C_CL_ALL (ND4C_CL_REALS | ND4C_DTYPE_BIT(ND4C_BOOL))

/* Writes the scratch range of a kernel that needs exactly that many bytes; NULL: none. */
static inline nd4c_status nd4c_cl_fixed_scratch(int64_t (*bytes)(const nd4c_call *call), const nd4c_call *call,
                                                nd4c_scratch_range *range) {
  range->least = range->best = bytes != NULL ? bytes(call) : 0;
  return ND4C_OK;
}

/* opencl_<op>: a kernel of this engine. scratch: how many bytes of the device's memory a call works in, or NULL. */
#define ND4C_CL_KERNEL(op_name, dtype_set, usable_function, run_function, scratch_function)                        \
  static nd4c_status opencl_##op_name##_scratch(const nd4c_call *call, int64_t limit, nd4c_scratch_range *range) { \
    (void)limit;                                                                                                   \
    return nd4c_cl_fixed_scratch((scratch_function), call, range);                                                 \
  }                                                                                                                \
  static const nd4c_kernel opencl_##op_name = {.struct_size = ND4C_SIZE_OF(nd4c_kernel),                           \
                                               .op_version = 1,                                                    \
                                               .op = #op_name,                                                     \
                                               .engine = "opencl",                                                 \
                                               .name = "opencl." #op_name,                                         \
                                               .priority = 100,                                                    \
                                               .dtypes = (dtype_set),                                              \
                                               .usable = (usable_function),                                        \
                                               .run = (run_function),                                              \
                                               .device_scratch = opencl_##op_name##_scratch};
/* Of a table of ops, X(op, ...): an entry of the family's list. */
#define ND4C_CL_LISTED(op_name, ...) &opencl_##op_name,
#define ND4C_CL_LISTED_OP(op_name) &opencl_##op_name, /* of a table X(op) */

#endif
