package store

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"go.etcd.io/bbolt"
)

// The form of a page (bbolt, internal/common/page.go): a head of id, flags,
// count of elements and count of pages that overflow, then the elements.
const (
	pageHead    = 16
	elementSize = 16
	branchPage  = 1 // flags
	leafPage    = 2
	bucketLeaf  = 1 // flags of an element
)

// reach refuses a file in which a page is reached twice, or is not there:
// bbolt would go in a circle for ever.
func reach(tx *bbolt.Tx, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	page := int64(tx.DB().Info().PageSize)
	w := &walk{file, page, uint64(tx.Size() / page), map[uint64]bool{}}
	return w.visit(uint64(tx.Cursor().Bucket().RootPage()))
}

// walk goes through the pages of a file.
type walk struct {
	file io.ReaderAt
	page int64  // size of one, in bytes
	end  uint64 // number of the first that is not there
	seen map[uint64]bool
}

func (w *walk) visit(id uint64) error {
	if id >= w.end || w.seen[id] {
		return fmt.Errorf("%w: page %d is reached twice or is not there", ErrDamaged, id)
	}
	w.seen[id] = true
	data, err := w.read(id)
	if err != nil {
		return err
	}
	if named := binary.LittleEndian.Uint64(data); named != id {
		return fmt.Errorf("%w: page %d says that it is %d", ErrDamaged, id, named)
	}
	flags, count := binary.LittleEndian.Uint16(data[8:]), int(binary.LittleEndian.Uint16(data[10:]))
	if flags != branchPage && flags != leafPage {
		return fmt.Errorf("%w: page %d is no part of a tree", ErrDamaged, id)
	}
	if pageHead+count*elementSize > len(data) {
		return fmt.Errorf("%w: page %d is too short for its %d elements", ErrDamaged, id, count)
	}
	for i := range count {
		below, err := child(data[pageHead+i*elementSize:], flags)
		if err != nil {
			return fmt.Errorf("%w: page %d: %w", ErrDamaged, id, err)
		}
		if below == 0 {
			continue
		}
		if err := w.visit(below); err != nil {
			return err
		}
	}
	return nil
}

// read returns a page with the pages that it overflows into.
func (w *walk) read(id uint64) ([]byte, error) {
	head := make([]byte, pageHead)
	if _, err := w.file.ReadAt(head, int64(id)*w.page); err != nil {
		return nil, err
	}
	pages := uint64(binary.LittleEndian.Uint32(head[12:])) + 1
	if pages > w.end-id {
		return nil, fmt.Errorf("%w: page %d goes beyond the end", ErrDamaged, id)
	}
	data := make([]byte, int64(pages)*w.page)
	_, err := w.file.ReadAt(data, int64(id)*w.page)
	return data, err
}

// child is the page that the element at the head of data leads to: the next
// one of the tree, or the root of a bucket; 0 for none.
func child(data []byte, flags uint16) (uint64, error) {
	word := func(at int) uint64 { return uint64(binary.LittleEndian.Uint32(data[at:])) }
	switch {
	case flags == branchPage: // position, key size, page
		return binary.LittleEndian.Uint64(data[8:]), nil
	case flags == leafPage && word(0)&bucketLeaf != 0: // flags, position, key size, value size
		value := word(4) + word(8)
		if value+8 > uint64(len(data)) {
			return 0, fmt.Errorf("a bucket lies beyond its end")
		}
		return binary.LittleEndian.Uint64(data[value:]), nil
	default:
		return 0, nil
	}
}
