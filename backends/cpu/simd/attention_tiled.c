/* attention of engine simd in bfloat16 by tiles (AMX), if the caller asked for a reduced precision. Panels of queries
 * are shared out among the workers, each of which packs the keys and values that it reads. dispatch/choice.c asks this
 * kernel before that of simd/attention.c, which also computes what is not finite here. */
#include "backends/cpu/reference/reference.h"
#include "backends/cpu/simd/attention_operands.h"

/* GRAIN: multiplications that are worth another worker. SHORT: rows of a panel where there are few panels for each
 * worker; results do not depend on it. */
enum { GRAIN = 1 << 21, SHORT = ND4C_TILED_GROUP };

typedef struct work {
  nd4c_attention_job job;
  int64_t panel_rows, panels, tiled_bytes, worker_bytes;
  char *buffers; /* of a worker: tiled_bytes, then those of the job's loops */
} work;

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF((call->flags & ND4C_CALL_REDUCED) == 0, "no reduced precision is asked for");
  ND4C_CPU_DECLINE_IF(!nd4c_simd.tiled->exists, "level %s has no tiles", nd4c_simd.level);
  if (!nd4c_attention_usable(call, reason, reason_size)) {
    return false;
  }
  ND4C_CPU_DECLINE_IF(!nd4c_simd_multiplies_pairs || !nd4c_simd_multiplies_tiles,
                      "the processor does not multiply tiles of bfloat16 (AMX)");
  ND4C_CPU_DECLINE_IF(!nd4c_simd_may_use_tiles(), "the system lets this process use no tiles (AMX)");
  return true;
}

/* -- panels ----------------------------------------------------------------------------------------------------- */

/* Groups of queries that are refused are computed again: they are the panels of the loops. */
static void compute_again(const work *w, int64_t index, uint32_t groups, nd4c_attend_panel *panel, void *buffer) {
  const int64_t first = index / w->panels * w->job.panels + index % w->panels * (w->panel_rows / ND4C_TILED_GROUP);
  for (int64_t group = 0; groups >> group != 0; group++) {
    if ((groups >> group & 1) != 0) {
      nd4c_attention_attend(&w->job, first + group, panel, buffer);
    }
  }
}

static void panel_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const work *w = user;
  const nd4c_attention_job *j = &w->job;
  char *buffer = w->buffers + worker * w->worker_bytes;
  nd4c_attend_panel operands = j->start;
  nd4c_tiled_panel panel = {.operands = &operands, .keys = j->keys};
  for (int64_t index = begin; index < end; index++) {
    const int64_t first = index % w->panels * w->panel_rows, left = j->rows - first;
    panel.number = index / w->panels;
    panel.queries = left < w->panel_rows ? left : w->panel_rows;
    nd4c_attention_find_keys(j, panel.number, &operands);
    nd4c_attention_find_lanes(j, panel.number, first, panel.queries, panel.query);
    const uint32_t refused = nd4c_simd.tiled->attend(&panel, buffer);
    if (refused != 0) {
      compute_again(w, index, refused, &operands, buffer + w->tiled_bytes);
    }
  }
}

/* -- the call --------------------------------------------------------------------------------------------------- */

static int64_t workers_of(const nd4c_call *call) {
  return call->width > 1 ? call->width : 1;
}

static work work_of(const nd4c_call *call) {
  work w = {.job = nd4c_attention_read(call), .panel_rows = ND4C_TILED_QUERIES, .buffers = call->scratch};
  const nd4c_attention_job *j = &w.job;
  nd4c_attention_divide(&w.job, ND4C_TILED_GROUP); /* compute_again counts so */
  if (j->batch * j->kv_heads * j->rows < 4 * ND4C_TILED_QUERIES * workers_of(call)) {
    w.panel_rows = SHORT;
  }
  w.panels = (j->rows + w.panel_rows - 1) / w.panel_rows;
  w.tiled_bytes = nd4c_simd.tiled->buffer_bytes(j->start.head, j->start.v_head, j->keys);
  w.worker_bytes = w.tiled_bytes + j->buffer_bytes;
  return w;
}

/* Buffers of all workers, then the lengths. */
static int64_t scratch_bytes(const nd4c_call *call) {
  const work w = work_of(call);
  return workers_of(call) * w.worker_bytes + w.job.batch * (int64_t)sizeof(int64_t);
}

static nd4c_status run(const nd4c_call *call) {
  work w = work_of(call);
  const nd4c_attention_job *j = &w.job;
  int64_t *lengths = (int64_t *)(void *)(w.buffers + workers_of(call) * w.worker_bytes);
  ND4C_BACKEND_TRY(nd4c_attention_read_lengths(call, lengths, &w.job));
  for (int64_t worker = 0; worker < workers_of(call); worker++) {
    nd4c_simd.tiled->start(j->start.head, j->start.v_head, j->keys, w.buffers + worker * w.worker_bytes);
  }
  const int64_t multiplications = j->keys * (j->start.head + j->start.v_head) * w.panel_rows;
  nd4c_cpu_parallel(j->batch * j->kv_heads * w.panels, GRAIN / (multiplications + 1) + 1, call->width, panel_range, &w);
  return ND4C_OK;
}

const nd4c_kernel *const nd4c_cpu_simd_attention_tiled_kernels[] = {
    ND4C_CPU_KERNEL("simd", attention, "attention_tiled", ND4C_SIMD_PRIORITY + 1, ND4C_DTYPE_BIT(ND4C_BFLOAT16), usable,
                    run, .scratch_bytes = scratch_bytes),
    NULL};
