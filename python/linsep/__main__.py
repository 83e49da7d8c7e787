"""The program ``linsep``: ``python -m linsep`` and the script of the package."""

import sys


def main():
    """Runs the program with the arguments of the process."""
    from linsep._linsep import run_program

    sys.exit(run_program(["linsep", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
