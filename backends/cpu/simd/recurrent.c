/* rnn, lstm and gru of engine simd: f32, with any functions. What x adds to all gates is one large
 * product for several steps. Each step adds the state's product, one block of hidden units for each worker, and applies
 * the gates while the sums are in the cache. Weights are packed by block: once if they are CONSTANT, else in each call.
 * Operands may have any strides: x and the states are read row by row where they lie, or are copied first if the
 * elements of a row have gaps. dispatch/choice.c asks these kernels. */
#include <string.h>

#include "backends/cpu/reference/work.h"
#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/gate_functions.h"
#include "backends/cpu/support/nest.h"

/* Bytes of x's part of the gates that are computed ahead: they stay in the L2 cache. */
enum { AHEAD_BYTES = 1 << 20, ROWS_TOGETHER = 32 };

typedef struct shape {
  nd4c_op op;
  bool batch_first, back_only;
  bool before_reset, reset_first; /* a gru resets what the state's product gives, or the state before its product */
  int64_t steps, batch, inputs, hidden, directions, gates;
  int64_t lanes, blocks, wide; /* wide: gates * lanes */
  int64_t ahead;               /* steps of which x's part is computed at a time */
} shape;

static shape shape_of(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[ND4C_IN_rnn_x];
  shape s = {.op = call->op->op, .batch_first = ND4C_FLAG_OF(call, rnn_batch_first)};
  int64_t direction = ND4C_INT_OF(call, rnn_direction);
  s.back_only = direction == ND4C_DIRECTION_REVERSE;
  s.directions = direction == ND4C_DIRECTION_BIDIRECTIONAL ? 2 : 1;
  s.before_reset = s.op == ND4C_OP_gru && ND4C_FLAG_OF(call, gru_linear_before_reset);
  s.reset_first = s.op == ND4C_OP_gru && !s.before_reset;
  s.steps = x->shape[s.batch_first ? 1 : 0];
  s.batch = x->shape[s.batch_first ? 0 : 1];
  s.inputs = x->shape[2];
  s.hidden = call->inputs[ND4C_IN_rnn_r].shape[2];
  s.gates = s.op == ND4C_OP_lstm ? 4 : s.op == ND4C_OP_gru ? 3 : 1;
  s.lanes = nd4c_simd.recurrent->lanes;
  s.blocks = (s.hidden + s.lanes - 1) / s.lanes;
  s.wide = s.gates * s.lanes;
  int64_t step_bytes = s.directions * s.batch * s.blocks * s.wide * (int64_t)sizeof(float);
  s.ahead = step_bytes > 0 ? AHEAD_BYTES / step_bytes : 1;
  s.ahead = s.ahead < 1 ? 1 : s.ahead > s.steps ? s.steps : s.ahead;
  return s;
}

static bool has_dense_rows(const nd4c_tensor *x) {
  return x->shape[x->rank - 1] == 1 || x->strides[x->rank - 1] == 1;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  bool is_lstm = call->op->op == ND4C_OP_lstm;
  ND4C_CPU_DECLINE_IF(
      is_lstm && (nd4c_cpu_input(call, ND4C_IN_lstm_peepholes) != NULL || ND4C_FLAG_OF(call, lstm_input_forget)),
      "peepholes or input_forget");
  for (int32_t i = 0; i < call->input_count; i++) {
    const nd4c_tensor *x = i == ND4C_IN_rnn_sequence_lengths ? NULL : nd4c_cpu_input(call, i);
    const char *name = call->op->inputs[i].name;
    ND4C_CPU_DECLINE_IF(x != NULL && x->dtype != ND4C_FLOAT32, "%s is not float32", name);
    ND4C_CPU_DECLINE_IF(x != NULL && x->size == 0, "%s is empty", name);
    const bool copied = i <= ND4C_IN_rnn_r && (i != ND4C_IN_rnn_x || !has_dense_rows(x));
    ND4C_CPU_DECLINE_IF(copied && x->size / ND4C_MOST_COPIES > nd4c_memory_span(x),
                        "%s has more than %d elements for each one in memory", name, ND4C_MOST_COPIES);
  }
  static const char *const results[] = {"y", "h", "c"};
  for (int32_t i = 0; i < call->output_count; i++) {
    ND4C_CPU_DECLINE_IF(call->outputs[i].size == 0, "%s is empty", results[i]);
    ND4C_CPU_DECLINE_IF(!has_dense_rows(&call->outputs[i]), "the last axis of %s has gaps", results[i]);
  }
  return true;
}

/* -- weights ---------------------------------------------------------------------------------------------------- */

/* Layout of packed weights: for each direction and block w's panels, then r's. If a gru resets before the product, r's
 * hidden gate is separate. */
static int64_t block_numbers(const shape *s) {
  return s->wide * (s->inputs + s->hidden);
}

static int64_t packed_bytes(const shape *s) {
  return s->directions * s->blocks * block_numbers(s) * (int64_t)sizeof(float);
}

typedef struct pack_job {
  const shape *s;
  const nd4c_tensor *w, *r;
  float *to;
} pack_job;

/* Packs `gates` gates of a block of units, from the gate `first` on. */
static void pack_gates(const shape *s, const nd4c_tensor *weights, int64_t block, int64_t first, int64_t gates,
                       float *to) {
  int64_t unit = block % s->blocks * s->lanes, row = weights->strides[1];
  int64_t units = s->hidden - unit < s->lanes ? s->hidden - unit : s->lanes;
  const float *from =
      (const float *)weights->data + block / s->blocks * weights->strides[0] + (first * s->hidden + unit) * row;
  nd4c_simd.recurrent->pack(gates, units, weights->shape[2], from, s->hidden * row, row, weights->strides[2], to);
}

static void pack_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const pack_job *j = user;
  const shape *s = j->s;
  (void)worker;
  for (int64_t index = begin; index < end; index++) {
    float *to = j->to + index * block_numbers(s);
    pack_gates(s, j->w, index, 0, s->gates, to);
    to += s->wide * s->inputs;
    int64_t first = s->reset_first ? 2 : s->gates;
    pack_gates(s, j->r, index, 0, first, to);
    if (first < s->gates) {
      pack_gates(s, j->r, index, first, 1, to + first * s->lanes * s->hidden);
    }
  }
}

static void pack_weights(const nd4c_call *call, const shape *s, float *to) {
  pack_job j = {s, &call->inputs[ND4C_IN_rnn_w], &call->inputs[ND4C_IN_rnn_r], to};
  nd4c_cpu_parallel(s->directions * s->blocks, 1, call->width, pack_range, &j);
}

typedef struct state {
  float *packed; /* in `held`; NULL: packed in each run */
  nd4c_cpu_held held;
} state;

static bool is_constant(const nd4c_tensor *x) {
  return (x->flags & ND4C_TENSOR_CONSTANT) != 0 && x->data != NULL;
}

static nd4c_status prepare(const nd4c_call *call, void **result) {
  shape s = shape_of(call);
  state *st = nd4c_cpu_host->allocate(sizeof *st);
  ND4C_CPU_FAIL_IF(st == NULL, ND4C_MEMORY, "%s: no memory for its prepared state", call->op->name);
  if (is_constant(&call->inputs[ND4C_IN_rnn_w]) && is_constant(&call->inputs[ND4C_IN_rnn_r])) {
    nd4c_status status = nd4c_cpu_hold(call, (size_t)packed_bytes(&s), "packed weights", &st->held);
    if (status != ND4C_OK) {
      nd4c_cpu_host->free(st);
      return status;
    }
    st->packed = st->held.memory;
    pack_weights(call, &s, st->packed);
  }
  *result = st;
  return ND4C_OK;
}

static void unprepare(void *result) {
  state *st = result;
  nd4c_cpu_let_go(&st->held);
  nd4c_cpu_host->free(st);
}

/* -- memory ----------------------------------------------------------------------------------------------------- */

/* Parts of the scratch memory, in bytes from its start. */
typedef struct places {
  int64_t packed, x, h, ahead, zeros, bias, z, reset, lengths, workers, worker_bytes, end;
} places;

static int64_t take(int64_t *end, int64_t numbers) {
  int64_t at = *end;
  *end += (numbers * (int64_t)sizeof(float) + 63) / 64 * 64;
  return at;
}

static int64_t copied_numbers(const nd4c_tensor *x) {
  return x == NULL || has_dense_rows(x) ? 0 : x->size;
}

static places places_of(const nd4c_call *call, const shape *s) {
  const state *st = call->state;
  places p = {0};
  p.packed = take(&p.end, st->packed == NULL ? packed_bytes(s) / (int64_t)sizeof(float) : 0);
  p.ahead = take(&p.end, s->directions * s->ahead * s->batch * s->blocks * s->wide);
  p.x = take(&p.end, copied_numbers(&call->inputs[ND4C_IN_rnn_x]));
  p.h = take(&p.end, copied_numbers(nd4c_cpu_input(call, ND4C_IN_rnn_initial_h)));
  p.zeros = take(&p.end, s->hidden);
  p.bias = take(&p.end, s->directions * 2 * s->blocks * s->wide);
  p.z = take(&p.end, s->directions * s->batch * s->blocks * s->lanes);
  p.reset = take(&p.end, s->directions * s->batch * s->blocks * s->lanes);
  p.lengths = take(&p.end, 2 * s->batch);
  p.worker_bytes = ROWS_TOGETHER * s->wide * (int64_t)sizeof(float);
  p.workers = take(&p.end, (call->width > 1 ? call->width : 1) * ROWS_TOGETHER * s->wide);
  return p;
}

static int64_t scratch_bytes(const nd4c_call *call) {
  shape s = shape_of(call);
  return places_of(call, &s).end;
}

/* x or a state: rows without gaps, one for each sequence and step of x, or each sequence and direction of a state. */
typedef struct rows {
  float *data;
  int64_t sequence, other; /* strides */
} rows;

static rows rows_of(const shape *s, const nd4c_tensor *x) {
  const int32_t sequence = s->batch_first ? 0 : 1;
  return (rows){.data = x->data, .sequence = x->strides[sequence], .other = x->strides[1 - sequence]};
}

/* Of the operand where it lies, or else of its copy at `to`. */
static rows rows_to_read(const shape *s, const nd4c_tensor *x, void *to, int32_t width) {
  int64_t dense[3];
  nd4c_tensor copy = *x;
  if (!has_dense_rows(x)) {
    nd4c_dense_strides(x->rank, x->shape, dense);
    copy.strides = dense;
    copy.data = to;
    nd4c_nest_copy_tensor(x, &copy, width);
  }
  return rows_of(s, &copy);
}

/* -- steps ------------------------------------------------------------------------------------------------------ */

/* One piece of a step: some sequences, one block of units. */
typedef struct piece {
  int64_t row, rows, unit, units;
  const float *r, *x, *before; /* r: packed; x: its part of the gates */
  float *gates;
} piece;

/* One direction of a call. Sequences are batch_step apart in y, before and c. */
typedef struct job {
  shape s;
  const float *x, *packed, *x_bias, *r_bias; /* biases as [block][gate][lane]; r_bias NULL: x_bias includes it */
  float *ahead;                              /* [block][step][sequence][gate][lane] */
  int64_t first, count;                      /* steps whose part of x is there, in time */
  int64_t x_time, x_sequence;                /* strides */
  const int64_t *lengths;                    /* by sequence; NULL: all have all steps */
  nd4c_recurrent_function functions[3];      /* as the kernels count them */
  int64_t time;
  const float *before;
  bool back;
  float *y, *y_first, *c, *z, *reset; /* y: of this step; y_first: of the first in time */
  int64_t y_time;
  int64_t before_step, y_step, c_step;
} job;

/* The directions that take a step at the same time, so that threads meet once for all of them. */
typedef struct team {
  job jobs[2];
  int64_t directions;
  char *workers; /* of worker 0 */
  int64_t worker_bytes;
  void (*run_piece)(const job *j, const piece *p);
} team;

/* x's part of the gates of pieces [begin, end) of the steps ahead: the blocks of one direction, then of the other. */
static void project_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const team *both = user;
  const shape *s = &both->jobs[0].s;
  (void)worker;
  for (int64_t index = begin; index < end; index++) {
    const job *j = &both->jobs[index / s->blocks];
    int64_t block = index % s->blocks;
    const float *packed = j->packed + block * block_numbers(s), *bias = j->x_bias + block * s->wide;
    const float *x = j->x + j->first * j->x_time;
    float *to = j->ahead + block * s->ahead * s->batch * s->wide;
    if (j->x_time == s->batch * j->x_sequence) { /* all rows are evenly spaced */
      nd4c_simd.recurrent->product(j->count * s->batch, s->gates, s->inputs, x, j->x_sequence, packed, bias, 0, to,
                                   s->wide);
    } else if (s->batch > j->count) {
      for (int64_t t = 0; t < j->count; t++) {
        nd4c_simd.recurrent->product(s->batch, s->gates, s->inputs, x + t * j->x_time, j->x_sequence, packed, bias, 0,
                                     to + t * s->batch * s->wide, s->wide);
      }
    } else {
      for (int64_t i = 0; i < s->batch; i++) {
        nd4c_simd.recurrent->product(j->count, s->gates, s->inputs, x + i * j->x_sequence, j->x_time, packed, bias, 0,
                                     to + i * s->wide, s->batch * s->wide);
      }
    }
  }
}

static piece piece_of(const job *j, int64_t block, int64_t row, float *gates) {
  const shape *s = &j->s;
  piece p = {.row = row, .unit = block * s->lanes};
  p.rows = s->batch - row < ROWS_TOGETHER ? s->batch - row : ROWS_TOGETHER;
  p.units = s->hidden - p.unit < s->lanes ? s->hidden - p.unit : s->lanes;
  p.r = j->packed + block * block_numbers(s) + s->wide * s->inputs;
  p.x = j->ahead + ((block * s->ahead + j->time - j->first) * s->batch + row) * s->wide;
  p.before = j->before + row * j->before_step;
  p.gates = gates;
  return p;
}

static void pieces_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const team *both = user;
  const shape *s = &both->jobs[0].s;
  float *gates = (float *)(void *)(both->workers + worker * both->worker_bytes);
  for (int64_t index = begin; index < end; index++) {
    const job *j = &both->jobs[index / s->blocks];
    for (int64_t row = 0; row < s->batch; row += ROWS_TOGETHER) {
      const piece p = piece_of(j, index % s->blocks, row, gates);
      both->run_piece(j, &p);
    }
  }
}

static void run_pieces(team *both, int64_t grain, int32_t width, void (*run_piece)(const job *, const piece *)) {
  const shape *s = &both->jobs[0].s;
  both->run_piece = run_piece;
  nd4c_cpu_parallel(both->directions * s->blocks, grain, width, pieces_range, both);
}

static void rnn_piece(const job *j, const piece *p) {
  const shape *s = &j->s;
  nd4c_simd.recurrent->product(p->rows, 1, s->hidden, p->before, j->before_step, p->r, p->x, s->wide, p->gates,
                               s->wide);
  nd4c_simd.recurrent->rnn(p->rows, p->units, j->functions, p->gates, s->wide, j->y + p->row * j->y_step + p->unit,
                           j->y_step);
}

static void lstm_piece(const job *j, const piece *p) {
  const shape *s = &j->s;
  nd4c_simd.recurrent->product(p->rows, 4, s->hidden, p->before, j->before_step, p->r, p->x, s->wide, p->gates,
                               s->wide);
  nd4c_simd.recurrent->lstm(p->rows, p->units, j->functions, p->gates, s->wide, j->c + p->row * j->c_step + p->unit,
                            j->c_step, j->y + p->row * j->y_step + p->unit, j->y_step);
}

/* The state's part of the hidden gate starts from its own bias; it is reset before x's part is added. */
static void gru_piece(const job *j, const piece *p) {
  const shape *s = &j->s;
  const float *bias = j->r_bias + p->unit / s->lanes * s->wide;
  nd4c_simd.recurrent->product(p->rows, 3, s->hidden, p->before, j->before_step, p->r, bias, 0, p->gates, s->wide);
  for (int64_t i = 0; i < p->rows; i++) {
    float *gates = p->gates + i * s->wide;
    const float *x = p->x + i * s->wide;
    for (int64_t l = 0; l < 2 * s->lanes; l++) {
      gates[l] += x[l];
    }
  }
  nd4c_simd.recurrent->gru(p->rows, p->units, j->functions, p->gates, s->wide, p->x + 2 * s->lanes, s->wide,
                           p->before + p->unit, j->before_step, j->y + p->row * j->y_step + p->unit, j->y_step);
}

/* Resets the state before it is multiplied; the product needs the whole state, so this is a pass before it. */
static void reset_piece(const job *j, const piece *p) {
  const shape *s = &j->s;
  int64_t stride = s->blocks * s->lanes, at = p->row * stride + p->unit;
  nd4c_simd.recurrent->product(p->rows, 2, s->hidden, p->before, j->before_step, p->r, p->x, s->wide, p->gates,
                               s->wide);
  nd4c_simd.recurrent->gru_reset(p->rows, p->units, j->functions, p->gates, s->wide, p->before + p->unit,
                                 j->before_step, j->z + at, j->reset + at, stride);
}

static void update_piece(const job *j, const piece *p) {
  const shape *s = &j->s;
  int64_t stride = s->blocks * s->lanes;
  nd4c_simd.recurrent->product(p->rows, 1, s->hidden, j->reset + p->row * stride, stride,
                               p->r + 2 * s->lanes * s->hidden, p->x + 2 * s->lanes, s->wide, p->gates, s->wide);
  nd4c_simd.recurrent->gru_update(p->rows, p->units, j->functions, p->gates, s->wide, j->z + p->row * stride + p->unit,
                                  stride, p->before + p->unit, j->before_step, j->y + p->row * j->y_step + p->unit,
                                  j->y_step);
}

static void run_step(team *both, int32_t width) {
  const shape *s = &both->jobs[0].s;
  int64_t grain = 32768 / (s->batch * s->wide * s->hidden + 1) + 1;
  if (s->op == ND4C_OP_rnn) {
    run_pieces(both, grain, width, rnn_piece);
  } else if (s->op == ND4C_OP_lstm) {
    run_pieces(both, grain, width, lstm_piece);
  } else if (s->before_reset) {
    run_pieces(both, grain, width, gru_piece);
  } else {
    run_pieces(both, grain, width, reset_piece);
    run_pieces(both, grain, width, update_piece);
  }
}

/* Orders the biases by block. The biases of w and r are added, except for a hidden gate whose state part is reset
 * separately. */
static void take_biases(const shape *s, const float *given, int64_t step, float *x_bias, float *r_bias) {
  int64_t numbers = s->gates * s->hidden;
  memset(x_bias, 0, (size_t)(s->blocks * s->wide) * sizeof(float));
  memset(r_bias, 0, (size_t)(s->blocks * s->wide) * sizeof(float));
  for (int64_t row = 0; given != NULL && row < numbers; row++) {
    int64_t gate = row / s->hidden, unit = row % s->hidden;
    int64_t at = unit / s->lanes * s->wide + gate * s->lanes + unit % s->lanes;
    float of_x = given[row * step], of_r = given[(numbers + row) * step];
    bool apart = s->before_reset && gate == 2;
    x_bias[at] = apart ? of_x : of_x + of_r;
    r_bias[at] = apart ? of_r : 0;
  }
}

/* A direction's steps and states in the call's operands. */
static void place_direction(const nd4c_call *call, job *j, int64_t direction, const rows *x, const rows *initial) {
  const shape *s = &j->s;
  const nd4c_tensor *y = &call->outputs[0];
  j->back = s->back_only || direction == 1;
  j->x = x->data;
  j->x_time = x->other;
  j->x_sequence = x->sequence;
  j->y_time = y->strides[s->batch_first ? 1 : 0];
  j->y_step = y->strides[s->batch_first ? 0 : 2];
  j->y_first = (float *)y->data + direction * y->strides[s->batch_first ? 2 : 1];
  j->before = initial->data + direction * initial->other;
  j->before_step = initial->sequence;
  if (s->op == ND4C_OP_lstm) {
    const rows c = rows_of(s, &call->outputs[2]);
    j->c = c.data + direction * c.other;
    j->c_step = c.sequence;
  }
}

/* -- sequences of their own lengths: they take no part in the steps beyond them ------------------------------------ */

/* The lengths as int64. */
static nd4c_status read_lengths(const nd4c_call *call, const shape *s, int64_t *lengths) {
  const nd4c_tensor *given = &call->inputs[ND4C_IN_rnn_sequence_lengths];
  for (int64_t i = 0; i < s->batch; i++) {
    const int64_t at = i * given->strides[0];
    lengths[i] = given->dtype == ND4C_INT32 ? ((const int32_t *)given->data)[at] : ((const int64_t *)given->data)[at];
  }
  return nd4c_cpu_check_integers(call, "a sequence length", lengths, s->batch, 0, s->steps);
}

static bool is_over(const job *j, int64_t sequence) {
  return j->lengths != NULL && j->time >= j->lengths[sequence];
}

/* Before a step: the cells of sequences that are over, to z, which lstm does not use. */
static void save_cells(const job *j) {
  const shape *s = &j->s;
  for (int64_t i = 0; i < s->batch && j->c != NULL; i++) {
    if (is_over(j, i)) {
      memcpy(j->z + i * s->hidden, j->c + i * j->c_step, (size_t)s->hidden * sizeof(float));
    }
  }
}

/* After it: they keep their states. y holds the state until the last step has read it. */
static void keep_states(const job *j) {
  const shape *s = &j->s;
  const size_t bytes = (size_t)s->hidden * sizeof(float);
  for (int64_t i = 0; i < s->batch; i++) {
    if (is_over(j, i)) {
      memcpy(j->y + i * j->y_step, j->before + i * j->before_step, bytes);
    }
    if (is_over(j, i) && j->c != NULL) {
      memcpy(j->c + i * j->c_step, j->z + i * s->hidden, bytes);
    }
  }
}

/* At the end: their results are 0. */
static void clear_results(const job *j) {
  const shape *s = &j->s;
  for (int64_t i = 0; i < s->batch && j->lengths != NULL; i++) {
    for (int64_t t = j->lengths[i]; t < s->steps; t++) {
      memset(j->y_first + t * j->y_time + i * j->y_step, 0, (size_t)s->hidden * sizeof(float));
    }
  }
}

static void run_steps(team *both, int32_t width) {
  const shape *s = &both->jobs[0].s;
  for (int64_t step = 0; step < s->steps; step++) {
    for (int64_t d = 0; d < both->directions; d++) {
      job *j = &both->jobs[d];
      j->time = j->back ? s->steps - 1 - step : step;
      if (step % s->ahead == 0) {
        j->count = s->steps - step < s->ahead ? s->steps - step : s->ahead;
        j->first = j->back ? j->time - j->count + 1 : j->time;
      }
      j->y = j->y_first + j->time * j->y_time;
    }
    if (step % s->ahead == 0) {
      nd4c_cpu_parallel(both->directions * s->blocks, 1, width, project_range, both);
    }
    for (int64_t d = 0; d < both->directions; d++) {
      save_cells(&both->jobs[d]);
    }
    run_step(both, width);
    for (int64_t d = 0; d < both->directions; d++) {
      keep_states(&both->jobs[d]);
      both->jobs[d].before = both->jobs[d].y;
      both->jobs[d].before_step = both->jobs[d].y_step;
    }
  }
}

/* Takes all steps of directions [begin, end), each on this thread alone. */
static void directions_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  team *both = user;
  (void)worker;
  for (int64_t d = begin; d < end; d++) {
    team one = {.jobs = {both->jobs[d]}, .directions = 1, .workers = both->workers + d * both->worker_bytes};
    run_steps(&one, 1);
    both->jobs[d] = one.jobs[0];
  }
}

/* The cells begin in their result. `zero`: where they are not given. */
static void start_cells(const nd4c_call *call, float *zero) {
  static const int64_t repeated[3] = {0, 0, 0};
  const nd4c_tensor *given = nd4c_cpu_input(call, ND4C_IN_lstm_initial_c), *to = &call->outputs[2];
  nd4c_tensor zeros = *to;
  zeros.strides = repeated;
  zeros.data = zero;
  nd4c_nest_copy_tensor(given != NULL ? given : &zeros, to, call->width);
}

/* Those of one direction: as given, or sigmoid for the gates and tanh for all else. */
static void choose_functions(const nd4c_call *call, int64_t direction, nd4c_recurrent_function functions[3]) {
  const int32_t count = call->op->op == ND4C_OP_lstm ? 3 : call->op->op == ND4C_OP_gru ? 2 : 1;
  for (int32_t i = 0; i < count; i++) {
    const int32_t index = (int32_t)direction * count + i;
    const bool is_gate = i == 0 && count > 1;
    nd4c_cpu_gate_function f = {is_gate ? ND4C_RECURRENT_ACTIVATION_SIGMOID : ND4C_RECURRENT_ACTIVATION_TANH, 0, 0};
    if (index < nd4c_cpu_gate_functions_count(call)) {
      f = nd4c_cpu_gate_function_at(call, index);
    }
    functions[i] = (nd4c_recurrent_function){f.kind, f.alpha, f.beta, (float)ND4C_REAL_OF(call, rnn_clip)};
  }
}

static void start_direction(const nd4c_call *call, const places *p, int64_t direction, job *j) {
  const shape *s = &j->s;
  const nd4c_tensor *bias = nd4c_cpu_input(call, ND4C_IN_rnn_bias);
  char *scratch = call->scratch;
  const int64_t states = s->batch * s->blocks * s->lanes;
  float *x_bias = (float *)(void *)(scratch + p->bias) + direction * 2 * s->blocks * s->wide;
  float *r_bias = x_bias + s->blocks * s->wide;
  const float *given = bias != NULL ? (const float *)bias->data + direction * bias->strides[0] : NULL;
  take_biases(s, given, bias != NULL ? bias->strides[1] : 0, x_bias, r_bias);
  j->x_bias = x_bias;
  j->r_bias = r_bias;
  j->ahead = (float *)(void *)(scratch + p->ahead) + direction * s->ahead * s->batch * s->blocks * s->wide;
  j->z = (float *)(void *)(scratch + p->z) + direction * states;
  j->reset = (float *)(void *)(scratch + p->reset) + direction * states;
}

static void finish_direction(const nd4c_call *call, int64_t direction, const job *j) {
  const shape *s = &j->s;
  const rows h = rows_of(s, &call->outputs[1]);
  for (int64_t i = 0; i < s->batch; i++) {
    memcpy(h.data + direction * h.other + i * h.sequence, j->before + i * j->before_step,
           (size_t)s->hidden * sizeof(float));
  }
  clear_results(j);
}

static nd4c_status run(const nd4c_call *call) {
  const state *st = call->state;
  const shape s = shape_of(call);
  const places p = places_of(call, &s);
  char *scratch = call->scratch;
  const nd4c_tensor *h = nd4c_cpu_input(call, ND4C_IN_rnn_initial_h);
  int64_t *lengths = NULL;
  if (nd4c_cpu_input(call, ND4C_IN_rnn_sequence_lengths) != NULL) {
    lengths = (int64_t *)(void *)(scratch + p.lengths);
    ND4C_BACKEND_TRY(read_lengths(call, &s, lengths));
  }
  float *packed = st->packed, *zeros = (float *)(void *)(scratch + p.zeros);
  if (packed == NULL) {
    packed = (float *)(void *)(scratch + p.packed);
    pack_weights(call, &s, packed);
  }
  memset(zeros, 0, (size_t)s.hidden * sizeof(float));
  const rows x = rows_to_read(&s, &call->inputs[ND4C_IN_rnn_x], scratch + p.x, call->width);
  const rows initial = h != NULL ? rows_to_read(&s, h, scratch + p.h, call->width) : (rows){.data = zeros};
  if (s.op == ND4C_OP_lstm) {
    start_cells(call, zeros);
  }
  team both = {.directions = s.directions, .workers = scratch + p.workers, .worker_bytes = p.worker_bytes};
  for (int64_t direction = 0; direction < s.directions; direction++) {
    job *j = &both.jobs[direction];
    *j = (job){.s = s, .packed = packed + direction * s.blocks * block_numbers(&s), .lengths = lengths};
    choose_functions(call, direction, j->functions);
    start_direction(call, &p, direction, j);
    place_direction(call, j, direction, &x, &initial);
  }
  if (call->width == s.directions) { /* a thread for each: the directions need not meet at all */
    nd4c_cpu_parallel(s.directions, 1, call->width, directions_range, &both);
  } else {
    run_steps(&both, call->width);
  }
  for (int64_t direction = 0; direction < s.directions; direction++) {
    finish_direction(call, direction, &both.jobs[direction]);
  }
  return ND4C_OK;
}

#define KERNEL(op)                                                                                                \
  ND4C_CPU_SIMD_KERNEL(op, ND4C_DTYPE_BIT(ND4C_FLOAT32), usable, run, .prepare = prepare, .unprepare = unprepare, \
                       .scratch_bytes = scratch_bytes)

const nd4c_kernel *const nd4c_cpu_simd_recurrent_kernels[] = {KERNEL(rnn), KERNEL(lstm), KERNEL(gru), NULL};
