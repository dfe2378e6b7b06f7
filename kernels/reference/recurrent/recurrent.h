/* Recurrent layers and connectionist temporal classification on numbers in C order (numbers.h). The family recurrent of
 * engine reference calls these. */
#ifndef ND4C_KERNELS_REFERENCE_RECURRENT_RECURRENT_H
#define ND4C_KERNELS_REFERENCE_RECURRENT_RECURRENT_H

#include <stdbool.h>
#include <stdint.h>

typedef enum nd4c_ref_cell_kind { ND4C_REF_CELL_RNN, ND4C_REF_CELL_GRU, ND4C_REF_CELL_LSTM } nd4c_ref_cell_kind;

/* A function of a cell: the op table's number with its parameters. */
typedef struct nd4c_ref_gate_function {
  int64_t kind;
  double alpha, beta;
} nd4c_ref_gate_function;

enum { ND4C_REF_GATE_FUNCTIONS = 3 };

typedef struct nd4c_ref_recurrent_args {
  nd4c_ref_cell_kind kind;
  int64_t steps, batch, inputs, hidden, directions, gates;
  bool reverse, batch_first, linear_before_reset, input_forget;
  double clip; /* 0: none */
  nd4c_ref_gate_function functions[2][ND4C_REF_GATE_FUNCTIONS];
  const double *x, *w, *r, *bias, *h, *c, *peepholes; /* those from bias on may be NULL */
  const int64_t *lengths;                             /* NULL: all steps */
  double *y;                                          /* NULL: only the last h (and c) */
  double *last_h, *last_c;
  double *scratch; /* (gates + 1) * hidden for each sequence and direction */
} nd4c_ref_recurrent_args;
/* Range over sequences of all directions: directions * batch. */
void nd4c_ref_recurrent(const nd4c_ref_recurrent_args *args, int64_t begin, int64_t end);

typedef struct nd4c_ref_sru_args {
  int64_t steps, batch, hidden;
  const double *x, *w, *bias, *c; /* c may be NULL */
  double *y, *last_c;
} nd4c_ref_sru_args;
/* Range over sequences. */
void nd4c_ref_sru(const nd4c_ref_sru_args *args, int64_t begin, int64_t end);

typedef struct nd4c_ref_ctc_args {
  int64_t steps, batch, classes, blank, longest; /* longest: columns of targets */
  const double *x;
  const int64_t *lengths, *targets, *target_lengths; /* lengths may be NULL when decoding */
  double *loss, *scratch;                            /* scratch: 2 * (2 * longest + 1) a sequence */
  /* decoding */
  bool merge_repeated;
  int64_t width, paths;
  int64_t *labels, *label_lengths;
  double *score;
  void *beams; /* nd4c_ref_ctc_beam_bytes a sequence */
} nd4c_ref_ctc_args;
/* Ranges over sequences. */
void nd4c_ref_ctc_loss(const nd4c_ref_ctc_args *args, int64_t begin, int64_t end);
void nd4c_ref_ctc_greedy(const nd4c_ref_ctc_args *args, int64_t begin, int64_t end);
void nd4c_ref_ctc_beam(const nd4c_ref_ctc_args *args, int64_t begin, int64_t end);
/* Bytes that the beam search of one sequence needs; -1 if they are too many. */
int64_t nd4c_ref_ctc_beam_bytes(int64_t steps, int64_t classes, int64_t width);

#endif
