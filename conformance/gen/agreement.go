package main

// agreementSuite is the check of records (agent-agreement/1): one valid record
// of each kind, and what becomes of it when one thing is changed.
func agreementSuite() *recordSuite {
	s := &recordSuite{suite: newSuite("agreements", "Agreement records and their check, rule by rule (D29 to D33, D47 to D52, D80 to D85).")}
	s.Profile = "agent-agreement/1"
	s.Cases = nil
	readingRows(s)
	messageRows(s)
	bindingRows(s)
	trustRows(s)
	kindRows(s)
	sealRows(s)
	return s
}

// recordSuite is a suite whose cases are records. Its Cases stand in the place
// of the stories.
type recordSuite struct {
	*suite
	Cases []recordCase `json:"cases"`
}

type recordCase struct {
	Name   string  `json:"name"`
	Why    string  `json:"why"`
	Record string  `json:"record"`
	Expect finding `json:"expect"`
}

// finding is what must come of a check.
type finding struct {
	Result   string    `json:"result"`
	Code     string    `json:"code,omitzero"`
	Warnings *[]string `json:"warnings,omitzero"`
}

var (
	twoSigned = finding{Result: "two_signatures", Warnings: &[]string{}}
	oneSigned = finding{Result: "one_signature", Warnings: &[]string{}}
	replied   = finding{Result: "their_reply", Warnings: &[]string{}}
	notMade   = finding{Result: "not_made"}
	revoked   = finding{Result: "two_signatures", Warnings: &[]string{"key_revoked_later"}}
)

func fails(code string) finding { return finding{Result: "does_not_check_out", Code: code} }

func (s *recordSuite) folder() string { return "records" }

func (s *recordSuite) cases() (named [][2]string) {
	for _, c := range s.Cases {
		named = append(named, [2]string{c.Name, c.Why})
	}
	return named
}

func (s *recordSuite) render() map[string][]byte { return s.rendered(s) }

// deal is an agreement that is made into a record. The func members change
// what the step before made; they stand in the order in which they are called.
type deal struct {
	*story
	begin            func(*deal)
	onOffer, onReply change // of the offer; of the acceptance

	ask, offer, accept *letter // accept is nil where a person replied
	kind               string
	claim              string // the kind that the record says, where it is another
	sealer             *side

	edit  func(map[string]any)        // the record, before it is sealed
	seal  func(payload []byte) string // seals it, instead of the usual way
	after func(map[string]any)        // the record, after it was sealed
	text  func(string) string         // the file
}

// difference makes a deal another one than the baseline.
type difference func(*deal)

// row is one case.
type row struct {
	name, why string
	change    difference
	want      finding
}

// rows writes the cases, each from the same baseline.
func (s *recordSuite) rows(prefix string, begin func(*deal), rows []row) {
	for _, r := range rows {
		r.name = prefix + r.name
		d := &deal{
			story: &story{suite: s.suite, now: start, Name: r.name, thread: uuid("record " + r.name + " thread")},
			begin: begin, kind: "two_signatures",
		}
		if r.change != nil {
			r.change(d)
		}
		file := "records/" + r.name + ".json"
		s.files[file] = []byte(d.file())
		s.Cases = append(s.Cases, recordCase{r.name, r.why, file, r.want})
	}
}

// The baselines. Both sides sign, and the accepter seals.
func quoted(d *deal) {
	d.ask = d.story.ask(d.buyer())
	d.offer = d.story.quote(d.seller(), d.ask)
	d.offered()
	d.accept = d.story.accept(d.buyer(), d.offer)
	d.accepted(d.buyer())
}

func appointed(d *deal) {
	d.offer = d.story.times(d.seller())
	d.offered()
	d.accept = d.story.accept(d.buyer(), d.offer)
	d.accepted(d.buyer())
}

// repliedTo is a quote that a person accepted in words.
func repliedTo(d *deal) {
	d.kind = "their_reply"
	d.offer = priced(d.story.letter(d.seller(), "quote"))
	d.offered()
	d.accepted(d.seller())
}

func (d *deal) offered() {
	if d.onOffer != nil {
		d.onOffer(d.offer)
	}
}

func (d *deal) accepted(by *side) {
	if d.accept != nil {
		d.accept.Prev = asStands(d.offer)
	}
	if d.onReply != nil {
		d.onReply(d.accept)
	}
	if d.sealer == nil {
		d.sealer = by
	}
}
