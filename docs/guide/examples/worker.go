// A Corvo worker in Go, standard library only.
//
//	CORVO_URL=http://localhost:8080 go run worker.go emails [--once]
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

type job struct {
	ID            string          `json:"job_id"`
	Payload       json.RawMessage `json:"payload"`
	Attempt       int             `json:"attempt"`
	LeaseToken    json.Number     `json:"lease_token"`
	LeaseDuration float64         `json:"lease_duration"`
}

type object map[string]any

var (
	base   = env("CORVO_URL", "http://localhost:8080") + "/api/v1"
	client = &http.Client{Timeout: 45 * time.Second}
)

func env(name, fallback string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return fallback
}

// call sends body as JSON and decodes the answer into out, unless out is nil.
func call(path string, body, out any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequest(http.MethodPost, base+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	if key := os.Getenv("CORVO_API_KEY"); key != "" {
		request.Header.Set("X-API-Key", key)
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= 300 {
		return fmt.Errorf("%s: %s: %s", path, response.Status, answer)
	}
	if out == nil || len(answer) == 0 {
		return nil
	}
	return json.Unmarshal(answer, out)
}

// handle is your code. Return an error to fail the attempt; the value is stored as the result.
func handle(ctx context.Context, j job) (any, error) {
	payload := struct {
		To string `json:"to"`
	}{To: "nobody"}
	if err := json.Unmarshal(j.Payload, &payload); err != nil {
		return nil, err
	}
	return object{"greeted": payload.To}, nil
}

// heartbeats renews the lease until ctx ends, and calls cancel if the job was cancelled.
func heartbeats(ctx context.Context, j job, cancel func()) {
	ticker := time.NewTicker(time.Duration(j.LeaseDuration * float64(time.Second) / 3))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			var answer struct {
				Jobs map[string]struct{ Status string }
			}
			if err := call("/heartbeat", object{"jobs": object{j.ID: object{}}}, &answer); err != nil {
				log.Print("heartbeat: ", err)
			} else if answer.Jobs[j.ID].Status == "cancel" {
				cancel()
			}
		}
	}
}

func work(j job) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var cancelled atomic.Bool
	go heartbeats(ctx, j, func() { cancelled.Store(true); stop() })
	result, err := handle(ctx, j)
	switch {
	case cancelled.Load():
		return nil
	case err != nil:
		return call("/fail/"+j.ID, object{"error": err.Error(), "lease_token": j.LeaseToken}, nil)
	default:
		return call("/ack/"+j.ID, object{"result": result, "lease_token": j.LeaseToken}, nil)
	}
}

func main() {
	if len(os.Args) < 2 {
		log.Fatal("usage: worker QUEUE [--once]")
	}
	stopping, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	host, _ := os.Hostname()
	want := object{"queues": []string{os.Args[1]}, "worker_id": fmt.Sprintf("%s-%d", host, os.Getpid()),
		"hostname": host, "timeout": 30}
	for stopping.Err() == nil {
		var j job
		err := call("/fetch", want, &j)
		if err == nil && j.ID != "" {
			err = work(j)
			if len(os.Args) > 2 && os.Args[2] == "--once" && err == nil {
				return
			}
		}
		if err != nil {
			log.Print("trying again: ", err)
			time.Sleep(time.Second)
		}
	}
}
