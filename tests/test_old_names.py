"""Modules that have another name now are found under their old one, as the same object."""

import importlib
import sys

import pytest

from fedtheory import old_names


@pytest.mark.parametrize("old, new", old_names.NEW.items())
def test_an_old_name_is_the_module_of_the_new_one(old, new):
    assert importlib.import_module(old) is importlib.import_module(new)
    assert sys.modules[new].__name__ == new


def test_what_users_import_by_old_names():
    from fedtheory import models, user_quantities
    from fedtheory.arithmetic import operations
    from fedtheory.enclosure.arithmetic import maximum
    from fedtheory.own import weighted_mean
    from fedtheory.settings import Setting
    from fedtheory.settings.losses import loss_gradient

    assert (maximum, weighted_mean) == (operations.maximum, user_quantities.weighted_mean)
    assert Setting is models.Setting and callable(loss_gradient)


def test_no_other_name_is_found():
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("fedtheory.settings_of_mine")
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("fedtheory.settings.absent")
