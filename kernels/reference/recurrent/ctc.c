/* Connectionist temporal classification (Graves et al. 2006) and prefix beam search (Hannun et al. 2014), of
 * recurrent.h. backends/cpu/reference/recurrent.c calls these. */
#include <math.h>
#include <string.h>

#include "kernels/reference/recurrent/recurrent.h"
#include "kernels/reference/sorting/order.h"

/* ln(e^a + e^b) */
static double log_add(double a, double b) {
  double high = a > b ? a : b, low = a > b ? b : a;
  if (isnan(a) || isnan(b)) {
    return (double)NAN;
  }
  return isinf(high) ? high : high + log1p(exp(low - high));
}

static const double *row_of(const nd4c_ref_ctc_args *args, int64_t t, int64_t sequence) {
  return args->x + (t * args->batch + sequence) * args->classes;
}

/* Label number s of the target with blanks between and around. */
static int64_t extended(const nd4c_ref_ctc_args *args, const int64_t *target, int64_t s) {
  return s % 2 == 0 ? args->blank : target[s / 2];
}

/* The probability of every prefix of the target after each step, kept for the last step alone. */
static double alignment_score(const nd4c_ref_ctc_args *args, int64_t sequence) {
  const int64_t *target = args->targets + sequence * args->longest;
  int64_t places = 2 * args->target_lengths[sequence] + 1, most = 2 * args->longest + 1;
  double *now = args->scratch + 2 * sequence * most, *next = now + most;
  for (int64_t s = 0; s < places; s++) {
    now[s] = s == 0 ? 0 : -(double)INFINITY; /* before the first step: at the first blank, not yet emitted */
  }
  for (int64_t t = 0; t < args->lengths[sequence]; t++) {
    const double *x = row_of(args, t, sequence);
    for (int64_t s = 0; s < places; s++) {
      int64_t label = extended(args, target, s);
      double sum = now[s];
      if (s > 0) {
        sum = log_add(sum, now[s - 1]);
      }
      if (s > 1 && label != args->blank && label != extended(args, target, s - 2)) {
        sum = log_add(sum, now[s - 2]);
      }
      if (t == 0) { /* a first label may stand at the first or second place alone */
        sum = s < 2 ? 0 : -(double)INFINITY;
      }
      next[s] = sum + x[label];
    }
    double *swap = now;
    now = next;
    next = swap;
  }
  if (args->lengths[sequence] == 0) {
    return places == 1 ? 0 : -(double)INFINITY;
  }
  return places == 1 ? now[0] : log_add(now[places - 1], now[places - 2]);
}

void nd4c_ref_ctc_loss(const nd4c_ref_ctc_args *args, int64_t begin, int64_t end) {
  for (int64_t sequence = begin; sequence < end; sequence++) {
    args->loss[sequence] = -alignment_score(args, sequence);
  }
}

void nd4c_ref_ctc_greedy(const nd4c_ref_ctc_args *args, int64_t begin, int64_t end) {
  for (int64_t sequence = begin; sequence < end; sequence++) {
    int64_t length = args->lengths != NULL ? args->lengths[sequence] : args->steps, count = 0, before = -1;
    int64_t *labels = args->labels + sequence * args->steps;
    double sum = 0;
    for (int64_t t = 0; t < length; t++) {
      const double *x = row_of(args, t, sequence);
      int64_t best = 0;
      for (int64_t c = 1; c < args->classes; c++) {
        if (!isnan(x[best]) && !(x[c] <= x[best])) {
          best = c;
        }
      }
      sum += x[best];
      if (best != args->blank && !(args->merge_repeated && best == before)) {
        labels[count++] = best;
      }
      before = best;
    }
    for (int64_t t = count; t < args->steps; t++) {
      labels[t] = -1;
    }
    args->label_lengths[sequence] = count;
    args->score[sequence] = sum;
  }
}

/* -- beam search -------------------------------------------------------------------------------------------------- */

/* A prefix: the last label and the prefix before it; 0 is the empty one. */
typedef struct prefix {
  int64_t before, label, length;
  uint64_t hash;
} prefix;

/* A prefix in the beam: log probabilities that its alignments end in a blank and in its last label. */
typedef struct beam {
  int64_t node;
  double blank, label;
} beam;

/* What a beam may become: itself (class -1), or longer by a class. */
typedef struct candidate {
  double score, blank, label;
  int64_t beam, class;
} candidate;

typedef struct search {
  prefix *nodes;
  int64_t node_count;
  beam *beams;
  int64_t beam_count;
  candidate *candidates; /* with room for as many, to sort them */
} search;

int64_t nd4c_ref_ctc_beam_bytes(int64_t steps, int64_t classes, int64_t width) {
  const int64_t limit = INT64_C(1) << 44;
  if (steps >= limit / width || classes >= limit / width) {
    return -1;
  }
  return (int64_t)sizeof(prefix) * (steps * width + 1) + (int64_t)sizeof(beam) * width +
         2 * (int64_t)sizeof(candidate) * width * (classes + 1);
}

static bool same_prefix(const search *s, int64_t a, int64_t b) {
  while (a != b && s->nodes[a].hash == s->nodes[b].hash && s->nodes[a].length == s->nodes[b].length &&
         s->nodes[a].label == s->nodes[b].label && s->nodes[a].length > 0) {
    a = s->nodes[a].before;
    b = s->nodes[b].before;
  }
  return a == b;
}

/* Best first; equal ones in the order in which they were found. */
static int compare(const void *left, const void *right) {
  const candidate *a = left, *b = right;
  if (a->score != b->score) {
    return a->score > b->score ? -1 : 1;
  }
  if (a->beam != b->beam) {
    return a->beam < b->beam ? -1 : 1;
  }
  return a->class < b->class ? -1 : a->class > b->class;
}

/* Candidates of one step: number beam * (classes + 1) stays, those behind it are longer by a class. */
static void propose(const nd4c_ref_ctc_args *args, search *s, const double *x) {
  for (int64_t i = 0; i < s->beam_count; i++) {
    const beam *b = &s->beams[i];
    candidate *own = s->candidates + i * (args->classes + 1);
    int64_t last = s->nodes[b->node].label;
    double total = log_add(b->blank, b->label);
    own[0] = (candidate){.blank = total + x[args->blank], .label = -(double)INFINITY, .beam = i, .class = -1};
    if (last >= 0) {
      own[0].label = b->label + x[last];
    }
    for (int64_t c = 0; c < args->classes; c++) {
      double label = c == args->blank ? -(double)INFINITY : (c == last ? b->blank : total) + x[c];
      own[c + 1] = (candidate){.blank = -(double)INFINITY, .label = label, .beam = i, .class = c};
    }
  }
  for (int64_t j = 0; j < s->beam_count; j++) { /* one that is in the beam already is the same prefix */
    const prefix *node = &s->nodes[s->beams[j].node];
    for (int64_t i = 0; i < s->beam_count && node->length > 0; i++) {
      if (same_prefix(s, node->before, s->beams[i].node)) {
        candidate *longer = s->candidates + i * (args->classes + 1) + node->label + 1;
        candidate *own = s->candidates + j * (args->classes + 1);
        own->label = log_add(own->label, longer->label);
        longer->label = -(double)INFINITY;
        break;
      }
    }
  }
}

static void select_best(const nd4c_ref_ctc_args *args, search *s) {
  int64_t count = s->beam_count * (args->classes + 1), kept = 0;
  for (int64_t i = 0; i < count; i++) {
    candidate *c = &s->candidates[i];
    c->score = log_add(c->blank, c->label);
    if (c->score > -(double)INFINITY) { /* not for NaN */
      s->candidates[kept++] = *c;
    }
  }
  nd4c_ref_sort(s->candidates, kept, sizeof *s->candidates, compare, s->candidates + kept);
  kept = kept < args->width ? kept : args->width;
  for (int64_t i = 0; i < kept; i++) { /* candidates know their beams by node from here on */
    candidate *c = &s->candidates[i];
    int64_t from = s->beams[c->beam].node;
    if (c->class >= 0) {
      const prefix *old = &s->nodes[from];
      s->nodes[s->node_count] = (prefix){from, c->class, old->length + 1,
                                         (old->hash + (uint64_t)c->class + 1) * UINT64_C(0x9e3779b97f4a7c15)};
      from = s->node_count++;
    }
    c->beam = from;
  }
  for (int64_t i = 0; i < kept; i++) {
    s->beams[i] = (beam){s->candidates[i].beam, s->candidates[i].blank, s->candidates[i].label};
  }
  s->beam_count = kept;
}

static void write_paths(const nd4c_ref_ctc_args *args, const search *s, int64_t sequence) {
  for (int64_t p = 0; p < args->paths; p++) {
    int64_t *labels = args->labels + (sequence * args->paths + p) * args->steps, at = sequence * args->paths + p;
    bool there = p < s->beam_count;
    int64_t node = there ? s->beams[p].node : 0;
    args->label_lengths[at] = s->nodes[node].length;
    args->score[at] = there ? log_add(s->beams[p].blank, s->beams[p].label) : -(double)INFINITY;
    for (int64_t t = 0; t < args->steps; t++) {
      labels[t] = -1;
    }
    for (; s->nodes[node].length > 0; node = s->nodes[node].before) {
      labels[s->nodes[node].length - 1] = s->nodes[node].label;
    }
  }
}

void nd4c_ref_ctc_beam(const nd4c_ref_ctc_args *args, int64_t begin, int64_t end) {
  int64_t bytes = nd4c_ref_ctc_beam_bytes(args->steps, args->classes, args->width);
  for (int64_t sequence = begin; sequence < end; sequence++) {
    char *memory = (char *)args->beams + sequence * bytes;
    search s = {.nodes = (prefix *)(void *)memory, .node_count = 1, .beam_count = 1};
    s.beams = (beam *)(void *)(s.nodes + args->steps * args->width + 1);
    s.candidates = (candidate *)(void *)(s.beams + args->width);
    s.nodes[0] = (prefix){.before = 0, .label = -1};
    s.beams[0] = (beam){.node = 0, .blank = 0, .label = -(double)INFINITY};
    int64_t length = args->lengths != NULL ? args->lengths[sequence] : args->steps;
    for (int64_t t = 0; t < length; t++) {
      propose(args, &s, row_of(args, t, sequence));
      select_best(args, &s);
    }
    write_paths(args, &s, sequence);
  }
}
