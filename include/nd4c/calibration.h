/* Calibration: between which bounds the values of a float32 graph lie, seen on sample inputs. A plan or model of
 * precision ND4C_INT8 with these ranges computes convolutions and products with constant weights on bytes.
 *
 *   nd4c_calibration_create(graph, NULL, NULL, &calibration);
 *   for each sample: nd4c_calibration_observe(calibration, inputs, count);
 *   nd4c_calibration_finish(calibration);
 *   nd4c_calibration_save(calibration, "ranges.json");
 *
 * One thread observes, finishes and measures. A calibration that is finished or was loaded does not change any more,
 * except by nd4c_calibration_measure and _keep: any threads may make plans from it. */
#ifndef ND4C_CALIBRATION_H
#define ND4C_CALIBRATION_H

#include <stddef.h>
#include <stdint.h>

#include "nd4c/array.h"
#include "nd4c/graph.h"

ND4C_EXTERN_C_BEGIN

/* How the bounds of a value follow from all its elements in all samples. All but the first two count the elements in a
 * histogram of 8192 bins, whose bounds are doubled when an element lies outside. */
typedef enum nd4c_calibration_method {
  ND4C_CALIBRATION_MIN_MAX,        /* the least and the largest element */
  ND4C_CALIBRATION_MOVING_AVERAGE, /* those of each sample, averaged with falling weights: `momentum` for the newest */
  ND4C_CALIBRATION_PERCENTILE,     /* (100 - percentile) / 2 percent of the elements lie below, as many above */
  ND4C_CALIBRATION_ENTROPY,        /* clipped at the magnitude whose 128 steps lose least information (divergence of
                                      Kullback and Leibler); elements near 0 do not count */
  ND4C_CALIBRATION_MSE             /* clipped where clipping and rounding together have the least mean square error */
} nd4c_calibration_method;

typedef struct nd4c_calibration_options {
  uint32_t struct_size; /* sizeof(nd4c_calibration_options) */
  nd4c_calibration_method method;
  double percentile; /* above 0, at most 100; 0: 99.99 */
  double momentum;   /* above 0, at most 1; 0: 0.01 */
} nd4c_calibration_options;

/* Begins a calibration of a graph of float32, before any pass, as nd4c_model_graph gives it; the graph may have dims.
 * Samples run on `context` (NULL: current). options NULL: ND4C_CALIBRATION_MIN_MAX. The graph is not needed afterwards.
 * Variables begin with the values that they have now in the graph's own state (initial values, if it has none yet), and
 * samples assign them one after the other as runs do, but for this calibration alone: the graph's state does not
 * change. The caller releases the calibration. ARGUMENT: an unknown method, or a number outside its bounds.
 * UNSUPPORTED: nothing in the graph could compute on bytes, for there is no convolution and no product with constant
 * weights of float32. Otherwise as nd4c_plan_create. */
ND4C_API nd4c_status nd4c_calibration_create(const nd4c_graph *graph, nd4c_context *context,
                                             const nd4c_calibration_options *options, nd4c_calibration **calibration);
/* Runs one sample, whose inputs are in the order of the graph's, and takes its values into account. The values of one
 * sample are in memory at a time. Assigns the calibration's own variables. A cancellation that the thread has entered
 * stops it. ARGUMENT: the calibration is finished, or an input that a layer reads has NaN or an infinity. Another input
 * or a computed value that has one gets no range. SHAPE: an input has other axes or extents than the graph's. Otherwise
 * as nd4c_plan_run. A refused sample does not count. */
ND4C_API nd4c_status nd4c_calibration_observe(nd4c_calibration *calibration, const nd4c_array *const *inputs,
                                              int32_t input_count);
/* Computes the ranges; no more samples are taken. ARGUMENT: no sample was observed, or it is finished already. */
ND4C_API nd4c_status nd4c_calibration_finish(nd4c_calibration *calibration);

/* Another reference to the same calibration; returns it. Any thread. */
ND4C_API nd4c_calibration *nd4c_calibration_retain(nd4c_calibration *calibration);
/* Releases a reference. NULL is fine. Any thread. */
ND4C_API void nd4c_calibration_release(nd4c_calibration *calibration);

/* Number of values with a range; 0 before nd4c_calibration_finish and for NULL. */
ND4C_API int32_t nd4c_calibration_count(const nd4c_calibration *calibration);
/* The range of a value: its name is that of the graph's input, or of the node that computes it (a node without a label
 * has its op's name); "#2" and so on follow if several nodes of the graph, before any pass, have one name. A value that
 * only a pass computes has the name of its op and of what it reads, "multiply(x)". The name belongs to the calibration.
 * INDEX outside 0 .. count - 1; NULL_ARGUMENT. */
ND4C_API nd4c_status nd4c_calibration_get_range(const nd4c_calibration *calibration, int32_t index, const char **name,
                                                double *low, double *high);

/* Lets all nodes of an op ("conv"), or of a name as in nd4c_calibration_get_range, stay in float32; in the file of
 * nd4c_calibration_save, too. At most 65536 names. ARGUMENT: the name is empty. NAME: there is no such
 * op and no value has the name. Not while another thread uses the calibration. */
ND4C_API nd4c_status nd4c_calibration_keep(nd4c_calibration *calibration, const char *name);

/* -- which layers lose most --------------------------------------------------------------------------------------- */

/* A convolution or a product with constant weights, and what it loses alone if its input and its weights are rounded to
 * bytes: the ratio of the result's mean square to that of the error, in decibels. */
typedef struct nd4c_calibration_layer {
  uint32_t struct_size; /* set by the caller: sizeof(nd4c_calibration_layer) */
  const char *name;     /* for nd4c_calibration_keep; belongs to the calibration */
  const char *op;
  double decibels; /* infinity: no error; NaN: nothing was measured, or the result is 0 */
} nd4c_calibration_layer;

/* Runs one sample of a finished calibration, each layer once as it is and once on values rounded to bytes, and adds its
 * errors, unless they are not finite. Assigns the calibration's own variables. Cancellable. ARGUMENT: the
 * calibration is not finished, or was loaded. Otherwise as nd4c_calibration_observe. */
ND4C_API nd4c_status nd4c_calibration_measure(nd4c_calibration *calibration, const nd4c_array *const *inputs,
                                              int32_t input_count);
/* Layers in the graph's order. 0 for NULL, and for a calibration that was loaded. */
ND4C_API int32_t nd4c_calibration_layer_count(const nd4c_calibration *calibration);
/* INDEX outside 0 .. count - 1; ARGUMENT if struct_size is too small; NULL_ARGUMENT. */
ND4C_API nd4c_status nd4c_calibration_get_layer(const nd4c_calibration *calibration, int32_t index,
                                                nd4c_calibration_layer *layer);

/* -- files --------------------------------------------------------------------------------------------------------- */

/* Writes the ranges of a finished calibration as JSON, with the fingerprint of the graph's weights. ARGUMENT: it is not
 * finished. FORMAT: a name is not UTF-8. IO, MEMORY. */
ND4C_API nd4c_status nd4c_calibration_save(const nd4c_calibration *calibration, const char *path);
/* Reads such a file, or its bytes. FORMAT: it is none, or has more than 2^20 ranges, a range that is not finite in
 * float32 or not in order, or a name twice; the text says where. IO, LIBRARY (cJSON cannot be loaded), MEMORY. */
ND4C_API nd4c_status nd4c_calibration_load(const char *path, nd4c_calibration **calibration);
ND4C_API nd4c_status nd4c_calibration_load_memory(const void *bytes, size_t size, nd4c_calibration **calibration);

ND4C_EXTERN_C_END
#endif
