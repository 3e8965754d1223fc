"""What fills a whole terminal: the program around a picture, cells to draw on, lines of text."""
