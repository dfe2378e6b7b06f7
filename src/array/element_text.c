/* Implements element_text.h: measures elements, then writes each as a word. format.c calls it for arrays,
 * dispatch/text/cast.c for casts of single elements to strings. */
#include "array/element_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "array/decimal.h"
#include "array/half.h"
#include "array/narrow.h"
#include "base/status.h"

/* -- reading elements ----------------------------------------------------------------------------------------- */

/* The real (part 0) or imaginary (part 1) part. */
static double read_float(nd4c_dtype dtype, const char *element, int part) {
  uint16_t half;
  float parts32[2] = {0, 0};
  double parts64[2] = {0, 0};
  switch (dtype) {
    case ND4C_FLOAT16:
      memcpy(&half, element, sizeof half);
      return (double)nd4c_float16_to_float(half);
    case ND4C_BFLOAT16:
      memcpy(&half, element, sizeof half);
      return (double)nd4c_bfloat16_to_float(half);
    case ND4C_FLOAT32:
      memcpy(parts32, element, sizeof(float));
      return (double)parts32[0];
    case ND4C_COMPLEX64:
      memcpy(parts32, element, sizeof parts32);
      return (double)parts32[part];
    case ND4C_FLOAT64:
      memcpy(parts64, element, sizeof(double));
      return parts64[0];
    default:
      memcpy(parts64, element, sizeof parts64);
      return parts64[part];
  }
}

static size_t integer_text(nd4c_dtype dtype, const char *element, char *text, size_t size) {
  uint64_t bits = 0;
  int64_t bytes = nd4c_dtype_size(dtype);
  memcpy(&bits, element, (size_t)bytes);
  int unused = (int)(64 - 8 * bytes);
  int64_t value = (int64_t)(bits << unused) >> unused;
  int length = nd4c_dtype_get_info(dtype)->kind == ND4C_KIND_INT ? snprintf(text, size, "%" PRId64, value)
                                                                 : snprintf(text, size, "%" PRIu64, bits);
  return (size_t)length;
}

/* A number as its dtype would round it: NumPy compares within the dtype. */
static double as_dtype(nd4c_dtype dtype, double value) {
  switch (dtype) {
    case ND4C_FLOAT16:
      return (double)nd4c_float16_to_float(nd4c_float16_from_double(value));
    case ND4C_BFLOAT16:
      return (double)nd4c_bfloat16_to_float(nd4c_bfloat16_from_double(value));
    case ND4C_FLOAT32:
    case ND4C_COMPLEX64:
      return (double)(float)value;
    default:
      return value;
  }
}

/* -- visiting ------------------------------------------------------------------------------------------------- */

static bool axis_is_cut(const nd4c_element_walk *walk, int32_t axis) {
  return walk->edge >= 0 && walk->shape[axis] / 2 >= walk->edge && walk->shape[axis] > 2 * walk->edge;
}

int64_t nd4c_walk_step(const nd4c_element_walk *walk) {
  return nd4c_dtype_bytes(walk->dtype, 1);
}

int64_t nd4c_walk_count(const nd4c_element_walk *walk, int32_t axis) {
  return axis_is_cut(walk, axis) ? 2 * walk->edge : walk->shape[axis];
}

int64_t nd4c_walk_index(const nd4c_element_walk *walk, int32_t axis, int64_t n) {
  bool behind = axis_is_cut(walk, axis) && n >= walk->edge && !walk->gathered;
  return behind ? walk->shape[axis] - 2 * walk->edge + n : n;
}

typedef void (*visitor)(void *user, const char *element);

static void walk_all(const nd4c_element_walk *walk, int32_t axis, const char *element, visitor visit, void *user) {
  if (axis == walk->rank) {
    visit(user, element);
    return;
  }
  int64_t count = nd4c_walk_count(walk, axis), step = walk->strides[axis] * nd4c_walk_step(walk);
  for (int64_t n = 0; n < count; n++) {
    walk_all(walk, axis + 1, element + nd4c_walk_index(walk, axis, n) * step, visit, user);
  }
}

/* -- measuring ------------------------------------------------------------------------------------------------ */

/* One pass over one part of all elements. */
typedef struct float_survey {
  nd4c_dtype dtype;
  int part;
  double largest, smallest; /* magnitudes, not counting zeros */
  bool any_finite, any_not_finite, any_negative_infinity;
  nd4c_number_style style; /* second pass */
  int left, right, exponent_digits;
} float_survey;

static void survey_range(void *user, const char *element) {
  float_survey *survey = user;
  double value = read_float(survey->dtype, element, survey->part);
  if (!isfinite(value)) {
    survey->any_not_finite = true;
    survey->any_negative_infinity = survey->any_negative_infinity || (isinf(value) && value < 0);
    return;
  }
  survey->any_finite = true;
  double magnitude = fabs(value);
  if (magnitude > 0) {
    survey->largest = magnitude > survey->largest ? magnitude : survey->largest;
    survey->smallest = magnitude < survey->smallest ? magnitude : survey->smallest;
  }
}

static void survey_widths(void *user, const char *element) {
  float_survey *survey = user;
  double value = read_float(survey->dtype, element, survey->part);
  if (!isfinite(value)) {
    return;
  }
  char text[ND4C_NUMBER_TEXT];
  int length = (int)nd4c_number_text(survey->dtype, value, &survey->style, text);
  const char *power = strchr(text, 'e');
  int end = power != NULL ? (int)(power - text) : length;
  int left = (int)(strchr(text, '.') - text), right = end - left - 1;
  survey->left = left > survey->left ? left : survey->left;
  survey->right = right > survey->right ? right : survey->right;
  int exponent_digits = power != NULL ? length - end - 2 : 0;
  survey->exponent_digits = exponent_digits > survey->exponent_digits ? exponent_digits : survey->exponent_digits;
}

/* From here on NumPy writes powers of ten: 10^8, or less where the dtype has fewer digits. */
static double scientific_from(nd4c_dtype dtype) {
  return dtype == ND4C_FLOAT64 || dtype == ND4C_COMPLEX128  ? 1e8
         : dtype == ND4C_FLOAT32 || dtype == ND4C_COMPLEX64 ? 1e6
                                                            : 1e3;
}

static void measure_floats(const nd4c_element_walk *walk, int part, int precision, nd4c_float_columns *columns) {
  nd4c_dtype dtype = walk->dtype;
  float_survey survey = {.dtype = dtype, .part = part, .smallest = INFINITY};
  walk_all(walk, 0, walk->element0, survey_range, &survey);
  columns->plus = part == 1;
  columns->precision = precision;
  columns->scientific =
      survey.largest > 0 && (survey.largest >= scientific_from(dtype) || survey.smallest < as_dtype(dtype, 0.0001) ||
                             as_dtype(dtype, survey.largest / survey.smallest) > 1000);
  if (survey.any_finite) {
    survey.style = (nd4c_number_style){columns->scientific, precision, 0, true, columns->plus, 2};
    walk_all(walk, 0, walk->element0, survey_widths, &survey);
  }
  columns->left = survey.left;
  columns->right = survey.right;
  if (columns->scientific) {
    columns->precision = survey.right;
    columns->exponent_digits = survey.exponent_digits;
    columns->right = survey.right + survey.exponent_digits + 2;
  }
  if (survey.any_not_finite) {
    int sign = columns->plus || survey.any_negative_infinity, needed = 3 + sign - (columns->right + 1);
    int needed_nan = 3 - (columns->right + 1);
    needed = needed > needed_nan ? needed : needed_nan;
    columns->left = columns->left > needed ? columns->left : needed;
  }
}

typedef struct integer_survey {
  nd4c_dtype dtype;
  int width;
} integer_survey;

static void survey_integer(void *user, const char *element) {
  integer_survey *survey = user;
  char text[32];
  int width = (int)integer_text(survey->dtype, element, text, sizeof text);
  survey->width = width > survey->width ? width : survey->width;
}

void nd4c_element_measure(const nd4c_element_walk *walk, int precision, nd4c_element_columns *columns) {
  memset(columns, 0, sizeof *columns);
  columns->dtype = walk->dtype;
  columns->scalar = walk->rank == 0;
  nd4c_dtype_kind kind = nd4c_dtype_get_info(walk->dtype)->kind;
  if (nd4c_dtype_is_narrow(walk->dtype)) {
    return; /* ml_dtypes writes each for itself, without common columns */
  }
  if (kind == ND4C_KIND_INT || kind == ND4C_KIND_UINT) {
    integer_survey survey = {.dtype = walk->dtype};
    walk_all(walk, 0, walk->element0, survey_integer, &survey);
    columns->width = survey.width;
  } else if (kind == ND4C_KIND_FLOAT || kind == ND4C_KIND_COMPLEX) {
    measure_floats(walk, 0, precision, &columns->real);
    if (kind == ND4C_KIND_COMPLEX) {
      measure_floats(walk, 1, precision, &columns->imaginary);
    }
  }
}

/* -- words ---------------------------------------------------------------------------------------------------- */

static void append_spaces(nd4c_text *text, int count) {
  for (int i = 0; i < count; i++) {
    nd4c_text_append(text, " ", 1);
  }
}

static const char *not_finite_name(double value, bool plus) {
  return isnan(value) ? (plus ? "+nan" : "nan") : value < 0 ? "-inf" : plus ? "+inf" : "inf";
}

/* `suffix` goes before the spaces at the end. */
static void append_float(nd4c_dtype dtype, double value, const nd4c_float_columns *columns, const char *suffix,
                         nd4c_text *text) {
  if (!isfinite(value)) {
    const char *name = not_finite_name(value, columns->plus);
    append_spaces(text, columns->left + columns->right + 1 - (int)strlen(name));
    nd4c_text_print(text, "%s%s", name, suffix);
    return;
  }
  nd4c_number_style style = {.scientific = columns->scientific,
                             .precision = columns->precision,
                             .minimum = columns->scientific ? columns->precision : 0,
                             .point = true,
                             .plus = columns->plus,
                             .exponent_digits = columns->exponent_digits};
  char word[ND4C_NUMBER_TEXT];
  int length = (int)nd4c_number_text(dtype, value, &style, word);
  int left = (int)(strchr(word, '.') - word);
  append_spaces(text, columns->left - left);
  nd4c_text_print(text, "%s%s", word, suffix);
  append_spaces(text, columns->right - (length - left - 1));
}

/* The bytes of one utf8 element. */
static nd4c_status find_string(const nd4c_element_walk *walk, const char *element, const char **bytes,
                               int64_t *length) {
  int64_t pair[2];
  memcpy(pair, element, sizeof pair);
  if (pair[0] < 0 || pair[1] < 0 || pair[1] > walk->text_bytes || pair[0] > walk->text_bytes - pair[1]) {
    return nd4c_fail(ND4C_FORMAT, "a string of %lld bytes at byte %lld lies outside of its storage of %lld bytes",
                     (long long)pair[1], (long long)pair[0], (long long)walk->text_bytes);
  }
  *bytes = walk->text_base + pair[0];
  *length = pair[1];
  return ND4C_OK;
}

/* As Python's repr of a string. */
static void append_quoted(const char *bytes, int64_t length, nd4c_text *text) {
  size_t count = (size_t)length;
  bool single = count > 0 && memchr(bytes, '\'', count) != NULL;
  bool twofold = count > 0 && memchr(bytes, '"', count) != NULL;
  char quote = single && !twofold ? '"' : '\'';
  nd4c_text_append(text, &quote, 1);
  for (size_t i = 0; i < count; i++) {
    unsigned char c = (unsigned char)bytes[i];
    if (c == (unsigned char)quote || c == '\\') {
      nd4c_text_print(text, "\\%c", c);
    } else if (c == '\n' || c == '\t' || c == '\r') {
      nd4c_text_print(text, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
    } else if (c < 0x20 || c == 0x7f) {
      nd4c_text_print(text, "\\x%02x", c);
    } else if (c == 0xc2 && i + 1 < count && (unsigned char)bytes[i + 1] < 0xa0) {
      nd4c_text_print(text, "\\x%02x", (unsigned char)bytes[++i]); /* the C1 control codes */
    } else {
      nd4c_text_append(text, &bytes[i], 1);
    }
  }
  nd4c_text_append(text, &quote, 1);
}

static void append_integer(const nd4c_element_columns *columns, const char *element, nd4c_text *text) {
  char word[32];
  int length = (int)integer_text(columns->dtype, element, word, sizeof word);
  append_spaces(text, columns->width - length);
  nd4c_text_append(text, word, (size_t)length);
}

/* As C's %g, which is what ml_dtypes prints, with a point in any locale. */
static void append_narrow(nd4c_dtype dtype, const char *element, nd4c_text *text) {
  double value = nd4c_narrow_to_double(dtype, (uint8_t)*element);
  char word[32];
  if (!isfinite(value)) {
    nd4c_text_print(text, "%s", not_finite_name(value, false));
    return;
  }
  (void)snprintf(word, sizeof word, "%g", value);
  for (char *c = word; *c != '\0'; c++) {
    *c = strchr("+-0123456789e", *c) == NULL ? '.' : *c;
  }
  nd4c_text_print(text, "%s", word);
}

nd4c_status nd4c_element_append(const nd4c_element_walk *walk, const nd4c_element_columns *columns, const char *element,
                                nd4c_text *text) {
  const char *bytes = "";
  int64_t length = 0;
  if (nd4c_dtype_is_narrow(columns->dtype)) {
    append_narrow(columns->dtype, element, text);
    return ND4C_OK;
  }
  switch (nd4c_dtype_get_info(columns->dtype)->kind) {
    case ND4C_KIND_BOOL:
      nd4c_text_print(text, "%s", *element == 0 ? "False" : columns->scalar ? "True" : " True");
      break;
    case ND4C_KIND_INT:
    case ND4C_KIND_UINT:
      append_integer(columns, element, text);
      break;
    case ND4C_KIND_FLOAT:
      append_float(columns->dtype, read_float(columns->dtype, element, 0), &columns->real, "", text);
      break;
    case ND4C_KIND_COMPLEX:
      append_float(columns->dtype, read_float(columns->dtype, element, 0), &columns->real, "", text);
      append_float(columns->dtype, read_float(columns->dtype, element, 1), &columns->imaginary, "j", text);
      break;
    case ND4C_KIND_STRING:
      ND4C_TRY(find_string(walk, element, &bytes, &length));
      append_quoted(bytes, length, text);
      break;
    case ND4C_KIND_NONE:
      break;
  }
  return ND4C_OK;
}

/* -- scalars -------------------------------------------------------------------------------------------------- */

/* Positional from 10^-4 to 10^16, or to what the dtype's digits reach. `fraction`: digits after the point at least. */
static void append_scalar_float(nd4c_dtype dtype, double value, int fraction, bool plus, nd4c_text *text) {
  if (!isfinite(value)) {
    nd4c_text_print(text, "%s", not_finite_name(value, plus));
    return;
  }
  double magnitude = fabs(value);
  double limit = scientific_from(dtype) < 1e8 ? scientific_from(dtype) : 1e16;
  bool scientific = magnitude > 0 && (magnitude < 1e-4 || magnitude >= limit);
  nd4c_number_style style = {
      .scientific = scientific, .precision = -1, .minimum = scientific ? 0 : fraction, .plus = plus};
  char word[ND4C_NUMBER_TEXT];
  nd4c_text_append(text, word, nd4c_number_text(dtype, value, &style, word));
}

static void append_scalar_complex(nd4c_dtype dtype, const char *element, nd4c_text *text) {
  double real = read_float(dtype, element, 0), imaginary = read_float(dtype, element, 1);
  bool only_imaginary = !(real < 0 || real > 0 || isnan(real)) && !signbit(real);
  if (!only_imaginary) {
    nd4c_text_append(text, "(", 1);
    append_scalar_float(dtype, real, 0, false, text);
  }
  append_scalar_float(dtype, imaginary, 0, !only_imaginary, text);
  nd4c_text_print(text, "%s", only_imaginary ? "j" : "j)");
}

nd4c_status nd4c_element_append_scalar(const nd4c_element_walk *walk, nd4c_text *text) {
  nd4c_element_columns columns = {.dtype = walk->dtype, .scalar = true};
  const char *bytes = "";
  int64_t length = 0;
  if (nd4c_dtype_is_narrow(walk->dtype)) {
    append_narrow(walk->dtype, walk->element0, text);
    return ND4C_OK;
  }
  switch (nd4c_dtype_get_info(walk->dtype)->kind) {
    case ND4C_KIND_FLOAT:
      append_scalar_float(walk->dtype, read_float(walk->dtype, walk->element0, 0), 1, false, text);
      return ND4C_OK;
    case ND4C_KIND_COMPLEX:
      append_scalar_complex(walk->dtype, walk->element0, text);
      return ND4C_OK;
    case ND4C_KIND_STRING:
      ND4C_TRY(find_string(walk, walk->element0, &bytes, &length));
      nd4c_text_append(text, bytes, (size_t)length);
      return ND4C_OK;
    default:
      return nd4c_element_append(walk, &columns, walk->element0, text);
  }
}
