/* What the files of engine fftw share: FFTW 3 in two precisions, and its plans. simd/signal_fft.c asks through this
 * whether FFTW is there. */
#ifndef ND4C_BACKENDS_CPU_FFTW_FFTW_H
#define ND4C_BACKENDS_CPU_FFTW_FFTW_H

#include "backends/cpu/cpu.h"

/* FFTW's names for what is asked of it. */
enum { FFTW_FORWARD = -1, FFTW_BACKWARD = 1, FFTW_UNALIGNED = 2, FFTW_ESTIMATE = 64 };

typedef struct nd4c_fftw_plan_handle *nd4c_fftw_plan;

/* An axis: extent, and strides of input and output in numbers of their kind. */
typedef struct nd4c_fftw_dim {
  ptrdiff_t n, in, out;
} nd4c_fftw_dim;

/* The one symbol list: X(result, name, parameters); names begin with fftw_ in double, fftwf_ in single precision. */
#define ND4C_FFTW_SYMBOLS(X)                                                                 \
  X(nd4c_fftw_plan, plan_guru64_dft,                                                         \
    (int, const nd4c_fftw_dim *, int, const nd4c_fftw_dim *, void *, void *, int, unsigned)) \
  X(nd4c_fftw_plan, plan_guru64_dft_r2c,                                                     \
    (int, const nd4c_fftw_dim *, int, const nd4c_fftw_dim *, void *, void *, unsigned))      \
  X(nd4c_fftw_plan, plan_guru64_dft_c2r,                                                     \
    (int, const nd4c_fftw_dim *, int, const nd4c_fftw_dim *, void *, void *, unsigned))      \
  X(void, execute_dft, (nd4c_fftw_plan, void *, void *))                                     \
  X(void, execute_dft_r2c, (nd4c_fftw_plan, void *, void *))                                 \
  X(void, execute_dft_c2r, (nd4c_fftw_plan, void *, void *))                                 \
  X(void, destroy_plan, (nd4c_fftw_plan))

/* The library of one precision. */
typedef struct nd4c_fftw {
  bool ready;
  char text[400]; /* version and file, or why it is not ready */
#define ND4C_FFTW_FIELD(result, name, parameters) result(*name) parameters;
  ND4C_FFTW_SYMBOLS(ND4C_FFTW_FIELD)
#undef ND4C_FFTW_FIELD
} nd4c_fftw;

/* Opens the libraries on the first call. NULL: no memory for the record (try again); else check `ready`. */
const nd4c_fftw *nd4c_fftw_get(bool single);

typedef enum nd4c_fftw_kind { ND4C_FFTW_COMPLEX, ND4C_FFTW_FROM_REAL, ND4C_FFTW_TO_REAL } nd4c_fftw_kind;

enum { ND4C_FFTW_AXES = 8 };

/* What a plan is for: axes that are transformed (the real one last), then the axes over which the transform repeats.
 * Zero it before you fill it, because keys are compared as bytes. */
typedef struct nd4c_fftw_key {
  int32_t single, kind, sign, unaligned;
  int32_t count, repeats;
  nd4c_fftw_dim dims[ND4C_FFTW_AXES];
} nd4c_fftw_key;

/* A plan that is borrowed: from the cache (slot), or made for this call (slot -1) because all places are in use. */
typedef struct nd4c_fftw_loan {
  nd4c_fftw_plan plan;
  int32_t slot;
} nd4c_fftw_loan;
/* False: FFTW made no plan. The memory at the addresses is not touched. */
bool nd4c_fftw_borrow(const nd4c_fftw_key *key, void *in, void *out, nd4c_fftw_loan *loan);
void nd4c_fftw_give_back(const nd4c_fftw_key *key, const nd4c_fftw_loan *loan);

/* The kernels of this folder: lists that end in NULL. */
extern const nd4c_kernel *const nd4c_cpu_fftw_signal_kernels[];

/* The engine's state for people; see nd4c_engine. */
bool nd4c_fftw_state(bool verify, char *text, size_t text_size);
/* Frees what the engine holds, the loaded library's record included. */
void nd4c_fftw_close(void);

#endif
