/* The op cast from and to strings: writes numbers as NumPy's str() and reads what its parsers read. dispatch/host_ops.c
 * lists it. */
#include <string.h>

#include "array/element.h"
#include "array/element_text.h"
#include "base/os.h"
#include "base/status.h"
#include "dispatch/text/text.h"

enum { WORD_SIZE = 512 };

/* -- numbers to strings ------------------------------------------------------------------------------------------- */

static nd4c_status cast_to_strings(nd4c_pending *p) {
  const nd4c_array *x = p->inputs[0];
  int64_t bytes = nd4c_dtype_size(x->dtype);
  void *numbers = NULL;
  nd4c_string_list list = {.count = 0};
  nd4c_status status = nd4c_numbers_read(p, 0, &numbers);
  for (int64_t i = 0; status == ND4C_OK && i < x->size; i++) {
    nd4c_element_walk walk = {.dtype = x->dtype, .element0 = (const char *)numbers + i * bytes, .edge = -1};
    status = nd4c_element_append_scalar(&walk, &list.bytes);
    if (status == ND4C_OK) {
      status = nd4c_string_list_end(&list);
    }
  }
  return nd4c_string_list_finish(&list, p, status);
}

static nd4c_status copy_string(nd4c_string_list *list, nd4c_string string, nd4c_op op) {
  (void)op;
  return nd4c_string_list_add(list, string);
}

/* -- strings to numbers ------------------------------------------------------------------------------------------- */

/* The string without white space around it, NUL-terminated; false if it is too long or holds a NUL. */
static bool make_word(nd4c_string string, char *word) {
  int64_t begin = 0, end = string.length;
  while (begin < end && nd4c_code_is_space((unsigned char)string.bytes[begin])) {
    begin++;
  }
  while (end > begin && nd4c_code_is_space((unsigned char)string.bytes[end - 1])) {
    end--;
  }
  if (end - begin >= WORD_SIZE || memchr(string.bytes + begin, '\0', (size_t)(end - begin)) != NULL) {
    return false;
  }
  memcpy(word, string.bytes + begin, (size_t)(end - begin));
  word[end - begin] = '\0';
  return true;
}

/* Decimal digits with a sign, exactly; false for anything else. Out of range saturates. */
static bool parse_integer(const char *word, nd4c_dtype dtype, void *element) {
  bool negative = *word == '-';
  uint64_t magnitude = 0;
  word += *word == '-' || *word == '+';
  if (*word == '\0') {
    return false;
  }
  for (; *word >= '0' && *word <= '9'; word++) {
    uint64_t digit = (uint64_t)(*word - '0');
    magnitude = magnitude > (UINT64_MAX - digit) / 10 ? UINT64_MAX : 10 * magnitude + digit;
  }
  if (*word != '\0') {
    return false;
  }
  if (dtype == ND4C_INT64) {
    uint64_t limit = (uint64_t)INT64_MAX + negative;
    magnitude = magnitude > limit ? limit : magnitude;
    int64_t value = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    memcpy(element, &value, sizeof value);
  } else if (dtype == ND4C_UINT64) {
    magnitude = negative ? 0 : magnitude;
    memcpy(element, &magnitude, sizeof magnitude);
  } else {
    nd4c_element_from_double(dtype, negative ? -(double)magnitude : (double)magnitude, element);
  }
  return true;
}

static bool same_word(const char *word, const char *lower) {
  for (; *word != '\0' && *lower != '\0'; word++, lower++) {
    char letter = *word >= 'A' && *word <= 'Z' ? (char)(*word ^ 0x20) : *word;
    if (letter != *lower) {
      return false;
    }
  }
  return *word == *lower;
}

/* Reads what Python's float() reads, except digits grouped by underscores. */
static bool parse_real(const char *word, nd4c_dtype dtype, void *element) {
  char *end = NULL;
  if (*word == '\0' || strpbrk(word, "xXpP(") != NULL) {
    return false;
  }
  double value = nd4c_os_parse_number(word, &end);
  if (*end != '\0') {
    return false;
  }
  nd4c_element_from_double(dtype, value, element);
  return true;
}

static bool parse(nd4c_string string, nd4c_dtype dtype, void *element) {
  char word[WORD_SIZE];
  nd4c_dtype_kind kind = nd4c_dtype_get_info(dtype)->kind;
  if (!make_word(string, word)) {
    return false;
  }
  if (kind == ND4C_KIND_BOOL && (same_word(word, "true") || same_word(word, "false"))) {
    *(uint8_t *)element = same_word(word, "true");
    return true;
  }
  if (kind == ND4C_KIND_BOOL) {
    double number = 0;
    bool is_number = parse_real(word, ND4C_FLOAT64, &number);
    *(uint8_t *)element = number < 0 || number > 0 || number != number;
    return is_number;
  }
  return (kind != ND4C_KIND_FLOAT && parse_integer(word, dtype, element)) || parse_real(word, dtype, element);
}

static nd4c_status cast_from_strings(nd4c_pending *p) {
  nd4c_dtype dtype = p->inferred[0].dtype;
  int64_t bytes = nd4c_dtype_size(dtype);
  nd4c_string *strings = NULL;
  void *data = NULL;
  ND4C_TRY(nd4c_strings_read(p, 0, &strings));
  ND4C_TRY(nd4c_numbers_make(p, 0, &data));
  for (int64_t i = 0; i < p->inputs[0]->size; i++) {
    if (!parse(strings[i], dtype, (char *)data + i * bytes)) {
      return nd4c_fail(ND4C_ARGUMENT, "cast: string %lld, '%.*s', is not a number: expected one of %s", (long long)i,
                       (int)(strings[i].length < 64 ? strings[i].length : 64), strings[i].bytes,
                       nd4c_dtype_name(dtype));
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_host_cast(nd4c_pending *p) {
  if (p->inferred[0].dtype != ND4C_UTF8) {
    return cast_from_strings(p);
  }
  return p->inputs[0]->dtype == ND4C_UTF8 ? nd4c_strings_change(p, copy_string) : cast_to_strings(p);
}
