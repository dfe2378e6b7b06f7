/* Runs samples for a calibration. session.c implements it, layers.c calls it. */
#ifndef ND4C_GRAPH_SAMPLES_RUN_H
#define ND4C_GRAPH_SAMPLES_RUN_H

#include "graph/calibration/session.h"

/* A plan of a graph whose outputs are the session's own, in float32 whatever the properties ask for. */
nd4c_status nd4c_calibration_make_plan(const nd4c_calibration_session *session, const nd4c_graph *graph,
                                       nd4c_plan **plan);
/* Checks number, dtypes and shapes of the inputs, and that those which layers read are finite. */
nd4c_status nd4c_calibration_check_sample(const nd4c_calibration_session *session, const char *what,
                                          const nd4c_array *const *inputs, int32_t input_count);
/* Checks number, dtypes and shapes of the inputs, and runs a plan of the session into fresh arrays: *outputs is to be
 * freed with nd4c_calibration_free_outputs. `what` names the caller in errors. */
nd4c_status nd4c_calibration_run(const nd4c_calibration_session *session, const char *what, nd4c_plan *plan,
                                 int32_t output_count, const nd4c_array *const *inputs, int32_t input_count,
                                 nd4c_array ***outputs);
void nd4c_calibration_free_outputs(nd4c_array **outputs, int32_t count);

#endif
