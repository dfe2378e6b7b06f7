/* Engine simd: counts and finds elements that are not zero. dispatch/choice.c asks these kernels before the
 * reference's. */
#include "backends/cpu/simd/simd.h"

/* Parts that are counted, then written, each by one worker; fewer where there are few elements. Counting is so fast
 * that another worker pays from COUNTED_BYTES on. */
enum { PARTS = 64, PART_ELEMENTS = 16384, COUNTED_BYTES = 1 << 20 };

typedef struct nonzero_job {
  const char *x;
  int64_t bytes, size, part; /* of an element; elements; elements a part */
  uint64_t mask;
  int64_t counts[PARTS + 1]; /* then where a part's places begin */
  int32_t rank;
  const int64_t *shape;
  int64_t *y; /* one row an axis, `total` long */
  int64_t total;
} nonzero_job;

/* The bits that make an element of the dtype nonzero: all except the sign of a float. */
static uint64_t mask_of(nd4c_dtype dtype) {
  switch (dtype) {
    case ND4C_FLOAT16:
    case ND4C_BFLOAT16:
      return UINT16_MAX >> 1;
    case ND4C_FLOAT32:
      return UINT32_MAX >> 1;
    case ND4C_FLOAT64:
      return UINT64_MAX >> 1;
    case ND4C_COMPLEX64:
      return UINT64_C(0x7fffffff7fffffff);
    default:
      return UINT64_MAX;
  }
}

static int64_t part_end(const nonzero_job *job, int64_t part) {
  int64_t end = (part + 1) * job->part;
  return end < job->size ? end : job->size;
}

static void count_parts(void *user, int64_t begin, int64_t end, int32_t worker) {
  nonzero_job *job = user;
  (void)worker;
  for (int64_t part = begin; part < end; part++) {
    int64_t from = part * job->part;
    job->counts[part + 1] =
        nd4c_simd.nonzero->count[job->bytes](part_end(job, part) - from, job->x + from * job->bytes, job->mask);
  }
}

/* counts[part]: elements that are not zero before the part. Returns all of them. */
static int64_t count_all(const nd4c_tensor *x, int32_t width, nonzero_job *job, int64_t *parts) {
  job->x = x->data;
  job->bytes = nd4c_cpu_dtype_bytes(x->dtype);
  job->size = x->size;
  job->mask = mask_of(x->dtype);
  job->part = (x->size + PARTS - 1) / PARTS;
  job->part = job->part < PART_ELEMENTS ? PART_ELEMENTS : job->part;
  *parts = (x->size + job->part - 1) / job->part;
  job->counts[0] = 0;
  nd4c_cpu_parallel(*parts, COUNTED_BYTES / (job->part * job->bytes) + 1, width, count_parts, job);
  for (int64_t part = 0; part < *parts; part++) {
    job->counts[part + 1] += job->counts[part];
  }
  return job->counts[*parts];
}

/* -- places ------------------------------------------------------------------------------------------------------- */

/* The indices of all axes but the last, which are those of a row. */
static void write_outer(const nonzero_job *job, int64_t row, int64_t place, int64_t count) {
  for (int32_t axis = job->rank - 2; axis >= 0; axis--) {
    int64_t index = row % job->shape[axis], *y = job->y + axis * job->total + place;
    row /= job->shape[axis];
    for (int64_t i = 0; i < count; i++) {
      y[i] = index;
    }
  }
}

static void place_part(const nonzero_job *job, int64_t part) {
  int64_t length = job->rank > 1 ? job->shape[job->rank - 1] : job->size, end = part_end(job, part);
  int64_t place = job->counts[part], *last = job->y + (job->rank > 1 ? job->rank - 1 : 0) * job->total;
  for (int64_t i = part * job->part; i < end;) {
    int64_t row = i / length, first = i % length, left = length - first < end - i ? length - first : end - i;
    const char *x = job->x + i * job->bytes;
    bool whole = job->rank <= 1;
    int64_t count = whole ? job->counts[part + 1] - place : nd4c_simd.nonzero->count[job->bytes](left, x, job->mask);
    nd4c_simd.nonzero->places[job->bytes](whole ? end - i : left, count, x, job->mask, first, last + place);
    write_outer(job, row, place, count);
    place += count;
    i += left;
  }
}

static void place_parts(void *user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  for (int64_t part = begin; part < end; part++) {
    place_part(user, part);
  }
}

/* The same with the indices of an element side by side, as argwhere has them. */
static void place_rows(const nonzero_job *job, int64_t part) {
  enum { PIECE = 1024 };
  const int32_t last = job->rank - 1;
  const int64_t length = job->shape[last], end = part_end(job, part);
  int64_t found[PIECE], *y = job->y + job->counts[part] * job->rank;
  for (int64_t i = part * job->part, left; i < end; i += left) {
    int64_t row = i / length, first = i % length;
    left = length - first < end - i ? length - first : end - i;
    left = left < PIECE ? left : PIECE;
    const char *x = job->x + i * job->bytes;
    const int64_t count = nd4c_simd.nonzero->count[job->bytes](left, x, job->mask);
    nd4c_simd.nonzero->places[job->bytes](left, count, x, job->mask, first, found);
    for (int64_t k = 0; k < count; k++) {
      y[k * job->rank + last] = found[k];
    }
    for (int32_t axis = last - 1; axis >= 0; axis--) {
      const int64_t index = row % job->shape[axis];
      row /= job->shape[axis];
      for (int64_t k = 0; k < count; k++) {
        y[k * job->rank + axis] = index;
      }
    }
    y += count * job->rank;
  }
}

static void place_row_parts(void *user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  for (int64_t part = begin; part < end; part++) {
    place_rows(user, part);
  }
}

static bool usable_nonzero(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF((call->inputs[0].flags & ND4C_TENSOR_CONTIGUOUS) == 0, "the input is not contiguous");
  return true;
}

static nd4c_status run_nonzero(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  nonzero_job job = {.rank = x->rank, .shape = x->shape, .y = call->outputs[0].data};
  int64_t parts;
  job.total = count_all(x, call->width, &job, &parts);
  nd4c_cpu_parallel(parts, 1, call->width, place_parts, &job);
  call->true_shapes[0][0] = call->outputs[0].shape[0];
  call->true_shapes[0][1] = job.total;
  return ND4C_OK;
}

static bool usable_argwhere(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->inputs[0].rank == 0, "x has no axes");
  return usable_nonzero(call, reason, reason_size);
}

static nd4c_status run_argwhere(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  nonzero_job job = {.rank = x->rank, .shape = x->shape, .y = call->outputs[0].data};
  int64_t parts;
  job.total = count_all(x, call->width, &job, &parts);
  nd4c_cpu_parallel(parts, 1, call->width, x->rank == 1 ? place_parts : place_row_parts, &job);
  call->true_shapes[0][0] = job.total;
  call->true_shapes[0][1] = x->rank;
  return ND4C_OK;
}

/* -- counting ----------------------------------------------------------------------------------------------------- */

static bool usable_count(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->outputs[0].size != 1, "several results");
  return usable_nonzero(call, reason, reason_size);
}

static nd4c_status run_count_nonzero(const nd4c_call *call) {
  nonzero_job job;
  int64_t parts;
  *(int64_t *)call->outputs[0].data = count_all(&call->inputs[0], call->width, &job, &parts);
  return ND4C_OK;
}

const nd4c_kernel *const nd4c_cpu_simd_sorting_nonzero_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(nonzero, ND4C_CPU_ALL & ~ND4C_DTYPE_BIT(ND4C_COMPLEX128), usable_nonzero, run_nonzero),
    ND4C_CPU_SIMD_KERNEL(argwhere, ND4C_CPU_ALL & ~ND4C_DTYPE_BIT(ND4C_COMPLEX128), usable_argwhere, run_argwhere),
    ND4C_CPU_SIMD_KERNEL(count_nonzero, ND4C_CPU_ALL & ~ND4C_DTYPE_BIT(ND4C_COMPLEX128), usable_count,
                         run_count_nonzero),
    NULL};
