"""The application's side: submits generation events and reads their results."""
