"""`python -m toolpath` is `toolpath`."""

from toolpath.cli.main import main

if __name__ == "__main__":
    main()
