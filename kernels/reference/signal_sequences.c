/* Windows, frequencies, mel filters, convolution. */
#include "kernels/reference/signal.h"

/* cos(2 pi k / n) for whole k, the angle reduced before it is a double. */
static double cosine(int64_t k, int64_t n) {
  int64_t part = k % n;
  return cos(6.283185307179586476925286766559 * ((double)part / (double)n));
}

void nd4c_ref_cosine_window(const nd4c_ref_tensor *y, double a0, double a1, double a2, bool periodic) {
  int64_t size = y->shape[0], n = periodic ? size : size - 1;
  for (int64_t i = 0; i < size; i++) {
    double value = n == 0 ? 1 : a0 - a1 * cosine(i, n) + a2 * cosine(2 * i, n);
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

static nd4c_value widened(const nd4c_ref_tensor *x, int64_t i, nd4c_dtype_kind kind) {
  nd4c_dtype_kind own = nd4c_reference_kind(x->dtype);
  nd4c_value value = nd4c_value_load(x->dtype, x->data, i * x->strides[0]);
  if (kind == ND4C_KIND_FLOAT) {
    return nd4c_value_cast(own, value, ND4C_FLOAT64);
  }
  if (kind == ND4C_KIND_COMPLEX && own != ND4C_KIND_COMPLEX) {
    value.c = nd4c_value_cast(own, value, ND4C_FLOAT64).f;
  }
  return value;
}

void nd4c_ref_convolve(const nd4c_ref_tensor *a, const nd4c_ref_tensor *b, const nd4c_ref_tensor *y, bool correlation,
                       int64_t shift, int64_t begin, int64_t end) {
  nd4c_dtype_kind kind = nd4c_reference_kind(y->dtype);
  int64_t m = a->shape[0], n = b->shape[0];
  for (int64_t i = begin; i < end; i++) {
    int64_t place = i + shift, first = place >= m ? place - m + 1 : 0, last = place < n ? place : n - 1;
    nd4c_value sum = {.c = 0};
    for (int64_t j = first; j <= last; j++) {
      nd4c_value u = widened(a, place - j, kind), v = widened(b, correlation ? n - 1 - j : j, kind);
      if (kind == ND4C_KIND_FLOAT) {
        sum.f += u.f * v.f;
      } else if (kind == ND4C_KIND_COMPLEX) {
        sum.c += u.c * (correlation ? conj(v.c) : v.c);
      } else {
        sum.u += u.u * v.u;
      }
    }
    nd4c_value_store(y->dtype, y->data, i * y->strides[0], sum);
  }
}
