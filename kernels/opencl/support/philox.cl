/* Random words: Philox4x32 with 10 rounds, a function of the state and of the element's number alone; the same bits as
 * the CPU's (kernels/reference/random/random.h says which words an element takes). The kernels of random/ call it. */

typedef struct {
  ulong key, low, high;
} philox;

static inline uint4 philox4x32(uint4 counter, uint2 key) {
  for (int round = 0; round < 10; round++) {
    uint left_high = mul_hi(counter.x, 0xD2511F53u), left_low = counter.x * 0xD2511F53u;
    uint right_high = mul_hi(counter.z, 0xCD9E8D57u), right_low = counter.z * 0xCD9E8D57u;
    counter = (uint4)(right_high ^ counter.y ^ key.x, right_low, left_high ^ counter.w ^ key.y, left_low);
    key += (uint2)(0x9E3779B9u, 0xBB67AE85u);
  }
  return counter;
}

/* Block `step` of the state; `draw` counts further ones for an element that needs more than one. */
static inline uint4 block_of(const philox *state, ulong step, uint draw) {
  ulong low = state->low + step, high = state->high + (low < step ? 1 : 0);
  uint4 counter = (uint4)((uint)low, (uint)(low >> 32), (uint)high, (uint)(high >> 32) + draw);
  return philox4x32(counter, (uint2)((uint)state->key, (uint)(state->key >> 32)));
}

static inline uint word32(const philox *state, long i) {
  uint4 block = block_of(state, (ulong)i / 4, 0);
  uint2 pair = i & 2 ? block.zw : block.xy;
  return i & 1 ? pair.y : pair.x;
}

static inline ulong word64(const philox *state, long i) {
  uint4 block = block_of(state, (ulong)i / 2, 0);
  uint2 pair = i & 1 ? block.zw : block.xy;
  return (ulong)pair.y << 32 | pair.x;
}

/* The words of element i's own stream: two a block. */
typedef struct {
  ulong step;
  uint draw, left;
  uint4 block;
} supply;

static inline ulong supply_word(const philox *state, supply *s) {
  if (s->left == 0) {
    s->block = block_of(state, s->step, s->draw++);
    s->left = 2;
  }
  uint2 pair = s->left-- == 2 ? s->block.xy : s->block.zw;
  return (ulong)pair.y << 32 | pair.x;
}

static inline philox read_state(__global const STORAGE(A) *a, long a0, long step, long count) {
  philox state = {(ulong)a[a0], (ulong)a[a0 + step], count > 2 ? (ulong)a[a0 + 2 * step] : 0};
  return state;
}

/* Lemire's product: its upper half, unless the lower half says that this value had one chance too many. 0 .. range - 1;
 * range 0 stands for 2^64. */
static inline ulong random_below(const philox *state, long i, ulong range) {
  supply s = {(ulong)i, 0, 0, (uint4)(0)};
  ulong word = supply_word(state, &s);
  if (range == 0) {
    return word;
  }
  ulong beyond = (0 - range) % range;
  while (word * range < beyond) {
    word = supply_word(state, &s);
  }
  return mul_hi(word, range);
}

#ifdef HAS_FP64
/* 0 <= u < 1 */
static inline double unit(ulong word) {
  return convert_double(word >> 11) * 0x1p-53;
}
#endif
