"""Public fakes for the tests of tools and plans: a clock, scripted tools, a crashing store, record and replay."""
