"""Requests with the calls that they mean, and ways to narrow, put off, take back or only mention what they command."""

from __future__ import annotations

from typing import Any

from tests.checks.commanded import tool

from toolpath.catalog.snapshot import Catalog

SETS = {
    "desk": (
        tool("desk.open_ticket", "Open a support ticket.", title="string"),
        tool("desk.assign_ticket", "Assign a ticket to an agent.", ticket_id="string", agent="string"),
        tool("desk.close_ticket", "Close a ticket.", ticket_id="string"),
        tool("desk.add_comment", "Add a comment to a ticket.", ticket_id="string", text="string"),
        tool("desk.get_ticket", "Get a ticket by its id.", "read", ticket_id="string"),
    ),
    "billing": (
        tool("billing.create_invoice", "Create an invoice for a customer.", customer="string", amount="number"),
        tool("billing.send_invoice", "Send an invoice to an address.", invoice_id="string", email="string"),
        tool("billing.void_invoice", "Void an invoice.", "destructive", invoice_id="string"),
    ),
    "mail": (
        tool("mail.send_email", "Send an email.", to="string", body="string"),
        tool("mail.delete_message", "Delete a message.", "destructive", message_id="string"),
        tool("weather.get_weather", "Get the weather of a city.", "read", city="string"),
    ),
    "home": (
        tool("home.set_thermostat", "Set the temperature of a room.", room="string", temperature="number"),
        tool("home.lock_door", "Lock a door.", door="string"),
    ),
    "files": (
        tool("fs.copy_file", "Copy a file.", source="string", target="string"),
        tool("fs.delete_file", "Delete a file.", "destructive", path="string"),
        tool("fs.write_file", "Write text to a file.", path="string", text="string"),
    ),
    "ops": (
        tool("ops.deploy", "Deploy a version of a service.", service="string", version="string"),
        tool("ops.restart_service", "Restart a service.", service="string"),
        tool("ops.run_script", "Run a script.", script="string"),
    ),
    "money": (
        tool(
            "fx.convert",
            "Convert an amount of money from one currency into another.",
            "read",
            amount="number",
            from_currency="string",
            to_currency="string",
        ),
        tool("fx.transfer", "Transfer money to an account.", amount="number", currency="string", account="string"),
    ),
    "calendar": (
        tool("cal.create_event", "Create an event.", title="string", start="string"),
        tool("cal.delete_event", "Delete an event.", "destructive", event_id="string"),
        tool("cal.invite", "Invite somebody to an event.", event_id="string", email="string"),
    ),
    "shop": (
        tool("shop.price", "Get the price of an article.", "read", article="string"),
        tool("shop.order", "Order an article.", article="string", quantity="integer"),
        tool("shop.cancel_order", "Cancel an order.", "destructive", order_id="string"),
    ),
}
CATALOGS = {name: Catalog({one.key: one for one in tools}) for name, tools in SETS.items()}

Calls = tuple[tuple[str, dict[str, Any]], ...]
#: A tool set, a command, and the calls that it means.
COMMANDS: tuple[tuple[str, str, Calls], ...] = (
    ("desk", 'open a ticket titled "Printer is on fire"', (("desk.open_ticket", {"title": "Printer is on fire"}),)),
    (
        "desk",
        "assign ticket T-881 to ann@corp.example",
        (("desk.assign_ticket", {"ticket_id": "T-881", "agent": "ann@corp.example"}),),
    ),
    ("desk", "close T-12", (("desk.close_ticket", {"ticket_id": "T-12"}),)),
    ("desk", "close ticket number 4411", (("desk.close_ticket", {"ticket_id": "4411"}),)),
    (
        "desk",
        'add a comment to ticket T-5 saying "We are on it"',
        (("desk.add_comment", {"ticket_id": "T-5", "text": "We are on it"}),),
    ),
    (
        "desk",
        "close tickets T-1, T-2 and T-3",
        tuple(("desk.close_ticket", {"ticket_id": one}) for one in ("T-1", "T-2", "T-3")),
    ),
    (
        "billing",
        "create an invoice for ACME of 50",
        (("billing.create_invoice", {"customer": "ACME", "amount": 50}),),
    ),
    (
        "billing",
        "send invoice INV-7 to pay@acme.example",
        (("billing.send_invoice", {"invoice_id": "INV-7", "email": "pay@acme.example"}),),
    ),
    ("billing", "void invoice INV-2026-004", (("billing.void_invoice", {"invoice_id": "INV-2026-004"}),)),
    (
        "mail",
        "send an email to bob@x.com saying hello",
        (("mail.send_email", {"to": "bob@x.com", "body": "hello"}),),
    ),
    (
        "mail",
        'send bob@x.com an email that says "hi there"',
        (("mail.send_email", {"to": "bob@x.com", "body": "hi there"}),),
    ),
    ("mail", "delete message M-77", (("mail.delete_message", {"message_id": "M-77"}),)),
    (
        "home",
        "set the temperature of the bedroom to 18.5 degrees",
        (("home.set_thermostat", {"room": "bedroom", "temperature": 18.5}),),
    ),
    (
        "files",
        "copy /tmp/a.txt to /tmp/b.txt",
        (("fs.copy_file", {"source": "/tmp/a.txt", "target": "/tmp/b.txt"}),),
    ),
    ("files", 'delete the file "/home/ann/My Notes.txt"', (("fs.delete_file", {"path": "/home/ann/My Notes.txt"}),)),
    (
        "files",
        'write "hello world" to /tmp/x.txt',
        (("fs.write_file", {"path": "/tmp/x.txt", "text": "hello world"}),),
    ),
    (
        "ops",
        "deploy version 2.3.1 of the service checkout-api",
        (("ops.deploy", {"service": "checkout-api", "version": "2.3.1"}),),
    ),
    ("ops", "restart the service payments-api", (("ops.restart_service", {"service": "payments-api"}),)),
    (
        "money",
        "transfer $75 to account 0012-334",
        (("fx.transfer", {"amount": 75, "currency": "USD", "account": "0012-334"}),),
    ),
    (
        "calendar",
        "create an event titled Retro on 2026-06-01 14:30",
        (("cal.create_event", {"title": "Retro", "start": "2026-06-01 14:30"}),),
    ),
    (
        "calendar",
        "invite ann@x.com to event EV-9",
        (("cal.invite", {"event_id": "EV-9", "email": "ann@x.com"}),),
    ),
    ("shop", "order 12 pieces of article A-100", (("shop.order", {"article": "A-100", "quantity": 12}),)),
    (
        "shop",
        "call shop.order with article A-100 and quantity 2",
        (("shop.order", {"article": "A-100", "quantity": 2}),),
    ),
    (
        "shop",
        "shop.price of article A-100 then shop.order of article A-100 with quantity 2",
        (("shop.price", {"article": "A-100"}), ("shop.order", {"article": "A-100", "quantity": 2})),
    ),
    ("shop", "cancel the order O-17", (("shop.cancel_order", {"order_id": "O-17"}),)),
)
#: `{c}`: the command, `{C}`: the same with a capital.
POLITE = (
    "{C}",
    "{C}.",
    "Please {c}.",
    "{C}, please.",
    "could you please {c}?",
    "Can you please {c}",
    "I want you to {c}",
    "I'd like you to {c}.",
    "Hi! Please {c}. Thank you!",
    "OK, {c}",
    "Hello, {c}",
    "kindly {c}",
    "Go ahead and {c}",
    "{C} right away",
    "{C} immediately",
    "{C} for me",
    "make sure to {c}",
    "can you {c} for me please?",
    "{C}, thanks!",
)
#: None of these commands the act as it stands.
OTHERWISE = (
    "{C} as a drill",
    "{C} as a last resort",
    "{C} in dry run",
    "{C} (dry run)",
    "{C} (rejected)",
    "{C} (example)",
    "{C} \u2014 denied",
    "{C}: rejected",
    "{C} in your dreams",
    "{C} at your own risk",
    "{C} at 5pm",
    "{C} tomorrow",
    "{C} later",
    "{C} every day",
    "{C} twice",
    "{C} in 10 minutes",
    "In a year, {c}",
    "{C} --dry-run",
    "{C} -n",
    "{C}, I think",
    "{C} and phone the dentist",
    "{C} and water the plants",
    "{C}, but ask me first",
    "{C} pending approval",
    "The following is an example. {C}.",
    "Draft a plan to {c}",
    "Write a poem about how to {c}",
    "refuse to {c}",
    "Simulate: {c}",
    "dotn {c}",
    "do nto {c}",
    "nicht {c}",
    "n\u00e3o {c}",
    "\u4e0d\u8981 {c}",
    "\u043d\u0435 {c}",
    "{C} gracefully",
    "the button to {c} is broken",
    "{C}, said Ann",
    "What happens if I {c}?",
    "I already {c}",
)
#: What points to something that nothing names, and what may be one thing or two.
OPEN = (
    ("desk", "Close it"),
    ("desk", "Assign this ticket to ann@x.com"),
    ("desk", "Close them all"),
    ("billing", "Send it to him"),
    ("billing", "Create an invoice for them of that amount"),
    ("mail", "Delete that message"),
    ("mail", "Get the weather of Paris and email it to bob@x.com"),
    ("files", "Copy /tmp/a.txt to /tmp/b.txt and delete it"),
    ("files", "Copy /tmp/a.txt to /tmp/b.txt then delete the original"),
    ("files", "Delete the file /home/ann/My Notes.txt"),
    ("files", "Delete /tmp/a b.txt"),
    ("files", "Copy /tmp/my file.txt to /tmp/b.txt"),
    ("ops", "Restart it"),
    ("ops", "Run the script cleanup.sh --run"),
    ("money", "Convert 200 GBP to USD and then to EUR"),
    ("money", "Convert 200 GBP to USD and transfer it to account A-1"),
    ("money", "Transfer 75 in your dreams to account A-1"),
    ("calendar", "Invite ann@x.com to that"),
)


def written(frame: str, command: str) -> str:
    """The command in the frame."""
    return frame.format(c=command, C=command[0].upper() + command[1:])
