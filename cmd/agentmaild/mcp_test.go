package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// model is a command of the scripts: model TOOL ARGUMENTS [FLAG…] has `agentmaild
// mcp` started as a model's program starts it, uses one tool, and prints what
// it answers. Where the tool refuses, that goes to standard error.
func model() {
	refused, err := useTool(os.Args[1], os.Args[2], os.Args[3:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || refused {
		os.Exit(1)
	}
}

func useTool(name, args string, flags []string) (refused bool, err error) {
	ctx := context.Background()
	program := exec.Command("agentmaild", append([]string{"mcp"}, flags...)...)
	program.Stderr = os.Stderr
	session, err := sdk.NewClient(&sdk.Implementation{Name: "model", Version: "1"}, nil).Connect(ctx, &sdk.CommandTransport{Command: program}, nil)
	if err != nil {
		return false, err
	}
	result, err := session.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(args)})
	if err != nil {
		return false, err
	}
	out := os.Stdout
	if result.IsError {
		out = os.Stderr
	}
	fmt.Fprintln(out, result.Content[0].(*sdk.TextContent).Text)
	return result.IsError, session.Close() // waits for it to end when its input does
}
