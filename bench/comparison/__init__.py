"""linsep and its peers on the same files; README.md in the folder above says how and what is fair."""
