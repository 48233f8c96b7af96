// Records to which fields Go's encoding/json leads keys, and what it says of values of other types.
//
//go:debug default=go1.26
package main

import (
	"encoding/json"
	"errors"
	"os"
)

// Fields whose names differ in case only, and letters that Unicode folds to others: k, s, i.
type fields struct {
	Name      int `json:"name"`
	Resources int `json:"resources"`
	Other     int `json:"Name"`
	Kind      int `json:"kind"`
	Images    int `json:"images"`
	APIs      int `json:"apiVersion"`
	Dashed    int `json:"a-b_c.d"`
	Digits    int `json:"v1"`
}

var names = []string{"name", "resources", "Name", "kind", "images", "apiVersion", "a-b_c.d", "v1"}

var keys = []string{
	"name", "Name", "NAME", "nAme", "names", "nam", "", " name", "name ", "resources", "Resources", "re\u017fource\u017f",
	"RE\u017fOURCES", "kind", "KIND", "\u212aind", "\u212aIND", "k\u0131nd", "K\u0130ND", "images", "\u0130mages", "Images",
	"image\u017f", "apiVersion", "apiversion", "APIVERSION", "api-version", "api_version", "a-b_c.d", "A-B_C.D", "a-B-c.d", "v1", "V1",
	"ｎame", "nàme", "\u00e5", "name\u0000",
}

type inner struct {
	Texts  []string          `json:"texts"`
	Number int64             `json:"number"`
	Map    map[string]string `json:"map"`
}

type outer struct {
	Text    string         `json:"text"`
	Truth   bool           `json:"truth"`
	Pointer *bool          `json:"pointer"`
	Inner   inner          `json:"inner"`
	List    []inner        `json:"list"`
	Any     map[string]any `json:"any"`
}

var documents = []string{
	`[]`, `"a"`, `1`, `true`, `{"text": 1}`, `{"text": 1.5}`, `{"text": true}`, `{"text": []}`, `{"text": {}}`, `{"TEXT": 1}`,
	`{"truth": "a"}`, `{"truth": 0}`, `{"pointer": "a"}`, `{"pointer": []}`, `{"inner": []}`, `{"inner": "a"}`,
	`{"inner": {"texts": "a"}}`, `{"inner": {"texts": {}}}`, `{"inner": {"texts": [1]}}`, `{"inner": {"texts": [[]]}}`,
	`{"inner": {"number": "1"}}`, `{"inner": {"number": 1.5}}`, `{"inner": {"number": 1e3}}`,
	`{"inner": {"number": 9223372036854775808}}`, `{"inner": {"map": []}}`, `{"inner": {"map": {"a": 1}}}`, `{"list": {}}`,
	`{"list": [1]}`, `{"list": [{"texts": 1}]}`, `{"any": 1}`, `{"any": []}`,
}

type wrong struct {
	Document string `json:"document"`
	Value    string `json:"value"`
	Struct   string `json:"struct"`
	Field    string `json:"field"`
	Type     string `json:"type"`
	Text     string `json:"text"`
}

func main() {
	var out struct {
		Names []string        `json:"names"`
		Found map[string]*int `json:"found"`
		Wrong []wrong         `json:"wrong"`
	}
	out.Names, out.Found = names, map[string]*int{}
	for _, key := range keys {
		document, err := json.Marshal(map[string]int{key: 1})
		if err != nil {
			panic(err)
		}
		var read fields
		if err := json.Unmarshal(document, &read); err != nil {
			panic(err)
		}
		out.Found[key] = nil
		values := []int{read.Name, read.Resources, read.Other, read.Kind, read.Images, read.APIs, read.Dashed, read.Digits}
		for index, value := range values {
			if value != 0 {
				out.Found[key] = &index
			}
		}
	}
	for _, document := range documents {
		var of *json.UnmarshalTypeError
		if err := json.Unmarshal([]byte(document), new(outer)); !errors.As(err, &of) {
			panic(document)
		}
		out.Wrong = append(out.Wrong, wrong{document, of.Value, of.Struct, of.Field, of.Type.String(), of.Error()})
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(out); err != nil {
		panic(err)
	}
}
