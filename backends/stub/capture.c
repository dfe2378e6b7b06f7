/* Recordings: the work that would have been enqueued on a stream, kept without references to buffers, and launched
 * again. backend.c gives its table to the registry; queue.c adds work to a recording. */
#include <stdio.h>

#include "stub.h"

typedef struct stub_node {
  struct stub_node *next;
  stub_task task;
} stub_node;

/* Shared by a recording and its launchables; immutable after the recording has ended. */
struct stub_recording {
  nd4c_host_lock lock; /* guards references */
  int32_t references, count;
  bool spoiled;
  stub_node *first, *last;
};

typedef struct stub_launchable {
  stub_recording *recording;
} stub_launchable;

nd4c_status stub_recording_create(stub_recording **recording) {
  *recording = stub_host->allocate(sizeof **recording);
  if (*recording == NULL) {
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for a recording");
  }
  (*recording)->references = 1;
  stub_count_add(STUB_COUNT_recordings, 1);
  return ND4C_OK;
}

static stub_recording *retain(stub_recording *recording) {
  stub_lock(&recording->lock);
  recording->references++;
  stub_unlock(&recording->lock);
  return recording;
}

void stub_recording_release(stub_recording *recording) {
  stub_lock(&recording->lock);
  const bool last = --recording->references == 0;
  stub_unlock(&recording->lock);
  if (!last) {
    return;
  }
  for (stub_node *node = recording->first, *next = NULL; node != NULL; node = next) {
    next = node->next;
    node->task.dispose(node->task.work);
    stub_host->free(node);
  }
  stub_host->threads->lock_destroy(&recording->lock);
  stub_host->free(recording);
  stub_count_add(STUB_COUNT_recordings, -1);
}

nd4c_status stub_recording_spoil(stub_recording *recording, const char *what) {
  recording->spoiled = true;
  return stub_host->fail(ND4C_UNSUPPORTED, "stub: %s while the stream is being recorded", what);
}

nd4c_status stub_recording_add(stub_recording *recording, stub_task task) {
  if (task.again == NULL) {
    task.dispose(task.work);
    return stub_recording_spoil(recording, "work that cannot be recorded");
  }
  stub_node *node = stub_host->allocate(sizeof *node);
  if (node == NULL) {
    task.dispose(task.work);
    recording->spoiled = true;
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for a recorded task");
  }
  task.loosen(task.work);
  node->task = task;
  if (recording->last != NULL) {
    recording->last->next = node;
  } else {
    recording->first = node;
  }
  recording->last = node;
  recording->count++;
  return ND4C_OK;
}

/* -- the operations ------------------------------------------------------------------------------------------------ */

static nd4c_status begin(void *device, nd4c_stream stream) {
  (void)device;
  nd4c_status status = stub_attempt(STUB_CALL_capture_begin);
  return status != ND4C_OK ? status : stub_stream_begin_recording((stub_stream *)stream);
}

static nd4c_status end(void *device, nd4c_stream stream, nd4c_recording *handle) {
  (void)device;
  stub_recording *recording = NULL;
  nd4c_status status = stub_stream_end_recording((stub_stream *)stream, &recording);
  if (status == ND4C_OK) {
    status = stub_attempt(STUB_CALL_capture_end);
  }
  if (status == ND4C_OK && recording->spoiled) {
    status = stub_host->fail(ND4C_UNSUPPORTED, "stub: the recording was spoiled by an illegal call");
  }
  if (status != ND4C_OK && recording != NULL) {
    stub_recording_release(recording);
    return status;
  }
  *handle = (nd4c_recording)recording;
  return status;
}

static void abandon(void *device, nd4c_stream stream) {
  (void)device;
  stub_recording *recording = NULL;
  if (!stub_lies("abandon") && stub_stream_end_recording((stub_stream *)stream, &recording) == ND4C_OK) {
    stub_recording_release(recording);
  }
}

static nd4c_status instantiate(void *device, nd4c_recording handle, nd4c_launchable *out) {
  (void)device;
  nd4c_status status = stub_attempt(STUB_CALL_instantiate);
  if (status != ND4C_OK) {
    return status;
  }
  stub_launchable *launchable = stub_host->allocate(sizeof *launchable);
  if (launchable == NULL) {
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for a launchable");
  }
  launchable->recording = retain((stub_recording *)handle);
  stub_count_add(STUB_COUNT_launchables, 1);
  *out = (nd4c_launchable)launchable;
  return ND4C_OK;
}

static bool are_alike(const stub_recording *a, const stub_recording *b) {
  const stub_node *left = a->first, *right = b->first;
  while (left != NULL && right != NULL && left->task.run == right->task.run && left->task.point == right->task.point) {
    left = left->next;
    right = right->next;
  }
  return left == NULL && right == NULL;
}

static nd4c_status update(void *device, nd4c_launchable handle, nd4c_recording recording) {
  (void)device;
  stub_launchable *launchable = (stub_launchable *)handle;
  nd4c_status status = stub_attempt(STUB_CALL_capture_update);
  if (status == ND4C_OK && !are_alike(launchable->recording, (stub_recording *)recording)) {
    status = stub_host->fail(ND4C_UNSUPPORTED, "stub: the recording has other tasks than the launchable");
  }
  if (status == ND4C_OK) {
    stub_recording *before = launchable->recording;
    launchable->recording = retain((stub_recording *)recording);
    stub_recording_release(before);
  }
  return status;
}

/* Copies of all nodes' tasks, bound to the buffers that the handles name now. */
static nd4c_status bind(const stub_recording *recording, stub_task *tasks, int32_t *count) {
  nd4c_status status = ND4C_OK;
  for (const stub_node *node = recording->first; node != NULL && status == ND4C_OK; node = node->next) {
    tasks[*count] = node->task;
    status = node->task.again(node->task.work, &tasks[*count].work);
    *count += status == ND4C_OK;
  }
  return status;
}

static nd4c_status launch(void *device, nd4c_launchable handle, nd4c_stream stream, int64_t points) {
  (void)device;
  const stub_recording *recording = ((stub_launchable *)handle)->recording;
  nd4c_status status = stub_attempt(STUB_CALL_launch);
  if (status != ND4C_OK) {
    return status;
  }
  stub_task *tasks = stub_host->allocate((size_t)(recording->count + 1) * sizeof *tasks);
  if (tasks == NULL) {
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for a launch of %d tasks", (int)recording->count);
  }
  int32_t count = 0;
  status = bind(recording, tasks, &count);
  if (status == ND4C_OK) {
    status = stub_stream_submit_all((stub_stream *)stream, tasks, count, points);
  } else {
    for (int32_t i = 0; i < count; i++) {
      tasks[i].dispose(tasks[i].work);
    }
  }
  stub_host->free(tasks);
  return status;
}

static void recording_destroy(void *device, nd4c_recording recording) {
  (void)device;
  stub_recording_release((stub_recording *)recording);
}

static void launchable_destroy(void *device, nd4c_launchable handle) {
  (void)device;
  stub_launchable *launchable = (stub_launchable *)handle;
  stub_recording_release(launchable->recording);
  stub_host->free(launchable);
  stub_count_add(STUB_COUNT_launchables, -1);
}

/* -- host callbacks ------------------------------------------------------------------------------------------------ */

typedef struct stub_callback {
  void (*function)(void *argument);
  void *argument;
} stub_callback;

static nd4c_status callback_run(void *work) {
  const stub_callback *callback = work;
  callback->function(callback->argument);
  return ND4C_OK;
}

static void callback_loosen(void *work) {
  (void)work; /* it holds no buffer */
}

static nd4c_status callback_again(const void *work, void **copy) {
  stub_callback *made = stub_host->allocate(sizeof *made);
  if (made == NULL) {
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for a callback");
  }
  *made = *(const stub_callback *)work;
  *copy = made;
  return ND4C_OK;
}

static nd4c_status host_callback(void *device, nd4c_stream stream, void (*function)(void *argument), void *argument) {
  (void)device;
  const stub_callback given = {function, argument};
  if (stub_lies("lost_callback")) {
    return ND4C_OK;
  }
  stub_task task = {
      .run = callback_run, .dispose = stub_host->free, .again = callback_again, .loosen = callback_loosen};
  nd4c_status status = callback_again(&given, &task.work);
  return status != ND4C_OK ? status : stub_stream_submit((stub_stream *)stream, task);
}

const nd4c_capture_ops stub_capture_ops = {
    .struct_size = ND4C_SIZE_OF(nd4c_capture_ops),
    .begin = begin,
    .end = end,
    .abandon = abandon,
    .instantiate = instantiate,
    .update = update,
    .launch = launch,
    .recording_destroy = recording_destroy,
    .launchable_destroy = launchable_destroy,
    .host_callback = host_callback,
};
