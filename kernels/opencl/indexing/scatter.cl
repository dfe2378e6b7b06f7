/* Updates that join an array at places which indices name. families/indexing.c launches these, with the sort of
 * support/ordering.c before them.
 *
 * Where several meet, they are applied one after the other in C order of the indices, each rounded to the dtype, as the
 * reference does it: float sums depend on the order and without a reduction the last wins. So updates are sorted stably
 * by where they go, and one work item walks all that go to one element. */

static inline bool leads_somewhere(ulong key, long least, long most) {
  return key != NO_PLACE && (long)PLACE_KEY(key) >= least && (long)PLACE_KEY(key) <= most;
}

#ifdef UNIT
/* keys[i] = where update i goes, as an element's offset in the whole. Operands: the whole but for the axes that indices
 * choose, indices. An index out of range is told and its update goes nowhere. */
__kernel void place_keys(__global const int *indices, long indices0, __global ulong *words, long keys_at,
                         long order_at, nd4c_walk walk, nd4c_target target, __global int *fault, long items) {
  ITEM(number, items)
  long at[2] = {0, indices0};
  bool valid = true;
  PLACES(walk, number, 2, at)
  for (int k = 0; k < target.count && valid; k++) {
    long place = resolve(index_at(indices, at[1] + k * target.step, target.wide), target.extent[k], target.mode, fault);
    valid = place >= 0;
    at[0] += place * target.stride[k];
  }
  words[keys_at + number] = valid ? PLACE_KEY(at[0]) : NO_PLACE;
  ((__global uint *)(words + order_at))[number] = number;
}

/* The last of the updates that go to one place. Operands of `inner`: the whole, the part; of `places`: the part. Offsets
 * are from `least` to `most`; others, which a kernel that did not run left here, lead nowhere. */
__kernel void place_last(__global const ulong *words, long keys_at, long order_at, long count, long least, long most,
                         __global UNIT *whole, long whole0, __global const UNIT *part, long part0, nd4c_walk places, nd4c_walk inner,
                         long items) {
  WITHIN(items)
  long i = get_global_id(0) / inner.size, j = get_global_id(0) - i * inner.size;
  ulong key = words[keys_at + i];
  if (!leads_somewhere(key, least, most) || (i + 1 < count && words[keys_at + i + 1] == key)) {
    return;
  }
  long at[2] = {whole0 + (long)PLACE_KEY(key), part0}, update[1] = {0};
  PLACES(inner, j, 2, at)
  PLACES(places, found_place(((__global const uint *)(words + order_at))[i], places.size), 1, update)
  whole[at[0]] = part[at[1] + update[0]];
}
#endif

#ifdef TYPE_A
#define ACC COMPUTE(A)
#define SUBTRACT_INT(a, b) WRAPPED(a, -, b)
#define SUBTRACT_UINT(a, b) WRAPPED(a, -, b)
#define SUBTRACT_FLOAT(a, b) ((a) - (b))
#define DIVIDE_INT(a, b) ((b) == 0 ? 0 : (b) == -1 ? (ACC)(0 - (ulong)(a)) : (a) / (b))
#define DIVIDE_UINT(a, b) ((b) == 0 ? 0 : (a) / (b))
#define DIVIDE_FLOAT(a, b) ((a) / (b))

/* All updates that go to one place, one after the other; operands as of place_last. Each is rounded to the dtype by
 * being stored. */
__kernel void place_joined(__global const ulong *words, long keys_at, long order_at, long count, long least,
                           long most, __global STORAGE(A) *whole, long whole0, __global const STORAGE(A) *part, long part0,
                           nd4c_walk places, nd4c_walk inner, long items) {
  WITHIN(items)
  long i = get_global_id(0) / inner.size, j = get_global_id(0) - i * inner.size;
  ulong key = words[keys_at + i];
  if (!leads_somewhere(key, least, most) || (i > 0 && words[keys_at + i - 1] == key)) {
    return;
  }
  long at[2] = {whole0 + (long)PLACE_KEY(key), part0};
  PLACES(inner, j, 2, at)
  for (long k = i; k < count && words[keys_at + k] == key; k++) {
    long update[1] = {at[1]};
    PLACES(places, found_place(((__global const uint *)(words + order_at))[k], places.size), 1, update)
    COMPUTE(A) a = LOAD(A, whole, at[0]), b = LOAD(A, part, update[0]);
    SAVE(A, whole, at[0], JOINED(a, b));
  }
}
#endif
