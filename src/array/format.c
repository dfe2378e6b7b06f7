/* Implements format.h: brackets, separators, line breaks and summaries. device/access/print.c calls it for
 * nd4c_array_format. */
#include "array/format.h"

#include <string.h>

#include "array/element_text.h"
#include "array/narrow.h"
#include "array/shape.h"
#include "base/alloc.h"
#include "base/status.h"

enum { DEFAULT_PRECISION = 8, DEFAULT_THRESHOLD = 1000, DEFAULT_EDGE = 3, DEFAULT_WIDTH = 75, SHAPE_TEXT_SIZE = 1024 };

/* State of one printing. `line` is the number of characters on the current line. */
typedef struct printer {
  nd4c_element_walk walk;
  nd4c_element_columns columns;
  nd4c_print_options options;
  const char *separator;  /* " " or ", " */
  int64_t separator_size; /* without its space */
  nd4c_text text, word;
  int64_t line;
  nd4c_status status;
} printer;

static int64_t count_characters(const char *bytes, size_t length) {
  int64_t count = 0;
  for (size_t i = 0; i < length; i++) {
    count += ((unsigned char)bytes[i] & 0xc0) != 0x80;
  }
  return count;
}

static void put_spaces(printer *p, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    nd4c_text_append(&p->text, " ", 1);
  }
}

static void put_new_line(printer *p, int64_t indent) {
  while (p->text.length > 0 && p->text.bytes[p->text.length - 1] == ' ') {
    p->text.bytes[--p->text.length] = '\0';
  }
  nd4c_text_append(&p->text, "\n", 1);
  put_spaces(p, indent);
  p->line = indent;
}

/* Appends p->word, on a new line if it would reach beyond `width` and that helps. */
static void put_word(printer *p, int64_t width, int64_t indent) {
  int64_t size = count_characters(p->word.bytes != NULL ? p->word.bytes : "", p->word.length);
  if (p->line + size > width && p->line > indent) {
    put_new_line(p, indent);
  }
  nd4c_text_append(&p->text, p->word.bytes != NULL ? p->word.bytes : "", p->word.length);
  p->line += size;
}

static void put_separator(printer *p) {
  nd4c_text_print(&p->text, "%s", p->separator);
  p->line += (int64_t)strlen(p->separator);
}

/* One row: words side by side, wrapped. */
static void put_row(printer *p, int32_t axis, const char *element, int64_t indent, int64_t width) {
  int64_t count = nd4c_walk_count(&p->walk, axis), cut = count < p->walk.shape[axis] ? p->walk.edge : -1;
  int64_t step = p->walk.strides[axis] * nd4c_walk_step(&p->walk);
  width -= p->separator_size > 1 ? p->separator_size : 1; /* room for the separator or the bracket */
  p->line = indent;
  for (int64_t n = 0; n < count && p->status == ND4C_OK; n++) {
    if (n == cut) {
      p->word.length = 0;
      nd4c_text_append(&p->word, "...", 3);
      put_word(p, width, indent);
      put_separator(p);
    }
    p->word.length = 0;
    p->status =
        nd4c_element_append(&p->walk, &p->columns, element + nd4c_walk_index(&p->walk, axis, n) * step, &p->word);
    put_word(p, width, indent);
    if (n + 1 < count) {
      put_separator(p);
    }
  }
}

static void put_axis(printer *p, int32_t axis, const char *element, int64_t indent, int64_t width);

/* Between the parts of an axis: the separator without its space, and one new line more for each axis inside. */
static void put_break(printer *p, int32_t axis, int64_t indent) {
  nd4c_text_append(&p->text, p->separator, (size_t)p->separator_size);
  for (int32_t i = axis + 1; i < p->walk.rank; i++) {
    nd4c_text_append(&p->text, "\n", 1);
  }
  put_spaces(p, indent);
}

static void put_parts(printer *p, int32_t axis, const char *element, int64_t indent, int64_t width) {
  int64_t count = nd4c_walk_count(&p->walk, axis), cut = count < p->walk.shape[axis] ? p->walk.edge : -1;
  int64_t step = p->walk.strides[axis] * nd4c_walk_step(&p->walk);
  for (int64_t n = 0; n < count && p->status == ND4C_OK; n++) {
    if (n > 0) {
      put_break(p, axis, indent);
    }
    if (n == cut) {
      nd4c_text_append(&p->text, "...", 3);
      put_break(p, axis, indent);
    }
    put_axis(p, axis + 1, element + nd4c_walk_index(&p->walk, axis, n) * step, indent, width);
  }
}

/* `indent`: the column of the bracket. */
static void put_axis(printer *p, int32_t axis, const char *element, int64_t indent, int64_t width) {
  nd4c_text_append(&p->text, "[", 1);
  if (axis + 1 == p->walk.rank) {
    put_row(p, axis, element, indent + 1, width);
  } else {
    put_parts(p, axis, element, indent + 1, width - 1);
  }
  nd4c_text_append(&p->text, "]", 1);
}

static void put_elements(printer *p, int64_t indent, int64_t width) {
  if (p->walk.rank == 0) {
    p->status = nd4c_element_append(&p->walk, &p->columns, p->walk.element0, &p->text);
  } else {
    put_axis(p, 0, p->walk.element0, indent, width);
  }
}

static bool dtype_is_implied(nd4c_dtype dtype) {
  return dtype == ND4C_BOOL || dtype == ND4C_INT64 || dtype == ND4C_FLOAT64 || dtype == ND4C_COMPLEX128;
}

/* "shape=(0, 3), dtype=float32)" if the elements do not imply it. */
static void put_extras(printer *p, const nd4c_array *array) {
  nd4c_text extras = {0};
  bool summarised = array->size > p->options.threshold;
  if ((array->size == 0 && array->rank != 1) || summarised) {
    char shape[SHAPE_TEXT_SIZE];
    nd4c_text_print(&extras, "shape=%s", nd4c_shape_text(array->rank, array->shape, shape, sizeof shape));
  }
  if (!dtype_is_implied(array->dtype) || array->size == 0) {
    const char *name = nd4c_dtype_name(array->dtype);
    const char *quote = strchr(name, '_') != NULL ? "'" : "";
    nd4c_text_print(&extras, "%sdtype=%s%s%s", extras.length > 0 ? ", " : "", quote, name, quote);
  }
  if (extras.length > 0) {
    nd4c_text_append(&p->text, ",", 1);
    const char *last = p->text.bytes != NULL ? strrchr(p->text.bytes, '\n') : NULL;
    const char *line = last != NULL ? last + 1 : p->text.bytes != NULL ? p->text.bytes : "";
    int64_t size = count_characters(line, strlen(line));
    if (size + (int64_t)extras.length + 2 > p->options.line_width) {
      put_new_line(p, (int64_t)strlen("array("));
    } else {
      nd4c_text_append(&p->text, " ", 1);
    }
    nd4c_text_append(&p->text, extras.bytes, extras.length);
  }
  p->text.failed = p->text.failed || extras.failed;
  nd4c_text_free(&extras);
  nd4c_text_append(&p->text, ")", 1);
}

static nd4c_status options_resolve(const nd4c_print_options *given, nd4c_print_options *options) {
  *options =
      (nd4c_print_options){sizeof *options, DEFAULT_PRECISION, DEFAULT_THRESHOLD, DEFAULT_EDGE, DEFAULT_WIDTH, false};
  if (given == NULL) {
    return ND4C_OK;
  }
  if (given->struct_size < sizeof *options) {
    return nd4c_fail(ND4C_ARGUMENT, "array_format: struct_size is %u, expected at least %zu",
                     (unsigned)given->struct_size, sizeof *options);
  }
  *options = *given;
  if (options->precision < 0 || options->threshold < 0 || options->edge_items < 1 || options->line_width < 1) {
    return nd4c_fail(ND4C_ARGUMENT,
                     "array_format: precision %d, threshold %lld, edge_items %d, line_width %d: expected at least 0, "
                     "0, 1, 1",
                     (int)options->precision, (long long)options->threshold, (int)options->edge_items,
                     (int)options->line_width);
  }
  return ND4C_OK;
}

/* The codes of a packed array, a byte each. */
static nd4c_status unpack_codes(const nd4c_array *array, const void *element0, char **codes) {
  *codes = nd4c_allocate((size_t)array->size + 1);
  if (*codes == NULL) {
    return nd4c_fail_memory("printing an array", (size_t)array->size);
  }
  for (int64_t i = 0; i < array->size; i++) {
    (*codes)[i] = (char)nd4c_narrow_get(array->dtype, element0, i);
  }
  return ND4C_OK;
}

static void print_array(printer *p, const nd4c_array *array) {
  static const char prefix[] = "array(";
  bool repr = p->options.repr;
  if (repr) {
    nd4c_text_print(&p->text, "%s", prefix);
  }
  if (array->size == 0) {
    nd4c_text_print(&p->text, "[]");
  } else if (array->rank == 0 && !repr) {
    p->status = nd4c_element_append_scalar(&p->walk, &p->text);
  } else {
    nd4c_element_measure(&p->walk, (int)p->options.precision, &p->columns);
    put_elements(p, repr ? (int64_t)strlen(prefix) : 0, p->options.line_width - (repr ? 1 : 0));
  }
  if (repr) {
    put_extras(p, array);
  }
}

static nd4c_element_walk make_walk(const nd4c_array *array, const nd4c_print_options *options) {
  return (nd4c_element_walk){.dtype = array->dtype,
                             .rank = array->rank,
                             .shape = array->shape,
                             .strides = array->strides,
                             .edge = array->size > options->threshold ? options->edge_items : -1,
                             .text_base = array->storage->address,
                             .text_bytes = array->storage->bytes};
}

static nd4c_status print_text(printer *p, const nd4c_array *array, char **text) {
  p->separator = p->options.repr ? ", " : " ";
  p->separator_size = p->options.repr ? 1 : 0;
  print_array(p, array);
  p->text.failed = p->text.failed || p->word.failed;
  nd4c_text_free(&p->word);
  if (p->status != ND4C_OK) {
    nd4c_text_free(&p->text);
    return p->status;
  }
  return nd4c_text_take(&p->text, text);
}

nd4c_status nd4c_format_text(const nd4c_array *array, const void *element0, const nd4c_print_options *options,
                             char **text) {
  printer p = {0};
  if (text == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "array_format: text is NULL");
  }
  ND4C_TRY(options_resolve(options, &p.options));
  char *codes = NULL;
  if (nd4c_dtype_is_packed(array->dtype)) {
    ND4C_TRY(unpack_codes(array, element0, &codes));
    element0 = codes;
  }
  p.walk = make_walk(array, &p.options);
  p.walk.element0 = element0;
  nd4c_status status = print_text(&p, array, text);
  nd4c_deallocate(codes);
  return status;
}

nd4c_status nd4c_format_shown(const nd4c_array *array, const nd4c_print_options *options, int64_t *counts, bool *all) {
  nd4c_print_options resolved;
  ND4C_TRY(options_resolve(options, &resolved));
  nd4c_element_walk walk = make_walk(array, &resolved);
  *all = true;
  for (int32_t axis = 0; axis < array->rank; axis++) {
    counts[axis] = nd4c_walk_count(&walk, axis);
    *all = *all && counts[axis] == array->shape[axis];
  }
  return ND4C_OK;
}

nd4c_status nd4c_format_gathered(const nd4c_array *array, const void *shown, const nd4c_print_options *options,
                                 char **text) {
  printer p = {0};
  int64_t strides[ND4C_MAX_RANK], stride = 1;
  ND4C_TRY(options_resolve(options, &p.options));
  p.walk = make_walk(array, &p.options);
  for (int32_t axis = array->rank - 1; axis >= 0; axis--) {
    strides[axis] = stride;
    stride *= nd4c_walk_count(&p.walk, axis);
  }
  p.walk.element0 = shown;
  p.walk.strides = strides;
  p.walk.gathered = true;
  return print_text(&p, array, text);
}
