"""python -m nd4c info: shows what the library found on this machine."""
import sys

USAGE = """usage: python -m nd4c info [--probe]    the library, the machine, backends, engines and devices; --probe opens all
       python -m nd4c config            every setting and where its value comes from"""

SELFTEST = """selftest is a command of the program nd4c, which is built with the library and is not in the wheel
(nd4c selftest --backend opencl --report FILE); python -m nd4c info --probe opens every backend and lets each engine check
itself"""


def main(arguments):
    import nd4c
    if arguments in (["info"], ["info", "--probe"], []):
        print(nd4c.info(probe="--probe" in arguments))
    elif arguments == ["config"]:
        print(nd4c.config)
    elif arguments[:1] == ["selftest"]:
        print(SELFTEST, file=sys.stderr)
        return 2
    elif arguments in (["-h"], ["--help"]):
        print(USAGE)
    else:
        print(USAGE, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
