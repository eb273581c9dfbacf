"""The entry of the service: what every request passes before a door."""
