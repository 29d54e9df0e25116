package crash

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/recibohq/recibo"
)

const (
	copies = 100
	events = 5 // each sent so
)

func TestOfAHundredCopiesAtOnceExactlyOneIsAccepted(t *testing.T) {
	for _, name := range stores(t) {
		t.Run(name, func(t *testing.T) { sendCopies(t, databases[name](t), 1) })
	}
}

func TestOfAHundredCopiesAtOnceToTwoGatewaysOfOneDatabaseExactlyOneIsAccepted(t *testing.T) {
	for _, name := range stores(t) {
		if name == "postgres" { // a SQLite file has one gateway
			sendCopies(t, databases[name](t), 2)
		}
	}
}

// sendCopies sends a hundred copies of an event at once, spread over so many gateways, and wants one accepted and one act.
func sendCopies(t *testing.T, db *database, gateways int) {
	t.Helper()
	h := new(history)
	shop := newShop(t, polite)
	var urls []string
	var running []*gateway
	for range gateways {
		site := newSite(t, db, shop, drain)
		urls, running = append(urls, site.url), append(running, site.start(t, h))
	}
	client := newClient(t)
	for range events {
		answers := burst(t, client, urls, newKey())
		checkBurst(t, answers)
		h.answers = append(h.answers, answers...)
	}
	settle(t, db, len(h.answers))
	for _, g := range running {
		g.stop(t, drain)
	}
	shop.addTo(h)
	db.addTo(t, h)
	t.Logf("%d gateways, slowest answer %s, %s", gateways, slowest(h.answers).Round(time.Millisecond), h)
	for _, what := range first(h.broken()) {
		t.Error(what)
	}
	if len(h.receipts) != events || len(h.acts) != events {
		t.Errorf("%d receipts and %d acts of %d events, want one each", len(h.receipts), len(h.acts), events)
	}
}

// burst sends all copies of an event at the same moment and returns their answers.
func burst(t *testing.T, client *http.Client, urls []string, key recibo.Key) []answer {
	t.Helper()
	answers := make([]answer, copies)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range copies {
		wg.Go(func() {
			<-start
			a, _, err := send(t.Context(), client, urls[i%len(urls)], key)
			if err != nil {
				t.Error(err)
			}
			answers[i] = a
		})
	}
	close(start)
	wg.Wait()
	return answers
}

func checkBurst(t *testing.T, answers []answer) {
	t.Helper()
	verdicts := map[recibo.Verdict]int{}
	receipts := map[string]bool{}
	for _, a := range answers {
		if a.status != http.StatusOK {
			t.Errorf("a copy of %s was answered %d, want 200", a.key, a.status)
		}
		verdicts[a.verdict]++
		receipts[a.receipt] = true
	}
	if verdicts[recibo.Accepted] != 1 || verdicts[recibo.Duplicate] != copies-1 || len(receipts) != 1 {
		t.Errorf("%d copies: verdicts %v, %d receipts, want one accepted, the others duplicates, one receipt",
			copies, verdicts, len(receipts))
	}
}

func slowest(answers []answer) (longest time.Duration) {
	for _, a := range answers {
		longest = max(longest, a.at.Sub(a.sent))
	}
	return longest
}
