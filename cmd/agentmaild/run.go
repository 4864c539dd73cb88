package main

import (
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/agentmaild/agentmaild/config"
	"github.com/agentmaild/agentmaild/daemon"
	"github.com/spf13/cobra"
)

func (a *app) runCommand() *cobra.Command {
	return &cobra.Command{
		Use: "run", Short: "Run the daemon until it is told to stop; SIGHUP has it read the configuration again", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			hup := make(chan os.Signal, 1) // before anything, as it would end the process
			signal.Notify(hup, syscall.SIGHUP)
			cfg, world, err := a.world()
			if err != nil {
				return err
			}
			d, err := daemon.New(cfg, world)
			if err != nil {
				return err
			}
			d.ReloadOn(hup, a.load)
			return d.Run(cmd.Context())
		},
	}
}

func (a *app) configCommand() *cobra.Command {
	return group("config", "The configuration", a.configNewCommand(), &cobra.Command{
		Use: "check", Short: "Check the configuration and the files it names; nothing is connected to", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, world, err := a.world()
			if err != nil {
				return err
			}
			if err := daemon.Check(cfg, world); err != nil {
				return usage("%w", err)
			}
			return a.print(cmd, map[string]any{"ok": true, "inboxes": len(cfg.Inboxes)}, func() {
				names := make([]string, len(cfg.Inboxes))
				for i, in := range cfg.Inboxes {
					names[i] = in.Name
				}
				cmd.Println("the configuration is good; inboxes:", strings.Join(names, ", "))
			})
		},
	})
}

// world reads the configuration and makes what the daemon uses of the outside.
func (a *app) world() (*config.Config, daemon.World, error) {
	cfg, err := a.load()
	if err != nil {
		return nil, daemon.World{}, err
	}
	world, err := daemon.NewWorld(cfg, os.Stderr)
	if err != nil {
		return nil, daemon.World{}, usage("%w", err)
	}
	return cfg, world, nil
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			version, goVersion := "unknown", ""
			if info, ok := debug.ReadBuildInfo(); ok {
				version, goVersion = info.Main.Version, info.GoVersion
			}
			return a.print(cmd, map[string]string{"version": version, "go": goVersion}, func() {
				cmd.Println("agentmaild", version, goVersion)
			})
		},
	}
}
