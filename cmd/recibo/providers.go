package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/provider"
)

func newProviders(e *env) *cobra.Command {
	cmd := &cobra.Command{Use: "providers", Short: "The catalogue: what senders sign, and what that protects"}
	cmd.AddCommand(newProvidersList(e), newProvidersShow(e))
	return cmd
}

func newProvidersList(e *env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the senders",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			var all []*provider.Description
			for _, p := range provider.All() {
				all = append(all, p.Describe())
			}
			if asJSON {
				return json.NewEncoder(e.stdout).Encode(map[string]any{"schema": "recibo/providers/v1", "providers": all})
			}
			return printProviders(e.stdout, all)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printProviders(to io.Writer, all []*provider.Description) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "NAME\tTITLE\tSIGNS WITH\tKEY\tREPLAY")
	for _, d := range all {
		v := d.Variants[0]
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", d.Name, d.Title, v.Scheme, keyWords[v.Key], v.Grade)
	}
	_, _ = fmt.Fprintf(w, "%d senders; recibo providers show NAME explains one\n", len(all))
	return w.Flush()
}

var keyWords = map[recibo.KeyKind]string{
	recibo.KeyID: "signed id", recibo.KeyFingerprint: "fingerprint", recibo.KeyComposite: "signed fields",
	recibo.KeyToken: "one-time token", recibo.KeyCredential: "credential",
}

func newProvidersShow(e *env) *cobra.Command {
	var asJSON, asYAML bool
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Explain a sender: what is signed, what is not, what that means for replay",
		Args:  cobra.ExactArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, p := range provider.All() {
				names = append(names, p.Name())
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := provider.Lookup(args[0])
			switch {
			case err != nil:
				return no("%w", err)
			case asYAML:
				e.printf("%s", p.YAML())
			case asJSON:
				return json.NewEncoder(e.stdout).Encode(map[string]any{"schema": "recibo/provider/v1", "provider": p.Describe()})
			default:
				showProvider(e, p.Describe())
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&asYAML, "yaml", false, "print the sender's own file, to start a home-made one from")
	return cmd
}

func showProvider(e *env, d *provider.Description) {
	e.printf("%s (%s)\n", d.Title, d.Name)
	if d.Setup != "" {
		e.printf("\n%s\n", d.Setup)
	}
	for _, v := range d.Variants {
		showVariant(e, &v, len(d.Variants) > 1)
	}
	for _, line := range paramLines(d.Params) {
		e.printf("  parameter   %s\n", strings.ReplaceAll(line, "`", ""))
	}
	for _, note := range d.Notes {
		e.printf("  note        %s\n", note)
	}
	for _, doc := range d.Docs {
		e.printf("  source      %s\n", doc)
	}
	e.printf("  facts       confidence %s\n", d.Confidence)
}

func showVariant(e *env, v *provider.Variant, named bool) {
	if named {
		main := ""
		if v.Main {
			main = ", the default"
		}
		e.printf("\nvariant %s%s  %s\n", v.Name, main, v.About)
	} else {
		e.printf("\n")
	}
	e.printf("  signs with  %s in %s\n", v.Scheme, v.Signature)
	e.printf("  signed      %s\n", strings.Join(v.Signed, ", "))
	if len(v.Unsigned) > 0 {
		e.printf("  not signed  %s\n", strings.Join(v.Unsigned, ", "))
	}
	e.printf("  key         %s\n", strings.TrimSpace(keyWords[v.Key]+" "+strings.Join(v.KeyFrom, " + ")))
	e.printf("  time        %s\n", timeText(v))
	e.printf("  replay      %s: %s\n", v.Grade, strings.Join(v.Protection, "\n              "))
	if v.Retries != "" {
		e.printf("  retries     %s\n", v.Retries)
	}
}

func orDefaultTolerance(v *provider.Variant) any {
	if v.Tolerance == 0 {
		return recibo.DefaultTolerance
	}
	return v.Tolerance
}
