package difftest

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
)

// pairs is a form or a query taken apart and put together again.
func pairs(change func(rng *rand.Rand, all []string) []string) func(rng *rand.Rand, text string) string {
	return func(rng *rand.Rand, text string) string {
		if text == "" {
			return text
		}
		return strings.Join(change(rng, strings.Split(text, "&")), "&")
	}
}

// onePair changes one of them.
func onePair(change func(rng *rand.Rand, pair string) string) func(rng *rand.Rand, text string) string {
	return pairs(func(rng *rand.Rand, all []string) []string {
		i := rng.IntN(len(all))
		all[i] = change(rng, all[i])
		return all
	})
}

func plain(change func(text string) string) func(rng *rand.Rand, text string) string {
	return func(_ *rand.Rand, text string) string { return change(text) }
}

// pairings are other ways to write a form or a query, and other forms.
var pairings = []rewriting{
	{"reversed", pairs(func(_ *rand.Rand, all []string) []string {
		for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
			all[i], all[j] = all[j], all[i]
		}
		return all
	})},
	{"shuffled", pairs(func(rng *rand.Rand, all []string) []string {
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		return all
	})},
	{"pair-repeated", pairs(func(rng *rand.Rand, all []string) []string { return append(all, pick(rng, all)) })},
	{"pair-dropped", pairs(func(rng *rand.Rand, all []string) []string {
		i := rng.IntN(len(all))
		return append(all[:i:i], all[i+1:]...)
	})},
	{"pair-added", plain(func(s string) string { return s + "&x=1" })},
	{"nothing-added", plain(func(s string) string { return s + "&" })},
	{"nothing-within", plain(func(s string) string { return strings.Replace(s, "&", "&&", 1) })},
	{"equals-added", plain(func(s string) string { return s + "&=" })},
	{"name-added", plain(func(s string) string { return s + "&x" })},
	{"equals-dropped", onePair(func(_ *rand.Rand, p string) string { return strings.TrimSuffix(p, "=") })},
	{"plus-for-20", plain(func(s string) string { return strings.ReplaceAll(s, "+", "%20") })},
	{"20-for-plus", plain(func(s string) string { return strings.ReplaceAll(s, "%20", "+") })},
	{"blank-for-plus", plain(func(s string) string { return strings.ReplaceAll(s, "+", " ") })},
	{"small-percents", plain(func(s string) string { return percents(s, strings.ToLower) })},
	{"escaped-more", func(rng *rand.Rand, s string) string { return percentOne(rng, s) }},
	{"escaped-less", plain(func(s string) string { return strings.Replace(s, "%2B", "+", 1) })},
	{"colon-unescaped", plain(func(s string) string { return strings.NewReplacer("%5B", "[", "%5D", "]", "%3D", "=").Replace(s) })},
	{"raw-utf-8", plain(func(s string) string { return strings.ReplaceAll(s, "%C3%A9", "\u00e9") })},
	{"no-utf-8", plain(func(s string) string { return strings.ReplaceAll(s, "%EF%BF%BD", "%FF") })},
	{"broken-percent", plain(func(s string) string { return s + "%" })},
	{"bad-percent", plain(func(s string) string { return strings.Replace(s, "%25", "%", 1) })},
	{"overlong", plain(func(s string) string { return strings.Replace(s, "%3D", "%C0%BD", 1) })},
	{"semicolons", plain(func(s string) string { return strings.Replace(s, "&", ";", 1) })},
	{"upper-case", plain(strings.ToUpper)},
	{"one-changed", replaced},
	{"name-longer", onePair(func(_ *rand.Rand, p string) string { return moveEquals(p, 1) })},
	{"name-shorter", onePair(func(_ *rand.Rand, p string) string { return moveEquals(p, -1) })},
	{"pairs-joined", pairs(func(rng *rand.Rand, all []string) []string {
		if len(all) < 2 {
			return all
		}
		i := rng.IntN(len(all) - 1)
		all[i] += strings.Replace(all[i+1], "=", "", 1)
		return append(all[:i+1:i+1], all[i+2:]...)
	})},
	{"pair-split", onePair(func(rng *rand.Rand, p string) string {
		name, value, _ := strings.Cut(p, "=")
		if len(value) < 2 {
			return p
		}
		i := 1 + rng.IntN(len(value)-1)
		return name + "=" + value[:i] + "&" + value[i:] + "="
	})},
	{"blank-name", plain(func(s string) string { return s + "&=x" })},
	{"query-in-front", plain(func(s string) string { return "?a=1&" + s })},
	{"twice", plain(func(s string) string { return s + "&" + s })},
}

// moveEquals moves the border of a name and its value: a form that is signed without separators stays equal.
func moveEquals(pair string, by int) string {
	at := strings.IndexByte(pair, '=')
	to := at + by
	if at < 0 || to < 0 || to >= len(pair) {
		return pair
	}
	text := strings.Replace(pair, "=", "", 1)
	return text[:to] + "=" + text[to:]
}

// percents writes the hexadecimal digits of escapes in another case.
func percents(text string, write func(string) string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			b.WriteString("%" + write(text[i+1:i+3]))
			i += 2
			continue
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// formKinds change a form body, queryKinds the query.
var (
	formKinds  = rewrite(spot{name: "form", get: getBody, set: setBody}, pairings)
	queryKinds = append(
		rewrite(spot{
			name: "query", get: func(r *request) string { return r.query }, set: func(r *request, s string) { r.query = s },
		}, pairings),
		kind{"query/dropped", func(_ *mutator, r *request) bool { r.query = ""; return true }},
		kind{"query/made", func(_ *mutator, r *request) bool { r.query = "x=1"; return true }},
		kind{"query/digest-made", func(_ *mutator, r *request) bool {
			r.query = strings.TrimPrefix(r.query+"&bodySHA256="+strings.Repeat("0", 64), "&")
			return true
		}},
		kind{"query/digest-in-capitals", func(_ *mutator, r *request) bool {
			before, digest, found := strings.Cut(r.query, "bodySHA256=")
			r.query = before + "bodySHA256=" + strings.ToUpper(digest)
			return found
		}},
	)
)

func getBody(r *request) string {
	if strings.HasPrefix(string(r.body), "{") {
		return ""
	}
	return string(r.body)
}

func setBody(r *request, text string) { r.body = []byte(text) }

// adyenFields are what Adyen signs of an item, in order.
var adyenFields = []string{
	"pspReference", "originalReference", "merchantAccountCode", "merchantReference", "value", "currency", "eventCode", "success",
}

type object = map[string]any

// item changes the first item of a notification.
func item(change func(m *mutator, item, amount object)) func(*mutator, *request) bool {
	return notification(func(m *mutator, items []any) []any {
		first := items[0].(object)["NotificationRequestItem"].(object)
		change(m, first, first["amount"].(object))
		return items
	})
}

func notification(change func(m *mutator, items []any) []any) func(*mutator, *request) bool {
	return func(m *mutator, r *request) bool {
		var doc struct {
			Live  string `json:"live"`
			Items []any  `json:"notificationItems"`
		}
		if err := json.Unmarshal(r.body, &doc); err != nil || len(doc.Items) == 0 {
			return false
		}
		for _, each := range doc.Items {
			wrapper, ok := each.(object)
			inner, isObject := wrapper["NotificationRequestItem"].(object)
			if _, hasAmount := inner["amount"].(object); !ok || !isObject || !hasAmount {
				return false
			}
		}
		doc.Items = change(m, doc.Items)
		text, err := json.Marshal(doc)
		if err == nil {
			r.body = text
		}
		return err == nil
	}
}

var adyenKinds = []kind{
	{"item/resplit", item(func(m *mutator, item, amount object) { resplit(m.rng, item, amount) })},
	{"item/amount-as-text", item(func(_ *mutator, _, amount object) {
		if n, ok := amount["value"].(float64); ok {
			amount["value"] = jsonText(n)
		}
	})},
	{"item/amount-as-decimal", item(func(_ *mutator, _, amount object) {
		amount["value"] = json.RawMessage(jsonText(amount["value"]) + ".0")
	})},
	{"item/amount-as-exponent", item(func(_ *mutator, _, amount object) {
		amount["value"] = json.RawMessage(jsonText(amount["value"]) + "e0")
	})},
	{"item/amount-in-a-list", item(func(_ *mutator, _, amount object) { amount["value"] = []any{amount["value"]} })},
	{"item/amount-null", item(func(_ *mutator, _, amount object) { amount["value"] = nil })},
	{"item/currency-in-a-list", item(func(_ *mutator, _, amount object) { amount["currency"] = []any{amount["currency"]} })},
	{"item/success-as-bool", item(func(_ *mutator, item, _ object) { item["success"] = item["success"] == "true" })},
	{"item/absent-as-empty", item(func(_ *mutator, item, _ object) {
		if item["originalReference"] == nil {
			item["originalReference"] = ""
		}
	})},
	{"item/absent-as-null", item(func(_ *mutator, item, _ object) {
		if _, ok := item["originalReference"]; !ok {
			item["originalReference"] = nil
		}
	})},
	{"item/empty-as-absent", item(func(_ *mutator, item, _ object) {
		if item["merchantReference"] == "" {
			delete(item, "merchantReference")
		}
	})},
	{"item/unsigned-changed", item(func(m *mutator, item, _ object) {
		item[pick(m.rng, []string{"reason", "eventDate", "paymentMethod", "operations", "extra"})] = "2026-01-01T00:00:00Z"
	})},
	{"item/field-changed", item(func(m *mutator, item, amount object) {
		name := pick(m.rng, adyenFields)
		for _, in := range []object{item, amount} {
			if s, ok := in[name].(string); ok {
				in[name] = replaced(m.rng, s)
			}
		}
	})},
	{"item/references-swapped", item(func(_ *mutator, item, _ object) {
		item["pspReference"], item["merchantReference"] = item["merchantReference"], item["pspReference"]
	})},
	{"item/another-behind", notification(func(_ *mutator, items []any) []any {
		return append(items, object{"NotificationRequestItem": object{"amount": object{}, "additionalData": object{}}})
	})},
	{"item/another-before", notification(func(_ *mutator, items []any) []any {
		return append([]any{object{"NotificationRequestItem": object{"amount": object{}, "pspReference": "x"}}}, items...)
	})},
	{"item/twice", notification(func(_ *mutator, items []any) []any { return append(items, items[0]) })},
	{"item/reordered", notification(func(_ *mutator, items []any) []any { return append(items[1:], items[0]) })},
	{"item/none", notification(func(*mutator, []any) []any { return []any{} })},
	{"item/first-dropped", notification(func(_ *mutator, items []any) []any { return items[1:] })},
}

func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "null"
	}
	return string(text)
}

// resplit moves the borders of the joined fields: what is signed stays equal.
func resplit(rng *rand.Rand, item, amount object) {
	var texts []string
	for _, name := range adyenFields {
		value, ok := item[name]
		if name == "value" || name == "currency" {
			value, ok = amount[name]
		}
		if s, isText := value.(string); isText {
			texts = append(texts, s)
		} else if ok {
			texts = append(texts, jsonText(value))
		} else {
			texts = append(texts, "")
		}
	}
	pieces := strings.Split(strings.Join(texts, ":"), ":")
	for len(pieces) > len(adyenFields) {
		i := rng.IntN(len(pieces) - 1)
		pieces = append(append(pieces[:i:i], pieces[i]+":"+pieces[i+1]), pieces[i+2:]...)
	}
	for i, name := range adyenFields {
		in := item
		if name == "value" || name == "currency" {
			in = amount
		}
		in[name] = pieces[i]
	}
}
