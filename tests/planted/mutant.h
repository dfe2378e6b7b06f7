/* The switch of mutants: mutant_build.py compiles files against it in which each chosen place has the text
 * (nd4c_mutant(N) ? changed : original). No file of the project includes it. */
#ifndef ND4C_TESTS_PLANTED_MUTANT_H
#define ND4C_TESTS_PLANTED_MUTANT_H

#include <stdbool.h>

/* Which mutant this process runs, from the environment variable ND4C_MUTANT; 0: none. */
extern int nd4c_mutant_active;
/* A byte for each mutant, 1 once its place was reached. With ND4C_MUTANT_TRACE it is a mapping of that file, which
 * processes share. */
extern volatile unsigned char *nd4c_mutant_reached;

static inline bool nd4c_mutant(int number) {
  if (!nd4c_mutant_reached[number]) {
    nd4c_mutant_reached[number] = 1;
  }
  return nd4c_mutant_active == number;
}

#endif
