"""The `twbn` command."""

import signal
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line, or name the package it lacks."""
    try:
        from twbn.cli import run
    except ModuleNotFoundError as error:
        if error.name not in {"typer", "rich"}:
            raise
        sys.exit(f"the command line needs {error.name}: pip install typer rich")
    except KeyboardInterrupt:
        sys.exit("error: interrupted")
    code: int | str = "error: interrupted"
    try:
        code = run(sys.argv[1:])
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # what was asked for is done
    except KeyboardInterrupt:
        pass  # before the command had begun, or after it had ended
    sys.exit(code)


if __name__ == "__main__":
    main()
