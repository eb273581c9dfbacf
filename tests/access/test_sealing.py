"""Sealing of secrets that the store keeps."""

from __future__ import annotations

import base64
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolpath import Toolpath
from toolpath.access.sealing import KEY_VARIABLE, Sealer, new_key
from toolpath.config import Settings
from toolpath.errors import ConfigError, SealBroken
from toolpath.runs.opening import sealer_of

PLACE = "model/openai"


@given(st.text(), st.text())
def test_what_was_sealed_is_opened_at_its_place_alone(text: str, place: str) -> None:
    sealer = Sealer(is_lasting=False, env={})
    sealed = sealer.seal(text, place)
    assert sealer.unseal(sealed, place) == text
    with pytest.raises(SealBroken):
        sealer.unseal(sealed, place + "x")


def test_the_file_is_made_once_for_its_owner_and_opens_in_another_process(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "runs.db.key"
    with ThreadPoolExecutor(8) as threads:
        sealed = list(threads.map(lambda n: Sealer(file, env={}).seal(f"secret {n}", PLACE), range(32)))
    assert [Sealer(file, env={}).unseal(one, PLACE) for one in sealed] == [f"secret {n}" for n in range(32)]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_keys_of_the_environment_win_and_the_first_seals() -> None:
    old, new = new_key(), base64.b64encode(bytes(range(200, 232))).decode()
    kept = Sealer(env={KEY_VARIABLE: old}).seal("hunter2", PLACE)
    both = Sealer(env={KEY_VARIABLE: f"{new}, {old}"})
    assert both.unseal(kept, PLACE) == "hunter2"
    alone = Sealer(env={KEY_VARIABLE: new})
    assert alone.unseal(both.seal("hunter2", PLACE), PLACE) == "hunter2"
    with pytest.raises(SealBroken, match="another key"):
        alone.unseal(kept, PLACE)


@pytest.mark.parametrize("text", ["short", "é" * 40, "*" * 44, base64.b64encode(bytes(31)).decode(), ","])
def test_what_is_no_key_is_refused_without_being_shown(text: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Sealer(env={KEY_VARIABLE: text}).seal("x", PLACE)
    assert text == "," or text not in str(refused.value)


@pytest.mark.parametrize("sealed", ["", "x", "gAAAAA", "é", "\ud800"])
def test_what_was_never_sealed_is_told_as_broken(sealed: str) -> None:
    with pytest.raises(SealBroken):
        Sealer(is_lasting=False, env={}).unseal(sealed, PLACE)


def test_a_lost_file_is_told_and_no_new_key_takes_its_place(tmp_path: Path) -> None:
    file = tmp_path / "runs.db.key"
    sealed = Sealer(file, env={}).seal("hunter2", PLACE)
    file.unlink()
    with pytest.raises(SealBroken, match="is gone"):
        Sealer(file, env={}).unseal(sealed, PLACE)
    assert not file.exists()


def test_each_store_says_where_its_key_is(tmp_path: Path) -> None:
    sealer_of(Toolpath(tmp_path / "runs.db").store, Settings()).seal("x", PLACE)
    assert (tmp_path / "runs.db.key").is_file()
    named = Settings(sealing_key_file=str(tmp_path / "named.key"))
    sealer_of(Toolpath(tmp_path / "runs.db").store, named).seal("x", PLACE)
    assert (tmp_path / "named.key").is_file()
    sealer_of(Toolpath().store, Settings()).seal("x", PLACE)


def test_a_store_that_outlives_the_process_and_has_no_file_needs_a_key() -> None:
    with pytest.raises(ConfigError, match="no key"):
        Sealer(env={}).seal("x", PLACE)


def test_no_plan_reads_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, new_key())
    assert new_key() not in Toolpath(settings=Settings()).secrets.values()
    assert not list(Toolpath(settings=Settings()).secrets)
