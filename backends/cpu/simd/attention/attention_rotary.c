/* Engine simd: rotary_embedding: the heads of one place after the other, which share its angles. dispatch/choice.c asks
 * this kernel before the reference's. */
#include "backends/cpu/reference/work.h"
#include "backends/cpu/simd/rows.h"
#include "backends/cpu/support/moving.h"

enum { INPUT_X, INPUT_COS, INPUT_SIN, INPUT_IDS };

/* x or y: [n, heads, t, head], or [n, t, heads * head]. Steps count elements. */
typedef struct heads {
  char *data;
  int64_t batch, head, place;
} heads;

typedef struct rotary_job {
  heads x, y;
  const nd4c_tensor *cosines, *sines;
  const int64_t *ids; /* NULL: angles by batch and place */
  nd4c_rotary_function rotate;
  nd4c_cast_loop widen, narrow; /* of 16-bit floats, which are rotated as doubles; else NULL */
  int64_t bytes, heads, length, features, pairs;
  bool interleaved;
  double *scratch; /* of the workers, if widened: cosines, sines, features */
} rotary_job;

static heads heads_of(const nd4c_tensor *x, int64_t features) {
  return x->rank == 4 ? (heads){x->data, x->strides[0], x->strides[1], x->strides[2]}
                      : (heads){x->data, x->strides[0], features, x->strides[1]};
}

static const char *angles_at(const rotary_job *job, const nd4c_tensor *x, int64_t batch, int64_t place) {
  const int64_t at = job->ids != NULL ? job->ids[batch * job->length + place] * x->strides[0]
                                      : batch * x->strides[0] + place * x->strides[1];
  return (const char *)x->data + at * job->bytes;
}

static void rotate_row(const rotary_job *job, const char *x, const void *cosines, const void *sines, double *wide,
                       char *y) {
  const int64_t turned = 2 * job->pairs;
  if (job->widen == NULL) {
    job->rotate(job->pairs, job->interleaved, x, cosines, sines, y);
  } else {
    job->widen(turned, x, wide);
    job->rotate(job->pairs, job->interleaved, wide, cosines, sines, wide);
    job->narrow(turned, wide, y);
  }
  if (x != y && turned < job->features) {
    memcpy(y + turned * job->bytes, x + turned * job->bytes, (size_t)((job->features - turned) * job->bytes));
  }
}

static void places_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const rotary_job *job = user;
  double *scratch = job->widen == NULL ? NULL : job->scratch + worker * 4 * job->pairs;
  for (int64_t item = begin; item < end; item++) {
    const int64_t batch = item / job->length, place = item % job->length;
    const void *cosines = angles_at(job, job->cosines, batch, place), *sines = angles_at(job, job->sines, batch, place);
    double *wide = NULL;
    if (job->widen != NULL) {
      job->widen(job->pairs, cosines, scratch);
      job->widen(job->pairs, sines, scratch + job->pairs);
      cosines = scratch;
      sines = scratch + job->pairs;
      wide = scratch + 2 * job->pairs;
    }
    for (int64_t h = 0; h < job->heads; h++) {
      const int64_t from = batch * job->x.batch + place * job->x.place + h * job->x.head;
      const int64_t to = batch * job->y.batch + place * job->y.place + h * job->y.head;
      rotate_row(job, job->x.data + from * job->bytes, cosines, sines, wide, job->y.data + to * job->bytes);
    }
  }
}

static rotary_job job_of(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[INPUT_X];
  const int64_t given = ND4C_INT_OF(call, rotary_embedding_heads), dim = ND4C_INT_OF(call, rotary_embedding_rotary_dim);
  rotary_job job = {.cosines = &call->inputs[INPUT_COS],
                    .sines = &call->inputs[INPUT_SIN],
                    .bytes = nd4c_cpu_dtype_bytes(x->dtype),
                    .heads = x->rank == 4 ? x->shape[1] : given,
                    .length = x->rank == 4 ? x->shape[2] : x->shape[1],
                    .features = x->rank == 4 ? x->shape[3] : x->shape[2] / given,
                    .interleaved = ND4C_FLAG_OF(call, rotary_embedding_interleaved)};
  job.pairs = (dim == 0 ? job.features : dim) / 2;
  job.rotate = x->dtype == ND4C_FLOAT32 ? nd4c_simd.rotary->float32 : nd4c_simd.rotary->float64;
  if (job.bytes == 2) {
    job.widen = nd4c_simd.cast->loops[x->dtype][ND4C_FLOAT64];
    job.narrow = nd4c_simd.cast->loops[ND4C_FLOAT64][x->dtype];
  }
  return job;
}

static int64_t id_bytes(const nd4c_call *call) {
  const nd4c_tensor *ids = nd4c_cpu_input(call, INPUT_IDS);
  return ids == NULL ? 0 : ids->size * (int64_t)sizeof(int64_t);
}

static int64_t scratch_bytes(const nd4c_call *call) {
  const rotary_job job = job_of(call);
  const int64_t wide = job.widen == NULL ? 0 : 4 * job.pairs * (int64_t)sizeof(double);
  return id_bytes(call) + wide * (call->width > 1 ? call->width : 1);
}

static nd4c_status run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[INPUT_X], *ids = nd4c_cpu_input(call, INPUT_IDS);
  rotary_job job = job_of(call);
  const int64_t places = x->shape[0] * job.length;
  job.x = heads_of(x, job.features);
  job.y = heads_of(&call->outputs[0], job.features);
  job.scratch = (double *)(void *)((char *)call->scratch + id_bytes(call));
  if (ids != NULL) {
    job.ids = nd4c_cpu_integers(ids, call->scratch);
    ND4C_BACKEND_TRY(
        nd4c_cpu_check_integers(call, "a position", job.ids, places, 0, call->inputs[INPUT_COS].shape[0] - 1));
  }
  nd4c_cpu_parallel(places, nd4c_simd_grain(job.heads * job.features), call->width, places_range, &job);
  return ND4C_OK;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[INPUT_X], *y = &call->outputs[0];
  for (int32_t i = 0; i < INPUT_IDS; i++) {
    const nd4c_tensor *input = &call->inputs[i];
    ND4C_CPU_DECLINE_IF(!nd4c_simd_dense_axis(input, input->rank - 1), "the last axis of input %s has gaps",
                        call->op->inputs[i].name);
    ND4C_CPU_DECLINE_IF(input->dtype != x->dtype, "operands of different dtypes");
  }
  ND4C_CPU_DECLINE_IF(!nd4c_simd_dense_axis(y, y->rank - 1), "the last axis of the result has gaps");
  return true;
}

const nd4c_kernel *const nd4c_cpu_simd_attention_rotary_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(rotary_embedding, ND4C_CPU_FLOATS, usable, run, .scratch_bytes = scratch_bytes), NULL};
