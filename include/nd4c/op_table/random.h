/* Rows of the op table: random numbers, permutations, dropout. op_table.h says how to read them.
 *
 * The generator is Philox4x32 with 10 rounds, a function of a key and a counter. Its state is an array of int64 or
 * uint64: the key (the seed), the counter, and, if there is a third element, the counter's upper 64 bits. An op reads
 * the state and does not change it. Element i of a result depends only on the state and on i, not on threads, strides
 * or the device.
 *
 * Steps. An op uses consecutive values of the counter, from the state's on. Four elements share a value in random bits
 * and uniform numbers of up to 32 bits. Two elements share a value in wider ones, in normal, exponential, Bernoulli and
 * categorical numbers, in dropout and in rrelu. In all other ops each element uses one value, and an element that needs
 * more words also uses blocks that differ in the counter's topmost 32 bits. A permutation uses as many values as it has
 * elements, a choice without replacement as many as p has. After each op, a program adds to the counter the number of
 * elements of the largest array among result and inputs (random_advance): then it never gets the same numbers twice. */
#ifndef ND4C_OP_TABLE_RANDOM_H
#define ND4C_OP_TABLE_RANDOM_H

#define ND4C_SIG_RANDOM_ADVANCE(A, op) A(op, IN, state, 0) A(op, INT, steps, 1) A(op, OUT, y, 0)
#define ND4C_SIG_RANDOM_BITS(A, op) \
  A(op, IN, state, 0) A(op, INTS, shape, 0) A(op, DTYPE, dtype, ND4C_INT32) A(op, OUT, y, 0)
#define ND4C_SIG_RANDOM_UNIFORM(A, op) \
  A(op, IN, state, 0)                  \
  A(op, INTS, shape, 0) A(op, DTYPE, dtype, ND4C_FLOAT32) A(op, FLOAT, low, 0) A(op, FLOAT, high, 1) A(op, OUT, y, 0)
#define ND4C_SIG_RANDOM_NORMAL(A, op) \
  A(op, IN, state, 0)                 \
  A(op, INTS, shape, 0) A(op, DTYPE, dtype, ND4C_FLOAT32) A(op, FLOAT, mean, 0) A(op, FLOAT, scale, 1) A(op, OUT, y, 0)
#define ND4C_SIG_RANDOM_TRUNCATED(A, op) \
  A(op, IN, state, 0)                    \
  A(op, INTS, shape, 0)                  \
  A(op, DTYPE, dtype, ND4C_FLOAT32)      \
  A(op, FLOAT, mean, 0) A(op, FLOAT, scale, 1) A(op, FLOAT, low, -2) A(op, FLOAT, high, 2) A(op, OUT, y, 0)
#define ND4C_SIG_RANDOM_EXPONENTIAL(A, op) \
  A(op, IN, state, 0) A(op, INTS, shape, 0) A(op, DTYPE, dtype, ND4C_FLOAT32) A(op, FLOAT, scale, 1) A(op, OUT, y, 0)
#define ND4C_SIG_RANDOM_INTEGERS(A, op) \
  A(op, IN, state, 0)                   \
  A(op, INTS, shape, 0) A(op, DTYPE, dtype, ND4C_INT64) A(op, INT, low, 0) A(op, INT, high, 2) A(op, OUT, y, 0)
#define ND4C_SIG_RANDOM_BERNOULLI(A, op) \
  A(op, IN, state, 0) A(op, IN, p, 0) A(op, INTS, shape, 0) A(op, DTYPE, dtype, ND4C_BOOL) A(op, OUT, y, 0)
#define ND4C_SIG_RANDOM_BINOMIAL(A, op) \
  A(op, IN, state, 0)                   \
  A(op, IN, n, 0) A(op, IN, p, 0) A(op, INTS, shape, 0) A(op, DTYPE, dtype, ND4C_INT64) A(op, OUT, y, 0)
#define ND4C_SIG_RANDOM_GAMMA(A, op) \
  A(op, IN, state, 0)                \
  A(op, IN, alpha, 0) A(op, INTS, shape, 0) A(op, DTYPE, dtype, ND4C_FLOAT32) A(op, FLOAT, scale, 1) A(op, OUT, y, 0)
#define ND4C_SIG_RANDOM_POISSON(A, op) \
  A(op, IN, state, 0) A(op, IN, rate, 0) A(op, INTS, shape, 0) A(op, DTYPE, dtype, ND4C_INT64) A(op, OUT, y, 0)
#define ND4C_SIG_RANDOM_CATEGORICAL(A, op) \
  A(op, IN, state, 0)                      \
  A(op, IN, p, 0)                          \
  A(op, INT, samples, 1)                   \
  A(op, BOOL, logarithms, 0) A(op, BOOL, replacement, 1) A(op, DTYPE, dtype, ND4C_INT64) A(op, OUT, y, 0)
#define ND4C_SIG_RANDOM_PERMUTATION(A, op) \
  A(op, IN, state, 0) A(op, INT, n, 0) A(op, DTYPE, dtype, ND4C_INT64) A(op, OUT, y, 0)
#define ND4C_SIG_RANDOM_SHUFFLE(A, op) A(op, IN, state, 0) A(op, IN, x, 0) A(op, INT, axis, 0) A(op, OUT, y, 0)
#define ND4C_SIG_RANDOM_DROPOUT(A, op) \
  A(op, IN, state, 0) A(op, IN, x, 0) A(op, FLOAT, rate, 0.5) A(op, OUT, y, 0) A(op, OUT, mask, 0)

#define ND4C_SIG_RRELU(A, op) \
  A(op, IN, x, 0) A(op, OPT, state, 0) A(op, FLOAT, low, 0.125) A(op, FLOAT, high, 0.3333333333333333) A(op, OUT, y, 0)

#define ND4C_OPS_RANDOM(OP)                                                                                           \
  OP(740, 1, random_advance, RANDOM, ND4C_SIG_RANDOM_ADVANCE, random_advance, RANDOM_STATE,                           \
     "state with its counter `steps` further on (a third element takes the carry)", "Philox.advance|||")              \
  OP(741, 1, random_bits, RANDOM, ND4C_SIG_RANDOM_BITS, random_bits, RANDOM_STATE,                                    \
     "random bits as integers: one of up to 32 bits takes the low bits of word i % 4 of Philox block i / 4; one of "  \
     "64 bits takes two words, the low one first",                                                                    \
     "integers|||")                                                                                                   \
  OP(742, 1, random_uniform, RANDOM, ND4C_SIG_RANDOM_UNIFORM, random_uniform, RANDOM_STATE,                           \
     "low + u (high - low), 0 <= u < 1, u of as many random bits as dtype's significand has; rounding may give high " \
     "unless high is a power of two and low is 0",                                                                    \
     "uniform|rand|RandomUniform|uniform")                                                                            \
  OP(743, 1, random_normal, RANDOM, ND4C_SIG_RANDOM_NORMAL, random_normal, RANDOM_STATE,                              \
     "mean + scale z, z the inverse normal distribution function of 64 random bits (AS 241; tails up to 9.2)",        \
     "normal|randn|RandomNormal|normal")                                                                              \
  OP(744, 1, random_log_normal, RANDOM, ND4C_SIG_RANDOM_NORMAL, random_normal, RANDOM_STATE,                          \
     "e^(mean + scale z), z as in random_normal", "lognormal|||logNormal")                                            \
  OP(745, 1, random_truncated_normal, RANDOM, ND4C_SIG_RANDOM_TRUNCATED, random_truncated, RANDOM_STATE,              \
     "mean + scale z, z normal, restricted to low <= z <= high, by inversion",                                        \
     "stats.truncnorm|nn.init.trunc_normal_||truncatedNormal")                                                        \
  OP(746, 1, random_exponential, RANDOM, ND4C_SIG_RANDOM_EXPONENTIAL, random_exponential, RANDOM_STATE,               \
     "-scale ln u, u uniform with 64 random bits", "exponential|Tensor.exponential_||exponential")                    \
  OP(747, 1, random_integers, RANDOM, ND4C_SIG_RANDOM_INTEGERS, random_integers, RANDOM_STATE,                        \
     "low <= y < high, with exactly equal chances", "integers|randint||randomInt")                                    \
  OP(748, 1, random_bernoulli, RANDOM, ND4C_SIG_RANDOM_BERNOULLI, random_bernoulli, RANDOM_STATE,                     \
     "1 (true) with probability p, else 0; shape: p broadcasts to it; no shape: p's; a p outside 0 .. 1 is refused",  \
     "binomial|bernoulli|Bernoulli|bernoulli")                                                                        \
  OP(749, 1, random_binomial, RANDOM, ND4C_SIG_RANDOM_BINOMIAL, random_binomial, RANDOM_STATE,                        \
     "how many of n trials succeed, each with probability p; n whole, at most 2^53", "binomial|binomial||binomial")   \
  OP(750, 1, random_gamma, RANDOM, ND4C_SIG_RANDOM_GAMMA, random_gamma, RANDOM_STATE,                                 \
     "gamma distribution of shape parameter alpha >= 0 (Marsaglia and Tsang), times scale",                           \
     "gamma|distributions.Gamma||gamma")                                                                              \
  OP(751, 1, random_poisson, RANDOM, ND4C_SIG_RANDOM_POISSON, random_poisson, RANDOM_STATE,                           \
     "Poisson distribution of 0 <= rate <= 2^53 (inversion, Hoermann's PTRS from 10 on)", "poisson|poisson||poisson") \
  OP(752, 1, random_categorical, RANDOM, ND4C_SIG_RANDOM_CATEGORICAL, random_categorical, RANDOM_STATE,               \
     "for each row of p, `samples` indices with probabilities proportional to p (or to e^p, if p holds logarithms); " \
     "without replacement: distinct indices",                                                                         \
     "choice|multinomial|Multinomial|multinomial")                                                                    \
  OP(753, 1, random_permutation, RANDOM, ND4C_SIG_RANDOM_PERMUTATION, random_permutation, RANDOM_STATE,               \
     "0 .. n - 1 in random order", "permutation|randperm||")                                                          \
  OP(754, 1, random_shuffle, RANDOM, ND4C_SIG_RANDOM_SHUFFLE, random_shuffle, RANDOM_STATE,                           \
     "x with its slices along axis in the order of random_permutation", "permutation|||randomShuffle")                \
  OP(755, 1, random_dropout, RANDOM, ND4C_SIG_RANDOM_DROPOUT, random_dropout, RANDOM_STATE,                           \
     "x / (1 - rate) where the mask is true, 0 elsewhere; the mask is false with probability rate",                   \
     "|dropout|Dropout|dropout")                                                                                      \
  OP(756, 1, rrelu, RANDOM, ND4C_SIG_RRELU, rrelu, REAL_FLOATING,                                                     \
     "y = x for x >= 0, slope x below 0; with a state, slope = low + u (high - low) with u of 53 random bits; "       \
     "without one, slope = (low + high) / 2",                                                                         \
     "|nn.functional.rrelu||rrelu")

#endif
