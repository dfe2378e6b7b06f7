"""Reads handwritten digits with the small network of examples/digits: an ONNX model and NumPy files, the whole batch on the
device that nd4c picked. Draws a few pictures and says how many were read right and how long one took.

    python examples/python/digits.py [FOLDER]

FOLDER holds digits.onnx, digits_images.npy and digits_labels.npy; default: ../digits beside this file."""
import os
import sys
import time
from typing import List

import nd4c as xp

SHADES = " .:*#"
PER_ROW = 4
RUNS = 21


def pictures(images: xp.Array, labels: List[int], read: List[int]) -> List[str]:
    """Lines of text: the pictures side by side, under each what the network read."""
    lines: List[str] = []
    for begin in range(0, len(read), PER_ROW):
        row = range(begin, min(begin + PER_ROW, len(read)))
        levels = xp.astype(xp.clip(images * (len(SHADES) - 1) + 0.5, 0, len(SHADES) - 1), xp.int64)
        for y in range(8):
            lines.append("  ".join("".join(2 * SHADES[int(level)] for level in levels[i, 0, y, :]) for i in row))
        texts = ["read as %d" % read[i] + ("" if read[i] == labels[i] else ", is %d !" % labels[i]) for i in row]
        lines.append("  ".join(text.ljust(16) for text in texts))
    return lines


def main(folder: str) -> None:
    model = xp.onnx.load(os.path.join(folder, "digits.onnx"))
    images = xp.load(os.path.join(folder, "digits_images.npy"))
    labels = xp.load(os.path.join(folder, "digits_labels.npy"))

    logits = model(images)
    times = []
    for _ in range(RUNS):
        begin = time.perf_counter()
        logits = model(images)
        times.append(time.perf_counter() - begin)
    read = xp.argmax(logits, axis=1)
    right = xp.sum(read == xp.astype(labels, read.dtype))

    wrong = xp.nonzero(read != xp.astype(labels, read.dtype))[0]
    shown = xp.concat([xp.arange(4), wrong[:2]])
    print("\n".join(pictures(images[shown, ...], labels[shown].tolist(), read[shown].tolist())))
    print("device: %s" % logits.device)
    print("accuracy: %.1f %% of %d" % (100 * int(right) / len(read), len(read)))
    print("time: %.2f us an image (all %d at once, median of %d runs)"
          % (1e6 * sorted(times)[RUNS // 2] / len(read), len(read), RUNS))


if __name__ == "__main__":
    default = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "digits")
    main(sys.argv[1] if len(sys.argv) > 1 else default)
