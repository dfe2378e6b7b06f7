/* Implements colors.h. Compiled once per level: the compiler vectorises the plain loops, whose divisions are made
 * whether or not a pixel needs them. */
#include "kernels/cpu/image/colors.h"

#include "kernels/cpu/support/level.h"

extern const nd4c_colors_table ND4C_LEVEL_NAME(nd4c_colors_table);

enum { BLOCK = ND4C_COLORS_BLOCK };

/* Pixels beyond n are zeros. Both usual layouts have constant steps. */
#define DEFINE_MOVES(T, name)                                                                                      \
  ND4C_INLINED void load_any_##name(int64_t n, const T *x, int64_t step, int64_t apart, double(*to)[BLOCK]) {      \
    for (int k = 0; k < 3; k++) {                                                                                  \
      for (int64_t i = 0; i < n; i++) {                                                                            \
        to[k][i] = (double)x[i * step + k * apart];                                                                \
      }                                                                                                            \
      for (int64_t i = n; i < BLOCK; i++) {                                                                        \
        to[k][i] = 0;                                                                                              \
      }                                                                                                            \
    }                                                                                                              \
  }                                                                                                                \
  static void load_##name(int64_t n, const T *x, int64_t step, int64_t apart, double(*to)[BLOCK]) {                \
    if (step == 1) {                                                                                               \
      load_any_##name(n, x, 1, apart, to);                                                                         \
    } else {                                                                                                       \
      load_any_##name(n, x, step, apart, to);                                                                      \
    }                                                                                                              \
  }                                                                                                                \
  ND4C_INLINED void store_any_##name(int64_t n, int64_t colors, double(*from)[BLOCK], int64_t step, int64_t apart, \
                                     T *y) {                                                                       \
    for (int64_t k = 0; k < colors; k++) {                                                                         \
      ND4C_INDEPENDENT                                                                                             \
      for (int64_t i = 0; i < n; i++) {                                                                            \
        y[i * step + k * apart] = (T)from[k][i];                                                                   \
      }                                                                                                            \
    }                                                                                                              \
  }                                                                                                                \
  static void store_##name(int64_t n, int64_t colors, double(*from)[BLOCK], int64_t step, int64_t apart, T *y) {   \
    if (step == 1) {                                                                                               \
      store_any_##name(n, colors, from, 1, apart, y);                                                              \
    } else {                                                                                                       \
      store_any_##name(n, colors, from, step, apart, y);                                                           \
    }                                                                                                              \
  }
DEFINE_MOVES(float, float32)
DEFINE_MOVES(double, float64)

static void multiply(const double (*matrix)[3], int64_t rows, double (*pixels)[BLOCK]) {
  double result[3][BLOCK];
  for (int64_t k = 0; k < rows; k++) {
    for (int i = 0; i < BLOCK; i++) {
      result[k][i] = matrix[k][0] * pixels[0][i] + matrix[k][1] * pixels[1][i] + matrix[k][2] * pixels[2][i];
    }
  }
  for (int64_t k = 0; k < rows; k++) {
    for (int i = 0; i < BLOCK; i++) {
      pixels[k][i] = result[k][i];
    }
  }
}

static void to_hsv(double (*pixels)[BLOCK]) {
  double *reds = pixels[0], *greens = pixels[1], *blues = pixels[2];
  ND4C_INDEPENDENT
  for (int i = 0; i < BLOCK; i++) {
    const double r = reds[i], g = greens[i], b = blues[i];
    double high = r > g ? r : g, low = r < g ? r : g;
    high = b > high ? b : high;
    low = b < low ? b : low;
    const double range = high - low, divisor = range > 0 ? range : 1;
    const double red = (g - b) / divisor, green = 2 + (b - r) / divisor, blue = 4 + (r - g) / divisor;
    const double sixths = high == r ? red : high == g ? green : blue;
    const double turns = sixths / 6, next = turns + 1;
    const double hue = sixths < 0 ? next : turns;
    const double share = range / (high > 0 ? high : 1);
    reds[i] = range > 0 ? hue : 0;
    greens[i] = high > 0 ? share : 0;
    blues[i] = high;
  }
}

static void adjust(double turn, double factor, int limited, double (*pixels)[BLOCK]) {
  const double most = limited ? 1 : (double)INFINITY;
  for (int i = 0; i < BLOCK; i++) {
    const double saturation = pixels[1][i] * factor;
    pixels[0][i] += turn;
    pixels[1][i] = saturation < 0 ? 0 : saturation > most ? most : saturation;
  }
}

/* How much of a colour is taken away at `turn` sixths, 2 .. 12, from red. */
ND4C_INLINED double hue_share(double turn) {
  turn = turn >= 12 ? turn - 12 : turn >= 6 ? turn - 6 : turn;
  const double distance = fabs(turn - 3), inner = distance - 1;
  return distance < 1 ? 0 : distance > 2 ? 1 : inner;
}

static void from_hsv(double (*pixels)[BLOCK]) {
  double *hues = pixels[0], *saturations = pixels[1], *values = pixels[2];
  ND4C_INDEPENDENT
  for (int i = 0; i < BLOCK; i++) {
    const double turn = 6 * (hues[i] - floor(hues[i])), saturation = saturations[i], value = values[i];
    hues[i] = value * (1 - saturation * (1 - hue_share(turn + 6)));
    saturations[i] = value * (1 - saturation * (1 - hue_share(turn + 4)));
    values[i] = value * (1 - saturation * (1 - hue_share(turn + 2)));
  }
}

const nd4c_colors_table ND4C_LEVEL_NAME(nd4c_colors_table) = {.load_float32 = load_float32,
                                                              .load_float64 = load_float64,
                                                              .store_float32 = store_float32,
                                                              .store_float64 = store_float64,
                                                              .multiply = multiply,
                                                              .to_hsv = to_hsv,
                                                              .adjust = adjust,
                                                              .from_hsv = from_hsv};
