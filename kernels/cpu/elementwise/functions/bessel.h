/* Formulas of the table in ../functions.h: modified Bessel functions of the first kind. ../functions.c compiles them
 * into its loops. parts.h says what `narrow` is. */
#ifndef ND4C_KERNELS_CPU_ELEMENTWISE_FUNCTIONS_BESSEL_H
#define ND4C_KERNELS_CPU_ELEMENTWISE_FUNCTIONS_BESSEL_H

#include "kernels/cpu/elementwise/functions/parts.h"

/* (I0(y) - 1) / x for x = y^2 / 4, y from 0 to 2.5. */
ND4C_INLINED nd4c_two nd4c_bessel_near_0(double x, bool narrow) {
  double s = x, p;
  if (narrow) {
    p = ND4C_FMA(s, 2.12224679555822771e-6, 0.0000690997589071565854);
    p = ND4C_FMA(s, p, 0.0017363922888644249);
    p = ND4C_FMA(s, p, 0.0277776744381834588);
    p = ND4C_FMA(s, p, 0.250000013864066437);
    return (nd4c_two){ND4C_FMA(s, p, 0.99999999969903), 0};
  }
  p = ND4C_FMA(s, 8.09998510966972042e-14, 7.57708740551798938e-12);
  p = ND4C_FMA(s, p, 6.15150086103436587e-10);
  p = ND4C_FMA(s, p, 3.9367563961094248e-8);
  p = ND4C_FMA(s, p, 1.92901236973813044e-6);
  p = ND4C_FMA(s, p, 0.000069444444434362695);
  p = ND4C_FMA(s, p, 0.00173611111111353658);
  p = ND4C_FMA(s, p, 0.0277777777777774815);
  p = ND4C_FMA(s, p, 0.250000000000000014);
  nd4c_two last = {p, 0};
  return nd4c_multiply_add_two(s, last, 1.0, -1.096145043e-19);
}

/* I0(x) e^-x for x from 2.5 to 8. */
ND4C_INLINED nd4c_two nd4c_bessel_middle_0(double x, bool narrow) {
  double s = x - 5.25, p;
  if (narrow) {
    p = ND4C_FMA(s, -2.37666060376885856e-13, 2.01778818788638899e-12);
    p = ND4C_FMA(s, p, -9.0991695029850809e-12);
    p = ND4C_FMA(s, p, 6.38856274342063213e-11);
    p = ND4C_FMA(s, p, -5.05559039098618048e-10);
    p = ND4C_FMA(s, p, 3.26786942975514603e-9);
    p = ND4C_FMA(s, p, -1.94094903853024185e-8);
    p = ND4C_FMA(s, p, 1.11264900875169362e-7);
    p = ND4C_FMA(s, p, -6.10317660326612627e-7);
    p = ND4C_FMA(s, p, 3.22979248554058057e-6);
    p = ND4C_FMA(s, p, -0.0000168310588099544461);
    p = ND4C_FMA(s, p, 0.0000884202083621444408);
    p = ND4C_FMA(s, p, -0.000480161438754052262);
    p = ND4C_FMA(s, p, 0.00277520791657877472);
    p = ND4C_FMA(s, p, -0.0180850364691453389);
    return (nd4c_two){ND4C_FMA(s, p, 0.178838237818187216), 0};
  }
  p = ND4C_FMA(s, 1.4599566498523875e-22, -1.8533359850369243e-21);
  p = ND4C_FMA(s, p, 1.57581136523924589e-20);
  p = ND4C_FMA(s, p, -1.78888823947471798e-19);
  p = ND4C_FMA(s, p, 2.08390335907424328e-18);
  p = ND4C_FMA(s, p, -2.18823474644489703e-17);
  p = ND4C_FMA(s, p, 2.17644407673786564e-16);
  p = ND4C_FMA(s, p, -2.07402059424803188e-15);
  p = ND4C_FMA(s, p, 1.87974177960061555e-14);
  p = ND4C_FMA(s, p, -1.61516113334798248e-13);
  p = ND4C_FMA(s, p, 1.31357414956577879e-12);
  p = ND4C_FMA(s, p, -1.00922224584952572e-11);
  p = ND4C_FMA(s, p, 7.3122325702751037e-11);
  p = ND4C_FMA(s, p, -4.99021010966588992e-10);
  p = ND4C_FMA(s, p, 3.20688997557658083e-9);
  p = ND4C_FMA(s, p, -1.94330439553062851e-8);
  p = ND4C_FMA(s, p, 1.11484924108394309e-7);
  p = ND4C_FMA(s, p, -6.10271875256498507e-7);
  p = ND4C_FMA(s, p, 3.22936438652800584e-6);
  p = ND4C_FMA(s, p, -0.0000168311023441405195);
  p = ND4C_FMA(s, p, 0.0000884206156438741906);
  p = ND4C_FMA(s, p, -0.000480161423029510614);
  p = ND4C_FMA(s, p, 0.00277520776942616409);
  nd4c_two last = {p, 0};
  last = nd4c_multiply_add_two(s, last, -0.0180850364700749225, -2.897839271e-19);
  return nd4c_multiply_add_two(s, last, 0.178838237826886892, -1.097106737e-17);
}

/* I0(1 / x) e^(-1 / x) / sqrt x for x from 0 to 1/8. */
ND4C_INLINED nd4c_two nd4c_bessel_far_0(double x, bool narrow) {
  double s = x - 0.0625, p;
  if (narrow) {
    p = ND4C_FMA(s, 9.02904191188190448, 1.83043334658507298);
    p = ND4C_FMA(s, p, 0.318592087083368268);
    p = ND4C_FMA(s, p, 0.0966967712562118735);
    p = ND4C_FMA(s, p, 0.045635756808531797);
    p = ND4C_FMA(s, p, 0.0348716564056437733);
    p = ND4C_FMA(s, p, 0.0537688325022410093);
    return (nd4c_two){ND4C_FMA(s, p, 0.402176509405305399), 0};
  }
  p = ND4C_FMA(s, -120931751971889792.0, 28208816388672830.4);
  p = ND4C_FMA(s, p, 3423307624845367.09);
  p = ND4C_FMA(s, p, -785147889017681.972);
  p = ND4C_FMA(s, p, -47812335689505.7795);
  p = ND4C_FMA(s, p, 10217695952486.1233);
  p = ND4C_FMA(s, p, 474742046110.370422);
  p = ND4C_FMA(s, p, -83574285181.2168058);
  p = ND4C_FMA(s, p, -4134703268.75097942);
  p = ND4C_FMA(s, p, 469978713.69420858);
  p = ND4C_FMA(s, p, 34228503.2783002831);
  p = ND4C_FMA(s, p, -1412327.16412197889);
  p = ND4C_FMA(s, p, -236219.280110690684);
  p = ND4C_FMA(s, p, -7538.7844838028573);
  p = ND4C_FMA(s, p, 519.475545324133479);
  p = ND4C_FMA(s, p, 92.6330246854964833);
  p = ND4C_FMA(s, p, 10.556257381498616);
  p = ND4C_FMA(s, p, 1.4884770505879997);
  p = ND4C_FMA(s, p, 0.311804476361726736);
  p = ND4C_FMA(s, p, 0.0972454414314546346);
  p = ND4C_FMA(s, p, 0.0456418663974984093);
  p = ND4C_FMA(s, p, 0.0348713150437157476);
  nd4c_two last = {p, 0};
  last = nd4c_multiply_add_two(s, last, 0.0537688317386862586, -2.434754210e-18);
  return nd4c_multiply_add_two(s, last, 0.402176509445008086, -1.539714523e-17);
}

/* (2 I1(y) / y - 1) / x for x = y^2 / 4, y from 0 to 2.5. */
ND4C_INLINED nd4c_two nd4c_bessel_near_1(double x, bool narrow) {
  double s = x, p;
  if (narrow) {
    p = ND4C_FMA(s, 2.99603839275058677e-7, 0.0000115312778235907326);
    p = ND4C_FMA(s, p, 0.000347257107207237908);
    p = ND4C_FMA(s, p, 0.00694443162838284531);
    p = ND4C_FMA(s, p, 0.0833333350524151573);
    return (nd4c_two){ND4C_FMA(s, p, 0.499999999962682434), 0};
  }
  p = ND4C_FMA(s, 7.32427718758777928e-15, 7.57996105984351804e-13);
  p = ND4C_FMA(s, p, 6.83491293035474822e-11);
  p = ND4C_FMA(s, p, 4.92094696161013241e-9);
  p = ND4C_FMA(s, p, 2.75573194236897233e-7);
  p = ND4C_FMA(s, p, 0.0000115740740732373119);
  p = ND4C_FMA(s, p, 0.000347222222222423519);
  p = ND4C_FMA(s, p, 0.00694444444444441986);
  p = ND4C_FMA(s, p, 0.0833333333333333345);
  nd4c_two last = {p, 0};
  return nd4c_multiply_add_two(s, last, 0.5, -9.096606013e-21);
}

/* I1(x) e^-x / x for x from 2.5 to 8. */
ND4C_INLINED nd4c_two nd4c_bessel_middle_1(double x, bool narrow) {
  double s = x - 5.25, p;
  if (narrow) {
    p = ND4C_FMA(s, -5.12664571665601738e-14, 4.76334487404943033e-13);
    p = ND4C_FMA(s, p, -2.67964896909571833e-12);
    p = ND4C_FMA(s, p, 2.14789797435325209e-11);
    p = ND4C_FMA(s, p, -1.81747334743953098e-10);
    p = ND4C_FMA(s, p, 1.3384631889066814e-9);
    p = ND4C_FMA(s, p, -9.24117566896060375e-9);
    p = ND4C_FMA(s, p, 6.11309729565205454e-8);
    p = ND4C_FMA(s, p, -3.84587997346244144e-7);
    p = ND4C_FMA(s, p, 2.30073543934148996e-6);
    p = ND4C_FMA(s, p, -0.0000131209459174697198);
    p = ND4C_FMA(s, p, 0.0000714300111144201325);
    p = ND4C_FMA(s, p, -0.000370742881142467566);
    p = ND4C_FMA(s, p, 0.00181992117960525292);
    p = ND4C_FMA(s, p, -0.00821986253935769737);
    return (nd4c_two){ND4C_FMA(s, p, 0.0306196573995740487), 0};
  }
  p = ND4C_FMA(s, 1.67841084001291287e-23, -2.24925376780402782e-22);
  p = ND4C_FMA(s, p, 2.11712613936574729e-21);
  p = ND4C_FMA(s, p, -2.56966056676327677e-20);
  p = ND4C_FMA(s, p, 3.15909932538123884e-19);
  p = ND4C_FMA(s, p, -3.56437813639599127e-18);
  p = ND4C_FMA(s, p, 3.83694709475813624e-17);
  p = ND4C_FMA(s, p, -3.97025272285149483e-16);
  p = ND4C_FMA(s, p, 3.92888143427751687e-15);
  p = ND4C_FMA(s, p, -3.71049967498922935e-14);
  p = ND4C_FMA(s, p, 3.34039852548524203e-13);
  p = ND4C_FMA(s, p, -2.86279775595110722e-12);
  p = ND4C_FMA(s, p, 2.33275149069308038e-11);
  p = ND4C_FMA(s, p, -1.80546257697864175e-10);
  p = ND4C_FMA(s, p, 1.32631473084111012e-9);
  p = ND4C_FMA(s, p, -9.24549301095941669e-9);
  p = ND4C_FMA(s, p, 6.11746941282113842e-8);
  p = ND4C_FMA(s, p, -3.84579616250741868e-7);
  p = ND4C_FMA(s, p, 2.30065050291705384e-6);
  p = ND4C_FMA(s, p, -0.0000131209538801503574);
  p = ND4C_FMA(s, p, 0.0000714300918458173748);
  p = ND4C_FMA(s, p, -0.000370742878267532474);
  p = ND4C_FMA(s, p, 0.00181992115045053269);
  nd4c_two last = {p, 0};
  last = nd4c_multiply_add_two(s, last, -0.00821986253952764047, 4.983065211e-19);
  return nd4c_multiply_add_two(s, last, 0.0306196574012975179, 3.834302705e-19);
}

/* I1(1 / x) e^(-1 / x) / sqrt x for x from 0 to 1/8. */
ND4C_INLINED nd4c_two nd4c_bessel_far_1(double x, bool narrow) {
  double s = x - 0.0625, p;
  if (narrow) {
    p = ND4C_FMA(s, -10.1618992788736852, -2.06668787645345701);
    p = ND4C_FMA(s, p, -0.372055255702193398);
    p = ND4C_FMA(s, p, -0.119603654735704012);
    p = ND4C_FMA(s, p, -0.0615917451010394935);
    p = ND4C_FMA(s, p, -0.0561247706512123115);
    p = ND4C_FMA(s, p, -0.155993235861046904);
    return (nd4c_two){ND4C_FMA(s, p, 0.389398459074471288), 0};
  }
  p = ND4C_FMA(s, 111027221064332166.0, -29375977935264955.1);
  p = ND4C_FMA(s, p, -3149641401372518.02);
  p = ND4C_FMA(s, p, 818774974429575.03);
  p = ND4C_FMA(s, p, 44357487859994.695);
  p = ND4C_FMA(s, p, -10684071353055.1509);
  p = ND4C_FMA(s, p, -449162400796.58159);
  p = ND4C_FMA(s, p, 87876231941.5320743);
  p = ND4C_FMA(s, p, 4037260397.91180509);
  p = ND4C_FMA(s, p, -500398098.8161619);
  p = ND4C_FMA(s, p, -34620302.1351012088);
  p = ND4C_FMA(s, p, 1568383.74895250366);
  p = ND4C_FMA(s, p, 247200.94622716387);
  p = ND4C_FMA(s, p, 7528.9919620017987);
  p = ND4C_FMA(s, p, -579.454239576617606);
  p = ND4C_FMA(s, p, -100.476993024648867);
  p = ND4C_FMA(s, p, -11.5772180355443747);
  p = ND4C_FMA(s, p, -1.6779019628305057);
  p = ND4C_FMA(s, p, -0.365308815230928182);
  p = ND4C_FMA(s, p, -0.120252678104614008);
  p = ND4C_FMA(s, p, -0.0615978893239163234);
  p = ND4C_FMA(s, p, -0.0561243555408327077);
  nd4c_two last = {p, 0};
  last = nd4c_multiply_add_two(s, last, -0.155993235091772228, 8.566853849e-18);
  return nd4c_multiply_add_two(s, last, 0.389398459025872319, -1.489712089e-17);
}

/* 1 + t p, t = a^2 / 4, whose low part goes in with the slope of the sum, about p^2 / p(0). */
ND4C_INLINED nd4c_two nd4c_bessel_series(double a, nd4c_two p, double slope) {
  nd4c_two t = nd4c_two_product(a, 0.25 * a);
  return nd4c_multiply_add_two(t.high, p, 1, t.low * (p.high * p.high * slope));
}

/* `near` below 2.5, else e^a times `middle` below 8, else e^a times far / sqrt a, for a up to 720. */
ND4C_INLINED double nd4c_bessel_with(double a, nd4c_two near, nd4c_two middle, nd4c_two far, bool narrow) {
  nd4c_exponential e = nd4c_exponential_of(a < 2.5 ? 0 : a, 0, narrow);
  nd4c_two small = nd4c_two_either(a < 2.5, near, middle);
  if (narrow) {
    double factor = a < 8 ? small.high : far.high / sqrt(a);
    return nd4c_exponential_scale((1 + (e.most + e.rest)) * factor, e);
  }
  nd4c_two over = nd4c_two_either(a < 8, small, far);
  nd4c_two under = nd4c_two_either(a < 8, (nd4c_two){1, 0}, nd4c_two_root(a, 0));
  nd4c_two factor = nd4c_two_quotient(over, under), mantissa = nd4c_exponential_mantissa(e);
  nd4c_two product = nd4c_two_product(mantissa.high, factor.high);
  double low = product.low + ND4C_FMA(mantissa.high, factor.low, mantissa.low * factor.high);
  return nd4c_exponential_scale(product.high + low, e);
}

ND4C_INLINED double nd4c_function_i0(double x, bool narrow) {
  double a = nd4c_at_most_f64(fabs(x), 720); /* beyond, the result is infinite */
  nd4c_two near = nd4c_bessel_series(a, nd4c_bessel_near_0(0.25 * a * a, narrow), 1);
  return nd4c_bessel_with(a, near, nd4c_bessel_middle_0(a, narrow), nd4c_bessel_far_0(1 / a, narrow), narrow);
}

ND4C_INLINED double nd4c_function_i1(double x, bool narrow) {
  double a = nd4c_at_most_f64(fabs(x), 720);
  nd4c_two series = nd4c_bessel_series(a, nd4c_bessel_near_1(0.25 * a * a, narrow), 2);
  nd4c_two middle = nd4c_bessel_middle_1(a, narrow), product = nd4c_two_product(a, middle.high);
  nd4c_two near = nd4c_two_product(0.5 * a, series.high);
  near.low = ND4C_FMA(0.5 * a, series.low, near.low);
  product.low = ND4C_FMA(a, middle.low, product.low);
  double y = nd4c_bessel_with(a, near, product, nd4c_bessel_far_1(1 / a, narrow), narrow);
  return copysign(a < 0x1p-500 ? 0.5 * a : y, x);
}

#endif
