"""What the pictures of docs/mechanisms are drawn from, and how."""
