/* What the families of random numbers share. */
#ifndef ND4C_BACKENDS_OPENCL_FAMILIES_RANDOM_H
#define ND4C_BACKENDS_OPENCL_FAMILIES_RANDOM_H

#include "backends/opencl/runtime/opencl.h"

/* Dtypes of a state, which is the first input of the random ops. */
#define ND4C_CL_STATES (ND4C_DTYPE_BIT(ND4C_INT64) | ND4C_DTYPE_BIT(ND4C_UINT64))

/* Four arguments: the state and its first element, its step, how many of its elements are read (0: it is none). */
void nd4c_cl_arg_state(nd4c_cl_launch *launch, const nd4c_tensor *state, int64_t count);

#endif
