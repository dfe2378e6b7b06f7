/* What a calibration has seen of one value: its least and largest elements and, if the method needs it, a histogram.
 * samples/session.c feeds one for each value, and asks it for the range. */
#ifndef ND4C_GRAPH_CALIBRATION_OBSERVER_H
#define ND4C_GRAPH_CALIBRATION_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/calibration.h"

enum { ND4C_OBSERVER_BINS = 8192 }; /* half of them on each side of 0 */

/* The method with its numbers, all set. */
typedef struct nd4c_observing {
  nd4c_calibration_method method;
  double percentile, momentum;
} nd4c_observing;

typedef struct nd4c_observer {
  bool seen, broken; /* broken: some element was NaN or an infinity, and there is no range */
  double low, high;  /* the least and largest elements, or their moving averages */
  int32_t exponent;  /* the bins cover -2^exponent to 2^exponent */
  int64_t elements;  /* in the bins */
  int64_t *bins;     /* own; NULL: the method needs none */
} nd4c_observer;

/* The least and largest of some elements. */
typedef struct nd4c_extremes {
  bool finite; /* false: there is a NaN or an infinity among them, and the rest is not set */
  double low, high;
} nd4c_extremes;

/* Allocates the bins if the method counts. */
nd4c_status nd4c_observer_init(nd4c_observer *observer, const nd4c_observing *how);
void nd4c_observer_free(nd4c_observer *observer);

/* count > 0. */
nd4c_extremes nd4c_extremes_of(const float *elements, int64_t count);
/* Takes the elements of one sample into account, whose extremes are known and finite. Cannot fail. */
void nd4c_observer_add(nd4c_observer *observer, const nd4c_observing *how, nd4c_extremes extremes,
                       const float *elements, int64_t count);
/* The range of a value that was seen and is not broken; `scratch` has room for ND4C_OBSERVER_BINS numbers. */
void nd4c_observer_range(const nd4c_observer *observer, const nd4c_observing *how, double *scratch, double *low,
                         double *high);

#endif
