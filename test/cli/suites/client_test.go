package client

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
)

func call(t *testing.T, method, key, path, body string) string {
	request, _ := http.NewRequest(method, os.Getenv("UNDERSTUDY_BASE_URL")+path, strings.NewReader(body))
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return string(text)
}

func TestAddsADomain(t *testing.T) {
	field, isWrong := os.LookupEnv("SENDS")
	if !isWrong {
		field = "domains"
	}
	for _, name := range []string{"one", "two", "three"} {
		name := name
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call(t, "POST", "sandbox_"+name, "/domains", fmt.Sprintf(`{"%s": ["%s.example"]}`, field, name))
			if listed := call(t, "GET", "sandbox_"+name, "/domains", ""); !isWrong && !strings.Contains(listed, name+".example") {
				t.Error(listed)
			}
		})
	}
}

func TestReadsTheAccountOfItsKey(t *testing.T) {
	_, fails := os.LookupEnv("FAILS")
	read := call(t, "GET", os.Getenv("UNDERSTUDY_API_KEY"), "/domains", "")
	if strings.Contains(read, `"success":true`) == fails {
		t.Error(read)
	}
}
