"""The pictures of the pages about performance, as SVG. performance_page.py calls it."""

import math
from xml.sax.saxutils import escape

import running

COLOURS = {"nd4c": "#2f8f83", "numpy": "#4d77cf", "torch": "#d9663b", "onnx": "#8a6fc2", "openvino": "#c9a227"}


def bars(lines):
    """For each row the time of each library, as a multiple of nd4c's. lines: pairs of words and line of the page."""
    left, width, top, bar, gap, most = 300, 900, 64, 13, 14, 6.0
    shown = [(words, line, [peer for peer in COLOURS if peer in line.found["ns"] and peer not in line.found["wrong"]])
             for words, line in lines if line.ours]
    height = top + sum(bar * len(peers) + gap for _, _, peers in shown) + 16
    at = lambda times: left + min(times, most) / most * (width - left - 90)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
           'font-family="sans-serif" font-size="12">', f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
           '<text x="16" y="24" font-size="16" fill="#1a1a1a">Time, where nd4c takes 1: shorter is faster</text>']
    used = [peer for peer in COLOURS if any(peer in peers for _, _, peers in shown)]
    for number, peer in enumerate(used):
        x = 16 + 130 * number
        out.append(f'<rect x="{x}" y="36" width="12" height="12" fill="{COLOURS[peer]}"/>')
        out.append(f'<text x="{x + 18}" y="46" fill="#333333">{escape(running.PEERS[peer])}</text>')
    y = top
    for words, line, peers in shown:
        out.append(f'<text x="16" y="{y + bar * len(peers) / 2 + 4:.0f}" fill="#1a1a1a">{escape(words)}</text>')
        for peer in peers:
            times = line.found["ns"][peer] / line.ours
            out.append(f'<rect x="{left}" y="{y}" width="{at(times) - left:.1f}" height="{bar - 2}" fill="{COLOURS[peer]}"/>')
            more = " (cut)" if times > most else ""
            out.append(f'<text x="{at(times) + 6:.1f}" y="{y + bar - 3}" font-size="11" fill="#333333">{times:.2g}{more}</text>')
            y += bar
        y += gap
    return "\n".join(out + ["</svg>", ""])


def lanes(groups):
    """A lane a group: each row a dot on a logarithmic axis, the geometric mean a line. groups: triples of Group, its lines and
    their mean."""
    left, width, top, lane = 150, 900, 56, 46
    height = top + lane * len(groups) + 36
    low, high = math.log2(1 / 16), math.log2(32)
    at = lambda ratio: left + (min(max(math.log2(ratio), low), high) - low) / (high - low) * (width - left - 70)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
           'font-family="sans-serif" font-size="12">', f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
           '<text x="16" y="24" font-size="16" fill="#1a1a1a">Time of the best peer / time of nd4c</text>',
           '<text x="16" y="42" fill="#555555">a dot: one row, right of 1 nd4c is faster; orange: below its bar; a line: the '
           "geometric mean</text>"]
    for power in range(-4, 6):
        x, colour = at(2.0**power), "#666666" if power == 0 else "#dddddd"
        out.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{height - 28}" stroke="{colour}"/>')
        out.append(f'<text x="{x:.1f}" y="{height - 12}" text-anchor="middle" fill="#555555">{2.0**power:g}</text>')
    for number, (group, lines, average) in enumerate(groups):
        y = top + lane * number
        out.append(f'<text x="16" y="{y + lane / 2 + 4:.0f}" fill="#1a1a1a">{escape(group.name)}</text>')
        rated = sorted((line for line in lines if line.ratio and line.steady), key=lambda line: line.ratio)
        for place, line in enumerate(rated):
            colour = "#9aa7b4" if not line.judged else "#2f8f83" if line.met else "#d9663b"
            out.append(f'<circle cx="{at(line.ratio):.1f}" cy="{y + 10 + (place * 7) % (lane - 18):.1f}" r="3" fill="{colour}" '
                       f'fill-opacity="0.75"><title>{escape(line.row.name)}: {line.ratio:.2f}</title></circle>')
        if average:
            x = at(average)
            out.append(f'<line x1="{x:.1f}" y1="{y + 4}" x2="{x:.1f}" y2="{y + lane - 4}" stroke="#000000" stroke-width="2"/>')
            out.append(f'<text x="{width - 50}" y="{y + lane / 2 + 4:.0f}" fill="#1a1a1a">{average:.2f}</text>')
    return "\n".join(out + ["</svg>", ""])
