"""Tools of an animal practice, a hotel and a data centre, as strangers describe theirs."""

from __future__ import annotations

from typing import Any

from toolpath.catalog.snapshot import Catalog
from toolpath.planner.scoring.gold import ToolData, catalog_of

Field = dict[str, Any]


def _tool(name: str, description: str, effect: Any, fields: dict[str, Field]) -> ToolData:
    """A tool; a star behind the name of a parameter: it is required."""
    return ToolData(
        name=name,
        description=description,
        effect=effect,
        parameters={
            "type": "object",
            "properties": {key.rstrip("*"): value for key, value in fields.items()},
            "required": [key[:-1] for key in fields if key.endswith("*")],
        },
    )


def _field(type_: str, description: str = "", **more: Any) -> Field:
    return {"type": type_, **({"description": description} if description else {}), **more}


def _text(description: str = "", **more: Any) -> Field:
    return _field("string", description, **more)


DAY, MOMENT = _text(format="date"), _text(format="date-time")
PET, ROOM, ZONE = _text("e.g. PT-204"), _text("e.g. 12b"), _text("Zone, e.g. eu-1")
TEAM = _text(enum=["search", "ads", "maps"])
KINDS = _text("checkup: yearly examination; vaccination: a jab; surgery", enum=["checkup", "vaccination", "surgery"])
VET: Catalog = catalog_of(
    [
        _tool(
            "list_pets",
            "Search the animals of the practice.",
            "read",
            {"name": _text("Name of the animal"), "species": _text(enum=["dog", "cat", "rabbit", "bird"])},
        ),
        _tool("list_visits", "Appointments of a kind.", "read", {"kind": _text("Only these", enum=KINDS["enum"])}),
        _tool(
            "rate_visit",
            "Enter how the owner of an animal rates a visit.",
            "write",
            {
                "visit_no*": _field("integer", "Number of the visit"),
                "stars*": _field("number", "1 (bad) to 5 (good)"),
                "practice": _text("Code of the practice, e.g. BER"),
            },
        ),
        _tool(
            "weigh_pet",
            "Record what an animal weighs.",
            "write",
            {"pet_id*": PET, "weight_kg*": _field("number", "In kilograms"), "date": DAY},
        ),
        _tool(
            "book_visit",
            "Book an appointment with a vet.",
            "write",
            {"pet_id*": PET, "start*": MOMENT, "vet": _text("Name of the vet"), "kind": KINDS},
        ),
        _tool(
            "prescribe",
            "Prescribe a medicine to an animal.",
            "write",
            {
                "pet_id*": PET,
                "medicine*": _text("Name of the medicine"),
                "dose_mg*": _field("number", "Milligrams per dose"),
                "days": _field("integer", "For how many days"),
            },
        ),
        _tool(
            "message_owner",
            "Write to the owner of an animal.",
            "write",
            {
                "pet_id*": PET,
                "text*": _text("What to tell them"),
                "language": _text("Language of the owner", enum=["en", "de", "fr", "es"]),
            },
        ),
        _tool(
            "close_room",
            "Take a treatment room out of use.",
            "write",
            {"room*": _text("Room, e.g. T3"), "until": MOMENT, "reason": _text()},
        ),
    ]
)
HOTEL: Catalog = catalog_of(
    [
        _tool(
            "find_rooms",
            "Rooms that are free for a stay.",
            "read",
            {
                "check_in*": DAY,
                "check_out*": DAY,
                "guests": _field("integer", "How many people"),
                "view": _text(enum=["sea", "garden", "street"]),
            },
        ),
        _tool(
            "reserve_room",
            "Reserve a room for a guest.",
            "write",
            {
                "room_no*": ROOM,
                "guest*": _text("Full name of the guest"),
                "check_in*": DAY,
                "check_out*": DAY,
                "breakfast": _field("boolean", "With breakfast"),
            },
        ),
        _tool(
            "wake_up_call",
            "Set a wake-up call for a room.",
            "write",
            {"room_no*": ROOM, "time*": _text("HH:MM"), "date": DAY},
        ),
        _tool(
            "set_rate",
            "Set what a room costs a night.",
            "write",
            {"room_no*": ROOM, "price*": _field("number", "Euros a night"), "valid_from": DAY},
        ),
        _tool(
            "list_guests",
            "Guests in the house, by country.",
            "read",
            {"country": _text("Two letters, e.g. DE", pattern="^[A-Z]{2}$")},
        ),
        _tool(
            "minibar_order",
            "Order things for the minibar.",
            "write",
            {"item*": _text("What to order"), "quantity*": _field("integer", "How many"), "room_no": ROOM},
        ),
        _tool(
            "occupancy",
            "How full the house was.",
            "read",
            {"month": _text("YYYY-MM", pattern=r"^\d{4}-\d{2}$"), "period": _text(enum=["7d", "30d", "90d"])},
        ),
    ]
)
CENTRE: Catalog = catalog_of(
    [
        _tool(
            "resize_volume",
            "Change the size of a volume.",
            "write",
            {"name*": _text("Name of the volume"), "size_gb*": _field("integer", "Gigabytes"), "zone": ZONE},
        ),
        _tool(
            "reboot_server",
            "Reboot a server.",
            "write",
            {"name*": _text("Name of the server"), "force": _field("boolean", "At once"), "zone": ZONE},
        ),
        _tool(
            "deploy_image",
            "Deploy an image on a server.",
            "write",
            {"server*": _text("Name of the server"), "image*": _text("Image with its tag")},
        ),
        _tool(
            "post_message",
            "Post to a channel of the team chat.",
            "write",
            {"channel*": _text("e.g. #alerts"), "text*": _text()},
        ),
        _tool(
            "raise_alarm",
            "Raise an alarm.",
            "write",
            {
                "title*": _text(),
                "level*": _text("p1 is the worst", enum=["p1", "p2", "p3"]),
                "system": _text("Affected system"),
            },
        ),
        _tool(
            "block_badge",
            "Block an access badge.",
            "write",
            {"badge*": _text("Last four digits", pattern=r"^\d{4}$")},
        ),
        _tool(
            "move_quota",
            "Move quota from one team to another.",
            "write",
            {"from_team*": TEAM, "to_team*": TEAM, "cores*": _field("integer")},
        ),
        _tool(
            "log_reading",
            "Record a reading of a sensor.",
            "write",
            {
                "sensor_id*": _text("such as SN-9"),
                "temperature": _field("number", "°C"),
                "humidity": _field("integer", "%"),
                "pressure": _field("integer", "hPa"),
            },
        ),
    ]
)
