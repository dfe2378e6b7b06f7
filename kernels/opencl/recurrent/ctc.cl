/* Connectionist temporal classification (Graves et al. 2006) and prefix beam search (Hannun et al. 2014): in most
 * kernels a group per sequence. Strides of x: [step, sequence, class]. A sequence whose length or targets are out of
 * range reports it and is not read. families/recurrent_ctc.c launches these. */

typedef struct {
  long steps, batch, classes, blank, x[3], lengths;
  int has_lengths, unused;
} sequences;

/* ln(e^a + e^b) */
static inline REAL log_add(REAL a, REAL b) {
  REAL high = a > b ? a : b, low = a > b ? b : a;
  if (isnan(a) || isnan(b)) return NAN;
  return isinf(high) ? high : high + log1p(exp(low - high));
}

/* Steps of a sequence; -1, told, if they are out of range. */
static inline long length_of(const sequences *s, __global const STORAGE(E) *lengths, long lengths0, long sequence,
                             __global int *fault) {
  if (!s->has_lengths) return s->steps;
  long length = (long)LOAD(E, lengths, lengths0 + sequence * s->lengths);
  if (length >= 0 && length <= s->steps) return length;
  nd4c_fault_index(fault, length, s->steps + 1);
  return -1;
}

#ifdef CTC_loss
/* Label number i of the target with blanks between and around. */
static inline long label_at(__global const STORAGE(B) *targets, long targets0, long step, long blank, long i) {
  return i % 2 == 0 ? blank : (long)LOAD(B, targets, targets0 + i / 2 * step);
}

/* The probability of every prefix of the target after each step; losses[sequence] in the end. `alphas`: two rows of `most`
 * numbers a sequence. */
__kernel void ctc_alignments(sequences s, __global const STORAGE(A) *x, long x0, __global const STORAGE(E) *lengths,
                             long lengths0, __global const STORAGE(B) *targets, long targets0, long target_row,
                             long target_step, __global const STORAGE(C) *target_lengths, long target_lengths0,
                             long target_lengths_step, long longest, __global REAL *losses, long alphas0, int zero,
                             __global int *fault, __local int *bad) {
  int lane = get_local_id(0), lanes = get_local_size(0);
  long sequence = get_group_id(0), length = length_of(&s, lengths, lengths0, sequence, fault);
  long target = (long)LOAD(C, target_lengths, target_lengths0 + sequence * target_lengths_step);
  bool fits = length >= 0 && target >= 0 && target <= longest;
  if (length >= 0 && !fits) nd4c_fault_index(fault, target, longest + 1);
  long places = fits ? 2 * target + 1 : 0, most = 2 * longest + 1;
  __global REAL *now = losses + alphas0 + 2 * sequence * most, *next = now + most;
  x0 += sequence * s.x[1];
  targets0 += sequence * target_row;
  if (lane == 0) *bad = !fits;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (long i = lane; i < places; i += lanes) {
    long label = label_at(targets, targets0, target_step, s.blank, i);
    if (label < 0 || label >= s.classes) {
      nd4c_fault_index(fault, label, s.classes);
      *bad = 1;
    }
    now[i] = i == 0 ? (REAL)0 : -INFINITY; /* before the first step: at the first blank, not yet emitted */
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  if (*bad) length = places = 0;
  for (long t = 0; t < length; t++) {
    for (long i = lane; i < places; i += lanes) {
      long label = label_at(targets, targets0, target_step, s.blank, i);
      REAL sum = now[i];
      if (i > 0) sum = log_add(sum, now[i - 1]);
      if (i > 1 && label != s.blank && label != label_at(targets, targets0, target_step, s.blank, i - 2))
        sum = log_add(sum, now[i - 2]);
      if (t == 0) sum = i < 2 ? (REAL)0 : -INFINITY; /* a first label stands at the first or second place alone */
      next[i] = sum + (REAL)LOAD(A, x, x0 + t * s.x[0] + label * s.x[2]);
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    __global REAL *swap = now;
    now = next;
    next = swap;
  }
  if (lane == 0) {
    REAL score = length == 0 && places != 1 ? -INFINITY
                 : places == 1              ? now[0]
                                            : log_add(now[places - 1], now[places - 2]);
    losses[sequence] = zero && isinf(score) ? (REAL)0 : -score;
  }
}

/* One work item. reduction 0: the losses themselves, 1: their sum, 2: the mean of loss / target length. */
__kernel void ctc_losses(__global const REAL *losses, long batch, __global const STORAGE(C) *target_lengths,
                         long target_lengths0, long target_lengths_step, int reduction, __global STORAGE(Y) *y, long y0,
                         long y_step) {
  REAL sum = 0;
  if (get_global_id(0) > 0) return;
  for (long i = 0; i < batch; i++) {
    long length = (long)LOAD(C, target_lengths, target_lengths0 + i * target_lengths_step);
    if (reduction == 0) SAVE(Y, y, y0 + i * y_step, ROUND(Y, losses[i]));
    sum += losses[i] / (REAL)(reduction == 2 && length > 1 ? length : 1);
  }
  if (reduction != 0) SAVE(Y, y, y0, ROUND(Y, reduction == 2 ? sum / (REAL)batch : sum));
}
#endif

#ifdef CTC_greedy
/* The likeliest class of each step; the first NaN is likeliest of all. */
__kernel void ctc_likeliest(sequences s, __global const STORAGE(A) *x, long x0, __global long *best) {
  long i = get_global_id(0), t = i / s.batch;
  if (i >= s.steps * s.batch) return;
  x0 += t * s.x[0] + (i - t * s.batch) * s.x[1];
  COMPUTE(A) highest = LOAD(A, x, x0);
  long at = 0;
  for (long c = 1; c < s.classes && !isnan(highest); c++) {
    COMPUTE(A) value = LOAD(A, x, x0 + c * s.x[2]);
    if (!(value <= highest)) {
      highest = value;
      at = c;
    }
  }
  best[i] = at;
}

/* A work item a sequence. */
__kernel void ctc_collapse(sequences s, __global const STORAGE(A) *x, long x0, __global const STORAGE(E) *lengths,
                           long lengths0, __global const long *best, int merge, __global long *labels, long labels0,
                           long label_row, long label_step, __global long *counts, long counts0, long counts_step,
                           __global STORAGE(Y) *scores, long scores0, long scores_step, __global int *fault) {
  long sequence = get_global_id(0), count = 0, before = -1;
  if (sequence >= s.batch) return;
  long length = length_of(&s, lengths, lengths0, sequence, fault);
  REAL sum = 0;
  x0 += sequence * s.x[1];
  labels0 += sequence * label_row;
  for (long t = 0; t < length; t++) {
    long label = clamp(best[t * s.batch + sequence], (long)0, s.classes - 1); /* whatever was left there */
    sum += (REAL)LOAD(A, x, x0 + t * s.x[0] + label * s.x[2]);
    if (label != s.blank && !(merge && label == before)) labels[labels0 + count++ * label_step] = label;
    before = label;
  }
  counts[counts0 + sequence * counts_step] = count;
  SAVE(Y, scores, scores0 + sequence * scores_step, ROUND(Y, sum));
  for (; count < s.steps; count++) labels[labels0 + count * label_step] = -1;
}
#endif

#ifdef CTC_beam
/* A prefix: the last label and the prefix before it; 0 is the empty one. */
typedef struct {
  long before, label, length;
  ulong hash;
} prefix;

/* A prefix in the beam: log probabilities that its alignments end in a blank and in its last label. What a beam may
 * become: itself (added -1), or longer by the class `added`. score: -infinity when it is out. */
typedef struct {
  REAL score, blank, label;
  long beam, added;
} candidate;

static inline bool same_prefix(__global const prefix *nodes, long a, long b) {
  while (a != b && nodes[a].hash == nodes[b].hash && nodes[a].length == nodes[b].length &&
         nodes[a].label == nodes[b].label && nodes[a].length > 0) {
    a = nodes[a].before;
    b = nodes[b].before;
  }
  return a == b;
}

/* Candidates of one step: number beam * (classes + 1) stays, those behind it are longer by a class. A beam is kept as a
 * candidate, too, whose `beam` is its prefix. */
static inline void propose(const sequences *s, __global const STORAGE(A) *x, long x0, __global const prefix *nodes,
                           __global const candidate *beams, long beam_count, __global candidate *candidates, int lane,
                           int lanes) {
  long row = s->classes + 1;
  for (long k = lane; k < beam_count * row; k += lanes) {
    long i = k / row, c = k - i * row - 1, last = nodes[beams[i].beam].label;
    REAL total = log_add(beams[i].blank, beams[i].label), blank = -INFINITY, label = -INFINITY;
    if (c < 0) {
      blank = total + (REAL)LOAD(A, x, x0 + s->blank * s->x[2]);
      if (last >= 0) label = beams[i].label + (REAL)LOAD(A, x, x0 + last * s->x[2]);
    } else if (c != s->blank) {
      label = (c == last ? beams[i].blank : total) + (REAL)LOAD(A, x, x0 + c * s->x[2]);
    }
    candidates[k] = (candidate){0, blank, label, i, c};
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
  for (long j = lane; j < beam_count; j += lanes) { /* one that is in the beam already is the same prefix */
    __global const prefix *node = &nodes[beams[j].beam];
    for (long i = 0; i < beam_count && node->length > 0; i++) {
      if (same_prefix(nodes, node->before, beams[i].beam)) {
        __global candidate *longer = &candidates[i * row + node->label + 1], *own = &candidates[j * row];
        own->label = log_add(own->label, longer->label);
        longer->label = -INFINITY;
        break;
      }
    }
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
  for (long k = lane; k < beam_count * row; k += lanes)
    candidates[k].score = log_add(candidates[k].blank, candidates[k].label);
  barrier(CLK_GLOBAL_MEM_FENCE);
}

/* The place of the best candidate that is left, equal ones in their order; -1: none. NaN is none. */
static inline long best_left(__global const candidate *candidates, long count, int lane, int lanes,
                             __local REAL *scores, __local long *places) {
  REAL score = -INFINITY;
  long place = -1;
  for (long k = lane; k < count; k += lanes) {
    if (candidates[k].score > score) {
      score = candidates[k].score;
      place = k;
    }
  }
  scores[lane] = score;
  places[lane] = place;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int hop = lanes / 2; hop > 0; hop /= 2) {
    if (lane < hop) {
      long own = places[lane], other = places[lane + hop];
      bool better = scores[lane + hop] > scores[lane] || (scores[lane + hop] == scores[lane] && other < own);
      if (other >= 0 && (own < 0 || better)) {
        scores[lane] = scores[lane + hop];
        places[lane] = other;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  place = places[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  return place;
}

__kernel void ctc_beams(sequences s, __global const STORAGE(A) *x, long x0, __global const STORAGE(E) *lengths,
                        long lengths0, __global char *memory, long bytes, long width, long paths, __global long *labels,
                        long labels0, long label_row, long label_path, long label_step, __global long *counts,
                        long counts0, long counts_row, long counts_path, __global STORAGE(Y) *y, long y0, long y_row,
                        long y_path, __global int *fault, __local REAL *scores, __local long *places) {
  int lane = get_local_id(0), lanes = get_local_size(0);
  long sequence = get_group_id(0), length = length_of(&s, lengths, lengths0, sequence, fault);
  long node_count = 1, beam_count = 1;
  __global prefix *nodes = (__global prefix *)(memory + sequence * bytes);
  __global candidate *beams = (__global candidate *)(nodes + s.steps * width + 1), *kept = beams + width;
  __global candidate *candidates = kept + width;
  if (lane == 0) {
    nodes[0] = (prefix){0, -1, 0, 0};
    beams[0] = (candidate){0, 0, -INFINITY, 0, -1};
  }
  x0 += sequence * s.x[1];
  barrier(CLK_GLOBAL_MEM_FENCE);
  for (long t = 0; t < length; t++) {
    propose(&s, x, x0 + t * s.x[0], nodes, beams, beam_count, candidates, lane, lanes);
    long count = beam_count * (s.classes + 1), chosen = 0;
    for (bool more = true; more && chosen < width;) {
      long place = best_left(candidates, count, lane, lanes, scores, places);
      more = place >= 0;
      if (more && lane == 0) {
        candidate own = candidates[place];
        own.beam = beams[own.beam].beam;
        if (own.added >= 0) {
          __global const prefix *old = &nodes[own.beam];
          nodes[node_count] = (prefix){own.beam, own.added, old->length + 1,
                                       (old->hash + (ulong)own.added + 1) * 0x9e3779b97f4a7c15UL};
          own.beam = node_count++;
        }
        candidates[place].score = -INFINITY;
        kept[chosen] = own;
      }
      chosen += more;
      barrier(CLK_GLOBAL_MEM_FENCE);
    }
    beam_count = chosen;
    __global candidate *swap = beams;
    beams = kept;
    kept = swap;
  }
  for (long p = lane; p < paths; p += lanes) {
    bool there = p < beam_count && length >= 0;
    long node = there ? beams[p].beam : 0, to = labels0 + sequence * label_row + p * label_path;
    counts[counts0 + sequence * counts_row + p * counts_path] = nodes[node].length;
    SAVE(Y, y, y0 + sequence * y_row + p * y_path,
           ROUND(Y, there ? log_add(beams[p].blank, beams[p].label) : (REAL)-INFINITY));
    for (long t = 0; t < s.steps; t++) labels[to + t * label_step] = -1;
    for (; nodes[node].length > 0; node = nodes[node].before)
      labels[to + (nodes[node].length - 1) * label_step] = nodes[node].label;
  }
}
#endif
