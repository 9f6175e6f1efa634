"""The entry point of `python -m fedtheory`, which is the command `fedtheory`."""

import sys

from fedtheory.app.cli import main

if __name__ == "__main__":
    sys.exit(main())
