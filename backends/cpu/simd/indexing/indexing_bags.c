/* Engine simd: embedding_bag: the rows of a bag are gathered in doubles, in their order, and rounded once.
 * dispatch/choice.c asks this kernel before the reference's. */
#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/moving.h"

enum { GRAIN = 16384, SUM = 0, MEAN, MAX };

typedef struct bag_job {
  const nd4c_tensor *table, *y;
  const nd4c_bags_loops *loops;
  nd4c_cast_loop widen; /* of rows that have no loops of their own; else NULL */
  const int64_t *indices, *offsets;
  const double *weights;     /* NULL: all 1 */
  int64_t bags, count, each; /* each: indices of a bag without offsets */
  int64_t features, padding, mode;
  double *scratch; /* of the workers: what is gathered, a widened row */
} bag_job;

/* The rows of one bag; gives how many they are. */
static int64_t gather(const bag_job *job, int64_t begin, int64_t end, double *sums, double *wide) {
  const int64_t n = job->features, bytes = nd4c_cpu_dtype_bytes(job->table->dtype);
  int64_t taken = 0;
  for (int64_t i = begin; i < end; i++) {
    const void *row = (const char *)job->table->data + job->indices[i] * job->table->strides[0] * bytes;
    if (job->indices[i] == job->padding) {
      continue;
    }
    if (job->widen != NULL) {
      job->widen(n, row, wide);
      row = wide;
    }
    if (job->mode != MAX) {
      job->loops->add(n, job->weights == NULL ? 1 : job->weights[i], row, sums);
    } else if (taken > 0) {
      job->loops->larger(n, row, sums);
    } else if (job->widen != NULL) {
      memcpy(sums, row, (size_t)n * sizeof *sums);
    } else {
      nd4c_simd.cast->loops[job->table->dtype][ND4C_FLOAT64](n, row, sums);
    }
    taken++;
  }
  return taken;
}

static void bags_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const bag_job *job = user;
  const nd4c_tensor *y = job->y;
  const int64_t n = job->features;
  double *sums = job->scratch + worker * 2 * n;
  for (int64_t bag = begin; bag < end; bag++) {
    const int64_t first = job->offsets != NULL ? job->offsets[bag] : bag * job->each;
    const int64_t last = job->offsets == NULL  ? first + job->each
                         : bag + 1 < job->bags ? job->offsets[bag + 1]
                                               : job->count;
    memset(sums, 0, (size_t)n * sizeof *sums);
    const int64_t taken = gather(job, first, last, sums, sums + n);
    for (int64_t i = 0; job->mode == MEAN && taken > 0 && i < n; i++) {
      sums[i] /= (double)taken;
    }
    nd4c_simd.cast->loops[ND4C_FLOAT64][y->dtype](
        n, sums, (char *)y->data + bag * y->strides[0] * nd4c_cpu_dtype_bytes(y->dtype));
  }
}

static int64_t integer_bytes(const nd4c_call *call, int32_t input) {
  const nd4c_tensor *x = nd4c_cpu_input(call, input);
  return x == NULL ? 0 : x->size * (int64_t)sizeof(int64_t);
}

static int64_t scratch_bytes(const nd4c_call *call) {
  const int64_t rows = 2 * call->outputs[0].shape[1] * (int64_t)sizeof(double);
  return integer_bytes(call, ND4C_IN_embedding_bag_indices) + integer_bytes(call, ND4C_IN_embedding_bag_offsets) +
         integer_bytes(call, ND4C_IN_embedding_bag_weights) + rows * (call->width > 1 ? call->width : 1);
}

static nd4c_status run(const nd4c_call *call) {
  const nd4c_tensor *table = &call->inputs[0], *indices = &call->inputs[1], *y = &call->outputs[0];
  const nd4c_tensor *offsets = nd4c_cpu_input(call, ND4C_IN_embedding_bag_offsets);
  const nd4c_tensor *weights = nd4c_cpu_input(call, ND4C_IN_embedding_bag_weights);
  int64_t *room = call->scratch;
  bag_job job = {.table = table,
                 .y = y,
                 .loops = table->dtype == ND4C_FLOAT32 ? &nd4c_simd.bags->float32 : &nd4c_simd.bags->float64,
                 .indices = nd4c_cpu_integers(indices, room),
                 .bags = y->shape[0],
                 .count = indices->size,
                 .each = indices->rank == 2 ? indices->shape[1] : 0,
                 .features = y->shape[1],
                 .padding = ND4C_INT_OF(call, embedding_bag_padding_index),
                 .mode = ND4C_INT_OF(call, embedding_bag_mode)};
  room += indices->size;
  if (offsets != NULL) {
    job.offsets = nd4c_cpu_integers(offsets, room);
    room += offsets->size;
  }
  job.scratch = (double *)(void *)room;
  if (weights != NULL) {
    nd4c_simd.cast->loops[weights->dtype][ND4C_FLOAT64](weights->size, weights->data, job.scratch);
    job.weights = job.scratch;
    job.scratch += weights->size;
  }
  if (nd4c_cpu_dtype_bytes(table->dtype) == 2) {
    job.widen = nd4c_simd.cast->loops[table->dtype][ND4C_FLOAT64];
  }
  ND4C_BACKEND_TRY(nd4c_cpu_check_bags(call, job.indices, job.offsets));
  if (y->size == 0) {
    return ND4C_OK;
  }
  const int64_t each = (job.count / job.bags + 1) * job.features;
  nd4c_cpu_parallel(job.bags, GRAIN / (each + 1) + 1, call->width, bags_range, &job);
  return ND4C_OK;
}

static bool gaps(const nd4c_tensor *x) {
  return x->shape[1] > 1 && x->strides[1] != 1;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *weights = nd4c_cpu_input(call, ND4C_IN_embedding_bag_weights);
  ND4C_CPU_DECLINE_IF(gaps(&call->inputs[0]) || gaps(&call->outputs[0]), "rows have gaps");
  ND4C_CPU_DECLINE_IF(weights != NULL && !nd4c_in_c_order(weights), "weights are not in C order");
  return true;
}

const nd4c_kernel *const nd4c_cpu_simd_indexing_bags_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(embedding_bag, ND4C_CPU_FLOATS, usable, run, .scratch_bytes = scratch_bytes), NULL};
