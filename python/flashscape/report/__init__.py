"""Results for people: tables for terminals, HTML for notebooks, pictures for files."""
