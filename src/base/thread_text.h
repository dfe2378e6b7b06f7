/* Texts that belong to the calling thread. They lie outside the library's thread-local storage, because that must stay
 * small: with a variable of the hot path in it, a library opened late (by Python, by Java) finds only about a kilobyte
 * there, and does not load at all if it asks for more. */
#ifndef ND4C_BASE_THREAD_TEXT_H
#define ND4C_BASE_THREAD_TEXT_H

#include <stddef.h>

enum { ND4C_THREAD_TEXT_SIZE = 8192, ND4C_THREAD_STATE_SIZE = 1024 };

/* The text of the thread's most recent failure and its size. Memory comes from the system at the thread's first use and
 * is freed when the thread ends; without memory a short buffer takes its place. Never NULL. */
char *nd4c_thread_error_text(size_t *size);

/* A second text, of what was last asked about a backend's engine. As above. */
char *nd4c_thread_state_text(size_t *size);

#endif
