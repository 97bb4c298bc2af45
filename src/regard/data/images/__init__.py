"""Images: files of any kind, and the grids of features that networks make of them."""
