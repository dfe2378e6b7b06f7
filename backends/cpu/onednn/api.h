/* The part of oneDNN 3's C ABI that the engine uses. It is declared here, so that a build needs none of oneDNN's
 * headers and accepts any 3.x, the system's or a prebuilt one: values and signatures are the same in all of them.
 * onednn.h includes it. */
#ifndef ND4C_BACKENDS_CPU_ONEDNN_API_H
#define ND4C_BACKENDS_CPU_ONEDNN_API_H

#include <stdint.h>

enum { DNN_SUCCESS = 0, DNN_OUT_OF_MEMORY = 1, DNN_INVALID_ARGUMENTS = 2, DNN_UNIMPLEMENTED = 3 };
enum { DNN_BF16 = 2, DNN_F32 = 3, DNN_S32 = 4, DNN_S8 = 5, DNN_U8 = 6 };
enum { DNN_ENGINE_CPU = 1, DNN_STREAM_DEFAULT = 1, DNN_TAG_ANY = 1, DNN_FORWARD_INFERENCE = 96 };
enum { DNN_CONVOLUTION_DIRECT = 1, DNN_DECONVOLUTION_DIRECT = 10, DNN_SCRATCHPAD_USER = 1 };
enum {
  DNN_RELU = 32,
  DNN_TANH = 33,
  DNN_LOGISTIC = 41,
  DNN_GELU_TANH = 43,
  DNN_SWISH = 44,
  DNN_CLIP = 46,
  DNN_GELU_ERF = 49,
  DNN_HARD_SWISH = 52,
  DNN_ADD = 131056,
  DNN_MAX = 131058,
  DNN_MIN = 131059
};
enum { DNN_QUERY_NAME = 8, DNN_QUERY_STRIDES = 14, DNN_QUERY_WEIGHTS = 131, DNN_QUERY_SCRATCHPAD = 136 };
/* Of a memory descriptor. */
enum {
  DNN_QUERY_NDIMS = 256,
  DNN_QUERY_DIMS = 257,
  DNN_QUERY_PADDED_DIMS = 260,
  DNN_QUERY_FORMAT_KIND = 262,
  DNN_QUERY_INNER_NBLKS = 263,
  DNN_QUERY_INNER_BLKS = 264,
  DNN_QUERY_INNER_IDXS = 265
};
enum { DNN_BLOCKED = 2 }; /* dnnl_format_kind_t */
/* Numbers of arguments; the second operand of post-op n is DNN_ARG_POST_OP(n) | DNN_ARG_SRC_1. */
enum {
  DNN_ARG_SRC = 1,
  DNN_ARG_SRC_1 = 2,
  DNN_ARG_DST = 17,
  DNN_ARG_WEIGHTS = 33,
  DNN_ARG_BIAS = 41,
  DNN_ARG_SCRATCHPAD = 80
};
#define DNN_ARG_POST_OP(n) (32768 * ((n) + 1))
/* The factors or the zero point of an argument. */
#define DNN_ARG_SCALES(argument) (4096 | (argument))
#define DNN_ARG_ZERO_POINTS(argument) (8192 | (argument))
enum { DNN_MAX_RANK = 12 };
/* Bits of dnnl_get_effective_cpu_isa: instructions that add products of bytes in 32 bits, AVX-512, and instructions for
 * bfloat16 (dnnl_types.h, dnnl_cpu_isa_t; its guide, "Data Types"). */
enum { DNN_ISA_AVX2_VNNI = 0x08, DNN_ISA_AVX512_VNNI = 0x40 };
enum { DNN_ISA_AVX512_CORE = 0x20 };
enum { DNN_ISA_AVX2_VNNI_2 = 0x10, DNN_ISA_AVX512_BF16 = 0x80 };

typedef int64_t dnn_dims[DNN_MAX_RANK];
typedef struct dnnl_memory_desc *dnn_desc;
typedef struct dnnl_memory *dnn_memory;
typedef struct dnnl_engine *dnn_engine;
typedef struct dnnl_stream *dnn_stream;
typedef struct dnnl_post_ops *dnn_post_ops;
typedef struct dnnl_primitive_attr *dnn_attr;
typedef struct dnnl_primitive_desc *dnn_primitive_desc;
typedef struct dnnl_primitive *dnn_primitive;
typedef struct dnn_exec_arg {
  int arg;
  dnn_memory memory;
} dnn_exec_arg;
typedef struct dnn_version {
  int major, minor, patch;
  const char *hash;
  unsigned cpu_runtime, gpu_runtime;
} dnn_version;

/* The one symbol list: X(result, name, parameters). */
#define DNN_SYMBOLS(X)                                                                                               \
  X(const dnn_version *, dnnl_version, (void))                                                                       \
  X(int, dnnl_get_effective_cpu_isa, (void))                                                                         \
  X(int, dnnl_get_primitive_cache_capacity, (int *))                                                                 \
  X(int, dnnl_set_primitive_cache_capacity, (int))                                                                   \
  X(int, dnnl_engine_create, (dnn_engine *, int, size_t))                                                            \
  X(int, dnnl_engine_destroy, (dnn_engine))                                                                          \
  X(int, dnnl_stream_create, (dnn_stream *, dnn_engine, unsigned))                                                   \
  X(int, dnnl_stream_destroy, (dnn_stream))                                                                          \
  X(int, dnnl_memory_desc_create_with_strides, (dnn_desc *, int, const int64_t *, int, const int64_t *))             \
  X(int, dnnl_memory_desc_create_with_tag, (dnn_desc *, int, const int64_t *, int, int))                             \
  X(int, dnnl_memory_desc_clone, (dnn_desc *, const struct dnnl_memory_desc *))                                      \
  X(int, dnnl_memory_desc_equal, (const struct dnnl_memory_desc *, const struct dnnl_memory_desc *))                 \
  X(size_t, dnnl_memory_desc_get_size, (const struct dnnl_memory_desc *))                                            \
  X(int, dnnl_memory_desc_query, (const struct dnnl_memory_desc *, int, void *))                                     \
  X(int, dnnl_memory_desc_destroy, (dnn_desc))                                                                       \
  X(int, dnnl_memory_create, (dnn_memory *, const struct dnnl_memory_desc *, dnn_engine, void *))                    \
  X(int, dnnl_memory_set_data_handle, (dnn_memory, void *))                                                          \
  X(int, dnnl_memory_destroy, (dnn_memory))                                                                          \
  X(int, dnnl_primitive_attr_create, (dnn_attr *))                                                                   \
  X(int, dnnl_primitive_attr_set_scratchpad_mode, (dnn_attr, int))                                                   \
  X(int, dnnl_primitive_attr_set_post_ops, (dnn_attr, const struct dnnl_post_ops *))                                 \
  X(int, dnnl_primitive_attr_set_scales_mask, (dnn_attr, int, int))                                                  \
  X(int, dnnl_primitive_attr_set_zero_points_mask, (dnn_attr, int, int))                                             \
  X(int, dnnl_primitive_attr_destroy, (dnn_attr))                                                                    \
  X(int, dnnl_post_ops_create, (dnn_post_ops *))                                                                     \
  X(int, dnnl_post_ops_append_eltwise, (dnn_post_ops, int, float, float))                                            \
  X(int, dnnl_post_ops_append_binary, (dnn_post_ops, int, const struct dnnl_memory_desc *))                          \
  X(int, dnnl_post_ops_destroy, (dnn_post_ops))                                                                      \
  X(int, dnnl_convolution_forward_primitive_desc_create,                                                             \
    (dnn_primitive_desc *, dnn_engine, int, int, const struct dnnl_memory_desc *, const struct dnnl_memory_desc *,   \
     const struct dnnl_memory_desc *, const struct dnnl_memory_desc *, const int64_t *, const int64_t *,             \
     const int64_t *, const int64_t *, const struct dnnl_primitive_attr *))                                          \
  X(int, dnnl_deconvolution_forward_primitive_desc_create,                                                           \
    (dnn_primitive_desc *, dnn_engine, int, int, const struct dnnl_memory_desc *, const struct dnnl_memory_desc *,   \
     const struct dnnl_memory_desc *, const struct dnnl_memory_desc *, const int64_t *, const int64_t *,             \
     const int64_t *, const int64_t *, const struct dnnl_primitive_attr *))                                          \
  X(int, dnnl_matmul_primitive_desc_create,                                                                          \
    (dnn_primitive_desc *, dnn_engine, const struct dnnl_memory_desc *, const struct dnnl_memory_desc *,             \
     const struct dnnl_memory_desc *, const struct dnnl_memory_desc *, const struct dnnl_primitive_attr *))          \
  X(int, dnnl_reorder_primitive_desc_create,                                                                         \
    (dnn_primitive_desc *, const struct dnnl_memory_desc *, dnn_engine, const struct dnnl_memory_desc *, dnn_engine, \
     const struct dnnl_primitive_attr *))                                                                            \
  X(int, dnnl_primitive_desc_query, (const struct dnnl_primitive_desc *, int, int, void *))                          \
  X(const struct dnnl_memory_desc *, dnnl_primitive_desc_query_md, (const struct dnnl_primitive_desc *, int, int))   \
  X(int, dnnl_primitive_desc_destroy, (dnn_primitive_desc))                                                          \
  X(int, dnnl_primitive_create, (dnn_primitive *, const struct dnnl_primitive_desc *))                               \
  X(int, dnnl_primitive_execute, (const struct dnnl_primitive *, dnn_stream, int, const dnn_exec_arg *))             \
  X(int, dnnl_primitive_destroy, (dnn_primitive))                                                                    \
  X(int, dnnl_sgemm,                                                                                                 \
    (char, char, int64_t, int64_t, int64_t, float, const float *, int64_t, const float *, int64_t, float, float *,   \
     int64_t))

#endif
