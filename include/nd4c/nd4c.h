/* nd4c: arrays, ops, graphs and models on the hardware that the machine has. Programs include this header for the whole
 * public API except plugin.h (for backends) and dlpack.h (for exchange with other libraries).
 *
 * The comments of all headers use these words. Static: the result lives as long as the process, and the caller does not
 * free it. Borrowed: the caller gets no reference that it has to release. Any thread: several threads may call the
 * function at once. SHAPE in capitals is the status ND4C_SHAPE; "SHAPE: why" or "SHAPE if ..." says when a function
 * returns it. "As f" means: like f, except for what follows. */
#ifndef ND4C_ND4C_H
#define ND4C_ND4C_H

#include "nd4c/array.h"
#include "nd4c/calibration.h"
#include "nd4c/cancellation.h"
#include "nd4c/collective.h"
#include "nd4c/config.h"
#include "nd4c/context.h"
#include "nd4c/control.h"
#include "nd4c/datum.h"
#include "nd4c/device.h"
#include "nd4c/dtype.h"
#include "nd4c/external.h"
#include "nd4c/graph.h"
#include "nd4c/indexing.h"
#include "nd4c/io.h"
#include "nd4c/lists.h"
#include "nd4c/log.h"
#include "nd4c/model.h"
#include "nd4c/names.h"
#include "nd4c/op_schema.h"
#include "nd4c/ops.h"
#include "nd4c/routing.h"
#include "nd4c/runner.h"
#include "nd4c/status.h"
#include "nd4c/trace.h"
#include "nd4c/variable.h"
#include "nd4c/version.h"
#include "nd4c/workspace.h"

#endif
