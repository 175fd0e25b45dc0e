// Package client has the service in a container for all its tests.
package client

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

var token, baseURL, adminURL = uuid.NewString(), "", ""

func TestMain(m *testing.M) {
	ctx := context.Background()
	container, err := testcontainers.Run(ctx, "ghcr.io/dmarc-understudy/dmarc-understudy:0.1.0",
		testcontainers.WithExposedPorts("4010/tcp"),
		testcontainers.WithEnv(map[string]string{"DMARC_UNDERSTUDY_ADMIN_TOKEN": token}),
		testcontainers.WithWaitStrategy(wait.ForHTTP("/__admin/ready").WithPort("4010/tcp")))
	if err != nil {
		log.Fatal(err)
	}
	origin, _ := container.PortEndpoint(ctx, "4010/tcp", "http")
	baseURL, adminURL = origin+"/api/v1", origin+"/__admin"
	code := m.Run()
	var verdict struct {
		Passed  bool
		Message string
	}
	err = control("GET", "/verdict", "", &verdict)
	testcontainers.TerminateContainer(container)
	if err != nil || !verdict.Passed {
		log.Fatal(err, verdict.Message)
	}
	os.Exit(code)
}

// newKey returns a key of a new account. Each test has its own, so tests can run at the same time.
func newKey(t *testing.T) string {
	var made struct {
		Key string `json:"api_key"`
	}
	if err := control("POST", "/accounts", `{"fixture": "empty"}`, &made); err != nil {
		t.Fatal(err)
	}
	return made.Key
}

// control asks the control plane, and reads the data of its answer.
func control(method, path, body string, data any) error {
	request, _ := http.NewRequest(method, adminURL+path, strings.NewReader(body))
	request.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s", method, path, response.Status)
	}
	return json.NewDecoder(response.Body).Decode(&struct{ Data any }{data})
}
