/* Formulas of the table in ../functions.h: the inverse error function. ../functions.c compiles them into its loops.
 * parts.h says what `narrow` is. */
#ifndef ND4C_KERNELS_CPU_ELEMENTWISE_FUNCTIONS_INVERSE_H
#define ND4C_KERNELS_CPU_ELEMENTWISE_FUNCTIONS_INVERSE_H

#include "kernels/cpu/elementwise/functions/parts.h"

/* erfinv(y) / y, x = -ln(1 - y^2) from 0 to 2. */
ND4C_INLINED nd4c_two nd4c_erfinv_small(double x) {
  double s = x, p;
  p = ND4C_FMA(s, -4.199805496803392e-15, 9.40140934246765481e-14);
  p = ND4C_FMA(s, p, -7.80996580645930194e-13);
  p = ND4C_FMA(s, p, 1.92661457859638558e-12);
  p = ND4C_FMA(s, p, 8.65340789450548444e-12);
  p = ND4C_FMA(s, p, -9.99022595081547801e-12);
  p = ND4C_FMA(s, p, -5.32405918463512072e-10);
  p = ND4C_FMA(s, p, 7.62370246345379725e-10);
  p = ND4C_FMA(s, p, 2.27878044656124842e-8);
  p = ND4C_FMA(s, p, -3.72923238992505761e-8);
  p = ND4C_FMA(s, p, -1.01255533554189244e-6);
  p = ND4C_FMA(s, p, 2.019989007428402e-6);
  p = ND4C_FMA(s, p, 0.0000466114404052663521);
  p = ND4C_FMA(s, p, -0.000128043294266978034);
  p = ND4C_FMA(s, p, -0.00233510164160924468);
  p = ND4C_FMA(s, p, 0.011549342038270769);
  nd4c_two last = {p, 0};
  last = nd4c_multiply_add_two(s, last, 0.232013666534654492, -2.633116428e-18);
  return nd4c_multiply_add_two(s, last, 0.886226925452758014, -3.832964773e-17);
}

/* The same for x from 2 to 6.25; narrow: from 0. */
ND4C_INLINED nd4c_two nd4c_erfinv_near(double x, bool narrow) {
  double s = x - 4.125, p;
  if (narrow) {
    p = ND4C_FMA(s, -1.25708144145236873e-11, -1.4516155649516716e-10);
    p = ND4C_FMA(s, p, 2.69284864056841977e-10);
    p = ND4C_FMA(s, p, 3.15840945745540759e-9);
    p = ND4C_FMA(s, p, -3.03801978314558974e-8);
    p = ND4C_FMA(s, p, 1.40502228144415449e-7);
    p = ND4C_FMA(s, p, 6.21646751925322072e-7);
    p = ND4C_FMA(s, p, -0.0000150870898557779255);
    p = ND4C_FMA(s, p, 0.000109318430802082504);
    p = ND4C_FMA(s, p, -0.000146944150935108795);
    p = ND4C_FMA(s, p, -0.00728671404669995203);
    p = ND4C_FMA(s, p, 0.226540771015667054);
    return (nd4c_two){ND4C_FMA(s, p, 1.88721025006608465), 0};
  }
  p = ND4C_FMA(s, 7.76910908782258041e-19, 2.34812133739002541e-17);
  p = ND4C_FMA(s, p, -2.63490546292055263e-16);
  p = ND4C_FMA(s, p, 1.62609241243168074e-16);
  p = ND4C_FMA(s, p, 1.45441027632172917e-14);
  p = ND4C_FMA(s, p, -1.27716201754991951e-13);
  p = ND4C_FMA(s, p, 2.19684037782157785e-13);
  p = ND4C_FMA(s, p, 5.79462064543259659e-12);
  p = ND4C_FMA(s, p, -6.34371316789715519e-11);
  p = ND4C_FMA(s, p, 1.97945920908462644e-10);
  p = ND4C_FMA(s, p, 2.15444758379350158e-9);
  p = ND4C_FMA(s, p, -3.11730170515451471e-8);
  p = ND4C_FMA(s, p, 1.44910470541086646e-7);
  p = ND4C_FMA(s, p, 6.2731969734556307e-7);
  p = ND4C_FMA(s, p, -0.0000150956743403574815);
  p = ND4C_FMA(s, p, 0.000109306411458571083);
  p = ND4C_FMA(s, p, -0.000146936900183804569);
  p = ND4C_FMA(s, p, -0.00728670580394920545);
  nd4c_two last = {p, 0};
  last = nd4c_multiply_add_two(s, last, 0.226540769048451516, -7.515197437e-18);
  return nd4c_multiply_add_two(s, last, 1.88721024920094235, -3.060142299e-17);
}

/* The same, x the square root of that logarithm, from 2.5 to 4; narrow: to 4.1. */
ND4C_INLINED nd4c_two nd4c_erfinv_middle(double x, bool narrow) {
  double s = x - 3.25, p;
  if (narrow) {
    p = ND4C_FMA(s, 0.0000629361013124041486, -0.0000398564595346289355);
    p = ND4C_FMA(s, p, -0.000338026432485642846);
    p = ND4C_FMA(s, p, 0.000985425712992735607);
    p = ND4C_FMA(s, p, -0.0016965490908931486);
    p = ND4C_FMA(s, p, 0.00248465008270634284);
    p = ND4C_FMA(s, p, -0.00374986781400372574);
    p = ND4C_FMA(s, p, 0.00537142840172324994);
    p = ND4C_FMA(s, p, 1.005258911651236);
    return (nd4c_two){ND4C_FMA(s, p, 3.0838856041391793), 0};
  }
  p = ND4C_FMA(s, -1.51026954233350641e-8, 6.96924197762969404e-10);
  p = ND4C_FMA(s, p, 1.31043514999720141e-7);
  p = ND4C_FMA(s, p, -2.71345110543945614e-7);
  p = ND4C_FMA(s, p, -2.70042192808689465e-8);
  p = ND4C_FMA(s, p, 1.49871307841861263e-6);
  p = ND4C_FMA(s, p, -3.98608439521475595e-6);
  p = ND4C_FMA(s, p, 2.92572919017898247e-6);
  p = ND4C_FMA(s, p, 0.0000124651671570872518);
  p = ND4C_FMA(s, p, -0.0000473189841201124549);
  p = ND4C_FMA(s, p, 0.0000682870865475337668);
  p = ND4C_FMA(s, p, 0.0000240312570150925236);
  p = ND4C_FMA(s, p, -0.000355037809759638111);
  p = ND4C_FMA(s, p, 0.000953289363743563718);
  p = ND4C_FMA(s, p, -0.00168827553573370721);
  p = ND4C_FMA(s, p, 0.0024914420969817609);
  p = ND4C_FMA(s, p, -0.0037512085082155611);
  p = ND4C_FMA(s, p, 0.00537091455357167963);
  nd4c_two last = {p, 0};
  last = nd4c_multiply_add_two(s, last, 1.0052589676941653, 7.142090487e-17);
  return nd4c_multiply_add_two(s, last, 3.08388561049222063, -1.34073748e-16);
}

/* The same from 4 to 6.1. */
ND4C_INLINED nd4c_two nd4c_erfinv_far(double x) {
  double s = x - 5.0, p;
  p = ND4C_FMA(s, -9.13408158162350252e-13, 5.92772173282334887e-12);
  p = ND4C_FMA(s, p, -1.58450645460461216e-11);
  p = ND4C_FMA(s, p, 1.44993039637976412e-11);
  p = ND4C_FMA(s, p, 5.99137040859842132e-11);
  p = ND4C_FMA(s, p, -3.80287497421861361e-10);
  p = ND4C_FMA(s, p, 1.32741535700485161e-9);
  p = ND4C_FMA(s, p, -3.53471438058445422e-9);
  p = ND4C_FMA(s, p, 7.81319833028132608e-9);
  p = ND4C_FMA(s, p, -1.52132672805806666e-8);
  p = ND4C_FMA(s, p, 2.9022362878984996e-8);
  p = ND4C_FMA(s, p, -6.75729008147556651e-8);
  p = ND4C_FMA(s, p, 2.29051788490987826e-7);
  p = ND4C_FMA(s, p, -9.93025456684868356e-7);
  p = ND4C_FMA(s, p, 4.52605269123395007e-6);
  p = ND4C_FMA(s, p, -0.0000196817712005398815);
  p = ND4C_FMA(s, p, 0.0000759952780832403263);
  p = ND4C_FMA(s, p, -0.000215030119798950831);
  p = ND4C_FMA(s, p, -0.000138719318379713793);
  nd4c_two last = {p, 0};
  last = nd4c_multiply_add_two(s, last, 1.01030046486454486, 2.621263687e-17);
  return nd4c_multiply_add_two(s, last, 4.84990640140858434, -8.263078774e-17);
}

ND4C_INLINED double nd4c_function_erfinv(double x, bool narrow) {
  double a = fabs(x), inside = a < 1 ? a : 0;
  nd4c_two less = nd4c_two_sum_ordered(1, -inside), more = nd4c_two_sum_ordered(1, inside);
  nd4c_two rest = nd4c_two_product(less.high, more.high);
  rest.low += ND4C_FMA(less.high, more.low, less.low * more.high);
  nd4c_two log = nd4c_logarithm_sum(nd4c_logarithm_of(rest.high, narrow ? 0 : rest.low, 0, narrow));
  double w = -log.high;
  nd4c_two wide = nd4c_two_root(w, -log.low);
  double root = wide.high;
  nd4c_two near = nd4c_erfinv_near(w, narrow), far = nd4c_erfinv_middle(root, narrow);
  if (!narrow) {
    nd4c_two end = nd4c_erfinv_far(root);
    near = nd4c_two_either(w < 2, nd4c_erfinv_small(w), near);
    far = nd4c_two_either(root < 4, far, end);
  }
  nd4c_two factor = nd4c_two_either(w < 6.25, near, far);
  nd4c_two product = nd4c_two_product(a, factor.high);
  /* What rounding took from w or its root, times the factor's slope there, about. */
  double lost = w < 6.25 ? -0.2 * log.low : 0.95 * wide.low;
  double y = product.high + ND4C_FMA(a, factor.low + lost, product.low);
  return copysign(a < 1 ? y : a == 1 ? INFINITY : NAN, x);
}

#endif
