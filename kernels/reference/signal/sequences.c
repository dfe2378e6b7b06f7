/* Windows, frequencies, mel filters, convolution (signal.h). backends/cpu/reference/signal.c calls these. */
#include "kernels/reference/signal/signal.h"
#include "kernels/reference/support/runs.h"

/* cos(2 pi k / n) for whole k, the angle reduced before it is a double. */
static double cosine(int64_t k, int64_t n) {
  int64_t part = k % n;
  return cos(6.283185307179586476925286766559 * ((double)part / (double)n));
}

void nd4c_ref_cosine_window(const nd4c_ref_tensor *y, const nd4c_cosines *window) {
  int64_t n = window->n;
  for (int64_t i = 0; i < y->shape[0]; i++) {
    double value = n == 0 ? 1 : window->a[0] - window->a[1] * cosine(i, n) + window->a[2] * cosine(2 * i, n);
    nd4c_ref_store(y, i * y->strides[0], value);
  }
}

void nd4c_ref_frequencies(const nd4c_ref_tensor *y, int64_t n, double d, bool real) {
  for (int64_t i = 0; i < y->shape[0]; i++) {
    int64_t number = real || i < (n + 1) / 2 ? i : i - n;
    nd4c_ref_store(y, i * y->strides[0], (double)number / ((double)n * d));
  }
}

void nd4c_ref_overlap_add(const double complex *frames, int64_t count, int64_t length, int64_t step,
                          const double *window, const nd4c_ref_tensor *y) {
  bool real = nd4c_reference_kind(y->dtype) == ND4C_KIND_FLOAT;
  for (int64_t t = 0; t < y->shape[0]; t++) {
    int64_t first = t >= length ? (t - length) / step + 1 : 0, last = t / step < count ? t / step : count - 1;
    double complex sum = 0;
    double weight = 0;
    for (int64_t frame = first; frame <= last; frame++) {
      double w = window != NULL ? window[t - frame * step] : 1;
      sum += w * frames[frame * length + t - frame * step];
      weight += w * w;
    }
    nd4c_value value = {.c = weight > 1e-10 ? sum / weight : 0};
    if (real) {
      value.f = creal(value.c);
    }
    nd4c_value_store(y->dtype, y->data, t * y->strides[0], value);
  }
}

static double mel_of(double hertz) {
  return 2595 * log10(1 + hertz / 700);
}

/* The spectrum's bin at edge `i` of filters + 2 edges that are evenly spaced on the mel scale. */
static int64_t bin_of_edge(const nd4c_ref_mel *mel, int64_t filters, int64_t i) {
  double low = mel_of(mel->lower), step = (mel_of(mel->upper) - low) / (double)(filters + 2);
  double hertz = 700 * (pow(10, ((double)i * step + low) / 2595) - 1);
  return (int64_t)floor((double)(mel->dft_length + 1) * hertz / mel->sample_rate);
}

void nd4c_ref_mel_weights(const nd4c_ref_mel *mel, const nd4c_ref_tensor *y) {
  int64_t bins = y->shape[0], filters = y->shape[1];
  for (int64_t i = 0; i < filters; i++) {
    int64_t low = bin_of_edge(mel, filters, i), center = bin_of_edge(mel, filters, i + 1);
    int64_t high = bin_of_edge(mel, filters, i + 2);
    for (int64_t j = 0; j < bins; j++) {
      double weight = 0;
      if (j >= center && j < high) {
        weight = (double)(high - j) / (double)(high - center);
      } else if (j >= low && j <= center) {
        weight = center == low ? 1 : (double)(j - low) / (double)(center - low);
      }
      nd4c_value value = nd4c_value_cast(ND4C_KIND_FLOAT, (nd4c_value){.f = weight}, y->dtype);
      nd4c_value_store(y->dtype, y->data, j * y->strides[0] + i * y->strides[1], value);
    }
  }
}

/* -- convolution ------------------------------------------------------------------------------------------------ */

enum { SIDE_BY_SIDE = 8 };

static int64_t least_of(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* sums[l] = sum over j of a[place + l - j] b[j] for `count` neighbours, which share most of their terms; each sum is in
 * the order of j. */
#define DEFINE_NEIGHBOURS(T, name)                                                                                     \
  static void add_terms_##name(const T *a, const T *b, int64_t place, int64_t from, int64_t to, T *sum) {              \
    for (int64_t j = from; j < to; j++) {                                                                              \
      *sum += a[place - j] * b[j];                                                                                     \
    }                                                                                                                  \
  }                                                                                                                    \
  static void neighbours_##name(const T *a, int64_t m, const T *b, int64_t n, int64_t place, int64_t count, T *sums) { \
    int64_t latest = place + count - 1, from = latest >= m ? latest - m + 1 : 0, to = least_of(place + 1, n);          \
    T all[SIDE_BY_SIDE] = {0};                                                                                         \
    to = to > from ? to : from;                                                                                        \
    for (int64_t l = 0; l < count; l++) {                                                                              \
      int64_t first = place + l >= m ? place + l - m + 1 : 0, end = least_of(place + l + 1, n);                        \
      add_terms_##name(a, b, place + l, first, least_of(from, end), &all[l]);                                          \
    }                                                                                                                  \
    for (int64_t j = from; j < to && count == SIDE_BY_SIDE; j++) {                                                     \
      for (int64_t l = 0; l < SIDE_BY_SIDE; l++) {                                                                     \
        all[l] += a[place + l - j] * b[j];                                                                             \
      }                                                                                                                \
    }                                                                                                                  \
    for (int64_t l = 0; l < count; l++) {                                                                              \
      int64_t end = least_of(place + l + 1, n);                                                                        \
      add_terms_##name(a, b, place + l, count == SIDE_BY_SIDE ? to : from, end, &all[l]);                              \
      sums[l] = all[l];                                                                                                \
    }                                                                                                                  \
  }
DEFINE_NEIGHBOURS(double, real)
DEFINE_NEIGHBOURS(double complex, complex)
DEFINE_NEIGHBOURS(uint64_t, whole)

void nd4c_ref_convolve(const nd4c_ref_convolve_args *args, int64_t begin, int64_t end) {
  const nd4c_ref_tensor *y = &args->y;
  for (int64_t i = begin; i < end; i += SIDE_BY_SIDE) {
    int64_t count = least_of(SIDE_BY_SIDE, end - i), start = i * y->strides[0];
    if (args->kind == ND4C_KIND_FLOAT) {
      double sums[SIDE_BY_SIDE];
      neighbours_real(args->a, args->m, args->b, args->n, i + args->shift, count, sums);
      nd4c_ref_write_doubles(y->dtype, y->data, start, y->strides[0], count, sums);
    } else if (args->kind == ND4C_KIND_COMPLEX) {
      double complex sums[SIDE_BY_SIDE];
      neighbours_complex(args->a, args->m, args->b, args->n, i + args->shift, count, sums);
      nd4c_ref_write_doubles(y->dtype, y->data, start, y->strides[0], count, (const double *)sums);
    } else {
      uint64_t sums[SIDE_BY_SIDE];
      neighbours_whole(args->a, args->m, args->b, args->n, i + args->shift, count, sums);
      nd4c_ref_write_words(y->dtype, y->data, start, y->strides[0], count, sums);
    }
  }
}
