"""`python -m fedtheory` is the command `fedtheory`."""

import sys

from fedtheory.app.cli import main

if __name__ == "__main__":
    sys.exit(main())
