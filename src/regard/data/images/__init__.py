"""Images: files of any kind read with Pillow, and the grids of features that networks make of them."""
