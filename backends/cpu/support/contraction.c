/* Implements contraction.h for engines reference and openblas: walks the operands of a sum of products. A label that
 * only one operand has is summed when the operand is read. Then pairs are multiplied until one array is left, in each
 * step the pair whose product is the smallest compared with what it replaces. */
#include "backends/cpu/support/contraction.h"

#include <string.h>

/* A dense array of wide numbers, each label once. */
typedef struct term {
  int32_t rank;
  int32_t labels[ND4C_LABELS];
  int64_t shape[ND4C_LABELS];
  void *data;
  int64_t size, bytes;
} term;

typedef struct work {
  const nd4c_contraction *contraction;
  int64_t extents[ND4C_LABELS];
  int32_t uses[ND4C_LABELS]; /* terms, and the output, that have it */
  term *terms;
  int32_t count;
} work;

static int64_t wide_bytes(const work *w) {
  return nd4c_reference_bytes(w->contraction->wide);
}

/* -- terms ------------------------------------------------------------------------------------------------------ */

static nd4c_status term_allocate(const work *w, term *t) {
  double size = 1;
  t->size = 1;
  for (int32_t i = 0; i < t->rank; i++) {
    size *= (double)t->shape[i];
    t->size = size < 0x1p58 ? t->size * t->shape[i] : 0;
  }
  t->bytes = (t->size > 0 ? t->size : 1) * wide_bytes(w);
  t->data = size < 0x1p58 ? nd4c_cpu_host->allocate_pages((size_t)t->bytes) : NULL;
  ND4C_CPU_FAIL_IF(t->data == NULL, ND4C_MEMORY, "%s: no memory for %.0f numbers on the way to the result",
                   w->contraction->labels.call->op->name, size);
  return ND4C_OK;
}

static void term_free(term *t) {
  if (t->data != NULL) {
    nd4c_cpu_host->free_pages(t->data, (size_t)t->bytes);
    t->data = NULL;
  }
}

ND4C_CPU_RANGE(load_range, nd4c_wide_load)

static void load(const work *w, nd4c_wide_load_args *args, const term *to) {
  args->wide = w->contraction->wide;
  args->to = to->data;
  int64_t each = 1;
  for (int32_t i = 0; i < args->summed; i++) {
    each *= args->x.shape[args->x.rank - args->summed + i];
  }
  nd4c_cpu_parallel(to->size, nd4c_cpu_grain(each), w->contraction->labels.call->width, load_range, args);
}

/* Reads an operand: labels that nothing else has are summed over; equal ones are a diagonal. */
static nd4c_status term_read(work *w, const nd4c_labelled *operand, term *t) {
  int64_t strides[ND4C_LABELS] = {0}, shape[ND4C_LABELS], lengths[ND4C_LABELS];
  int32_t order[ND4C_LABELS], rank = 0;
  bool seen[ND4C_LABELS] = {false};
  for (int32_t i = 0; i < operand->rank; i++) {
    int32_t label = operand->labels[i];
    strides[label] += operand->shape[i] == 1 && w->extents[label] != 1 ? 0 : operand->strides[i];
    seen[label] = true;
  }
  for (int32_t summing = 0; summing < 2; summing++) {
    for (int32_t i = 0; i < operand->rank; i++) {
      int32_t label = operand->labels[i];
      if (seen[label] && (w->uses[label] == 1) == (summing == 1)) {
        order[rank++] = label;
        seen[label] = false;
      }
    }
    t->rank = summing == 0 ? rank : t->rank;
  }
  for (int32_t i = 0; i < rank; i++) {
    shape[i] = w->extents[order[i]];
    lengths[i] = strides[order[i]];
  }
  memcpy(t->labels, order, (size_t)t->rank * sizeof *order);
  memcpy(t->shape, shape, (size_t)t->rank * sizeof *shape);
  ND4C_BACKEND_TRY(term_allocate(w, t));
  const nd4c_tensor *x = &operand->tensor;
  char *data = (char *)x->data + operand->first * nd4c_reference_bytes(x->dtype);
  nd4c_wide_load_args args = {.x = {x->dtype, rank, shape, lengths, data}, .summed = rank - t->rank};
  args.conjugate = operand->conjugate;
  load(w, &args, t);
  return ND4C_OK;
}

/* The same numbers with the axes in another order, in place of the old ones. */
static nd4c_status term_arrange(const work *w, term *t, const int32_t *order) {
  int64_t strides[ND4C_LABELS], lengths[ND4C_LABELS], step = 1;
  term turned = {.rank = t->rank};
  bool same = true;
  for (int32_t i = t->rank - 1; i >= 0; i--) {
    lengths[t->labels[i]] = step;
    step *= t->shape[i];
    same = same && order[i] == t->labels[i];
  }
  if (same) {
    return ND4C_OK;
  }
  for (int32_t i = 0; i < t->rank; i++) {
    turned.labels[i] = order[i];
    turned.shape[i] = w->extents[order[i]];
    strides[i] = lengths[order[i]];
  }
  ND4C_BACKEND_TRY(term_allocate(w, &turned));
  nd4c_wide_load_args args = {.x = {w->contraction->wide, t->rank, turned.shape, strides, t->data}};
  load(w, &args, &turned);
  term_free(t);
  *t = turned;
  return ND4C_OK;
}

/* -- pairs ------------------------------------------------------------------------------------------------------ */

static bool has_label(const term *t, int32_t label) {
  for (int32_t i = 0; i < t->rank; i++) {
    if (t->labels[i] == label) {
      return true;
    }
  }
  return false;
}

/* Labels of the two by what becomes of them: in both and kept, of a alone, of b alone, in both and summed over. */
typedef struct pair {
  int32_t batch[ND4C_LABELS], left[ND4C_LABELS], right[ND4C_LABELS], inner[ND4C_LABELS];
  int32_t batches, lefts, rights, inners;
  int64_t b, m, n, k;
} pair;

static void pair_classify(const work *w, const term *a, const term *b, pair *p) {
  *p = (pair){.b = 1, .m = 1, .n = 1, .k = 1};
  for (int32_t i = 0; i < a->rank; i++) {
    int32_t label = a->labels[i];
    bool shared = has_label(b, label);
    if (!shared) {
      p->left[p->lefts++] = label;
      p->m *= a->shape[i];
    } else if (w->uses[label] > 2) {
      p->batch[p->batches++] = label;
      p->b *= a->shape[i];
    } else {
      p->inner[p->inners++] = label;
      p->k *= a->shape[i];
    }
  }
  for (int32_t i = 0; i < b->rank; i++) {
    if (!has_label(a, b->labels[i])) {
      p->right[p->rights++] = b->labels[i];
      p->n *= b->shape[i];
    }
  }
}

/* How much larger the product is than what it replaces. */
static double pair_cost(const work *w, const term *a, const term *b) {
  double size = 1;
  for (int32_t i = 0; i < a->rank; i++) {
    bool summed = has_label(b, a->labels[i]) && w->uses[a->labels[i]] <= 2;
    size *= summed ? 1 : (double)a->shape[i];
  }
  for (int32_t i = 0; i < b->rank; i++) {
    size *= has_label(a, b->labels[i]) ? 1 : (double)b->shape[i];
  }
  return size - (double)a->size - (double)b->size;
}

static int32_t append(int32_t *to, int32_t count, const int32_t *labels, int32_t more) {
  memcpy(to + count, labels, (size_t)more * sizeof *labels);
  return count + more;
}

/* Terms i and j become one, at i. */
static nd4c_status multiply_pair(work *w, int32_t i, int32_t j) {
  term *a = &w->terms[i], *b = &w->terms[j], c = {0};
  int32_t order[ND4C_LABELS], count;
  pair p;
  pair_classify(w, a, b, &p);
  count = append(order, append(order, append(order, 0, p.batch, p.batches), p.left, p.lefts), p.inner, p.inners);
  ND4C_BACKEND_TRY(term_arrange(w, a, order));
  count = append(order, append(order, append(order, 0, p.batch, p.batches), p.inner, p.inners), p.right, p.rights);
  ND4C_BACKEND_TRY(term_arrange(w, b, order));
  count = append(order, append(order, append(order, 0, p.batch, p.batches), p.left, p.lefts), p.right, p.rights);
  c.rank = count;
  for (int32_t k = 0; k < count; k++) {
    c.labels[k] = order[k];
    c.shape[k] = w->extents[order[k]];
  }
  ND4C_BACKEND_TRY(term_allocate(w, &c));
  w->contraction->product(w->contraction, p.b, p.m, p.n, p.k, a->data, b->data, c.data);
  for (int32_t k = 0; k < p.batches; k++) {
    w->uses[p.batch[k]]--;
  }
  term_free(a);
  term_free(b);
  *a = c;
  *b = w->terms[--w->count];
  w->terms[w->count] = (term){0};
  return ND4C_OK;
}

static nd4c_status multiply_all(work *w) {
  while (w->count > 1) {
    int32_t first = 0, second = 1;
    double least = 0;
    for (int32_t i = 0; i < w->count; i++) {
      for (int32_t j = i + 1; j < w->count; j++) {
        double cost = pair_cost(w, &w->terms[i], &w->terms[j]);
        if ((i == 0 && j == 1) || cost < least) {
          least = cost;
          first = i;
          second = j;
        }
      }
    }
    ND4C_BACKEND_TRY(multiply_pair(w, first, second));
  }
  return ND4C_OK;
}

/* -- the whole -------------------------------------------------------------------------------------------------- */

typedef struct store_args {
  nd4c_dtype wide;
  const void *from;
  nd4c_ref_tensor y;
} store_args;

static void store_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const store_args *args = user;
  (void)worker;
  nd4c_wide_store(args->wide, args->from, &args->y, begin, end);
}

/* Stores the last term in the output; walks the output's axes in the term's order. */
static void store(const work *w, const term *t) {
  const nd4c_labelled *output = &w->contraction->labels.output;
  int64_t strides[ND4C_LABELS];
  for (int32_t i = 0; i < t->rank; i++) {
    for (int32_t k = 0; k < output->rank; k++) {
      if (output->labels[k] == t->labels[i]) {
        strides[i] = output->strides[k];
      }
    }
  }
  store_args args = {
      w->contraction->wide, t->data, {output->tensor.dtype, t->rank, t->shape, strides, output->tensor.data}};
  nd4c_cpu_parallel(t->size, 4096, w->contraction->labels.call->width, store_range, &args);
}

static void count_uses(work *w, const nd4c_labelled *array, bool measure) {
  bool seen[ND4C_LABELS] = {false};
  for (int32_t i = 0; i < array->rank; i++) {
    int32_t label = array->labels[i];
    w->uses[label] += !seen[label];
    seen[label] = true;
    if (measure && (w->extents[label] == 1 || w->extents[label] < 0)) {
      w->extents[label] = array->shape[i];
    }
  }
}

static nd4c_status contract(work *w) {
  const nd4c_labels *c = &w->contraction->labels;
  for (int32_t i = 0; i < c->count; i++) {
    count_uses(w, &c->operands[i], true);
  }
  count_uses(w, &c->output, false);
  for (; w->count < c->count; w->count++) {
    term *t = &w->terms[w->count];
    ND4C_BACKEND_TRY(term_read(w, &c->operands[w->count], t));
  }
  ND4C_BACKEND_TRY(multiply_all(w));
  store(w, &w->terms[0]);
  return ND4C_OK;
}

nd4c_status nd4c_cpu_contraction_run(const nd4c_call *call, nd4c_dtype wide, nd4c_contraction_product product) {
  enum { FEW = 2 };
  const bool few = call->input_count <= FEW; /* most calls: these allocate no memory for labels */
  const size_t count = (size_t)call->input_count;
  nd4c_labelled operands[FEW];
  term terms[FEW];
  nd4c_contraction c; /* labels are not cleared: a call uses only a few of them */
  c.product = product;
  c.wide = wide;
  work w = {.contraction = &c};
  memset(w.extents, -1, sizeof w.extents);
  c.labels.operands = few ? operands : nd4c_cpu_host->allocate(count * sizeof *operands);
  w.terms = few ? terms : nd4c_cpu_host->allocate(count * sizeof *terms);
  nd4c_status status = ND4C_OK;
  if (c.labels.operands == NULL || w.terms == NULL) {
    status = nd4c_cpu_host->fail(ND4C_MEMORY, "%s: no memory for its operands' axes", call->op->name);
  } else {
    for (size_t i = 0; i < count; i++) {
      w.terms[i].data = NULL;
    }
    nd4c_labels_make(&c.labels, call);
    status = contract(&w);
    for (int32_t i = 0; i < call->input_count; i++) {
      term_free(&w.terms[i]);
    }
  }
  if (!few) {
    nd4c_cpu_host->free(c.labels.operands);
    nd4c_cpu_host->free(w.terms);
  }
  return status;
}
