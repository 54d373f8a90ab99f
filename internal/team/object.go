package team

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Content travels as objects, in a bucket of the machine that wrote it, in the
// form that any NATS client knows. What is read comes by plain questions to the
// stream, as everything does.

// putObject writes an object of this machine; fill writes its content, which is
// compressed by whoever wants it and encrypted here.
func (h *Hub) putObject(ctx context.Context, name string, fill func(io.Writer) error) error {
	bucket, err := h.js.ObjectStore(ctx, objectBucket(h.set.Machine))
	if err != nil {
		return fmt.Errorf("bucket %s: %w", objectBucket(h.set.Machine), err)
	}
	r, w := io.Pipe()
	go func() {
		sealed, err := h.set.seal(w)
		if err == nil {
			if err = fill(sealed); err == nil {
				err = sealed.Close()
			}
		}
		w.CloseWithError(err)
	}()
	defer r.Close() // ends the writer where the hub refuses
	if _, err := bucket.Put(ctx, jetstream.ObjectMeta{Name: name}, fullReader{r}); err != nil {
		return fmt.Errorf("write object %s: %w", name, err)
	}
	return nil
}

// dropObject takes an object of this machine back.
func (h *Hub) dropObject(ctx context.Context, name string) error {
	bucket, err := h.js.ObjectStore(ctx, objectBucket(h.set.Machine))
	if err != nil {
		return fmt.Errorf("bucket %s: %w", objectBucket(h.set.Machine), err)
	}
	if err := bucket.Delete(ctx, name); err != nil && !errors.Is(err, jetstream.ErrObjectNotFound) {
		return fmt.Errorf("delete object %s: %w", name, err)
	}
	return nil
}

// fullReader fills the buffers it is given: of a pipe every small write would
// become a chunk of its own.
type fullReader struct{ r io.Reader }

func (f fullReader) Read(p []byte) (int, error) {
	n, err := io.ReadFull(f.r, p)
	if err == io.ErrUnexpectedEOF {
		err = nil
	}
	return n, err
}

// objectInfo is what a bucket says of an object.
type objectInfo struct {
	Machine string    `json:"-"`
	Name    string    `json:"name"`
	NUID    string    `json:"nuid"`
	Size    int64     `json:"size"`
	Digest  string    `json:"digest"`
	Deleted bool      `json:"deleted"`
	At      time.Time `json:"-"`
}

// object looks for an object of a machine; false where there is none.
func (h *Hub) object(ctx context.Context, machine, name string) (objectInfo, bool, error) {
	bucket := objectBucket(machine)
	m, err := h.last(ctx, "OBJ_"+bucket, "$O."+bucket+".M."+base64.URLEncoding.EncodeToString([]byte(name)))
	if err != nil || m.Seq == 0 {
		return objectInfo{}, false, err
	}
	info, ok := parseObject(machine, m)
	return info, ok, nil
}

func parseObject(machine string, m stored) (objectInfo, bool) {
	info := objectInfo{Machine: machine, At: m.Time}
	if m.relayed() || m.marker() || json.Unmarshal(m.Data, &info) != nil || info.Deleted || info.NUID == "" || strings.ContainsAny(info.NUID, ".*> ") {
		return objectInfo{}, false
	}
	return info, true
}

// objects lists what a machine has.
func (h *Hub) objects(ctx context.Context, machine string) (list []objectInfo, err error) {
	bucket := objectBucket(machine)
	_, err = h.each(ctx, "OBJ_"+bucket, "$O."+bucket+".M.>", 1, time.Time{}, func(m stored) error {
		if info, ok := parseObject(machine, m); ok {
			list = append(list, info)
		}
		return nil
	})
	return list, err
}

// readObject hands the decrypted content of an object to read. What read was
// given counts only when no error comes back: then it was whole, and by somebody
// who could encrypt for the team.
func (h *Hub) readObject(ctx context.Context, info objectInfo, read func(io.Reader) error) error {
	bucket := objectBucket(info.Machine)
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		plain, err := h.set.unseal(r)
		if err == nil {
			if err = read(plain); err == nil {
				_, err = io.Copy(io.Discard, plain) // the last bytes carry the proof
			}
		}
		r.CloseWithError(err)
		done <- err
	}()
	sum, size := sha256.New(), int64(0)
	_, err := h.each(ctx, "OBJ_"+bucket, "$O."+bucket+".C."+info.NUID, 1, time.Time{}, func(m stored) error {
		size += int64(len(m.Data))
		sum.Write(m.Data)
		_, err := w.Write(m.Data)
		return err
	})
	if err == nil && size != info.Size {
		err = fmt.Errorf("%d of %d bytes", size, info.Size)
	}
	if err == nil && "SHA-256="+base64.URLEncoding.EncodeToString(sum.Sum(nil)) != info.Digest {
		err = fmt.Errorf("another digest than %s", info.Digest)
	}
	w.CloseWithError(err)
	if rerr := <-done; err == nil {
		err = rerr
	}
	if err != nil {
		return fmt.Errorf("read object %s of %s: %w", info.Name, info.Machine, err)
	}
	return nil
}
