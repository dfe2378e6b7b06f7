/* Elements that are moved as bits, by size. Several narrow elements may move as one unit, which then needs the
 * alignment of only one of them. each_unit.h and shape/squares.h include this. */
#ifndef ND4C_KERNELS_CPU_SUPPORT_UNITS_H
#define ND4C_KERNELS_CPU_SUPPORT_UNITS_H

#include <stdint.h>

typedef uint8_t nd4c_unit_1;
typedef uint16_t nd4c_unit_2 __attribute__((aligned(1), may_alias));
typedef uint32_t nd4c_unit_4 __attribute__((aligned(1), may_alias));
typedef uint64_t nd4c_unit_8 __attribute__((aligned(1), may_alias));
typedef uint8_t nd4c_unit_16 __attribute__((vector_size(16), aligned(1), may_alias));

/* The rows of a table by size. */
#define ND4C_BY_SIZE(name) {[1] = name##_1, [2] = name##_2, [4] = name##_4, [8] = name##_8, [16] = name##_16}

#endif
