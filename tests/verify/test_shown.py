"""Showing the page: a desktop's browser is asked for, a terminal's is not."""

import webbrowser

import pytest

from fedtheory.verify import build_package


@pytest.mark.parametrize(
    "desktop, works, said",
    [(True, True, "is opened"), (True, False, "yourself"), (False, True, "yourself")],
)
def test_the_page_is_shown_where_there_is_a_desktop(tmp_path, monkeypatch, desktop, works, said):
    asked = []
    monkeypatch.setattr(build_package.sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    if desktop:
        monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(webbrowser, "open", lambda address: asked.append(address) or works)
    assert said in build_package.open_page(tmp_path / "index.html")
    assert asked == ([(tmp_path / "index.html").as_uri()] if desktop else [])
