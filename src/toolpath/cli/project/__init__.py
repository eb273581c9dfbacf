"""`toolpath demo`, `doctor` and `generate`: what concerns a folder or a machine as a whole."""
