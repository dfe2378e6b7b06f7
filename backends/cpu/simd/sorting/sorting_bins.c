/* Engine simd: histogram_fixed_width and confusion_matrix: each worker counts pieces into a table of its own. One
 * worker sums weights, in their order. dispatch/choice.c asks these kernels before the reference's. */
#include <math.h>
#include <stdatomic.h>

#include "backends/cpu/reference/work.h"
#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/moving.h"

enum { BLOCK = 1024, LEAST_PIECE = 1 << 15 };

typedef struct bins_job {
  int64_t size, bins, pieces, piece; /* piece: elements of each */
  int64_t *tables;                   /* of each piece; the first is the result */
  /* histogram_fixed_width */
  const nd4c_tensor *x;
  double low, width;
  /* confusion_matrix */
  const int64_t *labels, *predictions;
  int64_t classes;
  atomic_bool beyond; /* a class is not in 0 .. classes - 1 */
} bins_job;

static void choose_pieces(bins_job *job, int32_t width) {
  const int64_t least = job->bins > LEAST_PIECE ? job->bins : LEAST_PIECE, most = job->size / least;
  job->pieces = most < 1 || width < 1 ? 1 : most < width ? most : width;
  job->piece = nd4c_cpu_divide_up(job->size, job->pieces);
}

static int64_t table_bytes(const bins_job *job) {
  return job->pieces * job->bins * (int64_t)sizeof(int64_t);
}

/* Counts all pieces by `range`, and adds the tables of the others to the first. */
static void count(bins_job *job, int32_t width, nd4c_range_function range) {
  memset(job->tables, 0, (size_t)table_bytes(job));
  nd4c_cpu_parallel(job->pieces, 1, width, range, job);
  for (int64_t piece = 1; piece < job->pieces; piece++) {
    for (int64_t bin = 0; bin < job->bins; bin++) {
      job->tables[bin] += job->tables[piece * job->bins + bin];
    }
  }
}

static int64_t piece_end(const bins_job *job, int64_t piece) {
  const int64_t end = (piece + 1) * job->piece;
  return end < job->size ? end : job->size;
}

/* -- histogram_fixed_width ----------------------------------------------------------------------------------------- */

/* (x - low) / (high - low) bins, of which the whole part is the bin. */
static void find_parts(const bins_job *job, int64_t first, int64_t n, double *parts) {
  const nd4c_binary_loops *subtract = &nd4c_simd.binary->loops[ND4C_BINARY_subtract][ND4C_FLOAT64];
  const nd4c_binary_loops *divide = &nd4c_simd.binary->loops[ND4C_BINARY_divide][ND4C_FLOAT64];
  const nd4c_binary_loops *multiply = &nd4c_simd.binary->loops[ND4C_BINARY_multiply][ND4C_FLOAT64];
  const nd4c_tensor *x = job->x;
  const double bins = (double)job->bins;
  nd4c_simd.cast->loops[x->dtype][ND4C_FLOAT64](n, (const char *)x->data + first * nd4c_cpu_dtype_bytes(x->dtype),
                                                parts);
  subtract->first(n, parts, &job->low, parts);
  divide->first(n, parts, &job->width, parts);
  multiply->first(n, parts, &bins, parts);
}

static void histogram_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const bins_job *job = user;
  const double bins = (double)job->bins;
  double parts[BLOCK];
  (void)worker;
  for (int64_t piece = begin; piece < end; piece++) {
    int64_t *table = job->tables + piece * job->bins;
    const int64_t last = piece_end(job, piece);
    for (int64_t i = piece * job->piece; i < last; i += BLOCK) {
      const int64_t n = last - i < BLOCK ? last - i : BLOCK;
      find_parts(job, i, n, parts);
      for (int64_t k = 0; k < n; k++) {
        const double part = parts[k];
        if (!isnan(part)) {
          table[part < 0 ? 0 : part >= bins ? job->bins - 1 : (int64_t)part]++;
        }
      }
    }
  }
}

static bins_job histogram_job(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  const double low = ND4C_REAL_OF(call, histogram_fixed_width_low);
  bins_job job = {.size = x->size,
                  .bins = call->outputs[0].shape[0],
                  .tables = call->scratch,
                  .x = x,
                  .low = low,
                  .width = ND4C_REAL_OF(call, histogram_fixed_width_high) - low};
  choose_pieces(&job, call->width);
  return job;
}

static int64_t histogram_scratch_bytes(const nd4c_call *call) {
  const bins_job job = histogram_job(call);
  return table_bytes(&job);
}

static nd4c_status run_histogram_fixed_width(const nd4c_call *call) {
  bins_job job = histogram_job(call);
  const nd4c_tensor *y = &call->outputs[0];
  count(&job, call->width, histogram_range);
  nd4c_simd.move->move[sizeof(int64_t)](1, job.bins, job.tables, 0, 1, y->data, 0, y->strides[0]);
  return ND4C_OK;
}

static bool usable_histogram_fixed_width(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(!nd4c_in_c_order(&call->inputs[0]), "x is not in C order");
  ND4C_CPU_DECLINE_IF(call->outputs[0].dtype != ND4C_INT64, "counts that are not of 64 bits");
  return true;
}

/* -- confusion_matrix ---------------------------------------------------------------------------------------------- */

/* The bin of element i; -1: a class is beyond. */
static int64_t bin_of(const bins_job *job, int64_t i) {
  const uint64_t label = (uint64_t)job->labels[i], prediction = (uint64_t)job->predictions[i];
  const uint64_t classes = (uint64_t)job->classes;
  return label < classes && prediction < classes ? (int64_t)(label * classes + prediction) : -1;
}

static void confusion_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  bins_job *job = user;
  (void)worker;
  for (int64_t piece = begin; piece < end; piece++) {
    int64_t *table = job->tables + piece * job->bins;
    const int64_t last = piece_end(job, piece);
    for (int64_t i = piece * job->piece; i < last; i++) {
      const int64_t bin = bin_of(job, i);
      if (bin < 0) {
        atomic_store_explicit(&job->beyond, true, memory_order_relaxed);
        return;
      }
      table[bin]++;
    }
  }
}

static bins_job confusion_job(const nd4c_call *call) {
  const nd4c_tensor *weights = nd4c_cpu_input(call, ND4C_IN_confusion_matrix_weights);
  bins_job job = {.size = call->inputs[0].size, .bins = call->outputs[0].size, .classes = call->outputs[0].shape[0]};
  choose_pieces(&job, weights == NULL ? call->width : 1);
  return job;
}

static int64_t confusion_scratch_bytes(const nd4c_call *call) {
  const bins_job job = confusion_job(call);
  return table_bytes(&job) + 2 * job.size * (int64_t)sizeof(int64_t);
}

/* Sums in the order of the elements. */
static void sum_weights(bins_job *job, const nd4c_tensor *weights) {
  double *sums = (double *)(void *)job->tables;
  const int64_t bytes = nd4c_cpu_dtype_bytes(weights->dtype);
  double block[BLOCK];
  memset(sums, 0, (size_t)job->bins * sizeof *sums);
  for (int64_t i = 0; i < job->size; i += BLOCK) {
    const int64_t n = job->size - i < BLOCK ? job->size - i : BLOCK;
    nd4c_simd.cast->loops[weights->dtype][ND4C_FLOAT64](n, (const char *)weights->data + i * bytes, block);
    for (int64_t k = 0; k < n; k++) {
      const int64_t bin = bin_of(job, i + k);
      if (bin < 0) {
        atomic_store_explicit(&job->beyond, true, memory_order_relaxed);
        return;
      }
      sums[bin] += block[k];
    }
  }
}

/* The classes of an input in 64 bits: its own, or in `room`. */
static const int64_t *classes_of(const nd4c_tensor *x, int64_t *room) {
  if (x->dtype == ND4C_INT64 || !nd4c_in_c_order(x)) {
    return nd4c_cpu_integers(x, room);
  }
  nd4c_simd.cast->loops[x->dtype][ND4C_INT64](x->size, x->data, room);
  return room;
}

static nd4c_status run_confusion_matrix(const nd4c_call *call) {
  const nd4c_tensor *weights = nd4c_cpu_input(call, ND4C_IN_confusion_matrix_weights), *y = &call->outputs[0];
  bins_job job = confusion_job(call);
  int64_t *room = call->scratch;
  job.labels = classes_of(&call->inputs[0], room);
  job.predictions = classes_of(&call->inputs[1], room + job.size);
  job.tables = room + 2 * job.size;
  if (weights != NULL) {
    sum_weights(&job, weights);
  } else {
    count(&job, call->width, confusion_range);
  }
  if (atomic_load_explicit(&job.beyond, memory_order_relaxed)) { /* which one, only the checks say */
    ND4C_BACKEND_TRY(nd4c_cpu_check_classes(call, 0, job.labels, job.classes));
    ND4C_BACKEND_TRY(nd4c_cpu_check_classes(call, 1, job.predictions, job.classes));
    return nd4c_cpu_host->fail(ND4C_INTERNAL, "confusion_matrix: a class changed while it was counted");
  }
  if (weights != NULL) {
    nd4c_simd_write_doubles(y, 0, job.bins, (const double *)(const void *)job.tables);
  } else {
    memcpy(y->data, job.tables, (size_t)job.bins * sizeof *job.tables);
  }
  return ND4C_OK;
}

static bool usable_confusion_matrix(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *weights = nd4c_cpu_input(call, ND4C_IN_confusion_matrix_weights), *y = &call->outputs[0];
  ND4C_CPU_DECLINE_IF(!nd4c_in_c_order(y), "the result is not in C order");
  ND4C_CPU_DECLINE_IF(weights != NULL && !nd4c_in_c_order(weights), "weights are not in C order");
  ND4C_CPU_DECLINE_IF(weights == NULL && y->dtype != ND4C_INT64, "counts that are not of 64 bits");
  return true;
}

const nd4c_kernel *const nd4c_cpu_simd_sorting_bins_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(histogram_fixed_width, ND4C_CPU_REALS, usable_histogram_fixed_width, run_histogram_fixed_width,
                         .scratch_bytes = histogram_scratch_bytes),
    ND4C_CPU_SIMD_KERNEL(confusion_matrix, ND4C_CPU_INTS, usable_confusion_matrix, run_confusion_matrix,
                         .scratch_bytes = confusion_scratch_bytes),
    NULL};
