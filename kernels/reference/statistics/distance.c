/* Distances between two arrays over axes (distance.h). Engine reference calls these. */
#include "kernels/reference/statistics/distance.h"

#include <math.h>

/* A sum with what its additions lost (Neumaier). */
typedef struct precise {
  double sum, lost;
} precise;

static void add(precise *p, double x) {
  double next = p->sum + x;
  double lost = fabs(p->sum) < fabs(x) ? (x - next) + p->sum : (p->sum - next) + x;
  p->lost += lost == lost ? lost : 0;
  p->sum = next;
}

static double total(const precise *p) {
  return isfinite(p->sum) ? p->sum + p->lost : p->sum;
}

/* Sums of one position; which, the distance says. */
typedef struct sums {
  precise first, second, third;
} sums;

/* NaN wins. */
static double smaller(double a, double b) {
  return a != a || a < b ? a : b;
}

static void take(nd4c_ref_distance distance, sums *s, const double *a, const double *b, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    double apart = a[i] - b[i];
    switch (distance) {
      case ND4C_REF_DISTANCE_COSINE_SIMILARITY:
        add(&s->first, a[i] * b[i]);
        add(&s->second, a[i] * a[i]);
        add(&s->third, b[i] * b[i]);
        break;
      case ND4C_REF_DISTANCE_EUCLIDEAN:
        add(&s->first, apart * apart);
        break;
      case ND4C_REF_DISTANCE_MANHATTAN:
        add(&s->first, fabs(apart));
        break;
      case ND4C_REF_DISTANCE_HAMMING:
        add(&s->first, a[i] != b[i]);
        break;
      default:
        add(&s->first, smaller(a[i], b[i]));
        add(&s->second, -smaller(-a[i], -b[i]));
    }
  }
}

static double finish(nd4c_ref_distance distance, const sums *s) {
  switch (distance) {
    case ND4C_REF_DISTANCE_COSINE_SIMILARITY:
      return total(&s->first) / (sqrt(total(&s->second)) * sqrt(total(&s->third)));
    case ND4C_REF_DISTANCE_EUCLIDEAN:
      return sqrt(total(&s->first));
    case ND4C_REF_DISTANCE_JACCARD:
      return 1 - total(&s->first) / total(&s->second);
    default:
      return total(&s->first);
  }
}

static double compare_at(const nd4c_ref_comparison *c, int64_t a_start, int64_t b_start) {
  double a[ND4C_REF_BLOCK], b[ND4C_REF_BLOCK];
  const int64_t *strides[2] = {c->a_inner.x, c->b_inner.x};
  sums s = {{0, 0}, {0, 0}, {0, 0}};
  nd4c_ref_walk walk;
  for (bool more = nd4c_ref_walk_start(&walk, c->a_inner.rank, c->a_inner.shape, 2, strides); more;
       more = nd4c_ref_walk_next(&walk)) {
    for (int64_t done = 0; done < walk.length; done += ND4C_REF_BLOCK) {
      int64_t count = walk.length - done < ND4C_REF_BLOCK ? walk.length - done : ND4C_REF_BLOCK;
      nd4c_ref_read_doubles(c->dtype, c->a, a_start + walk.at[0] + done * walk.step[0], walk.step[0], count, a);
      nd4c_ref_read_doubles(c->dtype, c->b, b_start + walk.at[1] + done * walk.step[1], walk.step[1], count, b);
      take(c->distance, &s, a, b, count);
    }
  }
  return finish(c->distance, &s);
}

void nd4c_ref_compare(const nd4c_ref_comparison *c, int64_t begin, int64_t end) {
  for (int64_t position = begin; position < end; position++) {
    int64_t a, b, y, same;
    nd4c_ref_axes_at(&c->a_outer, position, &a, &y);
    nd4c_ref_axes_at(&c->b_outer, position, &b, &same);
    nd4c_value_store(c->dtype, c->y, y, (nd4c_value){.f = compare_at(c, a, b)});
  }
}
