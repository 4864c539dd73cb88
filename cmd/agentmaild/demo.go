package main

import (
	"github.com/agentmaild/agentmaild/demo"
	"github.com/spf13/cobra"
)

func (a *app) demoCommand() *cobra.Command {
	var keep string
	cmd := &cobra.Command{
		Use: "demo", Short: "Show a negotiation between two agents; needs no configuration and no network", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return demo.Run(cmd.Context(), keep, cmd.OutOrStdout()) },
	}
	cmd.Flags().StringVar(&keep, "keep", "", "leave mails, stores, logs and configurations in this new `DIR`")
	return cmd
}
