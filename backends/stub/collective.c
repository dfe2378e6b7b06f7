/* Collectives among ranks of this process: the stream of each rank puts its elements into a shared table and waits for
 * the other ranks. backend.c gives its table to the registry. */
#include <stdio.h>
#include <string.h>

#include "stub.h"

typedef enum kind { ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, BROADCAST, MESSAGE } kind;

/* One operation of all ranks, or one message. The first rank to join makes it, the last one to leave frees it. */
typedef struct meeting {
  struct meeting *next;
  kind kind;
  int64_t number; /* of the operation, or of the message from `sender` to `receiver` */
  int32_t sender, receiver, reduction;
  nd4c_dtype dtype;
  int64_t size; /* elements of each rank */
  int32_t expected, arrived, left;
  bool differs;        /* a rank's call differs from the first one's */
  stub_value **values; /* by rank; a message has one */
} meeting;

/* A group. Members and their operations in flight hold one reference each. It stays until every rank has joined: a rank
 * that joins after the others have left still sees their state, for example an abort. */
typedef struct team {
  struct team *next;
  nd4c_collective_id id;
  int32_t count, joined, references;
  bool aborted;
  meeting *meetings;
} team;

typedef struct member {
  team *team;
  int32_t rank;
  int64_t number;           /* operations that it has enqueued */
  int64_t *sent, *received; /* messages, by peer */
} member;

/* Guards teams, meetings and the ids; ranks that wait for others wait for `changed`. */
static nd4c_host_lock lock;
static nd4c_host_condition changed;
static team *teams;
static int64_t next_id;

static nd4c_status make_id(nd4c_collective_id *id) {
  nd4c_status status = stub_attempt(STUB_CALL_collective_id);
  stub_lock(&lock);
  memset(id, 0, sizeof *id);
  (void)snprintf((char *)id->bytes, sizeof id->bytes, "stub group %lld", (long long)++next_id);
  stub_unlock(&lock);
  return status;
}

/* -- groups -------------------------------------------------------------------------------------------------------- */

/* Under the lock. */
static team *find_team(const nd4c_collective_id *id) {
  team *found = teams;
  while (found != NULL && memcmp(&found->id, id, sizeof *id) != 0) {
    found = found->next;
  }
  return found;
}

/* Under the lock. */
static void free_meeting(team *t, meeting *m) {
  meeting **link = &t->meetings;
  while (*link != m) {
    link = &(*link)->next;
  }
  *link = m->next;
  for (int32_t i = 0; m->values != NULL && i < m->expected; i++) {
    stub_host->free(m->values[i]);
  }
  stub_host->free(m->values);
  stub_host->free(m);
}

/* Under the lock. */
static void release_team(team *t) {
  if (--t->references > 0) {
    return;
  }
  while (t->meetings != NULL) {
    free_meeting(t, t->meetings);
  }
  if (t->joined < t->count) {
    return;
  }
  team **link = &teams;
  while (*link != t) {
    link = &(*link)->next;
  }
  *link = t->next;
  stub_host->free(t);
}

static nd4c_status join(void *device, const nd4c_collective_id *id, int32_t rank, int32_t count, nd4c_member *handle) {
  (void)device;
  nd4c_status status = stub_attempt(STUB_CALL_collective_join);
  if (status != ND4C_OK) {
    return status;
  }
  member *m = stub_host->allocate(sizeof *m);
  int64_t *numbers = stub_host->allocate(2 * (size_t)count * sizeof *numbers);
  team *fresh = stub_host->allocate(sizeof *fresh);
  if (m == NULL || numbers == NULL || fresh == NULL) {
    stub_host->free(m);
    stub_host->free(numbers);
    stub_host->free(fresh);
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for a member of a group");
  }
  stub_lock(&lock);
  team *t = find_team(id);
  if (t == NULL) {
    t = fresh;
    fresh = NULL;
    t->id = *id;
    t->count = count;
    t->next = teams;
    teams = t;
  }
  const bool fits = t->count == count;
  t->references += fits;
  t->joined += fits;
  stub_unlock(&lock);
  stub_host->free(fresh);
  if (!fits) {
    stub_host->free(m);
    stub_host->free(numbers);
    return stub_host->fail(ND4C_ARGUMENT, "stub: a group of %d ranks, another rank said %d", (int)count, (int)t->count);
  }
  *m = (member){.team = t, .rank = rank, .sent = numbers, .received = numbers + count};
  stub_count_add(STUB_COUNT_members, 1);
  *handle = (nd4c_member)m;
  return ND4C_OK;
}

static void leave(void *device, nd4c_member handle) {
  (void)device;
  member *m = (member *)handle;
  stub_lock(&lock);
  release_team(m->team);
  stub_unlock(&lock);
  stub_host->free(m->sent);
  stub_host->free(m);
  stub_count_add(STUB_COUNT_members, -1);
}

static void abort_group(void *device, nd4c_member handle) {
  (void)device;
  stub_lock(&lock);
  ((member *)handle)->team->aborted = true;
  stub_host->threads->condition_broadcast(&changed);
  stub_unlock(&lock);
}

/* -- operations ---------------------------------------------------------------------------------------------------- */

/* The task of a rank in its stream. */
typedef struct part {
  team *team; /* one reference */
  int32_t rank, root;
  meeting wanted;        /* what must be equal on all ranks */
  stub_operand from, to; /* dtype NONE: none */
} part;

static void dispose(void *work) {
  part *p = work;
  stub_operand_loosen(&p->from);
  stub_operand_loosen(&p->to);
  stub_lock(&lock);
  release_team(p->team);
  stub_unlock(&lock);
  stub_host->free(p);
}

static bool is_same(const meeting *a, const meeting *b) {
  return a->kind == b->kind && a->number == b->number &&
         (a->kind != MESSAGE || (a->sender == b->sender && a->receiver == b->receiver));
}

/* Joins the meeting; the lock is held. NULL: memory is exhausted. Operations are numbered; if ranks call different
 * kinds under one number, they disagree. */
static meeting *arrive(part *p, stub_value *values) {
  meeting *m = p->team->meetings;
  while (m != NULL && !is_same(m, &p->wanted) &&
         (m->kind == MESSAGE || p->wanted.kind == MESSAGE || m->number != p->wanted.number)) {
    m = m->next;
  }
  if (m == NULL) {
    m = stub_host->allocate(sizeof *m);
    stub_value **table = stub_host->allocate((size_t)p->team->count * sizeof(stub_value *));
    if (m == NULL || table == NULL) {
      stub_host->free(m);
      stub_host->free(table);
      return NULL;
    }
    *m = p->wanted;
    m->expected = m->kind == MESSAGE ? 2 : p->team->count;
    m->values = table;
    m->next = p->team->meetings;
    p->team->meetings = m;
  }
  m->differs = m->differs || !is_same(m, &p->wanted) || m->size != p->wanted.size || m->dtype != p->wanted.dtype ||
               m->reduction != p->wanted.reduction;
  if (values != NULL) {
    m->values[m->kind == MESSAGE ? 0 : p->rank] = values;
  }
  m->arrived++;
  stub_host->threads->condition_broadcast(&changed);
  return m;
}

static bool is_less(nd4c_dtype dtype, stub_value a, stub_value b) {
  switch (stub_class_of(dtype)) {
    case STUB_FLOAT:
      return a.re < b.re;
    case STUB_UINT:
      return (uint64_t)a.i < (uint64_t)b.i;
    default:
      return a.i < b.i;
  }
}

static stub_value combine(nd4c_dtype dtype, int32_t reduction, stub_value a, stub_value b) {
  if (reduction == ND4C_COLLECTIVE_MIN) {
    return is_less(dtype, b, a) ? b : a;
  }
  if (reduction == ND4C_COLLECTIVE_MAX) {
    return is_less(dtype, a, b) ? b : a;
  }
  const bool product = reduction == ND4C_COLLECTIVE_PRODUCT;
  if (stub_class_of(dtype) == STUB_FLOAT) {
    return (stub_value){.re = product ? a.re * b.re : a.re + b.re};
  }
  const uint64_t left = (uint64_t)a.i, right = (uint64_t)b.i;
  return (stub_value){.i = stub_wrap((int64_t)(product ? left * right : left + right), dtype)};
}

static stub_value reduce(const meeting *m, int64_t element) {
  stub_value value = m->values[0][element];
  for (int32_t rank = 1; rank < m->expected; rank++) {
    value = combine(m->dtype, m->reduction, value, m->values[rank][element]);
  }
  if (m->reduction == ND4C_COLLECTIVE_MEAN) {
    value.re /= m->expected;
  }
  return value;
}

/* The rank's result, in C order. */
static void compute(const meeting *m, const part *p, stub_value *result) {
  const int64_t own = p->to.size;
  for (int64_t i = 0; i < own; i++) {
    switch (m->kind) {
      case ALL_REDUCE:
        result[i] = reduce(m, i);
        break;
      case REDUCE_SCATTER:
        result[i] = reduce(m, p->rank * own + i);
        break;
      case ALL_GATHER:
        result[i] = m->values[i / m->size][i % m->size];
        break;
      case BROADCAST:
        result[i] = m->values[p->root][i];
        break;
      case MESSAGE:
        result[i] = m->values[0][i];
        break;
    }
  }
}

/* Waits for all ranks and takes the result. Under the lock, which waiting releases. */
static nd4c_status meet(part *p, meeting *m, stub_value *result) {
  while (m->arrived < m->expected && !p->team->aborted) {
    stub_host->threads->condition_wait(&changed, &lock);
  }
  nd4c_status status = ND4C_OK;
  if (p->team->aborted) {
    status = stub_host->fail(ND4C_DEVICE, "stub: the group was aborted, rank %d waited for %d of %d ranks",
                             (int)p->rank, (int)(m->expected - m->arrived), (int)m->expected);
  } else if (m->differs) {
    status = stub_host->fail(ND4C_DEVICE, "stub: the ranks do not call the same operation on the same dtype and size");
  } else {
    compute(m, p, result);
  }
  if (++m->left == m->expected) {
    free_meeting(p->team, m);
  }
  return status;
}

static nd4c_status run(void *work) {
  part *p = work;
  stub_value *values = NULL, *result = stub_host->allocate((size_t)(p->to.size + 1) * sizeof *result);
  nd4c_status status = stub_attempt(STUB_CALL_in_flight);
  if (status == ND4C_OK && result == NULL) {
    status = stub_host->fail(ND4C_MEMORY, "stub: no memory for the result of a collective");
  }
  if (status == ND4C_OK && p->from.dtype != ND4C_DTYPE_NONE) {
    status = stub_operand_load(&p->from, &values);
  }
  stub_lock(&lock);
  meeting *m = status == ND4C_OK ? arrive(p, values) : NULL;
  if (m != NULL) {
    status = meet(p, m, result);
  } else {
    p->team->aborted = true; /* so that the others do not wait for ever */
    stub_host->threads->condition_broadcast(&changed);
    stub_host->free(values);
  }
  stub_unlock(&lock);
  if (status == ND4C_OK && m == NULL) {
    status = stub_host->fail(ND4C_MEMORY, "stub: no memory for a meeting of ranks");
  }
  if (status == ND4C_OK && p->to.dtype != ND4C_DTYPE_NONE) {
    status = stub_operand_store(&p->to, result);
  }
  stub_host->free(result);
  return status;
}

static nd4c_status submit(nd4c_stream stream, member *m, meeting wanted, int32_t root, const nd4c_tensor *from,
                          const nd4c_tensor *to) {
  nd4c_status status = stub_attempt(STUB_CALL_collective);
  if (status != ND4C_OK) {
    return status;
  }
  const stub_class class = stub_class_of(wanted.dtype);
  const bool reduces = wanted.kind == ALL_REDUCE || wanted.kind == REDUCE_SCATTER;
  if (class == STUB_NONE || (reduces && (class == STUB_COMPLEX || class == STUB_BOOL)) ||
      (reduces && wanted.reduction == ND4C_COLLECTIVE_MEAN && class != STUB_FLOAT)) {
    return stub_host->fail(ND4C_UNSUPPORTED, "stub: no such collective of this dtype");
  }
  part *p = stub_host->allocate(sizeof *p);
  if (p == NULL) {
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for a collective");
  }
  *p = (part){.team = m->team, .rank = m->rank, .root = root, .wanted = wanted};
  stub_lock(&lock);
  m->team->references++;
  stub_unlock(&lock);
  status = from != NULL ? stub_operand_copy(from, &p->from) : ND4C_OK;
  status = status == ND4C_OK && to != NULL ? stub_operand_copy(to, &p->to) : status;
  if (status != ND4C_OK) {
    dispose(p);
    return status;
  }
  return stub_stream_submit((stub_stream *)stream, (stub_task){.run = run, .dispose = dispose, .work = p});
}

/* An operation of all ranks: the next one of the member. */
static nd4c_status together(nd4c_stream stream, nd4c_member handle, kind what, int32_t reduction, int32_t root,
                            const nd4c_tensor *from, const nd4c_tensor *to) {
  member *m = (member *)handle;
  const nd4c_tensor *brought = from != NULL ? from : to;
  const meeting wanted = {.kind = what,
                          .number = m->number,
                          .reduction = what == BROADCAST ? root : reduction,
                          .dtype = brought->dtype,
                          .size = brought->size};
  nd4c_status status = submit(stream, m, wanted, root, from, to);
  m->number += status == ND4C_OK;
  return status;
}

static nd4c_status all_reduce(void *device, nd4c_stream stream, nd4c_member m, nd4c_collective_reduction reduction,
                              const nd4c_tensor *from, const nd4c_tensor *to) {
  (void)device;
  return together(stream, m, ALL_REDUCE, reduction, 0, from, to);
}

static nd4c_status all_gather(void *device, nd4c_stream stream, nd4c_member m, const nd4c_tensor *from,
                              const nd4c_tensor *to) {
  (void)device;
  return together(stream, m, ALL_GATHER, 0, 0, from, to);
}

static nd4c_status reduce_scatter(void *device, nd4c_stream stream, nd4c_member m, nd4c_collective_reduction reduction,
                                  const nd4c_tensor *from, const nd4c_tensor *to) {
  (void)device;
  return together(stream, m, REDUCE_SCATTER, reduction, 0, from, to);
}

static nd4c_status broadcast(void *device, nd4c_stream stream, nd4c_member m, int32_t root, const nd4c_tensor *tensor) {
  (void)device;
  const bool sends = ((member *)m)->rank == root;
  return together(stream, m, BROADCAST, 0, root, sends ? tensor : NULL, sends ? NULL : tensor);
}

static nd4c_status send(void *device, nd4c_stream stream, nd4c_member handle, int32_t peer, const nd4c_tensor *from) {
  (void)device;
  member *m = (member *)handle;
  const meeting wanted = {.kind = MESSAGE,
                          .number = m->sent[peer],
                          .sender = m->rank,
                          .receiver = peer,
                          .dtype = from->dtype,
                          .size = from->size};
  nd4c_status status = submit(stream, m, wanted, 0, from, NULL);
  m->sent[peer] += status == ND4C_OK;
  return status;
}

static nd4c_status receive(void *device, nd4c_stream stream, nd4c_member handle, int32_t peer, const nd4c_tensor *to) {
  (void)device;
  member *m = (member *)handle;
  const meeting wanted = {.kind = MESSAGE,
                          .number = m->received[peer],
                          .sender = peer,
                          .receiver = m->rank,
                          .dtype = to->dtype,
                          .size = to->size};
  nd4c_status status = submit(stream, m, wanted, 0, NULL, to);
  m->received[peer] += status == ND4C_OK;
  return status;
}

const nd4c_collective_ops stub_collective_ops = {
    .struct_size = ND4C_SIZE_OF(nd4c_collective_ops),
    .make_id = make_id,
    .join = join,
    .leave = leave,
    .abort = abort_group,
    .all_reduce = all_reduce,
    .all_gather = all_gather,
    .reduce_scatter = reduce_scatter,
    .broadcast = broadcast,
    .send = send,
    .receive = receive,
};
