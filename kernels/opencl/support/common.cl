/* What all kernels share: names of dtypes, elements in and out of memory, places of elements. runtime/program.c puts it
 * before every source.
 *
 * An operand X has a dtype by -D TYPE_X=float16. STORAGE(X) is the type of its elements in memory, COMPUTE(X) the one
 * to compute with, LOAD(X, pointer, index) and SAVE(X, pointer, index, value) go between them. float16 and bfloat16 are
 * computed in float, bool is uchar 0 or 1. INDEX is uint or ulong: wide enough for places in every operand. */
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
/* a * b + c is two roundings, as on the host; a kernel that wants one says fma. */
#pragma OPENCL FP_CONTRACT OFF

#define PASTE_(a, b) a##_##b
#define PASTE(a, b) PASTE_(a, b)

#define storage_bool uchar
#define storage_int8 char
#define storage_int16 short
#define storage_int32 int
#define storage_int64 long
#define storage_uint8 uchar
#define storage_uint16 ushort
#define storage_uint32 uint
#define storage_uint64 ulong
#define storage_float16 half
#define storage_bfloat16 ushort
#define storage_float32 float
#define storage_float64 double

/* What decides how elements of a dtype are treated. */
#define class_bool bool
#define class_int8 integer
#define class_int16 integer
#define class_int32 integer
#define class_int64 integer
#define class_uint8 integer
#define class_uint16 integer
#define class_uint32 integer
#define class_uint64 integer
#define class_float16 float16
#define class_bfloat16 bfloat16
#define class_float32 float32
#define class_float64 float64
#define CLASS(X) PASTE(class, TYPE_##X)

#define compute_bool(storage) storage
#define compute_integer(storage) storage
#define compute_float16(storage) float
#define compute_bfloat16(storage) float
#define compute_float32(storage) storage
#define compute_float64(storage) storage

#define load_bool(p, i) ((p)[i])
#define load_integer(p, i) ((p)[i])
#define load_float16(p, i) vload_half((i), (p))
#define load_bfloat16(p, i) as_float((uint)(p)[i] << 16)
#define load_float32(p, i) ((p)[i])
#define load_float64(p, i) ((p)[i])

#define save_bool(p, i, v) ((p)[i] = (v) != 0)
#define save_integer(p, i, v) ((p)[i] = (v))
#define save_float16(p, i, v) vstore_half_rte((v), (i), (p))
#define save_bfloat16(p, i, v) ((p)[i] = nd4c_bfloat16(v))
#define save_float32(p, i, v) ((p)[i] = (v))
#define save_float64(p, i, v) ((p)[i] = (v))

static inline ushort nd4c_bfloat16(float value) {
  uint bits = as_uint(value);
  return isnan(value) ? (ushort)((bits >> 16) | 0x40) : (ushort)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

#ifdef HAS_FP64
/* Cut off, the last bit set if anything was lost (rounding to odd): a narrower float then comes out rounded once. */
static inline float nd4c_odd_double(double x) {
  float cut = convert_float_rtz(x);
  return (double)cut == x ? cut : as_float(as_uint(cut) | 1);
}
#else
#define nd4c_odd_double(x) ((float)(x))
#endif
#define narrow_bool(v) (v)
#define narrow_integer(v) (v)
#define narrow_float16(v) nd4c_odd_double(v)
#define narrow_bfloat16(v) nd4c_odd_double(v)
#define narrow_float32(v) (v)
#define narrow_float64(v) (v)

#define STORAGE(X) PASTE(storage, TYPE_##X)
#define COMPUTE(X) PASTE(compute, CLASS(X))(STORAGE(X))
#define LOAD(X, p, i) PASTE(load, CLASS(X))(p, i)
#define SAVE(X, p, i, v) PASTE(save, CLASS(X))(p, i, v)
/* A result of any real type as COMPUTE(X), such that SAVE rounds for the first time. */
#define ROUND(X, v) ((COMPUTE(X))PASTE(narrow, CLASS(X))(v))

#ifndef INDEX
#define INDEX ulong
#endif

/* The number of this work item, of `items`; those behind the last, which fill up the last group, do nothing. */
#define ITEM(number, items)       \
  long number = get_global_id(0); \
  if (number >= (items)) return;
#define WITHIN(items) \
  if (get_global_id(0) >= (items)) return;

/* A list of 32-bit numbers in scratch, from a word on. */
#define UINTS(at) ((__global uint *)(words + (at)))

#define WALK_RANK 8
#define WALKED 4
typedef struct {
  long size;
  int rank, unused;
  long shape[WALK_RANK];
  long strides[WALKED][WALK_RANK];
} nd4c_walk;

/* Place of element i (C order of the walk) in operand k, from the operand's element 0. */
static inline long nd4c_walk_place(const nd4c_walk *walk, int k, INDEX i) {
  if (walk->rank == 1) {
    return (long)i * walk->strides[k][0];
  }
  long place = 0;
  for (int axis = walk->rank - 1; axis > 0; axis--) {
    INDEX extent = (INDEX)walk->shape[axis], next = i / extent;
    place += (long)(i - next * extent) * walk->strides[k][axis];
    i = next;
  }
  return place + (long)i * walk->strides[k][0];
}

/* Places of element i in the first `count` operands at once: one division an axis. */
static inline void nd4c_walk_places(const nd4c_walk *walk, int count, INDEX i, long *places) {
  for (int k = 0; k < count; k++) {
    places[k] = 0;
  }
  for (int axis = walk->rank - 1; axis >= 0; axis--) {
    INDEX extent = (INDEX)walk->shape[axis], next = axis > 0 ? i / extent : 0, at = i - next * extent;
    for (int k = 0; k < count; k++) {
      places[k] += (long)at * walk->strides[k][axis];
    }
    i = next;
  }
}

/* A kernel that meets an index out of range: fault is the stream's; the first one wins. */
static inline void nd4c_fault_index(__global int *fault, long value, long extent) {
  if (atomic_cmpxchg(&fault[0], 0, 1) == 0) {
    fault[1] = (int)value;
    fault[2] = (int)(value >> 32);
    fault[3] = (int)extent;
    fault[4] = (int)(extent >> 32);
  }
}
