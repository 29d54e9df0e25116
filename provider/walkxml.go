package provider

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// An xmlWalker goes once over an XML text and keeps the texts of some elements, by the names of those around them. Names are
// without their namespaces. As with JSON an element that is read may not occur twice, but for the items of a batch; a
// document type is refused.
type xmlWalker struct {
	decoder *xml.Decoder
	paths   [][]string
	values  []value
	items   []span
	names   []string // of the open elements
	texts   [][]byte
	starts  []int // where the open elements begin
	rooted  bool
}

// walkXML reads src into values. item says that the root is an item, which has no name in the paths.
func walkXML(src []byte, paths [][]string, values []value, item bool) ([]span, error) {
	w := &xmlWalker{decoder: xml.NewDecoder(bytes.NewReader(src)), paths: paths, values: values}
	skip := 0
	if item {
		skip = 1
	}
	for {
		at := int(w.decoder.InputOffset())
		token, err := w.decoder.Token()
		switch {
		case errors.Is(err, io.EOF) && w.rooted && len(w.names) == 0:
			return w.items, nil
		case err != nil:
			return nil, fmt.Errorf("not XML: %w", err)
		}
		switch t := token.(type) {
		case xml.Directive:
			return nil, errors.New("XML with a document type")
		case xml.StartElement:
			if len(w.names) >= maxDepth || w.rooted && len(w.names) == 0 {
				return nil, errors.New("nested too deep, or a second document")
			}
			w.rooted = true
			w.names, w.starts = append(w.names, t.Name.Local), append(w.starts, at)
			w.texts = append(w.texts, nil)
		case xml.CharData:
			if len(w.texts) > 0 {
				w.texts[len(w.texts)-1] = append(w.texts[len(w.texts)-1], t...)
			}
		case xml.EndElement:
			if err := w.end(int(w.decoder.InputOffset()), skip); err != nil {
				return nil, err
			}
		}
	}
}

// end keeps what the element that ends was.
func (w *xmlWalker) end(at, skip int) error {
	last := len(w.names) - 1
	for i, path := range w.paths {
		list := len(path) > 0 && path[len(path)-1] == anyItem
		if list && slices.Equal(path[:len(path)-1], w.names[min(skip, last+1):]) {
			w.items = append(w.items, span{w.starts[last], at})
			continue
		}
		if list || !slices.Equal(path, w.names[min(skip, last+1):]) || len(path) == 0 {
			continue
		}
		if w.values[i].kind != 0 {
			return fmt.Errorf("element %s occurs twice", strings.Join(path, "."))
		}
		w.values[i] = value{kind: 'p', start: w.starts[last], end: at, text: strings.TrimSpace(string(w.texts[last]))}
	}
	w.names, w.starts, w.texts = w.names[:last], w.starts[:last], w.texts[:last]
	return nil
}
