/* Implements mutant.h. mutant_build.py puts it into the library under test. */
#define _POSIX_C_SOURCE 200809L
#include "tests/planted/mutant.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST = 1 << 16 };

static unsigned char unshared[MOST];
int nd4c_mutant_active = 0;
volatile unsigned char *nd4c_mutant_reached = unshared;

/* Before all other constructors, some of which have places of mutants. mutate.py has given the file its size. */
__attribute__((constructor(101))) static void start(void) {
  const char *active = getenv("ND4C_MUTANT"), *trace = getenv("ND4C_MUTANT_TRACE");
  nd4c_mutant_active = active == NULL ? 0 : atoi(active);
  const int file = trace == NULL ? -1 : open(trace, O_RDWR | O_CLOEXEC);
  if (file < 0) {
    return;
  }
  void *mapped = mmap(NULL, MOST, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  nd4c_mutant_reached = mapped == MAP_FAILED ? unshared : mapped;
  (void)close(file);
}
