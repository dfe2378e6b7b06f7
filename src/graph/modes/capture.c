/* Mode "capture", a row of mode.c: as mode "stream", on a device that records work. The first run with given addresses
 * enqueues step by step, in which kernels' libraries also do their one-time initialisation. The next run with the same
 * addresses records the steps and launches the recording; later runs launch it again. */
#include <stdio.h>

#include "base/config/config.h"
#include "base/config/log.h"
#include "base/status.h"
#include "device/driver.h"
#include "device/stream/capture.h"
#include "device/trace/tracer.h"
#include "graph/modes/mode.h"
#include "graph/modes/stream.h"
#include "submit/submit.h"

static uint32_t kernel_flags(const nd4c_kernel *kernel) {
  return ND4C_HAS_FIELD(kernel, flags) ? kernel->flags : 0;
}

static bool usable(const nd4c_plan *plan, char *reason, size_t reason_size) {
  if (!nd4c_config_bool(ND4C_CONFIG_PLAN_CAPTURE)) {
    (void)snprintf(reason, reason_size, "nd4c.plan.capture is false");
    return false;
  }
  if (!nd4c_stream_usable(plan, reason, reason_size)) {
    return false;
  }
  if (!nd4c_capture_is_offered(plan->device)) {
    (void)snprintf(reason, reason_size, "%s does not record work", plan->device->name);
    return false;
  }
  for (int32_t i = 0; i < plan->step_count; i++) {
    if (plan->steps[i].choice == NULL || plan->steps[i].choice->kernel == NULL) {
      (void)snprintf(reason, reason_size, "step %d is compiled", i);
      return false;
    }
    const uint32_t flags = kernel_flags(plan->steps[i].choice->kernel);
    if ((flags & ND4C_KERNEL_SYNCHRONISES_HOST) != 0 || (flags & ND4C_KERNEL_CAPTURABLE) == 0) {
      char text[128];
      (void)snprintf(reason, reason_size, "%s: kernel %s %s",
                     nd4c_plan_node_text(plan, plan->steps[i].node, text, sizeof text),
                     nd4c_choice_name(plan->steps[i].choice),
                     (flags & ND4C_KERNEL_SYNCHRONISES_HOST) != 0 ? "waits for the device" : "cannot be recorded");
      return false;
    }
  }
  return true;
}

/* -- recording ----------------------------------------------------------------------------------------------------- */

static nd4c_status record_steps(nd4c_plan *plan, nd4c_stream stream) {
  for (int32_t i = 0; i < plan->step_count; i++) {
    nd4c_step *step = &plan->steps[i];
    step->call.stream = stream;
    step->call.point = i + 1; /* a launch adds its offset to them */
    nd4c_status status = nd4c_driver_kernel_run(step->choice->kernel, &step->call);
    step->call.stream = plan->context->stream;
    if (status != ND4C_OK) {
      return nd4c_plan_fail_node(plan, step->node, status);
    }
  }
  return ND4C_OK;
}

static nd4c_status record(nd4c_plan *plan) {
  nd4c_plan_stream *own = plan->stream;
  nd4c_stream stream = NULL;
  if (own->body->capture == NULL) {
    ND4C_TRY(nd4c_capture_make(plan->device, &own->body->capture));
  }
  ND4C_TRY(nd4c_capture_begin(own->body->capture, &stream));
  nd4c_status status = record_steps(plan, stream);
  if (status != ND4C_OK) {
    nd4c_capture_abandon(own->body->capture);
    return status;
  }
  return nd4c_capture_end(own->body->capture, own->last);
}

/* -- run ----------------------------------------------------------------------------------------------------------- */

static nd4c_status launch(nd4c_plan *plan) {
  nd4c_progress_tell(plan->progress, "running", 0, plan->step_count);
  nd4c_status status = nd4c_capture_launch(plan->stream->body->capture, plan->context->stream, plan->stream->point - 1);
  if (status != ND4C_OK) {
    nd4c_submission_settle(plan->context, status);
    return nd4c_fail_prefix(status, "plan on %s: launching %d recorded steps", plan->device->name, plan->step_count);
  }
  plan->stream->launches++;
  return ND4C_OK;
}

/* The plan continues without recording; the report and the log say why. */
static void give_up(nd4c_plan *plan) {
  nd4c_plan_stream *own = plan->stream;
  own->gave_up = true;
  (void)snprintf(own->reason, sizeof own->reason, "%s", nd4c_error_message());
  nd4c_log_write(ND4C_LOG_WARNING, "plan", "on %s steps are enqueued one by one, recording them failed: %s",
                 plan->device->name, own->reason);
  nd4c_error_clear();
}

static nd4c_status enqueue(nd4c_plan *plan) {
  nd4c_plan_stream *own = plan->stream;
  if (own->moved || own->gave_up || nd4c_tracer_is_on()) { /* the tracer must see each step */
    return nd4c_stream_enqueue(plan);
  }
  if (!own->recorded) {
    if (record(plan) != ND4C_OK) {
      give_up(plan);
      return nd4c_stream_enqueue(plan);
    }
    own->recordings++;
    own->recorded = true;
  }
  return launch(plan);
}

static nd4c_status run(nd4c_plan *plan) {
  plan->stream->runs++;
  return nd4c_stream_run(plan, enqueue);
}

static void report(const nd4c_plan *plan, nd4c_text *text) {
  const nd4c_plan_stream *own = plan->stream;
  nd4c_text_print(text, "  %lld runs: %lld recorded the steps, %lld launched them\n", (long long)own->runs,
                  (long long)own->recordings, (long long)own->launches);
  if (own->gave_up) {
    nd4c_text_print(text, "  recording failed, steps are enqueued one by one: %s\n", own->reason);
  }
}

const nd4c_plan_mode nd4c_mode_capture = {.name = "capture",
                                          .doc = "steps recorded once and launched as one, one fence a run",
                                          .usable = usable,
                                          .prepare = nd4c_stream_prepare,
                                          .run = run,
                                          .report = report,
                                          .release = nd4c_stream_release};
