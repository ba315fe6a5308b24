"""What pages say about specs, proofs and runs: sentences, tables and places, as frozen data."""
