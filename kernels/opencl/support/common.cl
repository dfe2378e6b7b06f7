/* What all kernels share: names of dtypes, elements in and out of memory, places of elements. runtime/program.c puts it
 * before every source.
 *
 * An operand X has a dtype by -D TYPE_X=float16. STORAGE_X is the type of its elements in memory, COMPUTE_X the one to
 * compute with, LOAD_X(pointer, index) and SAVE_X(pointer, index, value) go between them. float16 and bfloat16 are
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

#define compute_bool uchar
#define compute_int8 char
#define compute_int16 short
#define compute_int32 int
#define compute_int64 long
#define compute_uint8 uchar
#define compute_uint16 ushort
#define compute_uint32 uint
#define compute_uint64 ulong
#define compute_float16 float
#define compute_bfloat16 float
#define compute_float32 float
#define compute_float64 double

#define load_plain(p, i) ((p)[i])
#define load_bool load_plain
#define load_int8 load_plain
#define load_int16 load_plain
#define load_int32 load_plain
#define load_int64 load_plain
#define load_uint8 load_plain
#define load_uint16 load_plain
#define load_uint32 load_plain
#define load_uint64 load_plain
#define load_float32 load_plain
#define load_float64 load_plain
#define load_float16(p, i) vload_half((i), (p))
#define load_bfloat16(p, i) as_float((uint)(p)[i] << 16)

#define save_plain(p, i, v) ((p)[i] = (v))
#define save_bool(p, i, v) ((p)[i] = (v) != 0)
#define save_int8 save_plain
#define save_int16 save_plain
#define save_int32 save_plain
#define save_int64 save_plain
#define save_uint8 save_plain
#define save_uint16 save_plain
#define save_uint32 save_plain
#define save_uint64 save_plain
#define save_float32 save_plain
#define save_float64 save_plain
#define save_float16(p, i, v) vstore_half_rte((v), (i), (p))
#define save_bfloat16(p, i, v) ((p)[i] = nd4c_bfloat16(v))

static inline ushort nd4c_bfloat16(float value) {
  uint bits = as_uint(value);
  return isnan(value) ? (ushort)((bits >> 16) | 0x40) : (ushort)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/* ROUND_X(value): a result of any real type as COMPUTE_X, such that SAVE_X rounds for the first time. */
#ifdef HAS_FP64
/* Cut off, the last bit set if anything was lost (rounding to odd): a narrower float then comes out rounded once. */
static inline float nd4c_odd_double(double x) {
  float cut = convert_float_rtz(x);
  return (double)cut == x ? cut : as_float(as_uint(cut) | 1);
}
#define narrow_float16(v) nd4c_odd_double(v)
#define narrow_bfloat16(v) nd4c_odd_double(v)
#else
#define narrow_float16(v) ((float)(v))
#define narrow_bfloat16(v) ((float)(v))
#endif
#define narrow_bool(v) ((uchar)(v))
#define narrow_int8(v) ((char)(v))
#define narrow_int16(v) ((short)(v))
#define narrow_int32(v) ((int)(v))
#define narrow_int64(v) ((long)(v))
#define narrow_uint8(v) ((uchar)(v))
#define narrow_uint16(v) ((ushort)(v))
#define narrow_uint32(v) ((uint)(v))
#define narrow_uint64(v) ((ulong)(v))
#define narrow_float32(v) ((float)(v))
#define narrow_float64(v) ((double)(v))

/* One set for each operand letter; only those of which there is a TYPE_ are used. */
#define STORAGE_A PASTE(storage, TYPE_A)
#define COMPUTE_A PASTE(compute, TYPE_A)
#define LOAD_A(p, i) PASTE(load, TYPE_A)(p, i)
#define SAVE_A(p, i, v) PASTE(save, TYPE_A)(p, i, v)
#define STORAGE_B PASTE(storage, TYPE_B)
#define COMPUTE_B PASTE(compute, TYPE_B)
#define LOAD_B(p, i) PASTE(load, TYPE_B)(p, i)
#define SAVE_B(p, i, v) PASTE(save, TYPE_B)(p, i, v)
#define STORAGE_C PASTE(storage, TYPE_C)
#define COMPUTE_C PASTE(compute, TYPE_C)
#define LOAD_C(p, i) PASTE(load, TYPE_C)(p, i)
#define SAVE_C(p, i, v) PASTE(save, TYPE_C)(p, i, v)
#define STORAGE_D PASTE(storage, TYPE_D)
#define COMPUTE_D PASTE(compute, TYPE_D)
#define LOAD_D(p, i) PASTE(load, TYPE_D)(p, i)
#define SAVE_D(p, i, v) PASTE(save, TYPE_D)(p, i, v)
#define ROUND_D(v) PASTE(narrow, TYPE_D)(v)
#define STORAGE_E PASTE(storage, TYPE_E)
#define COMPUTE_E PASTE(compute, TYPE_E)
#define LOAD_E(p, i) PASTE(load, TYPE_E)(p, i)
#define SAVE_E(p, i, v) PASTE(save, TYPE_E)(p, i, v)
#define STORAGE_F PASTE(storage, TYPE_F)
#define COMPUTE_F PASTE(compute, TYPE_F)
#define LOAD_F(p, i) PASTE(load, TYPE_F)(p, i)
#define SAVE_F(p, i, v) PASTE(save, TYPE_F)(p, i, v)
#define STORAGE_Y PASTE(storage, TYPE_Y)
#define COMPUTE_Y PASTE(compute, TYPE_Y)
#define LOAD_Y(p, i) PASTE(load, TYPE_Y)(p, i)
#define SAVE_Y(p, i, v) PASTE(save, TYPE_Y)(p, i, v)
#define ROUND_Y(v) PASTE(narrow, TYPE_Y)(v)
#define STORAGE_Z PASTE(storage, TYPE_Z)
#define COMPUTE_Z PASTE(compute, TYPE_Z)
#define LOAD_Z(p, i) PASTE(load, TYPE_Z)(p, i)
#define SAVE_Z(p, i, v) PASTE(save, TYPE_Z)(p, i, v)
#define ROUND_Z(v) PASTE(narrow, TYPE_Z)(v)

#ifndef INDEX
#define INDEX ulong
#endif

/* The number of this work item, of `items`; those behind the last, which fill up the last group, do nothing. */
#define ITEM(number, items)       \
  long number = get_global_id(0); \
  if (number >= (items)) return;
#define WITHIN(items) \
  if (get_global_id(0) >= (items)) return;

#define WALK_RANK 8
#define WALKED 4
typedef struct {
  long size;
  int rank, contiguous;
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
