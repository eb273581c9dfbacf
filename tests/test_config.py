from __future__ import annotations

from pathlib import Path

import pytest

from toolpath.config import Settings, load_settings, read_settings
from toolpath.errors import ConfigError


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_file_and_variables_the_defaults_hold() -> None:
    assert load_settings(env={}) == Settings()


def test_the_planning_engines_names_are_honoured_with_its_milliseconds() -> None:
    settings = load_settings(
        env={
            "TOOL_DEFAULT_TIMEOUT": "2500",
            "TOOL_MAX_RETRIES": "1",
            "TOOL_RETRY_BACKOFF": "fixed",
            "TOOL_PARALLEL_LIMIT": "9",
            "TOOL_RESULT_CACHE_ENABLED": "false",
            "TOOL_RESULT_CACHE_TTL": "60",
        }
    )
    assert settings.default_timeout == 2.5
    assert (settings.max_retries, settings.retry_backoff, settings.parallel_limit) == (1, "fixed", 9)
    assert (settings.cache_enabled, settings.cache_ttl) == (False, 60)


def test_flags_win_over_environment_and_environment_over_file(empty_folder: Path) -> None:
    (empty_folder / "toolpath.toml").write_text("parallel_limit = 2\nmax_retries = 2\nmax_threads = 2\n")
    read = read_settings(env={"TOOLPATH_PARALLEL_LIMIT": "3", "TOOLPATH_MAX_RETRIES": "3"}, parallel_limit=4)
    assert (read.settings.parallel_limit, read.settings.max_retries, read.settings.max_threads) == (4, 3, 2)
    assert read.sources == {
        "parallel_limit": "--parallel-limit",
        "max_retries": "TOOLPATH_MAX_RETRIES",
        "max_threads": "toolpath.toml",
    }


def test_paths_in_a_file_are_relative_to_it_but_modules_and_addresses_are_not(empty_folder: Path) -> None:
    folder = empty_folder / "project"
    folder.mkdir()
    file = folder / "toolpath.toml"
    file.write_text('store = "runs.db"\ntools = ["my_tools", "more.py"]\nfolders = ["flows"]\nmcp = ["mcp.json"]\n')
    settings = load_settings(file, env={})
    assert settings.store == str(folder / "runs.db")
    assert settings.tools == ("my_tools", str(folder / "more.py"))
    assert settings.folders == (str(folder / "flows"),)
    assert settings.mcp == (str(folder / "mcp.json"),)
    file.write_text('store = "postgresql://host/db"\n')
    assert load_settings(file, env={}).store == "postgresql://host/db"


def test_the_variable_toolpath_config_names_the_file(empty_folder: Path) -> None:
    (empty_folder / "other.toml").write_text("cache_enabled = false\n")
    assert load_settings(env={"TOOLPATH_CONFIG": "other.toml"}).cache_enabled is False


@pytest.mark.parametrize(
    ("env", "name", "source"),
    [
        ({"TOOLPATH_PARALLEL_LIMIT": "0"}, "parallel_limit", "TOOLPATH_PARALLEL_LIMIT"),
        ({"TOOLPATH_DEFAULT_TIMEOUT": "nan"}, "default_timeout", "TOOLPATH_DEFAULT_TIMEOUT"),
        ({"TOOLPATH_DEFAULT_TIMEOUT": "inf"}, "default_timeout", "TOOLPATH_DEFAULT_TIMEOUT"),
        ({"TOOL_RETRY_BACKOFF": "sometimes"}, "retry_backoff", "TOOL_RETRY_BACKOFF"),
        ({"TOOL_DEFAULT_TIMEOUT": "soon"}, "milliseconds", "TOOL_DEFAULT_TIMEOUT"),
        ({"TOOLPATH_HTTP_ALLOW": "10.0.0.0/99"}, "http_allow", "TOOLPATH_HTTP_ALLOW"),
        ({"TOOLPATH_HTTP_ALLOW": "http://localhost"}, "http_allow", "TOOLPATH_HTTP_ALLOW"),
        ({"TOOLPATH_HTTP_ALLOW": "localhost:8080"}, "http_allow", "TOOLPATH_HTTP_ALLOW"),
        ({"TOOLPATH_HTTP_ALLOW": "localhost, 10.0.0.256"}, "http_allow", "TOOLPATH_HTTP_ALLOW"),
        ({"TOOL_RESULT_CACHE_ENABLED": "perhaps"}, "cache_enabled", "TOOL_RESULT_CACHE_ENABLED"),
    ],
)
def test_a_value_that_cannot_be_used_names_the_setting_and_its_source(
    env: dict[str, str], name: str, source: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load_settings(env=env)
    assert name in str(caught.value)
    assert source in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "*.example.org,10.0.0.0/8,[::1]",
        ' ["*.example.org", "10.0.0.0/8", "[::1]"] ',
        "*.example.org, 10.0.0.0/8 , [::1]",
    ],
)
def test_a_variable_lists_with_commas_or_as_json(text: str) -> None:
    assert load_settings(env={"TOOLPATH_HTTP_ALLOW": text}).http_allow == ("*.example.org", "10.0.0.0/8", "[::1]")
    assert load_settings(env={"TOOLPATH_HTTP_ALLOW": "[::1]"}).http_allow == ("[::1]",)


def test_an_unknown_key_of_the_file_is_refused_with_what_may_be_meant(empty_folder: Path) -> None:
    (empty_folder / "toolpath.toml").write_text("paralel_limit = 2\n")
    with pytest.raises(ConfigError, match=r"toolpath\.toml.*Did you mean 'parallel_limit'"):
        load_settings(env={})


def test_a_file_that_is_named_must_be_there_and_be_toml(empty_folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"missing\.toml cannot be read"):
        load_settings("missing.toml", env={})
    (empty_folder / "broken.toml").write_bytes(b"a = \xff")
    with pytest.raises(ConfigError, match=r"broken\.toml is no TOML"):
        load_settings("broken.toml", env={})


def test_a_variable_that_only_looks_like_ours_is_listed() -> None:
    assert read_settings(env={"TOOLPATH_PARALEL_LIMIT": "3"}).unknown == ("TOOLPATH_PARALEL_LIMIT",)
