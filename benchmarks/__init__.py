"""How fast the engine is: `python3 dev.py bench [world|proof|generate] [--json]`."""
