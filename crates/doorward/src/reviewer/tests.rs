//! What is sent, whole; and what each protocol makes of it.
