/* Makes streams: with a priority, and over the application's queues. device.c puts these functions into its table. */
#include "backends/opencl/runtime/queue.h"

/* A queue of the device; NULL after a failure. */
static cl_command_queue make_queue(const nd4c_cl_device *device, int32_t priority, bool timed, cl_int *code) {
  const cl_bitfield order =
      (device->out_of_order ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0) | (timed ? CL_QUEUE_PROFILING_ENABLE : 0);
  if (priority == 0) {
    return nd4c_cl.clCreateCommandQueue(device->context, device->id, order, code);
  }
  const cl_ulong hint = priority > 0 ? CL_QUEUE_PRIORITY_HIGH_KHR : CL_QUEUE_PRIORITY_LOW_KHR;
  const cl_ulong properties[] = {CL_QUEUE_PROPERTIES, order, CL_QUEUE_PRIORITY_KHR, hint, 0};
  return nd4c_cl.clCreateCommandQueueWithProperties(device->context, device->id, properties, code);
}

nd4c_status nd4c_cl_stream_create_with(void *handle, const nd4c_stream_options *options, nd4c_stream *stream) {
  nd4c_cl_device *device = handle;
  const char *call = options->priority == 0 ? "clCreateCommandQueue" : "clCreateCommandQueueWithProperties";
  cl_int code = CL_SUCCESS;
  int64_t always = 0;
  (void)nd4c_cl_host->config_number("nd4c.opencl.profiling", &always);
  const bool timed = options->timed || always != 0;
  cl_command_queue queue = make_queue(device, options->priority, timed, &code);
  if (code != CL_SUCCESS || queue == NULL) {
    return code != CL_SUCCESS ? nd4c_cl_fail_opening(device, call, code)
                              : nd4c_cl_fail_nothing(device, call, "no queue");
  }
  nd4c_status status = nd4c_cl_stream_adopt(device, queue, stream);
  if (status != ND4C_OK) {
    (void)nd4c_cl.clReleaseCommandQueue(queue);
    return status;
  }
  (*stream)->timed = timed;
  return ND4C_OK;
}

nd4c_status nd4c_cl_stream_create(void *device, nd4c_stream *stream) {
  const nd4c_stream_options options = {.struct_size = ND4C_SIZE_OF(nd4c_stream_options)};
  return nd4c_cl_stream_create_with(device, &options, stream);
}

/* -- the application's --------------------------------------------------------------------------------------------- */

static nd4c_status ask(const nd4c_cl_device *device, cl_command_queue queue, cl_uint what, void *value, size_t size) {
  size_t given = 0;
  const cl_int code = nd4c_cl.clGetCommandQueueInfo(queue, what, size, value, &given);
  if (code == CL_INVALID_COMMAND_QUEUE) {
    return nd4c_cl_host->fail(ND4C_ARGUMENT, "%s: %p is no cl_command_queue", device->name, (void *)queue);
  }
  return code == CL_SUCCESS && given == size ? ND4C_OK : nd4c_cl_fail(device, "clGetCommandQueueInfo", code);
}

/* A queue of another context cannot use nd4c's buffers, and an out-of-order queue does not keep the order on which nd4c
 * relies. */
static nd4c_status check_queue(const nd4c_cl_device *device, cl_command_queue queue, bool *timed) {
  cl_context context = NULL;
  cl_device_id id = NULL;
  cl_bitfield properties = 0;
  nd4c_status status = ask(device, queue, CL_QUEUE_CONTEXT, &context, sizeof context);
  status = status == ND4C_OK ? ask(device, queue, CL_QUEUE_DEVICE, &id, sizeof id) : status;
  status = status == ND4C_OK ? ask(device, queue, CL_QUEUE_PROPERTIES, &properties, sizeof properties) : status;
  if (status != ND4C_OK) {
    return status;
  }
  if (context != device->context || id != device->id) {
    return nd4c_cl_host->fail(ND4C_ARGUMENT,
                              "%s: the cl_command_queue is of another %s: expected one of nd4c's own, which "
                              "clGetCommandQueueInfo tells of the queue that nd4c_context_native gives",
                              device->name, id != device->id ? "cl_device_id" : "cl_context");
  }
  if ((properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0 && !device->out_of_order) {
    return nd4c_cl_host->fail(ND4C_ARGUMENT,
                              "%s: the cl_command_queue runs commands out of order: expected an in-order one, or "
                              "nd4c.opencl.queue = out_of_order",
                              device->name);
  }
  *timed = (properties & CL_QUEUE_PROFILING_ENABLE) != 0;
  return ND4C_OK;
}

nd4c_status nd4c_cl_stream_wrap(void *handle, void *native, nd4c_stream *stream) {
  nd4c_cl_device *device = handle;
  cl_command_queue queue = native;
  if (nd4c_cl.clGetCommandQueueInfo == NULL || nd4c_cl.clRetainCommandQueue == NULL) {
    return nd4c_cl_host->fail(
        ND4C_UNSUPPORTED,
        "%s: the loader lacks clGetCommandQueueInfo or clRetainCommandQueue, without which a queue "
        "cannot be taken",
        device->name);
  }
  if (queue == NULL) {
    return nd4c_cl_host->fail(ND4C_ARGUMENT, "%s: the cl_command_queue is NULL", device->name);
  }
  bool timed = false;
  ND4C_BACKEND_TRY(check_queue(device, queue, &timed));
  const cl_int code = nd4c_cl.clRetainCommandQueue(queue); /* released by stream_destroy */
  if (code != CL_SUCCESS) {
    return nd4c_cl_fail(device, "clRetainCommandQueue", code);
  }
  nd4c_status status = nd4c_cl_stream_adopt(device, queue, stream);
  if (status != ND4C_OK) {
    (void)nd4c_cl.clReleaseCommandQueue(queue);
    return status;
  }
  (*stream)->timed = timed;
  return ND4C_OK;
}
