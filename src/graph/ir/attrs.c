/* Implements attrs.h for the pass cse. */
#include "graph/ir/attrs.h"

#include <string.h>

#include "base/hash.h"

static bool equal_texts(const char *a, const char *b) {
  return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static uint64_t hash_text(uint64_t hash, const char *text) {
  return text == NULL ? nd4c_hash_word(hash, 1) : nd4c_hash_bytes(hash, text, strlen(text));
}

/* The kinds INTS and FLOATS, whose elements have the same size. */
static bool equal_lists(const nd4c_attr_value *a, const nd4c_attr_value *b) {
  const size_t bytes = (size_t)(a->count > 0 ? a->count : 0) * sizeof(int64_t);
  const bool given = a->as.ints != NULL && b->as.ints != NULL;
  return given ? memcmp(a->as.ints, b->as.ints, bytes) == 0 : a->as.ints == b->as.ints;
}

static bool equal_strings(const nd4c_attr_value *a, const nd4c_attr_value *b) {
  for (int32_t i = 0; i < a->count; i++) {
    if (!equal_texts(a->as.strings[i], b->as.strings[i])) {
      return false;
    }
  }
  return true;
}

static bool equal(const nd4c_attr_value *a, const nd4c_attr_value *b) {
  if (a->kind != b->kind || a->count != b->count) {
    return false;
  }
  switch (a->kind) {
    case ND4C_ATTR_UNSET:
      return true;
    case ND4C_ATTR_INTS:
    case ND4C_ATTR_FLOATS:
      return equal_lists(a, b);
    case ND4C_ATTR_STRING:
      return equal_texts(a->as.string, b->as.string);
    case ND4C_ATTR_STRINGS:
      return equal_strings(a, b);
    case ND4C_ATTR_ARRAY:
      return a->as.array == b->as.array ||
             (a->as.array != NULL && b->as.array != NULL && nd4c_array_is_same_view(a->as.array, b->as.array));
    default: /* INT, BOOL, DTYPE, FLOAT; graphs are refused when they are recorded */
      return a->as.i == b->as.i;
  }
}

bool nd4c_attrs_equal(int32_t count, const nd4c_attr_value *a, const nd4c_attr_value *b) {
  for (int32_t i = 0; i < count; i++) {
    if (!equal(&a[i], &b[i])) {
      return false;
    }
  }
  return true;
}

uint64_t nd4c_attrs_hash(uint64_t hash, int32_t count, const nd4c_attr_value *attrs) {
  for (int32_t i = 0; i < count; i++) {
    const nd4c_attr_value *attr = &attrs[i];
    hash = nd4c_hash_word(hash, (uint64_t)attr->kind << 32 | (uint32_t)attr->count);
    switch (attr->kind) {
      case ND4C_ATTR_INTS:
      case ND4C_ATTR_FLOATS:
        hash = attr->as.ints == NULL || attr->count <= 0
                   ? hash
                   : nd4c_hash_bytes(hash, attr->as.ints, (size_t)attr->count * sizeof *attr->as.ints);
        break;
      case ND4C_ATTR_STRING:
        hash = hash_text(hash, attr->as.string);
        break;
      case ND4C_ATTR_INT:
      case ND4C_ATTR_BOOL:
      case ND4C_ATTR_DTYPE:
      case ND4C_ATTR_FLOAT:
        hash = nd4c_hash_word(hash, (uint64_t)attr->as.i);
        break;
      default: /* the kind and the count are enough */
        break;
    }
  }
  return hash;
}
