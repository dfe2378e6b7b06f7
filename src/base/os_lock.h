/* Locks, condition variables, code that runs once, and thread-specific values. All of src uses these; backends use the
 * same ones through nd4c/plugin/thread.h. The functions of hot paths are inline, so that a lock costs what the system's
 * own costs. A port to another system writes this header and the files os_linux*.c anew; no other file includes a
 * header of the system. */
#ifndef ND4C_BASE_OS_LOCK_H
#define ND4C_BASE_OS_LOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef pthread_mutex_t nd4c_lock;
typedef pthread_cond_t nd4c_condition;
typedef pthread_once_t nd4c_once;
typedef pthread_key_t nd4c_thread_key;

#define ND4C_LOCK_INIT PTHREAD_MUTEX_INITIALIZER
#define ND4C_CONDITION_INIT PTHREAD_COND_INITIALIZER
#define ND4C_ONCE_INIT PTHREAD_ONCE_INIT

/* For locks inside allocated structs; static ones use ND4C_LOCK_INIT. Neither can fail, since no attributes are set. */
static inline void nd4c_lock_init(nd4c_lock *lock) {
  (void)pthread_mutex_init(lock, NULL);
}
/* A recursive lock: the thread that holds it may acquire it again, and must release it as often. */
void nd4c_lock_init_recursive(nd4c_lock *lock);
static inline void nd4c_lock_destroy(nd4c_lock *lock) {
  (void)pthread_mutex_destroy(lock);
}
static inline void nd4c_lock_acquire(nd4c_lock *lock) {
  (void)pthread_mutex_lock(lock);
}
/* Acquires the lock if it is free, without blocking. False if it is not. */
static inline bool nd4c_lock_try(nd4c_lock *lock) {
  return pthread_mutex_trylock(lock) == 0;
}
static inline void nd4c_lock_release(nd4c_lock *lock) {
  (void)pthread_mutex_unlock(lock);
}

/* A waiting thread may wake without a signal, so it tests its condition in a loop. */
static inline void nd4c_condition_init(nd4c_condition *condition) {
  (void)pthread_cond_init(condition, NULL);
}
static inline void nd4c_condition_destroy(nd4c_condition *condition) {
  (void)pthread_cond_destroy(condition);
}
/* The caller holds the lock, before the wait and after it. */
static inline void nd4c_condition_wait(nd4c_condition *condition, nd4c_lock *lock) {
  (void)pthread_cond_wait(condition, lock);
}
/* As nd4c_condition_wait, but at most until nd4c_os_nanoseconds() reaches `deadline`. False if the deadline has
 * passed. */
bool nd4c_condition_wait_until(nd4c_condition *condition, nd4c_lock *lock, int64_t deadline);
static inline void nd4c_condition_wake_one(nd4c_condition *condition) {
  (void)pthread_cond_signal(condition);
}
static inline void nd4c_condition_wake_all(nd4c_condition *condition) {
  (void)pthread_cond_broadcast(condition);
}

static inline void nd4c_once_run(nd4c_once *once, void (*function)(void)) {
  (void)pthread_once(once, function);
}

/* Calls destroy(value) at the end of every thread that set a value. False if the system has no key left. */
static inline bool nd4c_thread_key_make(nd4c_thread_key *key, void (*destroy)(void *value)) {
  return pthread_key_create(key, destroy) == 0;
}
static inline bool nd4c_thread_key_set(nd4c_thread_key key, const void *value) {
  return pthread_setspecific(key, value) == 0;
}

#endif
