package main

import (
	"errors"
	"io"

	"github.com/agentmaild/agentmaild/demo"
	"github.com/spf13/cobra"
)

func (a *app) demoCommand() *cobra.Command {
	var keep string
	cmd := &cobra.Command{
		Use: "demo", Short: "Show agents make a deal, do a task and admit a stranger; needs no configuration and no network", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			story := cmd.OutOrStdout()
			if a.json {
				story = io.Discard
			}
			result, err := demo.Run(cmd.Context(), keep, story)
			if errors.Is(err, demo.ErrFolder) {
				return usage("%w", err)
			}
			if err != nil {
				return err
			}
			return a.print(cmd, result, func() {})
		},
	}
	cmd.Flags().StringVar(&keep, "keep", "", "leave mails, records, key pages, stores, logs and configurations in this new `DIR`")
	return cmd
}
