package provider

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"sync"

	"github.com/recibohq/recibo"
)

// The tags keep digests of different things apart. A new way to digest is a new number.
var (
	tagSigned = []byte("recibo/fp/1\x00")   // what was signed
	tagItem   = []byte("recibo/item/1\x00") // an item's own bytes
	tagBody   = []byte("recibo/body/1\x00") // a body that is not signed
)

type digester struct {
	hash   hash.Hash
	length [8]byte
	sum    recibo.Fingerprint
}

var digesters = sync.Pool{New: func() any { return &digester{hash: sha256.New()} }}

// fingerprint digests the pieces less those that are cut. Each stretch between two cuts has its length in front, so that
// nothing can move across a cut.
func fingerprint(tag []byte, pieces []piece) recibo.Fingerprint {
	d := digesters.Get().(*digester)
	defer digesters.Put(d)
	d.hash.Reset()
	d.hash.Write(tag)
	for i := 0; i < len(pieces); {
		end, n := i, 0
		for ; end < len(pieces) && !pieces[end].cut; end++ {
			n += len(pieces[end].bytes)
		}
		if end > i {
			binary.BigEndian.PutUint64(d.length[:], uint64(n))
			d.hash.Write(d.length[:])
		}
		for ; i < end; i++ {
			d.hash.Write(pieces[i].bytes)
		}
		i++ // over the cut one
	}
	d.hash.Sum(d.sum[:0])
	return d.sum
}

// without splits body around the spans, which are in order and apart, marking what they hold as cut.
func without(body []byte, spans []span) []piece {
	var pieces []piece
	at := 0
	for _, s := range spans {
		pieces = append(pieces, piece{bytes: body[at:s.start]}, piece{bytes: body[s.start:s.end], cut: true})
		at = s.end
	}
	return append(pieces, piece{bytes: body[at:]})
}
