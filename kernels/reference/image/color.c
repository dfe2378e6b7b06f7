/* Colours of pixels (image.h). The matrices are TensorFlow's, which ND4J has, too. backends/cpu/reference/image.c calls
 * these. */
#include "kernels/reference/image/image.h"
#include "kernels/reference/support/runs.h"

static void multiply_matrix(const double (*matrix)[3], int rows, const double *from, double *to) {
  for (int i = 0; i < rows; i++) {
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
static const double gray_of_rgb[1][3] = {{0.2989, 0.587, 0.114}};

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

const double (*nd4c_ref_color_matrix(nd4c_ref_color what))[3] {
  return what == ND4C_REF_RGB_TO_YIQ   ? yiq_of_rgb
         : what == ND4C_REF_YIQ_TO_RGB ? rgb_of_yiq
         : what == ND4C_REF_RGB_TO_YUV ? yuv_of_rgb
         : what == ND4C_REF_YUV_TO_RGB ? rgb_of_yuv
         : what == ND4C_REF_GRAYSCALE  ? gray_of_rgb
                                       : NULL;
}

static void convert(const nd4c_ref_color_args *args, const double *from, double *to) {
  const double(*matrix)[3] = nd4c_ref_color_matrix(args->what);
  double hsv[3];
  if (matrix != NULL) {
    multiply_matrix(matrix, args->what == ND4C_REF_GRAYSCALE ? 1 : 3, from, to);
  } else if (args->what == ND4C_REF_RGB_TO_HSV) {
    to_hsv(from, to);
  } else if (args->what == ND4C_REF_HSV_TO_RGB) {
    from_hsv(from, to);
  } else {
    to_hsv(from, hsv);
    hsv[0] += args->what == ND4C_REF_HUE ? args->amount : 0;
    hsv[1] *= args->what == ND4C_REF_HUE ? 1 : args->amount;
    hsv[1] = hsv[1] < 0 ? 0 : hsv[1] > 1 && args->what != ND4C_REF_HUE ? 1 : hsv[1];
    from_hsv(hsv, to);
  }
}

void nd4c_ref_color_convert(const nd4c_ref_color_args *args, int64_t begin, int64_t end) {
  const nd4c_ref_tensor *x = &args->x, *y = &args->y;
  nd4c_ref_axes pixels = nd4c_ref_axes_without(x, y, args->axis);
  for (int64_t number = begin; number < end; number++) {
    int64_t from, to;
    double in[3], out[3];
    nd4c_ref_axes_at(&pixels, number, &from, &to);
    nd4c_ref_read_doubles(x->dtype, x->data, from, x->strides[args->axis], 3, in);
    convert(args, in, out);
    nd4c_ref_write_doubles(y->dtype, y->data, to, y->strides[args->axis], y->shape[args->axis], out);
  }
}

void nd4c_ref_contrast(const nd4c_ref_contrast_args *args, int64_t begin, int64_t end) {
  const nd4c_ref_tensor *x = &args->x, *y = &args->y;
  int64_t rows = x->shape[args->spatial], columns = x->shape[args->spatial + 1];
  const int64_t *x_strides = x->strides + args->spatial, *y_strides = y->strides + args->spatial;
  nd4c_ref_axes planes = {.rank = 0};
  for (int32_t axis = 0; axis < x->rank; axis++) {
    if (axis != args->spatial && axis != args->spatial + 1) {
      planes.shape[planes.rank] = x->shape[axis];
      planes.x[planes.rank] = x->strides[axis];
      planes.y[planes.rank++] = y->strides[axis];
    }
  }
  for (int64_t number = begin; number < end; number++) {
    int64_t from, to;
    double sum = 0;
    nd4c_ref_axes_at(&planes, number, &from, &to);
    for (int64_t i = 0; i < rows * columns; i++) {
      sum += nd4c_ref_load(x, from + i / columns * x_strides[0] + i % columns * x_strides[1]);
    }
    double mean = sum / (double)(rows * columns);
    for (int64_t i = 0; i < rows * columns; i++) {
      double value = nd4c_ref_load(x, from + i / columns * x_strides[0] + i % columns * x_strides[1]);
      nd4c_ref_store(y, to + i / columns * y_strides[0] + i % columns * y_strides[1],
                     (value - mean) * args->factor + mean);
    }
  }
}
