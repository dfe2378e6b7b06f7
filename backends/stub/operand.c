/* Elements between buffers and wide values. work.c loads a call's inputs with it and stores its results. */
#include <math.h>
#include <string.h>

#include "stub.h"

#define CLASS_BOOL STUB_BOOL
#define CLASS_INT STUB_INT
#define CLASS_UINT STUB_UINT
#define CLASS_FLOAT STUB_FLOAT
#define CLASS_COMPLEX STUB_COMPLEX
#define CLASS_STRING STUB_NONE

stub_class stub_class_of(nd4c_dtype dtype) {
  switch (dtype) {
#define CLASS_CASE(NAME, name, number, build, kind, ...) \
  case ND4C_##NAME:                                      \
    return CLASS_##kind;
    ND4C_DTYPE_TABLE(CLASS_CASE)
#undef CLASS_CASE
    default:
      return STUB_NONE;
  }
}

int64_t stub_size_of(nd4c_dtype dtype) {
  switch (dtype) {
#define SIZE_CASE(NAME, name, number, build, kind, bits, block_elements, block_bytes, ...) \
  case ND4C_##NAME:                                                                        \
    return block_bytes;
    ND4C_DTYPE_TABLE(SIZE_CASE)
#undef SIZE_CASE
    default:
      return 0;
  }
}

int64_t stub_elements_of(nd4c_dtype dtype) {
  switch (dtype) {
#define ELEMENTS_CASE(NAME, name, number, build, kind, bits, block_elements, ...) \
  case ND4C_##NAME:                                                               \
    return block_elements;
    ND4C_DTYPE_TABLE(ELEMENTS_CASE)
#undef ELEMENTS_CASE
    default:
      return 0;
  }
}

/* The address that a call gives is that of element 0 of the buffer's bytes. */
static nd4c_status check_address(const nd4c_tensor *tensor, const stub_buffer *buffer) {
  char *begin = stub_buffer_address(buffer);
  const char *expected = begin != NULL ? begin + tensor->offset * stub_size_of(tensor->dtype) : NULL;
  return tensor->data == expected ? ND4C_OK : stub_violation("an operand whose address is not that of its element 0");
}

static bool is_whole(const nd4c_tensor *tensor) {
  int64_t stride = 1;
  bool whole = tensor->offset == 0 || tensor->size == 0;
  for (int32_t i = tensor->rank - 1; i >= 0 && tensor->size > 0; i--) {
    whole = whole && (tensor->strides == NULL || tensor->shape[i] == 1 || tensor->strides[i] == stride);
    stride *= tensor->shape[i];
  }
  return whole;
}

nd4c_status stub_operand_copy(const nd4c_tensor *tensor, stub_operand *operand) {
  memset(operand, 0, sizeof *operand);
  operand->dtype = tensor->dtype;
  if (tensor->dtype == ND4C_DTYPE_NONE) {
    return ND4C_OK;
  }
  operand->rank = tensor->rank;
  operand->size = tensor->size;
  operand->offset = tensor->offset;
  int64_t stride = 1;
  for (int32_t i = tensor->rank - 1; i >= 0; i--) {
    operand->shape[i] = tensor->shape[i];
    operand->strides[i] = tensor->strides != NULL ? tensor->strides[i] : stride;
    stride *= tensor->shape[i];
  }
  if (tensor->layout == ND4C_LAYOUT_BLOCKED && tensor->arrangement != NULL) {
    operand->layout = *tensor->arrangement;
  }
  const bool strided = operand->layout.tag == ND4C_LAYOUT_STRIDED;
  if (!strided && tensor->offset != 0) {
    return stub_violation("an operand of another layout that does not begin with its buffer");
  }
  if (stub_settings.whole && strided && !is_whole(tensor)) {
    return stub_violation("an operand that is no whole buffer in C order");
  }
  operand->handle = tensor->buffer;
  if (tensor->buffer != NULL) {
    operand->buffer = stub_buffer_use(tensor->buffer);
    return operand->buffer != NULL ? check_address(tensor, operand->buffer) : ND4C_INTERNAL;
  }
  return ND4C_OK;
}

void stub_operand_loosen(stub_operand *operand) {
  if (operand->buffer != NULL) {
    stub_buffer_done(operand->buffer);
    operand->buffer = NULL;
  }
}

nd4c_status stub_operand_bind(stub_operand *operand) {
  operand->buffer = operand->handle != NULL ? stub_buffer_use(operand->handle) : NULL;
  return operand->buffer != NULL || operand->handle == NULL ? ND4C_OK : ND4C_INTERNAL;
}

/* -- half types -------------------------------------------------------------------------------------------------- */

static double half_value(uint16_t bits) {
  int exponent = (bits >> 10) & 31;
  int fraction = bits & 1023;
  double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 31) {
    return fraction != 0 ? (double)NAN : sign * (double)INFINITY;
  }
  return sign * (exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25));
}

/* Rounds to nearest, ties to even, in the default rounding mode of nearbyint. */
static uint16_t half_bits(double value) {
  uint16_t sign = signbit(value) ? 0x8000 : 0;
  double magnitude = fabs(value);
  if (isnan(value)) {
    return sign | 0x7e00;
  }
  if (magnitude >= 65520.0) {
    return sign | 0x7c00;
  }
  if (magnitude < ldexp(1.0, -14)) {
    return (uint16_t)(sign | (uint16_t)nearbyint(ldexp(magnitude, 24)));
  }
  int exponent = 0;
  double fraction = frexp(magnitude, &exponent); /* [0.5, 1) */
  int64_t rounded = (int64_t)nearbyint(ldexp(fraction, 11));
  return (uint16_t)(sign + ((exponent + 13) << 10) + rounded);
}

static double brain_value(uint16_t bits) {
  uint32_t wide = (uint32_t)bits << 16;
  float value = 0;
  memcpy(&value, &wide, sizeof value);
  return value;
}

static uint16_t brain_bits(double value) {
  float narrow = (float)value;
  if (isnan(value)) {
    return 0x7fc0;
  }
  /* The first rounding must not create a tie that the second one breaks wrongly: go toward the odd neighbour. */
  uint32_t bits = 0;
  memcpy(&bits, &narrow, sizeof bits);
  if (!isinf(narrow) && (double)narrow != value && (bits & 1) == 0) {
    bits += fabs((double)narrow) < fabs(value) ? 1 : -1;
  }
  return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/* -- one element ------------------------------------------------------------------------------------------------- */

#define LOAD(ctype, field)             \
  do {                                 \
    ctype item;                        \
    memcpy(&item, bytes, sizeof item); \
    value.field = item;                \
  } while (0)

static stub_value element_load(nd4c_dtype dtype, const unsigned char *bytes) {
  stub_value value = {0};
  switch (dtype) {
    case ND4C_BOOL:
      value.i = bytes[0] != 0;
      break;
    case ND4C_INT8:
      LOAD(int8_t, i);
      break;
    case ND4C_INT16:
      LOAD(int16_t, i);
      break;
    case ND4C_INT32:
      LOAD(int32_t, i);
      break;
    case ND4C_INT64:
    case ND4C_UINT64:
      LOAD(int64_t, i);
      break;
    case ND4C_UINT8:
      LOAD(uint8_t, i);
      break;
    case ND4C_UINT16:
      LOAD(uint16_t, i);
      break;
    case ND4C_UINT32:
      LOAD(uint32_t, i);
      break;
    case ND4C_FLOAT16:
      LOAD(uint16_t, i);
      value.re = half_value((uint16_t)value.i);
      break;
    case ND4C_BFLOAT16:
      LOAD(uint16_t, i);
      value.re = brain_value((uint16_t)value.i);
      break;
    case ND4C_FLOAT32:
      LOAD(float, re);
      break;
    case ND4C_FLOAT64:
      LOAD(double, re);
      break;
    case ND4C_COMPLEX64: {
      float parts[2];
      memcpy(parts, bytes, sizeof parts);
      value.re = parts[0];
      value.im = parts[1];
      break;
    }
    case ND4C_COMPLEX128:
      memcpy(&value.re, bytes, sizeof value.re);
      memcpy(&value.im, bytes + sizeof value.re, sizeof value.im);
      break;
    default:
      break;
  }
  return value;
}

static void element_store(nd4c_dtype dtype, stub_value value, unsigned char *bytes) {
  switch (dtype) {
    case ND4C_BOOL:
      bytes[0] = value.i != 0;
      break;
    case ND4C_FLOAT16: {
      uint16_t item = half_bits(value.re);
      memcpy(bytes, &item, sizeof item);
      break;
    }
    case ND4C_BFLOAT16: {
      uint16_t item = brain_bits(value.re);
      memcpy(bytes, &item, sizeof item);
      break;
    }
    case ND4C_FLOAT32: {
      float item = (float)value.re;
      memcpy(bytes, &item, sizeof item);
      break;
    }
    case ND4C_FLOAT64:
      memcpy(bytes, &value.re, sizeof value.re);
      break;
    case ND4C_COMPLEX64: {
      float parts[2] = {(float)value.re, (float)value.im};
      memcpy(bytes, parts, sizeof parts);
      break;
    }
    case ND4C_COMPLEX128:
      memcpy(bytes, &value.re, sizeof value.re);
      memcpy(bytes + sizeof value.re, &value.im, sizeof value.im);
      break;
    default: /* integers: the low bytes, as the machine is little-endian */
      memcpy(bytes, &value.i, (size_t)stub_size_of(dtype));
      break;
  }
}

/* -- all elements ------------------------------------------------------------------------------------------------ */

/* Offsets of all elements in C order, one by one: index is the odometer, offset the current element. */
static void advance(const stub_operand *operand, int64_t *index, int64_t *offset) {
  for (int32_t axis = operand->rank - 1; axis >= 0; axis--) {
    index[axis]++;
    *offset += operand->strides[axis];
    if (index[axis] < operand->shape[axis]) {
      return;
    }
    *offset -= index[axis] * operand->strides[axis];
    index[axis] = 0;
  }
}

/* Of the element that the odometer is at, in elements from the buffer's start. */
static int64_t place_of(const stub_operand *operand, const int64_t *index, int64_t offset) {
  return operand->layout.tag == ND4C_LAYOUT_BLOCKED ? nd4c_layout_offset(&operand->layout, index) : offset;
}

/* The operand's elements stand one behind the other. */
static bool is_plain(const stub_operand *operand) {
  int64_t stride = 1;
  bool plain = operand->layout.tag == ND4C_LAYOUT_STRIDED;
  for (int32_t axis = operand->rank - 1; axis >= 0; axis--) {
    plain = plain && (operand->shape[axis] == 1 || operand->strides[axis] == stride);
    stride *= operand->shape[axis];
  }
  return plain;
}

/* Every element's bytes in C order. `to` has room for them. */
static nd4c_status read_all(const stub_operand *operand, unsigned char *to) {
  const int64_t bytes = stub_size_of(operand->dtype), each = is_plain(operand) ? operand->size : 1;
  int64_t index[STUB_RANK] = {0};
  int64_t offset = operand->offset;
  nd4c_status status = ND4C_OK;
  for (int64_t i = 0; i < operand->size && status == ND4C_OK; i += each) {
    status = stub_buffer_read(operand->buffer, place_of(operand, index, offset) * bytes, to + i * bytes, each * bytes);
    advance(operand, index, &offset);
  }
  return status;
}

static nd4c_status write_all(const stub_operand *operand, const unsigned char *from) {
  const int64_t bytes = stub_size_of(operand->dtype), each = is_plain(operand) ? operand->size : 1;
  int64_t index[STUB_RANK] = {0};
  int64_t offset = operand->offset;
  nd4c_status status = ND4C_OK;
  for (int64_t i = 0; i < operand->size && status == ND4C_OK; i += each) {
    status =
        stub_buffer_write(operand->buffer, place_of(operand, index, offset) * bytes, from + i * bytes, each * bytes);
    advance(operand, index, &offset);
  }
  return status;
}

static void *allocate_elements(const stub_operand *operand, int64_t each) {
  void *memory = stub_host->allocate((size_t)((operand->size + 1) * each));
  if (memory == NULL) {
    (void)stub_host->fail(ND4C_MEMORY, "stub: no memory for %lld elements", (long long)operand->size);
  }
  return memory;
}

nd4c_status stub_operand_load(const stub_operand *operand, stub_value **result) {
  const int64_t bytes = stub_size_of(operand->dtype);
  unsigned char *raw = allocate_elements(operand, bytes);
  stub_value *values = allocate_elements(operand, sizeof *values);
  nd4c_status status = raw != NULL && values != NULL ? read_all(operand, raw) : ND4C_MEMORY;
  for (int64_t i = 0; i < operand->size && status == ND4C_OK; i++) {
    values[i] = element_load(operand->dtype, raw + i * bytes);
  }
  stub_host->free(raw);
  if (status != ND4C_OK) {
    stub_host->free(values);
    return status;
  }
  *result = values;
  return ND4C_OK;
}

nd4c_status stub_operand_store(const stub_operand *operand, const stub_value *values) {
  const int64_t bytes = stub_size_of(operand->dtype);
  unsigned char *raw = allocate_elements(operand, bytes);
  if (raw == NULL) {
    return ND4C_MEMORY;
  }
  for (int64_t i = 0; i < operand->size; i++) {
    element_store(operand->dtype, values[i], raw + i * bytes);
  }
  nd4c_status status = write_all(operand, raw);
  stub_host->free(raw);
  return status;
}

nd4c_status stub_operand_floats(const stub_operand *operand, float **values) {
  *values = allocate_elements(operand, sizeof **values);
  return *values != NULL ? read_all(operand, (unsigned char *)*values) : ND4C_MEMORY;
}

nd4c_status stub_operand_store_floats(const stub_operand *operand, const float *values) {
  return write_all(operand, (const unsigned char *)values);
}

void stub_broadcast(const stub_operand *from, const stub_operand *to, int64_t *numbers) {
  stub_operand walk = *to;
  int64_t stride = 1;
  for (int32_t axis = to->rank - 1; axis >= 0; axis--) {
    int32_t from_axis = axis - (to->rank - from->rank);
    int64_t extent = from_axis >= 0 ? from->shape[from_axis] : 1;
    walk.strides[axis] = extent == 1 ? 0 : stride;
    stride *= extent;
  }
  int64_t index[STUB_RANK] = {0};
  int64_t offset = 0;
  for (int64_t i = 0; i < to->size; i++) {
    numbers[i] = offset;
    advance(&walk, index, &offset);
  }
}

/* -- conversion -------------------------------------------------------------------------------------------------- */

int64_t stub_wrap(int64_t value, nd4c_dtype dtype) {
  int shift = (int)(64 - 8 * stub_size_of(dtype));
  uint64_t raised = (uint64_t)value << shift;
  return stub_class_of(dtype) == STUB_UINT ? (int64_t)(raised >> shift) : (int64_t)raised >> shift;
}

static int64_t saturate(double value, nd4c_dtype to) {
  int bits = (int)(8 * stub_size_of(to));
  bool is_signed = stub_class_of(to) == STUB_INT;
  double high = ldexp(1.0, is_signed ? bits - 1 : bits); /* one above the largest */
  double low = is_signed ? -high : 0.0;
  if (isnan(value)) {
    return 0;
  }
  if (trunc(value) >= high) {
    return is_signed ? (int64_t)((UINT64_C(1) << (bits - 1)) - 1) : stub_wrap(-1, to);
  }
  if (trunc(value) < low) {
    return is_signed ? -(int64_t)((UINT64_C(1) << (bits - 1)) - 1) - 1 : 0;
  }
  return is_signed ? (int64_t)value : (int64_t)(uint64_t)value;
}

stub_value stub_convert(stub_value value, nd4c_dtype from, nd4c_dtype to) {
  stub_class source = stub_class_of(from), target = stub_class_of(to);
  bool wide = source == STUB_FLOAT || source == STUB_COMPLEX;
  if (!wide) {
    value.re = source == STUB_UINT ? (double)(uint64_t)value.i : (double)value.i;
    value.im = 0;
  }
  switch (target) {
    case STUB_BOOL:
      value.i = wide ? value.re != 0 || (source == STUB_COMPLEX && value.im != 0) : value.i != 0;
      break;
    case STUB_INT:
    case STUB_UINT:
      value.i = wide ? saturate(value.re, to) : stub_wrap(value.i, to);
      break;
    case STUB_FLOAT:
      value.im = 0;
      break;
    default:
      break;
  }
  return value;
}
