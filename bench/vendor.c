/* Loads OpenBLAS and oneDNN and calls their matrix products without nd4c. bench_gemm.c calls it directly, bench/ours.py
 * through ctypes. */
#include "vendor.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* cblas.h's and dnnl_types.h's numbers. */
enum { ROW_MAJOR = 101, NOT_TRANSPOSED = 111, DNNL_CPU = 1, IN_ORDER = 1 };
enum { DNNL_BF16 = 2, DNNL_F32 = 3, DNNL_S32 = 4, DNNL_S8 = 5 };
enum { DNNL_SRC = 1, DNNL_WEIGHTS = 33, DNNL_DST = 17 };

typedef void (*sgemm_function)(int, int, int, int, int, int, float, const float *, int, const float *, int, float,
                               float *, int);
typedef void (*dgemm_function)(int, int, int, int, int, int, double, const double *, int, const double *, int, double,
                               double *, int);
typedef int (*dnnl_sgemm_function)(char, char, int64_t, int64_t, int64_t, float, const float *, int64_t, const float *,
                                   int64_t, float, float *, int64_t);

typedef struct dnnl_argument {
  int number;
  void *memory;
} dnnl_argument;

/* oneDNN 3's functions for one matmul primitive. */
#define DNNL_TABLE(X)                                                                        \
  X(engine_create, (void **, int, size_t))                                                   \
  X(stream_create, (void **, void *, unsigned))                                              \
  X(memory_desc_create_with_strides, (void **, int, const int64_t *, int, const int64_t *))  \
  X(matmul_primitive_desc_create,                                                            \
    (void **, void *, const void *, const void *, const void *, const void *, const void *)) \
  X(primitive_create, (void **, const void *))                                               \
  X(memory_create, (void **, const void *, void *, void *))                                  \
  X(primitive_execute, (const void *, void *, int, const dnnl_argument *))                   \
  X(stream_wait, (void *))                                                                   \
  X(memory_destroy, (void *))                                                                \
  X(primitive_destroy, (void *))                                                             \
  X(primitive_desc_destroy, (void *))                                                        \
  X(memory_desc_destroy, (void *))                                                           \
  X(stream_destroy, (void *))                                                                \
  X(engine_destroy, (void *))

typedef struct dnnl_api {
#define DNNL_FIELD(name, parameters) int(*name) parameters;
  DNNL_TABLE(DNNL_FIELD)
#undef DNNL_FIELD
} dnnl_api;

struct bench_product {
  int vendor;
  nd4c_dtype dtype;
  int64_t m, k, n;
  const void *a, *b;
  void *c;
  sgemm_function sgemm;
  dgemm_function dgemm;
  dnnl_sgemm_function dnnl_sgemm;
  dnnl_api dnnl;
  void *engine, *stream, *layouts[3], *desc, *primitive;
  dnnl_argument arguments[3];
};

/* ISO C has no conversion between pointers to objects and to functions; POSIX says that their bytes agree. */
static bool find(void *library, const char *name, void *function) {
  void *symbol = library != NULL ? dlsym(library, name) : NULL;
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}

/* A library by name: the one beside libnd4c.so first, as nd4c itself does. */
static void *open_library(const char *name) {
  Dl_info own;
  char path[4096];
  const char *(*const anchor)(nd4c_status) = nd4c_status_name;
  void *address;
  memcpy(&address, &anchor, sizeof address);
  if (dladdr(address, &own) != 0 && own.dli_fname != NULL) {
    const char *slash = strrchr(own.dli_fname, '/');
    int length = slash != NULL ? (int)(slash - own.dli_fname) : 0;
    if (length > 0 && snprintf(path, sizeof path, "%.*s/%s", length, own.dli_fname, name) < (int)sizeof path) {
      void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
      if (library != NULL) {
        return library;
      }
    }
  }
  return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

static bool make_matmul(bench_product *p, void *library) {
  dnnl_api *api = &p->dnnl;
#define DNNL_FIND(name, parameters)                        \
  if (!find(library, "dnnl_" #name, (void *)&api->name)) { \
    return false;                                          \
  }
  DNNL_TABLE(DNNL_FIND)
#undef DNNL_FIND
  const int64_t shapes[3][2] = {{p->m, p->k}, {p->k, p->n}, {p->m, p->n}};
  const int dtype = p->dtype == ND4C_BFLOAT16 ? DNNL_BF16 : p->dtype == ND4C_INT8 ? DNNL_S8 : DNNL_F32;
  bool made =
      api->engine_create(&p->engine, DNNL_CPU, 0) == 0 && api->stream_create(&p->stream, p->engine, IN_ORDER) == 0;
  for (int i = 0; i < 3 && made; i++) {
    const int64_t strides[2] = {shapes[i][1], 1};
    made = api->memory_desc_create_with_strides(&p->layouts[i], 2, shapes[i],
                                                i == 2 && dtype == DNNL_S8 ? DNNL_S32 : dtype, strides) == 0;
  }
  made = made &&
         api->matmul_primitive_desc_create(&p->desc, p->engine, p->layouts[0], p->layouts[1], NULL, p->layouts[2],
                                           NULL) == 0 &&
         api->primitive_create(&p->primitive, p->desc) == 0;
  const void *const given[3] = {p->a, p->b, p->c};
  const int numbers[3] = {DNNL_SRC, DNNL_WEIGHTS, DNNL_DST};
  for (int i = 0; i < 3 && made; i++) {
    void *data;
    memcpy(&data, &given[i], sizeof data);
    p->arguments[i].number = numbers[i];
    made = api->memory_create(&p->arguments[i].memory, p->layouts[i], p->engine, data) == 0;
  }
  return made;
}

bench_product *bench_product_make(int vendor, nd4c_dtype dtype, int64_t m, int64_t k, int64_t n, const void *a,
                                  const void *b, void *c) {
  bool single = dtype == ND4C_FLOAT32;
  if (!single && vendor != (dtype == ND4C_FLOAT64 ? BENCH_OPENBLAS : BENCH_ONEDNN_MATMUL)) {
    return NULL;
  }
  bench_product *p = calloc(1, sizeof *p);
  if (p == NULL) {
    return NULL;
  }
  *p = (bench_product){.vendor = vendor, .dtype = dtype, .m = m, .k = k, .n = n, .a = a, .b = b, .c = c};
  void *library = open_library(vendor == BENCH_OPENBLAS ? "libopenblas.so.0" : "libdnnl.so.3");
  bool ready = false;
  if (vendor == BENCH_OPENBLAS) {
    ready = single ? find(library, "cblas_sgemm", (void *)&p->sgemm) : find(library, "cblas_dgemm", (void *)&p->dgemm);
  } else if (vendor == BENCH_ONEDNN_SGEMM) {
    ready = find(library, "dnnl_sgemm", (void *)&p->dnnl_sgemm);
  } else if (vendor == BENCH_ONEDNN_MATMUL) {
    ready = make_matmul(p, library);
  }
  if (!ready) {
    bench_product_free(p);
    return NULL;
  }
  return p;
}

bool bench_product_run(bench_product *p) {
  int m = (int)p->m, k = (int)p->k, n = (int)p->n;
  if (p->vendor == BENCH_ONEDNN_MATMUL) {
    return p->dnnl.primitive_execute(p->primitive, p->stream, 3, p->arguments) == 0 &&
           p->dnnl.stream_wait(p->stream) == 0;
  }
  if (p->vendor == BENCH_ONEDNN_SGEMM) {
    return p->dnnl_sgemm('N', 'N', m, n, k, 1, p->a, k, p->b, n, 0, p->c, n) == 0;
  }
  if (p->dtype == ND4C_FLOAT32) {
    p->sgemm(ROW_MAJOR, NOT_TRANSPOSED, NOT_TRANSPOSED, m, n, k, 1, p->a, k, p->b, n, 0, p->c, n);
  } else {
    p->dgemm(ROW_MAJOR, NOT_TRANSPOSED, NOT_TRANSPOSED, m, n, k, 1, p->a, k, p->b, n, 0, p->c, n);
  }
  return true;
}

void bench_product_free(bench_product *p) {
  if (p == NULL) {
    return;
  }
  for (int i = 0; i < 3; i++) {
    if (p->arguments[i].memory != NULL) {
      (void)p->dnnl.memory_destroy(p->arguments[i].memory);
    }
  }
  if (p->primitive != NULL) {
    (void)p->dnnl.primitive_destroy(p->primitive);
  }
  if (p->desc != NULL) {
    (void)p->dnnl.primitive_desc_destroy(p->desc);
  }
  for (int i = 0; i < 3; i++) {
    if (p->layouts[i] != NULL) {
      (void)p->dnnl.memory_desc_destroy(p->layouts[i]);
    }
  }
  if (p->stream != NULL) {
    (void)p->dnnl.stream_destroy(p->stream);
  }
  if (p->engine != NULL) {
    (void)p->dnnl.engine_destroy(p->engine);
  }
  free(p); /* the libraries stay loaded: nd4c uses the same ones */
}

const char *bench_vendor_name(int vendor, nd4c_dtype dtype) {
  switch (vendor) {
    case BENCH_OPENBLAS:
      return dtype == ND4C_FLOAT32 ? "OpenBLAS cblas_sgemm" : "OpenBLAS cblas_dgemm";
    case BENCH_ONEDNN_SGEMM:
      return "oneDNN dnnl_sgemm";
    case BENCH_ONEDNN_MATMUL:
      return "oneDNN matmul primitive";
    default:
      return "?";
  }
}
