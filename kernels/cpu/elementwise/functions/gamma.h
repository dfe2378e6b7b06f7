/* Formulas of the table in ../functions.h: the gamma function's logarithm, and the derivative of that. ../functions.c
 * compiles them into its loops. parts.h says what `narrow` is. */
#ifndef ND4C_KERNELS_CPU_ELEMENTWISE_FUNCTIONS_GAMMA_H
#define ND4C_KERNELS_CPU_ELEMENTWISE_FUNCTIONS_GAMMA_H

#include "kernels/cpu/elementwise/functions/parts.h"

/* -- ln gamma ---------------------------------------------------------------------------------------------------- */

/* ln gamma(x) / ((x - 1)(x - 2)) for x from 1 to 2. */
ND4C_INLINED nd4c_two nd4c_lgamma_from_1(double x, bool narrow) {
  double s = x - 1.5, p;
  if (narrow) {
    p = ND4C_FMA(s, 0.000934933127787486668, -0.00152448583466221837);
    p = ND4C_FMA(s, p, 0.00186388494919483371);
    p = ND4C_FMA(s, p, -0.00311698205969486371);
    p = ND4C_FMA(s, p, 0.00545308050326404599);
    p = ND4C_FMA(s, p, -0.00943628826873302096);
    p = ND4C_FMA(s, p, 0.0167967992206009902);
    p = ND4C_FMA(s, p, -0.0313080053542915716);
    p = ND4C_FMA(s, p, 0.0629114048355831633);
    p = ND4C_FMA(s, p, -0.145959901970478491);
    return (nd4c_two){ND4C_FMA(s, p, 0.483128950540980889), 0};
  }
  p = ND4C_FMA(s, 0.0000118209694454671452, -0.0000185278039970329614);
  p = ND4C_FMA(s, p, 0.0000135842754591309424);
  p = ND4C_FMA(s, p, -0.0000214877025206257627);
  p = ND4C_FMA(s, p, 0.0000428164286279477919);
  p = ND4C_FMA(s, p, -0.0000679373302739704651);
  p = ND4C_FMA(s, p, 0.000105417152221859049);
  p = ND4C_FMA(s, p, -0.000168571794503517222);
  p = ND4C_FMA(s, p, 0.000271302735451140075);
  p = ND4C_FMA(s, p, -0.000438035161325805359);
  p = ND4C_FMA(s, p, 0.000711520275205129861);
  p = ND4C_FMA(s, p, -0.001164411377219605);
  p = ND4C_FMA(s, p, 0.00192291623212279233);
  p = ND4C_FMA(s, p, -0.00321207422060729068);
  p = ND4C_FMA(s, p, 0.00544645784221955293);
  p = ND4C_FMA(s, p, -0.009425622444829649);
  p = ND4C_FMA(s, p, 0.0167970986312139496);
  p = ND4C_FMA(s, p, -0.0313084875010532718);
  p = ND4C_FMA(s, p, 0.0629114010745648463);
  nd4c_two last = {p, 0};
  last = nd4c_multiply_add_two(s, last, -0.145959895914305938, 4.676847394e-18);
  return nd4c_multiply_add_two(s, last, 0.483128950540980889, 1.6718819e-17);
}

/* ln gamma(x) / (x - 2) for x from 2 to 4. */
ND4C_INLINED nd4c_two nd4c_lgamma_from_2(double x, bool narrow) {
  double s = x - 3.0, p;
  if (narrow) {
    p = ND4C_FMA(s, -1.0056279659985347e-6, 3.33756221869261278e-6);
    p = ND4C_FMA(s, p, -8.46478240046598053e-6);
    p = ND4C_FMA(s, p, 0.0000292932468194006881);
    p = ND4C_FMA(s, p, -0.000106894886078979628);
    p = ND4C_FMA(s, p, 0.000393489553558465442);
    p = ND4C_FMA(s, p, -0.00152865818027351247);
    p = ND4C_FMA(s, p, 0.00648442123579933186);
    p = ND4C_FMA(s, p, -0.0321701221252669872);
    p = ND4C_FMA(s, p, 0.229637157828764423);
    return (nd4c_two){ND4C_FMA(s, p, 0.693147180559945309), 0};
  }
  p = ND4C_FMA(s, -1.16724221823759404e-11, 3.66670636707758575e-11);
  p = ND4C_FMA(s, p, -5.4178617400476991e-11);
  p = ND4C_FMA(s, p, 1.72034063333876705e-10);
  p = ND4C_FMA(s, p, -6.86155913274489627e-10);
  p = ND4C_FMA(s, p, 2.18790941749453333e-9);
  p = ND4C_FMA(s, p, -6.83422260284926674e-9);
  p = ND4C_FMA(s, p, 2.20193039175261708e-8);
  p = ND4C_FMA(s, p, -7.15306959016731985e-8);
  p = ND4C_FMA(s, p, 2.33705137669951184e-7);
  p = ND4C_FMA(s, p, -7.70715124305923597e-7);
  p = ND4C_FMA(s, p, 2.57197365261110483e-6);
  p = ND4C_FMA(s, p, -8.7128498390410108e-6);
  p = ND4C_FMA(s, p, 0.0000301011253699518414);
  p = ND4C_FMA(s, p, -0.000106783607306215046);
  p = ND4C_FMA(s, p, 0.000393127271301081727);
  p = ND4C_FMA(s, p, -0.00152867830009438099);
  p = ND4C_FMA(s, p, 0.0064844867278826445);
  p = ND4C_FMA(s, p, -0.0321701211144085879);
  nd4c_two last = {p, 0};
  last = nd4c_multiply_add_two(s, last, 0.229637154538521755, -9.957081928e-18);
  return nd4c_multiply_add_two(s, last, 0.693147180559945309, 2.319046814e-17);
}

/* ln gamma(x) for x from 4 to 8. */
ND4C_INLINED nd4c_two nd4c_lgamma_from_4(double x, bool narrow) {
  double s = x - 6.0, p;
  if (narrow) {
    p = ND4C_FMA(s, 2.7439101621438872e-9, -1.91301296409921298e-8);
    p = ND4C_FMA(s, p, 1.06436588465430046e-7);
    p = ND4C_FMA(s, p, -7.96581263451871434e-7);
    p = ND4C_FMA(s, p, 6.36771584997157557e-6);
    p = ND4C_FMA(s, p, -0.0000532236530208465486);
    p = ND4C_FMA(s, p, 0.000492822916558692431);
    p = ND4C_FMA(s, p, -0.00546493341449596501);
    p = ND4C_FMA(s, p, 0.0906614785231702789);
    p = ND4C_FMA(s, p, 1.70611766402019511);
    return (nd4c_two){ND4C_FMA(s, p, 4.78749174278204599), 0};
  }
  p = ND4C_FMA(s, 2.47784898739630685e-17, -1.57220793027517102e-16);
  p = ND4C_FMA(s, p, 4.81068576524259685e-16);
  p = ND4C_FMA(s, p, -3.10492937978652751e-15);
  p = ND4C_FMA(s, p, 2.48465209374571455e-14);
  p = ND4C_FMA(s, p, -1.61591699785047875e-13);
  p = ND4C_FMA(s, p, 1.03542299050090337e-12);
  p = ND4C_FMA(s, p, -6.85386834755082293e-12);
  p = ND4C_FMA(s, p, 4.59401309698639371e-11);
  p = ND4C_FMA(s, p, -3.11500956037543277e-10);
  p = ND4C_FMA(s, p, 2.14656505018504654e-9);
  p = ND4C_FMA(s, p, -1.50961276359512003e-8);
  p = ND4C_FMA(s, p, 1.08952328912823935e-7);
  p = ND4C_FMA(s, p, -8.13550712140265183e-7);
  p = ND4C_FMA(s, p, 6.36320782642833527e-6);
  p = ND4C_FMA(s, p, -0.000053193261176164922);
  p = ND4C_FMA(s, p, 0.00049282617469836708);
  p = ND4C_FMA(s, p, -0.00546495537418725597);
  p = ND4C_FMA(s, p, 0.0906614778685576496);
  nd4c_two last = {p, 0};
  last = nd4c_multiply_add_two(s, last, 1.70611766843180056, 9.961758074e-17);
  return nd4c_multiply_add_two(s, last, 4.78749174278204599, 1.826815514e-16);
}

/* What Stirling's formula leaves, times y, for x = 1 / y^2 and y from 8 on. */
ND4C_INLINED nd4c_two nd4c_lgamma_rest(double x, bool narrow) {
  double s = x, p;
  if (narrow) {
    p = ND4C_FMA(s, 0.000780034718982951675, -0.00277769854519627761);
    return (nd4c_two){ND4C_FMA(s, p, 0.0833333332646377597), 0};
  }
  p = ND4C_FMA(s, -0.0208558208374631151, 0.00620813676622979336);
  p = ND4C_FMA(s, p, -0.001914965912162907);
  p = ND4C_FMA(s, p, 0.000841732526802240465);
  p = ND4C_FMA(s, p, -0.000595238023429125341);
  p = ND4C_FMA(s, p, 0.000793650793511728205);
  nd4c_two last = {p, 0};
  last = nd4c_multiply_add_two(s, last, -0.00277777777777767476, -9.225816375e-20);
  return nd4c_multiply_add_two(s, last, 0.0833333333333333333, 4.613364236e-18);
}

/* For positive x. Below 1, ln gamma(x + 1) - ln x. */
ND4C_INLINED double nd4c_function_lgamma(double x, bool narrow) {
  bool below = x < 1;
  nd4c_two first = nd4c_lgamma_from_1(below ? x + 1 : x, narrow), second = nd4c_lgamma_from_2(x, narrow);
  nd4c_two third = nd4c_lgamma_from_4(x, narrow),
           p = nd4c_two_either(x < 2, first, nd4c_two_either(x < 4, second, third));
  nd4c_two zeros = nd4c_two_product(below ? x : x - 1, below ? x - 1 : x - 2);
  double factor = x < 2 ? zeros.high : x < 4 ? x - 2 : 1, factor_low = x < 2 ? zeros.low : 0;
  nd4c_two near = nd4c_two_product(factor, p.high);
  near.low += ND4C_FMA(factor, p.low, factor_low * p.high);
  nd4c_two log = nd4c_logarithm_sum(nd4c_logarithm_start(x, narrow));
  double inverse = 1 / x, half = x - 0.5, rest = nd4c_lgamma_rest(inverse * inverse, narrow).high;
  nd4c_two most = nd4c_two_product(half, log.high), sum = nd4c_two_sum(most.high, -x);
  sum.low += ND4C_FMA(half, log.low, most.low) + ND4C_FMA(inverse, rest, 0.918938533204672742);
  nd4c_two less = nd4c_two_sum(near.high, below ? -log.high : 0);
  double small = less.high + (less.low + (near.low - (below ? log.low : 0)));
  double large = x < 0x1p900 ? sum.high + sum.low : x * (log.high - 1);
  return x < 8 ? small : x < INFINITY ? large : x;
}

/* -- digamma ------------------------------------------------------------------------------------------------------ */

/* digamma(x) / (x - its zero) for x from 1 to 2. */
ND4C_INLINED nd4c_two nd4c_digamma_from_1(double x, bool narrow) {
  double s = x - 1.5, p;
  if (narrow) {
    p = ND4C_FMA(s, 0.00512908326183669984, -0.00769679044525289061);
    p = ND4C_FMA(s, p, 0.00738577678195394395);
    p = ND4C_FMA(s, p, -0.011096228103516554);
    p = ND4C_FMA(s, p, 0.0179912615585775875);
    p = ND4C_FMA(s, p, -0.0271018354243467577);
    p = ND4C_FMA(s, p, 0.0407545932974808449);
    p = ND4C_FMA(s, p, -0.0619127709229360075);
    p = ND4C_FMA(s, p, 0.0949889214236268385);
    p = ND4C_FMA(s, p, -0.148405218553499761);
    p = ND4C_FMA(s, p, 0.240542482475114188);
    p = ND4C_FMA(s, p, -0.423627418632562335);
    return (nd4c_two){ND4C_FMA(s, p, 0.95105587603183288), 0};
  }
  p = ND4C_FMA(s, 0.00011881232908510335, -0.000178218854885592319);
  p = ND4C_FMA(s, p, 0.0000965364626141006168);
  p = ND4C_FMA(s, p, -0.000144806433680616131);
  p = ND4C_FMA(s, p, 0.000323959454013451983);
  p = ND4C_FMA(s, p, -0.000485950392200362562);
  p = ND4C_FMA(s, p, 0.000690925576128298636);
  p = ND4C_FMA(s, p, -0.00103645848173128379);
  p = ND4C_FMA(s, p, 0.00156336963136535051);
  p = ND4C_FMA(s, p, -0.00234549473973808352);
  p = ND4C_FMA(s, p, 0.00351810656380247234);
  p = ND4C_FMA(s, p, -0.00527993725553270825);
  p = ND4C_FMA(s, p, 0.00792702179686815398);
  p = ND4C_FMA(s, p, -0.0119082201059597162);
  p = ND4C_FMA(s, p, 0.0179072483173132958);
  p = ND4C_FMA(s, p, -0.0269757966597870551);
  p = ND4C_FMA(s, p, 0.0407608339408460828);
  p = ND4C_FMA(s, p, -0.061922133275488312);
  p = ND4C_FMA(s, p, 0.0949887244528903816);
  p = ND4C_FMA(s, p, -0.148404923053880915);
  p = ND4C_FMA(s, p, 0.240542484240786983);
  nd4c_two last = {p, 0};
  last = nd4c_multiply_add_two(s, last, -0.4236274212814606, -1.892936746e-17);
  return nd4c_multiply_add_two(s, last, 0.95105587603183288, 4.330743079e-17);
}

/* digamma(x) for x from 2 to 4. */
ND4C_INLINED nd4c_two nd4c_digamma_from_2(double x, bool narrow) {
  double s = x - 3.0, p;
  if (narrow) {
    p = ND4C_FMA(s, 2.74273293245017716e-6, -8.3115940034751973e-6);
    p = ND4C_FMA(s, p, 0.0000170538316570251859);
    p = ND4C_FMA(s, p, -0.0000523753008546212986);
    p = ND4C_FMA(s, p, 0.000171619212622357118);
    p = ND4C_FMA(s, p, -0.000538324938237576572);
    p = ND4C_FMA(s, p, 0.00171793975104905085);
    p = ND4C_FMA(s, p, -0.00567738643006020979);
    p = ND4C_FMA(s, p, 0.0198232442719533133);
    p = ND4C_FMA(s, p, -0.0770569350153442207);
    p = ND4C_FMA(s, p, 0.394934066701323333);
    return (nd4c_two){ND4C_FMA(s, p, 0.922784335541585481), 0};
  }
  p = ND4C_FMA(s, 6.04108709746520228e-11, -1.81314523663277325e-10);
  p = ND4C_FMA(s, p, 2.12012529371483972e-10);
  p = ND4C_FMA(s, p, -6.36907664055905549e-10);
  p = ND4C_FMA(s, p, 2.70334254225700768e-9);
  p = ND4C_FMA(s, p, -8.125220984784074e-9);
  p = ND4C_FMA(s, p, 2.33779511443412127e-8);
  p = ND4C_FMA(s, p, -7.0380924995456849e-8);
  p = ND4C_FMA(s, p, 2.1302931406576794e-7);
  p = ND4C_FMA(s, p, -6.43186633573179517e-7);
  p = ND4C_FMA(s, p, 1.94591069775148607e-6);
  p = ND4C_FMA(s, p, -5.90730127505943862e-6);
  p = ND4C_FMA(s, p, 0.0000180126316291572682);
  p = ND4C_FMA(s, p, -0.0000552678375183423291);
  p = ND4C_FMA(s, p, 0.000171106197464726097);
  p = ND4C_FMA(s, p, -0.000536777380483621596);
  p = ND4C_FMA(s, p, 0.00171806198448001807);
  p = ND4C_FMA(s, p, -0.00567775514346258488);
  p = ND4C_FMA(s, p, 0.0198232337111374178);
  p = ND4C_FMA(s, p, -0.0770569031595919636);
  nd4c_two last = {p, 0};
  last = nd4c_multiply_add_two(s, last, 0.39493406684822644, -2.157684289e-17);
  return nd4c_multiply_add_two(s, last, 0.92278433509846713, -4.655888063e-18);
}

/* digamma(x) for x from 4 to 8. */
ND4C_INLINED nd4c_two nd4c_digamma_from_4(double x, bool narrow) {
  double s = x - 6.0, p;
  if (narrow) {
    p = ND4C_FMA(s, -4.62318024085679907e-9, 2.88455668814464807e-8);
    p = ND4C_FMA(s, p, -1.30779296547363289e-7);
    p = ND4C_FMA(s, p, 8.40274751645895403e-7);
    p = ND4C_FMA(s, p, -5.70400593500968162e-6);
    p = ND4C_FMA(s, p, 0.0000382356291149752328);
    p = ND4C_FMA(s, p, -0.000265959678670393694);
    p = ND4C_FMA(s, p, 0.0019712638712482783);
    p = ND4C_FMA(s, p, -0.0163948674551197809);
    p = ND4C_FMA(s, p, 0.181322963946082537);
    return (nd4c_two){ND4C_FMA(s, p, 1.70611766843180047), 0};
  }
  p = ND4C_FMA(s, -8.67856281082966139e-17, 5.23845254736227858e-16);
  p = ND4C_FMA(s, p, -1.34288771790630516e-15);
  p = ND4C_FMA(s, p, 8.15103284424954336e-15);
  p = ND4C_FMA(s, p, -6.59835918586662774e-14);
  p = ND4C_FMA(s, p, 4.0137771046774805e-13);
  p = ND4C_FMA(s, p, -2.36541375960605618e-12);
  p = ND4C_FMA(s, p, 1.4480166778569159e-11);
  p = ND4C_FMA(s, p, -8.92561477122741206e-11);
  p = ND4C_FMA(s, p, 5.51319893787353105e-10);
  p = ND4C_FMA(s, p, -3.4262544880653181e-9);
  p = ND4C_FMA(s, p, 2.14655944309572443e-8);
  p = ND4C_FMA(s, p, -1.35865403456342426e-7);
  p = ND4C_FMA(s, p, 8.71618679230650909e-7);
  p = ND4C_FMA(s, p, -5.69485484026951679e-6);
  p = ND4C_FMA(s, p, 0.0000381792469365203619);
  p = ND4C_FMA(s, p, -0.000265966305922284705);
  p = ND4C_FMA(s, p, 0.00197130469879804465);
  p = ND4C_FMA(s, p, -0.0163948661225571982);
  nd4c_two last = {p, 0};
  last = nd4c_multiply_add_two(s, last, 0.181322955737115023, 7.204831085e-18);
  return nd4c_multiply_add_two(s, last, 1.70611766843180047, 1.234440198e-17);
}

/* (ln y - 1 / (2 y) - digamma(y)) y^2 for x = 1 / y^2 and y from 8 on. */
ND4C_INLINED nd4c_two nd4c_digamma_rest(double x, bool narrow) {
  double s = x, p;
  if (narrow) {
    p = ND4C_FMA(s, 0.00387358826211794545, -0.00833278354063876334);
    return (nd4c_two){ND4C_FMA(s, p, 0.0833333328568187952), 0};
  }
  p = ND4C_FMA(s, -0.299425370626735011, 0.0800233746539775668);
  p = ND4C_FMA(s, p, -0.0210510609080477417);
  p = ND4C_FMA(s, p, 0.00757545992036917607);
  p = ND4C_FMA(s, p, -0.00416666550151672457);
  p = ND4C_FMA(s, p, 0.00396825396599970065);
  nd4c_two last = {p, 0};
  last = nd4c_multiply_add_two(s, last, -0.00833333333333166417, 2.437012119e-19);
  return nd4c_multiply_add_two(s, last, 0.0833333333333333331, 4.422368518e-18);
}

/* For positive x. Below 1, digamma(x + 1) - 1 / x. The zero is 1 + 0.46..., in two parts. */
ND4C_INLINED double nd4c_function_digamma(double x, bool narrow) {
  bool below = x < 1;
  nd4c_two first = nd4c_digamma_from_1(below ? x + 1 : x, narrow), second = nd4c_digamma_from_2(x, narrow);
  nd4c_two third = nd4c_digamma_from_4(x, narrow),
           p = nd4c_two_either(x < 2, first, nd4c_two_either(x < 4, second, third));
  nd4c_two beside = nd4c_two_sum(below ? x : x - 1, -0x1.d8b618d5af8fcp-2);
  beside.low -= 0x1.b86a722197829p-54;
  double factor = x < 2 ? beside.high : 1, factor_low = x < 2 ? beside.low : 0;
  nd4c_two near = nd4c_two_product(factor, p.high);
  near.low += ND4C_FMA(factor, p.low, factor_low * p.high);
  nd4c_two inverse = nd4c_two_quotient((nd4c_two){1, 0}, (nd4c_two){x, 0});
  nd4c_two less = nd4c_two_sum(near.high, below ? -inverse.high : 0);
  double small = less.high + (less.low + (near.low - (below ? inverse.low : 0)));
  double z = inverse.high * inverse.high, rest = nd4c_digamma_rest(z, narrow).high;
  nd4c_two log = nd4c_logarithm_sum(nd4c_logarithm_start(x, narrow));
  double large = log.high + (log.low - ND4C_FMA(z, rest, 0.5 * inverse.high));
  return x < 0x1p-900 ? -1 / x : x < 8 ? small : x < INFINITY ? large : x;
}

/* -- gamma -------------------------------------------------------------------------------------------------------- */

/* gamma(x) for x from 1 to 2. */
ND4C_INLINED nd4c_two nd4c_gamma_from_1(double x, bool narrow) {
  double s = x - 1.5, p;
  if (narrow) {
    p = ND4C_FMA(s, -0.0108976941532254897, 0.0163316602455582956);
    p = ND4C_FMA(s, p, -0.0162570448554800178);
    p = ND4C_FMA(s, p, 0.0243901087926853767);
    p = ND4C_FMA(s, p, -0.0381311031911741814);
    p = ND4C_FMA(s, p, 0.0588039766090413672);
    p = ND4C_FMA(s, p, -0.0775153573175315435);
    p = ND4C_FMA(s, p, 0.144633821208759393);
    p = ND4C_FMA(s, p, -0.10729497078391419);
    p = ND4C_FMA(s, p, 0.414813702917340294);
    p = ND4C_FMA(s, p, 0.0323383980269272101);
    return (nd4c_two){ND4C_FMA(s, p, 0.886226924586041008), 0};
  }
  p = ND4C_FMA(s, -0.000253038078080438969, 0.000379554918794861748);
  p = ND4C_FMA(s, p, -0.00022139952612051455);
  p = ND4C_FMA(s, p, 0.000332088580090749831);
  p = ND4C_FMA(s, p, -0.000704687972246614284);
  p = ND4C_FMA(s, p, 0.00105696334570189345);
  p = ND4C_FMA(s, p, -0.00151595959017819048);
  p = ND4C_FMA(s, p, 0.00227351406202483907);
  p = ND4C_FMA(s, p, -0.00342362933826263106);
  p = ND4C_FMA(s, p, 0.00513288376061649693);
  p = ND4C_FMA(s, p, -0.00769013928781634691);
  p = ND4C_FMA(s, p, 0.0115224072779903177);
  p = ND4C_FMA(s, p, -0.0172224470130205757);
  p = ND4C_FMA(s, p, 0.0258376123050778215);
  p = ND4C_FMA(s, p, -0.0380019354321776624);
  p = ND4C_FMA(s, p, 0.0586103036331454733);
  p = ND4C_FMA(s, p, -0.0775230523018289156);
  p = ND4C_FMA(s, p, 0.144645359047583605);
  p = ND4C_FMA(s, p, -0.107294804564759841);
  p = ND4C_FMA(s, p, 0.414813453688282612);
  nd4c_two last = {p, 0};
  last = nd4c_multiply_add_two(s, last, 0.032338397448885001, -2.448992848e-18);
  return nd4c_multiply_add_two(s, last, 0.886226925452758033, -1.91547999e-17);
}

/* ln x to 2^-65, for x from 8 to 200: as nd4c_logarithm_of, the first terms of the series in two parts. */
ND4C_INLINED nd4c_two nd4c_logarithm_fine(double x) {
  uint64_t bits = nd4c_double_bits(x) + (UINT64_C(0x3ff0000000000000) - UINT64_C(0x3fe6a09e667f3bcd));
  double k = nd4c_double_from_bits((bits >> 52) | UINT64_C(0x4330000000000000)) - (0x1p52 + 1023);
  double f = nd4c_double_from_bits((bits & UINT64_C(0x000fffffffffffff)) + UINT64_C(0x3fe6a09e667f3bcd)) - 1;
  nd4c_two s = nd4c_two_quotient((nd4c_two){f, 0}, nd4c_two_sum_ordered(2, f));
  nd4c_two z = nd4c_two_product(s.high, s.high);
  z.low += 2 * s.high * s.low;
  nd4c_two cube = nd4c_two_product(z.high, s.high);
  cube.low += ND4C_FMA(z.high, s.low, z.low * s.high);
  nd4c_two third = nd4c_two_product(cube.high, 2.0 / 3);
  third.low += ND4C_FMA(cube.high, 0x1.5555555555555p-55, cube.low * (2.0 / 3));
  double series = ND4C_FMA(z.high, 0.118821330613647691, 0.116881086516143859);
  series = ND4C_FMA(z.high, series, 0.133356393388302255);
  series = ND4C_FMA(z.high, series, 0.153845751168653823);
  series = ND4C_FMA(z.high, series, 0.18181818593853613);
  series = ND4C_FMA(z.high, series, 0.222222222198573841);
  series = ND4C_FMA(z.high, series, 0.285714285714353636);
  series = ND4C_FMA(z.high, series, 0.399999999999999925);
  nd4c_two sum = nd4c_two_sum_ordered(k * ND4C_LN2_HIGH, 2 * s.high), more = nd4c_two_sum_ordered(sum.high, third.high);
  double low = sum.low + more.low + ND4C_FMA(z.high * cube.high, series, third.low + 2 * s.low);
  return nd4c_two_sum_ordered(more.high, ND4C_FMA(k, ND4C_LN2_LOW, low));
}

/* product times x - k where x is beyond k + 1. */
ND4C_INLINED nd4c_two nd4c_gamma_factor(nd4c_two product, double x, double k) {
  double factor = x >= k + 1 ? x - k : 1;
  nd4c_two more = nd4c_two_product(product.high, factor);
  return (nd4c_two){more.high, ND4C_FMA(product.low, factor, more.low)};
}

/* For positive x: below 8 from that of a number from 1 to 2, beyond by Stirling's formula. */
ND4C_INLINED double nd4c_function_gamma(double x, bool narrow) {
  bool below = x < 1;
  nd4c_two product = nd4c_gamma_from_1(below ? x + 1 : x - floor(x) + 1, narrow);
  product = nd4c_gamma_factor(product, x, 1);
  product = nd4c_gamma_factor(product, x, 2);
  product = nd4c_gamma_factor(product, x, 3);
  product = nd4c_gamma_factor(product, x, 4);
  product = nd4c_gamma_factor(product, x, 5);
  product = nd4c_gamma_factor(product, x, 6);
  nd4c_two quotient = nd4c_two_quotient(product, (nd4c_two){below ? x : 1, 0});
  double small = x < 0x1p-900 ? 1 / x : quotient.high + quotient.low;
  double far = nd4c_within_f64(x, 8, 173), half = far - 0.5, inverse = 1 / far;
  nd4c_two log = narrow ? nd4c_logarithm_sum(nd4c_logarithm_of(far, 0, 0, true)) : nd4c_logarithm_fine(far);
  nd4c_two most = nd4c_two_product(half, log.high), sum = nd4c_two_sum_ordered(most.high, -far);
  sum.low += ND4C_FMA(half, log.low, most.low);
  double rest =
      ND4C_FMA(inverse, nd4c_lgamma_rest(inverse * inverse, narrow).high, 0x1.d67f1c864beb5p-1); /* ln(2 pi) / 2 */
  nd4c_two exponent = nd4c_two_sum_ordered(sum.high, rest);
  nd4c_exponential e = nd4c_exponential_of(exponent.high, exponent.low + (sum.low - 0x1.65b5a1b7ff5dfp-55), narrow);
  return x < 8 ? small : nd4c_exponential_scale(1 + (e.most + e.rest), e);
}

#endif
