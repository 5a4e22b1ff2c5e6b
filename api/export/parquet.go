package export

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"

	"tallyhouse/schemas/calendar"
)

// rowGroup is how many rows are kept in memory before they are written.
const rowGroup = 20_000

// The names of what the footer says about the whole file.
const (
	metadataRecords = "tallyhouse.records"
	metadataCursor  = "tallyhouse.cursor"
)

type parquetWriter struct {
	to      *parquet.GenericWriter[any]
	columns []Column
	cells   *cells
	row     parquet.Row
}

// ordered is a group whose columns keep their order: those of a plain one go by name.
type ordered struct {
	parquet.Group
	names []string
}

func (o ordered) Fields() []parquet.Field {
	fields := o.Group.Fields()
	slices.SortFunc(fields, func(a, b parquet.Field) int {
		return slices.Index(o.names, a.Name()) - slices.Index(o.names, b.Name())
	})
	return fields
}

func newParquet(columns []Column, to io.Writer) (*parquetWriter, error) {
	group := ordered{Group: parquet.Group{}}
	for _, c := range columns {
		node := map[Kind]func() parquet.Node{
			Text:    parquet.String,
			Integer: func() parquet.Node { return parquet.Leaf(parquet.Int64Type) },
			Amount:  func() parquet.Node { return parquet.Leaf(parquet.Int64Type) },
			Date:    parquet.Date,
			Instant: func() parquet.Node { return parquet.Timestamp(parquet.Microsecond) },
			Flag:    func() parquet.Node { return parquet.Leaf(parquet.BooleanType) },
			JSON:    parquet.JSON,
		}[c.Kind]()
		if !c.Required {
			node = parquet.Optional(node)
		}
		group.Group[c.Name] = node
		group.names = append(group.names, c.Name)
	}
	return &parquetWriter{
		to: parquet.NewGenericWriter[any](to, parquet.NewSchema("records", group), parquet.Compression(&parquet.Zstd),
			parquet.MaxRowsPerRowGroup(rowGroup), parquet.CreatedBy("tallyhouse", "", "")),
		columns: columns, cells: newCells(columns), row: make(parquet.Row, len(columns)),
	}, nil
}

func (p *parquetWriter) Write(object []byte) error {
	if err := p.cells.take(object); err != nil {
		return err
	}
	for i, value := range p.cells.values {
		column := &p.columns[i]
		if value == nil {
			if column.Required {
				return fmt.Errorf("%s has no value", column.Name)
			}
			p.row[i] = parquet.NullValue().Level(0, 0, i)
			continue
		}
		cell, err := parquetValue(column.Kind, value)
		if err != nil {
			return fmt.Errorf("write %s as Parquet: %w", column.Name, err)
		}
		present := 1
		if column.Required {
			present = 0
		}
		p.row[i] = cell.Level(0, present, i)
	}
	_, err := p.to.WriteRows([]parquet.Row{p.row})
	return err
}

func (p *parquetWriter) Close(end End) error {
	p.to.SetKeyValueMetadata(metadataRecords, strconv.FormatInt(end.Records, 10))
	if end.Cursor != "" {
		p.to.SetKeyValueMetadata(metadataCursor, end.Cursor)
	}
	return p.to.Close()
}

func parquetValue(kind Kind, value []byte) (parquet.Value, error) {
	switch kind {
	case JSON:
		return parquet.ByteArrayValue(value), nil
	case Flag:
		return parquet.BooleanValue(string(value) == "true"), nil
	case Integer, Amount:
		n, err := strconv.ParseInt(string(value), 10, 64)
		return parquet.Int64Value(n), err
	}
	plain, err := text(value)
	if err != nil {
		return parquet.Value{}, err
	}
	switch kind {
	case Date:
		day, err := calendar.ParseDate(string(plain))
		return parquet.Int32Value(int32(day)), err
	case Instant:
		at, err := time.Parse(time.RFC3339Nano, string(plain))
		return parquet.Int64Value(at.UnixMicro()), err
	default:
		return parquet.ByteArrayValue(plain), nil
	}
}
