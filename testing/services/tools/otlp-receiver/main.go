// The OTLP receiver of the OpenTelemetry Collector, alone: takes traces over HTTP on the address that is its first
// argument, and appends each batch as one line of JSON to the file that is its second.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	ctx := context.Background()
	file, err := os.OpenFile(os.Args[2], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	check(err)
	marshaler := ptrace.JSONMarshaler{}
	sink, err := consumer.NewTraces(func(_ context.Context, traces ptrace.Traces) error {
		line, err := marshaler.MarshalTraces(traces)
		if err == nil {
			_, err = file.Write(append(line, '\n'))
		}
		return err
	})
	check(err)

	factory := otlpreceiver.NewFactory()
	config := factory.CreateDefaultConfig()
	http := map[string]any{"endpoint": os.Args[1]}
	settings := map[string]any{"protocols": map[string]any{"http": http}}
	check(confmap.NewFromStringMap(settings).Unmarshal(config))
	parts := receiver.Settings{
		ID:                component.NewID(factory.Type()),
		TelemetrySettings: componenttest.NewNopTelemetrySettings(),
	}
	started, err := factory.CreateTraces(ctx, parts, config, sink)
	check(err)
	check(started.Start(ctx, componenttest.NewNopHost()))
	fmt.Println("listening")

	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	<-stop
	check(started.Shutdown(ctx))
}
