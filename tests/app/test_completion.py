"""Completion for shells: what they are given is what the parsers take; shells at hand read it."""

import shutil
import subprocess

import pytest

from fedtheory.app import completion
from fedtheory.errors import InvalidInput


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_every_command_and_option_is_there(shell):
    text = completion.completion_script(shell)
    for name, parser in completion.command_parsers().items():
        assert name in text
        for option, _, _ in completion.parser_options(parser):
            assert (f"-l {option[2:]} " if shell == "fish" else option) in text, (name, option)


def test_another_shell_is_refused():
    with pytest.raises(InvalidInput, match="SHELL must be one of bash, zsh, fish; got 'dos'"):
        completion.completion_script("dos")


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_a_shell_that_is_at_hand_reads_it(shell, tmp_path):
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell}")
    (tmp_path / "script").write_text(completion.completion_script(shell))
    done = subprocess.run([shell, "-n", "script"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
@pytest.mark.parametrize(
    "words, expected",
    [
        ("fedtheory ch", "check"),
        ("fedtheory check --bu", "--budget"),
        ("fedtheory list pa", "papers"),
    ],
)
def test_bash_completes(words, expected, tmp_path):
    (tmp_path / "script").write_text(completion.completion_script("bash"))
    asked = (
        f"source ./script; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); "
        '_fedtheory; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", asked], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.split() == [expected], done.stderr


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_bash_asks_the_command_line_for_ids(tmp_path):
    """Here a command of that name answers as `list claims --json` does."""
    (tmp_path / "script").write_text(completion.completion_script("bash"))
    ids = '{\n  "fsl.theorem1": {\n    "kind": "exact"\n  },\n  "lamb.lemma1": {\n  }\n}'
    asked = (
        f"fedtheory() {{ echo '{ids}'; }}; source ./script; COMP_WORDS=(fedtheory check lamb.); "
        'COMP_CWORD=2; _fedtheory; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", asked], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.split() == ["lamb.lemma1"], done.stderr
