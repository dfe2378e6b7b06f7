/* Permutations of the lanes of a vector by a mask: those whose bits are set come first, both parts keep their order.
 * sort_avx2.h partitions by them; sort.c includes this. */
#ifndef ND4C_KERNELS_CPU_SORTING_SORT_ORDERS_H
#define ND4C_KERNELS_CPU_SORTING_SORT_ORDERS_H

#include <stdint.h>

#define COUNT_BELOW(mask, lane) __builtin_popcount((mask) & ((1u << (lane)) - 1))
/* Where a lane of `lanes` goes. */
#define PLACE(mask, lane)                              \
  ((mask) >> (lane) & 1u ? COUNT_BELOW((mask), (lane)) \
                         : __builtin_popcount(mask) + (lane) - COUNT_BELOW((mask), (lane)))
/* The lane that comes to a place, as a sum of which one term is not 0. */
#define FROM_4(mask, place) \
  ((PLACE(mask, 1) == (place)) + 2 * (PLACE(mask, 2) == (place)) + 3 * (PLACE(mask, 3) == (place)))
#define FROM_8(mask, place)                                                                  \
  (FROM_4(mask, place) + 4 * (PLACE(mask, 4) == (place)) + 5 * (PLACE(mask, 5) == (place)) + \
   6 * (PLACE(mask, 6) == (place)) + 7 * (PLACE(mask, 7) == (place)))

#define ORDER_8(mask)                                                  \
  {FROM_8(mask, 0), FROM_8(mask, 1), FROM_8(mask, 2), FROM_8(mask, 3), \
   FROM_8(mask, 4), FROM_8(mask, 5), FROM_8(mask, 6), FROM_8(mask, 7)}
#define ORDERS_4(mask) ORDER_8(mask), ORDER_8((mask) + 1u), ORDER_8((mask) + 2u), ORDER_8((mask) + 3u)
#define ORDERS_16(mask) ORDERS_4(mask), ORDERS_4((mask) + 4u), ORDERS_4((mask) + 8u), ORDERS_4((mask) + 12u)
#define ORDERS_64(mask) ORDERS_16(mask), ORDERS_16((mask) + 16u), ORDERS_16((mask) + 32u), ORDERS_16((mask) + 48u)

/* Of eight lanes of 32 bits. */
static const uint8_t orders_32[256][8] = {ORDERS_64(0u), ORDERS_64(64u), ORDERS_64(128u), ORDERS_64(192u)};

#define PAIR(mask, place) 2 * FROM_4(mask, place), 2 * FROM_4(mask, place) + 1
#define ORDER_4(mask) {PAIR(mask, 0), PAIR(mask, 1), PAIR(mask, 2), PAIR(mask, 3)}
#define PAIRS_4(mask) ORDER_4(mask), ORDER_4((mask) + 1u), ORDER_4((mask) + 2u), ORDER_4((mask) + 3u)

/* Of four lanes of 64 bits, which are moved as eight of 32. */
static const uint8_t orders_64[16][8] = {PAIRS_4(0u), PAIRS_4(4u), PAIRS_4(8u), PAIRS_4(12u)};

#undef COUNT_BELOW
#undef PLACE
#undef FROM_4
#undef FROM_8
#undef ORDER_8
#undef ORDERS_4
#undef ORDERS_16
#undef ORDERS_64
#undef PAIR
#undef ORDER_4
#undef PAIRS_4

#endif
