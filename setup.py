"""The packages of a wheel: those of fedtheory/, and the folders beside it as packages within it."""

from setuptools import find_packages, setup

BESIDE = ("figures", "verify")  # fedtheory/folders_beside.py finds them in a clone

setup(
    packages=[
        *find_packages(include=["fedtheory", "fedtheory.*"]),
        *(
            f"fedtheory.{name}"
            for name in find_packages(include=[*BESIDE, *(f"{name}.*" for name in BESIDE)])
        ),
    ],
    package_dir={f"fedtheory.{name}": name for name in BESIDE},
)
