package crash

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"
)

var (
	kills     = flag.Int("kills", 10, "how often the gateway is killed on each store")
	storeName = flag.String("store", "both", "sqlite, postgres or both")
)

// stores are the names of the databases that -store chose.
func stores(t *testing.T) []string {
	t.Helper()
	if *storeName == "both" {
		return []string{"sqlite", "postgres"}
	}
	if databases[*storeName] == nil {
		t.Fatalf("-store %s: want sqlite, postgres or both", *storeName)
	}
	return []string{*storeName}
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "recibo-crash-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "crash:", err)
		os.Exit(1)
	}
	scratch = dir
	m.Run() // its code is the process's
	_ = os.RemoveAll(dir)
}

// drain is what an orderly stop gives to running attempts where none takes long.
const drain = 5 * time.Second

func TestAKilledGatewayLosesNothingItAcknowledgedAndEveryEventActsOnce(t *testing.T) {
	for _, name := range stores(t) {
		t.Run(name, func(t *testing.T) { checkKills(t, killOften(t, databases[name](t), 1)) })
	}
}

func TestTwoGatewaysOfOneDatabaseKilledInTurnLoseNothingAndEveryEventActsOnce(t *testing.T) {
	for _, name := range stores(t) {
		if name == "postgres" { // a SQLite file has one gateway
			checkKills(t, killOften(t, databases[name](t), 2))
		}
	}
}

func checkKills(t *testing.T, h *history) {
	t.Helper()
	t.Logf("%d kills under load, %s", *kills, h)
	if broken := h.broken(); len(broken) > 0 {
		t.Errorf("%d promises broken, among them:", len(broken))
		for _, what := range first(broken) {
			t.Error(what)
		}
	}
	checkTheCheck(t, h)
}

// killOften kills so many gateways under load in turn, again and again, lets the last ones finish the work and returns
// what happened.
func killOften(t *testing.T, db *database, gateways int) *history {
	t.Helper()
	h := new(history)
	shop := newShop(t, moody)
	sites, running := make([]*site, gateways), make([]*gateway, gateways)
	load := new(load)
	for i := range sites {
		sites[i] = newSite(t, db, shop, drain)
		load.urls = append(load.urls, sites[i].url)
		killEarly(t, sites[i]) // while it makes its tables
		running[i] = sites[i].start(t, h)
	}
	load.start(t)
	for n := range *kills {
		time.Sleep(20*time.Millisecond + rand.N(280*time.Millisecond))
		i := n % gateways
		running[i].kill(t)
		if n%5 == 0 {
			killEarly(t, sites[i]) // while it picks up what the killed one left
		}
		running[i] = sites[i].start(t, h)
	}
	load.stop(t, h)
	settle(t, db, len(h.answers))
	for _, g := range running {
		g.stop(t, drain)
	}
	shop.addTo(h)
	db.addTo(t, h)
	return h
}

// killEarly kills a gateway before it is ready, or soon after.
func killEarly(t *testing.T, s *site) {
	t.Helper()
	gateway := s.launch(t)
	time.Sleep(rand.N(80 * time.Millisecond))
	gateway.kill(t)
}

// settle waits until nothing is left to do, for a time that is in proportion to what came.
func settle(t *testing.T, db *database, requests int) {
	t.Helper()
	within := 20*time.Second + time.Duration(requests)*10*time.Millisecond
	left := 0
	for began := time.Now(); time.Since(began) < within; time.Sleep(100 * time.Millisecond) {
		var err error
		if left, err = db.unsettled(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left == 0 {
			return
		}
	}
	t.Errorf("%d receipts not settled after %s", left, within)
}
