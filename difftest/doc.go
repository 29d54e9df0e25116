// Package difftest compares recibo with the official SDKs of senders: what an SDK signs recibo accepts, what recibo signs
// the SDK accepts, and both judge the same changed requests. Where recibo refuses more, the kind of change is on a list
// with its reason; where it refuses less, the test fails.
//
//	make sdk                                  # install the SDKs and compare all
//	go test ./difftest -v -run SDKs/stripe    # one, with its line of the table
//
// The SDKs run in one Node process, see sdk/driver.mjs; their versions are pinned in package.json.
package difftest
