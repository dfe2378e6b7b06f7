/* Memory in which one call of engine reference computes: operands and results as doubles in C order. The families that
 * compute in double (normalization, loss, recurrent, attention, window, ...) include this. */
#ifndef ND4C_BACKENDS_CPU_REFERENCE_WORK_H
#define ND4C_BACKENDS_CPU_REFERENCE_WORK_H

#include "backends/cpu/reference/reference.h"
#include "kernels/reference/support/numbers.h"

enum { ND4C_CPU_WORK_BLOCKS = 128, ND4C_CPU_WORK_OUTPUTS = 4 };

/* The memory of one call. An op is a function of the call and its work. It takes all memory, calls nd4c_cpu_work_check
 * (or nd4c_cpu_work_parallel, which calls it) once before it computes, and returns a status. ND4C_CPU_WORK_RUN does the
 * rest. */
typedef struct nd4c_cpu_work {
  const nd4c_call *call;
  int32_t count, result_count;
  bool failed;   /* memory was missing: all later requests give NULL */
  char *scratch; /* the call's scratch, used first, so that calls of a plan allocate nothing */
  size_t left;   /* of its bytes */
  struct {
    void *memory;
    size_t bytes;
  } blocks[ND4C_CPU_WORK_BLOCKS];
  struct {
    int32_t output;
    bool integers;
    const void *numbers;
  } results[ND4C_CPU_WORK_OUTPUTS]; /* to be stored at the end */
} nd4c_cpu_work;

/* Bytes of a call's scratch for so many numbers or integers, and for all its operands and results. */
static inline int64_t nd4c_cpu_work_bytes(int64_t count) {
  return (count + 7) / 8 * 8 * (int64_t)sizeof(double);
}
int64_t nd4c_cpu_work_operand_bytes(const nd4c_call *call);
/* Work in the call's scratch of `bytes`; 0: in allocated memory. */
static inline nd4c_cpu_work nd4c_cpu_work_in(const nd4c_call *call, int64_t bytes) {
  return (nd4c_cpu_work){.call = call, .scratch = call->scratch, .left = call->scratch != NULL ? (size_t)bytes : 0};
}

/* Zeroed numbers. */
double *nd4c_cpu_work_make(nd4c_cpu_work *work, int64_t count);
int64_t *nd4c_cpu_work_make_integers(nd4c_cpu_work *work, int64_t count);
/* Zeroed memory for an output; if the call succeeds, its numbers are rounded into the output at the end. NULL if the op
 * has no such output. An output without an address is computed and not stored. */
double *nd4c_cpu_work_output(nd4c_cpu_work *work, int32_t index);
int64_t *nd4c_cpu_work_output_integers(nd4c_cpu_work *work, int32_t index);
/* The elements of an input, to change or to read, NULL if it was left out; broadcast to a shape. */
double *nd4c_cpu_work_load(nd4c_cpu_work *work, int32_t input);
double *nd4c_cpu_work_load_as(nd4c_cpu_work *work, int32_t input, int32_t rank, const int64_t *shape);
int64_t *nd4c_cpu_work_load_integers(nd4c_cpu_work *work, int32_t input);
/* Makes existing numbers the result of an output, to be stored at the end. */
void nd4c_cpu_work_result(nd4c_cpu_work *work, int32_t index, const double *numbers);
/* Rounds numbers into an output at once. */
void nd4c_cpu_work_store(const nd4c_call *call, int32_t index, const double *numbers);
/* MEMORY if something was missing. */
nd4c_status nd4c_cpu_work_check(const nd4c_cpu_work *work);
/* Checks as above, then runs the range over `count` items, each of work_per_item. */
nd4c_status nd4c_cpu_work_parallel(const nd4c_cpu_work *work, int64_t count, int64_t work_per_item,
                                   nd4c_range_function range, void *user);
/* Stores the results if the status is OK, and frees everything; returns MEMORY if something was missing, else `status`.
 */
nd4c_status nd4c_cpu_work_end(nd4c_cpu_work *work, nd4c_status status);

/* Rows X(op, dtypes, expression): a run function that returns the expression, in which `work` is the work of `call`, in
 * a scratch for all operands; and the kernel's entry. */
#define ND4C_CPU_WORK_RUN(op, dtypes, ...)                                                       \
  static nd4c_status op##_run(const nd4c_call *call) {                                           \
    nd4c_cpu_work own = nd4c_cpu_work_in(call, nd4c_cpu_work_operand_bytes(call)), *work = &own; \
    return nd4c_cpu_work_end(work, __VA_ARGS__);                                                 \
  }
#define ND4C_CPU_WORK_ROW(op, dtypes, ...) ND4C_CPU_WORK_ROW_IF(op, dtypes, nd4c_cpu_reference_usable)
#define ND4C_CPU_WORK_STORED(op, dtypes, ...) ND4C_CPU_WORK_ROW_IF(op, dtypes, nd4c_cpu_reference_stored)
#define ND4C_CPU_WORK_ROW_IF(op, dtypes, usable_function) \
  ND4C_CPU_REFERENCE_KERNEL_IF(op, dtypes, usable_function, op##_run, .scratch_bytes = nd4c_cpu_work_operand_bytes),

/* Refuses integers that are not in least .. most; NULL: there are none. `what` names one of them. */
nd4c_status nd4c_cpu_check_integers(const nd4c_call *call, const char *what, const int64_t *values, int64_t count,
                                    int64_t least, int64_t most);
/* Refuses classes of confusion_matrix in an input that are not in 0 .. classes - 1. */
nd4c_status nd4c_cpu_check_classes(const nd4c_call *call, int32_t input, const int64_t *values, int64_t classes);

#endif
