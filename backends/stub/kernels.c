/* Kernels: one for every op the stub knows; each copies its call into the queue. backend.c gives the list to the
 * registry. */
#include <stdio.h>
#include <string.h>

#include "stub.h"

enum { KERNELS = 128 };

static nd4c_kernel kernel_rows[KERNELS];
static const nd4c_kernel *kernel_list[KERNELS + 1]; /* ends in NULL */
static int32_t kernel_total = -1;

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  if (stub_fails(STUB_CALL_usable)) {
    (void)snprintf(reason, reason_size, "told to decline");
    return false;
  }
  return stub_compute_usable(call, reason, reason_size);
}

/* What `prepare` notes of its call; each run checks that its call is the same. */
typedef struct prepared {
  int32_t layouts[STUB_INPUTS];
} prepared;

static nd4c_status prepare(const nd4c_call *call, void **state) {
  nd4c_status status = stub_attempt(STUB_CALL_prepare);
  if (stub_lies("holds") || stub_lies("selfish")) { /* memory of the first device, which the kernel keeps */
    (void)stub_held_control(stub_lies("holds") ? "give_way own" : "give_way none");
    (void)stub_held_control("hold 64");
  }
  if (status == ND4C_OK) {
    status = stub_check_layouts(call);
  }
  if (status != ND4C_OK) {
    return status;
  }
  prepared *made = stub_host->allocate(sizeof *made);
  if (made == NULL) {
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for a prepared call");
  }
  for (int32_t i = 0; i < call->input_count && i < STUB_INPUTS; i++) {
    made->layouts[i] = call->inputs[i].layout;
  }
  *state = made;
  stub_count_add(STUB_COUNT_prepared, 1);
  return ND4C_OK;
}

static nd4c_status check_prepared(const nd4c_call *call) {
  const prepared *made = call->state;
  for (int32_t i = 0; i < call->input_count && i < STUB_INPUTS; i++) {
    if (call->inputs[i].layout != made->layouts[i]) {
      return stub_violation("an operand in another layout than when the call was prepared");
    }
  }
  return stub_check_layouts(call);
}

static void unprepare(void *state) {
  stub_host->free(state);
  stub_count_add(STUB_COUNT_prepared, -1);
}

static nd4c_status run_in_queue(void *work) {
  nd4c_status status = stub_attempt(STUB_CALL_in_flight);
  return status != ND4C_OK ? status : stub_work_run(work);
}

static nd4c_status work_until_cancelled(const nd4c_call *call) {
  nd4c_status status = ND4C_OK;
  while (status == ND4C_OK && ND4C_HAS_FIELD(stub_host, check_cancelled)) {
    stub_host->threads->sleep(100000);
    status = stub_host->check_cancelled(call->cancellation);
  }
  return status;
}

static nd4c_status run(const nd4c_call *call) {
  if (stub_endless() && call->cancellation != NULL) {
    const nd4c_status begun = stub_attempt(STUB_CALL_run);
    return begun == ND4C_OK ? work_until_cancelled(call) : begun;
  }
  if (stub_idle()) {
    return ND4C_OK;
  }
  nd4c_status status = stub_attempt(STUB_CALL_run);
  stub_work *work = NULL;
  if (status == ND4C_OK) {
    status = check_prepared(call);
  }
  if (status == ND4C_OK) {
    status = stub_work_create(call, &work);
  }
  if (status != ND4C_OK) {
    return status;
  }
  stub_task task = {.run = run_in_queue,
                    .dispose = stub_work_destroy,
                    .work = work,
                    .point = call->point,
                    .loosen = stub_work_loosen,
                    .again = stub_work_again};
  return stub_stream_submit((stub_stream *)call->stream, task);
}

static nd4c_status device_scratch(const nd4c_call *call, int64_t limit, nd4c_scratch_range *range) {
  (void)call;
  nd4c_status status = stub_attempt(STUB_CALL_device_scratch);
  stub_count_set(STUB_COUNT_scratch_limit, limit);
  *range = stub_scratch_asked();
  if (stub_lies("scratch")) {
    *range = (nd4c_scratch_range){64, 64};
  }
  return status;
}

/* STUB_CAPTURE=some: two kernels say that they cannot be recorded, each for another reason. */
static uint32_t flags_of(nd4c_op op) {
  if (strcmp(stub_settings.capture, "some") == 0 && (op == ND4C_OP_exp || op == ND4C_OP_tanh)) {
    return op == ND4C_OP_exp ? ND4C_KERNEL_SYNCHRONISES_HOST : 0;
  }
  return ND4C_KERNEL_CAPTURABLE;
}

static void add(nd4c_op op, const char *name, uint32_t version) {
  if (!stub_compute_knows(op) || kernel_total >= KERNELS) {
    return;
  }
  kernel_rows[kernel_total] = (nd4c_kernel){
      .struct_size = ND4C_SIZE_OF(nd4c_kernel),
      .op_version = version,
      .op = name,
      .engine = "stub",
      .name = "stub.plain",
      .priority = 10,
      .dtypes = ~(nd4c_dtype_set)0 & ~ND4C_DTYPE_BIT(ND4C_UTF8) & ~ND4C_DTYPES_NARROW,
      .usable = usable,
      .prepare = prepare,
      .unprepare = unprepare,
      .run = run,
      .device_scratch = device_scratch,
      .flags = flags_of(op),
      .wants_layout = op == ND4C_OP_matmul ? stub_wants_layout : NULL,
      .pack = op == ND4C_OP_matmul ? stub_pack : NULL,
  };
  kernel_list[kernel_total] = &kernel_rows[kernel_total];
  kernel_total++;
}

/* Filled by the entry function, before any other thread may look. */
const nd4c_kernel *const *stub_kernels(void) {
  if (kernel_total < 0) {
    kernel_total = 0;
    if (stub_settings.kernels) {
#define ADD(number, version, name, ...) add(ND4C_OP_##name, #name, version);
      ND4C_OP_TABLE(ADD)
#undef ADD
    }
  }
  return kernel_list;
}
