/* Implements codec.h: loads a library once and looks up its symbols. dispatch/image calls it for pictures, io for JSON
 * and zip files. */
#include "device/storage/codec.h"

#include "base/status.h"
#include "device/memory/host.h"

static nd4c_status load(nd4c_codec *codec) {
  const nd4c_host *host = nd4c_host_table();
  void *library = NULL;
  if (host->library_open(codec->file, &library) != ND4C_OK) {
    return nd4c_fail_prefix(ND4C_LIBRARY, "%s is needed (Debian: apt-get install %s)", codec->file, codec->package);
  }
  for (int i = 0; codec->symbols[i] != NULL; i++) {
    codec->addresses[i] = host->library_symbol(library, codec->symbols[i]);
    if (codec->addresses[i] == NULL) {
      return nd4c_fail(ND4C_SYMBOL, "%s lacks %s", codec->file, codec->symbols[i]);
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_codec_load(nd4c_codec *codec) {
  nd4c_lock_acquire(&codec->lock);
  nd4c_status status = codec->loaded ? ND4C_OK : load(codec);
  codec->loaded = codec->loaded || status == ND4C_OK;
  nd4c_lock_release(&codec->lock);
  return status;
}
