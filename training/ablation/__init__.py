"""What each step of the recipe costs and brings, measured on the shipped files through the shipped engine."""
