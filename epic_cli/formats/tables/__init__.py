"""Recordings as tables: CSV and its kin, and Parquet."""
