package main

import (
	"fmt"
	"strconv"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/inbox"
	"github.com/spf13/cobra"
)

func (a *app) limitsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "limits", Short: "Show the limits of an agent, and what is used of them", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, name, err := a.client(cmd.Context())
			if err != nil {
				return err
			}
			u, err := client.Usage(cmd.Context(), name)
			if err != nil {
				return err
			}
			return a.print(cmd, u, func() { showUsage(cmd, &u) })
		},
	}
}

func showUsage(cmd *cobra.Command, u *inbox.Usage) {
	if !u.Set {
		cmd.Println("no limits are set: the handler and the price list decide alone, an agent that plugs in is asked about everything")
	} else {
		cmd.Printf("auto %s, days and months in %s\n", u.Limits.Auto, u.TimeZone)
	}
	cmd.Printf("actions this hour: %d of %d\nopen offers: %d of %d\n", u.Actions, u.Limits.HourlyMessages, u.OpenOffers, u.Limits.OpenOffers)
	for _, m := range u.Money {
		most, set := u.Limits.Money[m.Currency]
		deal := ""
		switch {
		case set:
			deal = "one deal at most " + amount(most.Deal, m.Currency) + "; "
		case u.Set:
			deal = "each deal is asked about; "
		}
		cmd.Printf("%s: %sthis month %s; own open quotes %s\n", m.Currency, deal, used(m.Month, most.Month, m.Currency), amount(m.Open, m.Currency))
		for _, c := range m.Today {
			cmd.Printf("  today with %s: %s\n", printable(c.With), used(c.Agreed, most.CounterpartDay, m.Currency))
		}
	}
}

// used is an amount beside its limit, if it has one.
func used(n int64, limit *int64, currency string) string {
	if limit == nil {
		return amount(n, currency)
	}
	return fmt.Sprintf("%s of %s", amount(n, currency), amount(*limit, currency))
}

// amount is an amount in minor units as a person writes it.
func amount(n int64, currency string) string {
	return intent.Money{Amount: strconv.FormatInt(n, 10), Currency: currency}.String()
}
