/* Colours of pixels. The matrices are TensorFlow's, which ND4J has, too. */
#include "kernels/reference/image/image.h"

static void multiply_matrix(const double matrix[3][3], const double *from, double *to) {
  for (int i = 0; i < 3; i++) {
    to[i] = matrix[i][0] * from[0] + matrix[i][1] * from[1] + matrix[i][2] * from[2];
  }
}

static const double yiq_of_rgb[3][3] = {
    {0.299, 0.587, 0.114}, {0.59590059, -0.27455667, -0.32134392}, {0.21153661, -0.52273617, 0.31119955}};
static const double rgb_of_yiq[3][3] = {
    {1, 0.95598634, 0.6208248}, {1, -0.27201283, -0.64720424}, {1, -1.10674021, 1.70423049}};
static const double yuv_of_rgb[3][3] = {
    {0.299, 0.587, 0.114}, {-0.14714119, -0.28886916, 0.43601035}, {0.61497538, -0.51496512, -0.10001026}};
static const double rgb_of_yuv[3][3] = {{1, 0, 1.13988303}, {1, -0.394642334, -0.58062185}, {1, 2.03206185, 0}};

/* Smith's hexcone: hue in turns. */
static void to_hsv(const double *rgb, double *hsv) {
  double high = rgb[0] > rgb[1] ? rgb[0] : rgb[1], low = rgb[0] < rgb[1] ? rgb[0] : rgb[1];
  high = rgb[2] > high ? rgb[2] : high;
  low = rgb[2] < low ? rgb[2] : low;
  double range = high - low, hue = 0;
  if (range > 0) {
    hue = high == rgb[0]   ? (rgb[1] - rgb[2]) / range
          : high == rgb[1] ? 2 + (rgb[2] - rgb[0]) / range
                           : 4 + (rgb[0] - rgb[1]) / range;
    hue = hue < 0 ? hue / 6 + 1 : hue / 6;
  }
  hsv[0] = hue;
  hsv[1] = high > 0 ? range / high : 0;
  hsv[2] = high;
}

/* How much of a colour is taken away, 0 .. 1, at a distance of `turn` sixths from red. */
static double hue_share(double turn) {
  double distance = fabs(fmod(turn, 6) - 3);
  return distance < 1 ? 0 : distance > 2 ? 1 : distance - 1;
}

static void from_hsv(const double *hsv, double *rgb) {
  double turn = 6 * (hsv[0] - floor(hsv[0]));
  for (int i = 0; i < 3; i++) {
    double share = hue_share(turn + (double)(6 - 2 * i));
    rgb[i] = hsv[2] * (1 - hsv[1] * (1 - share));
  }
}

static void convert(const nd4c_ref_color_args *args, const double *from, double *to) {
  double hsv[3];
  switch (args->what) {
    case ND4C_REF_RGB_TO_HSV:
      to_hsv(from, to);
      break;
    case ND4C_REF_HSV_TO_RGB:
      from_hsv(from, to);
      break;
    case ND4C_REF_RGB_TO_YIQ:
      multiply_matrix(yiq_of_rgb, from, to);
      break;
    case ND4C_REF_YIQ_TO_RGB:
      multiply_matrix(rgb_of_yiq, from, to);
      break;
    case ND4C_REF_RGB_TO_YUV:
      multiply_matrix(yuv_of_rgb, from, to);
      break;
    case ND4C_REF_YUV_TO_RGB:
      multiply_matrix(rgb_of_yuv, from, to);
      break;
    case ND4C_REF_GRAYSCALE:
      to[0] = 0.2989 * from[0] + 0.587 * from[1] + 0.114 * from[2];
      break;
    default:
      to_hsv(from, hsv);
      if (args->what == ND4C_REF_HUE) {
        hsv[0] += args->amount;
      } else {
        hsv[1] *= args->amount;
        hsv[1] = hsv[1] < 0 ? 0 : hsv[1] > 1 ? 1 : hsv[1];
      }
      from_hsv(hsv, to);
  }
}

void nd4c_ref_color_convert(const nd4c_ref_color_args *args, int64_t begin, int64_t end) {
  const nd4c_ref_tensor *x = &args->x, *y = &args->y;
  int64_t colors = y->shape[args->axis];
  for (int64_t number = begin; number < end; number++) {
    int64_t rest = number, from = 0, to = 0;
    double in[3], out[3];
    for (int32_t axis = x->rank - 1; axis >= 0; axis--) {
      if (axis != args->axis) {
        int64_t at = rest % x->shape[axis];
        rest /= x->shape[axis];
        from += at * x->strides[axis];
        to += at * y->strides[axis];
      }
    }
    for (int64_t c = 0; c < 3; c++) {
      in[c] = nd4c_ref_load(x, from + c * x->strides[args->axis]);
    }
    convert(args, in, out);
    for (int64_t c = 0; c < colors; c++) {
      nd4c_ref_store(y, to + c * y->strides[args->axis], out[c]);
    }
  }
}

void nd4c_ref_contrast(const nd4c_ref_tensor *x, const nd4c_ref_tensor *y, double factor, int32_t spatial,
                       int64_t begin, int64_t end) {
  int64_t rows = x->shape[spatial], columns = x->shape[spatial + 1];
  const int64_t *x_strides = x->strides + spatial, *y_strides = y->strides + spatial;
  for (int64_t number = begin; number < end; number++) {
    int64_t rest = number, from = 0, to = 0;
    double sum = 0;
    for (int32_t axis = x->rank - 1; axis >= 0; axis--) {
      if (axis != spatial && axis != spatial + 1) {
        int64_t at = rest % x->shape[axis];
        rest /= x->shape[axis];
        from += at * x->strides[axis];
        to += at * y->strides[axis];
      }
    }
    for (int64_t i = 0; i < rows * columns; i++) {
      sum += nd4c_ref_load(x, from + i / columns * x_strides[0] + i % columns * x_strides[1]);
    }
    double mean = sum / (double)(rows * columns);
    for (int64_t i = 0; i < rows * columns; i++) {
      double value = nd4c_ref_load(x, from + i / columns * x_strides[0] + i % columns * x_strides[1]);
      nd4c_ref_store(y, to + i / columns * y_strides[0] + i % columns * y_strides[1], (value - mean) * factor + mean);
    }
  }
}
