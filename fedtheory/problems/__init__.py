"""One objective per file; `MAKERS` of each file are the functions users call."""


def __getattr__(name):
    from fedtheory import discover
    makers = discover.problem_makers()
    if name not in makers:
        raise AttributeError(f"no problem {name}; there are {', '.join(makers)}")
    return makers[name]


def __dir__():
    from fedtheory import discover
    return sorted(discover.problem_makers())
