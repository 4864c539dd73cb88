package main

// bindingRows are terms, slot, and what ties the acceptance to the offer.
func bindingRows(s *recordSuite) {
	terms, binding := fails("terms"), fails("binding")
	s.rows("terms-", quoted, []row{
		{"total-off-by-one", "a minor unit less than the offer", edited("terms.total.amount", "29999999"), terms},
		{"currency", "the amount in another currency", edited("terms.total.currency", "USD"), terms},
		{"quantity", "one piece more", edited("terms.items.quantity", 201), terms},
		{"description", "another thing", edited("terms.items.description", "Ceramic cup"), terms},
		{"unit-missing", "an item without its unit", lacking("terms.items.unit"), terms},
		{"delivery-missing", "without the day of delivery", lacking("terms.delivery_by"), terms},
		{"more", "a member that the offer has not: a term nobody agreed to (D81)", edited("terms.deposit", "0"), terms},
		{"more-inside", "and inside an item (D81)", edited("terms.items.colour", "white"), terms},
		{"no-delivery", "an offer that names no day of delivery", onOffer(func(l *letter) { l.DeliveryBy = "" }), twoSigned},
		{"delivery-added", "and terms that do", together(onOffer(func(l *letter) { l.DeliveryBy = "" }), edited("terms.delivery_by", "2026-11-27")), terms},
		{"type", "terms of times for a quote", edited("terms", map[string]any{
			"type": "propose_times", "slot": map[string]any{"start": "2026-11-20T10:00:00Z", "end": "2026-11-20T11:00:00Z", "time_zone": "Europe/London"},
		}), terms},
	})
	slot := func(n any) difference { return onAcceptance(set("slot", n)) }
	s.rows("slot-", appointed, []row{
		{"last", "the second of two times", together(slot(1), edits(func(r map[string]any) {
			r["terms"].(map[string]any)["slot"] = map[string]any{"start": "2026-11-21T10:00:00Z", "end": "2026-11-21T11:00:00Z", "time_zone": "Europe/London"}
		})), twoSigned},
		{"of-terms", "the terms have another time than the acceptance", slot(1), terms},
		{"beyond", "the third of two times", slot(2), binding},
		{"negative", "one before the first", slot(-1), binding},
		{"huge", "a slot that no integer holds (D39)", slot(1e20), binding},
		{"missing", "times without a slot (D6)", onAcceptance(del("slot")), binding},
		{"purpose-missing", "terms without the purpose", lacking("terms.purpose"), terms},
	})
	s.rows("slot-", quoted, []row{{"of-quote", "a quote with a slot (D6)", slot(0), binding}})

	other := uuid("another")
	s.rows("binding-", quoted, []row{
		{"record-thread", "the record names another thread", edited("thread", other), binding},
		{"acceptance-thread", "the acceptance is of another thread", onAcceptance(set("thread", other)), binding},
		{"offer-thread", "so is the offer", onOffer(set("thread", other)), binding},
		{"recipient", "the acceptance goes to somebody else", onAcceptance(set("to.address", "agent@third.test")), binding},
		{"offer-recipient", "the offer went to somebody else", onOffer(set("to.address", "agent@third.test")), binding},
		{"recipient-domain-capitals", "domains have no letter case (D9)", onAcceptance(set("to.address", "agent@SELLER.test")), twoSigned},
		{"recipient-local-capitals", "local parts have (D9)", onAcceptance(set("to.address", "Agent@seller.test")), binding},
		{"ref", "the acceptance names another offer", onAcceptance(set("ref", other)), binding},
		{"in-reply-to", "it answers another one (D39)", onAcceptance(set("in_reply_to", other)), binding},
		{"prev", "it answers an offer of other content", onAcceptance(set("prev", hashOf("another"))), binding},
		{"prev-missing", "it answers nothing (D39)", onAcceptance(func(l *letter) {
			tree(func(m map[string]any) { delete(m, "prev"); delete(m, "in_reply_to") })(l)
		}), binding},
		{"agreed-at-before", "agreed a second before", edits(func(r map[string]any) { r["agreed_at"] = r["agreed_at"].(int64) - 1 }), binding},
		{"agreed-at-after", "agreed a second after", edits(func(r map[string]any) { r["agreed_at"] = r["agreed_at"].(int64) + 1 }), binding},
		{"offerer-address", "the offerer has another address than the offer", ofParty(0, "address", "sales@seller.test"), binding},
		{"accepter-address", "the accepter has another address than the acceptance", together(ofParty(1, "address", "agent@third.test"), sealedBy(bySeller)), binding},
		{"address-domain-capitals", "domains have no letter case (D9)", ofParty(0, "address", "agent@Seller.TEST"), twoSigned},
		{"offerer-party", "another party than the offer's", ofParty(0, "party", partyID("third")), binding},
		{"offerer-party-missing", "a side that signed has its party (D50)", ofParty(0, "party", nil), binding},
		{"accepter-party-missing", "so has the other (D50)", together(ofParty(1, "party", nil), sealedBy(bySeller)), binding},
		{"offerer-kid", "another key than the offer's", ofParty(0, "kid", kidOf(seeded("another"))), binding},
		{"offerer-kid-missing", "a side that signed has its key (D50)", ofParty(0, "kid", nil), binding},
		{"accepter-kid-missing", "so has the other (D50)", ofParty(1, "kid", nil), binding},
		{"kids-swapped", "each side has the key of the other", edits(func(r map[string]any) {
			p := r["parties"].([]any)
			a, b := p[0].(map[string]any), p[1].(map[string]any)
			a["kid"], b["kid"] = b["kid"], a["kid"]
		}), binding},
		{"message-without-party", "a message need not name its party: the record does", onOffer(func(l *letter) { l.From.Party = "" }), twoSigned},
		{"message-without-party-other", "and then it is that of the key page", together(onOffer(func(l *letter) { l.From.Party = "" }), ofParty(0, "party", partyID("third"))), binding},
		{"not-current", "the offer had been replaced", edited("offer_current", false), fails("replaced")},
	})
	s.rows("binding-reply-", repliedTo, []row{
		{"address", "the accepter is not whom the offer went to", ofParty(1, "address", "agent@third.test"), binding},
		{"kid", "a person who replied has no key (D83)", ofParty(1, "kid", kidOf(seeded("another"))), binding},
		{"party", "and no party (D83)", ofParty(1, "party", partyID("buyer")), binding},
		{"agreed-at", "agreed at another time than the reply", edits(func(r map[string]any) { r["agreed_at"] = r["agreed_at"].(int64) + 1 }), binding},
		{"not-current", "the offer had been replaced", edited("offer_current", false), fails("replaced")},
	})
	unsignedOffer := together(onOffer(unsigned), claims("our_signature"))
	s.rows("binding-unsigned-", quoted, []row{
		{"party", "the party that an unsigned message names (D83)", together(unsignedOffer, ofParty(0, "party", partyID("seller"))), oneSigned},
		{"party-other", "and another (D83)", together(unsignedOffer, ofParty(0, "party", partyID("third"))), binding},
		{"kid", "a side without a signature has no key (D83)", together(unsignedOffer, ofParty(0, "kid", kidOf(seeded("key of seller")))), binding},
	})
	lateRows(s)
}

// lateRows are the time of the acceptance and the offer's exp.
func lateRows(s *recordSuite) {
	late := fails("late")
	exp := func(seconds int64) difference {
		return onOffer(func(l *letter) { l.Exp = l.Iat + seconds })
	}
	s.rows("late-", quoted, []row{ // the acceptance is composed a minute after the offer
		{"at-exp", "accepted in the second of exp", exp(minute), twoSigned},
		{"after-exp", "accepted a second after exp", exp(minute - 1), late},
	})
	s.rows("late-reply-", repliedTo, []row{ // the reply comes an hour after the offer
		{"at-exp", "replied in the second of exp (D51)", exp(hour), replied},
		{"after-exp", "replied a second after exp (D51)", exp(hour - 1), late},
	})
}
