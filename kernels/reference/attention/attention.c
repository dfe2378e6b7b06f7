/* Attention, rotary embeddings and bags of embeddings (attention.h). Engine reference calls these. */
#include "kernels/reference/attention/attention.h"

#include <math.h>
#include <stddef.h>

#include "kernels/reference/support/numbers.h"

static const double *place(const nd4c_ref_heads *x, int64_t batch, int64_t head, int64_t at) {
  return x->data + batch * x->batch_step + head * x->head_step + at * x->place_step;
}

/* What is added to a score; -infinity: the key takes no part. */
static double bias_of(const nd4c_ref_attend_args *args, int64_t batch, int64_t head, int64_t query, int64_t key) {
  const double out = -(double)INFINITY;
  int64_t lengths = args->key_lengths != NULL ? args->key_lengths[batch] : args->keys;
  int64_t own = query + (args->past >= 0 ? args->past : lengths - args->queries);
  if (key >= lengths || (args->is_causal && key > own) || (args->left >= 0 && key < own - args->left) ||
      (args->right >= 0 && key - own > args->right)) {
    return out;
  }
  if (args->mask == NULL) {
    return 0;
  }
  if (key >= args->mask_keys) {
    return out;
  }
  double value = args->mask[batch * args->mask_steps[0] + head * args->mask_steps[1] + query * args->mask_steps[2] +
                            key * args->mask_steps[3]];
  return args->mask_is_bool ? (value != 0 ? 0 : out) : value;
}

/* Scores with bias into `row`; -infinity for keys that take no part. Returns the largest. */
static double score_row(const nd4c_ref_attend_args *args, int64_t batch, int64_t head, int64_t query, double *row,
                        double *kept) {
  const double *q = place(&args->q, batch, head, query);
  int64_t kv = head / (args->q_heads / args->kv_heads);
  double largest = -(double)INFINITY;
  for (int64_t key = 0; key < args->keys; key++) {
    double score = args->scale * nd4c_ref_dot(args->head, q, place(&args->k, batch, kv, key));
    double capped = args->softcap > 0 ? args->softcap * tanh(score / args->softcap) : score;
    double bias = bias_of(args, batch, head, query, key);
    row[key] = isinf(bias) && bias < 0 ? bias : capped + bias;
    if (kept != NULL) {
      kept[key] = args->scores_mode == 0 ? score : args->scores_mode == 1 ? capped : row[key];
    }
    largest = isnan(largest) || row[key] <= largest ? largest : row[key];
  }
  return largest;
}

static void attend_row(const nd4c_ref_attend_args *args, int64_t number, double *row) {
  int64_t query = number % args->queries, head = number / args->queries % args->q_heads;
  int64_t batch = number / args->queries / args->q_heads, kv = head / (args->q_heads / args->kv_heads);
  double *kept = args->scores != NULL ? args->scores + number * args->keys : NULL, sum = 0;
  double largest = score_row(args, batch, head, query, row, kept);
  bool empty = isinf(largest) && largest < 0;
  for (int64_t key = 0; key < args->keys; key++) {
    row[key] = empty ? 0 : exp(row[key] - largest);
    sum += row[key];
  }
  double *y = args->y_data + (place(&args->y, batch, head, query) - args->y.data);
  for (int64_t i = 0; i < args->v_head; i++) {
    y[i] = 0;
  }
  for (int64_t key = 0; key < args->keys; key++) {
    double share = empty ? 0 : row[key] / sum;
    const double *v = place(&args->v, batch, kv, key);
    if (kept != NULL && args->scores_mode == 3) {
      kept[key] = share;
    }
    for (int64_t i = 0; share != 0 && i < args->v_head; i++) {
      y[i] += share * v[i];
    }
  }
}

void nd4c_ref_attend(const nd4c_ref_attend_args *args, int64_t begin, int64_t end, int32_t worker) {
  for (int64_t number = begin; number < end; number++) {
    attend_row(args, number, args->scratch + worker * args->keys);
  }
}

void nd4c_ref_rotary(const nd4c_ref_rotary_args *args, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; row++) {
    int64_t at = args->packed ? row / args->heads % args->length : row % args->length;
    int64_t batch = row / (args->heads * args->length);
    int64_t angle = batch * args->length + at;
    const double *x = args->x + row * args->head;
    double *y = args->y + row * args->head;
    angle = (args->ids != NULL ? args->ids[angle] : angle) * args->pairs;
    for (int64_t i = 0; i < args->pairs; i++) {
      int64_t a = args->interleaved ? 2 * i : i, b = args->interleaved ? 2 * i + 1 : i + args->pairs;
      y[a] = args->cos[angle + i] * x[a] - args->sin[angle + i] * x[b];
      y[b] = args->sin[angle + i] * x[a] + args->cos[angle + i] * x[b];
    }
    for (int64_t i = 2 * args->pairs; i < args->head; i++) {
      y[i] = x[i];
    }
  }
}

/* One step of one state: decays, corrects v, adds k v^T. */
static void update_state(const nd4c_ref_linear_attend_args *args, int64_t batch, int64_t head, int64_t t, double *state,
                         double *value) {
  int64_t n = args->head, m = args->v_head, row = batch * args->length + t;
  const double *k = args->k + (row * args->kv_heads + head) * n, *v = args->v + (row * args->kv_heads + head) * m;
  for (int64_t i = 0; args->decay != NULL && i < n; i++) {
    bool each = args->decay_heads != args->kv_heads; /* a decay for each feature of each head */
    double factor = exp(args->decay[row * args->decay_heads + (each ? head * n + i : head)]);
    for (int64_t j = 0; j < m; j++) {
      state[i * m + j] *= factor;
    }
  }
  for (int64_t j = 0; j < m; j++) {
    double known = 0;
    for (int64_t i = 0; args->beta != NULL && i < n; i++) {
      known += state[i * m + j] * k[i];
    }
    value[j] = args->beta == NULL
                   ? v[j]
                   : args->beta[row * args->beta_heads + (args->beta_heads == 1 ? 0 : head)] * (v[j] - known);
  }
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < m; j++) {
      state[i * m + j] += k[i] * value[j];
    }
  }
}

void nd4c_ref_linear_attend(const nd4c_ref_linear_attend_args *args, int64_t begin, int64_t end) {
  int64_t n = args->head, m = args->v_head, group = args->q_heads / args->kv_heads;
  for (int64_t number = begin; number < end; number++) {
    int64_t batch = number / args->kv_heads, head = number % args->kv_heads;
    double *state = args->state + number * n * m;
    for (int64_t t = 0; t < args->length; t++) {
      update_state(args, batch, head, t, state, args->scratch + number * m);
      for (int64_t g = 0; g < group; g++) {
        int64_t row = (batch * args->length + t) * args->q_heads + head * group + g;
        for (int64_t j = 0; j < m; j++) {
          double sum = 0;
          for (int64_t i = 0; i < n; i++) {
            sum += args->q[row * n + i] * state[i * m + j];
          }
          args->y[row * m + j] = args->scale * sum;
        }
      }
    }
  }
}

void nd4c_ref_embedding_bag(const nd4c_ref_bag_args *args, int64_t begin, int64_t end) {
  enum { SUM, MEAN, MAX };
  int64_t n = args->features;
  for (int64_t bag = begin; bag < end; bag++) {
    int64_t first = args->offsets != NULL ? args->offsets[bag] : bag * args->each, taken = 0;
    int64_t last = args->offsets == NULL  ? first + args->each
                   : bag + 1 < args->bags ? args->offsets[bag + 1]
                                          : args->count;
    double *y = args->y + bag * n;
    for (int64_t i = first; i < last; i++) {
      const double *row = args->table + args->indices[i] * n;
      double weight = args->weights != NULL ? args->weights[i] : 1;
      if (args->indices[i] == args->padding) {
        continue;
      }
      for (int64_t j = 0; j < n; j++) {
        if (args->mode != MAX) {
          y[j] += weight * row[j];
        } else if (taken == 0 || (!isnan(y[j]) && !(row[j] <= y[j]))) {
          y[j] = row[j];
        }
      }
      taken++;
    }
    for (int64_t j = 0; args->mode == MEAN && taken > 0 && j < n; j++) {
      y[j] /= (double)taken;
    }
  }
}
