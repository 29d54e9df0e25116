// Package crash holds the check that a gateway keeps its promises though it is killed: it runs the real program under
// load, ends it with SIGKILL again and again, and reads broken promises off the history of what senders were answered,
// what the application behind it did and what the store holds. The package has tests only; make crash runs them.
package crash
