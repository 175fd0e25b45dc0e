// Package client has one server for all its tests, and one account for each test.
package client

import (
	"encoding/json"
	"log"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

var server struct {
	BaseURL  string `json:"base_url"`
	AdminURL string `json:"admin_url"`
}

// TestMain needs not stop the server: that ends with this process, however this ends.
func TestMain(m *testing.M) {
	// Under run, vary and explore, which judge the requests themselves.
	if server.AdminURL = os.Getenv("UNDERSTUDY_ADMIN_URL"); server.AdminURL != "" {
		server.BaseURL = os.Getenv("UNDERSTUDY_BASE_URL")
		os.Exit(m.Run())
	}
	folder, _ := os.MkdirTemp("", "understudy-")
	ready := filepath.Join(folder, "ready.json")
	command := exec.Command("npx", "--no", "dmarc-understudy", "serve", "--port", "0",
		"--exit-with", strconv.Itoa(os.Getpid()), "--log-level", "warn", "--ready-file", ready)
	command.Stderr = os.Stderr
	ended := make(chan error, 1)
	go func() { ended <- command.Run() }()
	deadline := time.After(30 * time.Second)
	for server.BaseURL == "" {
		select {
		case err := <-ended:
			log.Fatalf("The server ended: %v", err)
		case <-deadline:
			log.Fatal("The server is not ready after 30 s.")
		case <-time.After(50 * time.Millisecond):
			facts, _ := os.ReadFile(ready)
			json.Unmarshal(facts, &server)
		}
	}
	code := m.Run()
	var verdict struct {
		Passed  bool
		Message string
	}
	call("GET", server.AdminURL+"/verdict", "", "", &verdict)
	if !verdict.Passed {
		log.Fatal(verdict.Message)
	}
	os.RemoveAll(folder)
	os.Exit(code)
}

type account struct{ key, control string }

// newAccount gives the test an account of its own, so it can run beside all others.
func newAccount(t *testing.T) account {
	t.Parallel()
	var made struct {
		Account struct{ ID string }
		APIKey  string `json:"api_key"`
	}
	call("POST", server.AdminURL+"/accounts", "", `{"fixture": "empty"}`, &made)
	return account{made.APIKey, server.AdminURL + "/accounts/" + made.Account.ID}
}

// call stands for the client that you test: it returns the status, and puts the data of the answer into data.
func call(method, url, key, body string, data any) int {
	request, _ := http.NewRequest(method, url, strings.NewReader(body))
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Panic(err)
	}
	defer response.Body.Close()
	json.NewDecoder(response.Body).Decode(&struct{ Data any }{data})
	return response.StatusCode
}

func TestAddsADomain(t *testing.T) {
	account := newAccount(t)
	call("POST", server.BaseURL+"/domains", account.key, `{"domains": ["shop.example"]}`, nil)
	var list struct{ Domains []string }
	call("GET", server.BaseURL+"/domains", account.key, "", &list)
	if len(list.Domains) != 1 || list.Domains[0] != "shop.example" {
		t.Error(list.Domains)
	}
}

func TestHearsThatItAsksTooOften(t *testing.T) {
	account := newAccount(t)
	rule := `{"match": {"operation": "addDomains"}, "respond": {"error": "rate_limited"}, "times": 1}`
	call("POST", account.control+"/faults", "", rule, nil)
	status := call("POST", server.BaseURL+"/domains", account.key, `{"domains": ["shop.example"]}`, nil)
	if status != http.StatusTooManyRequests {
		t.Error(status)
	}
}
