"""What commands run: recordings and jobs, and where their results go."""
