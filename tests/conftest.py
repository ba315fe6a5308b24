"""Fixtures for every test; the servers themselves start in tests/settings.py."""
