// Package provider knows the senders of webhooks: how each signs, what that proves, what names an event and how to answer.
//
// A sender is a YAML file. Those of the catalogue are built in, see [Lookup]; users write their own in the same format, see
// [Parse]. The file drives verifying ([Provider.Bind]), signing ([Provider.Sign]), samples and the reference pages. What a
// template cannot express is a scheme in Go that the file names.
//
// Which facts a signature covers is derived from the scheme's own list of signed parts. A file cannot claim it: one that
// makes a key of an unsigned place does not load.
package provider
