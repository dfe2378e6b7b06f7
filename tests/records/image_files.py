"""Pictures in files of formats that nd4c reads without a library. ONNX's cases (tests/onnx) have the other formats."""
import struct

import numpy as np

from framework import Case, Refusal, cases, refusals


def bmp(pixels, bits=24, top_down=False, palette=None):
    """pixels: [h, w, 3], or numbers of colours [h, w] with a palette [n, 3]."""
    h, w = pixels.shape[:2]
    table = b"" if palette is None else b"".join(bytes([b, g, r, 0]) for r, g, b in palette)
    rows = []
    for y in range(h):
        if palette is None:
            row = b"".join(bytes([p[2], p[1], p[0]] + [7] * (bits == 32)) for p in pixels[y])
        else:
            digits = "".join(format(int(v), f"0{bits}b") for v in pixels[y])
            digits += "0" * (-len(digits) % 8)
            row = bytes(int(digits[i:i + 8], 2) for i in range(0, len(digits), 8))
        rows.append(row + b"\0" * (-len(row) % 4))
    body = b"".join(rows if top_down else rows[::-1])
    offset = 54 + len(table)
    head = struct.pack("<2sIHHI", b"BM", offset + len(body), 0, 0, offset)
    info = struct.pack("<IiiHHIIiiII", 40, w, -h if top_down else h, 1, bits, 0, len(body), 0, 0, 0, 0)
    return head + info + table + body


def text_of(values):
    return " ".join(map(str, np.asarray(values).reshape(-1))).encode()


def as_bytes(data):
    return np.frombuffer(bytes(data), np.uint8).copy()


@cases("decode_image")
def decode_image(s, dtype):
    for h, w in ((1, 1), (3, 5), (4, 8), (2, 33)):
        rgb = s.integers(0, 255, (h, w, 3)).astype(np.uint8)
        grey = s.integers(0, 255, (h, w)).astype(np.uint8)
        bits = s.integers(0, 1, (h, w))
        palette = s.integers(0, 255, (16, 3)).astype(np.uint8)
        numbers4, numbers8 = s.integers(0, 15, (h, w)), s.integers(0, 15, (h, w))
        deep = s.integers(0, 1000, (h, w, 3))
        scaled = ((deep * 255 + 500) // 1000).astype(np.uint8)
        size = f"{w} {h}\n".encode()
        triple = lambda v: np.repeat(np.asarray(v, np.uint8)[..., None], 3, -1)  # noqa: E731
        packed = np.packbits(bits.astype(np.uint8), axis=1)
        files = [(bmp(rgb), rgb), (bmp(rgb, 32, True), rgb), (bmp(numbers4, 4, palette=palette), palette[numbers4]),
                 (bmp(numbers8, 8, palette=palette), palette[numbers8]),
                 (bmp(bits, 1, palette=palette[:2]), palette[:2][bits]), (b"P6\n" + size + b"255\n" + rgb.tobytes(), rgb),
                 (b"P5 # grey\n" + size + b"255 " + grey.tobytes(), triple(grey)),
                 (b"P4\n" + size + packed.tobytes(), triple(255 * (1 - bits))),
                 (b"P3\n# text\n" + size + b"1000\n" + text_of(deep), scaled),
                 (b"P2\n" + size + b"255\n" + text_of(grey) + b"\n", triple(grey)),
                 (b"P1\n" + size + "".join(map(str, bits.reshape(-1))).encode(), triple(255 * (1 - bits))),
                 (b"P6\n" + size + b"1000\n" + deep.astype(">u2").tobytes(), scaled)]
        for data, want in files:
            r, g, b = (want[..., c].astype(np.uint32) for c in range(3))
            luma = ((19595 * r + 38470 * g + 7471 * b + 32768) >> 16).astype(np.uint8)[..., None]
            for pixel_format, y in enumerate((want, want[..., ::-1], luma)):
                yield Case([as_bytes(data)], {"pixel_format": pixel_format}, [np.ascontiguousarray(y, np.uint8)])


@refusals("decode_image")
def decode_image_refusals(s):
    rgb = np.zeros((2, 2, 3), np.uint8)
    good = bmp(rgb)

    def refused(data, text, status="FORMAT", **attrs):
        return Refusal([as_bytes(data)], attrs, status, text)
    yield refused(b"", "0 bytes of no format that is known")
    yield refused(b"hello, world", "no format that is known")
    yield refused(good, "pixel_format is 3", "ARGUMENT", pixel_format=3)
    yield Refusal([rgb], {}, "SHAPE", "expected 1 axis")
    yield refused(good[:-1], "the file ends in its pixels")
    yield refused(good[:17], "the file ends in its header")
    yield refused(good[:14] + struct.pack("<I", 10**9) + good[18:], "the header has an unknown size")
    yield refused(good[:18] + struct.pack("<i", -5) + good[22:], "extents of 0 or less")
    yield refused(good[:18] + struct.pack("<ii", 2**31 - 1, 2**31 - 1) + good[26:], "expected 1 to 268435456 pixels")
    yield refused(good[:28] + struct.pack("<H", 16) + good[30:], "BMP: 16 bits", "UNSUPPORTED")
    yield refused(bmp(np.array([[3]]), 4, palette=np.zeros((2, 3), np.uint8)), "a colour that is not in its palette")
    yield refused(b"P6 2 2 255\n" + b"\0" * 11, "the file ends in its pixels")
    yield refused(b"P6 2 -2 255\n", "no header of extents")
    yield refused(b"P5 99999999999 1 255\n", "no header of extents")
    yield refused(b"P2 1 1 7 9", "or one is too large")
    yield refused(b"P4 100000 2000\n", "the file ends in its pixels")
