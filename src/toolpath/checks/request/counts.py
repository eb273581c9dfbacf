"""Small numbers as words of four languages say them. Pure."""

from __future__ import annotations

from typing import Final

COUNTS: Final = {
    word: number
    for number, words in enumerate(
        (
            "two zwei deux dos",
            "three drei trois tres",
            "four vier quatre cuatro",
            "five funf cinq cinco",
            "six sechs seis",
            "seven sieben sept siete",
            "eight acht huit ocho",
            "nine neun neuf nueve",
            "ten zehn dix diez",
            "eleven elf onze once_",
            "twelve zwolf douze doce",
        ),
        2,
    )
    for word in words.split()
}
"""Numbers from 2 to 12, as words of four languages say them."""


def number_words(number: int) -> set[str]:
    """Words for a number from two to twelve."""
    return {word for word, one in COUNTS.items() if one == number}
