"""Reading what models write: tool calls and plans in any known format, whole or damaged. Nothing is run."""
