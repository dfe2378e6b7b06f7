/* Places of elements and indices, for kernels that move, pick and order elements. The families indexing, sorting and
 * image put it before their sources. */

/* at[k] += the place of element `number` of the walk in operand k, for the first `count` operands. */
#define PLACES(walk, number, count, at)                      \
  {                                                          \
    long places_[WALKED];                                    \
    nd4c_walk_places(&(walk), count, (INDEX)(number), places_); \
    for (int k_ = 0; k_ < (count); k_++) {                   \
      (at)[k_] += places_[k_];                               \
    }                                                        \
  }

/* long at[]: the places of element `number` in the first operands of a walk, each counted from where it begins. */
#define AT1(walk, number, a) \
  long at[1] = {a};          \
  PLACES(walk, number, 1, at)
#define AT2(walk, number, a, b) \
  long at[2] = {a, b};          \
  PLACES(walk, number, 2, at)
#define AT3(walk, number, a, b, c) \
  long at[3] = {a, b, c};          \
  PLACES(walk, number, 3, at)
#define AT4(walk, number, a, b, c, d) \
  long at[4] = {a, b, c, d};          \
  PLACES(walk, number, 4, at)

/* A place that another kernel found. A driver that goes on behind a command that failed has this one read what was
 * never written: the call fails, but nothing may be touched that is not its own. `count` is positive. */
static inline long found_place(uint place, long count) {
  return min((long)place, count - 1);
}

/* Index number `at` of an int32 or (wide) int64 operand. */
static inline long index_at(__global const int *indices, long at, int wide) {
  return wide ? ((__global const long *)indices)[at] : indices[at];
}

/* Numbers that lead to an element: `count` of them, `step` apart; number k is along an axis of extent[k] elements,
 * stride[k] apart. GROUP: a number, which cannot count from the end. */
enum { INDEX_RAISE, INDEX_WRAP, INDEX_CLIP, INDEX_GROUP };
typedef struct {
  int count, mode, wide, unused;
  long step, extent[WALK_RANK], stride[WALK_RANK];
} nd4c_target;

/* A position in 0 .. extent - 1, or -1 with the fault told. */
static inline long resolve(long index, long extent, int mode, __global int *fault) {
  if ((mode == INDEX_WRAP || mode == INDEX_CLIP) && extent > 0) {
    long rest = index % extent;
    return mode == INDEX_WRAP ? (rest < 0 ? rest + extent : rest) : clamp(index, (long)0, extent - 1);
  }
  if (index < (mode == INDEX_GROUP ? 0 : -extent) || index >= extent) {
    nd4c_fault_index(fault, index, extent);
    return -1;
  }
  return index < 0 ? index + extent : index;
}

/* -- lists in scratch, by word offsets --------------------------------------------------------------------------------- */

/* Offsets of either sign, and numbers, as unsigned words that compare as they do. */
#define PLACE_KEY(offset) ((ulong)(offset) ^ ((ulong)1 << 63))
#define NO_PLACE ULONG_MAX

/* The first of the sorted keys that is not below `key`. */
static inline long first_not_below(__global const ulong *keys, long count, ulong key) {
  long low = 0, high = count;
  while (low < high) {
    long middle = low + (high - low) / 2;
    if (keys[middle] < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* JOINED(a, b): two numbers of a KIND (BOOL, INT, UINT or FLOAT) joined by a JOIN, in ACC. */
#define WRAPPED(a, op, b) ((ACC)((ulong)(a)op(ulong)(b)))
#define ADD_BOOL(a, b) ((a) | (b))
#define ADD_INT(a, b) WRAPPED(a, +, b)
#define ADD_UINT(a, b) WRAPPED(a, +, b)
#define ADD_FLOAT(a, b) ((a) + (b))
#define MULTIPLY_BOOL(a, b) ((a) & (b))
#define MULTIPLY_INT(a, b) WRAPPED(a, *, b)
#define MULTIPLY_UINT(a, b) WRAPPED(a, *, b)
#define MULTIPLY_FLOAT(a, b) ((a) * (b))
#define MAXIMUM_BOOL(a, b) ((a) | (b))
#define MAXIMUM_INT(a, b) ((a) >= (b) ? (a) : (b))
#define MAXIMUM_UINT(a, b) ((a) >= (b) ? (a) : (b))
#define MAXIMUM_FLOAT(a, b) ((a) != (a) || (a) >= (b) ? (a) : (b))
#define MINIMUM_BOOL(a, b) ((a) & (b))
#define MINIMUM_INT(a, b) ((a) <= (b) ? (a) : (b))
#define MINIMUM_UINT(a, b) ((a) <= (b) ? (a) : (b))
#define MINIMUM_FLOAT(a, b) ((a) != (a) || (a) <= (b) ? (a) : (b))
#define JOINED(a, b) PASTE(JOIN, KIND)(a, b)
