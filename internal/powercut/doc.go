// Package powercut holds the check that what a store acknowledged outlives a power cut. It mounts a disk of its own on an
// image file, lets a second process record receipts there, and shuts the file system down under it, which drops all that
// was not flushed. The package has tests only; they need root, and run by make powercut.
package powercut
