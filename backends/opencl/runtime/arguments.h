/* Arguments of a kernel as a list, and launches in one call. Families use it by way of opencl.h.
 *
 *     ND4C_CL_ARGS(&launch, ND4C_CL_IN(x), ND4C_CL_LONG(x->strides[0], count), ND4C_CL_FAULT);
 *     return ND4C_CL_RUN(call, "join", "join", options, count, ND4C_CL_IN(x), ND4C_CL_OUT(y));
 */
#ifndef ND4C_BACKENDS_OPENCL_RUNTIME_ARGUMENTS_H
#define ND4C_BACKENDS_OPENCL_RUNTIME_ARGUMENTS_H

#include "backends/opencl/runtime/opencl.h"

typedef enum nd4c_cl_given_kind {
  ND4C_CL_GIVEN_END,
  ND4C_CL_GIVEN_TENSOR,
  ND4C_CL_GIVEN_BUFFER,
  ND4C_CL_GIVEN_SCRATCH,
  ND4C_CL_GIVEN_LONGS,
  ND4C_CL_GIVEN_INTS,
  ND4C_CL_GIVEN_DOUBLES,
  ND4C_CL_GIVEN_REALS,
  ND4C_CL_GIVEN_PAIRS,
  ND4C_CL_GIVEN_BYTES,
  ND4C_CL_GIVEN_LOCAL,
  ND4C_CL_GIVEN_STRIDED,
  ND4C_CL_GIVEN_FAULT
} nd4c_cl_given_kind;

/* One or several arguments of one kind; what it points to is read when the list is. */
typedef struct nd4c_cl_given {
  nd4c_cl_given_kind kind;
  nd4c_cl_access access;
  const void *at;     /* tensor, first number, or first byte; of LOCAL: NULL, or the bytes are for each work item */
  nd4c_buffer buffer; /* of BUFFER */
  int64_t shift;      /* of TENSOR: elements that element 0 is moved on by */
  size_t count;       /* numbers, or bytes */
} nd4c_cl_given;

#define ND4C_CL_GIVEN_NUMBERS(kind_name, type, ...) \
  {.kind = ND4C_CL_GIVEN_##kind_name,               \
   .at = (const type[]){__VA_ARGS__},               \
   .count = sizeof((const type[]){__VA_ARGS__}) / sizeof(type)}

/* Two kernel arguments: "__global [const] STORAGE(X) *x, long x0": the buffer and the offset of element 0, in elements.
 * A tensor that is NULL was left out: an operand of the call stands for it, for the kernel to leave alone. */
#define ND4C_CL_TENSOR(tensor, how, by) {.kind = ND4C_CL_GIVEN_TENSOR, .access = (how), .at = (tensor), .shift = (by)}
#define ND4C_CL_IN(tensor) ND4C_CL_TENSOR(tensor, ND4C_CL_READ, 0)
#define ND4C_CL_OUT(tensor) ND4C_CL_TENSOR(tensor, ND4C_CL_WRITE, 0)
#define ND4C_CL_INOUT(tensor) ND4C_CL_TENSOR(tensor, ND4C_CL_READ_WRITE, 0)
#define ND4C_CL_IN_AT(tensor, by) ND4C_CL_TENSOR(tensor, ND4C_CL_READ, by)
#define ND4C_CL_OUT_AT(tensor, by) ND4C_CL_TENSOR(tensor, ND4C_CL_WRITE, by)
/* A tensor and its strides; not NULL. */
#define ND4C_CL_STRIDED(tensor, how) {.kind = ND4C_CL_GIVEN_STRIDED, .access = ND4C_CL_##how, .at = (tensor)}
/* A buffer; the call's scratch buffer with access READ, WRITE or READ_WRITE. */
#define ND4C_CL_BUFFER(the_buffer, how) {.kind = ND4C_CL_GIVEN_BUFFER, .access = (how), .buffer = (the_buffer)}
#define ND4C_CL_SCRATCH(how) {.kind = ND4C_CL_GIVEN_SCRATCH, .access = ND4C_CL_##how}
/* Numbers, each an argument. DOUBLE: only where the device has float64. REAL, PAIR: of the types that
 * nd4c_cl_define_real and nd4c_cl_define_pair name. */
#define ND4C_CL_LONG(...) ND4C_CL_GIVEN_NUMBERS(LONGS, int64_t, __VA_ARGS__)
#define ND4C_CL_INT(...) ND4C_CL_GIVEN_NUMBERS(INTS, int32_t, __VA_ARGS__)
#define ND4C_CL_DOUBLE(...) ND4C_CL_GIVEN_NUMBERS(DOUBLES, double, __VA_ARGS__)
#define ND4C_CL_REAL(...) ND4C_CL_GIVEN_NUMBERS(REALS, double, __VA_ARGS__)
#define ND4C_CL_PAIR(...) ND4C_CL_GIVEN_NUMBERS(PAIRS, double, __VA_ARGS__)
/* As many numbers of a list, each an argument. */
#define ND4C_CL_LONGS(list, number) {.kind = ND4C_CL_GIVEN_LONGS, .at = (list), .count = (size_t)(number)}
/* One argument: bytes, a variable. */
#define ND4C_CL_BYTES(bytes, size) {.kind = ND4C_CL_GIVEN_BYTES, .at = (bytes), .count = (size)}
#define ND4C_CL_VALUE(variable) ND4C_CL_BYTES(&(variable), sizeof(variable))
#define ND4C_CL_LOCAL(bytes) {.kind = ND4C_CL_GIVEN_LOCAL, .count = (bytes)}
/* As many bytes for each work item of a group; for ND4C_CL_RUN_GROUPS. */
#define ND4C_CL_LOCAL_EACH(bytes) {.kind = ND4C_CL_GIVEN_LOCAL, .at = "", .count = (bytes)}
/* "__global int *fault": the kernel reports a value out of range here, with nd4c_fault_index (common.cl). The op's
 * outputs are then poisoned, with status INDEX and a text that names op, index and extent. */
#define ND4C_CL_FAULT {.kind = ND4C_CL_GIVEN_FAULT}

/* Adds a list, which ends with GIVEN_END. */
void nd4c_cl_launch_give(nd4c_cl_launch *launch, const nd4c_cl_given *list);
#define ND4C_CL_GIVEN_LIST(...) \
  (const nd4c_cl_given[]) {     \
    __VA_ARGS__, {              \
      0                         \
    }                           \
  }
#define ND4C_CL_ARGS(launch, ...) nd4c_cl_launch_give((launch), ND4C_CL_GIVEN_LIST(__VA_ARGS__))

/* Begins a launch, adds the arguments and runs it over `count` work items; nothing for none. */
nd4c_status nd4c_cl_run(const nd4c_call *call, const char *source, const char *function, nd4c_cl_options options,
                        int64_t count, const nd4c_cl_given *list);
#define ND4C_CL_RUN(call, source, function, options, count, ...) \
  nd4c_cl_run((call), (source), (function), (options), (count), ND4C_CL_GIVEN_LIST(__VA_ARGS__))
/* The same, and `count` is the kernel's last argument: launches are rounded up to whole groups. */
#define ND4C_CL_RUN_ITEMS(call, source, function, options, count, ...) \
  ND4C_CL_RUN(call, source, function, options, count, __VA_ARGS__, ND4C_CL_LONG(count))
/* The same over groups of `most` work items, a power of two, or of as many as the kernel takes. */
nd4c_status nd4c_cl_run_groups(const nd4c_call *call, const char *source, const char *function, nd4c_cl_options options,
                               int64_t groups, int64_t most, const nd4c_cl_given *list);
#define ND4C_CL_RUN_GROUPS(call, source, function, options, groups, most, ...) \
  nd4c_cl_run_groups((call), (source), (function), (options), (groups), (most), ND4C_CL_GIVEN_LIST(__VA_ARGS__))
/* `most`, halved until the device takes a group of it with `each` bytes of local memory for each work item. */
int64_t nd4c_cl_group_within(const nd4c_call *call, int64_t most, int64_t each);

#endif
