/* y[i] = the sum over j of a[i + shift - j] b[j], a and b of m and n elements: floats in double, whole numbers in words
 * that wrap. A work item per result, in the order of j. families/signal.c launches it. */
#ifdef IS_FLOAT
#ifdef HAS_FP64
typedef double SUM;
#define TERM(type, v) CONVERT(type, float64, v)
#define RESULT(sum) CONVERT_LETTER(D, TYPE_Y, sum)
#endif
#else
typedef ulong SUM;
#define TERM(type, v) CONVERT(type, uint64, v)
#define RESULT(sum) CONVERT_LETTER(U, TYPE_Y, sum)
#endif

#ifdef TERM
__kernel void convolve(__global const STORAGE(A) *a, long a0, long a_step, long m, __global const STORAGE(B) *b,
                       long b0, long b_step, long n, __global STORAGE(Y) *y, long y0, long y_step, long shift,
                       long items) {
  ITEM(i, items)
  long place = i + shift, end = min(place + 1, n);
  SUM sum = 0;
  for (long j = max(place - m + 1, (long)0); j < end; j++) {
    sum += TERM(TYPE_A, LOAD(A, a, a0 + (place - j) * a_step)) * TERM(TYPE_B, LOAD(B, b, b0 + j * b_step));
  }
  SAVE(Y, y, y0 + i * y_step, RESULT(sum));
}
#endif
