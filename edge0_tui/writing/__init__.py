"""What goes into a prompt: pasted text, attached files, commands, saved prompts, earlier prompts. No Textual."""
