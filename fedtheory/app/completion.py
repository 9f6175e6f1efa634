"""Shell completion, generated from the parsers: commands, options, choices and claim ids. The
generated script calls the command line to list the ids."""

import argparse
import importlib
from typing import Any

from fedtheory.app import argument_parser
from fedtheory.errors import refuse

SHELLS = ("bash", "zsh", "fish")
NAMES = dict(  # metavariables whose values a list command prints
    ID="claims", PREFIX="claims", METHOD="algorithms", PAPER="papers"
)


def command_parsers() -> dict[str, argument_parser.Parser]:
    """Return a dict from each command to its parser, including the commands of the packages that
    `argument_parser.ABOVE` names."""
    found = dict(argument_parser.command_parsers(argument_parser.build_parser()))
    for name in argument_parser.ABOVE:
        above = importlib.import_module(f"fedtheory.{name}.__main__")
        found[name] = above.build_parser(f"fedtheory {name}")
    return found


def parser_options(parser: argument_parser.Parser) -> list[tuple[str, str, bool]]:
    """Return (option, help, whether a value follows) for each option of a parser."""
    return [
        (name, (action.help or "").replace("%%", "%"), action.nargs != 0)
        for action in parser._actions
        if action.help != argparse.SUPPRESS
        for name in action.option_strings
        if name.startswith("--")
    ]


def argument_words(parser: argument_parser.Parser) -> tuple[list[str], list[str]]:
    """Return the words that may stand as positional arguments: choices, and lists that name such
    words."""
    choices, lists = [], []
    for action in parser._actions:
        if not action.option_strings:
            choices += map(str, action.choices or ())
            meta = str(action.metavar or "").split("|")
            lists += [NAMES[each] for each in meta if each in NAMES]
    return choices, list(dict.fromkeys(lists))


def completion_script(shell: str) -> str:
    """Return the completion script of a shell.

    >>> from fedtheory.app.completion import completion_script
    >>> completion_script("fish").splitlines()[1]
    'complete -c fedtheory -f'

    `shell` is "bash", "zsh" or "fish"; any other text raises InvalidInput.
    """
    if shell not in SHELLS:
        refuse("SHELL", f"must be one of {', '.join(SHELLS)}", shell)
    return dict(bash=bash_script, zsh=zsh_script, fish=fish_script)[shell]()


LISTED = 'fedtheory list {} --json 2>/dev/null | sed -n \'s/^  "\\([^"]*\\)": {{.*/\\1/p\''


def bash_script() -> str:
    """Return a bash function that completes the options and words of the current command, and file
    names elsewhere.

    Ids are listed by the command itself when a reader presses the key, so that new claims need no new script.
    """
    found = command_parsers()
    lines = [
        "# fedtheory completion bash: source <(fedtheory completion bash)",
        "_fedtheory() {",
        '    local word="${COMP_WORDS[COMP_CWORD]}" command="${COMP_WORDS[1]}" options="" words=""',
        '    if [ "$COMP_CWORD" -eq 1 ]; then',
        f'        COMPREPLY=($(compgen -W "{" ".join(found)} --help --version" -- "$word"))',
        "        return",
        "    fi",
        '    case "$command" in',
    ]
    for name, parser in found.items():
        choices, lists = argument_words(parser)
        listed = "".join(f" $({LISTED.format(each)})" for each in lists)
        lines.append(f"        {name})")
        lines.append(f'            options="{" ".join(o for o, _, _ in parser_options(parser))}"')
        lines.append('            case "$word" in -*) ;; *)')
        lines.append(f'                words="{" ".join(choices)}{listed}" ;; esac ;;')
    lines += [
        "    esac",
        '    case "$word" in',
        '        -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;',
        '        *) COMPREPLY=($(compgen -W "$words" -- "$word") $(compgen -f -- "$word")) ;;',
        "    esac",
        "}",
        "complete -o filenames -F _fedtheory fedtheory",
    ]
    return "\n".join(lines)


def zsh_script() -> str:
    """Return the completion script for zsh, with a description of each option."""
    quoted = lambda text: (
        text.replace("'", "").replace("[", "(").replace("]", ")").replace(":", " -")
    )
    lines = [
        "#compdef fedtheory",
        "# fedtheory completion zsh: source <(fedtheory completion zsh)",
        "_fedtheory() {",
        "    if (( CURRENT == 2 )); then",
        "        local -a commands=(",
    ]
    found = command_parsers()
    helps = {a.dest: a.help for a in _describe_commands()}
    lines += [f"            '{name}:{quoted(helps.get(name) or '')}'" for name in found]
    lines += ["        )", "        _describe command commands", "        return", "    fi"]
    lines.append('    case "$words[2]" in')
    for name, parser in found.items():
        choices, lists = argument_words(parser)
        specs = [
            f"'{option}[{quoted(help)}]{':value:_files' * value}'"
            for option, help, value in parser_options(parser)
        ]
        listed = " ".join(f"$({LISTED.format(each)})" for each in lists)
        lines.append(f"        {name})")
        lines.append(f"            local -a known=({' '.join(choices)} {listed})")
        lines.append(
            f"            _arguments -S {' '.join(specs)} '*:name:{{compadd -a known; _files}}' ;;"
        )
    lines += ["    esac", "}", "compdef _fedtheory fedtheory"]
    return "\n".join(lines)


def _describe_commands() -> list[Any]:
    """Return the commands with their help, as the parser of `fedtheory` lists them."""
    whole = argument_parser.build_parser()
    action = next(a for a in whole._actions if isinstance(a, argparse._SubParsersAction))
    return action._choices_actions


def fish_script() -> str:
    """Return the completion script for fish, with one line for each command, option and list of
    words."""
    quoted = lambda text: "'" + text.replace("\\", "").replace("'", "") + "'"
    lines = [
        "# fedtheory completion fish: fedtheory completion fish | source",
        "complete -c fedtheory -f",
    ]
    found, helps = command_parsers(), {a.dest: a.help for a in _describe_commands()}
    for name in found:
        told = quoted(helps.get(name) or "")
        lines.append(f"complete -c fedtheory -n __fish_use_subcommand -a {name} -d {told}")
    for name, parser in found.items():
        choices, lists = argument_words(parser)
        here = f"complete -c fedtheory -n '__fish_seen_subcommand_from {name}'"
        lines += [f"{here} -F"] + [f"{here} -a '{' '.join(choices)}'"] * bool(choices)
        lines += [f"{here} -a '({_escape_word(LISTED.format(each))})'" for each in lists]
        lines += [
            f"{here} -l {option[2:]} -d {quoted(help)}{' -r' * value}"
            for option, help, value in parser_options(parser)
        ]
    return "\n".join(lines)


def _escape_word(text: str) -> str:
    """Return text with backslashes and single quotes escaped, for a quoted word of fish."""
    return text.replace("\\", "\\\\").replace("'", "\\'")
