"""Released frameworks, each pinned in an environment of its own, tested with `conform` and `laws`.

    python -m tests.frameworks                 what there is
    python -m tests.frameworks NAME            makes the environment, once, and asks

A file here is one framework. PINS lists the packages to install, and CASES holds adapters around
the framework's own classes, unchanged. Where a class leaves a part to its users (Flower's clients
train as they like), the adapter does that part as the paper says, and its docstring names the part.
"""
