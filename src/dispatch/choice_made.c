/* What callers do with a choice that choice.c has made (choice.h): ask, run and release it. call.c and the steps of
 * plans call these. */
#include "base/os.h"
#include "base/recycle.h"
#include "device/driver.h"
#include "device/stream/cancellation.h"
#include "device/stream/exit_and_fork.h"
#include "dispatch/choice.h"
#include "dispatch/constants.h"

bool nd4c_choice_serves(const nd4c_choice *choice, const nd4c_call *call) {
  const nd4c_kernel *kernel = choice->kernel;
  if (kernel == NULL || kernel->prepare != NULL || choice->form_count > 0 || choice->encoded != 0 ||
      (ND4C_HAS_FIELD(kernel, device_scratch) && kernel->device_scratch != NULL)) {
    return false;
  }
  char reason[1];
  nd4c_call asked = *call;
  asked.data = kernel->data;
  if (kernel->usable != NULL && !kernel->usable(&asked, reason, sizeof reason)) {
    return false;
  }
  const int64_t scratch = kernel->scratch_bytes == NULL ? 0 : kernel->scratch_bytes(&asked);
  return scratch >= 0 && scratch <= choice->scratch_bytes;
}

nd4c_choice *nd4c_choice_retain(nd4c_choice *choice) {
  atomic_fetch_add_explicit(&choice->references, 1, memory_order_relaxed);
  return choice;
}

void nd4c_choice_release(nd4c_choice *choice) {
  if (choice == NULL || atomic_fetch_sub(&choice->references, 1) != 1) {
    return;
  }
  bool forked = nd4c_device_is_forked(choice->device); /* the driver then keeps its state */
  if (choice->model != NULL) {
    nd4c_choice_release(choice->model);
  } else if (!forked && choice->kernel != NULL && choice->kernel->unprepare != NULL && choice->state != NULL) {
    const int64_t begin = nd4c_os_nanoseconds();
    choice->kernel->unprepare(choice->state);
    nd4c_choice_add_preparation(nd4c_os_nanoseconds() - begin);
  }
  nd4c_choice_drop_forms(choice);
  nd4c_compiled_release(choice->compiled);
  nd4c_recycle_give(choice, sizeof *choice);
}

static void complete(const nd4c_choice *choice, const nd4c_context *context, nd4c_call *call) {
  call->struct_size = ND4C_SIZE_OF(nd4c_call);
  call->state = choice->state;
  call->stream = context->stream;
  call->device = choice->device->handle;
  call->width = context->width;
  call->cancellation = nd4c_cancellation_current();
}

nd4c_execution nd4c_choice_execution(const nd4c_choice *choice, const nd4c_context *context, nd4c_call *call) {
  complete(choice, context, call);
  return (nd4c_execution){.flags = call->flags,
                          .stream = call->stream,
                          .width = call->width,
                          .input_count = call->input_count,
                          .output_count = call->output_count,
                          .inputs = call->inputs,
                          .outputs = call->outputs,
                          .scratch = call->scratch,
                          .scratch_buffer = call->scratch_buffer,
                          .scratch_buffer_bytes = call->scratch_buffer_bytes,
                          .cancellation = call->cancellation,
                          .point = call->point};
}

nd4c_status nd4c_choice_run(const nd4c_choice *choice, const nd4c_context *context, nd4c_call *call) {
  if (choice->kernel != NULL) {
    complete(choice, context, call);
    call->data = choice->kernel->data;
    return nd4c_driver_kernel_run(choice->kernel, call);
  }
  nd4c_execution execution = nd4c_choice_execution(choice, context, call);
  return nd4c_compiled_execute(choice->compiled, &execution);
}

const char *nd4c_choice_engine(const nd4c_choice *choice) {
  return choice->kernel != NULL ? choice->kernel->engine : choice->compiled->compiler->engine;
}

const char *nd4c_choice_name(const nd4c_choice *choice) {
  return choice->kernel != NULL ? choice->kernel->name : "compiled segment";
}
