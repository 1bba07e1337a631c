"""The corpus: our own text files, and the code that expands them into questions with answers."""
