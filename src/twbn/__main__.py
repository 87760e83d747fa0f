"""The `twbn` command."""

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
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
