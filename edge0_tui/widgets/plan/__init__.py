"""The plan card: rows of text from an outlook, a download, a verification or a model's details. Pure drawing."""
