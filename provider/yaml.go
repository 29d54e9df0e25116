package provider

import "path"

// YAML is the file of a built-in provider, to start a home-made one from; nothing for one that is not built in.
func (p *Provider) YAML() []byte {
	text, err := files.ReadFile(path.Join("catalogue", p.Name()+".yaml"))
	if err != nil {
		return nil
	}
	return text
}
