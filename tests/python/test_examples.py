"""The examples that need nothing but nd4c."""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(os.environ.get("ND4C_TEST_SOURCE_DIR", pathlib.Path(__file__).parents[2]))


def run(*arguments):
    return subprocess.run([sys.executable, str(ROOT / "examples" / "python" / "digits.py"), *arguments],
                          capture_output=True, text=True, timeout=300)


def test_digits():
    done = run()
    assert done.returncode == 0, done.stderr
    assert "accuracy: 99.4 % of 360\n" in done.stdout and "device: cpu:0\n" in done.stdout
    assert re.search(r"^time: \d+\.\d+ us an image", done.stdout, re.M) and "##" in done.stdout
    assert done.stdout.count("read as") == 6 and done.stdout.count("!") == 2


def test_digits_elsewhere(tmp_path):
    done = run(str(tmp_path))
    assert done.returncode != 0 and "No such file" in done.stderr and "digits.onnx" in done.stderr
