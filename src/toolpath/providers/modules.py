"""Python modules that hold tools: found by name or loaded from a file, and found again by another process.

A file is kept under a name of its own, so that two files of one name, or one named like a module of Python, get along.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.util
import os
import sys
import traceback
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from toolpath.errors import ConfigError, ToolpathError

#: What the names of modules that were loaded from files begin with.
_FROM_FILE = "toolpath_file_"


def load_module(module: str) -> ModuleType:
    """The module of a dotted name or of a `.py` file. A file that has not changed is run once in a process.

    What a file imports is looked for beside it too. Raises `ConfigError` with file and line, whatever the module does.
    """
    path = Path(module)
    try:
        return _from_file(path) if is_file(module) else _by_name(module)
    except ToolpathError:
        raise
    except (Exception, SystemExit) as error:
        raise ConfigError(_told(module, error), hint=_hint(module, error)) from error


def is_file(module: str) -> bool:
    """Whether it means a file, not a dotted name."""
    return module.endswith(".py") or os.sep in module or Path(module).is_file()


def reference_to(function: Any) -> str:
    """`module:name` or `file.py:name`, by which `find_function` finds it in another process; empty where it cannot."""
    name = getattr(function, "__qualname__", "")
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    try:
        if module is None or not name or _at(module, name) is not function:
            return ""
    except AttributeError:
        return ""
    if module.__name__ == "__main__" or module.__name__.startswith(_FROM_FILE):
        file = getattr(module, "__file__", None)
        return f"{Path(file).resolve()}:{name}" if file else ""
    return f"{module.__name__}:{name}"


def find_function(reference: str) -> Any:
    """The function that `reference_to` made the reference of. Raises `ConfigError` when it is not there any more."""
    module, _, name = reference.rpartition(":")
    try:
        return _at(load_module(module), name)
    except AttributeError:
        raise ConfigError(f"{module} has no {name} any more.", hint="Start again with the module as it is.") from None


def _at(start: Any, name: str) -> Any:
    return functools.reduce(getattr, name.split("."), start)


def _from_file(path: Path) -> ModuleType:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror or error}.", hint="Give a module's name or a .py file."
        ) from None
    path = path.resolve()
    identity = hashlib.sha256(os.fsencode(path) + b"\0" + content).hexdigest()[:16]
    name = f"{_FROM_FILE}{path.stem}_{identity}"
    if (known := sys.modules.get(name)) is not None:
        return known
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or not isinstance(spec.loader, SourceFileLoader):
        raise ConfigError(f"{path} is no Python file.", hint="Give a module's name or a .py file.")
    loaded = importlib.util.module_from_spec(spec)
    _keep_reachable(str(path.parent))
    # Before it runs: classes look for their own module there.
    sys.modules[name] = loaded
    try:
        # What was read, not what Python keeps compiled: that is taken for a file of the same second and length too.
        exec(spec.loader.source_to_code(content, str(path)), loaded.__dict__)  # noqa: S102  # it is the person's module
    except BaseException:
        del sys.modules[name]
        raise
    return loaded


def _by_name(name: str) -> ModuleType:
    here = os.getcwd()
    # A person who names a module means the one that lies here.
    sys.path.insert(0, here)
    try:
        importlib.invalidate_caches()
        return importlib.import_module(name)
    finally:
        sys.path.remove(here)
        _keep_reachable(here)


def _keep_reachable(folder: str) -> None:
    # For good, since functions may import when they are called; at the end, so that it hides nothing.
    if folder not in sys.path:
        sys.path.append(folder)


def _told(module: str, error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name and (module + ".").startswith(f"{error.name}."):
        return f"There is no module {module}."
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}: {error.msg}."
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_ours(frame.filename)]
    where = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else module
    return f"{where}: {module} cannot be loaded: {type(error).__name__}: {error}"


def _hint(module: str, error: BaseException) -> str:
    match error:
        case ModuleNotFoundError() if not is_file(module) and Path(f"{module.replace('.', os.sep)}.py").is_file():
            return f"For the file, say {module.replace('.', os.sep)}.py."
        case ModuleNotFoundError():
            return "Install what is missing, or name a .py file."
        case SystemExit():
            return 'A module of tools must not end the program; put that under `if __name__ == "__main__":`.'
        case _:
            return ""


def _is_ours(filename: str) -> bool:
    return filename == __file__ or filename.startswith("<frozen importlib")
