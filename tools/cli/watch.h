/* The progress of a model's long work, told on stderr by a thread of its own, so that the first line appears on time
 * even if the work itself says nothing for long. run.c, run_profile.c, calibrate.c and graph.c use it; cli.c
 * ends it before it prints an error. */
#ifndef ND4C_CLI_WATCH_H
#define ND4C_CLI_WATCH_H

#include <pthread.h>

#include "cli.h"

typedef struct cli_watch {
  pthread_mutex_t lock; /* guards what follows, except `progress` and `thread` */
  pthread_cond_t ended;
  bool ends;
  char what[32]; /* the work that is going on; "": none was told yet */
  int64_t done, total;
  int64_t first; /* `done` when it began, and */
  double begun;  /* when that was */
  double told;   /* when `done` grew last */
  pthread_t thread;
  cli_progress progress; /* the thread's */
} cli_watch;

/* cli_watch_end must follow. Without memory for a thread nothing is told. */
void cli_watch_begin(cli_watch *watch);
/* "what: done of total, about 4 s left", or "..., this step for 9 s" once that time is over; a callback for
 * nd4c_model_set_progress, `user` is the cli_watch. */
void cli_watch_tell(void *user, const char *what, int64_t done, int64_t total);
/* Ends what the watch shows and joins its thread, if it goes on. cli_watch_tell may still be called. */
void cli_watch_stop(void);
void cli_watch_end(cli_watch *watch);

#endif
