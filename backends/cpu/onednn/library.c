/* Engine onednn: opens the library on first use, and says whether it can serve a call. The kernels of this folder call
 * it in usable(), and the registry for `nd4c info`. */
#include "backends/cpu/onednn/onednn.h"

#include <stdio.h>
#include <string.h>

static const char *const library_names[] = {"libdnnl.so.3"};
enum { NAME_COUNT = sizeof library_names / sizeof *library_names };

#define WITHOUT "left out of this build (ND4C_ONEDNN=OFF)"

/* Published once; a thread that loses the race to publish frees its own record (opening twice is harmless: the loader
 * counts). Freed by nd4c_onednn_close. */
static _Atomic(nd4c_onednn *) published;

static bool find_symbols(nd4c_onednn *dnn, void *library) {
#define FIND(result, name, parameters)                                                          \
  {                                                                                             \
    void *symbol = nd4c_cpu_host->library_symbol(library, #name);                               \
    if (symbol == NULL) {                                                                       \
      snprintf(dnn->text, sizeof dnn->text, "%s lacks the symbol %s", library_names[0], #name); \
      return false;                                                                             \
    }                                                                                           \
    memcpy(&dnn->name, &symbol, sizeof symbol);                                                 \
  }
  DNN_SYMBOLS(FIND)
#undef FIND
  return true;
}

static void load(nd4c_onednn *dnn) {
#ifdef ND4C_WITHOUT_ONEDNN
  snprintf(dnn->text, sizeof dnn->text, WITHOUT);
  return;
#endif
  void *library = NULL;
  dnn->omp.struct_size = ND4C_SIZE_OF(nd4c_host_openmp);
  if (nd4c_cpu_host->openmp_open(library_names[0], &library, &dnn->omp) != ND4C_OK) {
    snprintf(dnn->text, sizeof dnn->text, "%s", nd4c_cpu_host->error_message());
    return;
  }
  if (!find_symbols(dnn, library)) {
    return;
  }
  const dnn_version *version = dnn->dnnl_version();
  if (version->major != 3) {
    snprintf(dnn->text, sizeof dnn->text, "%s is oneDNN %d.%d.%d; expected 3.x", library_names[0], version->major,
             version->minor, version->patch);
    return;
  }
  int status = dnn->dnnl_engine_create(&dnn->engine, DNN_ENGINE_CPU, 0);
  if (status != DNN_SUCCESS) {
    snprintf(dnn->text, sizeof dnn->text, "dnnl_engine_create gave status %d", status);
    return;
  }
  dnn->bfloat16 = true;
  dnn->packs_weights = true;
#if defined(__x86_64__)
  int isa = dnn->dnnl_get_effective_cpu_isa();
  dnn->exact_bytes = (isa & (DNN_ISA_AVX2_VNNI | DNN_ISA_AVX512_VNNI)) != 0;
  dnn->packs_weights = (isa & DNN_ISA_AVX512_CORE) != 0;
  dnn->leaks_functions = (isa & DNN_ISA_AVX512_CORE) == 0;
  dnn->bfloat16 = (isa & (DNN_ISA_AVX2_VNNI_2 | DNN_ISA_AVX512_BF16)) != 0;
#endif
  char path[256] = "";
  nd4c_cpu_host->library_find(library_names[0], path, sizeof path);
  snprintf(dnn->text, sizeof dnn->text, "oneDNN %d.%d.%d, %s, %s%s", version->major, version->minor, version->patch,
           path, dnn->omp.text, dnn->omp.set_num_threads != NULL ? "" : ": its width cannot be set");
  dnn->ready = true;
}

static void release(nd4c_onednn *dnn) {
  if (dnn != NULL) {
    if (dnn->engine != NULL) {
      dnn->dnnl_engine_destroy(dnn->engine);
    }
    nd4c_cpu_host->free(dnn);
  }
}

const nd4c_onednn *nd4c_onednn_get(void) {
  nd4c_onednn *dnn = atomic_load_explicit(&published, memory_order_acquire);
  if (dnn != NULL) {
    return dnn;
  }
  dnn = nd4c_cpu_host->allocate(sizeof *dnn);
  if (dnn == NULL) {
    return NULL;
  }
  load(dnn);
  nd4c_onednn *first = NULL;
  if (atomic_compare_exchange_strong(&published, &first, dnn)) {
    return dnn;
  }
  release(dnn);
  return first;
}

/* Why there is no record. */
static const char no_table[] = "no memory for oneDNN's table";

nd4c_status nd4c_onednn_take(const nd4c_call *call, size_t bytes, const nd4c_onednn **dnn, void **state) {
  *dnn = nd4c_onednn_get();
  ND4C_CPU_FAIL_IF(*dnn == NULL, ND4C_UNSUPPORTED, "%s: %s", call->op->name, no_table);
  *state = nd4c_cpu_host->allocate(bytes);
  ND4C_CPU_FAIL_IF(*state == NULL, ND4C_MEMORY, "%s: no memory for %zu bytes of prepared state", call->op->name, bytes);
  return ND4C_OK;
}

bool nd4c_onednn_accept(const char *why, nd4c_dtype dtype, char *reason, size_t reason_size) {
  const nd4c_onednn *dnn = why == NULL ? nd4c_onednn_get() : NULL;
  if (why == NULL && dnn == NULL) {
    why = no_table;
  } else if (why == NULL && !dnn->ready) {
    why = dnn->text;
  } else if (why == NULL && dtype == ND4C_BFLOAT16 && !dnn->bfloat16) {
    why = "oneDNN has no fast bfloat16 on this processor (expected AVX-512 BF16, or AVX2 with VNNI_2)";
  }
  return why == NULL || nd4c_cpu_decline(reason, reason_size, "%s", why);
}

bool nd4c_onednn_channels_last(const nd4c_call *call, int32_t *axes) {
  int32_t rank = call->outputs[0].rank;
  axes[0] = 0;
  for (int32_t axis = 2; axis < rank; axis++) {
    axes[axis - 1] = axis;
  }
  axes[rank - 1] = 1;
  return true;
}

/* Opening a team costs two to four microseconds, in which one thread multiplies 200,000 to 400,000 times. Measured on
 * two cores of Zen 5 in loops of one op (the models of bench/python/loops.py), whose threads stay awake: with 2^20
 * multiplications one thread is as fast as two for products, with 3 * 2^19 for convolutions, and with 150,000 a
 * convolution takes half the time on one. Beside threads of another program, as ONNX Runtime's, teams are slower still.
 * A thread multiplies twice in the time that it takes to read a byte from its L2 cache. */
enum { PER_THREAD = 3 << 18, PER_BYTE = 2 };

static double bytes_of(const nd4c_tensor *tensors, int32_t count) {
  double bytes = 0;
  for (int32_t i = 0; i < count; i++) {
    bytes += tensors[i].dtype == ND4C_DTYPE_NONE ? 0 : (double)tensors[i].size * nd4c_cpu_dtype_bytes(tensors[i].dtype);
  }
  return bytes;
}

int32_t nd4c_onednn_width(const nd4c_call *call, double multiplications, int64_t parts) {
  /* Elements of half the size, or a quarter, are multiplied two or four at a time. */
  double work = multiplications * nd4c_cpu_dtype_bytes(call->inputs[0].dtype) / (double)sizeof(float);
  work += PER_BYTE * (bytes_of(call->inputs, call->input_count) + bytes_of(call->outputs, call->output_count));
  const double most = work / (double)parts / PER_THREAD;
  return most < 2 ? 1 : most < call->width ? (int32_t)most : call->width;
}

double nd4c_onednn_conv_multiplications(const nd4c_call *call, const nd4c_tensor *w) {
  return w->size == 0 ? 0 : (double)call->outputs[0].size * (double)(w->size / w->shape[0]);
}

nd4c_status nd4c_onednn_fail(const char *what, int status) {
  static const char *const names[] = {"success",       "out of memory", "invalid arguments", "unimplemented",
                                      "iterator ends", "runtime error", "not required"};
  const char *name = status >= 0 && status < (int)(sizeof names / sizeof *names) ? names[status] : "unknown";
  return nd4c_cpu_host->fail(status == DNN_OUT_OF_MEMORY ? ND4C_MEMORY : ND4C_DEVICE, "oneDNN: %s gave status %d (%s)",
                             what, status, name);
}

bool nd4c_onednn_state(bool verify, char *text, size_t text_size) {
  const nd4c_onednn *dnn = verify ? nd4c_onednn_get() : atomic_load_explicit(&published, memory_order_acquire);
  if (dnn != NULL) {
    snprintf(text, text_size, "%s", dnn->text);
    return dnn->ready;
  }
#ifdef ND4C_WITHOUT_ONEDNN
  snprintf(text, text_size, WITHOUT);
  return false;
#endif
  char path[256] = "";
  if (nd4c_cpu_host->library_find(library_names[0], path, sizeof path)) {
    snprintf(text, text_size, "found %s, not opened", path);
    return true;
  }
  snprintf(text, text_size,
           "oneDNN 3 is missing: no %s in nd4c.library.path, beside libnd4c, in the folder nd4c there, or where the "
           "system's loader looks",
           library_names[0]);
  return false;
}

void nd4c_onednn_close(void) {
  nd4c_onednn_cache_close();
  release(atomic_exchange(&published, NULL));
}
