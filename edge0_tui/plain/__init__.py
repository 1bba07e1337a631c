"""The chat as lines, for screen readers and terminals without a cursor to move: nothing here draws a screen."""
