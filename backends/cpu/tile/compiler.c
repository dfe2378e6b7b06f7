/* The table of engine tile's compiler. backend.c lists it. */
#include "backends/cpu/tile/tile.h"

static nd4c_status partition(void *data, void *device, const nd4c_segment *region, const nd4c_compile_options *options,
                             nd4c_partition *answer) {
  (void)data;
  (void)device;
  return nd4c_tile_partition(region, options, answer);
}

static nd4c_status compile(void *data, void *device, const nd4c_segment *piece, const nd4c_compile_options *options,
                           nd4c_executable *executable) {
  nd4c_tile_program *program = NULL;
  (void)data;
  (void)device;
  (void)options;
  ND4C_BACKEND_TRY(nd4c_tile_compile(piece, &program));
  *executable = (nd4c_executable)program;
  return ND4C_OK;
}

static nd4c_status execute(void *data, nd4c_executable executable, const nd4c_execution *execution) {
  (void)data;
  return nd4c_tile_run((const nd4c_tile_program *)executable, execution);
}

static void release(void *data, nd4c_executable executable) {
  (void)data;
  nd4c_tile_release((nd4c_tile_program *)executable);
}

static nd4c_status describe(void *data, nd4c_executable executable, nd4c_executable_info *info) {
  (void)data;
  const nd4c_tile_program *program = (const nd4c_tile_program *)executable;
  info->scratch_bytes = nd4c_tile_scratch_bytes(program);
  /* A program with tails is made for one length of their runs, and a tile's results have fewer elements than the tile:
   * their places may belong to elements of later tiles. */
  info->flags |= program->tail_count > 0 ? ND4C_EXECUTABLE_KEEPS_INPUTS : ND4C_EXECUTABLE_DYNAMIC;
  return ND4C_OK;
}

static bool accepts(void *data, nd4c_executable executable, const nd4c_tensor *inputs, int32_t input_count,
                    const nd4c_tensor *outputs, int32_t output_count, nd4c_executable_info *info) {
  return nd4c_tile_accepts((const nd4c_tile_program *)executable, inputs, input_count, outputs, output_count) &&
         describe(data, executable, info) == ND4C_OK;
}

static bool engine_state(bool verify, char *text, size_t text_size) {
  (void)verify;
  (void)snprintf(text, text_size, "part of this library, computes chains of element-wise ops with the loops of simd");
  return true;
}

const nd4c_engine nd4c_cpu_tile_engine = {
    .struct_size = ND4C_SIZE_OF(nd4c_engine), .name = "tile", .state = engine_state};

/* Its executables are quickly made, so none is kept in a file. Compilers of plug-ins are asked before. */
const nd4c_compiler nd4c_cpu_tile_compiler = {
    .struct_size = ND4C_SIZE_OF(nd4c_compiler),
    .priority = -100,
    .engine = "tile",
    .partition = partition,
    .compile = compile,
    .execute = execute,
    .release = release,
    .describe = describe,
    .accepts = accepts,
    .flags = ND4C_COMPILER_ANY_STRIDES | ND4C_COMPILER_ANY_CONTENTS | ND4C_COMPILER_IN_PLACE,
};
