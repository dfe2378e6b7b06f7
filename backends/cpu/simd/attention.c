/* attention of engine simd, without a matrix of scores. Panels of queries that read the same head of k and v are shared
 * out among the workers. dispatch/choice.c asks this kernel before the reference's. */
#include "backends/cpu/reference/reference.h"
#include "backends/cpu/simd/attention_operands.h"

/* Multiplications that are worth another worker. */
enum { GRAIN = 1 << 18 };

typedef struct work {
  nd4c_attention_job job;
  char *buffers;
} work;

static void panel_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const work *w = user;
  nd4c_attend_panel panel = w->job.start;
  for (int64_t index = begin; index < end; index++) {
    nd4c_attention_attend(&w->job, index, &panel, w->buffers + worker * w->job.buffer_bytes);
  }
}

static int64_t workers_of(const nd4c_call *call) {
  return call->width > 1 ? call->width : 1;
}

/* Buffers of all workers, then the lengths. */
static int64_t scratch_bytes(const nd4c_call *call) {
  const nd4c_attention_job j = nd4c_attention_read(call);
  return workers_of(call) * j.buffer_bytes + j.batch * (int64_t)sizeof(int64_t);
}

static nd4c_status run(const nd4c_call *call) {
  work w = {.job = nd4c_attention_read(call), .buffers = call->scratch};
  const nd4c_attention_job *j = &w.job;
  int64_t *lengths = (int64_t *)(void *)(w.buffers + workers_of(call) * j->buffer_bytes);
  ND4C_BACKEND_TRY(nd4c_attention_read_lengths(call, lengths, &w.job));
  int64_t multiplications = j->keys * (j->start.head + j->start.v_head) * j->panel_rows;
  nd4c_cpu_parallel(j->batch * j->kv_heads * j->panels, GRAIN / (multiplications + 1) + 1, call->width, panel_range,
                    &w);
  return ND4C_OK;
}

const nd4c_kernel *const nd4c_cpu_simd_attention_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(attention, ND4C_CPU_FLOATS, nd4c_attention_usable, run, .scratch_bytes = scratch_bytes), NULL};
