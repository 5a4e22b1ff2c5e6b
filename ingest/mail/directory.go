package mail

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"tallyhouse/analytics"
	"tallyhouse/ingest/invoice/known"
	"tallyhouse/ingest/mail/tables"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/events"
)

// directory looks up projects, contractors and records in the state tables.
type directory struct {
	shards tables.Shards
}

// queriedAddresses is how many addresses are looked up at a time.
const queriedAddresses = 2000

const projectsQuery = `SELECT id, lowerUTF8(trimBoth(assumeNotNull(inbound_email))) AS address
FROM projects FINAL
WHERE tenant = {tenant:String} AND NOT deleted AND NOT moved AND inbound_email IS NOT NULL AND has({addresses:Array(String)}, address)
ORDER BY id LIMIT 10000`

// projects gives the projects behind intake addresses, which are in lower case and all their spellings, by the address in ASCII.
func (d directory) projects(ctx context.Context, tenant string, addresses []string) (map[string][]string, error) {
	of := map[string][]string{}
	for page := range slices.Chunk(addresses, queriedAddresses) {
		params := database.Params{"tenant": database.Text(tenant), "addresses": database.Texts(page)}
		err := d.shards.Each(ctx, projectsQuery, params, func(scan func(...any) error) error {
			var id, address string
			if err := scan(&id, &address); err != nil {
				return err
			}
			address = inASCII(address)
			of[address] = append(of[address], id)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("find the projects of intake addresses: %w", err)
		}
	}
	return of, nil
}

const fingerprintQuery = `SELECT sum(cityHash64(id, assumeNotNull(inbound_email))) FROM projects FINAL
WHERE tenant = {tenant:String} AND NOT deleted AND NOT moved AND inbound_email IS NOT NULL`

// fingerprint is one of all intake addresses: when it changes, a mail to an unknown one may be known now.
func (d directory) fingerprint(ctx context.Context, tenant string) (uint64, error) {
	var sum uint64
	err := d.shards.Each(ctx, fingerprintQuery, database.Params{"tenant": database.Text(tenant)}, func(scan func(...any) error) error {
		var n uint64
		err := scan(&n)
		sum += n
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("read the fingerprint of the intake addresses: %w", err)
	}
	return sum, nil
}

const knownSendersQuery = `SELECT DISTINCT lowerUTF8(sender) FROM readings
PREWHERE tenant = {tenant:String} AND confirmed_by != ''
WHERE lowerUTF8(sender) IN {senders:Array(String)}
UNION ALL SELECT lowerUTF8(sender) FROM intake_requests FINAL
WHERE tenant = {tenant:String} AND project = '' AND startsWith(id, 'sender:') AND NOT deleted AND action = 'allow'
  AND lowerUTF8(sender) IN {senders:Array(String)}`

// knownSenders are those of whom people have confirmed an invoice, or whom they allow. They are in lower case.
func (d directory) knownSenders(ctx context.Context, tenant string, senders []string) (map[string]bool, error) {
	known := map[string]bool{}
	params := database.Params{"tenant": database.Text(tenant), "senders": database.Texts(senders)}
	err := d.shards.Each(ctx, knownSendersQuery, params, func(scan func(...any) error) error {
		var sender string
		err := scan(&sender)
		known[sender] = sender != ""
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find the senders that people know: %w", err)
	}
	return known, nil
}

const (
	// taxKey and nameKey are a contractor's known.TaxKey and known.NameKey.
	taxKey  = `replaceRegexpAll(upperUTF8(normalizeUTF8NFC(ifNull(tax_id, ''))), '[^\\p{L}\\p{N}]', '')`
	nameKey = `replaceRegexpAll(lowerUTF8(normalizeUTF8NFC(ifNull(name, ''))), '[^\\p{L}\\p{N}]', '')`

	taxIDQuery = `SELECT id FROM contractors FINAL
WHERE tenant = {tenant:String} AND project = '' AND NOT deleted AND ` + taxKey + ` = {taxID:String}
LIMIT 2`

	nameQuery = `SELECT id, ifNull(tax_id, '') FROM contractors FINAL
WHERE tenant = {tenant:String} AND project = '' AND NOT deleted AND ` + nameKey + ` = {name:String}
LIMIT {most:UInt32}`
)

// mostOfName is how many contractors of one name are told apart; which one of more it is nobody knows.
const mostOfName = 100

// maxKnown bounds the suppliers that one invoice is compared with.
const maxKnown = 100

const (
	contractorsQuery = `SELECT id, assumeNotNull(name), ifNull(tax_id, '') FROM contractors FINAL
WHERE tenant = {tenant:String} AND project = '' AND NOT deleted
  AND (` + taxKey + ` IN {taxIDs:Array(String)} OR ` + nameKey + ` IN {names:Array(String)})
ORDER BY id LIMIT {most:UInt32}`

	// The newest readings that a person has confirmed of each supplier that is printed, or sends from the domain, in whatever
	// version: of those alone it is looked up how they are now, for FINAL is dear. A supplier is there once, however often it
	// was confirmed, so that there is room for others.
	confirmedQuery = `SELECT contractor, supplier, tax_id, arrayFirst(i -> has({ibans:Array(String)}, i), ibans) AS iban,
  if(sender_domain = {domain:String}, sender_domain, '') AS domain
FROM readings FINAL
WHERE tenant = {tenant:String} AND (project, id) IN (
    SELECT project, id
    FROM readings
    PREWHERE tenant = {tenant:String} AND confirmed_by != ''
    WHERE ` + printedOrSent + `
    ORDER BY ` + printedThere + ` DESC, at DESC, id
    LIMIT 2 BY contractor, supplier, tax_id, ibans, sender_domain
    LIMIT {most:UInt32})
  AND confirmed_by != '' AND supplier != '' AND NOT deleted AND NOT moved AND ` + printedOrSent + `
ORDER BY ` + printedThere + ` DESC, at DESC, id
LIMIT 1 BY contractor, supplier, tax_id, iban, domain`

	printedThere  = `(tax_key IN {taxIDs:Array(String)} OR supplier_key IN {names:Array(String)} OR hasAny(ibans, {ibans:Array(String)}))`
	printedOrSent = `(` + printedThere + ` OR sender_domain != '' AND sender_domain = {domain:String})`
)

// known gives the suppliers of a tenant that are printed on an invoice: those that people have confirmed, the newest first, then
// those of the sender's domain, then contractors.
func (d directory) known(ctx context.Context, tenant, domain string, on known.Printed) (all []known.Supplier, err error) {
	if len(on.TaxIDs) == 0 && len(on.Names) == 0 && len(on.IBANs) == 0 {
		return nil, nil
	}
	params := database.Params{"tenant": database.Text(tenant), "domain": database.Text(domain), "taxIDs": database.Texts(on.TaxIDs),
		"names": database.Texts(on.Names), "ibans": database.Texts(on.IBANs), "most": strconv.Itoa(maxKnown)}
	err = d.shards.Each(ctx, confirmedQuery, params, func(scan func(...any) error) error {
		s := known.Supplier{Confirmed: true}
		err := scan(&s.Contractor, &s.Name, &s.TaxID, &s.IBAN, &s.Domain)
		all = append(all, s)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find the suppliers that people have confirmed: %w", err)
	}
	err = d.shards.Each(ctx, contractorsQuery, params, func(scan func(...any) error) error {
		var s known.Supplier
		err := scan(&s.Contractor, &s.Name, &s.TaxID)
		all = append(all, s)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find the contractors that are printed: %w", err)
	}
	return all, nil
}

// maxLayouts is how many earlier invoices of a supplier say where its values stand.
const maxLayouts = 5

const (
	layoutsQuery = `SELECT reading FROM readings FINAL
WHERE tenant = {tenant:String} AND (project, id) IN (
    SELECT project, id
    FROM readings
    PREWHERE tenant = {tenant:String} AND confirmed_by != ''
    WHERE ` + ofSupplier + `
    ORDER BY at DESC, id
    LIMIT 1 BY project, id
    LIMIT {most:UInt32})
  AND confirmed_by != '' AND NOT deleted AND NOT moved AND ` + ofSupplier

	ofSupplier = `({taxID:String} != '' AND tax_key = {taxID:String} OR {name:String} != '' AND supplier_key = {name:String})`
)

// layouts tell where the values of a supplier's newest invoices stood that people have confirmed.
func (d directory) layouts(ctx context.Context, tenant, taxID, name string) (all []known.Layout, err error) {
	if taxID == "" && name == "" {
		return nil, nil
	}
	params := database.Params{"tenant": database.Text(tenant), "taxID": database.Text(known.TaxKey(taxID)),
		"name": database.Text(known.NameKey(name)), "most": strconv.Itoa(maxLayouts)}
	err = d.shards.Each(ctx, layoutsQuery, params, func(scan func(...any) error) error {
		var text string
		if err := scan(&text); err != nil {
			return err
		}
		r, err := events.ParseReading(text)
		if err != nil {
			return err
		}
		all = append(all, layoutOf(&r))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("find where a supplier's values stand: %w", err)
	}
	return all, nil
}

// layoutOf is where the values of a confirmed reading stood.
func layoutOf(r *events.Reading) (all known.Layout) {
	for _, f := range r.Fields {
		v := f.Value.V
		if !f.Value.Ok || !v.Box.Ok {
			continue
		}
		replaced := func(s events.Stated) bool { return !isCertain(v) && isCertain(s) }
		all = append(all, known.Stood{Field: f.Name, Page: int(v.Page), Box: placeOf(v.Box.V), Label: v.Label.V,
			Corrected: v.Rule == known.RuleCorrected || slices.ContainsFunc(f.Alternatives, replaced)})
	}
	return all
}

// recognised is a reading of a file of a mail with the supplier that its tenant knows, and the contractor that this is.
func (d directory) recognised(ctx context.Context, tenant string, f reading, from source) (reading, error) {
	if f.failed != "" {
		return f, nil
	}
	domain := analytics.VouchedDomain(from.evidence)
	suppliers, err := d.known(ctx, tenant, domain, known.PrintedOn(f.result.Invoice))
	if err != nil {
		return f, err
	}
	result, contractor := f.result, ""
	result.Invoice, contractor = known.Recognise(result.Invoice, domain, suppliers)
	layouts, err := d.layouts(ctx, tenant, certain(result.SupplierTaxID), certain(result.SupplierName))
	if err != nil {
		return f, err
	}
	result.Invoice = known.Place(result.Invoice, result.Findings, layouts)
	f = readingOf(result)
	if f.contractor = contractor; contractor != "" {
		return f, nil
	}
	f.contractor, err = d.contractorOf(ctx, tenant, f)
	return f, err
}

// contractorOf gives the contractor that a reading's supplier is, "" when it isn't known.
func (d directory) contractorOf(ctx context.Context, tenant string, f reading) (string, error) {
	if f.failed != "" || f.taxID == "" && f.supplier == "" {
		return "", nil
	}
	return d.contractor(ctx, tenant, f.taxID, f.supplier)
}

// contractor gives the one contractor of a tax id, else the one of a name, "" when there is none or several. A name
// doesn't count when the contractor has another VAT id of the same country: two companies may share a name.
func (d directory) contractor(ctx context.Context, tenant, taxID, name string) (string, error) {
	taxID, name = known.TaxKey(taxID), known.NameKey(name)
	var found []string
	if taxID != "" {
		params := database.Params{"tenant": database.Text(tenant), "taxID": database.Text(taxID)}
		err := d.shards.Each(ctx, taxIDQuery, params, func(scan func(...any) error) error {
			var id string
			err := scan(&id)
			found = append(found, id)
			return err
		})
		if err != nil {
			return "", fmt.Errorf("find the contractor of a tax id: %w", err)
		}
		if len(found) > 0 {
			return only(found), nil
		}
	}
	if name == "" {
		return "", nil
	}
	all := 0
	params := database.Params{"tenant": database.Text(tenant), "name": database.Text(name), "most": strconv.Itoa(mostOfName + 1)}
	err := d.shards.Each(ctx, nameQuery, params, func(scan func(...any) error) error {
		var id, theirs string
		err := scan(&id, &theirs)
		if all++; !known.OtherVATID(taxID, theirs) {
			found = append(found, id)
		}
		return err
	})
	switch {
	case err != nil:
		return "", fmt.Errorf("find the contractor of a name: %w", err)
	case all > mostOfName:
		return "", nil
	}
	return only(found), nil
}

func only(found []string) string {
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// recordState is the newest state of a record in the table.
type recordState struct {
	project    string
	id         string
	version    int64
	deleted    bool
	channel    string
	status     string // of the intake
	receivedAt time.Time
}

const stateColumns = `SELECT project, id, row_version, deleted, channel, intake_status, toUnixTimestamp64Micro(received_at)
FROM records FINAL
WHERE tenant = {tenant:String} AND NOT moved AND `

// versions gives the versions of records that the table has, by id.
func (d directory) versions(ctx context.Context, tenant, project string, ids []string) (map[string]int64, error) {
	of := map[string]int64{}
	params := database.Params{"tenant": database.Text(tenant), "project": database.Text(project), "ids": database.Texts(ids)}
	err := d.states(ctx, "project = {project:String} AND id IN {ids:Array(String)}", params, func(r recordState) { of[r.id] = r.version })
	return of, err
}

// record finds a record in any project.
func (d directory) record(ctx context.Context, tenant, id string) (recordState, error) {
	var found []recordState
	params := database.Params{"tenant": database.Text(tenant), "id": database.Text(id)}
	err := d.states(ctx, "id = {id:String}", params, func(r recordState) { found = append(found, r) })
	if err != nil {
		return recordState{}, err
	}
	if len(found) == 0 {
		return recordState{}, fmt.Errorf("tenant %s: %w", tenant, errNoRecord)
	}
	return slices.MaxFunc(found, func(a, b recordState) int { return int(a.version - b.version) }), nil
}

// readingState is the newest reading of a record in the table; the version is 0 when there is none.
type readingState struct {
	version   int64
	at        time.Time
	confirmed bool   // by a person
	mail      string // its Message-ID, as far as it is kept
}

const readingQuery = `SELECT row_version, toUnixTimestamp64Micro(at), confirmed_by != '', message_id FROM readings FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND id = {id:String} AND NOT deleted LIMIT 1`

// reading finds what was read last of a record.
func (d directory) reading(ctx context.Context, tenant, project, id string) (found readingState, err error) {
	params := database.Params{"tenant": database.Text(tenant), "project": database.Text(project), "id": database.Text(id)}
	err = d.shards.Each(ctx, readingQuery, params, func(scan func(...any) error) error {
		var version uint64
		var at int64
		err := scan(&version, &at, &found.confirmed, &found.mail)
		found.version, found.at = int64(version), time.UnixMicro(at)
		return err
	})
	if err != nil {
		return readingState{}, fmt.Errorf("read what was read of a record: %w", err)
	}
	return found, nil
}

// states calls each with the records that a condition matches.
func (d directory) states(ctx context.Context, where string, p database.Params, each func(recordState)) error {
	err := d.shards.Each(ctx, stateColumns+where, p, func(scan func(...any) error) error {
		var h recordState
		var rowVersion uint64
		var received *int64 // microseconds: the driver's own instants end in 2262
		if err := scan(&h.project, &h.id, &rowVersion, &h.deleted, &h.channel, &h.status, &received); err != nil {
			return err
		}
		h.version = int64(rowVersion)
		if received != nil {
			h.receivedAt = time.UnixMicro(*received).UTC()
		}
		each(h)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the states of records: %w", err)
	}
	return nil
}
