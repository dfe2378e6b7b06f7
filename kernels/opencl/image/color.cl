/* Colours of pixels; behind image.cl. families/image_resize.c launches it for convert_color and adjust_contrast. */

enum { RGB_TO_HSV, HSV_TO_RGB, MATRIX, GRAYSCALE, HUE, SATURATION };

/* Smith's hexcone: hue in turns. */
static inline void to_hsv(const REAL *rgb, REAL *hsv) {
  REAL high = rgb[0] > rgb[1] ? rgb[0] : rgb[1], low = rgb[0] < rgb[1] ? rgb[0] : rgb[1];
  high = rgb[2] > high ? rgb[2] : high;
  low = rgb[2] < low ? rgb[2] : low;
  REAL range = high - low, hue = 0;
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

static inline void from_hsv(const REAL *hsv, REAL *rgb) {
  REAL turn = 6 * (hsv[0] - floor(hsv[0]));
  for (int i = 0; i < 3; i++) {
    REAL distance = fabs(fmod(turn + (REAL)(6 - 2 * i), (REAL)6) - 3);
    REAL share = distance < 1 ? 0 : distance > 2 ? 1 : distance - 1;
    rgb[i] = hsv[2] * (1 - hsv[1] * (1 - share));
  }
}

typedef struct {
  REAL numbers[9];
} nd4c_matrix;

/* Operands of the walk: x and y but for the colours' axis. amount: of hue and saturation. */
__kernel void convert_color(__global const STORAGE(A) *x, long x0, long x_step, __global STORAGE(A) *y, long y0,
                            long y_step, nd4c_walk walk, int what, nd4c_matrix matrix, REAL amount, long items) {
  ITEM(number, items)
  long at[2] = {x0, y0};
  REAL in[3], out[3], hsv[3];
  PLACES(walk, number, 2, at)
  for (int c = 0; c < 3; c++) {
    in[c] = LOAD(A, x, at[0] + c * x_step);
  }
  if (what == RGB_TO_HSV) {
    to_hsv(in, out);
  } else if (what == HSV_TO_RGB) {
    from_hsv(in, out);
  } else if (what == MATRIX || what == GRAYSCALE) {
    for (int i = 0; i < 3; i++) {
      out[i] = matrix.numbers[3 * i] * in[0] + matrix.numbers[3 * i + 1] * in[1] + matrix.numbers[3 * i + 2] * in[2];
    }
  } else {
    to_hsv(in, hsv);
    if (what == HUE) {
      hsv[0] += amount;
    } else {
      hsv[1] *= amount;
      hsv[1] = hsv[1] < 0 ? 0 : hsv[1] > 1 ? 1 : hsv[1];
    }
    from_hsv(hsv, out);
  }
  for (int c = 0; c < (what == GRAYSCALE ? 1 : 3); c++) {
    STORE(y, at[1] + c * y_step, out[c]);
  }
}

/* Mean of each plane; operand of the walks: x but for the plane, x in the plane. */
__kernel void find_means(__global const STORAGE(A) *x, long x0, nd4c_walk planes, nd4c_walk plane, __global REAL *means,
                         long items) {
  ITEM(number, items)
  long at[1] = {x0};
  REAL sum = 0;
  PLACES(planes, number, 1, at)
  for (long i = 0; i < plane.size; i++) {
    long element[1] = {at[0]};
    PLACES(plane, i, 1, element)
    sum += LOAD(A, x, element[0]);
  }
  means[number] = sum / (REAL)plane.size;
}

/* Operands: x, y, the plane's number. */
__kernel void change_contrast(__global const STORAGE(A) *x, long x0, __global STORAGE(A) *y, long y0, nd4c_walk walk,
                              __global const REAL *means, REAL factor, long items) {
  ITEM(number, items)
  AT3(walk, number, x0, y0, 0)
  REAL mean = means[at[2]];
  STORE(y, at[1], ((REAL)LOAD(A, x, at[0]) - mean) * factor + mean);
}
