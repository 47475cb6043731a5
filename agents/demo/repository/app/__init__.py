"""The billing pages: money, dates, pages, export, store and views."""
