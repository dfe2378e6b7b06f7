/* `nd4c info --floor`: which pairs of op and dtype run on the scalar loops of the engine `reference`. info.c calls it.
 */
#ifndef ND4C_CLI_FLOOR_FLOOR_H
#define ND4C_CLI_FLOOR_FLOOR_H

#include "cli.h"

/* Asks the kernels of cpu:0 about every sample call and prints what they say, as text or JSON; returns the exit
 * code. */
int info_print_floor(bool json);

#endif
