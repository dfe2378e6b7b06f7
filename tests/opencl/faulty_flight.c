/* Commands that fail, or are delayed, after they are enqueued, by means of events that the host completes. The faulty
 * loader calls these functions. */
#define _POSIX_C_SOURCE 200809L
#include "faulty_flight.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const nd4c_cl_api *real;
static cl_event (*create_user_event)(cl_context context, cl_int *error);
static cl_int (*set_user_event_status)(cl_event event, cl_int status);
static cl_int (*get_queue_info)(cl_command_queue queue, cl_uint what, size_t size, void *value, size_t *needed);

/* Guarded by `lock`: the event that the commands held since the last wait wait for; NULL: no commands are held. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cl_event gate;

bool flight_find(void *library, const nd4c_cl_api *system) {
  void *create = library != NULL ? dlsym(library, "clCreateUserEvent") : NULL;
  void *set = library != NULL ? dlsym(library, "clSetUserEventStatus") : NULL;
  void *info = library != NULL ? dlsym(library, "clGetCommandQueueInfo") : NULL;
  memcpy(&create_user_event, &create, sizeof create);
  memcpy(&set_user_event_status, &set, sizeof set);
  memcpy(&get_queue_info, &info, sizeof info);
  real = system;
  return create != NULL && set != NULL && info != NULL;
}

flight_fate flight_named(const char *word, size_t length) {
  static const char *const words[] = {
      [FATE_FAILS] = "", [FATE_LOST] = "lost", [FATE_BELIED] = "belied", [FATE_LATE] = "late"};
  for (int i = FATE_LOST; i <= FATE_LATE; i++) {
    if (strlen(words[i]) == length && strncmp(words[i], word, length) == 0) {
      return (flight_fate)i;
    }
  }
  return FATE_FAILS;
}

/* An event of the queue's context, completed by the host; NULL if it cannot be made. */
static cl_event make_event(cl_command_queue queue) {
  cl_context context = NULL;
  cl_int code = CL_SUCCESS;
  return get_queue_info(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL) == CL_SUCCESS
             ? create_user_event(context, &code)
             : NULL;
}

static cl_event hold_by(cl_command_queue queue) {
  pthread_mutex_lock(&lock);
  gate = gate == NULL ? make_event(queue) : gate;
  cl_event held = gate != NULL && real->clRetainEvent(gate) == CL_SUCCESS ? gate : NULL;
  pthread_mutex_unlock(&lock);
  return held;
}

void flight_begin(flight *f, cl_command_queue queue, bool hold, cl_uint *count, const cl_event **waits) {
  cl_uint more = 0;
  f->own = f->fate != FATE_FAILS ? make_event(queue) : NULL;
  f->held = hold && *count <= FLIGHT_WAITS ? hold_by(queue) : NULL;
  if (f->own != NULL && f->fate != FATE_LATE) {
    (void)set_user_event_status(f->own, f->code);
  } else if (f->own != NULL && *count <= FLIGHT_WAITS) {
    f->all[more++] = f->own;
  }
  if (f->held != NULL) {
    f->all[more++] = f->held;
  }
  if (more > 0) {
    if (*count > 0) { /* otherwise `waits` may be NULL */
      memcpy(f->all + more, *waits, *count * sizeof *f->all);
    }
    *waits = f->all;
    *count += more;
  }
}

/* An event that is completed after a delay. */
typedef struct delay {
  cl_event event;
  int milliseconds;
} delay;

static void *complete_late(void *argument) {
  delay *d = argument;
  const struct timespec pause = {d->milliseconds / 1000, d->milliseconds % 1000 * 1000000L};
  (void)nanosleep(&pause, NULL);
  (void)set_user_event_status(d->event, CL_COMPLETE);
  (void)real->clReleaseEvent(d->event);
  free(d);
  return NULL;
}

/* Takes over the command's own event. */
static void complete_later(const flight *f) {
  pthread_t thread;
  delay *d = malloc(sizeof *d);
  if (d == NULL) {
    abort();
  }
  *d = (delay){f->own, f->code};
  if (pthread_create(&thread, NULL, complete_late, d) != 0) {
    abort();
  }
  (void)pthread_detach(thread);
}

void flight_end(flight *f, cl_int code, cl_event *event) {
  if (f->held != NULL) {
    (void)real->clReleaseEvent(f->held);
  }
  if (f->own == NULL) {
    return;
  }
  if (f->fate == FATE_LATE) {
    complete_later(f);
  } else if (code == CL_SUCCESS && event != NULL) {
    if (f->fate == FATE_BELIED) { /* done first: an event that has failed tells that its command is over */
      (void)real->clWaitForEvents(1, event);
      (void)real->clReleaseEvent(*event);
    }
    *event = f->own;
  } else {
    (void)real->clReleaseEvent(f->own);
  }
}

void flight_open_gate(void) {
  pthread_mutex_lock(&lock);
  if (gate != NULL) {
    (void)set_user_event_status(gate, CL_COMPLETE);
    (void)real->clReleaseEvent(gate);
    gate = NULL;
  }
  pthread_mutex_unlock(&lock);
}

void flight_look_at_exit(void) {
  pthread_mutex_lock(&lock);
  const bool in_flight = gate != NULL;
  pthread_mutex_unlock(&lock);
  if (in_flight) {
    (void)fprintf(stderr, "the process ends while kernels are in flight\n");
    _exit(9);
  }
}
