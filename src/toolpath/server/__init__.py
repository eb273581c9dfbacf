"""The service over HTTP: REST and live events, and the doors that are mounted beside them."""
