// Package fieldcases holds faults that happened to others, as requests with their right outcomes, and a runner that plays
// them against a real gateway over real connections, with the clock set by the case.
//
//	go test ./fieldcases                     # the cases in testdata
//	go test ./fieldcases -cases FILE         # any other file of the format
//
// A key that the runner does not understand fails the case; it is never passed over.
package fieldcases
