"""Chats as files to give away and to take in: Markdown, JSON and HTML, each of which restores the chat exactly."""
