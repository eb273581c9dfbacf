"""The service over HTTP: REST and live events, and the places where other doors are hung in."""
