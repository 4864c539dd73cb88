package monitor

// family is one metric, with what its numbers mean.
type family struct{ name, kind, help string }

const (
	counter = "counter"
	gauge   = "gauge"
)

// families are all metrics, in the order in which they are written.
var families = []family{
	{"agentmaild_mails_total", counter, "Mails taken up since the start, by verdict and code."},
	{"agentmaild_events_total", counter, "Events since the start, by kind."},
	{"agentmaild_mailbox_connected", gauge, "1 while the mailbox is connected and the last look at its folder succeeded."},
	{"agentmaild_mailbox_idle", gauge, "1 while the server tells of new mail by itself (IDLE)."},
	{"agentmaild_mailbox_last_look_timestamp_seconds", gauge, "When the folder was last looked at with success, 0 for never."},
	{"agentmaild_mailbox_sessions_total", counter, "IMAP sessions begun since the start; each after the first is a reconnect."},
	{"agentmaild_outbox_letters", gauge, "Letters in the outbox."},
	{"agentmaild_outbox_oldest_seconds", gauge, "For how long the oldest letter has been in the outbox, 0 without one."},
	{"agentmaild_pending_events", gauge, "Events that the handler has not answered."},
	{"agentmaild_retries", gauge, "Mails that wait for DNS or a key page."},
	{"agentmaild_webhooks_failing", gauge, "Webhooks that could not be told of an event, and not of another since."},
	{"agentmaild_waiting", gauge, "What waits for the owner, by kind."},
	{"agentmaild_key_page_fetches_total", counter, "Fetches of key pages since the start, by result: page, none or failed."},
	{"agentmaild_store_commits_total", counter, "Commits of the store since the start."},
	{"agentmaild_store_failed_commits_total", counter, "Commits since the start that could not be written."},
	{"agentmaild_store_commit_seconds_total", counter, "Time that all commits since the start have taken."},
}
