"""What is measured of Toolpath: real plans run and checked, and the engine's speed against a bare floor."""
