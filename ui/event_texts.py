"""The page's names of events in Chinese, from `VIEWS` of `model/event_views.py`: `make ui` writes them."""

from __future__ import annotations

from toolpath.model.event_views import VIEWS


def event_texts() -> str:
    """The text of `ui/src/texts/events.zh.ts`."""
    rows = [f"  '{event.__struct_config__.tag}': '{view.zh}'," for event, view in VIEWS.items()]
    head = "/** 运行事件的名称 (model/event_views.py): make ui 写成 */"
    return "\n".join([head, "export const EVENTS: Record<string, string> = {", *rows, "}", ""])


if __name__ == "__main__":
    print(event_texts(), end="")
