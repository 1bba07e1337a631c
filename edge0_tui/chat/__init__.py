"""Conversations and the files they live in. No Textual, no model."""
