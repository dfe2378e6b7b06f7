/* What the files random*.c share: how a state reaches a kernel. */
#ifndef ND4C_BACKENDS_OPENCL_FAMILIES_RANDOM_H
#define ND4C_BACKENDS_OPENCL_FAMILIES_RANDOM_H

#include "backends/opencl/runtime/opencl.h"

/* Dtypes of a state, which is the first input of the random ops. */
#define ND4C_CL_STATES (ND4C_DTYPE_BIT(ND4C_INT64) | ND4C_DTYPE_BIT(ND4C_UINT64))

/* Four arguments: the state and its first element, its step, how many of its elements are read. */
#define ND4C_CL_STATE(state) ND4C_CL_IN(state), ND4C_CL_LONG((state)->strides[0], (state)->shape[0])

#endif
