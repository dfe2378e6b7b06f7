/* Dtype names and limits of .safetensors, for its reader and its writer. */
#ifndef ND4C_IO_SAFETENSORS_H
#define ND4C_IO_SAFETENSORS_H

/* X(name in the file, DTYPE), in the order of the format's reference writer, which writes the last ones first. */
#define ND4C_SAFETENSORS_DTYPES(X) \
  X(BOOL, BOOL)                    \
  X(F4, FLOAT4_E2M1FN)             \
  X(U8, UINT8)                     \
  X(I8, INT8)                      \
  X(F8_E5M2, FLOAT8_E5M2)          \
  X(F8_E4M3, FLOAT8_E4M3FN)        \
  X(F8_E8M0, FLOAT8_E8M0FNU)       \
  X(F8_E4M3FNUZ, FLOAT8_E4M3FNUZ)  \
  X(F8_E5M2FNUZ, FLOAT8_E5M2FNUZ)  \
  X(I16, INT16)                    \
  X(U16, UINT16)                   \
  X(F16, FLOAT16)                  \
  X(BF16, BFLOAT16)                \
  X(I32, INT32)                    \
  X(U32, UINT32)                   \
  X(F32, FLOAT32)                  \
  X(C64, COMPLEX64)                \
  X(F64, FLOAT64)                  \
  X(I64, INT64)                    \
  X(U64, UINT64)

#define ND4C_SAFETENSORS_METADATA "__metadata__"
/* The header's limit in the format's own package, MAX_HEADER_SIZE. */
enum { ND4C_SAFETENSORS_SIZE_BYTES = 8, ND4C_SAFETENSORS_HEADER_MOST = 100000000 };

#endif
