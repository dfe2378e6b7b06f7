/* The order that Fisher's and Yates's shuffle gives, computed for all places at once. The shuffle exchanges place i,
 * from the last one down, with place other(i) <= i. Place i is final after its own step and receives what lay in
 * other(i) then: what the previous step with the same other brought there from its own place, if there was one. Behind
 * philox.cl. families/random_order.c launches these. */

/* keys: the place that each place changes with; order: the place itself. */
__kernel void choose_others(__global const STORAGE(A) *a, long a0, long a_step, long a_count, __global ulong *words,
                            long keys_at, long order_at, long items) {
  ITEM(i, items)
  philox state = read_state(a, a0, a_step, a_count);
  words[keys_at + i] = random_below(&state, i, (ulong)i + 1);
  UINTS(order_at)[i] = i;
}

/* Sorted by others, places of one other lie together and ascend. before[k]: the last step before k's own that changed
 * place k, which is the lowest of larger places; UINT_MAX where there is none, as all places have before. */
__kernel void link_places(__global ulong *words, long keys_at, long order_at, long before_at, long items) {
  ITEM(at, items)
  ulong other = words[keys_at + at];
  if (at > 0 && words[keys_at + at - 1] == other) {
    return;
  }
  if (UINTS(order_at)[at] == other) { /* the place's own step, which changes nothing */
    at++;
  }
  if (at < items && words[keys_at + at] == other && other < (ulong)items) {
    UINTS(before_at)[other] = UINTS(order_at)[at];
  }
}

/* Chains of steps are short: about as many as the logarithm of the number of places. They ascend, and UINT_MAX is beyond
 * all places, so that this ends whatever a driver leaves here that goes on behind a command that failed. */
__kernel void follow_places(__global const ulong *words, long keys_at, long order_at, long before_at,
                            __global STORAGE(Y) *y, long y0, long y_step, long items) {
  ITEM(at, items)
  long last = items - 1;
  __global const uint *order = (__global const uint *)(words + order_at);
  uint place = words[keys_at + at];
  if (at < last && words[keys_at + at + 1] == place) {
    __global const uint *before = (__global const uint *)(words + before_at);
    place = min(order[at + 1], (uint)last);
    for (uint next = before[place]; next > place && next < items; next = before[next]) {
      place = next;
    }
  }
  y[y0 + min((long)order[at], last) * y_step] = CONVERT_LETTER(U, TYPE_Y, place);
}
