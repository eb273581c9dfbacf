"""What can be typed: names, arguments and options of every command, and which module does the work.

Nothing heavy is imported here: `toolpath --help` and shell completion read only these declarations.
"""
