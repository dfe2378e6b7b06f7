/* Memory that one call of engine reference works in: operands and results as doubles in C order. */
#ifndef ND4C_BACKENDS_CPU_REFERENCE_WORK_H
#define ND4C_BACKENDS_CPU_REFERENCE_WORK_H

#include "backends/cpu/reference/reference.h"
#include "kernels/reference/support/numbers.h"

enum { ND4C_CPU_WORK_BLOCKS = 64 };

/* Start with zeros, or with nd4c_cpu_work_in. Where there is no memory `failed` is set and all later requests give
 * NULL: ask once, before computing. */
typedef struct nd4c_cpu_work {
  int32_t count;
  bool failed;
  char *scratch; /* of the call's: taken from first, so that calls of a plan allocate nothing */
  size_t left;   /* of its bytes */
  struct {
    void *memory;
    size_t bytes;
  } blocks[ND4C_CPU_WORK_BLOCKS];
} nd4c_cpu_work;

/* Bytes of a call's scratch for so many numbers or integers. */
static inline int64_t nd4c_cpu_work_bytes(int64_t count) {
  return (count + 7) / 8 * 8 * (int64_t)sizeof(double);
}
/* Work in the call's scratch, of which there are `bytes`. */
static inline nd4c_cpu_work nd4c_cpu_work_in(const nd4c_call *call, int64_t bytes) {
  return (nd4c_cpu_work){.scratch = call->scratch, .left = call->scratch != NULL ? (size_t)bytes : 0};
}

/* Zeroed numbers. */
double *nd4c_cpu_work_make(nd4c_cpu_work *work, int64_t count);
int64_t *nd4c_cpu_work_make_integers(nd4c_cpu_work *work, int64_t count);
/* A copy of an input to change. */
double *nd4c_cpu_work_copy(nd4c_cpu_work *work, const nd4c_call *call, int32_t input);
/* The elements of an input, NULL if it was left out; broadcast to the shape of another tensor, or to a shape. */
const double *nd4c_cpu_work_load(nd4c_cpu_work *work, const nd4c_call *call, int32_t input);
const double *nd4c_cpu_work_load_like(nd4c_cpu_work *work, const nd4c_call *call, int32_t input,
                                      const nd4c_tensor *like);
const double *nd4c_cpu_work_load_as(nd4c_cpu_work *work, const nd4c_call *call, int32_t input, int32_t rank,
                                    const int64_t *shape);
const int64_t *nd4c_cpu_work_load_integers(nd4c_cpu_work *work, const nd4c_call *call, int32_t input);
/* Rounds results into an output; one that is not wanted (no address) is passed over. */
void nd4c_cpu_work_store(const nd4c_call *call, int32_t output, const double *numbers);
void nd4c_cpu_work_store_integers(const nd4c_call *call, int32_t output, const int64_t *integers);
/* Frees everything; MEMORY if something was missing, else the given status. */
nd4c_status nd4c_cpu_work_end(nd4c_cpu_work *work, const nd4c_call *call, nd4c_status status);

static inline nd4c_status nd4c_cpu_index_fail(const nd4c_call *call, const char *what, int64_t value, int64_t least,
                                              int64_t most) {
  return nd4c_cpu_host->fail(ND4C_INDEX, "%s: %s is %lld, expected %lld to %lld", call->op->name, what,
                             (long long)value, (long long)least, (long long)most);
}

#endif
