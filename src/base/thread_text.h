/* Texts of the calling thread, for status.c and the registry. They lie outside the library's thread-local storage,
 * which must stay small: it has variables of hot paths, so a library that is opened late (by Python, by Java) gets only
 * about a kilobyte of it, and does not load if it needs more. */
#ifndef ND4C_BASE_THREAD_TEXT_H
#define ND4C_BASE_THREAD_TEXT_H

#include <stddef.h>

enum { ND4C_THREAD_TEXT_SIZE = 8192, ND4C_THREAD_STATE_SIZE = 1024 };

/* The text of the thread's most recent failure and its size. Memory comes from the system at the thread's first use and
 * is freed when the thread ends; without memory a short buffer takes its place. Never NULL. */
char *nd4c_thread_error_text(size_t *size);

/* A second text, for the state of a backend's engine that the thread asked for last. As above. */
char *nd4c_thread_state_text(size_t *size);

#endif
