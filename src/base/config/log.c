/* Implements log.h and nd4c_log_set: formats one line and gives it to the application's listener, or writes it to
 * stderr. base, device, dispatch and graph log through it, backends through the host table. */
#include "base/config/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/os_lock.h"

enum { LINE_SIZE = 4096 };

/* The listener. `level` is read without the lock: it only decides whether to look at the rest. */
static nd4c_lock listener_lock = ND4C_LOCK_INIT;
static nd4c_log_callback listener;
static void *listener_user;
static _Atomic int listener_level;

void nd4c_log_set(nd4c_log_callback callback, void *user, nd4c_log_level level) {
  nd4c_lock_acquire(&listener_lock);
  listener = callback;
  listener_user = user;
  atomic_store(&listener_level, callback != NULL ? (int)level : 0);
  nd4c_lock_release(&listener_lock);
}

static const char *level_name(nd4c_log_level level) {
  static const char *const names[] = {"", "error", "warning", "info", "debug"};
  return level >= ND4C_LOG_ERROR && level <= ND4C_LOG_DEBUG ? names[level] : "?";
}

/* Without a listener, configuration may ask for messages on stderr. */
static bool goes_to_stderr(int wanted, nd4c_log_level level) {
  return wanted == 0 && level <= ND4C_LOG_INFO && nd4c_config_bool(ND4C_CONFIG_LOG);
}

bool nd4c_log_is_wanted(nd4c_log_level level) {
  int wanted = atomic_load_explicit(&listener_level, memory_order_relaxed);
  return (int)level <= wanted || goes_to_stderr(wanted, level);
}

void nd4c_log_write(nd4c_log_level level, const char *area, const char *format, ...) {
  int wanted = atomic_load_explicit(&listener_level, memory_order_relaxed);
  bool to_stderr = goes_to_stderr(wanted, level);
  if ((int)level > wanted && !to_stderr) {
    return;
  }
  char line[LINE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  for (char *c = strchr(line, '\n'); c != NULL; c = strchr(c, '\n')) {
    *c = ' ';
  }
  if (to_stderr) {
    (void)fprintf(stderr, "nd4c %s [%s] %s\n", level_name(level), area, line);
    return;
  }
  nd4c_lock_acquire(&listener_lock);
  nd4c_log_callback callback = listener;
  void *user = listener_user;
  nd4c_lock_release(&listener_lock);
  /* Called without the lock: a listener may set another listener, or log. */
  if (callback != NULL) {
    callback(user, level, area, line);
  }
}
