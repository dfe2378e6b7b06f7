"""Runs rows: asks each library's process in turn, compares the results and reports the figures."""

import datetime
import itertools
import math
import os
import statistics
import time

import numpy as np

import worker

PEERS = {"nd4c": "nd4c", "numpy": "NumPy", "torch": "PyTorch", "torch_compiled": "torch.compile", "jax": "JAX jit", "onnx": "ONNX Runtime", "openvino": "OpenVINO",
         "loop": "streaming loop", "openblas": "OpenBLAS", "onednn_gemm": "dnnl_sgemm", "onednn_matmul": "oneDNN matmul"}
SAMPLE_NS = 2e6  # a sample lasts at least this long
SLOW_NS = 3e7  # a row whose fastest call lasts longer is timed without a call before it
ENOUGH = 5  # rounds that are made in any case


def ticks(processes):
    """Clock ticks that the machine's processors have worked, and those that these processes have."""
    with open("/proc/stat", encoding="ascii") as file:
        user, nice, system, _, _, irq, softirq, steal = map(int, file.readline().split()[1:9])
    own = 0
    for process in processes:
        with open(f"/proc/{process}/stat", encoding="ascii") as file:
            own += sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13]))
    return user + nice + system + irq + softirq + steal, own


def prepare(workers, row):
    """Makes a row ready in several processes, side by side. Returns results, refusals and bytes moved by worker's name."""
    for each in workers.values():
        each.begin("prepare", row)
    results, refused, moved = {}, {}, {}
    for name, each in workers.items():
        try:
            results[name], moved[name] = each.finish()
        except RuntimeError as error:
            refused[name] = shortened(error)
    return results, refused, moved


def shortened(error):
    return " ".join(str(error).split())[:200]


def time_once(worker, row):
    """Nanoseconds of a call, roughly. Also warms up: first calls build caches and plans, so they do not say how long a call
    lasts."""
    worker.ask("time", row.name, 1)
    once = worker.ask("time", row.name, 1)
    for calls in (1, 100):
        if once < SLOW_NS:
            once = worker.ask("time", row.name, max(1, min(calls, round(1e5 / once))))
    return once


def repeats_for(once, fastest):
    """Calls of a sample; 0: a single call, without one before it. What precedes it must not depend on the library: a second
    call finds in the caches what the first one read."""
    return max(1, round(SAMPLE_NS / once)) if fastest < SLOW_NS else 0


def sample(worker, row, repeats, tries=1):
    """Nanoseconds of a call; where there are several tries, the least of them."""
    if 0 < repeats < 100:
        worker.ask("time", row.name, 1)  # after the other processes' turns the caches hold their data
    return worker.ask("time", row.name, max(repeats, 1), tries)


class Runner:
    """The libraries' processes."""

    def __init__(self, build, peers, rounds, seconds):
        self.workers = {peer: worker.Worker(peer, build) for peer in peers}
        self.rounds, self.seconds = rounds, seconds
        self.absent = {peer: str(each.state) for peer, each in self.workers.items() if isinstance(each.state, Exception)}
        self.versions = {peer: each.state for peer, each in self.workers.items() if peer not in self.absent}
        for peer in self.absent:
            self.workers.pop(peer).close()

    def ask(self, peer, *what):
        return self.workers[peer].ask(*what)

    def prepare(self, row):
        """Prepares the row in all processes at the same time; returns the first part of the row's entry."""
        results, refused, moved = prepare({peer: self.workers[peer] for peer in row.calls() if peer in self.workers}, row)
        found = {"name": row.name, "ns": {}, "ratios": {}, "refused": refused, "wrong": {},
                 "moved": next(filter(None, moved.values()), None)}
        if "nd4c" in results:
            for peer in results:
                wrong = difference(row, results["nd4c"], results[peer])
                if wrong:
                    found["wrong"][peer] = wrong
        found["ready"] = list(results)
        return found

    def ask_ready(self, peer, found, ask, *what):
        """What `ask` gives of a process that the row is ready in. One that fails, such as one that the system has ended for
        want of memory, is left out of the row; without nd4c there is none."""
        try:
            return ask(self.workers[peer], *what)
        except RuntimeError as error:
            if peer == "nd4c":
                raise
            found["ready"].remove(peer)
            found["refused"][peer] = shortened(error)
            return None

    def revive(self):
        """Starts anew the processes that have ended: what was ready in them is lost."""
        for peer, each in self.workers.items():
            if each.process.poll() is not None:
                self.workers[peer] = each.again()

    def measure(self, row, found, least=0.0):
        """Times the prepared calls for `least` seconds or longer; adds medians and ratios."""
        ready = found["ready"]
        once = {peer: self.ask_ready(peer, found, time_once, row) for peer in list(ready)}
        repeats = {peer: repeats_for(once[peer], min(once[each] for each in ready)) for peer in ready}
        times = {peer: [] for peer in ready}
        processes = [os.getpid(), *(self.workers[peer].process.pid for peer in ready)]
        all_before, own_before = ticks(processes)
        begin = time.perf_counter()
        for turn in itertools.count():
            first = turn % len(ready)
            for peer in ready[first:] + ready[:first]:
                times[peer].append(self.ask_ready(peer, found, sample, row, repeats[peer]))
            passed = time.perf_counter() - begin
            if (turn + 1 >= self.rounds and passed >= least) or (turn + 1 >= ENOUGH and passed > self.seconds):
                break
        (all_after, own_after), took = ticks(processes), time.perf_counter() - begin
        others = (all_after - all_before) - (own_after - own_before)
        found["disturbed"] = round(max(others, 0) / os.sysconf("SC_CLK_TCK") / took / os.cpu_count(), 2)
        times = {peer: times[peer] for peer in ready}
        found["ns"] = {peer: statistics.median(values) for peer, values in times.items()}
        if "nd4c" in times:
            found["ratios"] = {peer: statistics.median(a / b for a, b in zip(times[peer], times["nd4c"]))
                               for peer in ready if peer != "nd4c"}
        found["rounds"] = turn + 1
        found["date"] = datetime.date.today().isoformat()
        return found

    def drop(self, row, peers):
        for peer in peers:
            self.ask(peer, "drop", row.name)

    def close(self):
        for each in self.workers.values():
            each.close()


def best(found):
    """The peer that counts, and its ratio: the least among those whose results are right."""
    ratios = {peer: ratio for peer, ratio in found["ratios"].items()
              if peer not in found["wrong"]}
    return min(ratios.items(), key=lambda item: item[1], default=(None, None))


def difference(row, ours, theirs):
    """Why two results differ; empty if they do not."""
    if row.check == "none":
        return ""
    (shape, a), (other, b) = ours, theirs
    if math.prod(shape) != math.prod(other):
        return f"shapes {shape} and {other}"
    if row.check == "shape":
        return ""
    a, b = (x.astype(np.complex128 if x.dtype.kind == "c" else np.float64) for x in (a, b))
    if row.check == "abs":
        a, b = abs(a), abs(b)
    scale = 1 + np.abs(b) if row.check == "close" else np.abs(b).max(initial=0) + 1e-300
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    worst = float(np.nan_to_num(np.where(same, 0, np.abs(a - b) / scale), nan=np.inf).max(initial=0))
    return "" if worst <= row.tolerance else f"differs by {worst:.2g}"


def told(row, found):
    """One line."""
    times = ", ".join(f"{PEERS[peer]} {ns / 1e3:.4g}" for peer, ns in found["ns"].items())
    failed = "; ".join(f"{PEERS[peer]}: {why[:70]}" for peer, why in {**found["refused"], **found["wrong"]}.items())
    _, ratio = best(found)
    return f"{row.name:44} {'' if ratio is None else f'{ratio:6.2f}'}  us: {times}" + (f"  [{failed}]" if failed else "")
