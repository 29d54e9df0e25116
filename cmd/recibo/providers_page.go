package main

import (
	"fmt"
	"strings"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/provider"
)

// providerPage is a sender's page of the reference, in Markdown. It says what the command line says, from the same facts.
func providerPage(d *provider.Description) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!-- made by `make docs` from provider/catalogue/%s.yaml: edit that -->\n\n# %s\n\n", d.Name, d.Title)
	fmt.Fprintf(&b, "`provider: %s` · %s · facts: %s confidence\n\n", d.Name, d.Category, d.Confidence)
	if d.Setup != "" {
		fmt.Fprintf(&b, "**Set up.** %s\n\n", d.Setup)
	}
	b.WriteString(providerExample(d))
	for i := range d.Variants {
		variantPage(&b, &d.Variants[i], len(d.Variants) > 1)
	}
	list(&b, "Parameters", paramLines(d.Params))
	list(&b, "Good to know", d.Notes)
	list(&b, "Sources", d.Docs)
	return b.String()
}

func providerExample(d *provider.Description) string {
	key := "secrets: [env:" + strings.ToUpper(strings.ReplaceAll(d.Name, "-", "_")) + "_SECRET]"
	switch v := &d.Variants[0]; {
	case v.Unchecked:
		key = "path: /in/…   # a long random path: it is all that keeps strangers out"
	case !v.Symmetric:
		key = `public_keys: ["…"]`
	}
	lines := []string{"sources:", "  - name: " + d.Name, "    provider: " + d.Name, "    " + key}
	var params []string
	for _, p := range d.Params {
		if p.Required {
			params = append(params, p.Name+": …")
		}
	}
	if len(params) > 0 {
		lines = append(lines, "    params: {"+strings.Join(params, ", ")+"}")
	}
	return "```yaml\n" + strings.Join(lines, "\n") + "\n```\n\n"
}

func variantPage(b *strings.Builder, v *provider.Variant, named bool) {
	title := "What the signature is worth"
	if named {
		title = "Variant `" + v.Name + "`"
		if v.Main {
			title += " (the default)"
		}
	}
	fmt.Fprintf(b, "## %s\n\n", title)
	if v.About != "" {
		fmt.Fprintf(b, "%s\n\n", v.About)
	}
	fmt.Fprintf(b, "Replay protection: **%s**. %s\n\n| | |\n|---|---|\n", v.Grade, strings.Join(v.Protection, " "))
	for _, row := range variantRows(v) {
		if row[1] != "" {
			fmt.Fprintf(b, "| %s | %s |\n", row[0], strings.ReplaceAll(row[1], "|", "\\|"))
		}
	}
	b.WriteString("\n")
}

// variantRows are the facts of a variant, in the order of the command line.
func variantRows(v *provider.Variant) [][2]string {
	rows := [][2]string{
		{"signs with", code(v.Scheme) + " in " + code(v.Signature)},
		{"secret or key", v.KeyForm},
		{"signed", strings.Join(v.Signed, ", ")},
		{"not signed", strings.Join(v.Unsigned, ", ")},
		{"key of the event", strings.TrimSpace(keyWords[v.Key] + " " + strings.Join(v.KeyFrom, " + "))},
		{"time", timeText(v)},
		{"retries", v.Retries},
	}
	if v.Batch {
		rows = append(rows, [2]string{"events", "one delivery can hold many; each has its own key"})
	}
	if v.Handshake {
		rows = append(rows, [2]string{"handshake", "answered"})
	}
	if status := v.Acknowledge.Status; status != 0 && status != 200 {
		rows = append(rows, [2]string{"acknowledged with", fmt.Sprint(status)})
	}
	return rows
}

func code(s string) string {
	if s == "" {
		return "nothing"
	}
	return "`" + s + "`"
}

// timeText says what the signed time is good for.
func timeText(v *provider.Variant) string {
	switch v.Time {
	case recibo.SendTime:
		return fmt.Sprintf("%s, of sending: %s either way", v.TimeFrom, orDefaultTolerance(v))
	case recibo.EventTime:
		return fmt.Sprintf("%s, of the event: older than %s goes to review", v.TimeFrom, v.Horizon)
	default:
		return "none is signed"
	}
}

func paramLines(params []provider.Param) []string {
	var lines []string
	for _, p := range params {
		need := "optional"
		if p.Required {
			need = "required"
		}
		lines = append(lines, fmt.Sprintf("`%s` (%s): %s", p.Name, need, p.About))
	}
	return lines
}

func list(b *strings.Builder, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "## %s\n\n", title)
	for _, line := range lines {
		fmt.Fprintf(b, "- %s\n", line)
	}
	b.WriteString("\n")
}

// providerIndex is the reference's first page.
func providerIndex(all []*provider.Description) string {
	var b strings.Builder
	b.WriteString("<!-- made by `make docs` from provider/catalogue: edit that -->\n\n# Senders\n\n" +
		"What each signs, what names its events, and what stops a replay: **strong** send time and identity are signed · " +
		"**window** a copy can run again within the tolerance · **memory** only the kept receipt stops a copy · " +
		"**weak** the signature does not bind the body · **none** the request holds the secret itself, or nothing is checked.\n\n" +
		"| sender | signs with | key | replay |\n|---|---|---|---|\n")
	for _, d := range all {
		v := &d.Variants[0]
		fmt.Fprintf(&b, "| [%s](%s.md) | %s | %s | %s |\n", d.Title, d.Name, v.Scheme, keyWords[v.Key], v.Grade)
	}
	fmt.Fprintf(&b, "\n%d senders.\n", len(all))
	return b.String()
}
