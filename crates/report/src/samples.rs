//! Samples, decimated for drawing.
