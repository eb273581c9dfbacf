"""Requests with a condition, made of forms, of what they depend on and of commands, in four languages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.thinned import thinned

from toolpath.catalog.snapshot import Catalog
from toolpath.model.tool import Tool


class Fact(NamedTuple):
    """What a condition says of a thing, and the `when` that says it. `{x}` stands for the thing."""

    clause: str
    asked: str
    """The same as a question; empty where that would be one that is denied, which is asked about."""
    when: str
    other: str
    """The `when` that says the opposite."""
    last: str = ""
    """The German clause with its verb at the end."""


class Case(NamedTuple):
    """A thing with what is said of it and commanded, in one language."""

    thing: str
    pronoun: str
    named: str
    """The command that names the thing, and what it does."""
    pointed: str
    """The same, pointing to it."""
    other: str
    """Another command, which points to it."""
    tools: tuple[str, str]
    """Tools of the command and of the other one."""
    facts: tuple[Fact, ...]


class Conditional(NamedTuple):
    """A request with a condition, and what each tool that writes has to depend on."""

    text: str
    whens: dict[str, str]


#: `{c}`: the clause; `{q}`: the question; `{v}`: the clause with its verb at the end; `{d}`: the command that names the
#: thing, before which the clause points to it; `{i}`: the command that points to it; `{j}`: the other one.
FORMS: dict[str, tuple[str, ...]] = {
    "en": (
        "if {c}, {i}",
        "If {c}, {i}.",
        "if {c} then {i}",
        "if {c} {i}",
        "{d} if {c}",
        "{d}, but only if {c}",
        "only if {c}, {i}",
        "{d} provided that {c}",
        "{d} as long as {c}",
        "assuming {c}, {i}",
        "in case {c}, {i}",
        "please {d} if {c}",
        "{q}? Then {i}.",
        "{q}? If so, {i}",
        "{q}? If yes {i}",
        "check whether {c}, and if so {i}",
        "see if {c}; if so, {i}",
        "Look at {x}. If {it}, {i}.",
        "check {x}, and if {it}, {i}",
        "check {x} and if {it} {i}",
        "if {c}, {i}, otherwise {j}",
        "if {c} {i}, otherwise {j}",
        "check if {c}; if so {i}, otherwise {j}",
        "{d} if {c}, otherwise {j}",
        "if {c}, {i}, {j} otherwise",
    ),
    "de": (
        "Wenn {v}, {i}",
        "Falls {v}, {i} bitte",
        "{d}, falls {v}",
        "{d}, wenn {v}",
        "{d}, aber nur wenn {v}",
        "Sofern {v}, {i}",
        "{q}? Dann {i}.",
        "{q}? Wenn ja, {i}",
        "{q}, {i}",
        "Schau nach, ob {v}, und wenn ja, {i}",
        "Prüf bitte, ob {v}. Falls ja, {i}.",
        "Wenn {v}, {i}, sonst {j}",
        "{d}, wenn {v}, andernfalls {j}",
    ),
    "fr": (
        "Si {c}, {i}",
        "{d} si {c}",
        "{d} seulement si {c}",
        "vérifie si {c}, et si oui {i}",
        "Si {c}, {i}, sinon {j}",
    ),
    "es": ("Si {c}, {i}", "{d} si {c}", "{d} solo si {c}", "mira si {c} y en ese caso {i}", "Si {c}, {i}, si no, {j}"),
}
#: The same, for what is done where the clause does not hold.
DENYING: dict[str, tuple[str, ...]] = {
    "en": (
        "unless {c}, {i}",
        "{d} unless {c}",
        "{d}, except if {c}",
        "{q}? If not, {i}.",
        "check whether {c}; if not, {i}",
    ),
    "de": ("{d}, es sei denn, {c}", "{d}, außer wenn {v}", "{q}? Falls nicht, {i}"),
    "fr": ("{d} sauf si {c}", "À moins que {c}, {i}"),
    "es": ("{d} a menos que {c}", "{d} salvo que {c}"),
}
CASES: dict[str, tuple[Case, ...]] = {
    "en": (
        Case("AC-21", "it", "delete {x}", "delete it", "archive it", ("delete_account", "archive_account"), (
            Fact("{x} is closed", "Is {x} closed", "get_account.status == 'closed'", "get_account.status != 'closed'"),
            Fact("{x} isn't verified", "", "not get_account.verified", "get_account.verified"),
            Fact("{x} has a balance of less than 5", "Has {x} a balance of less than 5", "get_account.balance < 5",
                 "get_account.balance >= 5"),
        )),
        Case("IV-33", "it", "approve {x}", "approve it", "cancel it", ("approve_invoice", "cancel_invoice"), (
            Fact("{x} is disputed", "Is {x} disputed", "getInvoice.status == 'disputed'",
                 "getInvoice.status != 'disputed'"),
            Fact("{x} is complete", "Is {x} complete", "getInvoice.complete", "not getInvoice.complete"),
            Fact("{x} is over 200 euros", "Is {x} over 200 euros", "getInvoice.amount > 200",
                 "getInvoice.amount <= 200"),
        )),
        Case("LS-7", "it", "publish {x}", "publish it", "cancel it", ("publish_lesson", "cancel_lesson"), (
            Fact("{x} has at least 3 seats left", "Does {x} have at least 3 seats left", "read_lesson.seats >= 3",
                 "read_lesson.seats < 3"),
            Fact("{x} has seats left", "Does {x} have any seats left", "read_lesson.seats > 0",
                 "read_lesson.seats == 0"),
            Fact("{x} is no longer a draft", "Is {x} no longer a draft", "read_lesson.status != 'draft'",
                 "read_lesson.status == 'draft'"),
            Fact("{x} is still a draft", "Is {x} still a draft", "read_lesson.status == 'draft'",
                 "read_lesson.status != 'draft'"),
        )),
    ),
    "de": (
        Case("AC-21", "es", "Lösche {x}", "lösche es", "archiviere es", ("delete_account", "archive_account"), (
            Fact("{x} ist geschlossen", "Ist {x} geschlossen", "get_account.status == 'closed'",
                 "get_account.status != 'closed'", "{x} geschlossen ist"),
        )),
        Case("IV-33", "sie", "Genehmige {x}", "genehmige sie", "storniere sie", ("approve_invoice", "cancel_invoice"), (
            Fact("{x} ist vollständig", "Ist {x} vollständig", "getInvoice.complete", "not getInvoice.complete",
                 "{x} vollständig ist"),
            Fact("{x} liegt über 200 Euro", "Liegt {x} über 200 Euro", "getInvoice.amount > 200",
                 "getInvoice.amount <= 200", "{x} über 200 Euro liegt"),
        )),
        Case("LS-7", "er", "Veröffentliche {x}", "veröffentliche ihn", "storniere ihn",
             ("publish_lesson", "cancel_lesson"), (
            Fact("{x} hat mindestens 3 Plätze", "Hat {x} mindestens 3 Plätze", "read_lesson.seats >= 3",
                 "read_lesson.seats < 3", "{x} mindestens 3 Plätze hat"),
        )),
    ),
    "fr": (
        Case("AC-21", "il", "supprime {x}", "supprime-le", "archive-le", ("delete_account", "archive_account"), (
            Fact("{x} est fermé", "", "get_account.status == 'closed'", "get_account.status != 'closed'"),
        )),
        Case("IV-33", "elle", "approuve {x}", "approuve-la", "annule-la", ("approve_invoice", "cancel_invoice"), (
            Fact("{x} est complète", "", "getInvoice.complete", "not getInvoice.complete"),
            Fact("{x} dépasse 200 euros", "", "getInvoice.amount > 200", "getInvoice.amount <= 200"),
        )),
    ),
    "es": (
        Case("AC-21", "", "borra {x}", "bórrala", "archívala", ("delete_account", "archive_account"), (
            Fact("{x} está cerrada", "", "get_account.status == 'closed'", "get_account.status != 'closed'"),
        )),
        Case("IV-33", "", "aprueba {x}", "apruébala", "cancélala", ("approve_invoice", "cancel_invoice"), (
            Fact("{x} está completa", "", "getInvoice.complete", "not getInvoice.complete"),
            Fact("{x} supera los 200 euros", "", "getInvoice.amount > 200", "getInvoice.amount <= 200"),
        )),
    ),
}  # fmt: skip
#: What no tool tells: the clause, as a question, and with its verb at the end.
UNTOLD: dict[str, tuple[tuple[str, str, str], ...]] = {
    "en": (
        ("Ann agrees", "Does Ann agree", ""),
        ("it is raining", "Is it raining", ""),
        ("{x} was closed last week", "Was {x} closed last week", ""),
        ("{x} is nearly complete", "Is {x} nearly complete", ""),
        ("{x} is complete and Ann agrees", "Is {x} complete and does Ann agree", ""),
        ("{x} is closed by Ann", "Is {x} closed by Ann", ""),
        ("{x} is closed or complete", "Is {x} closed or complete", ""),
        ("{x} has been closed twice", "Has {x} been closed twice", ""),
        ("all the seats of {x} are there", "Are all the seats of {x} there", ""),
        ("{x} has enough seats", "Has {x} enough seats", ""),
        ("{x} has more seats than LS-8", "Has {x} more seats than LS-8", ""),
        ("the manager of {x} is away", "Is the manager of {x} away", ""),
        ("{x} is worth over 200 dollars to us", "Is {x} worth over 200 dollars to us", ""),
    ),
    "de": (
        ("Anna stimmt zu", "Stimmt Anna zu", "Anna zustimmt"),
        ("{x} ist fast vollständig", "Ist {x} fast vollständig", "{x} fast vollständig ist"),
        ("{x} war gestern geschlossen", "War {x} gestern geschlossen", "{x} gestern geschlossen war"),
        ("es regnet", "Regnet es", "es regnet"),
    ),
    "fr": (("Anne est d'accord", "", ""), ("{x} est presque complète", "", ""), ("il pleut", "", "")),
    "es": (("Ana está de acuerdo", "", ""), ("{x} está casi completa", "", ""), ("llueve", "", "")),
}


#: Of so many requests one is tried, where there are hundreds.
_SHARE = {"en": 3}


def conditionals(language: str) -> Iterator[Conditional]:
    """Every form, and all that is said of every thing: each with each, or with a share."""
    said = [(case, fact) for case in CASES[language] for fact in case.facts]
    for (case, fact), form in thinned(said, FORMS[language], share=_SHARE.get(language, 1)):
        if "{q}" not in form or fact.asked:
            yield Conditional(_said(form, case, fact), _whens(form, case, fact.when, fact.other))
    for (case, fact), form in thinned(said, DENYING[language], share=_SHARE.get(language, 1)):
        if "{q}" not in form or fact.asked:
            yield Conditional(_said(form, case, fact), _whens(form, case, fact.other, fact.when))


def unreadable(language: str) -> Iterator[str]:
    """Every form and all that no tool tells, of one thing after the other: each with each, or with a share."""
    cases = CASES[language]
    forms = (*FORMS[language], *DENYING[language])
    for (at, (clause, asked, last)), form in thinned(
        [*enumerate(UNTOLD[language])], forms, share=_SHARE.get(language, 1)
    ):
        if "{q}" not in form or asked:
            yield _said(form, cases[at % len(cases)], Fact(clause, asked, "", "", last))


def _whens(form: str, case: Case, when: str, other: str) -> dict[str, str]:
    found = {case.tools[0]: "{{ " + when + " }}"}
    return found | {case.tools[1]: "{{ " + other + " }}"} if "{j}" in form else found


def _said(form: str, case: Case, fact: Fact) -> str:
    of = case.pronoun if "{d}" in form else case.thing
    text = form.format(
        c=fact.clause.format(x=of).strip(),
        q=fact.asked.format(x=of),
        v=fact.last.format(x=of),
        it=fact.clause.format(x=case.pronoun),
        d=case.named.format(x=case.thing),
        i=case.pointed,
        j=case.other,
        x=case.thing,
    )
    return text.replace("si il ", "s'il ").replace("que il ", "qu'il ").replace("que elle ", "qu'elle ")


def _reading(name: str, parameter: str, example: str, description: str, output: dict[str, Any]) -> Tool:
    return Tool(
        name=name,
        description=description,
        effect="read",
        input_schema={
            "type": "object",
            "properties": {parameter: {"type": "string", "description": f"For example {example}"}},
            "required": [parameter],
        },
        output_schema={"type": "object", "properties": output},
    )


def _writing(name: str, parameter: str, example: str, description: str) -> Tool:
    return Tool(
        name=name,
        description=description,
        effect="write",
        input_schema={
            "type": "object",
            "properties": {parameter: {"type": "string", "description": f"For example {example}"}},
            "required": [parameter],
        },
    )


def _states(*states: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(states)}


_SWITCH: dict[str, Any] = {"type": "boolean"}
_TOOLS = (
    _reading(
        "get_account",
        "account_id",
        "AC-1",
        "Show an account.",
        {"status": _states("active", "closed", "frozen"), "balance": {"type": "number"}, "verified": _SWITCH},
    ),
    _writing("delete_account", "account_id", "AC-1", "Delete an account."),
    _writing("archive_account", "account_id", "AC-1", "Archive an account."),
    _reading(
        "getInvoice",
        "invoice_id",
        "IV-1",
        "Returns an invoice.",
        {
            "status": _states("open", "paid", "disputed"),
            "amount": {"type": "number", "description": "In EUR"},
            "complete": _SWITCH,
        },
    ),
    _writing("approve_invoice", "invoice_id", "IV-1", "Approve an invoice."),
    _writing("cancel_invoice", "invoice_id", "IV-1", "Cancel an invoice."),
    _reading(
        "read_lesson",
        "lesson_id",
        "LS-1",
        "A lesson with its seats.",
        {"status": _states("draft", "ready", "full"), "seats": {"type": "integer", "description": "Seats left"}},
    ),
    _writing("publish_lesson", "lesson_id", "LS-1", "Publish a lesson."),
    _writing("cancel_lesson", "lesson_id", "LS-1", "Cancel a lesson."),
)
TOOLS = Catalog({tool.key: tool for tool in _TOOLS})
