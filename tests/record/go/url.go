// Records how Go's net/url takes URLs apart, puts them together and resolves references.
//go:debug default=go1.26
package main

import (
	"encoding/json"
	"net/url"
	"os"
)

var urls = []string{
	"", "/", "a", "a/b", "/a/b", "*", "?", "#", "?q", "#f", "a?", "a??", "a?b?c", "a#", "a##b", "a#b#c", "a b", "é", "a%20b", "a%2fb", "a%2Fb/", "a%", "a%2", "a%zz", "a%zzz", "%", "% x", "a+b", "a;b",
	"http:", "http:/", "http://", "http:///", "http:////a", "///a", "//a", "//a/b", "////a", "/a//b", "http:a", "http:/a", "http:?q", "http:#f", "mailto:a@b.c", "urn:a:b", "a:b", "a:b/c", "a/b:c", "./a:b", "1a:b", "+a:b", "a+.-1:b", "a_b:c", "é:b", ":a", "::", "://a", ":", "HTTP://A.B/C", "hTTp://a",
	"http://a", "http://a/", "http://a?q", "http://a#f", "http://a/b?q#f", "http://a/b c", "http://a/b%20c", "http://a/%zz", "http://a/%", "http://a/b%2fc", "http://a/[b]", "http://a/é", "http://a/%c3%a9", "http://a/\"<>", "http://a/b;c,d=e&f$g", "http://a/!'()*", "http://a/b:c@d", "http://a/../b", "http://a/./b", "http://a?x=%zz", "http://a?x y", "http://a/#a b", "http://a/#%", "http://a/#%20", "http://a/#!()*", "http://a/#é", "http://a/#a%2fb",
	"http://a b/", "http://a%20b/", "http://a%2fb/", "http://a%41b/", "http://a%c3%a9/", "http://a%80/", "http://a%25b/", "http://a%zz/", "http://é/", "http://a_b/", "http://a!$&'()*+,;=b/", "http://a\"b/", "http://a<b>/", "http://a[b]/", "http://a[/", "http://a]/", "http://[/", "http://]/", "http://[]/", "http://[a]/", "http://a\\b/", "http://a^b/", "http://a{b}/", "http://a|b/", "http://a`b/", "http://a~b/", "http://a..b/", "http://-a/", "http://%/", "http://%2/",
	"http://a:80", "http://a:80/", "http://a:/", "http://a:b/", "http://a:8b/", "http://a:-1/", "http://a:99999/", "http://:80/", "http://:/", "http://a:80:90/", "https://a:80:90/", "ssh://a:80:90/", "ssh://a:80:b/", "ssh://a:b:80/", "postgres://a:1,b:2/c", "http://a:1,b:2/c", "//a:80:90", "http://a: 80/", "http://a:80 /", "http://a:%38/",
	"http://[::1]", "http://[::1]/", "http://[::1]:80/", "http://[::1]:/", "http://[::1]:b/", "http://[::1]b/", "http://[::1", "http://[::1:80", "http://::1/", "http://::1]:80/", "http://[1.2.3.4]/", "http://[1.2.3]/", "http://[::ffff:1.2.3.4]/", "http://[::1.2.3.4]/", "http://[1:2:3:4:5:6:1.2.3.4]/", "http://[1:2:3:4:5:6:7:1.2.3.4]/", "http://[1:2:1.2.3.4]/", "http://[::1.2.3.256]/", "http://[::1.2.3.04]/", "http://[::1.2.3]/", "http://[::1.2.3.4.5]/", "http://[::1..2.3]/", "http://[::1.2.3.x]/",
	"http://[1:2:3:4:5:6:7:8]/", "http://[1:2:3:4:5:6:7]/", "http://[1:2:3:4:5:6:7:8:9]/", "http://[1::8]/", "http://[1::2::3]/", "http://[::]/", "http://[:1]/", "http://[1:]/", "http://[12345::]/", "http://[g::]/", "http://[::1:2:3:4:5:6:7:8]/", "http://[1:2:3:4:5:6:7::]/", "http://[1:2:3:4::5:6:7:8]/", "http://[fe80::1%25en0]/", "http://[fe80::1%en0]/", "http://[fe80::1%25]/", "http://[fe80::1%25a%20b]/", "http://[fe80::1%25%41]/", "http://[fe80::1%25%zz]/", "http://[fe80::1%25a/b]/", "http://[%25en0]/", "http://[v1.a]/", "http://[::1]]/", "http://[[::1]]/", "http://[::%31]/", "http://[é]/", "http://[a b]/",
	"http://u@a/", "http://u:p@a/", "http://u:@a/", "http://:p@a/", "http://@a/", "http://:@a/", "http://u@b@a/", "http://u:p:q@a/", "http://u%40b:p%3a@a/", "http://u b@a/", "http://u[@a/", "http://u%zz@a/", "http://u%@a/", "http://é@a/", "http://u/b@a/", "http://u?b@a/", "http://u!$&'()*+,;=-._~@a/", "http://u@", "http://u@/", "http://u@:80/", "//u@a", "//@/", "http://u:p@[::1]:80/a",
	"https://github.com/argoproj/argo-cd", "git@github.com:a/b.git", "git@host:a", "user@host/a", "ssh://git@host:22/a/b.git", "ssh://git@host:a/b.git", "file:///srv/a", "file://host/a", "file:a", "file:/a", "C:/a", "C:\\a", "git::https://a/b", "oci://a/b:1", "localhost:8080", "localhost:8080/a", "127.0.0.1:80", "1.2.3.4", "a.b:80/c", "example.com/a?b=c", "github.com/a/b//c?ref=v1", "https://a/b//c?ref=v1", "../a", "../../a", "./a", ".", "..", "a/..", "/..", "/a/../..", "a/./b", "a/.", "a/b/../c",
	"http://a/\x7f", "http://a/\x00", "http://a\n/", "\thttp://a", " http://a", "http://a ", "http://a/ ", "a:b c", "a:%zz", "http://a/b?c=d&e=f#g=h", "javascript:alert(1)", "data:text/plain,a b", "tel:+1", "x:y?z#w", "x:?z", "x:#w", "x://y?", "x:y?", "http://a/?", "http://a/?#", "http://a/b%2Fc%20d", "http://a/b%E4c", "urn:example:a%zz", "http://a/%2e%2e/b", "http://a/(b)", "http://a/*",
}

var bases = []string{"http://a/b/c/d;p?q", "https://a.example/b/c.json", "file:///values.schema.json", "urn:x", "/a/b", "a/b", "", "http://a", "http://u:p@a:80/b%2fc/d?q#f", "mailto:a@b.c?q", "x:/a/b", "//h/a"}

var references = []string{
	"", "g", "./g", "g/", "/g", "//g", "?y", "g?y", "#s", "g#s", "g?y#s", ";x", "g;x", "g;x?y#s", ".", "./", "..", "../", "../g", "../..", "../../", "../../g", "../../../g", "../../../../g", "/./g", "/../g", "g.", ".g", "g..", "..g", "./../g", "./g/.", "g/./h", "g/../h", "g;x=1/./y", "g;x=1/../y", "g?y/./x", "g?y/../x", "g#s/./x", "g#s/../x",
	"http:g", "http://x/y/../z", "urn:y", "mailto:b", "a%2fb", "../a%2fb", "a b", "é", "//x/../y", "///y", "////y", "/a//b", "/a//../b", "//", "?", "#", "g?", "/", "a//b/..", "d.json", "d.json#/definitions/x", "../d.json#/a%20b", "%2e%2e/g", "*", "a/..", "a/../..", "x:?y",
}

type parsed struct {
	URL      string `json:"url"`
	Error    string `json:"error,omitempty"`
	Scheme   string `json:"scheme,omitempty"`
	Opaque   string `json:"opaque,omitempty"`
	User     string `json:"user,omitempty"`
	Host     string `json:"host,omitempty"`
	Hostname string `json:"hostname,omitempty"`
	Path     string `json:"path,omitempty"`
	Query    string `json:"query,omitempty"`
	Fragment string `json:"fragment,omitempty"`
	String   string `json:"string,omitempty"`
}

type escaped struct {
	Text    string `json:"text"`
	Query   string `json:"query"`
	Segment string `json:"segment"`
}

func main() {
	var out struct {
		Parsed   []parsed    `json:"parsed"`
		Resolved [][3]string `json:"resolved"`
		Escaped  []escaped   `json:"escaped"`
	}
	for _, text := range urls {
		row := parsed{URL: text}
		u, err := url.Parse(text)
		if err != nil {
			row.Error = err.Error()
		} else {
			row.Scheme, row.Opaque, row.User, row.Host, row.Hostname = u.Scheme, u.Opaque, u.User.String(), u.Host, u.Hostname()
			row.Path, row.Query, row.Fragment, row.String = u.Path, u.RawQuery, u.Fragment, u.String()
		}
		out.Parsed = append(out.Parsed, row)
	}
	for _, base := range bases {
		for _, reference := range references {
			b, err := url.Parse(base)
			if err != nil {
				panic(err)
			}
			r, err := url.Parse(reference)
			if err != nil {
				panic(err)
			}
			out.Resolved = append(out.Resolved, [3]string{base, reference, b.ResolveReference(r).String()})
		}
	}
	for _, text := range []string{"", "abc", "a b+c", "é", "/?#[]@!$&'()*+,;=%:-._~\"<>\\^`{|}", "\x00\x7f"} {
		out.Escaped = append(out.Escaped, escaped{text, url.QueryEscape(text), url.PathEscape(text)})
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	encoder.Encode(out)
}
