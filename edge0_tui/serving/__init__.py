"""The application in a browser, through textual-serve (the extra `serve`). Nothing here is imported otherwise."""
