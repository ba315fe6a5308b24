"""What pages, commands and the API ask."""
