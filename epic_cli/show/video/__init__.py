"""Moving pictures: what is where (``stage``), drawn (``frames``) and written (``files``)."""
