"""What recorded markets show: indices, figures, reports."""
