/* What the ops on matrices share: memory, operands, the walk over a batch. The engines' kernels call
 * nd4c_cpu_dense_run; decomposition_solve.c and decomposition_spectral.c use the rest. */
#include "backends/cpu/support/decomposition.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backends/cpu/support/nest.h"

/* -- memory ----------------------------------------------------------------------------------------------------- */

static void give_back(nd4c_cpu_space *space, int32_t slot) {
  if (space->pages[slot] > 0) {
    nd4c_cpu_host->free_pages(space->blocks[slot], (size_t)space->pages[slot]);
  }
  space->blocks[slot] = NULL;
  space->bytes[slot] = space->pages[slot] = 0;
}

void *nd4c_cpu_space_take(nd4c_cpu_space *space, int32_t slot, int64_t count, int64_t size) {
  if (count > (INT64_MAX - 64) / size) {
    return NULL;
  }
  int64_t bytes = count > 0 ? count * size : size, lines = (bytes + 63) / 64 * 64;
  if (space->blocks[slot] != NULL && space->bytes[slot] >= bytes) {
    return space->blocks[slot];
  }
  give_back(space, slot);
  if (lines <= space->left) {
    space->blocks[slot] = space->scratch;
    space->scratch += lines;
    space->left -= lines;
  } else {
    space->blocks[slot] = nd4c_cpu_host->allocate_pages((size_t)bytes);
    space->pages[slot] = space->blocks[slot] != NULL ? bytes : 0;
  }
  space->bytes[slot] = space->blocks[slot] != NULL ? bytes : 0;
  return space->blocks[slot];
}

void nd4c_cpu_space_clear(nd4c_cpu_space *space) {
  for (int32_t slot = 0; slot < ND4C_SPACE_SLOTS; slot++) {
    give_back(space, slot);
  }
}

void *nd4c_cpu_dense_take(const nd4c_cpu_dense_job *job, nd4c_cpu_space *space, int32_t slot, int64_t count) {
  return nd4c_cpu_space_take(space, slot, count, job->bytes);
}

/* -- operands --------------------------------------------------------------------------------------------------- */

nd4c_dense_place nd4c_cpu_dense_place(const nd4c_cpu_dense_job *job, const nd4c_tensor *tensor, int32_t axes,
                                      int64_t index) {
  nd4c_ref_tensor batch = nd4c_cpu_ref_tensor(tensor);
  batch.rank = tensor->rank - axes;
  int64_t offset = nd4c_ref_offset(&batch, job->batch_rank, job->batch_shape, index);
  const int64_t *shape = tensor->shape + batch.rank, *strides = tensor->strides + batch.rank;
  return (nd4c_dense_place){
      .dtype = tensor->dtype,
      .data = (char *)tensor->data + offset * nd4c_reference_bytes(tensor->dtype),
      .rows = axes > 0 ? shape[0] : 1,
      .columns = axes > 1 ? shape[1] : 1,
      .row_stride = axes > 0 ? strides[0] : 0,
      .column_stride = axes > 1 ? strides[1] : 0,
  };
}

nd4c_dense_place nd4c_cpu_dense_transposed(nd4c_dense_place place) {
  nd4c_dense_place result = place;
  result.rows = place.columns;
  result.columns = place.rows;
  result.row_stride = place.column_stride;
  result.column_stride = place.row_stride;
  return result;
}

void *nd4c_cpu_dense_load(const nd4c_cpu_dense_job *job, nd4c_cpu_space *space, int32_t slot, int32_t input,
                          int32_t axes, int64_t index) {
  nd4c_dense_place place = nd4c_cpu_dense_place(job, &job->call->inputs[input], axes, index);
  void *to = nd4c_cpu_dense_take(job, space, slot, place.rows * place.columns);
  if (to != NULL) {
    nd4c_cpu_dense_load_from(job, &place, to);
  }
  return to;
}

static nd4c_dtype dtype_of(const nd4c_cpu_dense_job *job, bool complex_numbers) {
  return complex_numbers ? (job->dense->single ? ND4C_COMPLEX64 : ND4C_COMPLEX128)
                         : (job->dense->single ? ND4C_FLOAT32 : ND4C_FLOAT64);
}

/* Matrices of at least this many elements are copied by engine simd's blocked transposes, if the dtype stays the
 * same. */
enum { MANY = 1024 };

/* Moves a place's elements to columns without gaps or, `out`, back. */
static void copy(const nd4c_cpu_dense_job *job, const nd4c_dense_place *place, void *columns, bool out) {
  nd4c_nest nest = {.rank = 2, .operands = 2, .size = place->rows * place->columns};
  int32_t tensor = out ? 0 : 1, matrix = out ? 1 : 0;
  nest.shape[0] = place->columns;
  nest.shape[1] = place->rows;
  nest.data[tensor] = place->data;
  nest.strides[tensor][0] = place->column_stride;
  nest.strides[tensor][1] = place->row_stride;
  nest.data[matrix] = columns;
  nest.strides[matrix][0] = place->rows;
  nest.strides[matrix][1] = 1;
  nest.bytes[0] = nest.bytes[1] = (int32_t)nd4c_reference_bytes(place->dtype);
  nd4c_nest_finish(&nest);
  nd4c_nest_copy(&nest, job->width);
}

void nd4c_cpu_dense_load_from(const nd4c_cpu_dense_job *job, const nd4c_dense_place *from, void *to) {
  bool complex_numbers = job->dense->complex_numbers;
  if (job->dense->single || (from->dtype == dtype_of(job, complex_numbers) && from->rows * from->columns >= MANY)) {
    copy(job, from, to, false);
  } else {
    nd4c_dense_load(from, complex_numbers, to);
  }
}

bool nd4c_cpu_dense_is_finite(const nd4c_cpu_dense_job *job, int64_t count, const void *x) {
  int64_t parts = job->dense->complex_numbers ? 2 * count : count;
  return job->dense->single ? nd4c_dense_is_finite_single(parts, x) : nd4c_dense_is_finite(parts, x);
}

double complex nd4c_cpu_dense_get(const nd4c_cpu_dense_job *job, const void *a, int64_t position) {
  bool complex_numbers = job->dense->complex_numbers;
  const void *x = (const char *)a + position * job->bytes;
  double real = job->dense->single ? ((const float *)x)[0] : ((const double *)x)[0], imaginary = 0;
  if (complex_numbers) {
    imaginary = job->dense->single ? ((const float *)x)[1] : ((const double *)x)[1];
  }
  return nd4c_complex_make(real, imaginary);
}

void nd4c_cpu_dense_set(const nd4c_cpu_dense_job *job, void *a, int64_t position, double value) {
  void *x = (char *)a + position * job->bytes;
  memset(x, 0, (size_t)job->bytes);
  if (job->dense->single) {
    *(float *)x = (float)value;
  } else {
    *(double *)x = value;
  }
}

static void store_numbers(const nd4c_cpu_dense_job *job, const nd4c_dense_place *to, nd4c_dtype dtype,
                          const void *from) {
  bool wide = dtype == ND4C_FLOAT64 || dtype == ND4C_COMPLEX128;
  if (to->dtype == dtype && (!wide || to->rows * to->columns >= MANY)) {
    copy(job, to, (void *)(uintptr_t)from, true);
  } else {
    nd4c_dense_store(to, dtype == ND4C_COMPLEX128, from);
  }
}

void nd4c_cpu_dense_store_to(const nd4c_cpu_dense_job *job, const nd4c_dense_place *to, const void *from) {
  store_numbers(job, to, dtype_of(job, job->dense->complex_numbers), from);
}

void nd4c_cpu_dense_store_as(const nd4c_cpu_dense_job *job, int32_t output, int32_t axes, int64_t index,
                             nd4c_dtype dtype, const void *from) {
  nd4c_dense_place place = nd4c_cpu_dense_place(job, &job->call->outputs[output], axes, index);
  store_numbers(job, &place, dtype, from);
}

void nd4c_cpu_dense_store(const nd4c_cpu_dense_job *job, int32_t output, int32_t axes, int64_t index,
                          const void *from) {
  nd4c_cpu_dense_store_as(job, output, axes, index, dtype_of(job, job->dense->complex_numbers), from);
}

void nd4c_cpu_dense_store_real(const nd4c_cpu_dense_job *job, int32_t output, int32_t axes, int64_t index,
                               const void *from) {
  nd4c_cpu_dense_store_as(job, output, axes, index, dtype_of(job, false), from);
}

int64_t nd4c_cpu_dense_store_nan(const nd4c_cpu_dense_job *job, nd4c_cpu_space *space, int64_t index,
                                 const int32_t *axes) {
  for (int32_t output = 0; output < job->call->output_count; output++) {
    nd4c_dense_place place = nd4c_cpu_dense_place(job, &job->call->outputs[output], axes[output], index);
    int64_t count = place.rows * place.columns;
    double complex *filling = nd4c_cpu_space_take(space, ND4C_SPACE_METHOD - 1, count, sizeof *filling);
    if (filling == NULL) {
      return ND4C_DENSE_NO_MEMORY;
    }
    bool whole = nd4c_reference_kind(place.dtype) == ND4C_KIND_INT;
    for (int64_t i = 0; i < count; i++) {
      filling[i] = whole ? 0 : nd4c_complex_make((double)NAN, (double)NAN);
    }
    nd4c_dense_store(&place, !whole, filling);
  }
  return ND4C_DENSE_FINE;
}

void nd4c_cpu_dense_clear_triangle(const nd4c_cpu_dense_job *job, bool upper, int64_t m, int64_t n, void *a) {
  for (int64_t j = 0; j < n; j++) {
    int64_t begin = upper ? 0 : j + 1, end = upper ? (j < m ? j : m) : m;
    if (end > begin) {
      memset((char *)a + (j * m + begin) * job->bytes, 0, (size_t)((end - begin) * job->bytes));
    }
  }
}

/* -- the walk --------------------------------------------------------------------------------------------------- */

typedef struct walk {
  const nd4c_cpu_dense_job *job;
  const nd4c_cpu_dense_engine *engine;
  int64_t scratch; /* bytes of the call's, for the only worker */
} walk;

static void note_failure(const nd4c_cpu_dense_job *job, int64_t index, int64_t outcome) {
  int64_t first = atomic_load(job->failed);
  while (index < first) {
    if (atomic_compare_exchange_weak(job->failed, &first, index)) {
      atomic_store(job->outcome, outcome);
      return;
    }
  }
}

static void range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const walk *w = user;
  nd4c_cpu_space space = {.scratch = w->job->call->scratch, .left = w->scratch};
  (void)worker;
  int before = w->engine->enter != NULL ? w->engine->enter(w->job->width) : 0;
  for (int64_t index = begin; index < end && index < atomic_load(w->job->failed); index++) {
    int64_t outcome = w->job->one(w->job, index, &space);
    if (outcome != ND4C_DENSE_FINE) {
      note_failure(w->job, index, outcome);
    }
  }
  if (w->engine->leave != NULL) {
    w->engine->leave(before);
  }
  nd4c_cpu_space_clear(&space);
}

static nd4c_status failure(const nd4c_call *call, int64_t batch, int64_t index, int64_t outcome) {
  char which[64] = "";
  const char *name = call->op->name;
  ND4C_CPU_FAIL_IF(outcome == ND4C_DENSE_NO_MEMORY, ND4C_MEMORY, "%s: no memory for a copy of a matrix", name);
  if (batch > 1) {
    snprintf(which, sizeof which, " %lld of the batch", (long long)index);
  }
  ND4C_CPU_FAIL_IF(call->op->op == ND4C_OP_cholesky, ND4C_ARGUMENT,
                   "%s: input x: matrix%s is not positive definite (its minor of order %lld is not positive)", name,
                   which, (long long)outcome);
  ND4C_CPU_FAIL_IF(call->op->op == ND4C_OP_lu_solve && outcome > INT32_MAX, ND4C_INDEX,
                   "%s: input pivots: a pivot of matrix%s is not one of its rows", name, which);
  bool solves = call->op->op == ND4C_OP_inv || call->op->op == ND4C_OP_matrix_power || call->op->op == ND4C_OP_expm ||
                call->op->op == ND4C_OP_solve || call->op->op == ND4C_OP_triangular_solve ||
                call->op->op == ND4C_OP_cholesky_solve || call->op->op == ND4C_OP_lu_solve;
  ND4C_CPU_FAIL_IF(solves, ND4C_ARGUMENT, "%s: input %s: matrix%s is singular (pivot %lld is zero)", name,
                   call->op->inputs[0].name, which, (long long)outcome);
  return nd4c_cpu_host->fail(ND4C_ARGUMENT, "%s: input %s: the iteration for matrix%s did not converge", name,
                             call->op->inputs[0].name, which);
}

/* The right-hand sides of ops that solve systems; NULL for the others. */
static const nd4c_tensor *right_of(const nd4c_call *call) {
  switch (call->op->op) {
    case ND4C_OP_solve:
    case ND4C_OP_triangular_solve:
    case ND4C_OP_cholesky_solve:
    case ND4C_OP_lstsq:
      return &call->inputs[1];
    case ND4C_OP_lu_solve:
      return &call->inputs[ND4C_IN_lu_solve_b];
    default:
      return NULL;
  }
}

/* The batch: that of the first output, or of the solution for ops that broadcast two operands' batches. */
static int32_t batch_rank_of(const nd4c_call *call) {
  const nd4c_tensor *right = right_of(call);
  return right == NULL ? call->inputs[0].rank - 2 : call->outputs[0].rank - (right->rank == 1 ? 1 : 2);
}

/* About how many multiplications one matrix of the batch takes. */
static double work_of(const nd4c_cpu_dense_job *job) {
  const nd4c_tensor *right = right_of(job->call);
  const int64_t columns = right == NULL ? 0 : right->rank == 1 ? 1 : right->shape[right->rank - 1];
  return (double)job->m * (double)job->n * ((double)job->least + 1 + (double)columns);
}

/* Whether the op's code is written for both precisions; the others compute in double. */
static bool has_single(nd4c_op op) {
  switch (op) {
    case ND4C_OP_cholesky:
    case ND4C_OP_det:
    case ND4C_OP_slogdet:
    case ND4C_OP_inv:
    case ND4C_OP_solve:
    case ND4C_OP_triangular_solve:
    case ND4C_OP_cholesky_solve:
    case ND4C_OP_qr:
    case ND4C_OP_svd:
    case ND4C_OP_svdvals:
    case ND4C_OP_eigh:
    case ND4C_OP_eigvalsh:
    case ND4C_OP_lu:
    case ND4C_OP_lu_factor:
    case ND4C_OP_lu_solve:
      return true;
    default:
      return false;
  }
}

/* The engine's methods for the call's numbers: in single precision where all operands are. */
static const nd4c_cpu_dense *choose(const nd4c_call *call, const nd4c_cpu_dense_engine *engine) {
  bool complex_numbers = false, single = has_single(call->op->op);
  for (int32_t i = 0; i < call->input_count; i++) {
    complex_numbers = complex_numbers || nd4c_reference_kind(call->inputs[i].dtype) == ND4C_KIND_COMPLEX;
  }
  for (int32_t i = 0; i < call->input_count; i++) {
    nd4c_dtype dtype = call->inputs[i].dtype;
    single = single && (dtype == (complex_numbers ? ND4C_COMPLEX64 : ND4C_FLOAT32) || dtype == ND4C_INT64);
  }
  single = single && engine->methods[2 + complex_numbers] != NULL;
  return engine->methods[(single ? 2 : 0) + complex_numbers];
}

/* Multiplications from which all threads compute one matrix. Factorisations have many short regions, whose members wait
 * for each other without sleeping; alone on two cores, two threads took so many times as long as one:
 *
 *                 200 x 200    500 x 500    1200 x 1200    1600 x 1600    2200 x 2200
 *     cholesky    2.6 to 4.3   1.6 to 2.3   1.2            1.1            0.9
 *     inv         1.3 to 3.0   0.9 to 1.3   1.0            1.0            0.6
 *     qr          1.3 to 2.6   0.8 to 2.1   1.7            1.7            2.0
 *     eigvalsh    1.1 to 1.2   1.0 to 1.3   1.5            1.6            0.8
 *     svd         1.6 to 1.8   1.3 to 2.3
 *
 * and beside other programs up to 27 times. Ops that are a few long products or substitutions have few regions. With
 * more workers a region takes less, and waiting about as long, so the limit falls as their number grows: that was not
 * measured. */
static double least_shared(nd4c_op op, int32_t width) {
  const double products = 1 << 22; /* 161^3 */
  switch (op) {
    case ND4C_OP_triangular_solve:
    case ND4C_OP_cholesky_solve:
    case ND4C_OP_lu_solve:
    case ND4C_OP_matrix_power:
    case ND4C_OP_expm:
      return products;
    case ND4C_OP_qr:
      return INFINITY;
    default:
      return ND4C_DENSE_LEAST_SHARED * 2 / (width > 2 ? width : 2);
  }
}

int64_t nd4c_cpu_dense_scratch(const nd4c_call *call) {
  enum { FEW = 64, MOST = 1 << 28 };
  const nd4c_tensor *a = &call->inputs[0];
  int64_t m = a->shape[a->rank - 2], n = a->shape[a->rank - 1], matrices;
  switch (call->op->op) {
    case ND4C_OP_svd:
    case ND4C_OP_svdvals:
      matrices = 7; /* a, u, vh, and three for divide and conquer */
      break;
    case ND4C_OP_eigh:
    case ND4C_OP_eigvalsh:
      matrices = 5;
      break;
    default:
      matrices = 3;
  }
  double bytes = (double)matrices * (double)m * (double)n * (a->dtype == ND4C_COMPLEX128 ? 16 : 8);
  return m < FEW || n < FEW || bytes > MOST ? 0 : (int64_t)bytes;
}

nd4c_status nd4c_cpu_dense_run(const nd4c_call *call, const nd4c_cpu_dense_engine *engine, nd4c_cpu_dense_one one) {
  const nd4c_tensor *a = &call->inputs[0];
  _Atomic int64_t failed = INT64_MAX, outcome = 0;
  nd4c_cpu_dense_job job = {.call = call, .dense = choose(call, engine), .one = one, .failed = &failed};
  job.outcome = &outcome;
  job.bytes = (job.dense->complex_numbers ? 16 : 8) / (job.dense->single ? 2 : 1);
  job.m = a->shape[a->rank - 2];
  job.n = a->shape[a->rank - 1];
  job.least = job.m < job.n ? job.m : job.n;
  job.batch_rank = batch_rank_of(call);
  job.batch_shape = call->op->input_count > 1 ? call->outputs[0].shape : a->shape;
  int64_t batch = 1;
  for (int32_t i = 0; i < job.batch_rank; i++) {
    batch *= job.batch_shape[i];
  }
  const double work = work_of(&job);
  const bool large = work > least_shared(call->op->op, call->width);
  bool whole = engine->splits && (batch == 1 || large);
  job.width = whole && large ? call->width : 1;
  walk w = {
      .job = &job, .engine = engine, .scratch = whole && call->scratch != NULL ? nd4c_cpu_dense_scratch(call) : 0};
  int64_t grain = work < 4096 ? (int64_t)(4096 / (work + 1)) + 1 : 1;
  if (whole) {
    range(&w, 0, batch, 0);
  } else {
    nd4c_cpu_parallel(batch, grain, call->width, range, &w);
  }
  int64_t first = atomic_load(&failed);
  return first == INT64_MAX ? ND4C_OK : failure(call, batch, first, atomic_load(&outcome));
}
