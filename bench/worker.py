"""One library in a process of its own, which bench/compare asks to prepare a row and to time it: started as
worker.py PEER BUILD LOOPS FILE_DESCRIPTOR, where LOOPS is the build folder that nd4c's loops of C, or its package, come from.
Between its turns the process is stopped, so that threads that wait actively for more work take nothing from the others."""

import ctypes
import multiprocessing.connection
import os
import pathlib
import signal
import subprocess
import sys

SAMPLE = 100_000  # elements of a result that are compared


def comparable(result):
    """A result, small enough to be sent."""
    import numpy as np

    first = np.asarray(result)
    if first.dtype.name == "bfloat16":
        first = first.astype(np.float32)
    flat = first.reshape(-1)
    step = max(1, flat.size // SAMPLE)
    return first.shape, np.array(flat[::step])


def serve(connection, library):
    import rows

    prepared = {}

    def prepare(row):
        made = prepared[row.name] = library.prepare(row, rows.make_inputs(row), row.into)
        return comparable(made.result()), getattr(made, "moved", None)

    answers = {"prepare": prepare, "time": lambda name, calls, tries=1: min(prepared[name].time(calls) for _ in range(tries)),
               "is_view": lambda name: prepared[name].view, "drop": lambda name: prepared.pop(name, None) and None}
    while True:
        try:
            what, *arguments = connection.recv()
        except EOFError:
            return
        try:
            answer = (answers.get(what) or getattr(library, what))(*arguments)
        except Exception as error:  # the library's own failure is the answer
            answer = RuntimeError(f"{type(error).__name__}: {str(error)[:300]}")
        connection.send(answer)


class Worker:
    """The asking side."""

    def __init__(self, peer, build, loops=None):
        self.begun = (peer, build, loops)
        self.connection, other = multiprocessing.connection.Pipe()
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}  # they override OpenBLAS's choice
        self.process = subprocess.Popen([sys.executable, __file__, peer, str(build), str(loops or build), str(other.fileno())],
                                        pass_fds=[other.fileno()], env=environment)
        other.close()
        self.peer, self.limit = peer, None  # seconds that an answer may take; None: any time
        self.state = self.receive()  # its version, or why it is absent
        self.stop()

    def receive(self):
        try:
            if self.limit and not self.connection.poll(self.limit):
                self.close()  # `again` makes another one
                return RuntimeError(f"{self.peer}: no answer within {self.limit} s")
            return self.connection.recv()
        except (EOFError, ConnectionResetError):
            return RuntimeError(f"{self.peer}: the process has ended")

    def stop(self):
        self.process.send_signal(signal.SIGSTOP)

    def begin(self, *what):
        self.process.send_signal(signal.SIGCONT)
        try:
            self.connection.send(what)
        except BrokenPipeError:
            pass

    def finish(self):
        """The answer; raises what went wrong."""
        answer = self.receive()
        self.stop()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def ask(self, *what):
        self.begin(*what)
        return self.finish()

    def close(self):
        self.process.kill()
        self.process.wait()

    def again(self):
        """Another process of the same library."""
        self.close()
        made = Worker(*self.begun)
        made.limit = self.limit
        return made


if __name__ == "__main__":
    ROOT = pathlib.Path(__file__).resolve().parents[1]
    sys.path[:0] = [str(ROOT / "tests" / "tools")]
    PR_SET_PDEATHSIG = 1  # a stopped worker cannot see that its parent has ended
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    link = multiprocessing.connection.Connection(int(sys.argv[4]))
    try:
        import peers

        if sys.argv[1] in peers.PEERS:
            library = peers.PEERS[sys.argv[1]](None)
        elif sys.argv[1] == "package":
            import package

            library = package.Package(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
        else:
            import ours

            library = ours.PEERS[sys.argv[1]](pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
    except Exception as error:
        link.send(RuntimeError(f"{type(error).__name__}: {error}"))
        sys.exit(0)
    link.send(library.version)
    serve(link, library)
