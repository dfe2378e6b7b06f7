/* SHA-256, which names the contents of compiled pieces and guards files of executables. device/kept.c, executables.c
 * and segment_pattern.c in device/provider call it. */
#ifndef ND4C_BASE_DIGEST_H
#define ND4C_BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

enum { ND4C_DIGEST_BYTES = 32, ND4C_DIGEST_TEXT = 2 * ND4C_DIGEST_BYTES + 1 };

typedef struct nd4c_digest {
  uint8_t bytes[ND4C_DIGEST_BYTES];
} nd4c_digest;

typedef struct nd4c_hasher {
  uint32_t state[8];
  uint64_t length; /* bytes so far */
  uint8_t block[64];
} nd4c_hasher;

void nd4c_hasher_begin(nd4c_hasher *hasher);
void nd4c_hasher_add(nd4c_hasher *hasher, const void *bytes, size_t size);
nd4c_digest nd4c_hasher_end(nd4c_hasher *hasher);

/* In hexadecimal, including the NUL. */
void nd4c_digest_print(const nd4c_digest *digest, char text[ND4C_DIGEST_TEXT]);

#endif
