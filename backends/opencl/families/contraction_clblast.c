/* Engine clblast: large products of float32 and float64 matrices by CLBlast, if its library is installed. The library
 * is opened on first use and stays open, so that its kernels are compiled once in a process. dispatch/choice.c asks
 * this kernel before that of contraction_matmul.c. */
#include <stdio.h>
#include <string.h>

#include "backends/opencl/runtime/device.h"
#include "backends/opencl/support/gemm.h"

static const char library_name[] = "libclblast.so.1";

enum { ROW_MAJOR = 101, AS_IT_IS = 111, TURNED = 112 }; /* of clblast_c.h */
enum { LEAST_SIDE = 32, LEAST_PRODUCTS = 1 << 21 };     /* below, its preparation costs more than it saves */

/* What the library gives; the parameters are clblast_c.h's. */
#define MATRIX cl_mem, size_t, size_t, size_t
#define BATCHED(number)                                                                                       \
  (int, int, int, size_t, size_t, size_t, number, MATRIX, MATRIX, number, MATRIX, size_t, cl_command_queue *, \
   cl_event *)
#define SYMBOLS(X)                                    \
  X(int, CLBlastSgemmStridedBatched, BATCHED(float))  \
  X(int, CLBlastDgemmStridedBatched, BATCHED(double)) \
  X(int, CLBlastClearCache, (void))

static struct {
#define MEMBER(result, name, parameters) result(*name) parameters;
  SYMBOLS(MEMBER)
#undef MEMBER
} clblast;

static nd4c_host_lock lock; /* guards what follows, and filling the table */
static bool asked, found;
static char state_text[512];

static bool find_symbols(void *library) {
#define FIND(result, name, parameters)                                                              \
  {                                                                                                 \
    void *symbol = nd4c_cl_host->library_symbol(library, #name);                                    \
    if (symbol == NULL) {                                                                           \
      (void)snprintf(state_text, sizeof state_text, "%s lacks the symbol %s", library_name, #name); \
      return false;                                                                                 \
    }                                                                                               \
    memcpy(&clblast.name, &symbol, sizeof symbol);                                                  \
  }
  SYMBOLS(FIND)
#undef FIND
  (void)snprintf(state_text, sizeof state_text, "%s is open", library_name);
  return true;
}

static bool load(char *text, size_t text_size) {
  nd4c_cl_lock(&lock);
  if (!asked) {
    void *library = NULL;
    asked = true;
    found = nd4c_cl_host->library_open(library_name, &library) == ND4C_OK;
    if (found) {
      found = find_symbols(library);
    } else {
      (void)snprintf(state_text, sizeof state_text, "%s", nd4c_cl_host->error_message());
    }
  }
  (void)snprintf(text, text_size, "%s", state_text);
  bool loaded = found;
  nd4c_cl_unlock(&lock);
  return loaded;
}

static bool state(bool verify, char *text, size_t text_size) {
  char path[512] = "";
  if (verify) {
    return load(text, text_size);
  }
  if (!nd4c_cl_host->library_find(library_name, path, sizeof path)) {
    (void)snprintf(text, text_size, "%s is neither in nd4c.library.path nor where the system's loader looks",
                   library_name);
    return false;
  }
  (void)snprintf(text, text_size, "%s", path);
  return true;
}

void nd4c_cl_clblast_close(void) {
  nd4c_cl_lock(&lock);
  if (found) {
    (void)clblast.CLBlastClearCache();
  }
  nd4c_cl_unlock(&lock);
}

const nd4c_engine nd4c_cl_clblast_engine = {
    .struct_size = ND4C_SIZE_OF(nd4c_engine), .name = "clblast", .state = state};

/* -- matmul -------------------------------------------------------------------------------------------------------- */

/* One matrix of rows x columns as the library takes it: rows, or columns, whose elements lie side by side. */
static bool leading(int64_t rows, int64_t columns, int64_t row, int64_t column, int *turned, size_t *ld) {
  bool plain = column == 1 && row >= columns, across = row == 1 && column >= rows;
  *turned = plain ? AS_IT_IS : TURNED;
  *ld = (size_t)(plain ? row : column);
  return plain || across;
}

typedef struct product {
  nd4c_cl_gemm gemm;
  int turned[3]; /* a, b, y */
  size_t ld[3], step[3];
} product;

static nd4c_status make_product(const nd4c_cl_step *step, product *p) {
  ND4C_BACKEND_TRY(nd4c_cl_matmul_plan(step, &p->gemm));
  const nd4c_cl_matrices *s = &p->gemm.matrices;
  const nd4c_cl_walk *batch = &p->gemm.batch;
  if (p->gemm.a->dtype != p->gemm.y->dtype || p->gemm.b->dtype != p->gemm.y->dtype) {
    return nd4c_cl_step_refuse(step, "operands of two dtypes");
  }
  if (s->m < LEAST_SIDE || s->n < LEAST_SIDE || s->k < LEAST_SIDE ||
      (double)s->m * (double)s->n * (double)s->k < LEAST_PRODUCTS) {
    return nd4c_cl_step_refuse(step, "too small to be worth preparing");
  }
  bool laid_out = leading(s->m, s->k, s->a_row, s->a_column, &p->turned[0], &p->ld[0]) &&
                  leading(s->k, s->n, s->b_row, s->b_column, &p->turned[1], &p->ld[1]) &&
                  leading(s->m, s->n, s->y_row, s->y_column, &p->turned[2], &p->ld[2]) && p->turned[2] == AS_IT_IS;
  for (int i = 0; i < 3; i++) {
    /* The library wants steps above 0, of a single product, too. */
    int64_t next = batch->rank == 1 ? batch->strides[i][0] : (i < 1 ? s->m : s->k) * (int64_t)p->ld[i];
    laid_out = laid_out && batch->rank <= 1 && next > 0;
    p->step[i] = (size_t)next;
  }
  return laid_out ? ND4C_OK
                  : nd4c_cl_step_refuse(step, "strides that are no matrices of rows or columns, one behind the other");
}

static nd4c_status multiply(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  product p;
  char text[512];
  ND4C_BACKEND_TRY(make_product(step, &p));
  if (!load(text, sizeof text)) {
    return nd4c_cl_step_refuse(step, "%s", text);
  }
  if (nd4c_cl_is_dry(step)) {
    return nd4c_cl_step_call(step);
  }
  const nd4c_tensor *a = p.gemm.a, *b = p.gemm.b, *y = p.gemm.y;
  const nd4c_cl_use uses[] = {{a->buffer, ND4C_CL_READ}, {b->buffer, ND4C_CL_READ}, {y->buffer, ND4C_CL_WRITE}};
  bool wide = y->dtype == ND4C_FLOAT64;
  nd4c_cl_command c;
  cl_int code = CL_SUCCESS;
  nd4c_cl_command_begin(&c, call->stream, wide ? "CLBlastDgemmStridedBatched" : "CLBlastSgemmStridedBatched", "matmul",
                        call->point, 3, uses);
  if (c.wait_count > 0) { /* out of order: the library waits for nothing by itself */
    code = nd4c_cl.clWaitForEvents(c.wait_count, c.wait_list);
  }
#define GEMM(function)                                                                                                \
  function(ROW_MAJOR, p.turned[0], p.turned[1], (size_t)p.gemm.matrices.m, (size_t)p.gemm.matrices.n,                 \
           (size_t)p.gemm.matrices.k, 1, a->buffer->memory, (size_t)a->offset, p.ld[0], p.step[0], b->buffer->memory, \
           (size_t)b->offset, p.ld[1], p.step[1], 0, y->buffer->memory, (size_t)y->offset, p.ld[2], p.step[2],        \
           (size_t)p.gemm.batch.size, &c.queue, &c.event)
  if (code == CL_SUCCESS) {
    code = wide ? GEMM(clblast.CLBlastDgemmStridedBatched) : GEMM(clblast.CLBlastSgemmStridedBatched);
  }
#undef GEMM
  return nd4c_cl_command_end(&c, code);
}

ND4C_CL_STEP(matmul, multiply(step))
static const nd4c_kernel kernel_matmul = {.struct_size = ND4C_SIZE_OF(nd4c_kernel),
                                          .op_version = 1,
                                          .op = "matmul",
                                          .engine = "clblast",
                                          .name = "clblast.matmul",
                                          .priority = 200,
                                          .dtypes = ND4C_DTYPE_BIT(ND4C_FLOAT32) | ND4C_DTYPE_BIT(ND4C_FLOAT64),
                                          .usable = matmul_usable,
                                          .run = matmul_run};
const nd4c_kernel *const nd4c_cl_contraction_clblast_kernels[] = {&kernel_matmul, NULL};
