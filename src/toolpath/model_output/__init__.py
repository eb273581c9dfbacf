"""Text that models wrote → tool calls or a plan. Pure."""
